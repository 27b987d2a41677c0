//! The run of `hook`, which never blocks the host.
//!
//! A host waits for its hooks, and some interpret certain exit statuses as a veto. So this command
//! ends within its time limit, with status 0. After an edit it prints at least one line, since
//! silence would mean that nothing is broken. At a search it may print nothing.

use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::args::ParsedCommandLine;
use super::args::doors::HookCommandArgs;
use super::console::Console;
use super::exit::CliExitStatus;
use super::input::PipedInput;
use super::render::host_hook::remark;
use super::reply::Reply;
use crate::analysis::error::ToolError;
use crate::bridges::host_hook::HostHookEvent;

/// The variable that disables all hooks.
const SWITCH: &str = "LSP_TOOLS_HOOKS";
/// The extra time for the answer beyond the time limit of the search for it.
const HOOK_REPLY_GRACE_PERIOD: Duration = Duration::from_millis(300);

/// Returns true if `words`, the program's name first, name this command, even if they are invalid
/// otherwise.
pub(super) fn is_typed(words: impl IntoIterator<Item = OsString>) -> bool {
    words.into_iter().nth(1).is_some_and(|word| word == "hook")
}

/// Answers a hook with the result of `reply` for the command and its input.
pub(super) fn run(
    hook: HookCommandArgs,
    parsed: ParsedCommandLine,
    console: &Console,
    reply: impl FnOnce(ParsedCommandLine, &Console, Option<PipedInput>) -> Result<Reply, ToolError>,
) -> CliExitStatus {
    if is_switched_off() {
        return discard_input();
    }
    let limit = hook.time_limit(parsed.cli.global.timeout);
    let owed = OwedAnswer::default();
    end_in_time(limit + HOOK_REPLY_GRACE_PERIOD, owed.clone());
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let input = PipedInput::read();
        // Most events concern no symbol, and need no daemon.
        let PipedInput::Read(payload) = &input else { return None };
        let payload = String::from_utf8_lossy(payload);
        let event = HostHookEvent::read(hook.host.into(), hook.event.into(), &payload)?;
        if event.is_edit() {
            let late = format!("not checked yet: no answer within {} s", limit.as_secs_f32());
            *owed.0.lock() = Some(event.answer(&remark(&late)));
        }
        match reply(parsed, console, Some(input)) {
            Ok(reply) if reply.status == CliExitStatus::Answered => Some(reply.out),
            Ok(_) => None,
            Err(error) => {
                tracing::info!("a hook had no answer: {error}");
                event.is_edit().then(|| event.answer(&remark(&format!("not checked: {}", error.error))))
            }
        }
    }));
    let answer = answered.unwrap_or_else(|_| {
        tracing::error!("a hook ended in a fault");
        None
    });
    // Takes the late answer, so that it is printed only once.
    let late = owed.0.lock().take();
    if let Some(answer) = answer.filter(|answer| !answer.is_empty()).or(late) {
        // The host may no longer read.
        let _unread = console.print(&answer);
    }
    CliExitStatus::Answered
}

/// The answer to an edit that is printed when the time limit passes. The thread that takes it
/// prints it.
#[derive(Debug, Clone, Default)]
struct OwedAnswer(Arc<Mutex<Option<String>>>);

/// Reads and discards the host's input. A host whose write fails with a broken pipe would treat
/// that as an error.
pub(super) fn discard_input() -> CliExitStatus {
    end_in_time(HOOK_REPLY_GRACE_PERIOD, OwedAnswer::default());
    let _unused = PipedInput::read();
    CliExitStatus::Answered
}

fn is_switched_off() -> bool {
    let value = std::env::var(SWITCH).unwrap_or_default().to_ascii_lowercase();
    matches!(value.as_str(), "off" | "0" | "false" | "no")
}

/// Ends the process when the time limit passes, even if it waits for standard input, the daemon or
/// a disk.
fn end_in_time(limit: Duration, owed: OwedAnswer) {
    let late = move || {
        std::thread::sleep(limit);
        if let Some(answer) = owed.0.lock().take() {
            // The host may no longer read.
            let _unread = writeln!(std::io::stdout(), "{answer}");
        }
        std::process::exit(0);
    };
    // If no thread can be started, the host's own time limit applies.
    let _unwatched = std::thread::Builder::new().name("hook-limit".to_owned()).spawn(late);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_is_recognised_by_its_first_word_alone() {
        let typed = |words: &[&str]| is_typed(words.iter().map(OsString::from));
        assert!(typed(&["lsp-tools", "hook", "nonsense"]) && typed(&["lsp-tools", "hook"]));
        assert!(!typed(&["lsp-tools", "grep", "hook"]) && !typed(&["lsp-tools"]));
    }
}
