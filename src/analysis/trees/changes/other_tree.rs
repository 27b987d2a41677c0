//! A tree of the repository that is not the work tree, written out and checked with servers of its
//! own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use super::lent_files::lend;
use super::output::ChangesOutput;
use crate::analysis::answer::Answer;
use crate::analysis::breakage::diagnostics_baseline::EarlierTree;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::state_files::run_blocking;
use crate::analysis::trees::git_access::{OpenRepository, from_git_error};
use crate::lsp::documents::view::View;
use crate::lsp::servers::machine::{MachineLimits, MachineShare};
use crate::platform::{canonicalize, private, process_tree};
use crate::process::git::checkout::check_out;
use crate::process::git::difference::ignored_paths;
use crate::process::git::revision::ComparedTree;
use crate::workspace::Workspace;
use crate::workspace::edit::{EditOptions, TransactionManager};

/// The age after which a tree of an ended process is removed. Processes of other containers are
/// invisible, so a younger tree may be in use.
const ABANDONED_TREE_AGE: Duration = Duration::from_secs(3_600);

/// A tree on disk with a context of its own. [`close`](Self::close) ends its servers; dropping the
/// value removes the folder.
#[derive(Debug)]
pub(crate) struct OtherTree {
    /// The context for checks of the tree. Paths in it are those of the workspace.
    pub context: Context,
    /// Notes on parts of the project that the tree lacks.
    pub gaps: Vec<String>,
    _folder: TempDir,
}

impl OtherTree {
    /// Writes `tree` out. If `inherits_trust`, servers may run its code wherever they may run the
    /// project's.
    ///
    /// # Errors
    /// If git fails, or the disk is full.
    pub(crate) async fn write(
        context: &Context,
        opened: &OpenRepository,
        tree: &ComparedTree,
        inherits_trust: bool,
    ) -> Result<Self, ToolError> {
        let OpenRepository { repository, shadow } = opened;
        let trees = context.folders.cache.join("trees");
        let folder = run_blocking(move || {
            private::make_folder(&trees).map_err(|error| io_error(&error))?;
            remove_abandoned(&trees);
            let prefix = format!("{}-", std::process::id());
            TempDir::with_prefix_in(prefix, &trees).map_err(|error| io_error(&error))
        })
        .await?;
        // The folder has the project's own name, which some servers show or search for.
        let name = repository.top.file_name().unwrap_or_else(|| "tree".as_ref());
        let real = canonicalize(folder.path()).map_err(|error| io_error(&error))?;
        let target = real.join("of").join(name);
        let written = check_out(shadow, repository, tree, &target).await.map_err(from_git_error)?;
        let ignored = ignored_paths(shadow, repository).await.map_err(from_git_error)?;
        let (top, into) = (repository.top.clone(), target.clone());
        let below =
            context.workspace.root().strip_prefix(&repository.top).unwrap_or(Path::new("")).to_owned();
        let (root, gaps) = run_blocking(move || {
            let gaps = lend(&top, &into, &ignored, &written.submodules);
            Ok((make_root(&into, &below)?, gaps))
        })
        .await?;
        let workspace =
            Workspace::open(&root).map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))?;
        let context = context_over(context, workspace, inherits_trust);
        Ok(Self { context, gaps, _folder: folder })
    }

    /// Adds notes on gaps of this tree to `answer`, and replaces absolute paths in its messages by
    /// those of `context`.
    pub(crate) fn complete_answer(&self, context: &Context, answer: &mut Answer<ChangesOutput>) {
        let root = |context: &Context| context.workspace.root().display().to_string();
        let (there, here) = (root(&self.context), root(context));
        for item in &mut answer.output.found.diagnostics {
            item.message = item.message.replace(&there, &here);
        }
        let new = self.gaps.iter().filter(|gap| !answer.notes.contains(*gap)).cloned();
        let new: Vec<String> = new.collect();
        answer.notes.extend(new);
        if !self.gaps.is_empty() {
            answer.verdict.lower();
        }
    }

    /// Ends its servers, and returns when they have exited.
    pub(crate) async fn close(self) {
        self.context.manager.shutdown().await;
    }
}

/// A context with servers of its own, which the caller ends, over a tree on disk. If
/// `inherits_trust`, they may run its code wherever they may run the project's.
pub(super) fn context_over(context: &Context, workspace: Workspace, inherits_trust: bool) -> Context {
    let limits = MachineLimits::new(&context.config.settings.servers);
    let share = Arc::new(MachineShare::new(&context.folders, workspace.root(), limits));
    // Rules refer to paths of this workspace: a hard link of a hidden file is a separate file in
    // another tree.
    let here = context.workspace.clone();
    let shown = match context.limits.may_hide() {
        true => workspace.with_path_filter(Arc::new(move |path| here.is_path_hidden(path))),
        false => workspace.clone(),
    };
    Context {
        manager: Arc::new(context.manager.for_other_tree(workspace.clone(), share, inherits_trust)),
        cwd: workspace.root().to_owned(),
        edits: TransactionManager::new(workspace, EditOptions::new(&context.folders.state)),
        workspace: shown,
        outlines: Arc::default(),
        view: View::disk(),
        ..context.clone()
    }
}

/// The root of the workspace in a tree whose top is `top`. The tree may contain a link at that
/// path, which may lead anywhere.
fn make_root(top: &Path, below: &Path) -> Result<PathBuf, ToolError> {
    let mut root = top.to_owned();
    for name in below.components() {
        root.push(name);
        match fs::symlink_metadata(&root) {
            Ok(metadata) if metadata.is_dir() => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                fs::create_dir(&root).map_err(|error| io_error(&error))?;
            }
            Ok(_) | Err(_) => {
                let what = format!("`{}` is not a folder in the other tree", below.display());
                return Err(ToolError::new(ErrorCode::Unsupported, what));
            }
        }
    }
    Ok(root)
}

/// Removes the trees of processes that were killed before they could remove them.
fn remove_abandoned(trees: &Path) {
    let Ok(entries) = fs::read_dir(trees) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let writer = name.to_str().and_then(|name| name.split('-').next()?.parse::<i32>().ok());
        let lives = writer.is_some_and(process_tree::is_living);
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let age = age.and_then(|changed| changed.elapsed().ok());
        if !lives && age.is_some_and(|age| age > ABANDONED_TREE_AGE) {
            let _busy = fs::remove_dir_all(entry.path());
        }
    }
}

fn io_error(error: &std::io::Error) -> ToolError {
    ToolError::new(ErrorCode::Internal, format!("the other tree cannot be written to the cache: {error}"))
}

/// The earlier tree of a comparison, written out at the first request.
#[derive(Debug)]
pub(crate) struct EarlierCommit {
    context: Context,
    opened: Arc<OpenRepository>,
    commit: String,
    inherits_trust: bool,
    /// The tree, or the reason that it could not be written.
    written: OnceCell<Result<OtherTree, String>>,
}

impl EarlierCommit {
    /// The tree of `commit`. For `inherits_trust`, see [`OtherTree::write`].
    pub(crate) fn new(
        context: &Context,
        opened: &Arc<OpenRepository>,
        commit: String,
        inherits_trust: bool,
    ) -> Arc<Self> {
        let (context, opened) = (context.clone(), opened.clone());
        Arc::new(Self { context, opened, commit, inherits_trust, written: OnceCell::new() })
    }

    async fn write(&self) -> Result<OtherTree, String> {
        let tree = ComparedTree::Object(self.commit.clone());
        let written = OtherTree::write(&self.context, &self.opened, &tree, self.inherits_trust).await;
        written.map_err(|error| format!("the earlier tree is not available: {}", error.error))
    }

    /// Notes on parts of the project that the tree lacks, if it was written out.
    pub(crate) fn gaps(&self) -> Vec<String> {
        match self.written.get() {
            None => Vec::new(),
            Some(Ok(tree)) => tree.gaps.clone(),
            Some(Err(reason)) => vec![reason.clone()],
        }
    }

    /// Ends its servers, if it was written out.
    pub(crate) async fn close(&self) {
        if let Some(Ok(tree)) = self.written.get() {
            tree.context.manager.shutdown().await;
        }
    }
}

impl EarlierTree for EarlierCommit {
    fn context(&self) -> BoxFuture<'_, Option<&Context>> {
        Box::pin(async {
            let written = self.written.get_or_init(|| self.write()).await;
            written.as_ref().ok().map(|tree| &tree.context)
        })
    }
}
