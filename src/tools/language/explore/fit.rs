//! The share of each part in an answer of a stated size.

use serde::Serialize;

use super::output::{ExploreFinding, ExploreItem, ExploreList, ExploreOutput};
use crate::analysis::answer::Verdict;
use crate::analysis::items::budget::json_size;
use crate::text::{Position, Range, cut_markdown};

/// The bytes that count as one token: code in the common tokenizers has between three and four.
const BYTES_PER_TOKEN: usize = 3;
/// The number of leading letters by which documentation is recognised in the source.
const DOC_MATCH_CHARS: usize = 16;
/// The size of the note that a list is cut.
const MORE_BYTES: usize = 90;

/// A part before it is cut.
#[derive(Debug, Default)]
pub(super) struct UncutList {
    pub items: Vec<ExploreItem>,
    /// The verdict, if it is not complete.
    pub verdict: Option<Verdict>,
}

/// All parts of the answer.
#[derive(Debug, Default)]
pub(super) struct ExploreParts {
    pub symbol: String,
    pub kind: Option<String>,
    pub path: String,
    pub name_start: Position,
    pub range: Range,
    pub about: String,
    pub body: Option<Vec<String>>,
    pub errors: Vec<ExploreFinding>,
    pub callers: UncutList,
    pub implementations: UncutList,
    pub tests: UncutList,
    pub callees: UncutList,
}

/// The answer in at most `tokens`, of which `beside` bytes are for verdict and notes. Each list
/// gets one item if there is room. Documentation gets at most a fifth, errors a sixth, the source
/// two fifths. The lists share the rest evenly, and unused shares go to the other lists.
pub(super) fn fit(parts: ExploreParts, tokens: usize, beside: usize) -> ExploreOutput {
    let mut output = ExploreOutput {
        symbol: parts.symbol,
        kind: parts.kind,
        path: parts.path,
        name_start: parts.name_start,
        range: parts.range,
        about: String::new(),
        body: None,
        errors: ExploreList::default(),
        callers: ExploreList::default(),
        implementations: ExploreList::default(),
        tests: ExploreList::default(),
        callees: ExploreList::default(),
    };
    let mut errors = CutList::new(parts.errors, None);
    let uncut = [parts.callers, parts.implementations, parts.tests, parts.callees];
    let mut lists = uncut.map(|list| CutList::new(list.items, list.verdict));
    let count = lists.len();
    let frame =
        json_size(&output) + beside + lists.iter().map(CutList::frame).sum::<usize>() + errors.frame();
    let all = tokens.saturating_mul(BYTES_PER_TOKEN).saturating_sub(frame);
    let about = beyond_source(&parts.about, parts.body.as_deref().unwrap_or_default());
    output.about = cut_markdown(about, all / 5).into_owned();
    let mut left = all.saturating_sub(json_size(&output.about));
    left -= errors.take(left.min(all / 6));
    output.body = parts.body.map(|lines| elide_middle(&lines, left.min(all * 2 / 5)));
    left = left.saturating_sub(output.body.as_ref().map_or(0, json_size));
    for list in &mut lists {
        left -= list.take_one(left);
    }
    for (index, list) in lists.iter_mut().enumerate() {
        left -= list.take(left / (count - index));
    }
    for list in &mut lists {
        left -= list.take(left);
    }
    let [callers, implementations, tests, callees] = lists;
    ExploreOutput {
        errors: errors.finish("narrow by a `symbol` in it", "lsp_diagnostics"),
        callers: callers.finish_by_file("lsp_references"),
        implementations: implementations.finish_by_file("lsp_implementation"),
        tests: tests.finish_by_file("lsp_references"),
        callees: callees.finish_by_file("lsp_calls"),
        ..output
    }
}

/// Drops the documentation and signature of `about` that the source repeats.
fn beyond_source<'a>(about: &'a str, body: &[String]) -> &'a str {
    let mut code = about.lines().filter(|line| !line.starts_with("```"));
    if code.all(|line| body.iter().any(|own| own.trim() == line.trim())) {
        return "";
    }
    let Some((signature, docs)) = about.split_once("\n---\n") else { return about };
    // Servers turn markup into Markdown, so only the beginning is compared.
    let plain = |line: &str| line.chars().filter(|character| character.is_alphanumeric()).collect::<String>();
    let first = docs.lines().map(plain).find(|line| !line.is_empty()).unwrap_or_default();
    let first: String = first.chars().take(DOC_MATCH_CHARS).collect();
    match body.iter().any(|line| plain(line).contains(&first)) {
        true => signature.trim_end(),
        false => about,
    }
}

/// A list whose first items are taken as room permits.
struct CutList<T> {
    taken: Vec<T>,
    rest: std::vec::IntoIter<T>,
    count: usize,
    verdict: Option<Verdict>,
}

impl<T: Serialize> CutList<T> {
    fn new(items: Vec<T>, verdict: Option<Verdict>) -> Self {
        Self { taken: Vec::new(), count: items.len(), rest: items.into_iter(), verdict }
    }

    /// The size of the list beside its items.
    fn frame(&self) -> usize {
        if self.count == 0 { 0 } else { MORE_BYTES }
    }

    /// Takes items while they fit into `most` bytes, and returns their size.
    fn take(&mut self, most: usize) -> usize {
        let mut used = 0;
        loop {
            match self.take_one(most - used) {
                0 => return used,
                size => used += size,
            }
        }
    }

    /// Takes one item and returns its size; 0 if there is none or it does not fit.
    fn take_one(&mut self, most: usize) -> usize {
        let Some(size) = self.rest.as_slice().first().map(json_size).filter(|size| *size < most) else {
            return 0;
        };
        self.taken.extend(self.rest.next());
        size + 1
    }

    /// The finished list. If it is cut, it has `advice` on the rest and names the tool
    /// `whole`, which shows all.
    fn finish(self, advice: &str, whole: &str) -> ExploreList<T> {
        let shown = self.taken.len();
        let more = (shown < self.count)
            .then(|| format!("shown {shown} of {} · {advice}, or see `{whole}`", self.count));
        ExploreList { count: self.count, items: self.taken, more, verdict: self.verdict }
    }
}

impl CutList<ExploreItem> {
    /// Like [`Self::finish`], for a list that `only` narrows if it contains several files.
    fn finish_by_file(self, whole: &str) -> ExploreList<ExploreItem> {
        let mut paths = self.taken.iter().chain(self.rest.as_slice()).map(|item| &item.path);
        let first = paths.next();
        let advice = match paths.any(|path| Some(path) != first) {
            true => "narrow by `only`",
            false => "raise `budget`",
        };
        self.finish(advice, whole)
    }
}

/// The lines in at most `most` bytes. If they do not fit, the middle is replaced by a line with the
/// number of omitted lines.
fn elide_middle(lines: &[String], most: usize) -> String {
    // A line break takes two bytes in JSON, as many as the quotes around a text.
    let size = |line: &String| json_size(line);
    if lines.iter().map(size).sum::<usize>() <= most {
        return lines.join("\n");
    }
    let budget = most.saturating_sub(json_size(&"⋯ 1000 lines left out ⋯"));
    let taken = |lines: &mut dyn Iterator<Item = &String>, budget: usize| {
        let mut used = 0;
        lines
            .take_while(|line| {
                used += size(line);
                used <= budget
            })
            .count()
    };
    // The lines after the signature are more useful than the end. At least one line stays.
    let head = taken(&mut lines.iter(), budget * 2 / 3).max(1);
    let tail = taken(&mut lines[head..].iter().rev(), budget / 3);
    let left_out = lines.len() - head - tail;
    let mut shown = lines[..head].to_vec();
    if left_out > 0 {
        shown.push(format!("⋯ {left_out} lines left out ⋯"));
    }
    shown.extend_from_slice(&lines[lines.len() - tail..]);
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::model::Severity;

    fn item(symbol: &str) -> ExploreItem {
        let symbol = Some(symbol.to_owned());
        let at = vec![Position::new(3, 0)];
        ExploreItem { path: "src/a.py".into(), symbol, kind: None, at, places: 1, text: None }
    }

    fn parts(callers: usize, body: usize) -> ExploreParts {
        let mut items: Vec<_> = (0..callers).map(|number| item(&format!("caller_{number}"))).collect();
        if let Some(last) = items.last_mut() {
            last.path = "src/b.py".into();
        }
        ExploreParts {
            symbol: "greet".into(),
            body: Some((0..body).map(|number| format!("    line({number})")).collect()),
            callers: UncutList { items, verdict: None },
            ..ExploreParts::default()
        }
    }

    #[test]
    fn explore_answer_stays_within_budget_and_says_what_is_left_out() {
        for tokens in [300, 500, 2_000, 10_000] {
            let output = fit(parts(5_000, 5_000), tokens, 200);
            let size = json_size(&output);
            assert!(size <= tokens * BYTES_PER_TOKEN, "{size} bytes for {tokens} tokens");
            assert!(size * 2 > tokens * BYTES_PER_TOKEN, "{size} bytes of {tokens} tokens are used");
            let more = output.callers.more.unwrap();
            let shown = output.callers.items.len();
            assert_eq!(more, format!("shown {shown} of 5000 · narrow by `only`, or see `lsp_references`"));
            assert!(output.body.unwrap().contains("lines left out"));
        }
    }

    #[test]
    fn cut_list_of_one_file_does_not_name_an_argument_that_would_leave_it_whole() {
        let mut parts = parts(5_000, 10);
        parts.callers.items.pop();
        let finding = ExploreFinding {
            at: Position::new(1, 0),
            severity: Severity::Error,
            code: None,
            message: "wrong".into(),
        };
        parts.errors = vec![finding; 500];
        let output = fit(parts, 500, 200);
        let shown = output.callers.items.len();
        assert_eq!(
            output.callers.more.unwrap(),
            format!("shown {shown} of 4999 · raise `budget`, or see `lsp_references`")
        );
        let shown = output.errors.items.len();
        assert_eq!(
            output.errors.more.unwrap(),
            format!("shown {shown} of 500 · narrow by a `symbol` in it, or see `lsp_diagnostics`")
        );
    }

    #[test]
    fn explore_answer_that_fits_is_whole() {
        let output = fit(parts(3, 10), 2_000, 200);
        assert_eq!((output.callers.items.len(), output.callers.more), (3, None));
        assert_eq!(output.body.unwrap().lines().count(), 10);
    }

    #[test]
    fn documentation_that_the_source_has_is_not_repeated() {
        let body = ["def greet():".to_owned(), "    \"\"\"Greets `you`.".to_owned()];
        let about = "```python\ndef greet()\n```\n---\nGreets you.\n\nMore.";
        assert_eq!(beyond_source(about, &body), "```python\ndef greet()\n```");
        assert_eq!(beyond_source(about, &body[..1]), about);
        assert_eq!(
            beyond_source("```python\ndef greet():\n```", &body),
            "",
            "the signature as the text has it"
        );
    }

    #[test]
    fn elided_body_keeps_first_and_last_lines_in_order() {
        let lines: Vec<String> = (0..100).map(|number| format!("line {number}")).collect();
        let shown = elide_middle(&lines, 200);
        assert!(json_size(&shown) <= 200, "{shown}");
        assert!(shown.starts_with("line 0\nline 1\n") && shown.ends_with("line 98\nline 99"), "{shown}");
        assert_eq!(elide_middle(&lines, 1), "line 0\n⋯ 99 lines left out ⋯");
    }
}
