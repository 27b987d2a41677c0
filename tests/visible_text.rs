//! The help of every command, word for word: a change of a word shows as a difference of `snapshots/`. `just snapshots` takes the
//! new words over.

use std::collections::BTreeMap;

use clap::CommandFactory as _;
use lsp_tools::internals::cli::args::Cli;

/// The help of a command and of those within it, below their words.
fn collect_pages(path: &str, command: &clap::Command, pages: &mut Vec<String>) {
    // Settings of whoever runs the tests are no words of ours.
    let bare = command.clone().mut_args(|argument| argument.hide_env_values(true)).term_width(100);
    pages.push(format!("# {path}\n\n{}", bare.clone().render_long_help()));
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        collect_pages(&format!("{path} {}", inner.get_name()), inner, pages);
    }
}

#[test]
fn help_of_every_command_reads_as_recorded() {
    let mut whole = Cli::command();
    whole.build();
    let mut books: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let own = whole.clone().mut_args(|argument| argument.hide_env_values(true)).term_width(100);
    books.entry("lsp-tools").or_default().push(own.clone().render_long_help().to_string());
    for command in whole.get_subcommands().filter(|command| !command.is_hide_set()) {
        let path = format!("lsp-tools {}", command.get_name());
        collect_pages(&path, command, books.entry(command.get_name()).or_default());
    }
    for (name, pages) in books {
        insta::assert_snapshot!(format!("help_{}", name.replace('-', "_")), pages.join("\n"));
    }
}
