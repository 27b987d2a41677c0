//! The product itself, through its library.

use std::path::PathBuf;

use lsp_tools::internals::lsp::Severity;
use lsp_tools::{Answer, Position, Runtime, Target, ToolError, Verdict};
use serde_json::json;

use super::oracle::{Finding, hover_words};
use super::product::{Answered, Product};
use crate::support::Project;

/// A runtime on a project, with its own threads.
pub struct Ours {
    threads: tokio::runtime::Runtime,
    runtime: Runtime,
    root: PathBuf,
}

impl Ours {
    pub fn open(project: &Project, data: PathBuf) -> Self {
        let threads = tokio::runtime::Runtime::new().expect("threads");
        let within = threads.enter();
        let workspace = project.opening().servers_in(data).timeout(None).open();
        drop(within);
        Self { threads, runtime: workspace.runtime, root: project.root() }
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.threads.block_on(self.runtime.shutdown());
    }
}

/// The output of a complete answer; other answers count as missing.
fn complete<T>(answer: Result<Answer<T>, ToolError>) -> Result<T, String> {
    match answer {
        Ok(answer) if answer.verdict == Verdict::Complete => Ok(answer.output),
        Ok(answer) => Err(format!("{:?}: {:?}", answer.verdict, answer.server_status)),
        Err(error) => Err(error.to_string()),
    }
}

impl Product for Ours {
    fn diagnostics(&mut self, path: &str) -> Answered<Vec<Finding>> {
        let file = self.root.join(path);
        let asked = self.runtime.diagnose(vec![file.clone()], Some(Severity::Hint), usize::MAX);
        let output = match complete(self.threads.block_on(asked)) {
            Ok(output) => output,
            Err(why) => return Answered::Missing(why),
        };
        let text = std::fs::read_to_string(file).expect("the file that was just edited");
        let finding = |item: &lsp_tools::answer::DiagnosticItem| {
            let start = item.range.start;
            let severity = match item.severity {
                Severity::Error => 1,
                Severity::Warning => 2,
                Severity::Information => 3,
                Severity::Hint => 4,
            };
            let place = (start.line as usize, start.character as usize);
            Finding::new(&text, place, severity, &item.message, &self.root)
        };
        let mut findings: Vec<Finding> = output.diagnostics.iter().map(finding).collect();
        findings.sort();
        Answered::Complete(findings)
    }

    fn hover(&mut self, path: &str, (line, column): (usize, usize)) -> Answered<Vec<String>> {
        let number = |value: usize| u32::try_from(value).expect("a small file");
        let position = Position::new(number(line), number(column));
        let target = Target::Position { path: self.root.join(path), position };
        match complete(self.threads.block_on(self.runtime.hover(target))) {
            Ok(output) => {
                Answered::Complete(hover_words(&json!({ "contents": output.contents }), &self.root))
            }
            Err(why) => Answered::Missing(why),
        }
    }
}
