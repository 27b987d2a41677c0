//! The run of the program, from the command line to the exit status.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use tokio::sync::mpsc::unbounded_channel;

use super::args::tools::ToolsCommand;
use super::args::{Cli, CliCommand, GlobalArgs, ParsedCommandLine};
use super::commands::{self, CliContext, Reply};
use super::console::Console;
use super::doors::{self, DoorStartContext};
use super::exit::CliExitStatus;
use super::host_hook;
use super::input::PipedInput;
use super::logging::{self, TracingLog};
use super::panics;
use super::paths::PathSpelling;
use super::progress::ProgressLine;
use super::remote;
use super::remote::client::RemoteCommandOutcome;
use super::render::terminal::escape;
use super::render::verdict;
use super::signals::Signals;
use super::trust_question::{ask_for_trust, is_due};
use crate::analysis::ask::retry_advice::RetryAdvice;
use crate::analysis::error::{ErrorCode, MORE_THREADS, NO_THREADS, ToolError, from_panic_text, panic_text};
use crate::bridges;
use crate::bridges::daemon::preamble::Preamble;
use crate::config::Folders;
use crate::lsp::servers::install_advice::SpokenLanguage;
#[cfg(supervised)]
use crate::process::{SUPERVISE, sandbox_arguments, sandbox_entry, supervisor};
use crate::runtime::{Runtime, RuntimeOptions};
use crate::workspace::spare_threads;

/// The time for servers to exit. Their supervisors end the remaining ones.
const CLI_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// The time for tokio's threads to end. A thread that still reads a terminal does not delay the
/// exit.
const TOKIO_SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(100);

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    // Before any other setup: every server and command has a supervisor, so its startup cost counts
    // each time.
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        #[cfg(supervised)]
        Some(first) if first == SUPERVISE => std::process::exit(supervisor::run(args)),
        #[cfg(supervised)]
        Some(first) if first == sandbox_arguments::ENTER => {
            std::process::exit(sandbox_entry::enter_sandbox(args))
        }
        _ => run_command(),
    }
}

/// Prints help or the error of the command line, with its words escaped, since they may come from
/// any source.
fn print_parse_error(error: &clap::Error) {
    let escaped = std::env::args_os().map(|word| escape::line(&word.to_string_lossy()).into_owned().into());
    let escaped = Cli::parse_words(escaped).err();
    // A failure to write help is ignored.
    let _ = escaped.as_ref().unwrap_or(error).print();
}

fn run_command() -> ExitCode {
    let parsed = match Cli::parse_words(std::env::args_os()) {
        Ok(mut parsed) => {
            parsed.take_index_of_commit(std::env::var_os("GIT_INDEX_FILE").map(PathBuf::from));
            parsed
        }
        Err(error) => {
            let is_hook = host_hook::is_typed(std::env::args_os());
            print_parse_error(&error);
            return match error.use_stderr() {
                true if is_hook => host_hook::discard_input(),
                true => CliExitStatus::Usage,
                false => CliExitStatus::Answered,
            }
            .into();
        }
    };
    let console = Console::open(parsed.cli.global.color);
    panics::install(console.err);
    // The panic hook has reported it, and the remaining state is not used again.
    let status = catch_unwind(AssertUnwindSafe(|| start(parsed, &console))).unwrap_or_else(|panic| {
        if let Some(error) = from_panic_text(&panic_text(panic.as_ref())) {
            console.print_error_lines(&verdict::error(&error, &console.err));
        }
        CliExitStatus::Failed
    });
    status.into()
}

fn start(parsed: ParsedCommandLine, console: &Console) -> CliExitStatus {
    let cli = &parsed.cli;
    if let CliCommand::Hook(hook) = cli.command {
        return host_hook::run(hook, parsed, console, with_runtime);
    }
    let format = cli.global.format;
    let reply = match usage_error(cli).map(Err).or_else(|| commands::without_runtime(&cli.command)) {
        Some(reply) => reply,
        None => with_runtime(parsed, console, None),
    };
    print(reply.unwrap_or_else(|error| commands::failure_reply(&error, format, console)), console)
}

/// Returns an error for combinations of arguments that the parser accepts but are invalid.
pub(super) fn usage_error(cli: &Cli) -> Option<ToolError> {
    let format = cli.global.format;
    let refused =
        |error: &str, hint: &str| Some(ToolError::new(ErrorCode::InvalidArgs, error).with_hint(hint));
    if format.is_for_findings() && !matches!(cli.command, CliCommand::Check(_)) {
        let hint = "use them with `check`; else text or json";
        return refused("the formats sarif, github, gitlab and junit are for diagnostics", hint);
    }
    let lists = matches!(cli.command, CliCommand::Tools(ToolsCommand::Schema(_) | ToolsCommand::Show(_)));
    if format.tool_list().is_some() && !lists {
        let hint = "use them with `tools schema` and `tools show`; else text or json";
        return refused("the formats mcp, openai, anthropic, gemini and copilot are for tool lists", hint);
    }
    None
}

fn print(reply: Reply, console: &Console) -> CliExitStatus {
    console.print_error_lines(&reply.lines);
    match console.print(&reply.out) {
        Ok(()) => reply.status,
        Err(error) => {
            let error = ToolError::new(ErrorCode::Internal, format!("the answer cannot be written: {error}"));
            console.print_error_lines(&verdict::error(&error, &console.err));
            CliExitStatus::Failed
        }
    }
}

/// Runs a command that needs a runtime. `piped` is its input if it was read already.
fn with_runtime(
    parsed: ParsedCommandLine,
    console: &Console,
    piped: Option<PipedInput>,
) -> Result<Reply, ToolError> {
    let internal =
        |what: &str, error: io::Error| ToolError::new(ErrorCode::Internal, format!("{what}: {error}"));
    let cwd =
        std::env::current_dir().map_err(|error| internal("the current folder is not accessible", error))?;
    let input = match remote::client::run_through_daemon(&parsed, &cwd, console, piped) {
        RemoteCommandOutcome::Went(Ok(reply))
            if is_due(&parsed.cli, &cwd, console, &reply) && ask_trust_now(&parsed.cli, &cwd) =>
        {
            // The daemon applies the trust that was granted just now.
            return match remote::client::run_through_daemon(&parsed, &cwd, console, None) {
                RemoteCommandOutcome::Went(again) => again,
                RemoteCommandOutcome::Here { .. } => Ok(reply),
            };
        }
        RemoteCommandOutcome::Went(reply) => return reply,
        RemoteCommandOutcome::Here { warning, .. }
            if matches!(parsed.cli.command, CliCommand::Hook(_))
                && remote::uses_daemon(&parsed.cli.global, &parsed.cli.command) =>
        {
            // Servers that start for one hook and end with it would be too slow each time.
            let reason = warning.as_deref().unwrap_or("no daemon is running, and none could be started");
            let reason = reason.trim_start_matches("warning: ");
            return Err(ToolError::new(
                ErrorCode::Internal,
                format!("{reason}; see `lsp-tools daemon status`"),
            ));
        }
        RemoteCommandOutcome::Here { input, warning } => {
            console.print_error_lines(warning.map(|warning| escape::words(&warning)).as_slice());
            input
        }
    };
    let cli = parsed.cli;
    let log = start_log(&cli, console);
    let mut start = DoorStartContext { global: cli.global.clone(), cwd, log, console };
    if let Some(preamble) =
        doors::daemon_preamble(&cli.command).filter(|_| doors::is_door_command(&cli.command))
    {
        match pass_to_daemon(&start, preamble) {
            Ok(None) => {}
            Ok(Some(status)) => return Ok(doors::closed_reply(status)),
            Err(error) => return Err(error),
        }
    }
    let threads = build_runtime()?.map_err(|error| internal("no threads can be started", error))?;
    let reply = threads.block_on(async {
        if doors::is_door_command(&cli.command) {
            return doors::open(cli.command, start).await;
        }
        run_and_reply(cli, start.cwd, start.log.take(), console, input).await
    });
    threads.shutdown_timeout(TOKIO_SHUTDOWN_TIMEOUT);
    reply
}

/// Creates the tokio runtime with the available threads. Without its wanted threads, a runtime
/// would never end.
fn build_runtime() -> Result<io::Result<tokio::runtime::Runtime>, ToolError> {
    let wanted = std::thread::available_parallelism().map_or(1, usize::from);
    // One thread is for blocking work.
    let given = spare_threads(wanted + 1).saturating_sub(1);
    if given == 0 {
        return Err(ToolError::new(ErrorCode::Internal, NO_THREADS).with_hint(MORE_THREADS));
    }
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(given).enable_all().build())
}

/// Prompts for trust after a daemon's answer that lacks something without it. Prompting and
/// granting happen in the user's own process. Returns true if the project is now trusted.
fn ask_trust_now(cli: &Cli, cwd: &Path) -> bool {
    let thread = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(thread) = thread else { return false };
    let options =
        RuntimeOptions { workspace: cli.global.workspace.clone(), cwd: cwd.to_owned(), ..Default::default() };
    thread.block_on(async {
        match Runtime::open(options) {
            Ok(runtime) => ask_for_trust(&runtime).await,
            Err(error) => {
                tracing::warn!("trust was not asked for: {}", error.error);
                false
            }
        }
    })
}

/// Passes stdin and stdout to the daemon on a single thread: handing messages between threads would
/// cost more than passing them on.
fn pass_to_daemon(
    start: &DoorStartContext<'_>,
    preamble: Preamble,
) -> Result<Option<CliExitStatus>, ToolError> {
    let thread = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        ToolError::new(ErrorCode::Internal, format!("the async runtime cannot be started: {error}"))
    })?;
    let passed = thread.block_on(doors::daemon::pass_to_daemon(start, preamble));
    thread.shutdown_timeout(TOKIO_SHUTDOWN_TIMEOUT);
    passed
}

/// Starts the log. A failure is printed, and the work continues without a log.
fn start_log(cli: &Cli, console: &Console) -> Option<TracingLog> {
    let started =
        Folders::find().map_err(|error| format!("no log is written: {error}")).and_then(|folders| {
            folders.ensure_private().map_err(|error| format!("no log is written: {error}"))?;
            let name = doors::log_name(cli, &folders);
            logging::start(&folders.state, &name, cli.global.verbose, console.err.color)
                .map_err(|error| error.to_string())
        });
    match started {
        Ok(log) => {
            panics::details_are_in(log.folder.clone());
            Some(log)
        }
        Err(error) => {
            console.print_error_lines(&[format!("warning: {}", escape::words(&error))]);
            None
        }
    }
}

async fn run_and_reply(
    cli: Cli,
    cwd: PathBuf,
    log: Option<TracingLog>,
    console: &Console,
    input: PipedInput,
) -> Result<Reply, ToolError> {
    let mut signals = Signals::listen()?;
    let (sender, receiver) = unbounded_channel();
    // A log on stderr and a redrawn line would overwrite each other.
    let shown = console.err.terminal && cli.global.verbose == 0;
    let progress = shown.then(|| ProgressLine::start(receiver));
    let options = RuntimeOptions {
        // Trust can be withdrawn even if the project's settings are invalid.
        without_project_settings: matches!(&cli.command, CliCommand::Trust(trust) if trust.revoke),
        patience: RetryAdvice::LoneCommand,
        progress: shown.then_some(sender),
        ..doors::options(&cli.global, &cwd)
    };
    let mut runtime = bridges::open(options)?;
    if let Some(log) = log {
        log.set_level(runtime.log_level());
    }
    tracing::debug!(
        version = env!("CARGO_PKG_VERSION"),
        workspace = %runtime.workspace().root().display(),
        "the workspace is open"
    );
    let locale = SpokenLanguage::from_environment();
    let asked = || CliInvocation {
        command: cli.command.clone(),
        global: &cli.global,
        cwd: &cwd,
        console,
        language: locale,
        input: &input,
    };
    let mut replied = tokio::select! {
        biased;
        () = signals.next() => Reply { out: String::new(), lines: Vec::new(), status: CliExitStatus::Interrupted },
        reply = run_in_runtime(&runtime, asked()) => reply,
    };
    if let Some(progress) = progress {
        progress.finish().await;
    }
    let mut former = None;
    if is_due(&cli, &cwd, console, &replied)
        && ask_for_trust(&runtime).await
        && let Some(trusted) = runtime.reopen_if_changed()?
    {
        former = Some(std::mem::replace(&mut runtime, trusted));
        replied = tokio::select! {
            biased;
            () = signals.next() => Reply { out: String::new(), lines: Vec::new(), status: CliExitStatus::Interrupted },
            reply = run_in_runtime(&runtime, asked()) => reply,
        };
    }
    // The user does not wait for servers to exit.
    let status = print(replied, console);
    let ends = futures::future::join_all(former.iter().chain([&runtime]).map(Runtime::shutdown));
    tokio::select! {
        _ = ends => {}
        () = signals.next() => {}
        () = tokio::time::sleep(CLI_SHUTDOWN_TIMEOUT) => tracing::warn!("servers did not end in time"),
    }
    Ok(Reply { out: String::new(), lines: Vec::new(), status })
}

/// The length in bytes, colour included, within which the first word of a line ends.
const MAX_REMARK_START_BYTES: usize = 20;

/// A command, with its current folder and streams.
pub(super) struct CliInvocation<'a> {
    pub(crate) command: CliCommand,
    pub(crate) global: &'a GlobalArgs,
    pub(crate) cwd: &'a Path,
    pub(crate) console: &'a Console,
    pub(crate) language: SpokenLanguage,
    pub(crate) input: &'a PipedInput,
}

/// Runs a command to its reply, in this process or the daemon.
pub(super) async fn run_in_runtime(runtime: &Runtime, invocation: CliInvocation<'_>) -> Reply {
    let CliInvocation { command, global, cwd, console, language: locale, input } = invocation;
    // No hint is needed for a server that is about to be installed.
    let about = commands::question_subject(&command, cwd).filter(|_| !global.install);
    let hints = async {
        let Some(about) = about else { return Vec::new() };
        let runtime = runtime.clone();
        let hints = tokio::task::spawn_blocking(move || runtime.startup_hints_about(&about, locale)).await;
        // The panic hook has reported a panic there.
        hints.unwrap_or_default()
    };
    let paths = PathSpelling::new(runtime.workspace().root(), cwd);
    let cli = CliContext { runtime, cwd, paths: &paths, format: global.format, console, input };
    let (hints, mut reply) = tokio::join!(hints, commands::run(command, cli));
    let hints: Vec<String> = hints.iter().map(|hint| escape::line(hint).into_owned()).collect();
    let says_it_again = |line: &String| {
        hints.iter().filter_map(|hint| hint.split_once("run: ")).any(|(_, run)| line.ends_with(run))
    };
    reply.lines.retain(|line| !says_it_again(line));
    for line in reply.lines.iter_mut().filter(|line| is_remark(line)) {
        *line = paths.respell_sentence(line, runtime.workspace().root(), cwd);
    }
    reply.lines.splice(0..0, hints);
    reply
}

/// Returns true if a line is our message and not text of a file. It may begin with a colour.
fn is_remark(line: &str) -> bool {
    let begins = line.get(..line.floor_char_boundary(MAX_REMARK_START_BYTES)).unwrap_or_default();
    ["error:", "hint:", "warning:", "note:"].iter().any(|word| begins.contains(word))
}
