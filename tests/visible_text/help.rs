//! The help of every command.

use clap::{Command, CommandFactory as _};
use lsp_tools::internals::cli::Cli;

use super::{compare, section};

/// The help of one command, independent of the variables of the test's user.
fn help_of(command: &Command) -> String {
    let mut shown = command.clone().mut_args(|argument| argument.hide_env_values(true)).term_width(100);
    shown.render_long_help().to_string()
}

/// The help of a command and of its subcommands, below their names.
fn collect_pages(path: &str, command: &Command, pages: &mut Vec<String>) {
    pages.push(format!("# {path}\n\n{}", help_of(command)));
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        collect_pages(&format!("{path} {}", inner.get_name()), inner, pages);
    }
}

#[test]
fn help_of_every_command_reads_as_recorded() {
    let mut whole = Cli::command();
    whole.build();
    let mut sections = vec![section("lsp-tools", &help_of(&whole))];
    for command in whole.get_subcommands().filter(|command| !command.is_hide_set()) {
        let path = format!("lsp-tools {}", command.get_name());
        let mut pages = Vec::new();
        collect_pages(&path, command, &mut pages);
        sections.push(section(&path, &pages.join("\n")));
    }
    compare("help", &sections);
}
