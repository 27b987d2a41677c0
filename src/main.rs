//! The binary, which opens the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    lsp_tools::cli_main()
}
