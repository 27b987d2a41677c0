//! The numbers of right, cautious and wrong answers.

use std::fmt;

use lsp_tools::{Runtime, Target, Verdict};

use super::languages::Language;
use super::steps::Step;

pub struct Report<'a> {
    language: &'a Language,
    pub answers: usize,
    /// Answers that state that they may be incomplete.
    pub cautious: Vec<String>,
    /// Wrong answers that state `complete`.
    pub wrong: Vec<String>,
}

impl<'a> Report<'a> {
    pub fn of(language: &'a Language) -> Self {
        Self { language, answers: 0, cautious: Vec::new(), wrong: Vec::new() }
    }

    /// Puts all questions after `step`.
    pub async fn judge(&mut self, runtime: &Runtime, step: &Step) {
        // First, because a request for the file's diagnostics may make the server read other files
        // again.
        if step.so.definition.is_some() {
            self.judge_definition(runtime, step).await;
        }
        self.judge_diagnostics(runtime, step).await;
    }

    async fn judge_diagnostics(&mut self, runtime: &Runtime, step: &Step) {
        let asked = runtime.diagnose(vec![self.language.user.into()], None, 100).await;
        let answer = asked.unwrap_or_else(|error| panic!("{}: {error:?}", step.name));
        let found: Vec<String> = answer.output.diagnostics.iter().map(|item| item.message.clone()).collect();
        let is_right = found.is_empty() != step.so.errors;
        self.count(step, answer.verdict, is_right, || format!("diagnostics are {found:?}"));
    }

    async fn judge_definition(&mut self, runtime: &Runtime, step: &Step) {
        let target = Target::NameOnLine {
            path: self.language.user.into(),
            line0: self.language.call_line,
            name: step.so.name.to_owned(),
        };
        let answer =
            runtime.definition(target).await.unwrap_or_else(|error| panic!("{}: {error:?}", step.name));
        let found: Vec<(String, u32)> = answer
            .output
            .locations
            .iter()
            .map(|place| (place.path.clone(), place.range.start.line))
            .collect();
        let is_right = step.so.definition.as_ref().is_some_and(|so| found.contains(so));
        self.count(step, answer.verdict, is_right, || {
            format!("definition is {found:?}, should be {:?}", step.so.definition)
        });
    }

    fn count(&mut self, step: &Step, verdict: Verdict, is_right: bool, what: impl Fn() -> String) {
        self.answers += 1;
        let said = || format!("{}: {}", step.name, what());
        match (verdict, is_right) {
            (Verdict::Complete, true) => {}
            (Verdict::Complete, false) => self.wrong.push(said()),
            _ => self.cautious.push(format!("{} ({verdict:?})", said())),
        }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let right = self.answers - self.cautious.len() - self.wrong.len();
        let Self { answers, cautious, wrong, .. } = self;
        writeln!(
            f,
            "{}: {answers} answers, {right} right, {} cautious, {} wrong",
            self.language.server,
            cautious.len(),
            wrong.len()
        )?;
        wrong.iter().try_for_each(|what| writeln!(f, "  wrong: {what}"))?;
        cautious.iter().try_for_each(|what| writeln!(f, "  cautious: {what}"))
    }
}
