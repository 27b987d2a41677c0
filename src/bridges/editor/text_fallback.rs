//! Answers from the text for an editor without a server: hover, definition, references and symbols.
//!
//! If the protocol has room for it, the answer is marked as such; the editor's log always mentions
//! it.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::{Value, json};

use super::client::MESSAGE_TYPE_INFO;
use super::context::{EditorContext, Inquiry};
use crate::analysis::answer::{Answer, HoverOutput, LocationsOutput, ServerStatus};
use crate::analysis::ask::fallback;
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::ToolError;
use crate::analysis::target::Target;
use crate::lsp::model::{FileRef, Symbol};
use crate::lsp::relay;
use crate::lsp::session::operations::Navigation;
use crate::lsp::uri;
use crate::syntax;
use crate::text::{Buffer, EncodedPosition, Range};
use crate::tools::language::{lsp_hover, lsp_navigate};
use crate::workspace::WorkspacePath;

/// The container name of a symbol that was found in the text.
const MARK: &str = "found in the text";

/// Answers `method` from the text of the workspace. Returns `None` if the text has no answer.
pub(super) async fn answer_from_text(
    context: &EditorContext,
    inquiry: &Inquiry,
    method: &str,
    subject: &LanguageFile,
    params: &Value,
) -> Option<Value> {
    let mut pages = EditorTexts { inquiry, texts: HashMap::new() };
    let found = match method {
        "textDocument/hover" => hover(&mut pages, subject, params).await,
        "textDocument/definition" => navigate(&mut pages, Navigation::Definition, subject, params).await,
        "textDocument/references" => navigate(&mut pages, Navigation::References, subject, params).await,
        "textDocument/documentSymbol" => outline(&mut pages, subject).await,
        _ => return None,
    };
    let found =
        found.inspect_err(|error| tracing::debug!(method, "no answer from the text: {}", error.error));
    let (value, status) = found.ok().flatten()?;
    log_hinted_answer(context, method, status.as_ref()).await;
    Some(value)
}

/// Returns the workspace symbols whose names match the query (LSP 3.17, *Workspace Symbols*).
pub(super) async fn workspace_symbols(
    context: &EditorContext,
    inquiry: &Inquiry,
    params: &Value,
) -> Option<Value> {
    let mut pages = EditorTexts { inquiry, texts: HashMap::new() };
    let query = params["query"].as_str().unwrap_or_default();
    let until = Instant::now() + syntax::DEADLINE;
    let found = fallback::workspace_symbols(&inquiry.context, query, until).await.ok()?;
    let symbols: Vec<Value> = found
        .symbols
        .into_iter()
        .filter_map(|symbol| {
            let FileRef::Inside(path) = &symbol.location.file else { return None };
            let (uri, range) = (pages.uri(path), pages.range(path, symbol.location.range)?);
            let container = symbol.container.map_or(MARK.to_owned(), |within| format!("{within} ({MARK})"));
            Some(json!({
                "name": symbol.name,
                "kind": symbol.kind.0,
                "containerName": container,
                "location": { "uri": uri, "range": range },
            }))
        })
        .collect();
    log_hinted_answer(context, "workspace/symbol", None).await;
    Some(symbols.into())
}

type HintedAnswer = Result<Option<(Value, Option<ServerStatus>)>, ToolError>;

async fn hover(pages: &mut EditorTexts<'_>, subject: &LanguageFile, params: &Value) -> HintedAnswer {
    let Some(target) = pages.target(subject, params) else { return Ok(None) };
    let answer: Answer<HoverOutput> = lsp_hover::run(&pages.inquiry.context, &target).await?;
    let HoverOutput { contents, range, candidates } = answer.output;
    if contents.is_empty() {
        return Ok(None);
    }
    let reason = missing_server_message(&answer.server_status);
    let place = candidates.first().map_or_else(String::new, |best| {
        let words = best.why.as_deref().unwrap_or_default();
        format!("\n\n*{}:{}: {words}*", best.path, best.range.start.line + 1)
    });
    let contents = format!("{contents}{place}\n\n---\n\n*{MARK}: {reason}*");
    let mut value = json!({ "contents": { "kind": "markdown", "value": contents } });
    if let Some(range) = range.and_then(|range| pages.range(&subject.path, range)) {
        value["range"] = range;
    }
    Ok(Some((value, Some(answer.server_status))))
}

async fn navigate(
    pages: &mut EditorTexts<'_>,
    navigation: Navigation,
    subject: &LanguageFile,
    params: &Value,
) -> HintedAnswer {
    let Some(target) = pages.target(subject, params) else { return Ok(None) };
    let context: &Context = &pages.inquiry.context;
    let answer: Answer<LocationsOutput> = lsp_navigate::run(context, navigation, &target, None).await?;
    let locations = answer.output.locations.into_iter().filter_map(|place| {
        let path = context.workspace.path(place.path.as_ref()).ok()?;
        Some(json!({ "uri": pages.uri(&path), "range": pages.range(&path, place.range)? }))
    });
    Ok(Some((locations.collect(), Some(answer.server_status))))
}

async fn outline(pages: &mut EditorTexts<'_>, subject: &LanguageFile) -> HintedAnswer {
    let (symbols, _) = fallback::outline(&pages.inquiry.context, subject).await?;
    Ok(Some((pages.symbols(&subject.path, &symbols), None)))
}

/// Texts as the editor sees them, with the conversion to the editor's positions and URIs.
struct EditorTexts<'a> {
    inquiry: &'a Inquiry,
    texts: HashMap<WorkspacePath, Option<Buffer>>,
}

impl EditorTexts<'_> {
    fn text(&mut self, path: &WorkspacePath) -> Option<&Buffer> {
        let context = &self.inquiry.context;
        let read = || context.text(path).ok();
        self.texts.entry(path.clone()).or_insert_with(read).as_ref()
    }

    fn uri(&self, path: &WorkspacePath) -> String {
        let spelled = self.inquiry.conventions.documents.get(path).map(|known| known.uri.clone());
        spelled.unwrap_or_else(|| uri::from_path(&self.inquiry.context.workspace.absolute(path)).into())
    }

    fn target(&mut self, subject: &LanguageFile, params: &Value) -> Option<Target> {
        let position = relay::position(&params["position"], self.inquiry.conventions.encoding)?;
        let position = self.text(&subject.path)?.decode(position);
        Some(Target::Position { path: self.inquiry.context.workspace.absolute(&subject.path), position })
    }

    fn range(&mut self, path: &WorkspacePath, range: Range) -> Option<Value> {
        let encoding = self.inquiry.conventions.encoding;
        let range = self.text(path)?.encode_range(range, encoding);
        let wire = |at: EncodedPosition| json!({ "line": at.line, "character": at.unit });
        Some(json!({ "start": wire(range.start), "end": wire(range.end) }))
    }

    /// Converts symbols to LSP 3.17 *DocumentSymbol*s.
    fn symbols(&mut self, path: &WorkspacePath, symbols: &[Symbol]) -> Value {
        let items = symbols.iter().filter_map(|symbol| {
            Some(json!({
                "name": symbol.name,
                "kind": symbol.kind.0,
                "detail": symbol.detail.as_deref().unwrap_or(MARK),
                "range": self.range(path, symbol.range)?,
                "selectionRange": self.range(path, symbol.selection)?,
                "children": self.symbols(path, &symbol.children),
            }))
        });
        items.collect()
    }
}

/// The reason why the server is missing, with the command that installs it.
fn missing_server_message(status: &ServerStatus) -> String {
    match status.install_commands() {
        Some(install) => format!("{} is not installed, run: {install}", status.server),
        None => format!("{} does not run here", status.server),
    }
}

async fn log_hinted_answer(context: &EditorContext, method: &str, status: Option<&ServerStatus>) {
    let reason = status.map_or_else(|| "no server runs here".to_owned(), missing_server_message);
    let message = format!("{method} was answered from text search only: {reason}");
    context
        .editor
        .notify("window/logMessage", json!({ "type": MESSAGE_TYPE_INFO, "message": message }))
        .await;
}
