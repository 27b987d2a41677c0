//! Random edits of text, as made by agents, people, formatters and version control.

use std::collections::BTreeMap;

use super::outside::Way;
use super::subjects::Subject;
use crate::support::Project;

/// An edit of one file: its content afterwards, and a useful position for a hover.
#[derive(Debug, Clone)]
pub struct Edit {
    pub kind: &'static str,
    /// Relative to the project.
    pub path: String,
    /// The content before.
    pub before: String,
    /// The content after.
    pub text: String,
    pub way: Way,
    /// 0-based line and column in Unicode scalar values, on an identifier; `None` in a text without
    /// one.
    pub spot: Option<(usize, usize)>,
}

/// SplitMix64: a short generator with the same numbers for the same seed everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which must not be 0.
    fn below(&mut self, end: usize) -> usize {
        (self.roll() % end as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        (!from.is_empty()).then(|| &from[self.below(from.len())])
    }
}

struct File {
    path: String,
    original: String,
    text: String,
}

/// Draws edits; knows the content of each file.
pub struct Editor {
    dice: Dice,
    files: Vec<File>,
    wrong: &'static str,
    right: &'static str,
    unicode: &'static str,
    count: usize,
}

impl Editor {
    pub fn new(seed: u64, subject: &Subject, project: &Project) -> Self {
        let files = subject.files.iter().map(|path| {
            let original = project.read(path);
            File { path: (*path).to_owned(), text: original.clone(), original }
        });
        let files = files.collect();
        let Subject { wrong, right, unicode, .. } = *subject;
        Self { dice: Dice(seed), files, wrong, right, unicode, count: 0 }
    }

    /// The next edit; it always changes the text.
    pub fn next_edit(&mut self) -> Edit {
        loop {
            let index = self.dice.below(self.files.len());
            let old = self.files[index].text.clone();
            let (kind, text, line) = self.draw(index);
            // Ever longer texts would make the runs differ.
            if text == old || text.len() > 4 * self.files[index].original.len() + 2_000 {
                continue;
            }
            let way = self.way(&old, &text);
            let spot = self.spot(&text, line);
            let file = &mut self.files[index];
            file.text.clone_from(&text);
            return Edit { kind, path: file.path.clone(), before: old, text, way, spot };
        }
    }

    /// A kind of edit, the text after it and the changed line.
    fn draw(&mut self, index: usize) -> (&'static str, String, usize) {
        self.count += 1;
        let number = self.count;
        let lines: Vec<String> =
            self.files[index].text.split_inclusive('\n').map(ToOwned::to_owned).collect();
        let at = self.dice.below(lines.len() + 1);
        let numbered = |template: &str| template.replace("{n}", &number.to_string());
        match self.dice.below(12) {
            0 | 1 => ("wrong line", spliced(&lines, at, 0, &numbered(self.wrong)), at),
            2 => self.mend(&lines),
            3 => ("right line", spliced(&lines, at, 0, &numbered(self.right)), at),
            4 => ("unicode line", spliced(&lines, at, 0, &numbered(self.unicode)), at),
            5 => ("delete lines", spliced(&lines, at, 1 + self.dice.below(3), ""), at),
            6 => self.move_lines(&lines, at),
            7 => self.rename(index, true),
            8 => self.rename(index, false),
            9 => self.line_ends(&lines),
            10 => ("append", lines.concat() + &numbered(self.wrong), lines.len()),
            _ if self.dice.below(3) == 0 => ("truncate", lines[..at.min(lines.len())].concat(), 0),
            _ => ("checkout", self.files[index].original.clone(), at),
        }
    }

    /// Removes a line that was inserted as an error.
    fn mend(&mut self, lines: &[String]) -> (&'static str, String, usize) {
        let sign = self.wrong.split("{n}").next().unwrap_or_default().trim_start();
        let wrong: Vec<usize> =
            (0..lines.len()).filter(|line| lines[*line].trim_start().starts_with(sign)).collect();
        match self.dice.pick(&wrong) {
            Some(line) => ("mend", spliced(lines, *line, 1, ""), *line),
            None => ("mend", lines.concat(), 0),
        }
    }

    fn move_lines(&mut self, lines: &[String], at: usize) -> (&'static str, String, usize) {
        let end = lines.len().min(at + 1 + self.dice.below(4));
        let mut rest = lines.to_vec();
        let moved: String = rest.drain(at.min(end)..end).collect();
        let to = self.dice.below(rest.len() + 1);
        ("move", spliced(&rest, to, 0, &moved), to)
    }

    /// Renames one occurrence of a word, with the same length if `same_length`: then neither the
    /// file's size nor, often, its time shows the change.
    fn rename(&mut self, index: usize, same_length: bool) -> (&'static str, String, usize) {
        let text = self.files[index].text.clone();
        let words = words(&text);
        let Some(&(start, end)) = self.dice.pick(&words) else { return ("rename", text, 0) };
        let new = match same_length {
            true => {
                let letter = char::from(b'a' + (self.count % 26) as u8);
                letter.to_string().repeat(end - start)
            }
            false => format!("{}_{}", &text[start..end], self.count),
        };
        let line = text[..start].matches('\n').count();
        let text = format!("{}{new}{}", &text[..start], &text[end..]);
        (if same_length { "rename, same length" } else { "rename" }, text, line)
    }

    /// Changes line ends everywhere, or on one line only.
    fn line_ends(&mut self, lines: &[String]) -> (&'static str, String, usize) {
        let text = lines.concat();
        let has_crlf = text.contains("\r\n");
        let at = self.dice.below(lines.len() + 1);
        match (has_crlf, self.dice.below(2)) {
            (true, _) => ("to LF", text.replace("\r\n", "\n"), at),
            (false, 0) => ("to CRLF", text.replace('\n', "\r\n"), at),
            (false, _) => {
                let Some(line) = lines.get(at) else { return ("one CRLF", text, 0) };
                ("one CRLF", spliced(lines, at, 1, &line.replace('\n', "\r\n")), at)
            }
        }
    }

    fn way(&mut self, old: &str, new: &str) -> Way {
        match self.dice.below(6) {
            0 | 1 => Way::InPlace,
            2 | 3 => Way::Rename,
            4 => Way::KeepTime,
            _ if new.starts_with(old) => Way::Append(old.len()),
            _ if old.starts_with(new) => Way::Truncate,
            _ => Way::InPlace,
        }
    }

    /// A word with several occurrences in the text, which a server is more likely to know: on the
    /// edited line, or anywhere; else any word.
    fn spot(&mut self, text: &str, line: usize) -> Option<(usize, usize)> {
        let mut counts = BTreeMap::new();
        words(text).into_iter().for_each(|(start, end)| *counts.entry(&text[start..end]).or_insert(0) += 1);
        let all = || {
            text.split('\n').enumerate().flat_map(|(number, row)| {
                words(row).into_iter().map(move |(start, end)| (number, row, start, end))
            })
        };
        let place =
            |(number, row, start, _): (usize, &str, usize, usize)| (number, row[..start].chars().count());
        let known = || all().filter(|(_, row, start, end)| counts.get(&row[*start..*end]) > Some(&1));
        let near: Vec<_> = known().filter(|(number, ..)| *number == line).map(place).collect();
        let (known, all): (Vec<_>, Vec<_>) = (known().map(place).collect(), all().map(place).collect());
        let near = if self.dice.below(2) == 0 { near } else { Vec::new() };
        self.dice.pick(&near).or_else(|| self.dice.pick(&known)).or_else(|| self.dice.pick(&all)).copied()
    }
}

/// `lines` with `new` instead of `removed` lines from `at` on; `new` starts on its own line.
fn spliced(lines: &[String], at: usize, removed: usize, new: &str) -> String {
    let at = at.min(lines.len());
    let end = lines.len().min(at + removed);
    let before = lines[..at].concat();
    let seam = if before.is_empty() || before.ends_with('\n') || new.is_empty() { "" } else { "\n" };
    format!("{before}{seam}{new}{}", lines[end..].concat())
}

/// The byte ranges of the identifiers in a text (ASCII ones, which are the same for every server).
fn words(text: &str) -> Vec<(usize, usize)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    let starts = (0..bytes.len()).filter(|at| {
        (bytes[*at].is_ascii_alphabetic() || bytes[*at] == b'_')
            && (*at == 0 || !is_word(bytes[*at - 1]) && bytes[*at - 1].is_ascii())
    });
    starts
        .map(|start| (start, (start..bytes.len()).find(|at| !is_word(bytes[*at])).unwrap_or(bytes.len())))
        .collect()
}
