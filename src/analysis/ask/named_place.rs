//! The place of a name: by the outline of a file, its syntax tree, or the symbols of the workspace.

use super::resolved_position::{self, ResolvedPosition};
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::names::symbol_search::ExactSymbol;
use crate::analysis::target::Target;
use crate::lsp::model::{FileRef, Symbol};
use crate::lsp::session::ask::SessionAnswer;
use crate::syntax;
use crate::text::{Buffer, Position, Range};

/// The hint for an ambiguous name, in a form that the shell and the argument `at` accept.
const FILE_ADVICE: &str = "give its file as well: FILE:NAME";

/// A target after the lookup of names without a file.
pub(super) struct ResolvedName {
    /// The target.
    pub(super) target: Target,
    /// The starts of its other overloads.
    pub(super) overloads: Vec<Position>,
    /// The note on other symbols with the name.
    pub(super) namesakes: Option<String>,
}

impl Context {
    /// The place of `name` in a file's outline. Several matches are an error that lists them.
    pub(super) async fn named_symbol(
        &self,
        subject: &LanguageFile,
        outline: &SessionAnswer<Vec<Symbol>>,
        name: &str,
    ) -> Result<ResolvedPosition, ToolError> {
        let buffer = &outline.snapshot.buffer;
        let found = resolved_position::find_by_name(&outline.value, name);
        match found.as_slice() {
            // No outline contains local variables and parameters, and some servers spell names
            // differently.
            [] => self.name_in_text(subject, buffer, name).await,
            several => {
                let place_of =
                    |overloads: &Vec<&Symbol>| resolved_position::of_symbol(&subject.path, buffer, overloads);
                self.choose_resolved(subject, name, several.iter().filter_map(place_of).collect()).await
            }
        }
    }

    /// The entry of `found`, places of a file, that `name` means.
    async fn choose_resolved(
        &self,
        subject: &LanguageFile,
        name: &str,
        mut found: Vec<ResolvedPosition>,
    ) -> Result<ResolvedPosition, ToolError> {
        let places: Vec<_> = found.iter().map(|place| (place.path.clone(), place.position)).collect();
        if places.is_empty() {
            return Err(no_symbol(name, &subject.path.display()));
        }
        let (chosen, namesakes) = self.choose_named(name, Some(&subject.path), &places).await?;
        Ok(ResolvedPosition { namesakes, ..found.swap_remove(chosen) })
    }

    pub(super) async fn place_from_text(
        &self,
        subject: &LanguageFile,
        text: &Buffer,
        target: &Target,
    ) -> Result<ResolvedPosition, ToolError> {
        match target {
            Target::NameInFile { name, .. } => self.name_in_text(subject, text, name).await,
            _ => resolved_position::in_text(&subject.path, text, target),
        }
    }

    /// The place of `name` in a text according to its syntax tree; its first occurrence if the
    /// language has no grammar.
    async fn name_in_text(
        &self,
        subject: &LanguageFile,
        text: &Buffer,
        name: &str,
    ) -> Result<ResolvedPosition, ToolError> {
        let until = std::time::Instant::now() + syntax::DEADLINE;
        let language = subject.language.as_deref().unwrap_or_default();
        let last = name.rsplit(['.', ':', '#']).next().unwrap_or(name);
        let found = syntax::symbols_named(language, &subject.path, &text.to_string(), name, until);
        match found.as_deref() {
            Some([]) if last != name => Err(no_symbol(name, &subject.path.display())),
            Some(several @ [_, ..]) => {
                let place_of =
                    |ranges: &Vec<Range>| resolved_position::of_ranges(&subject.path, text, last, ranges);
                self.choose_resolved(subject, name, several.iter().filter_map(place_of).collect()).await
            }
            found => {
                let target = Target::NameOnLine { path: Default::default(), line0: 0, name: name.to_owned() };
                let anywhere = resolved_position::in_text(&subject.path, text, &target)?;
                // A name that the tree does not contain is in a comment or string.
                if found.is_some() { Err(no_symbol(name, &subject.path.display())) } else { Ok(anywhere) }
            }
        }
    }

    /// Resolves a bare name to a place through the workspace's symbols. Other targets are
    /// unchanged.
    pub(super) async fn resolve_bare_name(&self, target: &Target) -> Result<ResolvedName, ToolError> {
        let Target::Name(name) = target else {
            return Ok(ResolvedName { target: target.clone(), overloads: Vec::new(), namesakes: None });
        };
        let deadline = self.server_deadline(self.config.settings.deadlines.workspace_symbols);
        let (found, timed_out) = self.exact_symbols(name, deadline).await?;
        let inside = |symbol: ExactSymbol| match symbol.file {
            FileRef::Inside(path) => Some((path, symbol.position, symbol.overloads)),
            FileRef::Outside(_) | FileRef::Virtual(_) => None,
        };
        let found: Vec<_> = found.into_iter().filter_map(inside).collect();
        match found.as_slice() {
            [] if timed_out => {
                let error = format!("the time limit was reached before all files were searched for `{name}`");
                Err(ToolError::new(ErrorCode::Timeout, error).with_hint(FILE_ADVICE))
            }
            [] => {
                let error = format!("no symbol in this workspace has the name `{name}`");
                Err(ToolError::nothing_found(error).with_hint(FILE_ADVICE))
            }
            several => {
                let places: Vec<_> = several.iter().map(|(path, at, _)| (path.clone(), *at)).collect();
                let (chosen, namesakes) = self.choose_named(name, None, &places).await?;
                let (path, position, overloads) = &several[chosen];
                let path = self.workspace.absolute(path);
                let last = name.rsplit(['.', '#', ':']).next().unwrap_or(name).to_owned();
                // Some servers return the start of the whole definition instead of its name.
                let target = Target::NameOnLine { path, line0: position.line, name: last };
                Ok(ResolvedName { target, overloads: overloads.clone(), namesakes })
            }
        }
    }
}

fn no_symbol(name: &str, within: &str) -> ToolError {
    ToolError::new(ErrorCode::NotFound, format!("{within} defines no `{name}`"))
        .with_hint("list its definitions with `symbols`")
}
