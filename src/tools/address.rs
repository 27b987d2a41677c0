//! How language tools are told what they are asked about: a file and a place in it, or a name, or both.

use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::error::{ErrorCode, ToolError};
use super::target::Target;
use crate::policy::request::Subjects;
use crate::text::Position;

/// What is asked about.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct Address {
    /// File. Not needed if `symbol` is unique.
    pub path: Option<String>,
    /// 0-based.
    pub line: Option<u32>,
    /// 0-based column, in characters.
    pub character: Option<u32>,
    /// Name (`Class.method`), with or without `line`; safer than `character`.
    pub symbol: Option<String>,
}

impl Address {
    /// The place or name that is meant; fails, saying what to give, where too little was said.
    pub fn target(&self) -> Result<Target, ToolError> {
        let path = self.path.as_deref().filter(|path| !path.is_empty());
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
                return Err(missing("`path`, for `line` counts in a file"));
            }
            (Some(_), None, Some(_), _) => return Err(missing("`line` beside `character`")),
            (Some(_), Some(_), None, None) => return Err(missing("`symbol` or `character` beside `line`")),
            (Some(_), None, None, None) => return Err(missing("`symbol`, or `line` and `character`")),
            (None, None, None, None) => {
                return Err(missing("`path` with `line` and `character`, or `symbol`"));
            }
        })
    }

    /// The file, for the rules.
    pub fn subjects(&self, context: &Context) -> Result<Subjects, ToolError> {
        let path = self.path.as_deref().filter(|path| !path.is_empty());
        let paths = path.map(|path| context.path(path.as_ref())).transpose()?;
        Ok(Subjects { paths: paths.into_iter().collect(), ..Subjects::default() })
    }
}

fn missing(what: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidArgs, format!("the arguments lack {what}"))
}
