//! A tool as one Python file with `SCHEMA` and `execute`. What it is called and takes is read from its text; it runs only when it is
//! called, by a runner of ours, and of a project only after its owner has said yes to it.

use std::time::Instant;

use serde_json::{Value, json};

use super::folder::DropInFile;
use crate::hints::{DEADLINE, PythonModule};

/// Hands the arguments over and the result back.
pub(super) const RUNNER: &str = include_str!("runner.py");

/// The manifest that `file` amounts to; `None` where it is no tool but a part of one.
pub(super) fn manifest(file: &DropInFile) -> Option<Result<Value, String>> {
    let module = PythonModule::read(&file.text, Instant::now() + DEADLINE)?;
    let schema = module.constant("SCHEMA").transpose()?;
    Some(schema.map_err(|why| format!("`SCHEMA` is read and not run: {why}")).and_then(|schema| {
        if !module.has_function("execute") {
            return Err("it has `SCHEMA` and no function `execute(tool_input, ctx)`".to_owned());
        }
        let Value::Object(mut words) = schema else { return Err("`SCHEMA` is no dictionary".to_owned()) };
        words.insert("command".to_owned(), json!(["python3", format!("./{}.py", file.stem)]));
        Ok(Value::Object(words))
    }))
}
