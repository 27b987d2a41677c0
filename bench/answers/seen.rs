//! The check of all arms: which expected lines, or which parts of a symbol's meaning, the answers
//! so far contain.
//!
//! A line counts if its file and its number stand together: `path:12`, or `12:`, `L12`, `lines: 12,
//! 15` or a table cell below a heading with the path. If a line of the answer has no number, the
//! exact text of the source line below its path counts. A meaning counts if the name, the kind, all
//! parameters in order and the first line of the documentation are present.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::questions::{Files, Kind, Question, TrueLine};

static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\w@./+\-]*[\w\-]\.(?:py|tsx?)\b").ok());
/// A number directly after a path, at the start of a line, after `L` or after `line`.
static NUMBERS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = [
        r"^(?::|#L|\()(\d+)",
        r"^\W*L?(\d+)\s*[:\-|\t>)]",
        r"\bL(\d+)\b",
        r"(?i)lines?\W{1,4}(\d+(?:, ?\d+)*)",
        r", (\d+):\d+\b",
    ];
    patterns.into_iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
});

static ROLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r":[a-z]+:(?:`)").ok());

/// Whether the line numbers of an arm's answers refer to the text before or after the edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    Before,
    After,
}

/// The answers of one arm to one question.
pub struct Transcript<'a> {
    question: &'a Question,
    sources: BTreeMap<&'a str, Vec<&'a str>>,
    /// The number of a file's first line in the answers of this arm.
    base: u32,
    numbering: Numbering,
    seen: BTreeSet<usize>,
    text: String,
    pub bytes: usize,
    pub calls: usize,
    pub answers: Vec<(String, String)>,
    /// Whether an incomplete answer claimed `complete`.
    pub false_complete: bool,
}

impl<'a> Transcript<'a> {
    pub fn new(question: &'a Question, files: &'a Files, base: u32, numbering: Numbering) -> Self {
        let sources = files.iter().map(|(path, text)| (path.as_str(), text.lines().collect())).collect();
        Self {
            question,
            sources,
            base,
            numbering,
            seen: BTreeSet::new(),
            text: String::new(),
            bytes: 0,
            calls: 0,
            answers: Vec::new(),
            false_complete: false,
        }
    }

    /// Adds an answer. Returns whether all answers together are complete.
    pub fn take(&mut self, call: String, answer: &str) -> bool {
        self.count(call, answer);
        let expanded = expanded(answer);
        if self.question.kind == Kind::What {
            self.text.push_str(&expanded);
            self.text.push('\n');
        } else {
            self.look(&expanded);
        }
        self.is_whole()
    }

    /// Adds the lines `first..end` (0-based) of a file, which were printed without numbers.
    pub fn window(&mut self, call: String, path: &str, (first, end): (usize, usize)) -> bool {
        let shown =
            self.sources.get(path).map_or_else(String::new, |lines| lines[first..end].join("\n") + "\n");
        self.count(call, &shown);
        self.text.push_str(&shown);
        for (index, line) in self.question.lines.iter().enumerate() {
            let number = self.number(line);
            if line.path == path && number.is_none_or(|number| (first..end).contains(&(number as usize))) {
                self.seen.insert(index);
            }
        }
        self.is_whole()
    }

    /// Counts an answer without evaluating it: hits whose surroundings are read next.
    pub fn count(&mut self, call: String, answer: &str) {
        self.calls += 1;
        self.bytes += answer.len();
        self.answers.push((call, answer.to_owned()));
    }

    pub fn is_whole(&self) -> bool {
        match self.question.kind {
            Kind::What => self.told() == self.parts().len(),
            _ => self.seen.len() == self.question.lines.len(),
        }
    }

    /// The share of the expected answer that was found.
    pub fn recall(&self) -> f64 {
        match self.question.kind {
            Kind::What => self.told() as f64 / self.parts().len() as f64,
            _ => self.seen.len() as f64 / self.question.lines.len().max(1) as f64,
        }
    }

    /// The missing parts, for the report.
    pub fn missing(&self) -> Vec<String> {
        if self.question.kind == Kind::What {
            let text = collapsed(&self.text);
            return self
                .parts()
                .into_iter()
                .filter(|part| !part.is_in(&text))
                .map(|part| part.words())
                .collect();
        }
        let lines = self.question.lines.iter().enumerate().filter(|(index, _)| !self.seen.contains(index));
        lines.map(|(_, line)| format!("{}:{}", line.path, line.line + 1)).collect()
    }

    fn number(&self, line: &TrueLine) -> Option<u32> {
        match self.numbering {
            Numbering::After => Some(line.line),
            Numbering::Before => line.before,
        }
    }

    fn look(&mut self, answer: &str) {
        let (Some(path_of), question) = (PATH.as_ref(), self.question) else { return };
        let mut heading: Option<&str> = None;
        for line in answer.lines() {
            let (mut places, mut rest): (BTreeSet<(&str, u32)>, _) = (BTreeSet::new(), line);
            // Numbers before a path on the same line belong to the previous heading.
            let (above, first_path) = (heading, path_of.find(line).map_or(line.len(), |found| found.start()));
            while let Some(found) = path_of.find(rest) {
                let known = self.sources.keys().find(|known| is_path_of(found.as_str(), known)).copied();
                rest = &rest[found.end()..];
                heading = known.or(heading);
                if let (Some(path), Some(behind)) = (known, NUMBERS.first().and_then(|at| at.captures(rest)))
                {
                    places.extend(behind[1].parse().ok().map(|number: u32| (path, number)));
                }
            }
            let Some(path) = heading else { continue };
            for numbers in NUMBERS.iter().skip(1).flat_map(|pattern| pattern.captures_iter(line)) {
                let is_of_above = numbers.get(0).is_some_and(|found| found.start() < first_path);
                let path = above.filter(|_| is_of_above).unwrap_or(path);
                places.extend(
                    numbers[1]
                        .split(", ")
                        .flat_map(|one| one.trim().parse().ok())
                        .map(|number: u32| (path, number)),
                );
            }
            if line.matches('|').count() > 1 {
                places.extend(
                    line.split('|')
                        .flat_map(|cell| cell.trim().parse().ok())
                        .map(|number: u32| (path, number)),
                );
            }
            for (index, true_line) in question.lines.iter().enumerate() {
                let Some(number) = self.number(true_line) else {
                    self.seen.insert(index);
                    continue;
                };
                let there = places.contains(&(true_line.path.as_str(), number + self.base));
                let source =
                    self.sources.get(true_line.path.as_str()).and_then(|lines| lines.get(number as usize));
                let quoted = places.is_empty()
                    && true_line.path == path
                    && source.is_some_and(|source| source.trim().len() > 5 && line.contains(source.trim()));
                if there || quoted {
                    self.seen.insert(index);
                }
            }
        }
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let symbol = &self.question.symbol;
        let mut parts = vec![Part::Name(&symbol.name), Part::Kind(&symbol.kind, &symbol.name)];
        if !symbol.parameters.is_empty() {
            parts.push(Part::Parameters(&symbol.name, &symbol.parameters));
        }
        if !symbol.doc.is_empty() {
            parts.push(Part::Doc(&symbol.doc));
        }
        parts
    }

    fn told(&self) -> usize {
        let text = collapsed(&self.text);
        self.parts().iter().filter(|part| part.is_in(&text)).count()
    }
}

/// A part of a symbol's meaning.
enum Part<'a> {
    Name(&'a str),
    Kind(&'a str, &'a str),
    Parameters(&'a str, &'a [String]),
    Doc(&'a str),
}

impl Part<'_> {
    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Name(name) => word(text, name).is_some(),
            Self::Kind(kind, name) => {
                let lower = text.to_lowercase();
                let words: &[&str] = match *kind {
                    "function" => &["function", "def "],
                    "method" => &["method", "def ", "property", "function"],
                    other => &[other],
                };
                // A name before a bracket is callable. Classes are marked as such.
                let is_called = *kind != "class"
                    && ['(', '<'].iter().any(|bracket| text.contains(&format!("{name}{bracket}")));
                words.iter().any(|word| lower.contains(word)) || is_called
            }
            Self::Parameters(name, parameters) => {
                // All parameters in order, anywhere after a mention of the name.
                text.match_indices(name).any(|(at, _)| {
                    let mut rest = &text[at + name.len()..];
                    parameters
                        .iter()
                        .all(|parameter| word(rest, parameter).map(|end| rest = &rest[end..]).is_some())
                })
            }
            Self::Doc(doc) => text.contains(&collapsed(doc)),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Name(name) => format!("name {name}"),
            Self::Kind(kind, _) => format!("kind {kind}"),
            Self::Parameters(_, parameters) => format!("parameters {}", parameters.join(", ")),
            Self::Doc(doc) => format!("documentation {doc}"),
        }
    }
}

/// The end of the first whole word `word` in `text`.
fn word(text: &str, word: &str) -> Option<usize> {
    let is_part = |character: Option<char>| character.is_some_and(|one| one.is_alphanumeric() || one == '_');
    text.match_indices(word)
        .find(|(at, _)| {
            !is_part(text[..*at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
        })
        .map(|(at, _)| at + word.len())
}

/// The text without markup, which each server renders differently, and without roles such as
/// `:class:`.
fn collapsed(text: &str) -> String {
    let text = ROLE.as_ref().map_or_else(|| text.into(), |role| role.replace_all(text, ""));
    let plain: String = text
        .chars()
        .filter(|character| !matches!(character, '`' | '*' | '\\' | '|' | '"'))
        .map(|character| if character == '\u{a0}' { ' ' } else { character })
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_path_of(said: &str, known: &str) -> bool {
    let said = said.trim_start_matches("./");
    said == known || said.strip_suffix(known).is_some_and(|head| head.ends_with('/'))
}

/// JSON as lines, so that strings in it match like text.
fn expanded(answer: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(answer.trim()) else { return answer.to_owned() };
    let mut lines = String::new();
    write(&value, "", &mut lines);
    lines
}

fn write(value: &Value, key: &str, lines: &mut String) {
    match value {
        Value::Object(fields) => {
            // The path comes first, as the heading of the other fields.
            let is_path = |name: &String| name.to_lowercase().contains("path") && name != "name_path";
            lines.push_str(&format!("{key}\n"));
            for (name, field) in fields.iter().filter(|(name, _)| is_path(name)) {
                write(field, name, lines);
            }
            for (name, field) in fields.iter().filter(|(name, _)| !is_path(name)) {
                write(field, name, lines);
            }
        }
        Value::Array(items) => {
            lines.push_str(&format!("{key}\n"));
            items.iter().for_each(|item| write(item, "", lines));
        }
        Value::String(text) => lines.push_str(&format!("{key}: {text}\n")),
        other => lines.push_str(&format!("{key}: {other}\n")),
    }
}
