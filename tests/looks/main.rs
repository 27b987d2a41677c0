//! A look runs nothing: questions about a project that is not trusted execute and import nothing of it.
//!
//! `hostile.rs` makes a project in which whatever runs says so, `look.rs` asks a server there through our binary, and `trace.rs`
//! reads what `strace` saw of processes. `just looks` tries every server that installs by itself, `just looks SERVER` one.

#[path = "../support/mod.rs"]
mod support;

#[path = "../../bench/servers/samples.rs"]
#[allow(dead_code, reason = "the trial of servers uses all of it")]
mod samples;

mod hostile;
mod look;
mod trace;

use std::path::PathBuf;
use std::time::Duration;

use lsp_tools::config::Catalogue;

use look::{Outcome, Way, look};
use support::{real_servers, skipped};

/// The servers of `cargo test`: the everyday ones, and those that would run code if they were started as they are.
const USUAL: [&str; 9] = [
    "pylsp",
    "pyright",
    "typescript-language-server",
    "clangd",
    "bash-language-server",
    "vue-typescript",
    "pyrefly",
    "fortls",
    "cmake-language-server",
];

#[test]
fn a_look_runs_nothing() {
    for server in USUAL {
        let outcome = look(server, &real_servers(&[server]), Way::default());
        assert!(outcome.is_clean(), "{server}: {outcome:#?}");
        assert!(outcome.is_started(), "{server}: {outcome:#?}");
    }
}

/// Without this the test above could be clean because its traps are none.
#[test]
fn the_same_look_runs_code_where_the_project_is_trusted() {
    for server in ["pylsp", "vue-typescript", "fortls"] {
        let way = Way { trusted: true, ..Way::default() };
        let outcome = look(server, &real_servers(&[server]), way);
        assert!(!outcome.ran.is_empty(), "{server}: {outcome:#?}");
    }
}

#[test]
#[ignore = "just looks"]
fn a_look_runs_nothing_on_every_server_that_installs() {
    let only = std::env::var("LOOKS").unwrap_or_default();
    let catalogue = Catalogue::built_in();
    let installs = |key: &str| {
        let server = &catalogue.servers[key];
        server.door.is_none() && server.install.has_recipe()
    };
    let before_path: Vec<PathBuf> =
        std::env::var_os("LOOKS_PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let mut dirty = Vec::new();
    for server in catalogue.servers.keys().filter(|key| installs(key)) {
        if !only.is_empty() && !only.split(',').any(|name| name == server) {
            continue;
        }
        let Ok(prefix) = std::panic::catch_unwind(|| real_servers(&[server])) else {
            skipped(&format!("{server} does not install here"));
            continue;
        };
        let trusted = std::env::var_os("LOOKS_TRUSTED").is_some();
        let way = Way { trusted, traced: true, before_path: &before_path, pause: Duration::from_secs(2) };
        let outcome = look(server, &prefix, way);
        show(server, &outcome);
        if !outcome.is_clean() {
            dirty.push(server.as_str());
        }
    }
    assert!(dirty.is_empty(), "code of an untrusted project ran: {dirty:?}");
}

fn show(server: &str, outcome: &Outcome) {
    let verdict = match (outcome.is_clean(), outcome.is_started()) {
        (false, _) => "RAN CODE",
        (true, true) => "clean",
        (true, false) => "not started",
    };
    println!("{server}: {verdict}; {} {}; {}", outcome.state, outcome.detail, outcome.answers.join(", "));
    for name in &outcome.ran {
        println!("    ran: {name}");
    }
    let Some(traced) = &outcome.traced else { return };
    for (what, list) in
        [("executed", &traced.executed), ("started", &traced.started), ("opened", &traced.opened)]
    {
        for name in list {
            println!("    {what}: {name}");
        }
    }
}
