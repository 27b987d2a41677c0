//! The run of `hook`: whatever happens, the host goes on.
//!
//! A host waits for its hooks, and some take certain exit statuses for a veto. So this command ends in time, with status 0. After an
//! edit it prints one line at least: silence would read as "nothing is broken". At a search it may have nothing to say.

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
use crate::bridges::host_hook::HostHookEvent;
use crate::tools::error::ToolError;

/// The variable that switches all hooks off.
const SWITCH: &str = "LSP_TOOLS_HOOKS";
/// What the answer may take beyond the time in which it is looked for.
const HOOK_REPLY_GRACE_PERIOD: Duration = Duration::from_millis(300);

/// Whether `words`, the program's name first, are meant as this command, even if they are none.
pub(super) fn is_typed(words: impl IntoIterator<Item = OsString>) -> bool {
    words.into_iter().nth(1).is_some_and(|word| word == "hook")
}

/// Answers a hook by what `reply` makes of the command and its input.
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
        // Most of what a host tells is about no symbol: no daemon is started for that.
        let PipedInput::Read(told) = &input else { return None };
        let told = String::from_utf8_lossy(told);
        let event = HostHookEvent::read(hook.host.into(), hook.event.into(), &told)?;
        if event.is_edit() {
            let late = format!("not judged yet: no answer within {} s", limit.as_secs_f32());
            *owed.0.lock() = Some(event.answer(&remark(&late)));
        }
        match reply(parsed, console, Some(input)) {
            Ok(reply) if reply.status == CliExitStatus::Answered => Some(reply.out),
            Ok(_) => None,
            Err(error) => {
                tracing::info!("a hook had no answer: {error}");
                event.is_edit().then(|| event.answer(&remark(&format!("not judged: {}", error.error))))
            }
        }
    }));
    let answer = answered.unwrap_or_else(|_| {
        tracing::error!("a hook ended in a fault");
        None
    });
    // The late answer is no longer owed.
    let late = owed.0.lock().take();
    if let Some(answer) = answer.filter(|answer| !answer.is_empty()).or(late) {
        // A host that no longer reads has gone on.
        let _unread = console.print(&answer);
    }
    CliExitStatus::Answered
}

/// The answer to an edit that is printed when the time is up. The thread that takes it prints it.
#[derive(Debug, Clone, Default)]
struct OwedAnswer(Arc<Mutex<Option<String>>>);

/// Reads what the host tells and does nothing with it: one that writes to a program which has ended takes the broken pipe for a fault.
pub(super) fn discard_input() -> CliExitStatus {
    end_in_time(HOOK_REPLY_GRACE_PERIOD, OwedAnswer::default());
    let _unused = PipedInput::read();
    CliExitStatus::Answered
}

fn is_switched_off() -> bool {
    let value = std::env::var(SWITCH).unwrap_or_default().to_ascii_lowercase();
    matches!(value.as_str(), "off" | "0" | "false" | "no")
}

/// Ends the process when the time is up, whatever it waits for: standard input, the daemon, a disk.
fn end_in_time(limit: Duration, owed: OwedAnswer) {
    let late = move || {
        std::thread::sleep(limit);
        if let Some(answer) = owed.0.lock().take() {
            // A host that no longer reads has gone on.
            let _unread = writeln!(std::io::stdout(), "{answer}");
        }
        std::process::exit(0);
    };
    // Without a thread to spare the host's own time limit holds.
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
