//! The trust prompt at the terminal, shown once when a project wants to run programs.
//!
//! The prompt follows an answer that lacked something without trust, which is detected by the
//! mention of `lsp-tools trust`. "Yes" has the same effect as `lsp-tools trust --yes` for the shown
//! content, and runs the command again. "No" is stored with a hash of the content, so that the
//! prompt returns only for other content; "never" is stored for the project.

use std::io::{self, IsTerminal};
use std::path::Path;

use super::approval::prompt_line;
use super::args::{Cli, CliCommand, CliOutputFormat};
use super::commands;
use super::console::Console;
use super::render::terminal::escape;
use super::reply::Reply;
use crate::analysis::error::ToolError;
use crate::runtime::Runtime;
use crate::tools::language::trust::{TrustItem, TrustOutput, TrustRequest};

/// The command named in answers that lack something without trust.
const COMMAND: &str = "lsp-tools trust";
/// The limit on items in the one-line prompt.
const MAX_TRUST_QUESTION_ITEMS: usize = 6;
/// The length limit of the prompt, in characters.
const MAX_TRUST_QUESTION_CHARS: usize = 400;

/// The user's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrustQuestionAnswer {
    Yes,
    No,
    Never,
}

/// Returns true if the prompt should follow `reply`: the answer lacks something without trust, the
/// command can be repeated, and a user reads the terminal.
pub(super) fn is_due(cli: &Cli, cwd: &Path, console: &Console, reply: &Reply) -> bool {
    let changes = matches!(cli.command, CliCommand::Edits(_));
    commands::question_subject(&cli.command, cwd).is_some()
        && !changes
        && cli.global.format == CliOutputFormat::Text
        && reply.lines.iter().any(|line| line.contains(COMMAND))
        && console.err.terminal
        && io::stdin().is_terminal()
        && !is_automated(std::env::var_os("CI").as_deref())
}

/// Returns true if the variable set by CI systems indicates that no user is present.
fn is_automated(variable: Option<&std::ffi::OsStr>) -> bool {
    variable.is_some_and(|value| !value.is_empty() && value != "false" && value != "0")
}

/// Prompts at the terminal. Returns true if the project is now trusted. Errors are only logged,
/// since the reply is complete without trust.
pub(super) async fn ask_for_trust(runtime: &Runtime) -> bool {
    match ask_with_prompt(runtime, prompt_line).await {
        Ok(trusted) => trusted,
        Err(error) => {
            tracing::warn!("trust was not asked for: {}", error.error);
            false
        }
    }
}

async fn ask_with_prompt(
    runtime: &Runtime,
    put: impl FnOnce(&str) -> io::Result<String> + Send + 'static,
) -> Result<bool, ToolError> {
    let shown = runtime.trust(TrustRequest::Show).await?;
    if shown.trusted || shown.items.is_empty() || shown.declined {
        return Ok(false);
    }
    // Content that does not fit in one line cannot be approved by a single letter; the answer names
    // the command that shows it.
    let Some(question) = question(&shown) else { return Ok(false) };
    let answer = match tokio::task::spawn_blocking(move || put(&question)).await {
        Ok(Ok(line)) => parse_answer(&line),
        // Ctrl-D, or a closed terminal, does not count as "no".
        Ok(Err(error)) => {
            tracing::debug!("nobody answered: {error}");
            return Ok(false);
        }
        Err(error) => {
            tracing::warn!("the question failed: {error}");
            return Ok(false);
        }
    };
    let request = match answer {
        TrustQuestionAnswer::Yes => TrustRequest::Grant { fingerprint: shown.fingerprint },
        TrustQuestionAnswer::No => TrustRequest::Decline { fingerprint: Some(shown.fingerprint) },
        TrustQuestionAnswer::Never => TrustRequest::Decline { fingerprint: None },
    };
    Ok(runtime.trust(request).await?.trusted)
}

/// Returns the prompt if it fits in one line. It names everything that would run, with unsafe
/// characters escaped.
fn question(shown: &TrustOutput) -> Option<String> {
    if shown.items.len() > MAX_TRUST_QUESTION_ITEMS {
        return None;
    }
    let items: Vec<String> = shown.items.iter().map(item).collect();
    let changed = if shown.changed.is_empty() { "" } else { " (changed since it was trusted)" };
    let text = format!("This project wants to run{changed}: {}. Trust it? [y/N/never] ", items.join(", "));
    (text.chars().count() <= MAX_TRUST_QUESTION_CHARS).then_some(text)
}

/// Formats a program by its name, and any other item with its value.
fn item(item: &TrustItem) -> String {
    let is_hash = item.value.len() == 64 && item.value.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = escape::line(&item.name);
    if is_hash { name.into_owned() } else { format!("{name} ({})", escape::line(&item.value)) }
}

/// Parses the answer. Everything except a clear approval is a refusal.
fn parse_answer(line: &str) -> TrustQuestionAnswer {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => TrustQuestionAnswer::Yes,
        "never" => TrustQuestionAnswer::Never,
        _ => TrustQuestionAnswer::No,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::config::Folders;
    use crate::runtime::RuntimeOptions;

    /// Opens a runtime on a project with its own server.
    fn project(folder: &Path, command: &str) -> Runtime {
        let root = folder.join("project");
        fs::create_dir_all(root.join(".lsp-tools")).unwrap();
        let table = format!("[server.pylsp]\ncommand = [\"{command}\"]\n");
        fs::write(root.join(".lsp-tools/servers.toml"), table).unwrap();
        fs::write(root.join("a.py"), "pass\n").unwrap();
        let place = |name: &str| folder.join(name);
        let folders = Folders {
            config: place("config"),
            data: place("data"),
            state: place("state"),
            cache: place("cache"),
            home: None,
        };
        let options = RuntimeOptions { workspace: Some(root.clone()), cwd: root, ..Default::default() };
        Runtime::open_with(options, folders).unwrap()
    }

    /// Returns the trust after that answer, and the number of prompts.
    async fn answered(runtime: &Runtime, line: &'static str) -> (bool, usize) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let trusted = ask_with_prompt(runtime, move |question| {
            assert!(question.starts_with("This project wants to run"), "{question}");
            assert!(question.contains("own-server") && !question.contains('\n'), "{question}");
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(line.to_owned())
        });
        (trusted.await.unwrap(), asked.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn declined_trust_question_is_repeated_only_for_changed_project() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = project(folder.path(), "own-server");
        assert_eq!(answered(&runtime, "\n").await, (false, 1));
        assert_eq!(answered(&runtime, "y\n").await, (false, 0), "it is not asked again");
        let other = project(folder.path(), "own-server-2");
        assert_eq!(answered(&other, "n\n").await, (false, 1));
        let shown = other.trust(TrustRequest::Show).await.unwrap();
        assert!(shown.declined && !shown.trusted, "{shown:?}");
        let granted = other.trust(TrustRequest::Grant { fingerprint: shown.fingerprint }).await.unwrap();
        assert!(granted.trusted && !granted.declined, "trust can still be given: {granted:?}");
    }

    #[tokio::test]
    async fn accepted_trust_question_trusts_only_what_was_shown() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = project(folder.path(), "own-server");
        assert_eq!(answered(&runtime, "y\n").await, (true, 1));
        assert_eq!(answered(&runtime, "y\n").await, (false, 0), "there is nothing left to ask for");
        let other = project(folder.path(), "own-server-2");
        assert!(!other.trust(TrustRequest::Show).await.unwrap().trusted);
    }

    #[tokio::test]
    async fn trust_question_answered_never_is_not_repeated_after_changes() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(answered(&project(folder.path(), "own-server"), "never\n").await, (false, 1));
        assert_eq!(answered(&project(folder.path(), "own-server-2"), "y\n").await, (false, 0));
    }

    fn output(items: &[(&str, &str)]) -> TrustOutput {
        let items =
            items.iter().map(|(name, value)| TrustItem { name: (*name).into(), value: (*value).into() });
        TrustOutput {
            ok: true,
            workspace: "/w".into(),
            items: items.collect(),
            trusted: false,
            changed: Vec::new(),
            revoked: false,
            declined: false,
            fingerprint: "f".into(),
        }
    }

    #[test]
    fn trust_question_names_every_program_or_is_not_asked() {
        let hash = "0".repeat(64);
        let shown = output(&[("the program `.venv/bin/python`", &hash), ("the server x", "runs\x1b[2Kcode")]);
        assert_eq!(
            question(&shown).as_deref(),
            Some(
                "This project wants to run: the program `.venv/bin/python`, the server x (runs\\u{1b}[2Kcode). \
                 Trust it? [y/N/never] "
            )
        );
        assert_eq!(question(&output(&[("x", "y"); 7])), None);
        assert_eq!(question(&output(&[("x", &"y".repeat(500))])), None);
    }

    #[test]
    fn trust_answer_is_parsed_and_automated_terminal_detected() {
        for (line, expected) in [
            ("y\n", TrustQuestionAnswer::Yes),
            (" YES \n", TrustQuestionAnswer::Yes),
            ("never\n", TrustQuestionAnswer::Never),
            ("\n", TrustQuestionAnswer::No),
            ("yep\n", TrustQuestionAnswer::No),
            ("n\n", TrustQuestionAnswer::No),
        ] {
            assert_eq!(parse_answer(line), expected, "{line:?}");
        }
        for (value, expected) in
            [(None, false), (Some("true"), true), (Some("1"), true), (Some("false"), false)]
        {
            assert_eq!(is_automated(value.map(std::ffi::OsStr::new)), expected, "{value:?}");
        }
    }
}
