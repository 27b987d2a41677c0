//! Paths that are longer or deeper than any file's, given and on the disk; and what else is nested without end.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lsp_tools::internals::workspace::{ListQuery, WorkDeadline, Workspace};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::support::Project;
use crate::support::agent::{call, call_in, failure, open};
use crate::support::mcp::Mcp;

/// What a refusal may take, on a slow machine; it takes milliseconds.
const SOON: Duration = Duration::from_secs(60);

/// A path that is too deep, one with a name that is too long, one that is too long altogether, with what is said of them.
fn beyond() -> [(String, &'static str); 4] {
    [
        (format!("{}x", "a/".repeat(8_000)), "bytes, and a path can have 4095"),
        (format!("{}x", "a/".repeat(500_000)), "bytes, and a path can have 4095"),
        (format!("{}x", "a/".repeat(1_000)), "1001 levels deep, and at most 256 are looked at"),
        ("n".repeat(256), "a name of 256 bytes, and a name can have 255"),
    ]
}

/// Every tool that takes a path, with arguments that are right but for it.
fn tools(path: &str) -> Vec<(&'static str, Value)> {
    let at = json!({"path": path, "line": 0, "character": 0});
    let patch = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-one\n+two\n");
    let mut tools = vec![
        ("read", json!({"path": path})),
        ("list", json!({"path": path})),
        ("list", json!({"path": path, "recursive": true})),
        ("glob", json!({"pattern": "*", "path": path})),
        ("grep", json!({"pattern": "one", "path": path})),
        ("write", json!({"path": path, "content": "x"})),
        ("edit", json!({"path": path, "edits": [{"old": "one", "new": "x"}]})),
        ("mkdir", json!({"path": path})),
        ("delete", json!({"path": path})),
        ("move", json!({"from": path, "to": "b.txt"})),
        ("move", json!({"from": "a.txt", "to": path})),
        ("patch", json!({"patch": patch})),
        ("lsp_symbols", json!({"path": path})),
        ("lsp_diagnostics", json!({"paths": [path]})),
        ("lsp_format", json!({"path": path})),
    ];
    for tool in ["lsp_hover", "lsp_definition", "lsp_references", "lsp_completion", "lsp_code_actions"] {
        tools.push((tool, at.clone()));
    }
    tools
}

#[tokio::test(flavor = "multi_thread")]
async fn path_beyond_limits_every_tool_refuses_and_names_limit() {
    let project = Project::new([("a.txt", "one\n")]);
    let runtime = open(&project, None);
    for (path, said) in beyond() {
        for (tool, arguments) in tools(&path) {
            let begun = Instant::now();
            let (code, error) = failure(&runtime, tool, arguments).await;
            let error = error.chars().take(600).collect::<String>();
            assert!(begun.elapsed() < SOON, "{tool}: {:?}", begun.elapsed());
            assert!(["invalid_args", "patch_mismatch"].contains(&code.as_str()), "{tool}: {code} {error}");
            assert!(error.contains(said) && error.contains("give a "), "{tool}: {code} {error}");
        }
    }
    assert_eq!(call(&runtime, "read", json!({"path": "a.txt"})).await["content"], "one\n");
}

#[test]
fn path_beyond_limits_command_line_and_mcp_refuse_it() {
    let project = Project::new([("a.txt", "one\n")]);
    let mut client = Mcp::modern(&project, None, json!({}));
    for (path, said) in beyond() {
        let answer = client.call("read", json!({"path": path}));
        assert!(answer.to_string().contains(said) && answer["isError"] == true, "{answer}");
        // No program can be given an argument of a megabyte.
        if path.len() > 100_000 {
            continue;
        }
        for words in
            [vec!["read"], vec!["list"], vec!["grep", "one"], vec!["hover"], vec!["check"], vec!["delete"]]
        {
            let given = if words[0] == "hover" { format!("{path}:1:1") } else { path.clone() };
            let done = project.command(None).args(&words).arg(given).output().expect("the program");
            let said_there = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(done.status.code(), Some(2), "{words:?}: {said_there}");
            assert!(said_there.contains(said), "{words:?}: {said_there}");
        }
    }
    let answer = client.call("read", json!({"path": "a.txt"}));
    assert!(answer.to_string().contains("one"), "{answer}");
}

/// Makes folders within one another, all called `d`, one after the other, since such a path is too long to be given at once.
fn nest(project: &Project, levels: usize) {
    let directory = rustix::fs::OFlags::DIRECTORY;
    let mut folder = rustix::fs::open(project.root(), directory, 0.into()).unwrap();
    for _ in 0..levels {
        rustix::fs::mkdirat(&folder, "d", 0o755.into()).unwrap();
        folder = rustix::fs::openat(&folder, "d", directory, 0.into()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_beyond_depth_limit_walk_stops_and_notes_it() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def one\n")]);
    nest(&project, 2_000);
    let runtime = open(&project, None);
    let begun = Instant::now();
    for (tool, arguments) in [
        ("list", json!({"path": ".", "recursive": true, "limit": 5000})),
        ("glob", json!({"pattern": "**/*"})),
        ("grep", json!({"pattern": "one", "semantic": false})),
    ] {
        let answer = call(&runtime, tool, arguments).await;
        assert!(
            answer["notes"].to_string().contains("256 levels deep were not looked into"),
            "{tool}: {answer}"
        );
    }
    for depth in [200, 256] {
        let path = vec!["d"; depth].join("/");
        call(&runtime, "list", json!({"path": path})).await;
        let file = format!("{path}/missing.scr");
        for (tool, arguments) in
            [("read", json!({"path": file})), ("lsp_hover", json!({"path": file, "line": 0, "character": 0}))]
        {
            let (code, error) = failure(&runtime, tool, arguments).await;
            assert!(["not_found", "invalid_args"].contains(&code.as_str()), "{tool}: {code} {error}");
        }
    }
    let (code, error) = failure(&runtime, "delete", json!({"path": "d", "recursive": true})).await;
    assert_eq!(code, "too_large");
    assert!(
        error.contains("the depth of the folders of `d` would be 257, more than the limit of 256"),
        "{error}"
    );
    let hover =
        call_in(&runtime, None, "lsp_hover", json!({"path": "a.scr", "line": 0, "symbol": "one"})).await;
    assert!(hover.ok(), "{}", hover.value);
    assert!(begun.elapsed() < Duration::from_secs(90), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_braces_without_end_are_answered_everywhere() {
    let nested = |levels: usize| format!("{}a{}", "{".repeat(levels), "}".repeat(levels));
    let uses = format!("use {};\nfn one() {{}}\n", nested(100_000));
    let project = Project::new([("a.txt", "one\n"), ("deep.rs", &uses)]);
    project.write(".gitignore", format!("{}\n*.log\n", nested(400_000)));
    project.write("b.log", "one\n");
    let runtime = open(&project, None);
    let found = call(&runtime, "grep", json!({"pattern": "^one", "semantic": false})).await;
    assert_eq!(found["count"], 1, "the other patterns of the file count: {found}");
    let (code, error) = failure(&runtime, "glob", json!({"pattern": nested(400)})).await;
    assert_eq!(code, "invalid_args", "{error}");
    assert!(error.contains("braces are 400 deep"), "{error}");
    call_in(&runtime, None, "lsp_symbols", json!({"path": "deep.rs"})).await;
    call_in(&runtime, None, "lsp_hover", json!({"path": "deep.rs", "line": 1, "symbol": "one"})).await;
}

/// A workspace with links of every kind, to ask about paths in.
fn linked(folder: &Path) -> Workspace {
    let root = folder.join("w");
    std::fs::create_dir_all(root.join("a/a/a")).unwrap();
    std::fs::write(root.join("f.txt"), "text").unwrap();
    symlink("a", root.join("link")).unwrap();
    symlink("circle", root.join("circle")).unwrap();
    symlink("/etc", root.join("out")).unwrap();
    symlink("../w/a", root.join("around")).unwrap();
    Workspace::open(&root).unwrap()
}

/// Asks all that can be asked about a path; nothing may be told of what lies outside.
fn ask(workspace: &Workspace, given: &[u8]) {
    let given = Path::new(std::ffi::OsStr::from_bytes(given));
    let begun = Instant::now();
    let told = match workspace.path(given) {
        Err(error) => error.to_string(),
        Ok(path) => {
            let within = path.as_path().components().count();
            assert!(within <= 256 && path.as_path().as_os_str().len() <= 4_095, "{within} levels");
            assert!(path.as_path().is_relative() && !path.as_path().starts_with(".."));
            let real = workspace.resolve_links(&path);
            assert_eq!(
                real.as_ref().and_then(|real| workspace.resolve_links(real)),
                real,
                "what is real stays so"
            );
            let there = workspace.exists(&path);
            if there && let Ok(canonical) = workspace.absolute(&path).canonicalize() {
                assert_eq!(real.map(|real| workspace.absolute(&real)), Some(canonical));
            }
            assert!(there || workspace.read_text(&path).is_err());
            let until = WorkDeadline::new(Instant::now() + SOON);
            let listed =
                workspace.list(&ListQuery { under: path.clone(), recursive: true, max: 9, deadline: until });
            assert!(there || listed.is_err());
            path.display()
        }
    };
    assert!(told.len() <= 4 * 4_096, "{} bytes are told", told.len());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
#[ignore = "slow: just slow"]
fn arbitrary_path_bytes_are_answered_soon_and_stay_in_workspace() {
    let folder = tempfile::TempDir::with_prefix("lsp-tools-test-").unwrap();
    let workspace = linked(folder.path());
    for line in include_str!("corpus/paths.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut given = Vec::new();
        for piece in line.split(' ') {
            let (times, text) = piece.split_once('*').expect("a count");
            let root: PathBuf = workspace.root().to_owned();
            let text =
                text.replace("SPACE", " ").replace("\\0", "\0").replace("ROOT", root.to_str().unwrap());
            let mut bytes = text.into_bytes();
            if let Some(at) = bytes.windows(4).position(|four| four == b"\\xff") {
                bytes.splice(at..at + 4, [0xff]);
            }
            given.extend(bytes.repeat(times.parse().expect("a count")));
        }
        ask(&workspace, &given);
    }
    let names: Vec<&[u8]> = vec![
        b"a", b"link", b"circle", b"out", b"around", b"f.txt", b"..", b".", b"", b"/", b"\0", b"\xff", b"new",
    ];
    let name = prop_oneof![
        8 => proptest::sample::select(names).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..300),
    ];
    let few = proptest::collection::vec(name.clone(), 0..12);
    let many = (proptest::collection::vec(name, 1..4), 1..100_000_usize)
        .prop_map(|(names, times)| names.into_iter().cycle().take(times).collect::<Vec<_>>());
    let bytes = prop_oneof![
        6 => few.prop_map(|names| names.join(&b'/')),
        2 => many.prop_map(|names| names.join(&b'/')),
        1 => proptest::collection::vec(any::<u8>(), 0..1 << 20),
    ];
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&(any::<bool>(), bytes), |(absolute, bytes)| {
            let mut bytes: Vec<u8> = bytes;
            bytes.truncate(1 << 20);
            if absolute {
                let mut whole = workspace.root().as_os_str().to_owned().into_vec();
                whole.push(b'/');
                whole.append(&mut bytes);
                bytes = whole;
            }
            ask(&workspace, &bytes);
            Ok(())
        })
        .unwrap();
}
