//! The approver at the terminal: permission for calls, and forms of mounted servers.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};

use futures::future::BoxFuture;
use tokio::sync::Mutex;

use super::form;
use super::render::terminal::escape;
use crate::policy::approval::{Approval, ApprovalRequest, Approver, FormAnswer, FormRequest};

/// The device for prompts, so that they are not mixed with piped input and output.
const TERMINAL: &str = "/dev/tty";

/// Prompts the user at the terminal.
#[derive(Debug, Default)]
pub(crate) struct TerminalApprover {
    /// Serializes prompts.
    asking: Mutex<()>,
}

impl TerminalApprover {
    /// Returns the approver if stdin and stderr are terminals; otherwise a user may not be present.
    pub(crate) fn find() -> Option<Self> {
        (io::stdin().is_terminal() && io::stderr().is_terminal()).then(Self::default)
    }
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async {
            let _alone = self.asking.lock().await;
            let question = question(request);
            let answered = tokio::task::spawn_blocking(move || prompt_line(&question)).await;
            match answered {
                Ok(Ok(line)) => parse_answer(&line),
                Ok(Err(error)) => {
                    tracing::warn!("no user can be asked at {TERMINAL}: {error}");
                    Approval::Nobody
                }
                Err(error) => {
                    tracing::warn!("asking at {TERMINAL} failed: {error}");
                    Approval::Nobody
                }
            }
        })
    }

    fn fill_form<'a>(&'a self, form: &'a FormRequest) -> BoxFuture<'a, FormAnswer> {
        Box::pin(async {
            let _alone = self.asking.lock().await;
            let form = form.clone();
            let filled = tokio::task::spawn_blocking(move || form::fill_form(&form, prompt_line)).await;
            match filled {
                Ok(Ok(answer)) => answer,
                Ok(Err(error)) => {
                    tracing::warn!("no user can be asked at {TERMINAL}: {error}");
                    FormAnswer::Nobody
                }
                Err(error) => {
                    tracing::warn!("asking at {TERMINAL} failed: {error}");
                    FormAnswer::Nobody
                }
            }
        })
    }
}

/// Shows `question` at the terminal and returns the typed line.
pub(super) fn prompt_line(question: &str) -> io::Result<String> {
    let mut terminal = OpenOptions::new().read(true).write(true).open(TERMINAL)?;
    terminal.write_all(question.as_bytes())?;
    terminal.flush()?;
    let mut line = String::new();
    match BufReader::new(terminal).read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line),
    }
}

/// Formats the prompt: everything that the call would touch, one line each, with unsafe characters
/// escaped.
fn question(request: &ApprovalRequest) -> String {
    let mut text = format!("\n{} ({})\n", escape::line(&request.title), escape::line(&request.why));
    for (what, list) in
        [("run", &request.commands), ("fetch", &request.urls), (request.effect.as_str(), &request.paths)]
    {
        for item in list {
            text.push_str(&format!("  {what}: {}\n", escape::line(item)));
        }
    }
    if request.commands.is_empty() && request.urls.is_empty() && request.paths.is_empty() {
        text.push_str(&format!("  {}\n", escape::line(&request.arguments.to_string())));
    }
    text.push_str("Allow this? [y]es, for this [s]ession, [N]o: ");
    text
}

/// Parses the answer. Everything except a clear approval is a refusal.
fn parse_answer(line: &str) -> Approval {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Approval::Once,
        "s" | "session" => Approval::ForSession,
        _ => Approval::Refused { why: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::request::Effect;
    use serde_json::json;

    fn request(command: &str) -> ApprovalRequest {
        ApprovalRequest {
            tool: "bash".into(),
            title: "Shell command".into(),
            effect: Effect::Execute,
            why: "bash runs a program".into(),
            paths: Vec::new(),
            commands: if command.is_empty() { Vec::new() } else { vec![command.into()] },
            urls: Vec::new(),
            arguments: json!({"objective": "a\u{1b}[2K"}),
        }
    }

    #[test]
    fn approval_question_escapes_control_and_bidi_characters() {
        let text = question(&request("ls\r\u{1b}[2Krm -rf .\u{202e}\n[y]es"));
        assert_eq!(
            text,
            "\nShell command (bash runs a program)\n  run: ls\\r\\u{1b}[2Krm -rf .\\u{202e}\\n[y]es\n\
             Allow this? [y]es, for this [s]ession, [N]o: "
        );
        assert!(question(&request("")).contains("{\"objective\":\"a\\u001b[2K\"}"));
    }

    #[test]
    fn approval_answer_other_than_yes_or_session_is_refused() {
        for (line, expected) in [
            ("y\n", Approval::Once),
            (" YES \n", Approval::Once),
            ("s\n", Approval::ForSession),
            ("\n", Approval::Refused { why: None }),
            ("yep\n", Approval::Refused { why: None }),
            ("n\n", Approval::Refused { why: None }),
        ] {
            assert_eq!(parse_answer(line), expected, "{line:?}");
        }
    }
}
