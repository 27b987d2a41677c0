//! The old text as an index of numbered lines, for the search of hunks.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::ops::Range;

use super::HunkLine;
use crate::text::lines::strip_line_end;

/// The maximum number of line comparisons of one application. Honest patches need a few per line.
const MAX_LINE_COMPARISONS: u64 = 10_000_000;

/// The comparisons exceeded their limit: the patch is made so that nearly every line fits nearly
/// everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuchWork;

/// The degree of equality that two lines need to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sameness {
    /// Every byte.
    Exact,
    /// Every byte but those of the line end.
    Content,
    /// Equal except for white space at the end, and for quotes, dashes and spaces outside ASCII.
    Appearance,
}

pub(super) struct Haystack<'t> {
    /// The lines with their ends.
    pub(crate) lines: Vec<&'t str>,
    contents: LineNumbers<'t>,
    appearances: OnceCell<LineNumbers<'t>>,
    trimmed: OnceCell<HashMap<&'t str, Vec<usize>>>,
    work: Cell<u64>,
}

/// The lines of a search, ends included.
pub(super) struct Needle<'h> {
    lines: Vec<&'h HunkLine>,
    /// `None` for a content that the text does not have.
    contents: Vec<Option<u32>>,
    appearances: OnceCell<Vec<Option<u32>>>,
}

/// The lines of a text as numbers; equal lines have the same number.
struct LineNumbers<'t> {
    ids: Vec<u32>,
    numbers: HashMap<Cow<'t, str>, u32>,
    /// The index in `places` at which the lines of each number begin.
    starts: Vec<u32>,
    /// Lines by number, ascending.
    places: Vec<u32>,
}

impl<'t> LineNumbers<'t> {
    fn new(lines: impl Iterator<Item = Cow<'t, str>>) -> Self {
        let mut numbers: HashMap<Cow<'t, str>, u32> = HashMap::new();
        let mut ids = Vec::new();
        for line in lines {
            // A text has at most `MAX_PATCH_LINES`.
            let next = numbers.len() as u32;
            ids.push(*numbers.entry(line).or_insert(next));
        }
        let (starts, places) = places_by_number(&ids, numbers.len());
        Self { ids, numbers, starts, places }
    }

    /// The lines with a number, ascending.
    fn places_of(&self, id: u32) -> &[u32] {
        let id = id as usize;
        &self.places[self.starts[id] as usize..self.starts[id + 1] as usize]
    }
}

impl<'t> Haystack<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let contents = LineNumbers::new(lines.iter().map(|line| Cow::Borrowed(strip_line_end(line))));
        Self { lines, contents, appearances: OnceCell::new(), trimmed: OnceCell::new(), work: Cell::new(0) }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn needle<'h>(&self, lines: impl Iterator<Item = &'h HunkLine>) -> Needle<'h> {
        let lines: Vec<&HunkLine> = lines.collect();
        let number = |line: &&HunkLine| self.contents.numbers.get(line_content(line)).copied();
        let contents = lines.iter().map(number).collect();
        Needle { lines, contents, appearances: OnceCell::new() }
    }

    /// Returns the numbers of equal lines by `sameness`, for this text and for a needle.
    fn numbers<'a>(
        &'a self,
        needle: &'a Needle<'_>,
        sameness: Sameness,
    ) -> (&'a LineNumbers<'t>, &'a [Option<u32>]) {
        if sameness != Sameness::Appearance {
            return (&self.contents, &needle.contents);
        }
        let text =
            self.appearances.get_or_init(|| LineNumbers::new(self.lines.iter().map(|line| appearance(line))));
        let number = |line: &&HunkLine| text.numbers.get(&appearance(&line.text)).copied();
        let ids = needle.appearances.get_or_init(|| needle.lines.iter().map(number).collect());
        (text, ids)
    }

    /// Accounts for `steps` comparisons.
    pub(super) fn spend(&self, steps: usize) -> Result<(), TooMuchWork> {
        let work = self.work.get() + steps as u64;
        self.work.set(work);
        if work > MAX_LINE_COMPARISONS { Err(TooMuchWork) } else { Ok(()) }
    }

    /// Returns true if the `part` of the needle matches at line `at` (0-based, of the first line of
    /// the part).
    pub(super) fn matches(
        &self,
        needle: &Needle<'_>,
        part: Range<usize>,
        at: usize,
        sameness: Sameness,
    ) -> Result<bool, TooMuchWork> {
        if at + part.len() > self.len() {
            return Ok(false);
        }
        let (text, ids) = self.numbers(needle, sameness);
        let (ids, lines) = (&ids[part.clone()], &needle.lines[part]);
        let here = &text.ids[at..at + ids.len()];
        let same = ids.iter().zip(here).take_while(|(wanted, id)| **wanted == Some(**id)).count();
        self.spend(same + 1)?;
        Ok(same == ids.len()
            && (sameness != Sameness::Exact
                || lines.iter().zip(&self.lines[at..]).all(|(l, t)| is_exact(l, t))))
    }

    /// Returns the lines at which the `part` of the needle may lie, ascending: those of its rarest
    /// line.
    pub(super) fn candidates<'a>(
        &'a self,
        needle: &'a Needle<'_>,
        part: Range<usize>,
        sameness: Sameness,
    ) -> Candidates<'a> {
        let (text, ids) = self.numbers(needle, sameness);
        let ids = &ids[part];
        let places = |id: &Option<u32>| id.map_or(&[][..], |id| text.places_of(id));
        let rarest =
            ids.iter().enumerate().map(|(at, id)| (places(id), at)).min_by_key(|(places, _)| places.len());
        let (places, shift) = rarest.unwrap_or((&[], 0));
        Candidates { places, shift, last: self.len().checked_sub(ids.len()) }
    }

    /// The 0-based lines with this content, ascending.
    pub(super) fn lines_equal_to(&self, content: &str) -> &[u32] {
        self.contents.numbers.get(content).map_or(&[], |id| self.contents.places_of(*id))
    }

    /// The 0-based lines that equal `text` apart from white space around them, ascending.
    pub(super) fn lines_trimmed(&self, text: &str) -> &[usize] {
        let trimmed = self.trimmed.get_or_init(|| {
            let mut trimmed: HashMap<&str, Vec<usize>> = HashMap::new();
            for (at, line) in self.lines.iter().enumerate() {
                trimmed.entry(line.trim()).or_default().push(at);
            }
            trimmed
        });
        trimmed.get(text.trim()).map_or(&[], Vec::as_slice)
    }
}

impl Needle<'_> {
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Counts the lines that differ in any byte from those of `text` from line `at` on, line ends
    /// aside.
    pub(super) fn differing_lines(&self, text: &Haystack<'_>, at: usize) -> usize {
        let here = &text.contents.ids[at..];
        self.contents.iter().zip(here).filter(|(wanted, id)| **wanted != Some(**id)).count()
    }
}

/// The lines at which a needle may lie.
#[derive(Clone, Copy)]
pub(super) struct Candidates<'a> {
    places: &'a [u32],
    shift: usize,
    /// The last line at which it can begin; `None` if the text is too short.
    last: Option<usize>,
}

impl<'a> Candidates<'a> {
    /// Those from line `from` on, ascending.
    pub(super) fn from(self, from: usize) -> impl Iterator<Item = usize> + 'a {
        let first = self.places.partition_point(|place| (*place as usize) < from + self.shift);
        self.resolve(&self.places[first..])
    }

    /// Those before line `from`, descending.
    pub(super) fn before(self, from: usize) -> impl Iterator<Item = usize> + 'a {
        let end = self.places.partition_point(|place| (*place as usize) < from + self.shift);
        self.resolve(&self.places[..end]).rev()
    }

    fn resolve(self, places: &'a [u32]) -> impl DoubleEndedIterator<Item = usize> + 'a {
        let (shift, last) = (self.shift, self.last);
        places
            .iter()
            .filter_map(move |place| (*place as usize).checked_sub(shift))
            .filter(move |at| last.is_some_and(|last| *at <= last))
    }
}

fn places_by_number(ids: &[u32], numbers: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; numbers + 1];
    for id in ids {
        starts[*id as usize + 1] += 1;
    }
    for at in 0..numbers {
        starts[at + 1] += starts[at];
    }
    let mut next = starts.clone();
    let mut places = vec![0; ids.len()];
    for (at, id) in ids.iter().enumerate() {
        places[next[*id as usize] as usize] = at as u32;
        next[*id as usize] += 1;
    }
    (starts, places)
}

/// Normalizes the appearance of a line: no white space at its end, and ASCII for typographic
/// quotes, dashes and spaces.
fn appearance(line: &str) -> Cow<'_, str> {
    let line = line.trim_end();
    let plain = |letter: char| match letter {
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        letter => letter,
    };
    match line.is_ascii() {
        true => Cow::Borrowed(line),
        false => Cow::Owned(line.chars().map(plain).collect()),
    }
}

/// The text of a hunk's line without a CR at its end.
pub(super) fn line_content(line: &HunkLine) -> &str {
    line.text.strip_suffix('\r').unwrap_or(&line.text)
}

/// Returns true if a line of a hunk equals `line` in every byte.
pub(super) fn is_exact(wanted: &HunkLine, line: &str) -> bool {
    match line.strip_suffix('\n') {
        Some(text) => wanted.newline && wanted.text == text,
        None => !wanted.newline && wanted.text == line,
    }
}
