//! Two agents, an editor and a shell on one workspace of two languages. One pyright and one
//! tsserver, counted by process, give all four right answers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use super::house::House;
use super::program::Program;
use crate::support::{Project, copy_folder, processes, real_servers};

/// A use of `compose`, 0-based.
const PYTHON: (&str, u32, u32) = ("greet/app.py", 8, 14);
/// A use of `add`, 0-based.
const TYPESCRIPT: (&str, u32, u32) = ("web/src/basket.ts", 24, 62);

fn workshop() -> House {
    let project = Project::of_fixture("python");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    copy_folder(&fixtures.join("typescript"), &project.path("web"));
    let settings = "prefer.python = [\"pyright\"]\nprefer.typescript = [\"typescript-language-server\"]\n";
    project.write_settings(settings);
    let prefix = real_servers(&["pyright", "typescript-language-server"]);
    let mut house = House::of(project);
    house.prefix = Some(prefix);
    house
}

/// The processes below a daemon of the house that run `program` themselves, without their
/// supervisors.
fn running(house: &House, program: &str) -> BTreeSet<i32> {
    let daemons = house.daemons();
    let itself = |pid: &i32| {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        !String::from_utf8_lossy(&arguments).contains("__supervise")
    };
    let below = |pid: &i32| {
        std::iter::successors(Some(*pid), |pid| parent(*pid)).any(|ancestor| daemons.contains(&ancestor))
    };
    processes(program).into_iter().filter(itself).filter(below).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok().filter(|parent| *parent > 0)
}

/// The path of a file with positions.
fn file(places: &Value) -> Option<&String> {
    places.as_object()?.keys().next()
}

fn agent(house: &House) -> (Program, [Value; 2]) {
    let mut agent = Program::open_mcp(house);
    let mut number = 0;
    let seen = [PYTHON, TYPESCRIPT].map(|(path, line, character)| {
        number += 1;
        let place = json!({"path": path, "line": line, "character": character});
        let found = agent.call(number, "lsp_definition", place);
        assert_eq!((&found["ok"], &found["verdict"]), (&json!(true), &json!("complete")), "{found}");
        json!([file(&found["locations"][0]), found["location"]["range"]["start"]["line"]])
    });
    (agent, seen)
}

fn editor(house: &House) -> (Program, [Value; 2]) {
    let mut editor = Program::open_editor(house);
    let mut number = 1;
    let seen = [PYTHON, TYPESCRIPT].map(|(path, line, character)| {
        number += 1;
        let root = format!("file://{}/", house.project.root().display());
        let document = json!({"uri": format!("{root}{path}"), "languageId": "x", "version": 1, "text": house.project.read(path)});
        editor.tell_lsp("textDocument/didOpen", json!({"textDocument": document}));
        let place = json!({"textDocument": {"uri": document["uri"]}, "position": {"line": line, "character": character}});
        let answer = editor.ask_lsp(number, "textDocument/definition", place);
        let found = answer["result"].get(0).unwrap_or(&answer["result"]);
        let uri = found["uri"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let path = uri.strip_prefix(&root).unwrap_or_else(|| panic!("{answer}"));
        json!([path, found["range"]["start"]["line"]])
    });
    (editor, seen)
}

fn shell(house: &House) -> [Value; 2] {
    [PYTHON, TYPESCRIPT].map(|(path, line, character)| {
        let place = format!("{path}:{}:{}", line + 1, character + 1);
        let said = house.run(&["definition", &place, "--format", "json"]);
        let found: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
        json!([file(&found["locations"][0]), found["location"]["range"]["start"]["line"]])
    })
}

#[test]
#[ignore = "slow: just slow"]
fn two_agents_editor_and_shell_share_one_server_per_language() {
    let house = &workshop();
    // All begin at once, while nothing runs: even the servers start only once.
    let (one, other, editor, shell) = thread::scope(|scope| {
        let one = scope.spawn(|| agent(house));
        let other = scope.spawn(|| agent(house));
        let editor = scope.spawn(|| editor(house));
        let shell = scope.spawn(|| shell(house));
        (
            one.join().expect("the first agent got its answers"),
            other.join().expect("the second agent got its answers"),
            editor.join().expect("the editor got its answers"),
            shell.join().expect("the shell got its answers"),
        )
    });
    let right = [json!(["greet/messages.py", 7]), json!(["web/src/money.ts", 18])];
    assert_eq!([&one.1, &other.1, &editor.1, &shell], [&right; 4]);

    let found = (running(house, "pyright-langserver"), running(house, "tsserver.js"), house.daemons());
    assert_eq!((found.0.len(), found.1.len(), found.2.len()), (1, 1, 1), "{found:?}");
    let status = house.status().expect("a daemon");
    let servers: BTreeSet<&str> = status["servers"]
        .as_array()
        .expect("servers")
        .iter()
        .filter_map(|row| row["server"].as_str())
        .collect();
    assert_eq!(servers, BTreeSet::from(["pyright", "typescript-language-server"]), "{status}");
    // The same processes answer the next request.
    assert_eq!(self::shell(house), right);
    assert_eq!((running(house, "pyright-langserver"), running(house, "tsserver.js")), (found.0, found.1));
    one.0.close();
    other.0.close();
    editor.0.close();
}
