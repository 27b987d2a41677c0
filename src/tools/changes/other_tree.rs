//! A tree of the repository that is not the work tree, written out and looked at with servers of its own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::lsp::machine::{MachineLimits, MachineShare};
use crate::lsp::view::View;
use crate::tools::context::Context;
use crate::tools::diagnostics_baseline::EarlierTree;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::git::checkout::{check_out, check_out_index};
use crate::tools::git::difference::ignored_paths;
use crate::tools::git::revision::ComparedTree;
use crate::tools::git_access::{OpenRepository, from_git_error};
use crate::tools::state_files::run_blocking;
use crate::workspace::edit::{EditOptions, TransactionManager};
use crate::workspace::{Workspace, private};

/// Folders that hold what a project needs of others, which git does not keep.
const LIBRARY_FOLDERS: [&str; 2] = ["node_modules", "vendor"];
/// The most entries of such a folder that are lent.
const MAX_LENT_ENTRIES: usize = 20_000;

/// No tree is looked at for so long.
const LONGEST_USE: Duration = Duration::from_secs(24 * 3_600);

/// A tree on disk with a context of its own. [`close`](Self::close) ends its servers; the folder goes when this is dropped.
#[derive(Debug)]
pub(crate) struct OtherTree {
    /// What looks at it. Paths in it are those of the workspace.
    pub context: Context,
    _folder: TempDir,
}

impl OtherTree {
    /// Writes `tree` out. `inherits_trust`: servers may run its code where they may run the project's.
    ///
    /// # Errors
    /// Where git fails, or the disk is full.
    pub(crate) async fn write(
        context: &Context,
        opened: &OpenRepository,
        tree: &ComparedTree,
        inherits_trust: bool,
    ) -> Result<Self, ToolError> {
        let OpenRepository { repository, shadow } = opened;
        let trees = context.folders.cache.join("trees");
        let made = private::make_folder(&trees).and_then(|()| TempDir::with_prefix_in("tree-", &trees));
        remove_left_behind(&trees);
        let folder = made.map_err(|error| io_error(&error))?;
        // A root with the project's own name, which some servers show or search by.
        let name = repository.top.file_name().unwrap_or_else(|| "tree".as_ref());
        let real = folder.path().canonicalize().map_err(|error| io_error(&error))?;
        let target = real.join("of").join(name);
        match tree {
            ComparedTree::Object(id) => check_out(shadow, repository, id, &target).await,
            ComparedTree::Index => check_out_index(shadow, &target).await,
            ComparedTree::WorkTree => {
                return Err(ToolError::new(ErrorCode::Internal, "the work tree is not written out"));
            }
        }
        .map_err(from_git_error)?;
        let ignored = ignored_paths(shadow, repository).await.map_err(from_git_error)?;
        let (top, into) = (repository.top.clone(), target.clone());
        run_blocking(move || {
            lend(&top, &into, &ignored);
            Ok(())
        })
        .await?;
        let below =
            context.workspace.root().strip_prefix(&repository.top).unwrap_or(Path::new("")).to_owned();
        let root = target.join(below);
        private::make_folder(&root).map_err(|error| io_error(&error))?;
        let workspace =
            Workspace::open(&root).map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))?;
        let limits = MachineLimits::new(&context.config.settings.servers);
        let share = Arc::new(MachineShare::new(&context.folders, workspace.root(), limits));
        let own = Context {
            manager: Arc::new(context.manager.for_other_tree(workspace.clone(), share, inherits_trust)),
            edits: TransactionManager::new(workspace.clone(), EditOptions::new(&context.folders.state)),
            cwd: root,
            workspace,
            edit_scheduler: Arc::default(),
            shells: Arc::default(),
            overlays: Arc::default(),
            outlines: Arc::default(),
            view: View::disk(),
            ..context.clone()
        };
        Ok(Self { context: own.with_limits(context.limits.clone()), _folder: folder })
    }

    /// Ends its servers; returns when they are gone.
    pub(crate) async fn close(self) {
        self.context.manager.shutdown().await;
    }
}

/// Removes the trees of processes that were killed before they could.
fn remove_left_behind(trees: &Path) {
    let Ok(entries) = fs::read_dir(trees) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let age = age.and_then(|changed| changed.elapsed().ok());
        if age.is_some_and(|age| age > LONGEST_USE) {
            let _busy = fs::remove_dir_all(entry.path());
        }
    }
}

fn io_error(error: &std::io::Error) -> ToolError {
    ToolError::new(ErrorCode::Internal, format!("the other tree cannot be written to the cache: {error}"))
}

/// Shows the tree in `into` the libraries and generated files that lie in `top` and that git ignores. Nothing is copied; what cannot be
/// shown is left out, and then missed before and after alike.
fn lend(top: &Path, into: &Path, ignored: &[PathBuf]) {
    for path in ignored {
        let (from, to) = (top.join(path), into.join(path));
        let Some(parent) = to.parent().filter(|parent| parent.is_dir()) else { continue };
        let is_plain = fs::canonicalize(parent).is_ok_and(|real| real.starts_with(into));
        if !is_plain || to.exists() {
            continue;
        }
        let Ok(kind) = fs::symlink_metadata(&from) else { continue };
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if kind.is_file() {
            let _missed = symlink(&from, &to);
        } else if kind.is_dir() && LIBRARY_FOLDERS.contains(&name) {
            lend_folder(&from, &to, true);
        }
    }
}

/// A folder of links to the entries of `from`. What is a link there leads from one package of the project to the next, and so has to lead
/// within the other tree.
fn lend_folder(from: &Path, to: &Path, scopes: bool) {
    let (Ok(()), Ok(entries)) = (fs::create_dir(to), fs::read_dir(from)) else { return };
    for entry in entries.flatten().take(MAX_LENT_ENTRIES) {
        let (path, link) = (entry.path(), to.join(entry.file_name()));
        let is_scope = entry.file_name().as_encoded_bytes().starts_with(b"@");
        let _missed = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => match fs::read_link(&path) {
                Ok(target) if target.is_relative() => symlink(target, &link),
                _ => Ok(()),
            },
            Ok(kind) if kind.is_dir() && is_scope && scopes => {
                lend_folder(&path, &link, false);
                Ok(())
            }
            Ok(_) => symlink(&path, &link),
            Err(error) => Err(error),
        };
    }
}

/// The earlier tree of a comparison, written out when it is first asked for.
#[derive(Debug)]
pub(crate) struct EarlierCommit {
    context: Context,
    opened: Arc<OpenRepository>,
    commit: String,
    inherits_trust: bool,
    written: OnceCell<Option<OtherTree>>,
}

impl EarlierCommit {
    /// The tree of `commit`. `inherits_trust`: as of [`OtherTree::write`].
    pub(crate) fn new(
        context: &Context,
        opened: &Arc<OpenRepository>,
        commit: String,
        inherits_trust: bool,
    ) -> Arc<Self> {
        let (context, opened) = (context.clone(), opened.clone());
        Arc::new(Self { context, opened, commit, inherits_trust, written: OnceCell::new() })
    }

    async fn write(&self) -> Option<OtherTree> {
        let tree = ComparedTree::Object(self.commit.clone());
        let written = OtherTree::write(&self.context, &self.opened, &tree, self.inherits_trust).await;
        written.inspect_err(|error| tracing::warn!("{}", error.error)).ok()
    }

    /// Ends its servers, where it was written out.
    pub(crate) async fn close(&self) {
        if let Some(Some(tree)) = self.written.get() {
            tree.context.manager.shutdown().await;
        }
    }
}

impl EarlierTree for EarlierCommit {
    fn context(&self) -> BoxFuture<'_, Option<&Context>> {
        Box::pin(async {
            let written = self.written.get_or_init(|| self.write()).await;
            written.as_ref().map(|tree| &tree.context)
        })
    }
}
