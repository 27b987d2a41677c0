//! Requests about an untrusted project execute and import nothing of it.
//!
//! `hostile.rs` makes a project in which all executed code reports itself in a file outside
//! (`canary.rs`), `look.rs` asks a server there through our binary, and `trace.rs` reads the record
//! of `strace`. `just looks` tries every server that can be installed automatically, `just looks
//! SERVER` one. `LOOKS_PATH` names folders to put before PATH (with another Python, for example),
//! `LOOKS_PREFIX` a folder with installed servers, and with `LOOKS_TRUSTED=1` the project is
//! trusted first, which shows what the traps catch.

#[path = "../../bench/servers/samples.rs"]
#[allow(dead_code, reason = "the trial of servers uses all of it")]
mod samples;

mod canary;
mod hostile;
mod look;
mod trace;

use std::path::PathBuf;
use std::time::Duration;

use lsp_tools::internals::config::{Catalogue, ServerSpec};

use crate::support::{real_servers, skipped};
use look::{Outcome, Way, look};
use samples::Samples;

// Each of these has its own test, so that they run in parallel: the common servers, and those that
// would run code if they were started unchanged. They are written out, since `tests/slow.sh` does
// not expand macros.

#[test]
#[ignore = "slow: just slow"]
fn a_look_runs_nothing_pylsp() {
    runs_nothing("pylsp");
}

#[test]
#[ignore = "slow: just slow"]
fn a_look_runs_nothing_pyright() {
    runs_nothing("pyright");
}

#[test]
#[ignore = "slow: just slow"]
fn a_look_runs_nothing_typescript_language_server() {
    runs_nothing("typescript-language-server");
}

#[test]
#[ignore = "slow: just slow"]
fn a_look_runs_nothing_clangd() {
    runs_nothing("clangd");
}

#[test]
#[ignore = "slow: just slow"]
fn a_look_runs_nothing_bash_language_server() {
    runs_nothing("bash-language-server");
}

#[test]
#[ignore = "rare: just rare"]
fn a_look_runs_nothing_vue_typescript() {
    runs_nothing("vue-typescript");
}

#[test]
#[ignore = "rare: just rare"]
fn a_look_runs_nothing_pyrefly() {
    runs_nothing("pyrefly");
}

#[test]
#[ignore = "rare: just rare"]
fn a_look_runs_nothing_fortls() {
    runs_nothing("fortls");
}

#[test]
#[ignore = "rare: just rare"]
fn a_look_runs_nothing_cmake_language_server() {
    runs_nothing("cmake-language-server");
}

fn runs_nothing(server: &str) {
    let spec = &Catalogue::built_in().servers[server];
    let may_start = !spec.runs_project_code || spec.untrusted.is_some();
    let mut is_started = false;
    for leave_out in left_out(spec) {
        let outcome = look(server, &real_servers(&[server]), Way { leave_out: &leave_out, ..Way::default() });
        assert!(outcome.is_clean(), "{server} without {leave_out:?}: {outcome:#?}");
        let is_told = outcome.detail.contains("lsp-tools trust");
        assert!(outcome.is_started() || is_told, "{server} without {leave_out:?}: {outcome:#?}");
        is_started |= outcome.is_started();
    }
    assert_eq!(is_started, may_start, "{server}");
}

/// Without this the tests above could pass because the traps do not work.
#[test]
#[ignore = "slow: just slow"]
fn trusted_project_lookup_runs_its_code() {
    // From pylsp itself, not from the program of its name in the project's environments.
    let environments = [".venv", "venv", "__pypackages__", "node_modules/.bin"].map(str::to_owned);
    for (server, trap, leave_out) in [
        ("pylsp", ".py", environments.to_vec()),
        ("vue-typescript", "evil.cjs", Vec::new()),
        ("fortls", "fortran", Vec::new()),
        ("cmake-language-server", "cmake was run", Vec::new()),
        ("pyrefly", "python", Vec::new()),
    ] {
        let way = Way { trusted: true, leave_out: &leave_out, ..Way::default() };
        let outcome = look(server, &real_servers(&[server]), way);
        assert!(outcome.ran.iter().any(|name| name.ends_with(trap)), "{server}: {outcome:#?}");
    }
}

#[test]
#[ignore = "just looks"]
fn every_installable_server_untrusted_lookup_runs_no_project_code() {
    let only = std::env::var("LOOKS").unwrap_or_default();
    let catalogue = Catalogue::built_in();
    let samples = Samples::read().expect("samples");
    let installs = |key: &str| catalogue.servers[key].install.has_recipe();
    let is_meant = |key: &str| match only.as_str() {
        "" => installs(key) && samples.of(key).is_some(),
        only => only.split(',').any(|name| name == key),
    };
    let before_path: Vec<PathBuf> =
        std::env::var_os("LOOKS_PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let mut dirty = Vec::new();
    for server in catalogue.servers.keys().filter(|key| is_meant(key)) {
        let installed = || match std::env::var_os("LOOKS_PREFIX") {
            Some(prefix) => PathBuf::from(prefix),
            None if installs(server) => real_servers(&[server]),
            None => PathBuf::from("/dev/null"),
        };
        let Ok(prefix) = std::panic::catch_unwind(installed) else {
            skipped(&format!("{server} does not install here"));
            continue;
        };
        let trusted = std::env::var_os("LOOKS_TRUSTED").is_some();
        let way = Way {
            trusted,
            traced: true,
            before_path: &before_path,
            pause: Duration::from_secs(2),
            ..Way::default()
        };
        for leave_out in left_out(&catalogue.servers[server]) {
            let outcome = look(server, &prefix, Way { leave_out: &leave_out, ..way });
            show(server, &leave_out, &outcome);
            if !outcome.is_clean() {
                dirty.push(server.as_str());
            }
        }
    }
    assert!(dirty.is_empty(), "code of an untrusted project ran: {dirty:?}");
}

/// The variants of the hostile project: first all files; then without files that may keep the
/// server from starting; then without Python environments, if the server uses them.
fn left_out(server: &ServerSpec) -> Vec<Vec<String>> {
    let files: Vec<String> =
        server.untrusted.iter().flat_map(|rule| &rule.refused_with).map(|sign| sign.file.clone()).collect();
    let environments: Vec<String> = match server.python_environment {
        true => [".venv", "venv", "__pypackages__", ".pdm-python"].map(str::to_owned).to_vec(),
        false => Vec::new(),
    };
    // Go reads the folder as its modules, and loads nothing if it is not valid.
    let vendored: Vec<String> = match server.languages.iter().any(|language| language == "go") {
        true => vec!["vendor".to_owned()],
        false => Vec::new(),
    };
    let more = [files, environments, vendored].into_iter().filter(|list| !list.is_empty());
    std::iter::once(Vec::new()).chain(more).collect()
}

fn show(server: &str, leave_out: &[String], outcome: &Outcome) {
    let verdict = match (outcome.is_clean(), outcome.is_started()) {
        (false, _) => "RAN CODE",
        (true, true) => "clean",
        (true, false) => "not started",
    };
    let without =
        if leave_out.is_empty() { String::new() } else { format!(" without {}", leave_out.join(" ")) };
    println!(
        "{server}{without}: {verdict}; {} {}; {}",
        outcome.state,
        outcome.detail,
        outcome.answers.join(", ")
    );
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
