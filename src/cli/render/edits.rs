//! Edits: a coloured diff, new errors as code frames, and the command that undoes them.

use serde::Deserialize;
use serde_json::Value;

use super::files::notes;
use super::terminal::display::{BAD, BOLD, DIM, GOOD, WARN, count};
use super::terminal::table::{Cell, table};
use super::terminal::{escape, frames};
use super::{DisplayCapabilities, diagnostics};
use crate::analysis::answer::{DiagnosticItem, Verdict};
use crate::analysis::breakage::delta::DiagnosticsDelta;
use crate::analysis::breakage::delta_item::DeltaItem;
use crate::analysis::breakage::edit_judgement::{EditDiagnostics, EditJudgement};
use crate::analysis::items::place::Places;
use crate::cli::exit::CliExitStatus;
use crate::cli::reply::Reply;
use crate::lsp::model::Severity;
use crate::text::LineColumn;
use crate::tools::edit::editing::FileResult;
use crate::tools::edit::lsp_code_actions::{ActionItem, CodeActionsOutput};
use crate::tools::edit::patch::{MovedHunk, PatchResult};
use crate::tools::edit::undo::{PastEdit, UndoOutput};

/// The rendered parts of an edit's answer, about one or several files.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Value")]
pub(crate) struct EditAnswerView {
    files: Vec<PatchResult>,
    rest: EditAnswerExtras,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct EditAnswerExtras {
    undo: Option<String>,
    #[serde(flatten)]
    judgement: Option<EditJudgement>,
    repairs: Vec<String>,
    remaining: Places,
    notes: Vec<String>,
}

impl From<Value> for EditAnswerView {
    /// Converts an answer, which is either about one file or has a list of results. Other parts are
    /// ignored.
    fn from(answer: Value) -> Self {
        let files = match answer.get("results") {
            Some(results) => Vec::deserialize(results).unwrap_or_default(),
            None => PatchResult::deserialize(&answer).into_iter().collect(),
        };
        Self { files, rest: EditAnswerExtras::deserialize(&answer).unwrap_or_default() }
    }
}

impl EditAnswerView {
    /// Converts the paths by `change`. Those in a diff stay unchanged, since `patch` and git
    /// resolve them from the root.
    pub(crate) fn each_path(&mut self, change: &mut dyn FnMut(&mut String)) {
        for file in &mut self.files {
            change(&mut file.file.path);
            file.file.from.iter_mut().for_each(&mut *change);
        }
        if let Some(delta) = self.rest.judgement.as_mut().and_then(EditJudgement::delta_mut) {
            let findings = delta.added.iter_mut().chain(&mut delta.gone);
            findings.for_each(|finding| change(&mut finding.path));
            delta.more.iter_mut().for_each(|more| change(&mut more.path));
        }
        self.rest.remaining.0.iter_mut().for_each(|place| change(&mut place.path));
    }

    /// Returns true if a file changes.
    pub(crate) fn changes_something(&self) -> bool {
        self.files.iter().any(|file| file.file.operation != "unchanged")
    }
}

/// The options of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EditRequestFlags {
    /// True if nothing was written.
    pub(crate) dry_run: bool,
    /// True if new errors determine the exit status.
    pub(crate) diagnostics: bool,
}

/// Renders an edit. `read_line` returns the 0-based line of a workspace file on disk.
pub(crate) fn render(
    edited: &EditAnswerView,
    flags: EditRequestFlags,
    display: &DisplayCapabilities,
    read_line: &impl Fn(&str, u32) -> Option<String>,
) -> Reply {
    let mut out: String =
        edited.files.iter().map(|patched| one_file(&patched.file, flags.dry_run, display)).collect();
    let mut lines: Vec<String> = edited.files.iter().flat_map(moved_hunk_notes).collect();
    if !edited.changes_something() {
        lines.push("no file changed".to_owned());
    }
    let mut status = CliExitStatus::Answered;
    if let Some(judgement) = &edited.rest.judgement {
        match &judgement.diagnostics {
            EditDiagnostics::Compared(delta) => {
                // A code frame of a dry run would show the text on disk, not the one of the dry
                // run.
                let framed = display.terminal && !flags.dry_run;
                out.push_str(&findings(delta, framed, display, read_line));
                lines.extend(notes(&delta.notes, None));
            }
            // The line above states that no file differs.
            EditDiagnostics::Stated(statement) if statement.verdict == Verdict::Complete => {}
            EditDiagnostics::Stated(statement) => lines.push(escape::line(&statement.reason).into_owned()),
        }
        if flags.diagnostics {
            status = of_judgement(judgement);
        }
    }
    lines.extend(notes(&edited.rest.repairs, None));
    lines.extend(edited.rest.remaining.iter().map(|place| {
        let at = LineColumn::from(place.range.start);
        let why = place.why.as_deref().or(place.text.as_deref()).unwrap_or_default();
        format!("left: {}:{at}: {}", escape::line(&place.path), escape::line(why.trim()))
    }));
    lines.extend(notes(&edited.rest.notes, None));
    if let Some(id) = &edited.rest.undo {
        lines.push(format!("undo with: lsp-tools undo {}", escape::words(id)));
    } else if flags.dry_run && edited.changes_something() {
        lines.push("dry run: nothing was written".to_owned());
    }
    Reply { out, lines, status }
}

fn of_judgement(judgement: &EditJudgement) -> CliExitStatus {
    let worse = judgement.delta().is_some_and(|delta| {
        delta.has_more || delta.added.iter().any(|item| item.severity <= Severity::Warning)
    });
    match judgement.verdict {
        Verdict::NoData => CliExitStatus::Failed,
        Verdict::Hints => CliExitStatus::Hints,
        _ if worse => CliExitStatus::Unpleasant,
        _ => CliExitStatus::Answered,
    }
}

/// Renders a heading and the diff on a terminal; in a pipe only the diff, as input for `patch` or
/// git.
fn one_file(file: &FileResult, dry_run: bool, display: &DisplayCapabilities) -> String {
    if file.operation == "unchanged" {
        return String::new();
    }
    if !display.terminal {
        let diff: String = file.diff.split_inclusive('\n').map(|line| diff_line(line, display)).collect();
        return if diff.is_empty() { heading(file, false, display) } else { diff };
    }
    let mut out = heading(file, dry_run, display);
    // For a deleted file, its name is enough.
    if file.operation != "deleted" {
        let body = file.diff.lines().skip_while(|line| !line.starts_with("@@"));
        out.extend(body.map(|line| diff_line(&format!("{line}\n"), display)));
    }
    out
}

fn heading(file: &FileResult, dry_run: bool, display: &DisplayCapabilities) -> String {
    let path = display.paint(BOLD, &escape::line(&file.path));
    let from = file.from.as_deref().map(|from| format!("{} -> ", escape::line(from))).unwrap_or_default();
    let mut counts = String::new();
    if file.additions > 0 {
        counts.push_str(&display.paint(GOOD, &format!("  +{}", file.additions)));
    }
    if file.deletions > 0 {
        counts.push_str(&display.paint(BAD, &format!("  -{}", file.deletions)));
    }
    let would = if dry_run { "would be " } else { "" };
    format!("{would}{} {from}{path}{counts}\n", escape::words(&file.operation))
}

const ADDED: anstyle::Style = anstyle::AnsiColor::Green.on_default();
const REMOVED: anstyle::Style = anstyle::AnsiColor::Red.on_default();
const HUNK: anstyle::Style = anstyle::AnsiColor::Cyan.on_default();

/// Renders a line of a diff, including its line break.
fn diff_line(line: &str, display: &DisplayCapabilities) -> String {
    let style = match line {
        _ if line.starts_with("+++ ") || line.starts_with("--- ") || line.starts_with("diff ") => BOLD,
        _ if line.starts_with('+') => ADDED,
        _ if line.starts_with('-') => REMOVED,
        _ if line.starts_with("@@") => HUNK,
        _ if line.starts_with('\\') || line.starts_with("...") => DIM,
        _ => anstyle::Style::new(),
    };
    let (text, end) = match line.strip_suffix('\n') {
        Some(text) => (text, "\n"),
        None => (line, ""),
    };
    let text = escape::content(text, display);
    let text = if display.terminal { text.replace('\t', "    ") } else { text.into_owned() };
    if style == anstyle::Style::new() {
        format!("{text}{end}")
    } else {
        format!("{}{end}", display.paint(style, &text))
    }
}

/// Lists hunks that did not match at the position in the patch.
fn moved_hunk_notes(patched: &PatchResult) -> Vec<String> {
    let one = |hunk: &MovedHunk| {
        let path = escape::line(&patched.file.path);
        let fuzz = match hunk.fuzz {
            0 => String::new(),
            fuzz => format!(", {} of context not matching", count(fuzz, "line")),
        };
        format!(
            "note: {path}: hunk {} went to line {} (offset {:+}{fuzz})",
            hunk.hunk, hunk.line, hunk.offset
        )
    };
    patched.hunks.iter().map(one).collect()
}

/// Renders each new diagnostic of an edit, and a summary.
pub(super) fn findings(
    delta: &DiagnosticsDelta,
    framed: bool,
    display: &DisplayCapabilities,
    read_line: &impl Fn(&str, u32) -> Option<String>,
) -> String {
    let mut out = String::new();
    if display.terminal {
        out.push('\n');
    }
    for finding in &delta.added {
        let item = item_of(finding);
        match framed {
            true => out.push_str(&format!("{}\n", frames::render(&item, display, read_line))),
            false => out.push_str(&diagnostics::diagnostic_line(&item, display)),
        }
        for help in &finding.help {
            out.push_str(&display.paint(DIM, &format!("    {}", escape::line(help))));
            out.push('\n');
        }
    }
    for more in &delta.more {
        let starts: Vec<String> = more.at.iter().map(|at| LineColumn::from(*at).to_string()).collect();
        let code = more.code.as_deref().unwrap_or_default();
        let line =
            format!("{}:{}: error {}", escape::line(&more.path), starts.join(", "), escape::words(code));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    for finding in &delta.gone {
        let place = format!("{}:{}", escape::words(&finding.path), LineColumn::from(finding.range.start));
        let line = format!("fixed: {place}: {}", escape::words(&finding.message));
        out.push_str(&format!("{}\n", display.paint(DIM, &line)));
    }
    out.push_str(&summary(delta, display));
    out.push('\n');
    out
}

fn item_of(finding: &DeltaItem) -> DiagnosticItem {
    DiagnosticItem {
        path: finding.path.clone(),
        range: finding.range,
        severity: finding.severity,
        code: finding.code.clone(),
        source: None,
        server: finding.server.clone(),
        message: finding.message.clone(),
        enclosing: None,
        related: Vec::new(),
    }
}

/// Formats a summary, such as `2 new errors, 1 fixed`.
fn summary(delta: &DiagnosticsDelta, display: &DisplayCapabilities) -> String {
    let sure = match delta.verdict {
        Verdict::Complete => "",
        Verdict::NoData => {
            return display.paint(WARN, "no server answered in time; the edit may break code");
        }
        Verdict::Hints => "; no server was asked, only syntax was checked",
        Verdict::Partial => "; results may be incomplete",
    };
    let of = |severity: Severity| delta.added.iter().filter(|finding| finding.severity == severity).count();
    let in_short: usize = delta.more.iter().map(|more| more.at.len()).sum();
    let mut parts = Vec::new();
    for (number, word, style) in
        [(of(Severity::Error) + in_short, "new error", BAD), (of(Severity::Warning), "new warning", WARN)]
    {
        if number > 0 {
            parts.push(display.paint(style, &count(number, word)));
        }
    }
    if delta.has_more {
        parts.push("and more".to_owned());
    }
    if parts.is_empty() {
        parts.push(display.paint(GOOD, "no new problems"));
    }
    if delta.hints > 0 {
        parts.push(display.paint(DIM, &count(delta.hints, "new hint")));
    }
    if delta.removed > 0 {
        parts.push(display.paint(GOOD, &format!("{} fixed", delta.removed)));
    }
    format!("{}{sure}", parts.join(", "))
}

/// Converts the paths of past edits by `change`.
pub(crate) fn each_past_path(history: &mut UndoOutput, change: &mut dyn FnMut(&mut String)) {
    for line in history.edits.iter_mut().flat_map(|past| &mut past.files) {
        // The forms are `modified src/a.py` and `renamed src/a.py to src/b.py`.
        let Some((operation, paths)) = line.split_once(' ') else { continue };
        let renamed = (operation == "renamed").then(|| paths.split_once(" to ")).flatten();
        let mut paths: Vec<String> = match renamed {
            Some((from, to)) => vec![from.to_owned(), to.to_owned()],
            None => vec![paths.to_owned()],
        };
        paths.iter_mut().for_each(&mut *change);
        *line = format!("{operation} {}", paths.join(" to "));
    }
}

/// Renders the past edits, newest first.
pub(crate) fn history(history: &UndoOutput, display: &DisplayCapabilities) -> Reply {
    if history.edits.is_empty() {
        let lines = vec!["nothing to undo".to_owned()];
        return Reply { out: String::new(), lines, status: CliExitStatus::Unpleasant };
    }
    let row = |past: &PastEdit| {
        let files: Vec<String> = past.files.iter().map(|file| escape::words(file)).collect();
        let undone = past.undone_by.as_ref().map_or("", |_| "undone");
        vec![
            Cell::new(escape::line(&past.id), BOLD),
            Cell::new(escape::words(past.age.as_ref().unwrap_or(&past.time)), DIM),
            Cell::plain(escape::words(&past.title)),
            Cell::plain(past.group.as_deref().map(escape::words).unwrap_or_default()),
            Cell::new(undone, WARN),
            Cell::plain(files.join(", ")),
        ]
    };
    let rows: Vec<Vec<Cell>> = history.edits.iter().map(row).collect();
    let out = table(&["ID", "WHEN", "EDIT", "GROUP", "STATE", "FILES"], &rows, display);
    let left_out = history.has_more.then(|| "older edits are not listed".to_owned());
    Reply { out, lines: notes(&[], left_out), status: CliExitStatus::Answered }
}

/// Renders the available code actions; disabled ones are only counted.
pub(crate) fn actions(offered: &CodeActionsOutput, display: &DisplayCapabilities) -> Reply {
    let mut lines = notes(&offered.notes, None);
    let can_be_done = |action: &&ActionItem| action.disabled.is_none();
    let rows: Vec<Vec<Cell>> = offered.actions.iter().filter(can_be_done).map(action).collect();
    let disabled = offered.actions.len() - rows.len();
    if disabled > 0 {
        lines.push(format!("note: {disabled} more are disabled here; --format json gives the reasons"));
    }
    if rows.is_empty() {
        lines.push("no actions available here".to_owned());
        return Reply { out: String::new(), lines, status: CliExitStatus::Unpleasant };
    }
    if display.terminal {
        lines.push("apply one with: --apply 'TITLE'".to_owned());
    }
    let out = table(&["ACTION", "KIND", "SERVER", "CURES"], &rows, display);
    Reply { out, lines, status: CliExitStatus::Answered }
}

fn action(action: &ActionItem) -> Vec<Cell> {
    let fixes: Vec<String> = action.fixes.iter().map(|fix| escape::words(fix)).collect();
    let title = if action.preferred { GOOD } else { BOLD };
    vec![
        Cell::new(escape::words(&action.title), title),
        Cell::new(escape::words(&action.kind), DIM),
        Cell::plain(escape::words(&action.server)),
        Cell::new(fixes.join("; "), DIM),
    ]
}

#[cfg(test)]
mod tests;
