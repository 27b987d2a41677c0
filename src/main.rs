//! The binary: parse the command line, open one door.

use std::process::ExitCode;

use lsp_tools::lsp::process::{SUPERVISE, supervisor};

fn main() -> ExitCode {
    // Before anything else is set up: a supervisor stands beside every server, and what it costs is paid each time.
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == SUPERVISE) {
        std::process::exit(supervisor::run(args));
    }
    lsp_tools::cli::main()
}
