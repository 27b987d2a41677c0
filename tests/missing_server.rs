//! A missing server: the hints at start, and answers to questions that text search cannot answer
//! either.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::Instant;

use serde_json::json as object;

use super::first_contact::{json, said};
use crate::support::Project;
use crate::support::mcp::PATIENCE;

/// Neither the workspace nor its servers know the requested names.
#[test]
fn missing_server_and_unknown_name_answers_name_command_and_advice() {
    let project = Project::new([("a.py", "import os\n\nprint(unheard_of(os))\n")]);
    let at = r#""path": "a.py", "line": 2, "symbol": "unheard_of""#;
    let calls = [
        ("lsp_hover", format!("{{{at}}}")),
        ("lsp_definition", format!("{{{at}}}")),
        ("lsp_declaration", format!("{{{at}}}")),
        ("lsp_type_definition", format!("{{{at}}}")),
        ("lsp_implementation", format!("{{{at}}}")),
        ("lsp_signature", format!("{{{at}}}")),
        ("lsp_completion", format!("{{{at}}}")),
        ("lsp_calls", format!(r#"{{{at}, "direction": "incoming"}}"#)),
        ("lsp_types", format!(r#"{{{at}, "direction": "supertypes"}}"#)),
        ("lsp_rename", format!(r#"{{{at}, "new_name": "heard"}}"#)),
        ("explore", format!("{{{at}}}")),
        ("lsp_symbols", r#"{"query": "nowhere"}"#.to_owned()),
        ("lsp_definition", r#"{"symbol": "nowhere"}"#.to_owned()),
        ("explore", r#"{"symbol": "nowhere"}"#.to_owned()),
    ];
    let advised = |text: &str| {
        text.contains("pip install python-lsp-server (or: lsp-tools install python)")
            && text.contains("search for the name with `grep`, or read the source")
    };
    for (tool, arguments) in calls {
        let words = ["tools", "call", tool, &arguments];
        let answer = json(project.command(None), &words);
        assert_eq!(
            (&answer["ok"], &answer["code"]),
            (&false.into(), &"server_missing".into()),
            "{tool}: {answer}"
        );
        assert!(advised(answer["hint"].as_str().unwrap_or_default()), "{tool}: {answer}");
        let (lines, code) = said(&project, &words);
        assert!(advised(&lines.join("\n")) && code == Some(3), "{tool}: {lines:?}");
    }
    for command in [&["hover", "a.py:3:unheard_of"][..], &["definition", "nowhere"], &["symbols", "nowhere"]]
    {
        let (lines, code) = said(&project, command);
        assert!(advised(&lines.join("\n")) && code == Some(3), "{command:?}: {lines:?}");
    }
    // The occurrences in the text are the answer, with the same advice.
    let found = json(project.command(None), &["references", "a.py:3:unheard_of"]);
    assert_eq!(found["ok"], true);
    assert!(advised(&format!(
        "{} (or: {}) {}",
        found["server_status"]["install"].as_str().unwrap(),
        found["server_status"]["installer"].as_str().unwrap(),
        found["server_status"]["hint"].as_str().unwrap()
    )));
}

/// Each front end, once, on stderr.
#[test]
fn missing_server_is_named_at_start_of_tool_calls_and_copilot_commands() {
    let project = Project::new([("a.py", "def greet():\n    pass\n"), ("b.rb", "x = 1\n")]);
    let python = "[LSP] python: pylsp not installed, run: ";
    let starts = |words: &[&str]| {
        let (lines, _) = said(&project, words);
        lines
            .iter()
            .filter_map(|line| line.strip_prefix("[LSP] "))
            .filter_map(|line| line.split(':').next())
            .map(ToOwned::to_owned)
            .collect::<Vec<_>>()
    };
    let by_path = ["tools", "call", "lsp_hover", r#"{"path": "a.py", "line": 0, "symbol": "greet"}"#];
    assert_eq!(starts(&by_path), ["python"]);
    assert!(said(&project, &by_path).0[0].starts_with(python));
    assert_eq!(starts(&["tools", "call", "lsp_symbols", r#"{"query": "greet"}"#]), ["python"]);
    for words in [&["tools", "call", "lsp_servers"][..], &["copilot", "status"], &["copilot", "tools"]] {
        let mut languages = starts(words);
        languages.sort();
        assert_eq!(languages, ["python", "ruby"], "{words:?}");
    }
}

/// The scan of a large workspace takes longer than the first answer, which does not wait for it.
#[test]
fn mcp_start_answers_before_the_workspace_is_searched_and_names_each_server_once() {
    let project = Project::new([("a.py", "def greet():\n    pass\n")]);
    for folder in 0..100 {
        let folder = project.path(&format!("files/{folder}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        (0..200).for_each(|file| std::fs::write(folder.join(format!("{file}.txt")), "").expect("a file"));
    }
    let mut command = project.command(None);
    command.env("PATH", "/usr/bin:/bin").args(["mcp", "--no-daemon"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the server");
    let (stdout, stderr) = (child.stdout.take().expect("stdout"), child.stderr.take().expect("stderr"));
    let mut stdin = child.stdin.take().expect("stdin");
    let mut send = |message: serde_json::Value| writeln!(stdin, "{message}").expect("it listens");
    let greeting = object!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    send(object!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting}));
    let (sender, told) = channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(stderr).lines().map_while(Result::ok);
        // No process reads it after the test has failed.
        lines
            .filter(|line| line.starts_with("[LSP] "))
            .for_each(|line| drop(sender.send((Instant::now(), line))));
    });
    let mut answers = BufReader::new(stdout).lines();
    let first = answers.next().expect("an answer").expect("text");
    let answered = Instant::now();
    assert!(first.contains("\"serverInfo\""), "{first}");
    send(object!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    for id in [2, 3] {
        let arguments = object!({"path": "a.py", "line": 0, "symbol": "greet"});
        let call = object!({"name": "lsp_definition", "arguments": arguments});
        send(object!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}));
        let answer = answers.next().expect("an answer").expect("text");
        assert!(answer.contains("not installed") || answer.contains("missing"), "{answer}");
    }
    let (searched, line) = told.recv_timeout(PATIENCE).expect("the workspace is searched");
    assert!(line.starts_with("[LSP] python: pylsp not installed, run: "), "{line}");
    assert!(searched > answered, "the answer waited for the search of the workspace");
    drop(stdin);
    child.wait().expect("it ends");
    assert_eq!(told.iter().collect::<Vec<_>>(), [], "each is named once");
}
