//! `read`: lines of a file, its outline, or the kind of a file that is not text.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_kind::{BinaryFileKind, MAX_FILE_HEAD_BYTES, file_kind};
use super::list::clamp_count;
use super::notebook;
use crate::analysis::ask::fallback;
use crate::analysis::ask::resolved_position::find_by_name;
use crate::analysis::context::{Context, from_read_error};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::lsp::model::{Symbol, SymbolKind};
use crate::policy::request::CallSubjects;
use crate::text::hidden_characters;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::{FilePage, PageQuery, WorkDeadline, Workspace, WorkspacePath};

/// The default and the largest number of lines in one answer.
const DEFAULT_READ_LINES: usize = 50;
pub(crate) const MAX_READ_LINES: usize = 200;
/// The largest page for a caller that prints it at once, in lines and in bytes.
pub(crate) const BULK_READ_LINES: usize = 100_000;
const BULK_READ_BYTES: usize = 16 << 20;

/// The longest shown part of one line, in bytes.
const MAX_READ_LINE_BYTES: usize = 2_000;

/// The part of an answer's bytes that is reserved for fields beside the content.
const READ_ANSWER_OVERHEAD_BYTES: usize = 1_000;

/// The default timeout.
const DEFAULT_READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The most hidden characters that are listed individually.
const MAX_NAMED_HIDDEN_CHARACTERS: usize = 5;

/// The arguments of `read`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReadArgs {
    /// The file.
    pub path: String,
    /// Only this whole symbol.
    pub symbol: Option<String>,
    /// First line, 1-based.
    pub offset: Option<i64>,
    /// Line count (50, at most 200).
    pub limit: Option<i64>,
    /// Number the lines.
    pub line_numbers: Option<bool>,
    /// Definitions instead of text.
    pub outline: Option<bool>,
    /// True if a caller in this process reads pages of [`BULK_READ_LINES`] instead of answer size.
    #[serde(skip)]
    pub in_bulk: bool,
}

/// The answer of `read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReadOutput {
    /// The file, relative to the workspace.
    pub path: String,
    /// The lines unchanged, with their line breaks.
    pub content: String,
    /// First line of `content`, 1-based; 0 if empty.
    pub start_line: u64,
    /// Last line of `content`, 1-based; 0 if empty.
    pub end_line: u64,
    /// True if the file continues after `content`.
    pub has_more: bool,
    /// The number of lines in the file; absent if it is too large to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// `image` or `notebook` if `content` is not the file's own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// One definition per line: `first-last kind name`, 1-based lines, indented by nesting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outline: Option<String>,
    /// Further notes: lines that were cut, hidden characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The `read` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadTool;

impl Tool for ReadTool {
    type Args = ReadArgs;
    type Output = ReadOutput;

    fn card(&self) -> Card {
        Card::reading(
            "read",
            "Read a file",
            "Lines of a text file; of a large one take `outline` or a `symbol` first. Notebooks as text. To search use `grep`.",
        ).with_rank(7)
    }

    fn subjects(&self, context: &Context, args: &ReadArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![context.path(args.path.as_ref())?], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: ReadArgs) -> Result<ReadOutput, ToolError> {
        run(call.context, args).await
    }
}

/// Returns some lines of a file.
///
/// # Errors
/// A file that is missing, outside the workspace, not a regular file, or not text.
pub(crate) async fn run(context: &Context, mut args: ReadArgs) -> Result<ReadOutput, ToolError> {
    let path = context.path(args.path.as_ref())?;
    if let Some(symbol) = args.symbol.take().filter(|symbol| !symbol.is_empty()) {
        if args.offset.is_some() || args.limit.is_some() {
            let what = "read: `symbol` selects the lines; omit `offset` and `limit`";
            return Err(ToolError::new(ErrorCode::InvalidArgs, what));
        }
        let (first, last) = symbol_lines(context, &path, &symbol).await?;
        (args.offset, args.limit) = (Some(first), Some(last - first + 1));
    }
    let wants_outline = args.outline.unwrap_or(false);
    context
        .first_of_each_language([&path].into_iter())
        .iter()
        .for_each(|subject| context.start_servers_for(subject));
    let mut output = if wants_outline && args.offset.is_none() && args.limit.is_none() {
        context.workspace.stamp(&path).map_err(from_read_error)?;
        ReadOutput::empty(&path)
    } else {
        read_content(context, &path, &args).await?
    };
    if wants_outline {
        let subject = context.language_file(path)?;
        let (symbols, notes) = fallback::outline(context, &subject).await?;
        output.outline =
            Some(outline(&symbols, context.config.settings.limits.answer_bytes, &mut output.notes));
        output.notes.extend(notes);
    }
    Ok(output)
}

/// The first and last line of `name` according to the file's syntax tree, 1-based; overloads
/// count as one.
async fn symbol_lines(context: &Context, path: &WorkspacePath, name: &str) -> Result<(i64, i64), ToolError> {
    let subject = context.language_file(path.clone())?;
    let (symbols, _) = fallback::outline(context, &subject).await?;
    let mut found = find_by_name(&symbols, name);
    found.retain(|overloads| overloads.iter().all(|symbol| symbol.kind != SymbolKind::EXTENSION));
    let is_top = |overloads: &Vec<&Symbol>| symbols.iter().any(|top| std::ptr::eq(top, overloads[0]));
    if found.iter().filter(|overloads| is_top(overloads)).count() == 1 {
        found.retain(is_top);
    }
    let lines = |overloads: &[&Symbol]| {
        let first = overloads.iter().map(|symbol| symbol.range.start.line).min().unwrap_or_default();
        let last = overloads.iter().map(|symbol| symbol.range.end.line).max().unwrap_or_default();
        (i64::from(first) + 1, i64::from(last) + 1)
    };
    match found.as_slice() {
        [overloads] => Ok(lines(overloads)),
        [] => {
            let what = format!("the syntax tree of {} defines no `{name}`", path.display());
            Err(ToolError::new(ErrorCode::NotFound, what).with_hint("`outline` lists its definitions"))
        }
        several => {
            let first: Vec<String> = several.iter().map(|overloads| lines(overloads).0.to_string()).collect();
            let what = format!("{} defines `{name}` in lines {}", path.display(), first.join(", "));
            Err(ToolError::new(ErrorCode::InvalidArgs, what)
                .with_hint("qualify it (`Class.method`), or give `offset`"))
        }
    }
}

impl ReadOutput {
    fn empty(path: &WorkspacePath) -> Self {
        Self {
            path: path.display(),
            content: String::new(),
            start_line: 0,
            end_line: 0,
            has_more: false,
            total_lines: None,
            kind: None,
            outline: None,
            notes: Vec::new(),
        }
    }
}

async fn read_content(
    context: &Context,
    path: &WorkspacePath,
    args: &ReadArgs,
) -> Result<ReadOutput, ToolError> {
    let limits = &context.config.settings.limits;
    let (max_bytes, max_lines) = match args.in_bulk {
        true => (BULK_READ_BYTES, BULK_READ_LINES),
        false => (
            limits.answer_bytes.saturating_sub(READ_ANSWER_OVERHEAD_BYTES).max(READ_ANSWER_OVERHEAD_BYTES),
            MAX_READ_LINES,
        ),
    };
    let query = PageQuery {
        first: args.offset.and_then(|offset| u64::try_from(offset).ok()).unwrap_or(1).max(1) - 1,
        max_lines: clamp_count(args.limit, DEFAULT_READ_LINES, max_lines),
        max_bytes,
        longest_line: MAX_READ_LINE_BYTES.min(max_bytes),
        deadline: WorkDeadline::new(Instant::now() + context.timeout.unwrap_or(DEFAULT_READ_TIMEOUT)),
    };
    let _ends_with_us = query.deadline.cancel_on_drop();
    let (numbered, largest, file) = (args.line_numbers.unwrap_or(false), limits.max_file_bytes, path.clone());
    let read = move |workspace: &Workspace| read_page_by_kind(workspace, &file, &query, numbered, largest);
    context.run_in_background(read).await?
}

/// Reads the page according to the kind of the file.
fn read_page_by_kind(
    workspace: &Workspace,
    path: &WorkspacePath,
    query: &PageQuery,
    numbered: bool,
    largest: u64,
) -> Result<ReadOutput, ToolError> {
    if path.is_notebook() {
        let file = workspace.read_text_up_to(path, largest).map_err(from_read_error)?;
        if let Some(text) = notebook::as_text(&file.text) {
            let page = FilePage::of_text(&text, query, &|| path.display()).map_err(from_read_error)?;
            let mut output = of_page(path, page, query, numbered);
            output.kind = Some("notebook".to_owned());
            output.notes.push(
                "line numbers are those of the cells as text, not of the file; search the file for the text to edit"
                    .to_owned(),
            );
            return Ok(output);
        }
    }
    match workspace.read_page(path, query) {
        Ok((page, _)) => Ok(of_page(path, page, query, numbered)),
        Err(error) => {
            let error = from_read_error(error);
            if error.code == ErrorCode::NotText { no_text(workspace, path, error) } else { Err(error) }
        }
    }
}

/// The answer for a file that is not text: an image has a size, other kinds are an error with a
/// hint.
fn no_text(workspace: &Workspace, path: &WorkspacePath, error: ToolError) -> Result<ReadOutput, ToolError> {
    let Ok((head, stamp)) = workspace.read_head(path, MAX_FILE_HEAD_BYTES) else { return Err(error) };
    match file_kind(&head) {
        Some(BinaryFileKind::Image(format, size)) => {
            let size = size.map_or_else(String::new, |(width, height)| format!(" {width}x{height}"));
            let content = format!("{format}{size}, {} bytes", stamp.size);
            Ok(ReadOutput { content, kind: Some("image".to_owned()), ..ReadOutput::empty(path) })
        }
        Some(BinaryFileKind::Other(what)) => Err(error.with_hint(format!("it is {what}"))),
        None => Err(error),
    }
}

fn of_page(path: &WorkspacePath, page: FilePage, query: &PageQuery, numbered: bool) -> ReadOutput {
    let first = query.first + 1;
    let last = query.first + page.lines as u64;
    let mut output = ReadOutput::empty(path);
    output.total_lines = page.total_lines;
    output.has_more = page.has_more;
    if page.lines > 0 {
        (output.start_line, output.end_line) = (first, last);
    } else if let Some(total) = page.total_lines.filter(|total| *total > 0) {
        output.notes.push(format!("the file ends at line {total}"));
    }
    if page.ended_early && page.has_more {
        output.notes.push(format!(
            "the page ended at line {last} because of its size; continue with offset {}",
            last + 1
        ));
    }
    for cut in &page.cut {
        let (line, bytes) = (cut.line + 1, cut.bytes);
        output.notes.push(format!("line {line} has {bytes} bytes or more; only its beginning is shown"));
    }
    output.notes.extend(hidden_note(&page.text, first));
    output.content = if numbered { with_numbers(&page.text, first) } else { page.text };
    output
}

fn with_numbers(text: &str, first: u64) -> String {
    // CR ends a line too, as in the line count.
    let lines = text.split_inclusive(['\n', '\r']);
    let (mut number, mut numbered, mut after_return) = (first, String::with_capacity(text.len() * 2), false);
    for line in lines {
        if !(after_return && line == "\n") {
            numbered.push_str(&format!("{number}\t"));
            number += 1;
        }
        after_return = line.ends_with('\r');
        numbered.push_str(line);
    }
    numbered
}

/// A note on hidden characters in `text`, which begins at the 1-based line `first`.
fn hidden_note(text: &str, first: u64) -> Option<String> {
    let mut hidden = hidden_characters(text).peekable();
    hidden.peek()?;
    let mut named = Vec::new();
    let mut count = 0;
    for one in hidden {
        count += 1;
        if named.len() < MAX_NAMED_HIDDEN_CHARACTERS {
            let (line, column) = (u64::from(one.line) + first, one.column + 1);
            named.push(format!("U+{:04X} {} at {line}:{column}", one.character as u32, one.what));
        }
    }
    let more = if count > named.len() { ", …" } else { "" };
    Some(format!("hidden characters: {count} ({}{more})", named.join(", ")))
}

/// The definitions as lines, as many as fit into `most` bytes.
fn outline(symbols: &[Symbol], most: usize, notes: &mut Vec<String>) -> String {
    let mut text = String::new();
    push_outline(symbols, 0, &mut text);
    if text.len() > most {
        let most = text.floor_char_boundary(most);
        let end = text[..most].rfind('\n').map_or(0, |end| end + 1);
        text.truncate(end);
        notes.push(
            "the outline is longer than an answer may be; lsp_symbols with `query` finds the rest".to_owned(),
        );
    }
    text
}

fn push_outline(symbols: &[Symbol], depth: usize, text: &mut String) {
    for symbol in symbols {
        let (first, last) = (symbol.range.start.line + 1, symbol.range.end.line + 1);
        let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let indent = "  ".repeat(depth);
        text.push_str(&format!("{indent}{lines} {} {}\n", symbol.kind.name(), symbol.name));
        push_outline(&symbol.children, depth + 1, text);
    }
}
