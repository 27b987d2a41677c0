//! The text for people and models if a server fails, is slow, or may not run.

use std::{fs, thread};

use serde_json::{Value, json};

use super::shop::{settings, shop_with};
use super::{answer, compare, model, record, say, steady};
use crate::support::Project;

/// A used name in the shop.
fn used() -> Value {
    json!({"path": "till.scr", "line": 2, "character": 2})
}

/// Records the text about a hover, which text search can answer too, and about a signature, which
/// it cannot. Each has its own project, since a failed server is not asked again at once and only
/// some of a user's servers start together.
fn record_fault(name: &str, make: impl Fn() -> Project + Sync) {
    let tell = |tool: &str| {
        let project = make();
        let said = answer(&mut model(&project), tool, &used());
        steady(&project, &said)
    };
    let print = |command: &str| {
        let project = make();
        steady(&project, &say(&project, &[command, "till.scr:3:3"]))
    };
    let (tell, print) = (&tell, &print);
    let all = thread::scope(|scope| {
        let told = ["lsp_hover", "lsp_signature"].map(|tool| scope.spawn(move || tell(tool)));
        let printed = ["hover", "signature"].map(|command| scope.spawn(move || print(command)));
        told.into_iter().chain(printed).map(|one| one.join().expect("words")).collect::<Vec<_>>()
    });
    compare(&format!("faults_{name}"), &all.join("\n"));
}

/// A server that announces signatures too, with more in its scenario.
fn scenario(more: &Value) -> Value {
    let mut scenario =
        json!({"hover_version": false, "answers": {"textDocument/signatureHelp": {"result": null}}});
    more.as_object().expect("an object").iter().for_each(|(key, value)| scenario[key] = value.clone());
    scenario
}

#[test]
fn crashing_server_reads_as_recorded() {
    let crash = json!({"at": "first_request", "code": 7, "stderr": ["out of cheese", "redo from start"]});
    let scenario = scenario(&json!({"crash": crash}));
    record_fault("crash", || shop_with(&scenario));
}

#[test]
fn server_that_does_not_start_reads_as_recorded() {
    let crash = json!({"at": "start", "code": 1, "stderr": ["no such module"]});
    let scenario = scenario(&json!({"crash": crash}));
    record_fault("start", || shop_with(&scenario));
}

#[test]
fn server_that_is_still_starting_reads_as_recorded() {
    let scenario = scenario(&json!({"answers": {"initialize": {"never": true}}}));
    record_fault("starting", || {
        let project = shop_with(&scenario);
        settings(&project, &[("hover", 1_000), ("signature", 1_000)], "");
        project
    });
}

#[test]
fn server_that_refuses_reads_as_recorded() {
    let refusal = json!({"error": {"code": -32803, "message": "the shop is closed"}});
    let answers = json!({"textDocument/hover": refusal, "textDocument/signatureHelp": refusal});
    record_fault("refusal", || shop_with(&json!({"answers": answers})));
}

#[test]
fn server_that_does_not_offer_it_reads_as_recorded() {
    record_fault("unsupported", || shop_with(&json!({"capabilities": {"hoverProvider": null}})));
}

#[test]
fn server_that_may_not_run_reads_as_recorded() {
    record_fault("disabled", || {
        let project = shop_with(&scenario(&json!({})));
        settings(&project, &[], "disabled = [\"scripted\"]\n");
        project
    });
}

#[test]
fn server_that_is_not_there_reads_as_recorded() {
    record_fault("absent", || {
        let project = shop_with(&scenario(&json!({})));
        let catalogue = project.beside("config").join("servers.toml");
        let text = fs::read_to_string(&catalogue).expect("servers.toml");
        let [program, _] = project.server_command();
        fs::write(&catalogue, text.replace(&program, "scripted-server-nowhere")).expect("servers.toml");
        project
    });
}

/// Records the text about requests that a running server does not answer in time.
fn record_silence(name: &str, more: &Value) {
    let mut scenario = scenario(more);
    for method in ["textDocument/hover", "textDocument/signatureHelp"] {
        scenario["answers"][method] = json!({"never": true});
    }
    scenario["diagnostics"] = json!({"mode": "none"});
    let project = shop_with(&scenario);
    // Questions while it reads the project are sent after half of the time.
    let short = [("hover", 300), ("signature", 300), ("references", 1_000), ("diagnostics", 300)];
    settings(&project, &short, "");
    let mut client = model(&project);
    // It was started before, so that its start takes nothing of the time.
    let calls = [
        ("lsp_symbols", json!({"path": "shop.scr"})),
        ("lsp_hover", used()),
        ("lsp_signature", used()),
        ("lsp_references", used()),
        ("lsp_diagnostics", json!({"path": "till.scr"})),
    ];
    let all = calls.iter().map(|(tool, arguments)| answer(&mut client, tool, arguments));
    record(&format!("faults_{name}"), &project, &all.collect::<Vec<_>>().join("\n"));
}

#[test]
fn silent_server_reads_as_recorded() {
    record_silence("silent", &json!({}));
}

#[test]
fn server_that_reads_the_project_for_ever_reads_as_recorded() {
    record_silence("indexing", &json!({"index": {"ms": 0, "never_ends": true}}));
}

#[test]
fn edits_of_servers_that_do_not_fit_read_as_recorded() {
    let range = |from: u32, to: u32| json!({"start": {"line": 2, "character": from}, "end": {"line": 2, "character": to}});
    let edit = |file: &str, version: Value, ranges: &[Value]| {
        let edits: Vec<Value> =
            ranges.iter().map(|range| json!({"range": range, "newText": "sum"})).collect();
        let document = json!({"uri": format!("${{root}}/{file}"), "version": version});
        json!({"documentChanges": [{"textDocument": document, "edits": edits}]})
    };
    let far = json!({"start": {"line": 99, "character": 0}, "end": {"line": 99, "character": 5}});
    let edits = [
        ("outside", edit("../outside.scr", Value::Null, &[range(0, 5)])),
        ("overlapping", edit("till.scr", Value::Null, &[range(0, 5), range(3, 8)])),
        ("old version", edit("till.scr", json!(99), &[range(0, 5)])),
        ("beyond the end", edit("till.scr", Value::Null, &[far])),
        ("a file that is not there", edit("gone.scr", Value::Null, &[range(0, 5)])),
    ];
    let actions: Vec<Value> =
        edits.iter().map(|(title, edit)| json!({"title": title, "kind": "refactor", "edit": edit})).collect();
    let refusal = json!({"error": {"code": -32803, "message": "`total` is no name to change"}});
    let project = shop_with(&json!({"answers": {
        "textDocument/codeAction": {"result": actions}, "textDocument/rename": refusal,
    }}));
    let mut client = model(&project);
    let rename = json!({"path": "till.scr", "line": 2, "symbol": "total", "new_name": "sum"});
    let mut all = vec![answer(&mut client, "lsp_rename", &rename)];
    for title in edits.iter().map(|(title, _)| *title).chain(["unheard of"]) {
        let apply = json!({"path": "till.scr", "line": 2, "apply": title});
        all.push(answer(&mut client, "lsp_code_actions", &apply));
    }
    record("faults_edits", &project, &all.join("\n"));
}
