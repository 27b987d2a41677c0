//! LSP 3.17 *Execute a command*: our own tools, and the commands offered by servers.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::Instant;
use tower_lsp::jsonrpc::Error;

use super::ask::resolve_ticket;
use super::client::MESSAGE_TYPE_WARNING;
use super::context::{EditorContext, Inquiry, deadline};
use super::errors::to_rpc_error;
use super::merge_answers::adapt_edit_to_client;
use super::ticket::{RUN, Ticket};
use crate::lsp::relay::ServerCommandResult;
use crate::lsp::session::live_session::Session;
use crate::policy::approval::{Approval, ApprovalRequest, Approver};
use crate::runtime::calls::call::CallRequest;
use crate::tools::api::hidden::approval_text;

/// The command that calls one of our tools. Its single argument is `{name, arguments}`, its result
/// the tool's own answer.
pub(super) const CALL: &str = "lsp-tools.call";
const METHOD: &str = "workspace/executeCommand";

/// The time limit for the editor to apply an edit.
const APPLY_EDIT_TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit for the user's answer.
const EDITOR_APPROVAL_TIMEOUT: Duration = Duration::from_secs(600);

/// Executes a command for the editor.
pub(super) async fn execute(
    context: &Arc<EditorContext>,
    inquiry: &Inquiry,
    params: &Value,
) -> Result<Value, Error> {
    let arguments = &params["arguments"];
    match params["command"].as_str() {
        Some(CALL) => call(context, arguments).await,
        Some(RUN) => {
            let unwrapped = Ticket::unwrap_command(arguments);
            let (ticket, command, arguments) = unwrapped.ok_or_else(|| {
                Error::invalid_params(format!("{RUN} takes only the arguments that lsp-tools generated"))
            })?;
            let (_, session, _) = resolve_ticket(inquiry, &ticket, METHOD).await?;
            run(context, inquiry, &session, &command, &arguments).await
        }
        Some(command) => {
            let running = inquiry.context.manager.sessions_for(&inquiry.context.view);
            match running.into_iter().find(|session| session.runs_command(command)) {
                Some(session) => run(context, inquiry, &session, command, arguments).await,
                None => Err(Error::invalid_params(format!("no server here runs the command `{command}`"))),
            }
        }
        None => Err(Error::invalid_params("`command` is missing")),
    }
}

/// Executes a server's command, and lets the editor apply the resulting edits.
async fn run(
    context: &EditorContext,
    inquiry: &Inquiry,
    session: &Session,
    command: &str,
    arguments: &Value,
) -> Result<Value, Error> {
    let deadline = deadline(&inquiry.context, METHOD);
    let executed = async {
        let _view_guard = session.enter_view(&inquiry.context.view, deadline).await?;
        session.relay_command(&inquiry.conventions, command, arguments, deadline).await
    };
    let ServerCommandResult { value, edits } = executed.await.map_err(|error| to_rpc_error(&error))?;
    for mut edit in edits {
        adapt_edit_to_client(context, &mut edit);
        let params = json!({ "label": command, "edit": edit });
        let applied =
            context.editor.request("workspace/applyEdit", params, Instant::now() + APPLY_EDIT_TIMEOUT).await;
        if let Err(error) = applied {
            return Err(Error { message: error.to_string().into(), ..Error::internal_error() });
        }
    }
    Ok(value)
}

/// Calls one of our tools under the usual rules.
async fn call(context: &Arc<EditorContext>, arguments: &Value) -> Result<Value, Error> {
    let call = &arguments[0];
    let Some(name) = call["name"].as_str() else {
        let expected = format!("{CALL} takes one argument: {{\"name\": TOOL, \"arguments\": {{…}}}}");
        return Err(Error::invalid_params(expected));
    };
    let runtime = context.runtime();
    let approver = EditorApprover(context.clone());
    let request = CallRequest::new(name, call["arguments"].clone(), &context.caller)
        .approved_by(&approver)
        .with_cancellation(context.disconnected.child_token());
    let result = runtime.call(request).await;
    context.changed.notify_one();
    Ok(result.value)
}

/// Requests approval from the editor's user (LSP 3.17, *ShowMessage Request*).
struct EditorApprover(Arc<EditorContext>);

const ONCE: &str = "Allow once";
const SESSION: &str = "Allow until the editor closes";
const REFUSE: &str = "Refuse";

impl Approver for EditorApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            let touched = [&request.commands, &request.paths, &request.urls];
            let touched: Vec<_> = touched.into_iter().flatten().map(|one| approval_text(one)).collect();
            let (title, reason) = (approval_text(&request.title), approval_text(&request.why));
            let message = format!("{title}: {} ({reason})", touched.join(", "));
            let actions = [ONCE, SESSION, REFUSE].map(|title| json!({ "title": title }));
            let params = json!({ "type": MESSAGE_TYPE_WARNING, "message": message, "actions": actions });
            let deadline = Instant::now() + EDITOR_APPROVAL_TIMEOUT;
            match self.0.editor.request("window/showMessageRequest", params, deadline).await {
                Ok(chosen) if chosen["title"] == ONCE => Approval::Once,
                Ok(chosen) if chosen["title"] == SESSION => Approval::ForSession,
                Ok(_) => Approval::Refused { why: None },
                Err(_) => Approval::Nobody,
            }
        })
    }
}
