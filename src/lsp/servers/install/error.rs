//! Errors of installing a server.

use std::io;
use std::path::{Path, PathBuf};

use crate::lsp::servers::health;
use crate::process::{Exit, SpawnError};
use crate::text::truncate_chars;

/// The maximum length of a program's output in the message of a known failure, in characters.
const MAX_CAUSE_CHARS: usize = 160;

/// The reasons why a server was not installed. The earlier installation is still in use.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The server has no recipes.
    #[error("{server} must be installed manually: {manual}")]
    Manual {
        /// The server's key.
        server: String,
        /// The remedy.
        manual: String,
    },
    /// The key cannot be the name of a folder.
    #[error(
        "`{key}` cannot be installed: a server's key may hold letters, digits, `-`, `_`, `+` and inner dots only"
    )]
    Key {
        /// The key.
        key: String,
    },
    /// A recipe names no valid package.
    #[error("`{package}` in the install recipes of {server} is not a pinned package; correct servers.toml")]
    Recipe {
        /// The server's key.
        server: String,
        /// The recipe.
        package: String,
    },
    /// The package manager is missing.
    #[error("{server} needs {tool} to be installed: {mend}")]
    NoTool {
        /// The server's key.
        server: String,
        /// The missing tool.
        tool: &'static str,
        /// The way to install it.
        mend: &'static str,
    },
    /// The packages of a server cannot be saved in a folder.
    #[error(
        "{server} comes from {manager}, whose packages cannot be saved in a folder: install it on a machine with a network"
    )]
    Online {
        /// The server's key.
        server: String,
        /// The package manager.
        manager: &'static str,
    },
    /// The folder of saved packages does not exist.
    #[error(
        "{} is no folder of saved packages; save them with `lsp-tools install --download DIR NAME` on a machine with a network",
        folder.display()
    )]
    NoSavedPackages {
        /// The folder.
        folder: PathBuf,
    },
    /// A command failed.
    #[error("`{command}` failed with {exit}:\n{}", output.join("\n"))]
    Failed {
        /// The command.
        command: String,
        /// The exit of the command.
        exit: Exit,
        /// The last lines of its output.
        output: Vec<String>,
    },
    /// A command failed for a known reason.
    #[error("`{command}` failed: {cause} ({}); {remedy}", truncate_chars(said, MAX_CAUSE_CHARS))]
    Known {
        /// The command.
        command: String,
        /// The cause.
        cause: &'static str,
        /// The line of its output that shows the cause.
        said: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// A registry served other content than the lock names.
    #[error(
        "{package} from {registry} does not match the lock of {server}, and nothing was installed: it has {got} \
         instead of {expected}. The registry or a mirror of it returned different content, or \
         somebody changed it in transit; ask the registry's operator before you install it in another way"
    )]
    Mismatch {
        /// The server's key.
        server: String,
        /// The fetched package.
        package: String,
        /// The registry that served it ("PyPI").
        registry: &'static str,
        /// The hash of the received file.
        got: String,
        /// The hash, or the number of hashes, that the lock has for it.
        expected: String,
    },
    /// A command did not end in time.
    #[error("`{command}` was ended after the limit of {minutes} minutes; its last output:\n{}", output.join("\n"))]
    TooLong {
        /// The command.
        command: String,
        /// The time limit of an installation.
        minutes: u64,
        /// The last lines of its output.
        output: Vec<String>,
    },
    /// Another process installs the server and does not finish.
    #[error("another process is still installing {server}; end it, or try again later")]
    Busy {
        /// The server's key.
        server: String,
    },
    /// The packages do not contain the program.
    #[error("{} did not install the program `{program}`, the command of {server} in the catalogue", packages.join(", "))]
    NoProgram {
        /// The server's key.
        server: String,
        /// The missing program.
        program: String,
        /// The installed packages.
        packages: Vec<String>,
    },
    /// The program exists, and does not work.
    #[error("{program} does not work: {trouble}")]
    Broken {
        /// The program.
        program: String,
        /// The server's error.
        trouble: String,
    },
    /// No way to install it worked.
    #[error("{server} could not be installed:\n{}", tries.join("\n"))]
    NoWay {
        /// The server's key.
        server: String,
        /// The attempts, each in one line except for the last.
        tries: Vec<String>,
    },
    /// A file of the prefix could not be handled.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// The attempted action.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A command could not be started.
    #[error(transparent)]
    Start(#[from] SpawnError),
}

impl InstallError {
    /// Returns the error in one line: of a command's output, the first error line, else the last
    /// line.
    pub(super) fn line(&self) -> String {
        match self {
            Self::Failed { command, exit, output } => {
                format!("`{command}` failed with {exit}: {}", health::most_informative_line(output))
            }
            other => other.to_string().replace('\n', " "),
        }
    }

    /// Returns true if `line` reports another attempt that failed for the same known cause.
    pub(super) fn is_cause_of(&self, line: &str) -> bool {
        matches!(self, Self::Known { cause, remedy, .. } if line.contains(cause) && line.ends_with(remedy))
    }

    pub(super) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { doing, path, source }
    }
}
