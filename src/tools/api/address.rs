//! The arguments of language tools that name their subject: a file and a place in it, a name, or
//! both.

use crate::platform::OsStrExt;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::place_address;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::target::{Target, path_of};
use crate::policy::request::CallSubjects;
use crate::text::Position;

/// The address of a symbol or position.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Address {
    /// Optional if `symbol` is unique.
    #[serde(serialize_with = "shown_path", skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// 0-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// 0-based column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub character: Option<u32>,
    /// Symbol, like `Class.method`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Instead of these: `path:line:column`, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Serializes a path as text, for hooks and the audit log. Bytes that are not UTF-8 are replaced;
/// the call itself uses the path.
pub(crate) fn shown_path<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

impl From<Target> for Address {
    fn from(target: Target) -> Self {
        let of_file = |path| Self { path: Some(path), ..Self::default() };
        match target {
            Target::Position { path, position } => {
                let (line, character) = (Some(position.line), Some(position.character));
                Self { line, character, ..of_file(path) }
            }
            Target::NameOnLine { path, line0, name } => {
                Self { line: Some(line0), symbol: Some(name), ..of_file(path) }
            }
            Target::NameInFile { path, name } => Self { symbol: Some(name), ..of_file(path) },
            Target::Name(name) => Self { symbol: Some(name), ..Self::default() },
            Target::File(path) => of_file(path),
        }
    }
}

impl Address {
    fn file(&self) -> Option<&Path> {
        self.path.as_deref().filter(|path| !path.as_os_str().is_empty())
    }

    /// The position or name that the arguments mean. Fails with a hint if too little was given.
    pub(crate) fn target(&self, context: &Context) -> Result<Target, ToolError> {
        let path = self.file();
        if let Some(at) = self.at.as_deref().filter(|at| !at.is_empty()) {
            if self.line.is_some() || self.character.is_some() || self.symbol.is_some() {
                let what = "`at` is a complete position: omit `line`, `character` and `symbol`";
                return Err(ToolError::new(ErrorCode::InvalidArgs, what));
            }
            return place_at(context, path, at);
        }
        let symbol = self.symbol.as_deref().filter(|symbol| !symbol.is_empty());
        Ok(match (path, self.line, self.character, symbol) {
            (Some(path), Some(line0), _, Some(name)) => {
                Target::NameOnLine { path: path.into(), line0, name: name.to_owned() }
            }
            (Some(path), Some(line), Some(character), None) => {
                Target::Position { path: path.into(), position: Position::new(line, character) }
            }
            (Some(path), None, None, Some(name)) => {
                Target::NameInFile { path: path.into(), name: name.to_owned() }
            }
            (None, None, None, Some(name)) => Target::Name(name.to_owned()),
            (None, Some(_), _, _) | (None, _, Some(_), _) => {
                return Err(missing_argument("`path` for `line`"));
            }
            (Some(_), None, Some(_), _) => return Err(missing_argument("`line` beside `character`")),
            (Some(_), Some(_), None, None) => {
                return Err(missing_argument("`symbol` or `character` beside `line`"));
            }
            (Some(_), None, None, None) => {
                return Err(missing_argument("`symbol`, or `line` and `character`"));
            }
            (None, None, None, None) => {
                return Err(missing_argument("`path` with `line` and `character`, or `symbol`"));
            }
        })
    }

    /// The file as a subject for the rules.
    pub(crate) fn subjects(&self, context: &Context) -> Result<CallSubjects, ToolError> {
        let at = match &self.at {
            Some(_) => Some(self.target(context)?),
            None => None,
        };
        let file = at.as_ref().map_or(self.file(), |target| path_of(target).ok());
        let paths = file.map(|path| context.path(path)).transpose()?;
        Ok(CallSubjects { paths: paths.into_iter().collect(), ..CallSubjects::default() })
    }
}

/// The place that `at` names. Answers print the path once for all places of a file, so `at` may
/// continue the `path` beside it.
pub(crate) fn place_at(context: &Context, path: Option<&Path>, at: &str) -> Result<Target, ToolError> {
    let is_file = |path: &Path| context.path(path).is_ok_and(|path| context.workspace.stamp(&path).is_ok());
    let Some(path) = path else { return place_address::parse_place(OsStr::new(at), is_file) };
    let is_whole = OsStr::new(at).as_bytes().strip_prefix(path.as_os_str().as_bytes());
    if is_whole.is_some_and(|rest| rest.starts_with(b":")) {
        return place_address::parse_place(OsStr::new(at), is_file);
    }
    let mut address = path.as_os_str().to_owned();
    address.push(":");
    address.push(at);
    place_address::parse_place(&address, is_file)
}

fn missing_argument(what: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidArgs, format!("the arguments lack {what}"))
}
