//! Diagnostics of tsserver, by its own synchronous requests. typescript-language-server and vtsls
//! push without version, but forward these requests, whose answers are for the text they have.

use std::path::Path;

use lsp_types::request::ExecuteCommand;
use lsp_types::{ExecuteCommandParams, WorkDoneProgressParams};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::findings::{BackgroundFindings, DiagnosticsCompleteness, ServerFileDiagnostics};
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::model::{Diagnostic, Severity};
use crate::lsp::session::ask::{AskError, SessionAnswer};
use crate::lsp::session::live_session::Session;
use crate::lsp::session::request::{DependencyScope, DocumentRequest};
use crate::rpc::RequestError;
use crate::text::{Buffer, EncodedPosition, Encoding, Range};
use crate::workspace::WorkspacePath;

pub(super) const COMMAND: &str = "typescript.tsserverRequest";
/// The number of retries after a refusal.
const MAX_TSSERVER_REFUSAL_RETRIES: u32 = 2;
/// The requests for the errors in a configuration file, and for those of a project that are in no
/// file, such as missing packages of `types`; each with the member that has the message.
const CONFIGURATION_REQUESTS: [(&str, &str); 2] =
    [("semanticDiagnosticsSync", "text"), ("compilerOptionsDiagnostics-full", "message")];
const REQUESTS: [&str; 3] =
    ["syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"];

impl Session {
    /// Returns tsserver's findings in `path`: syntactic, semantic, and suggestions.
    pub(super) async fn tsserver_diagnostics(
        &self,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<ServerFileDiagnostics, AskError> {
        let file = self.workspace.absolute(path);
        let mut refused = 0;
        'again: loop {
            let mut items = Vec::new();
            let mut text: Option<(i32, Buffer)> = None;
            let mut working = None;
            for request in REQUESTS {
                let arguments = json!({ "file": file, "includeLinePosition": false });
                let answer = self.ask_tsserver(path, request, &arguments, deadline).await;
                let answer: SessionAnswer<Value> = match answer {
                    // While tsserver moves a file to another project, it knows no project for it.
                    Err(AskError::Request(RequestError::Refused { .. }))
                        if refused < MAX_TSSERVER_REFUSAL_RETRIES =>
                    {
                        refused += 1;
                        continue 'again;
                    }
                    answer => answer?,
                };
                if text.as_ref().is_some_and(|(version, _)| *version != answer.snapshot.version) {
                    continue 'again;
                }
                let Some(found) = answer.value["body"].as_array() else {
                    return Ok(self.no_tsserver_answer(request, &answer));
                };
                items.extend(
                    found.iter().filter_map(|item| self.tsserver_item(item, &answer.snapshot.buffer)),
                );
                text = Some((answer.snapshot.version, answer.snapshot.buffer));
                working = working.or(answer.unfinished_work);
            }
            let known = match working {
                Some(work) => DiagnosticsCompleteness::Partial(work.sentence(self.server())),
                None => match self.refused_configuration(path, &file, deadline).await? {
                    Some(reason) => DiagnosticsCompleteness::Partial(reason),
                    None => DiagnosticsCompleteness::Complete,
                },
            };
            let text = text.map(|(_, text)| text).unwrap_or_default();
            let background = BackgroundFindings::None;
            return Ok(ServerFileDiagnostics { items, known, text, notes: Vec::new(), background });
        }
    }

    /// Sends tsserver one of its own requests and returns its response.
    async fn ask_tsserver(
        &self,
        path: &WorkspacePath,
        request: &str,
        arguments: &Value,
        deadline: Instant,
    ) -> Result<SessionAnswer<Value>, AskError> {
        let params = |_: &Snapshot, _| {
            Some(ExecuteCommandParams {
                command: COMMAND.to_owned(),
                arguments: vec![request.into(), arguments.clone()],
                work_done_progress_params: WorkDoneProgressParams::default(),
            })
        };
        let command = DocumentRequest::new::<ExecuteCommand>(DependencyScope::File, params);
        self.ask(path, &command, deadline).await
    }

    /// Returns the first error in the configuration file of `file`, or of its whole project, for
    /// which `tsc` would fail.
    async fn refused_configuration(
        &self,
        path: &WorkspacePath,
        file: &Path,
        deadline: Instant,
    ) -> Result<Option<String>, AskError> {
        let arguments = json!({ "file": file, "needFileNameList": false });
        let project = self.ask_tsserver(path, "projectInfo", &arguments, deadline).await?.value;
        // A project without a configuration file has a made-up name.
        let Some(config) = project["body"]["configFileName"].as_str().filter(|name| name.ends_with(".json"))
        else {
            return Ok(None);
        };
        let arguments = json!({ "file": config, "projectFileName": config, "includeLinePosition": false });
        for (request, message) in CONFIGURATION_REQUESTS {
            let found = self.ask_tsserver(path, request, &arguments, deadline).await?.value;
            let mut errors = found["body"].as_array().into_iter().flatten();
            let error = errors.find(|item| item["category"] == "error");
            // The lines after the first say why a file belongs to the project.
            let Some(error) = error.and_then(|item| item[message].as_str()?.lines().next()) else { continue };
            let name = self.workspace.workspace_path(Path::new(config));
            let name = name.map_or_else(|| config.to_owned(), |name| name.display());
            let refused = "does not accept the project's configuration";
            return Ok(Some(format!("{} {refused}: {name}: {error}", self.server())));
        }
        Ok(None)
    }

    fn no_tsserver_answer(&self, request: &str, answer: &SessionAnswer<Value>) -> ServerFileDiagnostics {
        let message = answer.value["message"].as_str().unwrap_or("no reason given");
        let known =
            DiagnosticsCompleteness::NoData(format!("{} did not answer {request}: {message}", self.server()));
        ServerFileDiagnostics {
            items: Vec::new(),
            known,
            text: answer.snapshot.buffer.clone(),
            notes: Vec::new(),
            background: BackgroundFindings::None,
        }
    }

    /// Converts one item of tsserver's own protocol: 1-based lines and offsets in UTF-16 code
    /// units.
    fn tsserver_item(&self, item: &Value, buffer: &Buffer) -> Option<Diagnostic> {
        let position = |end: &str| {
            let (line, offset) = (item[end]["line"].as_u64()?, item[end]["offset"].as_u64()?);
            let line = u32::try_from(line.checked_sub(1)?).ok()?;
            let unit = u32::try_from(offset.checked_sub(1)?).ok()?;
            Some(buffer.decode(EncodedPosition { line, unit, encoding: Encoding::Utf16 }))
        };
        let severity = match item["category"].as_str() {
            Some("error") => Severity::Error,
            Some("warning") => Severity::Warning,
            Some("suggestion") => Severity::Hint,
            _ => Severity::Information,
        };
        Some(Diagnostic {
            range: Range::new(position("start")?, position("end")?),
            severity,
            code: item["code"].as_u64().map(|code| code.to_string()),
            source: Some(item["source"].as_str().unwrap_or("typescript").to_owned()),
            message: item["text"].as_str()?.to_owned(),
            server: self.server().to_owned(),
            unnecessary: item["reportsUnnecessary"].is_object() || item["reportsUnnecessary"] == true,
            deprecated: item["reportsDeprecated"].is_object() || item["reportsDeprecated"] == true,
            related: Vec::new(),
            cell: None,
        })
    }
}
