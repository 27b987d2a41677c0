//! Reasons that findings are not stored.

use std::path::PathBuf;

use crate::workspace::DigestError;

/// The reason that the inputs of a server's findings are not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InputsError {
    /// The catalogue does not say what the server reads outside of the workspace, or the user has
    /// changed its entry.
    #[error("{0} may read files that are not compared")]
    UnknownReads(String),
    /// The user, or a folder above the workspace, has settings for it.
    #[error("{0} reads settings outside of the workspace")]
    OuterSettings(String),
    /// The program is not that of `lsp-tools install`.
    #[error("{0} is not the one that `lsp-tools install {0}` installs")]
    NotInstalled(String),
    /// There is no Python environment.
    #[error("there is no virtual environment")]
    NoEnvironment,
    /// The environment has modules from elsewhere, or its interpreter is unknown.
    #[error("`{}` uses modules outside of it", .0.display())]
    OpenEnvironment(PathBuf),
    /// A variable adds modules.
    #[error("{0} is set")]
    Variable(&'static str),
    /// A panic of the code that reads them.
    #[error("reading what findings depend on failed")]
    Panic,
    /// A digest is missing.
    #[error(transparent)]
    Digest(#[from] DigestError),
}
