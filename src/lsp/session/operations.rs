//! The requests that a session answers, in the types of `model`. Positions in both directions are
//! [`Position`](crate::text::Position)s.

use std::time::Duration;

use lsp_types::request::{
    self, DocumentSymbolRequest, GotoDeclaration, GotoDefinition, GotoImplementation, GotoTypeDefinition,
    HoverRequest, References, Request, SignatureHelpRequest, WorkspaceSymbolRequest,
};
use lsp_types::{
    CompletionContext, CompletionParams, CompletionTriggerKind, DocumentSymbolParams, GotoDefinitionParams,
    HoverParams, PartialResultParams, ReferenceContext, ReferenceParams, SignatureHelpParams,
    WorkDoneProgressParams, WorkspaceSymbolParams,
};
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use super::ask::{AskError, SessionAnswer, is_empty};
use super::decode::{PositionDecoder, elements, kind, markup};
use super::live_session::Session;
use super::readiness::UnfinishedWork;
use super::request::{
    DependencyScope, DocumentRequest, PlaceInText, WorkspaceRequest, text_document_position,
};
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::documents::snippet;
use crate::lsp::model::{Completion, Hover, Location, Signature, Symbol, WorkspaceSymbol};
use crate::text::Encoding;
use crate::workspace::WorkspacePath;

/// The pause before a server gets a request again whose empty answer is doubtful; it doubles each
/// time.
const MIN_EMPTY_RETRY_DELAY: Duration = Duration::from_millis(20);
/// The longest such pause.
const MAX_EMPTY_RETRY_DELAY: Duration = Duration::from_millis(160);
/// The maximum number of overloads of one call that are read; the active one is always among them.
const MAX_SIGNATURES: usize = 100;
/// The maximum number of parameters of one signature that are read.
const MAX_SIGNATURE_PARAMETERS: usize = 256;

/// The completions at a position.
#[derive(Debug, Clone, Default)]
pub(crate) struct CompletionList {
    /// The best, in the server's order.
    pub(crate) items: Vec<Completion>,
    /// True if the server left some out.
    pub(crate) incomplete: bool,
    /// The number of completions that the server returned.
    pub(crate) count: usize,
    /// Unfinished work of the server that may add completions.
    pub(crate) unfinished_work: Option<UnfinishedWork>,
}

/// The kinds of navigation requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Navigation {
    /// `textDocument/definition`
    Definition,
    /// `textDocument/declaration`
    Declaration,
    /// `textDocument/typeDefinition`
    TypeDefinition,
    /// `textDocument/implementation`
    Implementation,
    /// `textDocument/references`, the declaration included.
    References,
}

impl Navigation {
    /// The request's method.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Definition => GotoDefinition::METHOD,
            Self::Declaration => GotoDeclaration::METHOD,
            Self::TypeDefinition => GotoTypeDefinition::METHOD,
            Self::Implementation => GotoImplementation::METHOD,
            Self::References => References::METHOD,
        }
    }

    fn scope(self) -> DependencyScope {
        match self {
            Self::Implementation | Self::References => DependencyScope::Project,
            Self::Definition | Self::Declaration | Self::TypeDefinition => DependencyScope::File,
        }
    }
}

impl Session {
    /// Like [`ask`](Self::ask), and asks again if the answer is empty and doubtful: before the
    /// first push for the file, since many servers answer "nothing" about files that they have not
    /// read; while the server's rule doubts it; and, once, when a busy server is idle.
    pub(crate) async fn ask_with_retry<V: Serialize + Send>(
        &self,
        path: &WorkspacePath,
        mut request: DocumentRequest<'_, impl Fn(&Snapshot, Encoding) -> Option<V> + Sync>,
        deadline: Instant,
    ) -> Result<SessionAnswer<Value>, AskError> {
        let mut is_unread = self.awaits_first_push(path);
        let mut pause = MIN_EMPTY_RETRY_DELAY;
        let mut answer = self.ask_early(path, &request, deadline).await?;
        while is_empty(&answer.value) {
            if std::mem::take(&mut is_unread) {
                if !self.wait_for_first_push(path, deadline).await {
                    continue;
                }
            } else if self.empty_is_doubtful() && Instant::now() + pause < deadline {
                // The server gives no sign when it has looked.
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(MAX_EMPTY_RETRY_DELAY);
            } else if request.scope == DependencyScope::File && answer.unfinished_work.is_some() {
                request.scope = DependencyScope::Project;
                return self.ask_early(path, &request, deadline).await;
            } else {
                break;
            }
            answer = self.ask(path, &request, deadline).await?;
        }
        Ok(answer)
    }

    /// Requests `textDocument/hover`.
    pub(crate) async fn hover(
        &self,
        path: &WorkspacePath,
        place: &(impl PlaceInText + ?Sized),
        deadline: Instant,
    ) -> Result<SessionAnswer<Option<Hover>>, AskError> {
        let params = |snapshot: &Snapshot, encoding| {
            Some(HoverParams {
                text_document_position_params: text_document_position(snapshot, place, encoding)?,
                work_done_progress_params: WorkDoneProgressParams::default(),
            })
        };
        let request = DocumentRequest::new::<HoverRequest>(DependencyScope::File, params);
        let answer = self.ask_with_retry(path, request, deadline).await?;
        let mut texts = PositionDecoder::new(self, &answer.snapshot);
        let value = texts.hover(&answer.value);
        Ok(texts.into_answer(value, answer))
    }

    /// Sends one of the navigation requests.
    pub(crate) async fn navigate(
        &self,
        navigation: Navigation,
        path: &WorkspacePath,
        place: &(impl PlaceInText + ?Sized),
        deadline: Instant,
    ) -> Result<SessionAnswer<Vec<Location>>, AskError> {
        let answer = match navigation {
            Navigation::References => self.ask_references(path, place, deadline).await?,
            _ => {
                // All four have the same params.
                let params = |snapshot: &Snapshot, encoding| {
                    Some(GotoDefinitionParams {
                        text_document_position_params: text_document_position(snapshot, place, encoding)?,
                        work_done_progress_params: WorkDoneProgressParams::default(),
                        partial_result_params: PartialResultParams::default(),
                    })
                };
                let (method, scope) = (navigation.method(), navigation.scope());
                self.ask_with_retry(path, DocumentRequest { method, scope, params }, deadline).await?
            }
        };
        let mut texts = PositionDecoder::new(self, &answer.snapshot).with_deadline(deadline);
        let value = texts.locations(&answer.value);
        Ok(texts.into_answer(value, answer))
    }

    async fn ask_references(
        &self,
        path: &WorkspacePath,
        place: &(impl PlaceInText + ?Sized),
        deadline: Instant,
    ) -> Result<SessionAnswer<Value>, AskError> {
        let params = |snapshot: &Snapshot, encoding| {
            Some(ReferenceParams {
                text_document_position: text_document_position(snapshot, place, encoding)?,
                work_done_progress_params: WorkDoneProgressParams::default(),
                partial_result_params: PartialResultParams::default(),
                context: ReferenceContext { include_declaration: true },
            })
        };
        let scope = Navigation::References.scope();
        self.ask_with_retry(path, DocumentRequest::new::<References>(scope, params), deadline).await
    }

    /// Requests `textDocument/documentSymbol` and returns a tree.
    pub(crate) async fn document_symbols(
        &self,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<SessionAnswer<Vec<Symbol>>, AskError> {
        let params = |snapshot: &Snapshot, _| {
            Some(DocumentSymbolParams {
                text_document: snapshot.identifier(),
                work_done_progress_params: WorkDoneProgressParams::default(),
                partial_result_params: PartialResultParams::default(),
            })
        };
        let request = DocumentRequest::new::<DocumentSymbolRequest>(DependencyScope::File, params);
        let answer = self.ask_with_retry(path, request, deadline).await?;
        let mut texts = PositionDecoder::new(self, &answer.snapshot).with_deadline(deadline);
        let value = texts.symbols(&answer.value);
        Ok(texts.into_answer(value, answer))
    }

    /// Requests `workspace/symbol`; also returns the unfinished work of the server, and the number
    /// of symbols left out.
    pub(crate) async fn workspace_symbols(
        &self,
        query: &str,
        deadline: Instant,
    ) -> Result<(Vec<WorkspaceSymbol>, Option<UnfinishedWork>, usize), AskError> {
        let params = WorkspaceSymbolParams { query: query.to_owned(), ..WorkspaceSymbolParams::default() };
        let request = WorkspaceRequest::new::<WorkspaceSymbolRequest>(params);
        let (found, working) = self.ask_workspace_early(request, deadline).await?;
        let mut texts = PositionDecoder::of_workspace(self).with_deadline(deadline);
        let symbol = |texts: &mut PositionDecoder<'_>, element: &Value| {
            Some(WorkspaceSymbol {
                name: element["name"].as_str()?.to_owned(),
                kind: kind(&element["kind"]),
                container: element["containerName"]
                    .as_str()
                    .filter(|name| !name.is_empty())
                    .map(|name| self.workspace.with_relative_paths(name)),
                location: texts.location(&element["location"])?,
            })
        };
        let (mut symbols, mut left_out) = (Vec::new(), found.left_out);
        for element in elements(&found.value) {
            match texts.is_late() {
                true => left_out += 1,
                false => symbols.extend(symbol(&mut texts, element)),
            }
        }
        Ok((symbols, working, left_out))
    }

    /// Requests `textDocument/signatureHelp`.
    pub(crate) async fn signatures(
        &self,
        path: &WorkspacePath,
        place: &(impl PlaceInText + ?Sized),
        deadline: Instant,
    ) -> Result<SessionAnswer<Vec<Signature>>, AskError> {
        let params = |snapshot: &Snapshot, encoding| {
            Some(SignatureHelpParams {
                context: None,
                text_document_position_params: text_document_position(snapshot, place, encoding)?,
                work_done_progress_params: WorkDoneProgressParams::default(),
            })
        };
        let request = DocumentRequest::new::<SignatureHelpRequest>(DependencyScope::File, params);
        let answer = self.ask_with_retry(path, request, deadline).await?;
        let help = &answer.value;
        let active = help["activeSignature"].as_u64().unwrap_or(0) as usize;
        let signatures = elements(&help["signatures"]).enumerate().filter_map(|(index, one)| {
            let is_shown = index < MAX_SIGNATURES || index == active;
            is_shown.then(|| signature(one, help, index == active))?
        });
        let value: Vec<Signature> = signatures.collect();
        let left_out = elements(&help["signatures"]).count().saturating_sub(MAX_SIGNATURES) + answer.left_out;
        Ok(SessionAnswer { left_out, ..answer.map(|_| value) })
    }

    /// Requests `textDocument/completion`. Returns the first `most` in the server's order of
    /// preference, whether the server left some out, and their total number.
    pub(crate) async fn completions(
        &self,
        path: &WorkspacePath,
        place: &(impl PlaceInText + ?Sized),
        most: usize,
        deadline: Instant,
    ) -> Result<SessionAnswer<CompletionList>, AskError> {
        let invoked =
            CompletionContext { trigger_kind: CompletionTriggerKind::INVOKED, trigger_character: None };
        let params = |snapshot: &Snapshot, encoding| {
            Some(CompletionParams {
                text_document_position: text_document_position(snapshot, place, encoding)?,
                work_done_progress_params: WorkDoneProgressParams::default(),
                partial_result_params: PartialResultParams::default(),
                context: Some(invoked.clone()),
            })
        };
        // Servers complete with names of the whole project.
        let request = DocumentRequest::new::<request::Completion>(DependencyScope::Project, params);
        let unread = self.wait_until_read(path, deadline).await?;
        let answer = self.ask_with_retry(path, request, deadline).await?;
        let list = if answer.value.is_object() { &answer.value["items"] } else { &answer.value };
        let mut items: Vec<&Value> = elements(list).filter(|item| item["label"].is_string()).collect();
        items.sort_by_key(|item| item["sortText"].as_str().or(item["label"].as_str()).unwrap_or_default());
        let value = CompletionList {
            count: items.len() + answer.left_out,
            items: items.into_iter().filter_map(completion).take(most).collect(),
            incomplete: answer.value["isIncomplete"] == true,
            unfinished_work: answer.unfinished_work.clone().or(unread),
        };
        Ok(answer.map(|_| value))
    }
}

/// Decodes LSP 3.17 *SignatureInformation*.
fn signature(value: &Value, help: &Value, active: bool) -> Option<Signature> {
    let label = value["label"].as_str()?.to_owned();
    // Offsets into the label count UTF-16 code units.
    let units: Vec<u16> = label.encode_utf16().collect();
    let parameters = elements(&value["parameters"]).filter_map(|parameter| match &parameter["label"] {
        Value::String(name) => Some(name.clone()),
        Value::Array(span) => {
            let (start, end) = (span.first()?.as_u64()? as usize, span.get(1)?.as_u64()? as usize);
            String::from_utf16(units.get(start..end)?).ok()
        }
        _ => None,
    });
    let parameters = parameters.take(MAX_SIGNATURE_PARAMETERS).collect();
    let number = value["activeParameter"].as_u64().or(help["activeParameter"].as_u64());
    let active_parameter = number.filter(|_| active).and_then(|number| u32::try_from(number).ok());
    Some(Signature {
        label,
        documentation: markup(&value["documentation"]),
        parameters,
        active_parameter,
        active,
    })
}

/// Decodes LSP 3.17 *CompletionItem*.
fn completion(value: &Value) -> Option<Completion> {
    const KINDS: [&str; 25] = [
        "text",
        "method",
        "function",
        "constructor",
        "field",
        "variable",
        "class",
        "interface",
        "module",
        "property",
        "unit",
        "value",
        "enum",
        "keyword",
        "snippet",
        "color",
        "file",
        "reference",
        "folder",
        "enum member",
        "constant",
        "struct",
        "event",
        "operator",
        "type parameter",
    ];
    let mut value = value.clone();
    snippet::flatten_item(&mut value);
    let label = value["label"].as_str()?.to_owned();
    let kind = value["kind"].as_u64().and_then(|kind| KINDS.get((kind as usize).checked_sub(1)?).copied());
    let typed = value["textEdit"]["newText"].as_str().or(value["insertText"].as_str());
    let detail = value["detail"].as_str().or(value["labelDetails"]["description"].as_str());
    Some(Completion {
        kind,
        detail: detail.filter(|detail| !detail.is_empty()).map(str::to_owned),
        documentation: markup(&value["documentation"]).filter(|text| !text.trim().is_empty()),
        insert: typed.filter(|typed| *typed != label).map(str::to_owned),
        deprecated: value["deprecated"] == true || elements(&value["tags"]).any(|tag| tag == 1),
        label,
    })
}
