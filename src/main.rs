//! The binary: parse the command line, open one door.

use std::process::ExitCode;

fn main() -> ExitCode {
    lsp_tools::cli::main()
}
