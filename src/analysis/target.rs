//! The target of a request: a place, a name, or a file.

use std::path::{Path, PathBuf};

use super::error::{ErrorCode, ToolError};
use crate::text::Position;

/// The subject of a request, before it is looked up. Paths are as the caller gave them: absolute,
/// or relative to the caller's own directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A place in a file.
    Position {
        /// The file.
        path: PathBuf,
        /// The position, 0-based, in Unicode scalar values.
        position: Position,
    },
    /// A name on a line: its occurrence on that line, or the nearest one.
    NameOnLine {
        /// The file.
        path: PathBuf,
        /// The 0-based line.
        line0: u32,
        /// The name.
        name: String,
    },
    /// A symbol of a file, by its name; qualified if necessary (`Class.method`).
    NameInFile {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// A symbol of the workspace, by its name.
    Name(String),
    /// A whole file.
    File(PathBuf),
}

impl Target {
    /// The position as given, if the target has one.
    pub(crate) fn exact_position(&self) -> Option<Position> {
        match self {
            Self::Position { position, .. } => Some(*position),
            Self::NameOnLine { .. } | Self::NameInFile { .. } | Self::Name(_) | Self::File(_) => None,
        }
    }
}

/// The file of a target.
pub(crate) fn path_of(target: &Target) -> Result<&Path, ToolError> {
    match target {
        Target::Position { path, .. }
        | Target::NameOnLine { path, .. }
        | Target::NameInFile { path, .. }
        | Target::File(path) => Ok(path),
        Target::Name(name) => Err(ToolError::new(
            ErrorCode::InvalidArgs,
            format!("`{name}` is not a file; give FILE:LINE:COL or FILE:NAME"),
        )),
    }
}
