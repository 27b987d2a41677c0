//! Operations reserved for their owner files, so that no other use misses the checks of the first.

use std::collections::BTreeSet;

use super::GRAPH;

/// The allowed files, each with the reason.
type Owners = &'static [(&'static str, &'static str)];

/// The last segments of the paths that open a file by its path.
const FILE_OPENS: &[&str] = &[
    "File::open",
    "File::create",
    "File::create_new",
    "File::options",
    "OpenOptions::new",
    "fs::read",
    "fs::read_to_string",
];

const FILE_OPENERS: Owners = &[
    ("cli/approval.rs", "the terminal"),
    ("cli/commands/daemon/logs.rs", "the daemon's own logs"),
    ("cli/input.rs", "the file that a person typed"),
    ("config/trust.rs", "the store of trust"),
    ("lsp/servers/install/manifest.rs", "the folders of installed servers"),
    ("lsp/servers/install/mod.rs", "the scripts of an installed server"),
    ("platform/files.rs", "a folder, to be synchronised"),
    ("platform/parent_watch.rs", "the pipe of the parent"),
    ("platform/paths.rs", "the file that leads to a folder beside it"),
    ("platform/sockets.rs", "the file with a pipe's name"),
    ("platform/unix/private.rs", "the user's own folders"),
    ("platform/unix/process_tree.rs", "/proc"),
    ("platform/unix/stdio.rs", "/dev/null"),
    ("platform/windows/attributes.rs", "an object, for its attributes alone"),
    ("platform/windows/files.rs", "what openat opens"),
    ("platform/windows/jail.rs", "what openat opens"),
    ("platform/windows/private.rs", "the user's own folders"),
    ("rpc/http_entry/peer.rs", "/proc"),
    ("rpc/http_entry/token.rs", "the token's file"),
    ("tools/shell/caches/cleanup.rs", "the folder of a command's caches"),
    ("tools/language/scip_index.rs", "the index that a person asked for, never through a link"),
    ("workspace/edit/history/journal.rs", "the journal in the state folder"),
];

const PROGRAM_STARTERS: Owners = &[
    ("platform/detached.rs", "starts our own binary by its path, as a daemon"),
    ("platform/opened_path.rs", "makes the command of an open file"),
    ("platform/unix/process_tree.rs", "starts ps(1) by its path"),
    ("process/pinned.rs", "makes the command of a program that was compared with its hash"),
    ("process/sandbox_entry.rs", "becomes the program that it sandboxes"),
    ("process/spawner.rs", "starts every program"),
];

const PROGRAM_FINDERS: Owners =
    &[("process/program_path.rs", "leaves out the folders of the workspace, wherever PATH leads")];

/// Checks that the files with a path that `is_use` accepts are exactly `owners`.
fn check_owners(is_use: impl Fn(&str) -> bool, owners: Owners, advice: &str) {
    let users: BTreeSet<&str> =
        GRAPH.outside_paths().filter(|(_, path)| is_use(path)).map(|(file, _)| file).collect();
    let owners: BTreeSet<&str> = owners.iter().map(|(file, _)| *file).collect();
    let others: Vec<&&str> = users.difference(&owners).collect();
    assert!(others.is_empty(), "{others:?}: {advice}");
    let former: Vec<&&str> = owners.difference(&users).collect();
    assert!(former.is_empty(), "{former:?} no longer need to be owners");
}

fn ends_with(path: &str, ending: &str) -> bool {
    path.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with("::"))
}

#[test]
fn files_are_opened_by_their_owners_only() {
    let is_open = |path: &str| FILE_OPENS.iter().any(|open| ends_with(path, open));
    check_owners(
        is_open,
        FILE_OPENERS,
        "open files through Workspace, or Workspace::read_outside and its kin",
    );
}

#[test]
fn programs_are_started_by_their_owners_only() {
    let is_start = |path: &str| ends_with(path, "Command::new");
    check_owners(is_start, PROGRAM_STARTERS, "start programs through process::Spawner");
}

#[test]
fn programs_are_found_by_their_owners_only() {
    let is_search = |path: &str| path.starts_with("which::") || path == "env::var(PATH)";
    check_owners(is_search, PROGRAM_FINDERS, "find programs through process::find_program");
}

#[test]
fn names_of_owned_uses_are_not_changed_by_imports() {
    let renamed = ["fs as", "File as", "OpenOptions as", "process::Command as", "fs::*", "env as"];
    let found: Vec<_> =
        GRAPH.outside_paths().filter(|(_, path)| renamed.iter().any(|name| ends_with(path, name))).collect();
    assert!(found.is_empty(), "renamed imports hide uses: {found:?}");
}
