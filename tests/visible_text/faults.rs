//! The text for people and models if a server fails, is slow, or may not run.

use std::{fs, thread};

use serde_json::{Value, json};

use super::shop::{settings, shop_with};
use super::{answer, compare, model, say, section, steady, steady_section};
use crate::support::Project;

/// A used name in the shop.
fn used() -> Value {
    json!({"path": "till.scr", "line": 2, "character": 2})
}

#[test]
fn servers_that_do_not_run_read_as_recorded() {
    compare("faults_start", &[crash(), start(), starting(), absent(), disabled()]);
}

#[test]
fn servers_that_refuse_read_as_recorded() {
    compare("faults_refusal", &[refusal(), unsupported(), edits()]);
}

#[test]
fn silent_servers_read_as_recorded() {
    compare("faults_silence", &[silent(), indexing()]);
}

/// The text about a hover, which text search can answer too, and about a signature, which
/// it cannot. Each has its own project, since a failed server is not asked again at once and only
/// some of a user's servers start together.
fn fault(name: &str, make: impl Fn() -> Project + Sync) -> String {
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
    section(name, &all.join("\n"))
}

/// A server that announces signatures too, with more in its scenario.
fn scenario(more: &Value) -> Value {
    let mut scenario =
        json!({"hover_version": false, "answers": {"textDocument/signatureHelp": {"result": null}}});
    more.as_object().expect("an object").iter().for_each(|(key, value)| scenario[key] = value.clone());
    scenario
}

/// A server that crashes at its first request.
fn crash() -> String {
    let crash = json!({"at": "first_request", "code": 7, "stderr": ["out of cheese", "redo from start"]});
    let scenario = scenario(&json!({"crash": crash}));
    fault("crash", || shop_with(&scenario))
}

/// A server that does not start.
fn start() -> String {
    let crash = json!({"at": "start", "code": 1, "stderr": ["no such module"]});
    let scenario = scenario(&json!({"crash": crash}));
    fault("start", || shop_with(&scenario))
}

/// A server that is still starting.
fn starting() -> String {
    let scenario = scenario(&json!({"answers": {"initialize": {"never": true}}}));
    fault("starting", || {
        let project = shop_with(&scenario);
        settings(&project, &[("hover", 1_000), ("signature", 1_000)], "");
        project
    })
}

/// A server that refuses requests.
fn refusal() -> String {
    let refusal = json!({"error": {"code": -32803, "message": "the shop is closed"}});
    let answers = json!({"textDocument/hover": refusal, "textDocument/signatureHelp": refusal});
    fault("refusal", || shop_with(&json!({"answers": answers})))
}

/// A server that does not offer the request.
fn unsupported() -> String {
    fault("unsupported", || shop_with(&json!({"capabilities": {"hoverProvider": null}})))
}

/// A server that may not run.
fn disabled() -> String {
    fault("disabled", || {
        let project = shop_with(&scenario(&json!({})));
        settings(&project, &[], "disabled = [\"scripted\"]\n");
        project
    })
}

/// A server that is not installed.
fn absent() -> String {
    fault("absent", || {
        let project = shop_with(&scenario(&json!({})));
        let catalogue = project.beside("config").join("servers.toml");
        let text = fs::read_to_string(&catalogue).expect("servers.toml");
        let [program, _] = project.server_command();
        fs::write(&catalogue, text.replace(&program, "scripted-server-nowhere")).expect("servers.toml");
        project
    })
}

/// The text about requests that a running server does not answer in time.
fn silence(name: &str, more: &Value) -> String {
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
    // Started before, so that the start does not count.
    let calls = [
        ("lsp_symbols", json!({"path": "shop.scr"})),
        ("lsp_hover", used()),
        ("lsp_signature", used()),
        ("lsp_references", used()),
        ("lsp_diagnostics", json!({"path": "till.scr"})),
    ];
    let all = calls.iter().map(|(tool, arguments)| answer(&mut client, tool, arguments));
    steady_section(name, &project, &all.collect::<Vec<_>>().join("\n"))
}

/// A server that never answers.
fn silent() -> String {
    silence("silent", &json!({}))
}

/// A server that reads the project forever.
fn indexing() -> String {
    silence("indexing", &json!({"index": {"ms": 0, "never_ends": true}}))
}

/// A server whose edits do not fit.
fn edits() -> String {
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
    steady_section("edits", &project, &all.join("\n"))
}
