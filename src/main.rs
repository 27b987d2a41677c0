//! The binary: parse the command line, open one door.

use std::process::ExitCode;

use lsp_tools::process::{SUPERVISE, sandbox, supervisor};

fn main() -> ExitCode {
    // Before anything else is set up: a supervisor stands beside every server and command, and what it costs is paid each time.
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(first) if first == SUPERVISE => std::process::exit(supervisor::run(args)),
        Some(first) if first == sandbox::ENTER => std::process::exit(sandbox::enter(args)),
        _ => lsp_tools::cli::main(),
    }
}
