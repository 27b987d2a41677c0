//! The questions about a package: symbols and edits selected by a seed, with expected answers from
//! the language's own tools.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use lsp_tools::internals::text::LineMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::edits::{self, Edit, Random};
use super::ground::{Language, Package, Tools};
use super::lines;
use super::truth::{self, Findings, Pyright};

/// The number of candidate symbols per question.
const CANDIDATES: usize = 6;
/// The number of edits tried per edit that breaks something.
const DRAWS: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Kind {
    Uses,
    What,
    Where,
    Breaks,
}

pub const KINDS: [Kind; 4] = [Kind::Uses, Kind::What, Kind::Where, Kind::Breaks];

impl Kind {
    pub fn words(self) -> &'static str {
        match self {
            Self::Uses => "who uses it",
            Self::What => "what is it",
            Self::Where => "where is it",
            Self::Breaks => "what breaks",
        }
    }
}

/// A position in the package; lines and characters are 0-based.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct Place {
    pub path: String,
    pub line: u32,
    pub character: u32,
}

/// A symbol in the output of `facts.py` and `facts.js`.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Symbol {
    pub name: String,
    pub container: Option<String>,
    pub kind: String,
    pub path: String,
    pub line: u32,
    pub character: u32,
    pub end: u32,
    pub parameters: Vec<String>,
    pub doc: String,
    #[serde(default)]
    pub uses: Vec<Place>,
    /// The uses whose definition belongs to another symbol.
    #[serde(default)]
    pub overrides: Vec<Place>,
    /// Lines that only one of the two witnesses reports.
    #[serde(default)]
    pub disputed: Vec<(String, u32)>,
}

/// A line that a complete answer contains.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrueLine {
    pub path: String,
    pub line: u32,
    /// Its number before the edit, for arms that do not know of the edit; `None` if the edit added
    /// it.
    pub before: Option<u32>,
}

impl Symbol {
    /// Whether `place` is a place from which this symbol can be asked about.
    fn is_met_at(&self, place: &Place) -> bool {
        place.path != self.path && !self.overrides.contains(place)
    }
}

#[derive(Debug)]
pub struct Question {
    pub kind: Kind,
    pub package: &'static str,
    pub symbol: Symbol,
    /// The position from which the question is asked.
    pub at: Place,
    /// Empty for "what is it", whose expected answer is the symbol itself.
    pub lines: Vec<TrueLine>,
    pub edit: Option<Edit>,
}

impl Question {
    pub fn name(&self) -> String {
        let what = self.edit.as_ref().map_or_else(|| self.symbol.name.clone(), |edit| edit.what.clone());
        format!("{}: {what} ({})", self.kind.words(), self.package)
    }
}

/// The files of a package: the path relative to its folder, and the text.
pub type Files = Vec<(String, String)>;

/// Selects the questions of one package.
pub fn draw(
    package: &Package,
    project: &Path,
    tools: &Tools,
    each: usize,
    seed: u64,
    kinds: &[Kind],
) -> Result<Vec<Question>> {
    let mut random = Random::new(seed, package.name);
    let files = files(project, package.language)?;
    let mut symbols: Vec<Symbol> =
        serde_json::from_value(facts(package.language, tools, project, "symbols", None)?)?;
    let all = symbols.clone();
    symbols.retain(|symbol| {
        files.iter().any(|(path, text)| *path != symbol.path && edits::mentions(text, &symbol.name))
    });
    shuffle(&mut symbols, &mut random);
    let need = each * 3;
    symbols.truncate(need * CANDIDATES);
    let given = serde_json::to_value(&symbols)?;
    let mut used: Vec<Symbol> =
        serde_json::from_value(facts(package.language, tools, project, "uses", Some((&given, need)))?)?;
    used.retain(|symbol| symbol.uses.iter().any(|place| symbol.is_met_at(place)));
    used.truncate(need);
    ensure!(used.len() >= need, "{} has only {} symbols that are used elsewhere", package.name, used.len());
    let mut questions = Vec::new();
    for (index, symbol) in used.into_iter().enumerate() {
        let kind = KINDS[index / each];
        let elsewhere: Vec<&Place> = symbol.uses.iter().filter(|place| symbol.is_met_at(place)).collect();
        let at = match kind {
            Kind::Uses => Place { path: symbol.path.clone(), line: symbol.line, character: symbol.character },
            _ => elsewhere[random.below(elsewhere.len())].clone(),
        };
        let lines = match kind {
            Kind::Uses => symbol.uses.iter().map(|place| (place.path.clone(), place.line)).collect(),
            Kind::Where => BTreeSet::from([(symbol.path.clone(), symbol.line)]),
            _ => BTreeSet::new(),
        };
        let lines =
            lines.into_iter().map(|(path, line)| TrueLine { path, line, before: Some(line) }).collect();
        questions.push(Question { kind, package: package.name, symbol, at, lines, edit: None });
    }
    if kinds.contains(&Kind::Breaks) {
        let sites = match package.language {
            Language::Python => Vec::new(),
            Language::TypeScript => {
                serde_json::from_value(facts(package.language, tools, project, "edits", None)?)?
            }
        };
        questions.extend(breaking(package, project, tools, each, &files, &all, &sites, &mut random)?);
    }
    questions.retain(|question| kinds.contains(&question.kind));
    Ok(questions)
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}

pub fn files(project: &Path, language: Language) -> Result<Files> {
    let read = |path: String| {
        let text = std::fs::read_to_string(project.join(&path))?;
        Ok((path, text))
    };
    lines::files(project, language.endings())?.into_iter().map(read).collect()
}

/// Runs the fact script of the language.
fn facts(
    language: Language,
    tools: &Tools,
    project: &Path,
    question: &str,
    given: Option<(&Value, usize)>,
) -> Result<Value> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/answers");
    let mut command = match language {
        Language::Python => Command::new(tools.python.join("bin/python")),
        Language::TypeScript => Command::new("node"),
    };
    match language {
        Language::Python => command.arg(scripts.join("facts.py")),
        Language::TypeScript => command.arg(scripts.join("facts.js")).arg(tools.typescript()),
    };
    command.arg(question).arg(project);
    if let Some((_, need)) = given {
        if language == Language::Python {
            command.arg(tools.python.join("bin/ty"));
        }
        command.arg(need.to_string());
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().context("no input")?;
    if let Some((symbols, _)) = given {
        serde_json::to_writer(&mut input, symbols)?;
    }
    drop(input);
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the facts of {} cannot be told", project.display());
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// A possible edit, as a byte range of its file.
#[derive(Debug, Deserialize)]
struct Site {
    what: String,
    name: String,
    path: String,
    start: usize,
    end: usize,
    put: String,
}

/// Edits after which the compiler's command line reports new errors.
#[expect(clippy::too_many_arguments, reason = "all of it is one package")]
fn breaking(
    package: &Package,
    project: &Path,
    tools: &Tools,
    each: usize,
    files: &Files,
    symbols: &[Symbol],
    sites: &[Site],
    random: &mut Random,
) -> Result<Vec<Question>> {
    let copy = package.put(project.with_extension("checked"))?;
    let before = check(package.language, tools, &copy)?;
    let (mut found, mut drawn) = (Vec::new(), BTreeSet::new());
    for _ in 0..each * DRAWS {
        if found.len() == each {
            break;
        }
        let edit = match package.language {
            Language::Python => edits::draw(files, random),
            Language::TypeScript => draw_of(sites, files, random),
        };
        let Some(edit) = edit.filter(|edit| drawn.insert(edit.what.clone())) else { continue };
        std::fs::write(copy.join(&edit.path), &edit.after)?;
        let after = check(package.language, tools, &copy);
        std::fs::write(copy.join(&edit.path), &edit.before)?;
        let back = LineMap::between(&edit.after, &edit.before);
        let broken: BTreeSet<TrueLine> = truth::added(&edit, &before, &after?)
            .into_keys()
            .map(|(path, line, _)| {
                let before = if path == edit.path { back.new_line(line) } else { Some(line) };
                TrueLine { path, line, before }
            })
            .collect();
        if broken.is_empty() {
            continue;
        }
        let symbol = edited(&edit, symbols);
        let at = Place { path: edit.path.clone(), line: symbol.line, character: symbol.character };
        let lines = broken.into_iter().collect();
        found.push(Question {
            kind: Kind::Breaks,
            package: package.name,
            symbol,
            at,
            lines,
            edit: Some(edit),
        });
    }
    Ok(found)
}

/// The target of the edit: the symbol of that name at the changed line, else only the name there.
fn edited(edit: &Edit, symbols: &[Symbol]) -> Symbol {
    let same = edit.before.bytes().zip(edit.after.bytes()).take_while(|(old, new)| old == new).count();
    let line = edit.before.as_bytes()[..same].iter().filter(|byte| **byte == b'\n').count();
    let line = u32::try_from(line).unwrap_or(u32::MAX);
    let known = symbols
        .iter()
        .filter(|symbol| symbol.path == edit.path && symbol.name == edit.name && symbol.line <= line)
        .max_by_key(|symbol| symbol.line);
    if let Some(symbol) = known.filter(|symbol| line <= symbol.end) {
        return symbol.clone();
    }
    let text = edit.before.lines().nth(line as usize).unwrap_or_default();
    let character = text.find(&edit.name).map_or(0, |at| text[..at].chars().count());
    Symbol {
        name: edit.name.clone(),
        container: None,
        kind: "variable".to_owned(),
        path: edit.path.clone(),
        line,
        character: u32::try_from(character).unwrap_or_default(),
        end: line,
        parameters: Vec::new(),
        doc: String::new(),
        uses: Vec::new(),
        overrides: Vec::new(),
        disputed: Vec::new(),
    }
}

/// Like `edits::draw` for Python: the kind of edit is drawn first, so that all kinds are equally
/// frequent. Another file must mention the name.
fn draw_of(sites: &[Site], files: &Files, random: &mut Random) -> Option<Edit> {
    let mut by_what: BTreeMap<&str, Vec<&Site>> = BTreeMap::new();
    for site in sites {
        let elsewhere =
            files.iter().any(|(path, text)| *path != site.path && edits::mentions(text, &site.name));
        if elsewhere {
            by_what.entry(&site.what).or_default().push(site);
        }
    }
    let kinds: Vec<&Vec<&Site>> = by_what.values().collect();
    let of_kind = kinds.get(random.below(kinds.len()))?;
    let site = of_kind.get(random.below(of_kind.len()))?;
    let (_, before) = files.iter().find(|(path, _)| *path == site.path)?;
    let mut after = before.clone();
    after.replace_range(site.start..site.end, &site.put);
    let line = before[..site.start].lines().count();
    Some(Edit {
        what: format!("{} {} {}:{line}", site.what, site.name, site.path),
        name: site.name.clone(),
        path: site.path.clone(),
        before: before.clone(),
        after,
    })
}

/// The errors of the compiler's command line, 0-based.
fn check(language: Language, tools: &Tools, project: &Path) -> Result<Findings> {
    match language {
        Language::Python => Ok(Pyright::installed(&tools.data)?.check(project)?.0),
        Language::TypeScript => {
            let found = lines::tsc(&tools.servers, project)?;
            let zero_based = |line: u64| u32::try_from(line.saturating_sub(1)).unwrap_or(u32::MAX);
            Ok(found.into_iter().map(|(path, line, rule)| (path, zero_based(line), rule)).collect())
        }
    }
}

/// The edited lines before and after, extended until the old text is unique.
pub fn replacement(edit: &Edit) -> (String, String) {
    let old: Vec<&str> = edit.before.split_inclusive('\n').collect();
    let new: Vec<&str> = edit.after.split_inclusive('\n').collect();
    let mut start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - start;
    let mut tail =
        old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(old, new)| old == new).count();
    loop {
        let before = old[start..old.len() - tail].concat();
        let is_once = !before.is_empty() && edit.before.matches(&before).count() == 1;
        if is_once || start == 0 && tail == 0 {
            return (before, new[start..new.len() - tail].concat());
        }
        start = start.saturating_sub(1);
        tail = tail.saturating_sub(1);
    }
}

/// The 1-based start and end of the edit in the old text, and the replacement.
pub fn range(edit: &Edit) -> ((usize, usize), (usize, usize), String) {
    let (before, after) = (&edit.before, &edit.after);
    let mut start = before.bytes().zip(after.bytes()).take_while(|(old, new)| old == new).count();
    while !before.is_char_boundary(start) || !after.is_char_boundary(start) {
        start -= 1;
    }
    let most = before.len().min(after.len()) - start;
    let same = |(old, new): &(u8, u8)| old == new;
    let mut tail = before.bytes().rev().zip(after.bytes().rev()).take(most).take_while(same).count();
    while !before.is_char_boundary(before.len() - tail) || !after.is_char_boundary(after.len() - tail) {
        tail -= 1;
    }
    let place = |at: usize| {
        let head = &before[..at];
        let line = head.rfind('\n').map_or(0, |end| end + 1);
        (head.matches('\n').count() + 1, head[line..].chars().count() + 1)
    };
    (place(start), place(before.len() - tail), after[start..after.len() - tail].to_owned())
}

/// The name path of a symbol, for arms that address symbols so.
pub fn name_path(symbol: &Symbol, between: &str) -> String {
    symbol
        .container
        .as_ref()
        .map_or_else(|| symbol.name.clone(), |owner| format!("{owner}{between}{}", symbol.name))
}

pub fn absolute(project: &Path, path: &str) -> PathBuf {
    project.join(path)
}
