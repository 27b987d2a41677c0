//! A tool as one Python file with `SCHEMA` and `execute`. Its name and schema are read from its
//! text. The code runs only in a call, by a runner of this crate, and for a project only if the
//! user trusts it.

use std::time::Instant;

use serde_json::{Value, json};

use super::folder::DropInFile;
use crate::syntax::{DEADLINE, PythonModule};

/// The script that passes the arguments to the tool and prints the result.
pub(super) const RUNNER: &str = include_str!("runner.py");

/// The manifest of `file`; `None` if the file is a part of a tool.
pub(super) fn manifest(file: &DropInFile) -> Option<Result<Value, String>> {
    let module = PythonModule::read(&file.text, Instant::now() + DEADLINE)?;
    let schema = module.constant("SCHEMA").transpose()?;
    Some(schema.map_err(|reason| format!("`SCHEMA` must be a literal: {reason}")).and_then(|schema| {
        if !module.has_function("execute") {
            return Err("it has `SCHEMA` but no function `execute(tool_input, ctx)`".to_owned());
        }
        let Value::Object(mut words) = schema else { return Err("`SCHEMA` is not a dictionary".to_owned()) };
        words.insert("command".to_owned(), json!(["python3", format!("./{}.py", file.stem)]));
        Ok(Value::Object(words))
    }))
}
