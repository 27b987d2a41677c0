//! The selection of files for a query: by name, by kind, and by ignore files.

use std::sync::Arc;

use globset::{GlobBuilder, GlobSet};
use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};

use super::WalkStart;
use super::rules::{FileFilter, WalkVisibility, walker_seeing};
use super::walk_gaps::WalkGaps;
use crate::text::{build_glob_set, expand_braces, glob_fault, nearest_word, read_glob};
use crate::workspace::{ReadError, Workspace, WorkspacePath};

/// The longest glob, in bytes, and the maximum number of globs: a compiled glob is many times its
/// size.
const MAX_SELECTION_GLOB_BYTES: usize = 1_000;
const MAX_SELECTION_GLOBS: usize = 100;

/// The selected files below a place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Globs as in a `.gitignore` at the workspace's root, except for `!`, which leaves files out:
    /// `*.rs` matches anywhere, `src/**` below `src`. If there is one without `!`, only matching
    /// files are selected. A matching file counts even if ignore files exclude it.
    pub globs: Vec<String>,
    /// ripgrep's names of file types: `rust`, `py`; with `!` before it, all but these.
    pub types: Vec<String>,
    /// True to include hidden files: those whose name, or a directory's on the way, begins with a
    /// dot. A name that a glob spells with its dot (`**/.github/*.yml`, `.env*`) is not hidden. The
    /// stores of version control (`.git`) are never included.
    pub hidden: bool,
    /// True to include ignored files, and directories like `node_modules`.
    pub no_ignore: bool,
}

/// The reasons why a selection is not valid.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// A glob is not valid.
    #[error("the glob `{glob}` is not valid: {problem}")]
    BadGlob {
        /// The glob as given.
        glob: String,
        /// The fault of the glob.
        problem: String,
    },
    /// A glob could match nothing in the workspace.
    #[error("the glob `{glob}` leads out of the workspace; globs are relative to its root and have no `..`")]
    Outside {
        /// The glob as given.
        glob: String,
    },
    /// The file type does not exist.
    #[error("unknown file type `{given}`{}", nearest.as_ref().map_or_else(String::new, |name| format!("; the nearest is `{name}`")))]
    UnknownType {
        /// The type as given.
        given: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// The place does not exist.
    #[error(transparent)]
    Place(#[from] ReadError),
}

/// A selection, ready to walk: a place, and the filter below it.
pub(crate) struct PreparedWalk {
    pub(crate) start: WalkStart,
    pub(crate) walk: WalkBuilder,
    /// The parts that the walk leaves out.
    pub(crate) gaps: Arc<WalkGaps>,
}

impl Selection {
    /// Prepares the walk of the selection.
    ///
    /// # Errors
    /// [`SelectError`].
    pub(crate) fn prepare_walk(
        &self,
        workspace: &Workspace,
        under: &WorkspacePath,
    ) -> Result<PreparedWalk, SelectError> {
        self.prepare_walk_for(workspace, under, self.globs.iter().map(String::as_str))
    }

    /// Like [`prepare_walk`](Self::prepare_walk), with the hidden names of the globs in `spelling`
    /// selected as well.
    ///
    /// # Errors
    /// [`SelectError`].
    pub(crate) fn prepare_walk_for<'g>(
        &self,
        workspace: &Workspace,
        under: &WorkspacePath,
        spelling: impl IntoIterator<Item = &'g str>,
    ) -> Result<PreparedWalk, SelectError> {
        let wanted = FileFilter {
            globs: self.glob_overrides(workspace)?,
            types: self.file_types()?,
            spelled: spelled_hidden_names(spelling)?,
        };
        let start = WalkStart::new(workspace, under)?;
        let sight = WalkVisibility { hidden: self.hidden, ignored: self.no_ignore };
        let (walk, gaps) = walker_seeing(workspace, &start.directory, sight, wanted);
        Ok(PreparedWalk { start, walk, gaps })
    }

    /// Returns a predicate that is true if globs and types select a path; ignore files do not count
    /// here.
    ///
    /// # Errors
    /// [`SelectError`] if a glob or a type is not valid.
    pub(crate) fn path_matcher(
        &self,
        workspace: &Workspace,
    ) -> Result<impl Fn(&WorkspacePath) -> bool + use<>, SelectError> {
        let (overrides, types) = (self.glob_overrides(workspace)?, self.file_types()?);
        let root = workspace.root().to_owned();
        Ok(move |path: &WorkspacePath| {
            let absolute = root.join(path.as_path());
            !overrides.matched(&absolute, false).is_ignore() && !types.matched(&absolute, false).is_ignore()
        })
    }

    fn glob_overrides(&self, workspace: &Workspace) -> Result<Override, SelectError> {
        let bad = |glob: &str, problem: String| SelectError::BadGlob { glob: glob.to_owned(), problem };
        if let Some(glob) = self.globs.get(MAX_SELECTION_GLOBS) {
            return Err(bad(glob, format!("there are more than {MAX_SELECTION_GLOBS} globs; give fewer")));
        }
        let mut builder = OverrideBuilder::new(workspace.root());
        for glob in &self.globs {
            check_glob(glob)?;
            builder.add(glob).map_err(|error| bad(glob, glob_problem(&error.to_string())))?;
        }
        builder.build().map_err(|error| bad(&self.globs.join(" "), glob_problem(&error.to_string())))
    }

    fn file_types(&self) -> Result<Types, SelectError> {
        if self.types.is_empty() {
            return Ok(Types::empty());
        }
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        for given in &self.types {
            let (name, is_negated) =
                given.strip_prefix('!').map_or((given.as_str(), false), |name| (name, true));
            let name = canonical_type(name);
            if !builder.definitions().iter().any(|known| known.name() == name) {
                return Err(unknown_type(&builder, given, &name));
            }
            if is_negated {
                builder.negate(&name)
            } else {
                builder.select(&name)
            };
        }
        // Every name was checked above, so an error can only be a fault of the built-in globs.
        builder
            .build()
            .map_err(|error| SelectError::BadGlob { glob: self.types.join(" "), problem: error.to_string() })
    }
}

/// Returns ripgrep's name of a language that it calls by another one.
fn canonical_type(name: &str) -> String {
    let lower = name.to_lowercase();
    match lower.as_str() {
        "c++" => "cpp".to_owned(),
        "c#" => "csharp".to_owned(),
        "shell" | "bash" => "sh".to_owned(),
        "tsx" => "ts".to_owned(),
        "jsx" | "javascript" => "js".to_owned(),
        "rs" => "rust".to_owned(),
        "rb" => "ruby".to_owned(),
        "golang" => "go".to_owned(),
        _ => lower,
    }
}

fn unknown_type(builder: &TypesBuilder, given: &str, name: &str) -> SelectError {
    let definitions = builder.definitions();
    let nearest = nearest_word(name, definitions.iter().map(|known| known.name())).map(str::to_owned);
    SelectError::UnknownType { given: given.to_owned(), nearest }
}

/// Refuses a glob that can match nothing, or costs too much.
pub(crate) fn check_glob(glob: &str) -> Result<(), SelectError> {
    let bad =
        |problem: &str| Err(SelectError::BadGlob { glob: glob.to_owned(), problem: problem.to_owned() });
    let body = glob.strip_prefix('!').unwrap_or(glob);
    if body.is_empty() {
        return bad("it is empty; give for example `**/*.rs`");
    }
    if glob.len() > MAX_SELECTION_GLOB_BYTES {
        return bad(&format!("it is longer than {MAX_SELECTION_GLOB_BYTES} bytes"));
    }
    if glob.contains('\0') {
        return bad("it contains a NUL character");
    }
    if let Some(fault) = glob_fault(glob) {
        return bad(&fault);
    }
    if body.split('/').any(|part| part == "..") {
        return Err(SelectError::Outside { glob: glob.to_owned() });
    }
    Ok(())
}

/// The names in `globs` that begin with a dot, `.env*` or `.github`.
///
/// # Errors
/// [`SelectError::BadGlob`].
fn spelled_hidden_names<'g>(globs: impl IntoIterator<Item = &'g str>) -> Result<GlobSet, SelectError> {
    let mut spelled = Vec::new();
    for glob in globs.into_iter().filter(|glob| !glob.starts_with('!')) {
        let bad = |problem| SelectError::BadGlob { glob: glob.to_owned(), problem };
        for alternative in expand_braces(glob) {
            let is_hidden = |name: &&str| name.starts_with('.') && *name != ".";
            for name in alternative.split('/').filter(is_hidden) {
                let set_up = |builder: &mut GlobBuilder<'_>| {
                    builder.literal_separator(true).backslash_escape(true);
                };
                spelled.push(read_glob(name, set_up).map_err(bad)?);
            }
        }
    }
    let shown = |problem| SelectError::BadGlob { glob: String::new(), problem };
    build_glob_set(spelled).map_err(shown)
}

/// Returns the message of the glob crate without its own quotation of the glob.
fn glob_problem(message: &str) -> String {
    message.rsplit_once("': ").map_or(message, |(_, problem)| problem).to_owned()
}
