//! The server on tower-lsp: typed, ordered, and correct in everything that the library handles.

use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types::notification::{self, Notification};
use tower_lsp::lsp_types::*;
use tower_lsp::{Client, LanguageServer, LspService, Server, lsp_types::request::WorkDoneProgressCreate};

use crate::brain::{Brain, Outgoing, Planned, Step};
use crate::frames;

struct Behaving {
    client: Client,
    brain: Arc<Brain>,
}

enum ServerStatus {}

impl Notification for ServerStatus {
    type Params = Value;
    const METHOD: &'static str = "experimental/serverStatus";
}

/// Serves until `exit` or the end of stdin.
pub fn serve(brain: Arc<Brain>) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let shut_down = Arc::new(AtomicBool::new(false));
    let (input, feed) = tokio::io::duplex(1 << 20);
    let (handle, journal) = (runtime.handle().clone(), Arc::clone(&brain));
    let noticed = Arc::clone(&shut_down);
    thread::spawn(move || read_stdin(&journal, feed, &handle, &noticed));
    let for_service = Arc::clone(&brain);
    let (service, socket) = LspService::build(|client| Behaving { client, brain: for_service }).finish();
    runtime.block_on(Server::new(input, tokio::io::stdout(), socket).concurrency_level(1).serve(service));
    crate::endings::exit(i32::from(!shut_down.load(Ordering::SeqCst)), &brain.journal)
}

/// Passes frames on to tower-lsp, which would not return on `exit` while stdin stays open, and logs
/// them.
fn read_stdin(
    brain: &Brain,
    mut feed: DuplexStream,
    handle: &tokio::runtime::Handle,
    shut_down: &AtomicBool,
) {
    let mut input = BufReader::new(io::stdin().lock());
    loop {
        let message: Value =
            match frames::read(&mut input).map(|body| body.map(|body| serde_json::from_slice(&body))) {
                Ok(Some(Ok(message))) => message,
                Ok(None) => {
                    brain.journal.event("eof", json!({}));
                    return;
                }
                bad => {
                    brain.journal.violation(format!("not a message: {bad:?}"));
                    return;
                }
            };
        brain.journal.got(&message);
        shut_down.fetch_or(message["method"] == "shutdown", Ordering::SeqCst);
        let exits = message["method"] == "exit";
        if handle.block_on(feed.write_all(&frames::encode(&message, frames::Style::Good))).is_err() || exits {
            return;
        }
    }
}

impl Behaving {
    async fn answer<P: Serialize + Sync, R: DeserializeOwned>(&self, method: &str, params: &P) -> Result<R> {
        let params = serde_json::to_value(params).map_err(|_| Error::invalid_request())?;
        let Planned { delay, result } = self.brain.request(method, &params);
        tokio::time::sleep(delay).await;
        match result {
            Ok(result) => serde_json::from_value(result).map_err(|error| Error {
                message: format!("a behaving server cannot say that: {error}").into(),
                ..Error::internal_error()
            }),
            Err(error) => Err(Error {
                code: ErrorCode::from(error.code),
                message: error.message.into(),
                data: error.data,
            }),
        }
    }

    fn notified<P: Serialize>(&self, method: &str, params: &P) {
        let params = serde_json::to_value(params).unwrap_or_default();
        for chain in self.brain.notification(method, &params) {
            tokio::spawn(run(Arc::clone(&self.brain), self.client.clone(), chain));
        }
    }
}

async fn run(brain: Arc<Brain>, client: Client, chain: Vec<Step>) {
    for step in chain {
        if step.wait > Duration::ZERO {
            tokio::time::sleep(step.wait).await;
        }
        let Some(outgoing) = brain.perform(step.effect) else { continue };
        if let Err(problem) = send(&client, outgoing).await {
            brain.journal.event("unsent", json!({"problem": problem}));
        }
    }
}

/// Sends through tower-lsp's own types; returns an error for content that these types cannot
/// express.
async fn send(client: &Client, outgoing: Outgoing) -> std::result::Result<(), String> {
    let wrong = |error: serde_json::Error| error.to_string();
    match outgoing {
        Outgoing::Notify("textDocument/publishDiagnostics", params) => {
            let params = serde_json::from_value(params).map_err(wrong)?;
            client.send_notification::<notification::PublishDiagnostics>(params).await;
        }
        Outgoing::Notify("$/progress", params) => {
            let params = serde_json::from_value(params).map_err(wrong)?;
            client.send_notification::<notification::Progress>(params).await;
        }
        Outgoing::Notify("experimental/serverStatus", params) => {
            client.send_notification::<ServerStatus>(params).await;
        }
        Outgoing::Request("window/workDoneProgress/create", params) => {
            let params = serde_json::from_value(params).map_err(wrong)?;
            client.send_request::<WorkDoneProgressCreate>(params).await.map_err(|error| error.to_string())?;
        }
        Outgoing::Request("client/registerCapability", params) => {
            let params: RegistrationParams = serde_json::from_value(params).map_err(wrong)?;
            client.register_capability(params.registrations).await.map_err(|error| error.to_string())?;
        }
        Outgoing::Notify(method, _) | Outgoing::Request(method, _) => {
            return Err(format!("no type for {method}"));
        }
        Outgoing::NotifyNamed(method, _) => return Err(format!("no type for {method}")),
    }
    Ok(())
}

#[tower_lsp::async_trait]
impl LanguageServer for Behaving {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let params = serde_json::to_value(params).map_err(|_| Error::invalid_request())?;
        serde_json::from_value(self.brain.initialize(&params)).map_err(|_| Error::internal_error())
    }

    async fn initialized(&self, params: InitializedParams) {
        self.notified("initialized", &params);
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.notified("textDocument/didOpen", &params);
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.notified("textDocument/didChange", &params);
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.notified("textDocument/didSave", &params);
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.notified("textDocument/didClose", &params);
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        self.answer("textDocument/hover", &params).await
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        self.answer("textDocument/definition", &params).await
    }

    async fn goto_type_definition(
        &self,
        params: request::GotoTypeDefinitionParams,
    ) -> Result<Option<request::GotoTypeDefinitionResponse>> {
        self.answer("textDocument/typeDefinition", &params).await
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        self.answer("textDocument/references", &params).await
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        self.answer("textDocument/documentSymbol", &params).await
    }

    async fn symbol(&self, params: WorkspaceSymbolParams) -> Result<Option<Vec<SymbolInformation>>> {
        self.answer("workspace/symbol", &params).await
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        self.answer("textDocument/completion", &params).await
    }

    async fn signature_help(&self, params: SignatureHelpParams) -> Result<Option<SignatureHelp>> {
        self.answer("textDocument/signatureHelp", &params).await
    }

    async fn diagnostic(&self, params: DocumentDiagnosticParams) -> Result<DocumentDiagnosticReportResult> {
        self.answer("textDocument/diagnostic", &params).await
    }
}
