//! The effects of a difference: merge conflicts, new diagnostics, changed declarations, files that
//! could not be checked.

use std::fmt::Write as _;

use super::terminal::display::{BAD, BOLD, DIM, count};
use super::terminal::escape;
use super::{DisplayCapabilities, diagnostics};
use crate::analysis::answer::Verdict;
use crate::analysis::trees::changes::output::{ChangesOutput, CombinedFinding, InterfaceChange, MergeReport};
use crate::text::LineColumn;

/// Renders the whole report, with the totals of the diagnostics at the end. `read_line` returns the
/// 0-based line of a file of the answer.
pub(crate) fn render(
    output: &ChangesOutput,
    verdict: Verdict,
    display: &DisplayCapabilities,
    read_line: &impl Fn(&str, u32) -> Option<String>,
) -> String {
    let mut out = String::new();
    if let Some(merge) = &output.merge {
        conflicts(&mut out, merge, display);
    }
    if !output.interfaces.is_empty() {
        let _ = writeln!(out, "{}", display.paint(BOLD, "changed declarations"));
        output.interfaces.iter().for_each(|change| interface_line(&mut out, change, display));
        out.push('\n');
    }
    for file in &output.unjudged {
        let what = format!("not checked: {}: {}", escape::line(&file.path), escape::words(&file.why));
        let _ = writeln!(out, "{}", display.paint(BAD, &what));
    }
    out.push_str(&diagnostics::render(&output.found, verdict, display, read_line));
    if let Some(merge) = &output.merge {
        sides(&mut out, merge, display);
    }
    let files = count(output.changed_files, "changed file");
    let _ =
        writeln!(out, "{}", display.paint(DIM, &format!("{} ({files})", escape::words(&output.compared))));
    out
}

fn conflicts(out: &mut String, merge: &MergeReport, display: &DisplayCapabilities) {
    for conflict in &merge.conflicts {
        let what =
            format!("conflict: {} ({})", escape::line(&conflict.path), escape::words(&conflict.branch));
        let _ = writeln!(out, "{}", display.paint(BAD, &what));
    }
}

fn interface_line(out: &mut String, change: &InterfaceChange, display: &DisplayCapabilities) {
    let place = format!("{}:{}", escape::line(&change.path), LineColumn::from(change.at));
    let now = change.now.as_ref().map(|now| format!(" → {}", escape::words(now))).unwrap_or_default();
    let _ = write!(
        out,
        "{}: {} {} {}{now}",
        display.paint(BOLD, &place),
        change.change.name(),
        escape::words(&change.kind),
        escape::words(&change.name)
    );
    let users = match change.user_count {
        None => "users not known".to_owned(),
        Some(0) => "no users".to_owned(),
        Some(all) => {
            let named: Vec<String> =
                change.users.iter().map(|user| escape::line(user).into_owned()).collect();
            let more = if all > named.len() { ", …" } else { "" };
            format!("{}: {}{more}", count(all, "user"), named.join(", "))
        }
    };
    let _ = writeln!(out, " {}", display.paint(DIM, &format!("({users})")));
    let heads = [("-", &change.before), ("+", &change.after)];
    let differ = change.before != change.after;
    for (sign, head) in heads.into_iter().filter(|_| differ && change.after.is_some()) {
        let Some(head) = head else { continue };
        let _ = writeln!(out, "    {}", display.paint(DIM, &format!("{sign} {}", escape::words(head))));
    }
}

fn sides(out: &mut String, merge: &MergeReport, display: &DisplayCapabilities) {
    for side in &merge.by_branch {
        let found =
            side.findings.map_or_else(|| "not known".to_owned(), |findings| count(findings, "finding"));
        let _ = writeln!(out, "{} by itself: {found}", escape::words(&side.branch));
    }
    let found = count(merge.by_combination, "finding");
    let _ = writeln!(out, "{}", display.paint(BOLD, &format!("only together: {found}")));
    merge.combined.iter().for_each(|one| combined_line(out, one));
}

fn combined_line(out: &mut String, one: &CombinedFinding) {
    let list = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| escape::words(name)).collect();
        if names.is_empty() { "no branch".to_owned() } else { names.join(", ") }
    };
    let (changed, used) = (list(&one.changed_by), list(&one.used_from));
    let place = format!("{}:{}", escape::line(&one.path), LineColumn::from(one.at));
    let _ = writeln!(out, "  {place}: the file is changed by {changed}, what it uses by {used}");
}
