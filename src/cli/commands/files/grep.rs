//! The command `grep`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::args::files::GrepCommandArgs;
use crate::cli::commands::tool_call::default_folder;
use crate::cli::commands::tool_call::{call_and_render, path};
use crate::cli::commands::{CliContext, Reply};
use crate::cli::render::grep as render;
use crate::tools::files::grep::GrepOutput;
use crate::workspace::{CaseMode, GrepPattern, LineMatcher, WorkDeadline};

/// The time limit for finding the matches in shown lines again. Lines beyond it are shown without
/// colour.
const MAX_HIGHLIGHT_TIME: Duration = Duration::from_secs(1);

/// Lists the lines that match a pattern.
pub(super) async fn run(arguments: GrepCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let searched = SearchedText::of(&arguments)?;
    let under = searched.under.as_deref().map(path).transpose()?.or(default_folder(cli));
    let types_not = arguments.types_not.iter().map(|kind| format!("!{kind}"));
    let types: Vec<String> = arguments.types.iter().cloned().chain(types_not).collect();
    let mode = match (arguments.files_with_matches, arguments.count) {
        (true, _) => Some("files_with_matches"),
        (_, true) => Some("count"),
        _ => None,
    };
    let case = match case(&arguments) {
        CaseMode::Sensitive => "sensitive",
        CaseMode::Insensitive => "ignore",
        CaseMode::Smart => "smart",
    };
    let given = json!({
        "pattern": searched.pattern, "path": under, "max_matches": arguments.max_count,
        "glob": arguments.globs, "type": types, "context": arguments.context,
        "before": arguments.before_context, "after": arguments.after_context, "case": case,
        "fixed_strings": searched.is_fixed, "whole_word": arguments.word_regexp,
        "multiline": arguments.multiline, "invert": arguments.invert_match, "output_mode": mode,
        "hidden": arguments.hidden, "no_ignore": arguments.no_ignore,
    });
    let display = &cli.console.out;
    // Only highlighted matches have to be found again.
    let matcher =
        if display.color && !arguments.invert_match { matcher(&arguments, &searched) } else { None };
    let with_context = [arguments.context, arguments.before_context, arguments.after_context];
    let gaps = with_context.into_iter().flatten().any(|lines| lines > 0);
    let shown = |matches: GrepOutput| {
        let until = WorkDeadline::new(Instant::now() + MAX_HIGHLIGHT_TIME);
        let highlighter = matcher.map(|matcher| render::Highlighter { matcher, until });
        render::render(&matches, gaps, highlighter.as_ref(), cli.paths, display)
    };
    call_and_render(cli, "grep", given, shown).await
}

/// The pattern and the searched path.
struct SearchedText {
    pattern: String,
    is_fixed: bool,
    under: Option<PathBuf>,
}

impl SearchedText {
    /// Reads the patterns of `-e`, or the first word. With `-e` the first word is a path. Several
    /// patterns become one that matches any of them.
    fn of(arguments: &GrepCommandArgs) -> Result<Self, ToolError> {
        let (first, is_fixed) = (arguments.pattern.clone(), arguments.fixed_strings);
        if arguments.patterns.is_empty() {
            let pattern = first.unwrap_or_default();
            return Ok(Self { pattern, is_fixed, under: arguments.path.clone() });
        }
        if let (Some(one), Some(other)) = (&first, &arguments.path) {
            let error = format!("one file or folder is searched, not both `{one}` and `{}`", other.display());
            return Err(
                ToolError::new(ErrorCode::InvalidArgs, error).with_hint("with -e, all other words are paths")
            );
        }
        let under = first.map(PathBuf::from);
        if let [pattern] = arguments.patterns.as_slice() {
            return Ok(Self { pattern: pattern.clone(), is_fixed, under });
        }
        let expression = |pattern: &String| match is_fixed {
            true => format!("(?:{})", regex::escape(pattern)),
            false => format!("(?:{pattern})"),
        };
        let pattern = arguments.patterns.iter().map(expression).collect::<Vec<_>>().join("|");
        Ok(Self { pattern, is_fixed: false, under })
    }
}

fn case(arguments: &GrepCommandArgs) -> CaseMode {
    match (arguments.ignore_case, arguments.smart_case) {
        (true, _) => CaseMode::Insensitive,
        (_, true) => CaseMode::Smart,
        _ => CaseMode::Sensitive,
    }
}

/// Creates the matcher for highlighting. Returns `None` for an invalid pattern, which the tool
/// reports itself.
fn matcher(arguments: &GrepCommandArgs, searched: &SearchedText) -> Option<LineMatcher> {
    let pattern = GrepPattern {
        text: searched.pattern.clone(),
        fixed: searched.is_fixed,
        case: case(arguments),
        whole_word: arguments.word_regexp,
        multiline: arguments.multiline,
        invert: false,
    };
    LineMatcher::new(&pattern).ok()
}
