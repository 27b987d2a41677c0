//! The end of this server, or its absence, and the grandchild that it leaves behind.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::journal::Journal;
use crate::scenario::{Crash, Exit, Scenario};

/// The first argument of a process that is only a grandchild.
pub const GRANDCHILD: &str = "--grandchild";

/// The 1-based number of this start; counted only if a log is set.
pub fn count_start(scenario: &Scenario) -> io::Result<u64> {
    let Some(log) = &scenario.log else { return Ok(1) };
    let mut name = log.clone().into_os_string();
    name.push(".starts");
    let mut file = OpenOptions::new().create(true).append(true).open(name)?;
    file.write_all(b".")?;
    Ok(file.metadata()?.len())
}

/// Ends this process after its time limit, so that an incomplete test leaves nothing behind for
/// long.
pub fn limit_life(scenario: &Scenario) {
    let life = Duration::from_secs(scenario.lives_s);
    thread::spawn(move || {
        thread::sleep(life);
        std::process::exit(99);
    });
}

/// Starts the grandchild of the scenario.
pub fn fork_child(scenario: &Scenario) -> io::Result<()> {
    let Some(child) = &scenario.fork_child else { return Ok(()) };
    let spec = json!({
        "marker": child.marker,
        "ignores_sigterm": child.ignores_sigterm,
        "setsid": child.setsid,
        "lives_s": scenario.lives_s,
    });
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(GRANDCHILD).arg(spec.to_string()).stdin(Stdio::null()).stderr(Stdio::null());
    if !child.holds_stdout {
        command.stdout(Stdio::null());
    }
    command.spawn().map(drop)
}

/// Runs as the grandchild that `spec` describes.
pub fn be_grandchild(spec: &str) -> Result<(), Box<dyn std::error::Error>> {
    let spec: serde_json::Value = serde_json::from_str(spec)?;
    if spec["setsid"] == true {
        rustix::process::setsid()?;
    }
    if spec["ignores_sigterm"] == true {
        ignore_sigterm(|| {})?;
    }
    thread::sleep(Duration::from_secs(spec["lives_s"].as_u64().unwrap_or(120)));
    Ok(())
}

/// Ignores SIGTERM for the rest of this process's life; `noticed` is called for each one.
pub fn ignore_sigterm(noticed: impl Fn() + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut terminations = runtime.block_on(async { signal(SignalKind::terminate()) })?;
    thread::spawn(move || {
        runtime.block_on(async move {
            while terminations.recv().await.is_some() {
                noticed();
            }
        });
    });
    Ok(())
}

/// Ends the process as given by the scenario.
pub fn crash(crash: &Crash, journal: &Journal) -> ! {
    for line in &crash.stderr {
        eprintln!("{line}");
    }
    if crash.abort {
        journal.event("exit", json!({"abort": true}));
        std::process::abort();
    }
    exit(crash.code, journal)
}

/// Ends this process and logs it.
pub fn exit(code: i32, journal: &Journal) -> ! {
    journal.event("exit", json!({"code": code}));
    std::process::exit(code)
}

/// Handles the end of stdin, or `exit`, as a server of this kind.
pub fn stays(exit: Exit, at_eof: bool) -> bool {
    match exit {
        Exit::Normal => false,
        Exit::NeedsEof => !at_eof,
        Exit::Refuses => true,
    }
}
