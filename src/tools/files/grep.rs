//! `grep`: lines that match a pattern, with marks of running language servers.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::glob::from_select_error;
use super::list::{clamp_count, directory, left_out_note};
use super::match_marks::{self, MarkedMatches, MatchMark};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::CallSubjects;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::{
    CaseMode, GrepError, GrepPattern, GrepQuery, GrepResult, GrepWanted, LineMatch, PatternError, Selection,
    WorkDeadline, WorkspacePath,
};

/// The default and the largest number of matches in one answer.
const DEFAULT_GREP_MATCHES: usize = 200;
const MAX_GREP_MATCHES: usize = 5_000;

/// The most lines of context around a match.
const MAX_GREP_CONTEXT_LINES: usize = 50;

/// The default timeout.
const DEFAULT_GREP_TIMEOUT: Duration = Duration::from_secs(10);

/// The size of a match in an answer beside its texts, in bytes.
const GREP_MATCH_OVERHEAD_BYTES: usize = 48;

/// The arguments of `grep`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct GrepArgs {
    /// Regular expression.
    pub pattern: String,
    /// File or folder (the root).
    pub path: Option<String>,
    /// Default 200.
    pub max_matches: Option<i64>,
    /// `*.ts`, `!*.min.js`.
    pub glob: Option<OneOrMany>,
    /// `py`, `!json`.
    #[serde(rename = "type")]
    pub file_type: Option<OneOrMany>,
    /// Lines around.
    pub context: Option<i64>,
    /// Lines before.
    pub before: Option<i64>,
    /// Lines after.
    pub after: Option<i64>,
    /// Default `sensitive`.
    pub case: Option<Case>,
    /// Literal text, no regex.
    pub fixed_strings: Option<bool>,
    /// Whole words.
    pub whole_word: Option<bool>,
    /// Match across lines.
    pub multiline: Option<bool>,
    /// Non-matching lines.
    pub invert: Option<bool>,
    /// Default `content`.
    pub output_mode: Option<OutputMode>,
    /// Include hidden files.
    pub hidden: Option<bool>,
    /// Include git-ignored files.
    pub no_ignore: Option<bool>,
    /// false: no symbol marks.
    pub semantic: Option<bool>,
}

/// One word or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    #[allow(missing_docs)] // a doc comment would cost every model tokens for what the type says
    One(String),
    #[allow(missing_docs)] // as above
    Several(Vec<String>),
}

/// The case sensitivity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // the field that takes it says what each word means; said twice it costs tokens
pub(crate) enum Case {
    Sensitive,
    Ignore,
    Smart,
}

/// The kind of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the field that takes it says what each word means; said twice it costs tokens
pub(crate) enum OutputMode {
    #[default]
    Content,
    FilesWithMatches,
    Count,
}

/// The answer of `grep`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GrepOutput {
    /// The number of matches in this answer: lines, or files with `files_with_matches`.
    pub count: usize,
    /// The matching lines, by path and line.
    pub matches: Vec<GrepMatch>,
    /// With `files_with_matches`: the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// With `count`: the files with their numbers of matching lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Vec<FileCount>>,
    /// True if there are more.
    pub has_more: bool,
    /// The language servers that set the marks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marked_by: Vec<String>,
    /// Further notes: what was not searched, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A matching line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GrepMatch {
    /// Relative to the workspace.
    pub path: String,
    /// 1-based, as `read` counts.
    pub line: u32,
    /// The column where the match begins, 1-based, in characters.
    pub column: u32,
    /// The last line of a match that spans several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// The line; a very long one is cut with `…`.
    pub text: String,
    /// The lines directly before it, without lines already given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines directly after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The server's mark of a name: `confirmed` for a symbol, `text` for no symbol (a comment, a
    /// string, part of another name), `added` for a use of the same symbol that the pattern does
    /// not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<MatchMark>,
}

/// The number of matching lines in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FileCount {
    /// Relative to the workspace.
    pub path: String,
    /// Matching lines.
    pub count: usize,
}

/// The `grep` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GrepTool;

impl Tool for GrepTool {
    type Args = GrepArgs;
    type Output = GrepOutput;

    fn card(&self) -> Card {
        Card::reading(
            "grep",
            "Search in files",
            "Lines that match, as in ripgrep. Hits of a name are marked `confirmed`, `text` or `added` if a server runs. For uses \
             of a symbol prefer `lsp_references`.",
        ).with_rank(8)
    }

    fn subjects(&self, context: &Context, args: &GrepArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![directory(context, args.path.as_deref())?], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: GrepArgs) -> Result<GrepOutput, ToolError> {
        run(call.context, args, Some(call.context.config.settings.limits.answer_bytes)).await
    }
}

/// Returns the matching lines, in about `budget` bytes.
///
/// # Errors
/// An invalid pattern, glob or type; a path that is missing or outside the workspace.
pub(crate) async fn run(
    context: &Context,
    args: GrepArgs,
    budget: Option<usize>,
) -> Result<GrepOutput, ToolError> {
    let query = query(context, &args)?;
    let _ends_with_us = query.deadline.cancel_on_drop();
    let search = query.clone();
    let result = context.run_in_background(move |workspace| workspace.grep(&search)).await?;
    let result = result.map_err(|error| from_grep_error(error, &query))?;
    let mut notes = notes(&result);
    let met = context.first_of_each_language(result.files.iter().map(|file| &file.path));
    let mut output = GrepOutput { has_more: result.has_more || result.timed_out, ..GrepOutput::default() };
    match args.output_mode.unwrap_or_default() {
        OutputMode::Content => {
            let found = result.files.into_iter();
            let found =
                found.flat_map(|file| file.lines.into_iter().map(move |line| (file.path.clone(), line)));
            let mut marked = MarkedMatches::unmarked(found);
            if args.semantic.unwrap_or(true) {
                match_marks::mark_matches(context, &query, &mut marked, &mut notes).await?;
            }
            output.marked_by = std::mem::take(&mut marked.by);
            output.matches =
                marked.matches.into_iter().map(|one| to_grep_match(one.path, one.line, one.mark)).collect();
            output.count = output.matches.len();
        }
        OutputMode::FilesWithMatches => {
            output.count = result.files.len();
            output.files = Some(result.files.iter().map(|file| file.path.display()).collect());
        }
        OutputMode::Count => {
            output.count = result.files.iter().map(|file| file.count).sum();
            let counted = result.files.iter();
            let counted = counted.map(|file| FileCount { path: file.path.display(), count: file.count });
            output.counts = Some(counted.collect());
        }
    }
    output.notes = notes;
    met.iter().for_each(|subject| context.start_servers_for(subject));
    if let Some(budget) = budget {
        output.fit_budget(budget);
    }
    Ok(output)
}

fn query(context: &Context, args: &GrepArgs) -> Result<GrepQuery, ToolError> {
    let lines = |given: Option<i64>| {
        given
            .or(args.context)
            .and_then(|lines| usize::try_from(lines).ok())
            .unwrap_or(0)
            .min(MAX_GREP_CONTEXT_LINES)
    };
    Ok(GrepQuery {
        pattern: GrepPattern {
            text: args.pattern.clone(),
            fixed: args.fixed_strings.unwrap_or(false),
            case: match args.case {
                None | Some(Case::Sensitive) => CaseMode::Sensitive,
                Some(Case::Ignore) => CaseMode::Insensitive,
                Some(Case::Smart) => CaseMode::Smart,
            },
            whole_word: args.whole_word.unwrap_or(false),
            multiline: args.multiline.unwrap_or(false),
            invert: args.invert.unwrap_or(false),
        },
        under: directory(context, args.path.as_deref())?,
        select: Selection {
            globs: string_list(args.glob.as_ref()),
            types: string_list(args.file_type.as_ref()),
            hidden: args.hidden.unwrap_or(false),
            no_ignore: args.no_ignore.unwrap_or(false),
        },
        wanted: match args.output_mode.unwrap_or_default() {
            OutputMode::Content => GrepWanted::Lines { before: lines(args.before), after: lines(args.after) },
            OutputMode::FilesWithMatches => GrepWanted::Files,
            OutputMode::Count => GrepWanted::Counts,
        },
        max: clamp_count(args.max_matches, DEFAULT_GREP_MATCHES, MAX_GREP_MATCHES),
        deadline: WorkDeadline::new(Instant::now() + context.timeout.unwrap_or(DEFAULT_GREP_TIMEOUT)),
    })
}

fn string_list(given: Option<&OneOrMany>) -> Vec<String> {
    let given = match given {
        None => Vec::new(),
        Some(OneOrMany::One(word)) => vec![word.clone()],
        Some(OneOrMany::Several(words)) => words.clone(),
    };
    given.into_iter().filter(|word| !word.is_empty()).collect()
}

fn to_grep_match(path: WorkspacePath, line: LineMatch, mark: Option<MatchMark>) -> GrepMatch {
    GrepMatch {
        path: path.display(),
        line: line.start.line + 1,
        column: line.start.character + 1,
        end_line: (line.end_line > line.start.line).then_some(line.end_line + 1),
        text: line.text,
        before: line.before,
        after: line.after,
        mark,
    }
}

/// Notes on files that were not searched, and the reasons.
fn notes(result: &GrepResult) -> Vec<String> {
    let mut notes = Vec::new();
    if result.timed_out {
        let searched = result.searched;
        notes.push(format!(
            "the time limit was reached after {searched} files; there may be more, also before these: narrow with path, glob or type"
        ));
    }
    if result.unsearchable > 0 {
        notes.push(format!(
            "{} files could not be searched: too long to hold, or not readable",
            result.unsearchable
        ));
    }
    if result.skipped_lines > 0 {
        notes.push(format!(
            "lines not searched, because the pattern is too slow for their length: {}; use smaller repetitions",
            result.skipped_lines
        ));
    }
    if result.binary > 0 {
        notes.push(format!(
            "binary files left out, in which the pattern matches or may match: {}",
            result.binary
        ));
    }
    if let Some((path, at)) = result.cut.first_key_value() {
        let others = match result.cut.len() - 1 {
            0 => String::new(),
            others => format!(" (and {others} other files, up to their first NUL)"),
        };
        notes.push(format!(
            "`{}` was searched only up to byte {at}, a NUL (binary data){others}",
            path.display()
        ));
    }
    if result.hidden > 0 {
        notes.push(left_out_note(result.hidden));
    }
    notes.extend(result.gaps.iter().cloned());
    notes
}

impl GrepOutput {
    /// Drops items from the end until the rest fits into `budget` bytes.
    fn fit_budget(&mut self, budget: usize) {
        let total =
            (self.matches.len(), self.files.as_ref().map(Vec::len), self.counts.as_ref().map(Vec::len));
        truncate(&mut self.matches, budget, |one| {
            let context = one.before.iter().chain(&one.after).map(|line| line.len() + 3).sum::<usize>();
            one.path.len() + one.text.len() + context + GREP_MATCH_OVERHEAD_BYTES
        });
        self.files.iter_mut().for_each(|files| truncate(files, budget, |file| file.len() + 3));
        self.counts
            .iter_mut()
            .for_each(|counts| truncate(counts, budget, |one| one.path.len() + GREP_MATCH_OVERHEAD_BYTES));
        let left =
            (self.matches.len(), self.files.as_ref().map(Vec::len), self.counts.as_ref().map(Vec::len));
        if left == total {
            return;
        }
        self.has_more = true;
        self.notes.push("cut at the size an answer may have; narrow it with path, glob or type".to_owned());
        self.count = match (&self.files, &self.counts) {
            (Some(files), _) => files.len(),
            (_, Some(counts)) => counts.iter().map(|one| one.count).sum(),
            _ => self.matches.len(),
        };
    }
}

/// Keeps as many of `items` as fit into `budget` bytes, at least one.
fn truncate<T>(items: &mut Vec<T>, budget: usize, size: impl Fn(&T) -> usize) {
    let mut used = 0;
    let fits = |item: &T| {
        used += size(item);
        used <= budget
    };
    let kept = items.iter().map(fits).take_while(|fits| *fits).count();
    items.truncate(kept.max(1));
}

fn from_grep_error(error: GrepError, query: &GrepQuery) -> ToolError {
    let error = match error {
        GrepError::Select(error) => return from_select_error(error),
        GrepError::Pattern(error) => error,
    };
    let failure = ToolError::new(ErrorCode::InvalidArgs, error.to_string());
    match error {
        PatternError::Syntax { .. } => {
            failure.with_hint("escape literal characters with `\\`, or set `fixed_strings` (at a shell: -F)")
        }
        PatternError::LineBreak { .. } => failure.with_hint("set `multiline`"),
        PatternError::TooLarge { .. } => failure.with_hint("use smaller repetitions"),
        PatternError::Unusable { .. } if !query.pattern.fixed => {
            failure.with_hint("set `fixed_strings` (at a shell: -F)")
        }
        PatternError::Unusable { .. } | PatternError::Empty => failure,
    }
}
