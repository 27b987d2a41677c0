//! The answer store: checks of equal trees are answered without a server, and all others are not.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::notes_tools::changed_files::{commit, git};
use crate::support::{Project, copy_folder};

const ON: &str = "answer-store = true\n";
const SERVERS: [&str; 2] = ["ty", "ruff"];
const CART: &str = "import os\n\n\ndef total(n: int) -> int:\n    return n\n";
const PACKAGE: &str = ".venv/lib/python3.11/site-packages/pack/__init__.py";
const CUSTOM_MODULE: &str = ".venv/lib/python3.11/site-packages/sitecustomize.py";
const PATH_FILE: &str = ".venv/lib/python3.11/site-packages/x.pth";
const VENV: &str = "home = /usr/bin\nversion = 3.11.2\n";
const USER: &str = "from shop.cart import total\n\nx: int = total(\"3\")\n";

fn shop() -> Project {
    let project = Project::new([
        ("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1\"\n"),
        (".gitignore", "made.py\n"),
        ("shop/__init__.py", ""),
        ("shop/cart.py", CART),
        ("shop/use.py", USER),
        ("made.py", "VERSION = 1\n"),
        // Without it, the interpreter of this machine determines the packages.
        (".venv/pyvenv.cfg", VENV),
        (PACKAGE, "one: int = 1\n"),
    ]);
    project.write_settings(ON);
    project
}

/// The parts of a check that must not depend on its source, and whether it comes from the store.
async fn check(project: &Project, servers: &[&str], root: PathBuf) -> (Value, bool) {
    let shop = project.opening().servers(servers).workspace(root).open();
    let answer = shop.answer("lsp_diagnostics", json!({"paths": ["."]})).await;
    let states = shop.ok("lsp_servers", json!({})).await["servers"].to_string();
    shop.shutdown().await;
    let is_stored = answer["notes"].to_string().contains("are from a check");
    assert_eq!(is_stored, !states.contains("\"pid\""), "{states}");
    (findings(&answer), is_stored)
}

/// The parts of an answer that must not depend on its source. The names around findings are not
/// among them, because a busy machine omits them.
fn findings(answer: &Value) -> Value {
    let parts = ["diagnostics", "count", "verdict", "incomplete", "files"];
    let mut parts = parts.map(|part| answer[part].clone());
    for item in parts[0].as_array_mut().into_iter().flatten() {
        item.as_object_mut().expect("a finding").remove("in");
    }
    json!(parts)
}

/// Like [`check`], repeated until it comes from the store: a slow disk is not waited for.
async fn stored_check(project: &Project, servers: &[&str], root: PathBuf) -> Value {
    for _ in 0..10 {
        if let (findings, true) = check(project, servers, root.clone()).await {
            return findings;
        }
    }
    panic!("the check is never stored");
}

fn entries(project: &Project) -> Vec<PathBuf> {
    let folder = fs::read_dir(project.beside("cache/reports")).into_iter().flatten().flatten();
    let files = folder.map(|entry| entry.path());
    files.filter(|path| !path.ends_with(".lock")).collect()
}

/// The changes after which nothing is stored; after others, a second check may be.
const REFUSED: [&str; 14] = [
    "large settings that lead out",
    "settings beside the interpreter",
    "settings that lead out",
    "a link to a folder outside",
    "a link to a folder inside",
    "a path file with code",
    "a module that an interpreter runs",
    "an import from above",
    "settings above the workspace",
    "an environment that shares packages",
    "a path file that leads up from a folder that is missing",
    "a package that contains itself by a link",
    "the path of the workspace in a finding",
    "a script without an extension that imports from above",
];

#[tokio::test(flavor = "multi_thread")]
async fn check_of_equal_tree_needs_no_server_and_check_of_changed_tree_does() {
    let project = shop();
    let root = project.root();
    let (first, is_stored) = check(&project, &SERVERS, root.clone()).await;
    assert!(!is_stored && first.to_string().contains("invalid-argument-type"), "{first}");
    assert!(first.to_string().contains("F401") && first[2] == "complete", "{first}");
    assert_eq!(stored_check(&project, &SERVERS, root.clone()).await, first);

    let other = project.beside("elsewhere/deep/copy/project");
    copy_folder(&root, &other);
    assert_eq!(check(&project, &SERVERS, other).await, (first.clone(), true), "of the same content");
    let named = project.beside("elsewhere/shop");
    copy_folder(&root, &named);
    assert!(!check(&project, &SERVERS, named).await.1, "its name is that of a module");

    let write = |name: &str, text: &str| project.write(name, text);
    type Change<'a> = (&'a str, Box<dyn Fn() + 'a>, Box<dyn Fn() + 'a>);
    let changes: Vec<Change<'_>> = vec![
        (
            "a file of the same length",
            Box::new(|| write("shop/cart.py", &CART.replace("int", "str"))),
            Box::new(|| write("shop/cart.py", CART)),
        ),
        (
            "an ignored file",
            Box::new(|| write("made.py", "VERSION = 2\n")),
            Box::new(|| write("made.py", "VERSION = 1\n")),
        ),
        (
            "settings",
            Box::new(|| write("ruff.toml", "[lint]\nignore = [\"F401\"]\n")),
            Box::new(|| fs::remove_file(root.join("ruff.toml")).unwrap()),
        ),
        (
            "settings that lead out",
            Box::new(|| write("ty.toml", "[environment]\nextra-paths = [\"../lib\"]\n")),
            Box::new(|| fs::remove_file(root.join("ty.toml")).unwrap()),
        ),
        (
            "large settings that lead out",
            Box::new(|| {
                let padding = "#".repeat(4 << 20);
                write("ty.toml", &format!("[environment]\nextra-paths = [\"../lib\"]\n{padding}\n"));
            }),
            Box::new(|| fs::remove_file(root.join("ty.toml")).unwrap()),
        ),
        (
            "settings beside the interpreter",
            Box::new(|| write(".venv/bin/pyvenv.cfg", "home = /usr/local/bin\n")),
            Box::new(|| fs::remove_dir_all(root.join(".venv/bin")).unwrap()),
        ),
        (
            "a module among bytecode",
            Box::new(|| write("shop/__pycache__/made.py", "x = 1\n")),
            Box::new(|| fs::remove_dir_all(root.join("shop/__pycache__")).unwrap()),
        ),
        (
            "a module in a hidden cache",
            Box::new(|| {
                write(".gen/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
                write(".gen/made.py", "x = 1\n");
            }),
            Box::new(|| fs::remove_dir_all(root.join(".gen")).unwrap()),
        ),
        (
            "an empty folder, which can be a package",
            Box::new(|| fs::create_dir(root.join("lib")).unwrap()),
            Box::new(|| fs::remove_dir(root.join("lib")).unwrap()),
        ),
        (
            "an executable file",
            Box::new(|| {
                fs::set_permissions(root.join("shop/cart.py"), Permissions::from_mode(0o755)).unwrap()
            }),
            Box::new(|| {
                fs::set_permissions(root.join("shop/cart.py"), Permissions::from_mode(0o644)).unwrap()
            }),
        ),
        (
            "a link to a folder outside",
            Box::new(|| symlink(project.beside("config"), root.join("out")).unwrap()),
            Box::new(|| fs::remove_file(root.join("out")).unwrap()),
        ),
        (
            "a link to a folder inside",
            Box::new(|| symlink("shop", root.join("link")).unwrap()),
            Box::new(|| fs::remove_file(root.join("link")).unwrap()),
        ),
        (
            "a module among installed packages of JavaScript",
            Box::new(|| write("node_modules/gen.py", "x = 1\n")),
            Box::new(|| fs::remove_dir_all(root.join("node_modules")).unwrap()),
        ),
        (
            "a path file with code",
            Box::new(|| write(PATH_FILE, "import _mypaths\n")),
            Box::new(|| fs::remove_file(root.join(PATH_FILE)).unwrap()),
        ),
        (
            "a module that an interpreter runs",
            Box::new(|| write(CUSTOM_MODULE, "")),
            Box::new(|| fs::remove_file(root.join(CUSTOM_MODULE)).unwrap()),
        ),
        (
            "an import from above",
            Box::new(|| write("shop/use.py", &format!("from ...other import x\n{USER}"))),
            Box::new(|| write("shop/use.py", USER)),
        ),
        (
            "settings above the workspace",
            Box::new(|| fs::write(root.with_file_name("ruff.toml"), "lint.ignore = [\"F401\"]\n").unwrap()),
            Box::new(|| fs::remove_file(root.with_file_name("ruff.toml")).unwrap()),
        ),
        (
            "an environment that shares packages",
            Box::new(|| write(".venv/pyvenv.cfg", &format!("{VENV}include-system-site-packages = true\n"))),
            Box::new(|| write(".venv/pyvenv.cfg", VENV)),
        ),
        (
            "a package's file of the same length",
            Box::new(|| write(PACKAGE, "two: int = 2\n")),
            Box::new(|| write(PACKAGE, "one: int = 1\n")),
        ),
        (
            "a path file that leads up from a folder that is missing",
            Box::new(|| write(PATH_FILE, "missing/../../../../../outside\n")),
            Box::new(|| fs::remove_file(root.join(PATH_FILE)).unwrap()),
        ),
        (
            "a package that contains itself by a link",
            Box::new(|| symlink("../pack", root.join(PACKAGE).with_file_name("again")).unwrap()),
            Box::new(|| fs::remove_file(root.join(PACKAGE).with_file_name("again")).unwrap()),
        ),
        (
            "a package whose folder has the name of that of programs",
            Box::new(|| write(&PACKAGE.replace("__init__", "bin/activate"), "x = 1\n")),
            Box::new(|| fs::remove_dir_all(root.join(PACKAGE).with_file_name("bin")).unwrap()),
        ),
        (
            "the path of the workspace in a finding",
            Box::new(|| write("shop/use.py", &format!("x: int = {:?}\n", root.display()))),
            Box::new(|| write("shop/use.py", USER)),
        ),
        (
            "a script without an extension that imports from above",
            Box::new(|| write("tool", "#!/usr/bin/env python3\nfrom ..other import x\n")),
            Box::new(|| fs::remove_file(root.join("tool")).unwrap()),
        ),
        (
            "a server of the project's environment",
            Box::new(|| {
                write(".venv/bin/ty", "#!/bin/sh\n");
                fs::set_permissions(root.join(".venv/bin/ty"), Permissions::from_mode(0o755)).unwrap();
            }),
            Box::new(|| fs::remove_dir_all(root.join(".venv/bin")).unwrap()),
        ),
        (
            "another name of the environment",
            Box::new(|| fs::rename(root.join(".venv"), root.join("venv")).unwrap()),
            Box::new(|| fs::rename(root.join("venv"), root.join(".venv")).unwrap()),
        ),
        (
            "a version of a server that the project names",
            Box::new(|| write("requirements.txt", "ty==0.0.1\n")),
            Box::new(|| fs::remove_file(root.join("requirements.txt")).unwrap()),
        ),
        (
            "the user's settings",
            Box::new(|| project.write_settings(&format!("{ON}limits.walk-files = 5_000\n"))),
            Box::new(|| project.write_settings(ON)),
        ),
    ];
    for (what, change, back) in &changes {
        change();
        assert!(!check(&project, &SERVERS, root.clone()).await.1, "after {what}");
        if REFUSED.contains(what) {
            assert!(!check(&project, &SERVERS, root.clone()).await.1, "{what} is stored");
        }
        back();
        assert_eq!(stored_check(&project, &SERVERS, root.clone()).await, first, "after {what}, undone");
    }
    write("README.md", "# Shop\n");
    write("shop/__pycache__/cart.cpython-311.pyc", "bytecode");
    write(".venv/pyvenv.cfg", &format!("{VENV}command = python -m venv {}\n", root.display()));
    // Servers read neither prose nor bytecode, nor how an environment was made.
    assert_eq!(stored_check(&project, &SERVERS, root.clone()).await[0], first[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn checked_file_in_an_environment_counts() {
    let project = shop();
    let root = project.root();
    fs::rename(root.join(".venv"), root.join("api")).unwrap();
    symlink("api", root.join(".venv")).unwrap();
    project.write("api/app.py", "import os\n");
    let first = stored_check(&project, &SERVERS, root.clone()).await;
    assert!(first.to_string().contains("api/app.py"), "{first}");
    project.write("api/app.py", "import os, sys\n");
    let (then, is_stored) = check(&project, &SERVERS, root).await;
    assert!(!is_stored && then != first, "{then}");
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_and_foreign_entries_of_the_store_are_not_used() {
    let project = shop();
    let first = stored_check(&project, &SERVERS, project.root()).await;
    let [entry] = <[PathBuf; 1]>::try_from(entries(&project)).expect("one entry");
    let whole = fs::read_to_string(&entry).expect("the entry");
    let cut = &whole[..whole.len() / 2];
    let newer = whole.replace("\"form\":3", "\"form\":4");
    assert_ne!(newer, whole);
    for broken in [cut, &newer, "", "[]", "<html>login</html>", "{\"form\":3}"] {
        fs::write(&entry, broken).expect("the entry");
        let (again, is_stored) = check(&project, &SERVERS, project.root()).await;
        assert_eq!((again, is_stored), (first.clone(), false), "{broken:.20}");
        // A valid entry replaces it.
        assert_eq!(stored_check(&project, &SERVERS, project.root()).await, first);
    }
    fs::remove_file(&entry).expect("the entry");
    fs::create_dir(&entry).expect("a folder in its place");
    assert_eq!(check(&project, &SERVERS, project.root()).await, (first, false));
}

#[test]
fn store_is_shown_emptied_and_switched_off() {
    let project = shop();
    let servers = crate::support::real_servers(&SERVERS);
    let run = |arguments: &[&str]| {
        let output = project.command(Some(&servers)).args(arguments).output().expect("the program");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    assert!(run(&["store", "status"]).0.ends_with("contains no stored check\n"));
    let (findings, _) = run(&["check"]);
    let until_stored = || {
        let tries = std::iter::repeat_with(|| run(&["check"])).take(10);
        tries.into_iter().find(|(_, notes)| notes.contains("are from a check")).expect("a stored check")
    };
    assert_eq!(until_stored().0, findings);
    let status = run(&["store", "status"]).0;
    assert!(status.contains("contains 1 stored check, ") && status.ends_with(" ago\n"), "{status}");
    assert!(!run(&["check", "--no-store"]).1.contains("are from a check"));
    assert!(run(&["check", "shop/use.py"]).1.contains("the findings of 1 file are from a check"));
    let [entry] = <[PathBuf; 1]>::try_from(entries(&project)).expect("one entry");
    let text = fs::read_to_string(&entry).expect("the entry");
    let (before, after) = text.split_once("\"written\":").expect("the time");
    let later = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
    for impossible in [0, u64::MAX] {
        fs::write(&entry, format!("{before}\"written\":{impossible}{later}")).expect("the entry");
        let (shown, notes) = run(&["check"]);
        assert!(shown == findings && !notes.contains("are from a check"), "{impossible}: {shown}{notes}");
    }
    project.write_settings(&format!("{ON}permissions.deny = [\"read(shop/cart.py)\"]\n"));
    let (shown, notes) = run(&["check"]);
    assert!(!notes.contains("are from a check") && !shown.contains("def total"), "{shown}{notes}");
    project.write_settings(ON);
    assert!(run(&["store", "forget"]).0.contains("no longer contains 1 stored check"));
    assert!(run(&["store", "status", "--format", "json"]).0.contains("\"checks\":0"));
    project.write_settings("");
    run(&["check"]);
    assert!(entries(&project).is_empty());
}

#[test]
fn earlier_tree_of_a_comparison_is_checked_from_the_store() {
    let project = shop();
    let servers = crate::support::real_servers(&SERVERS);
    project.write(".gitignore", ".venv\nmade.py\n");
    git(&project.root(), &["init", "-q"]);
    commit(&project.root());
    let trace = project.beside("trace");
    // The findings, and the number of servers that were started.
    let compare = |words: &[&str]| {
        let mut command = project.command(Some(&servers));
        command.args(["check", "--against", "HEAD", "--no-daemon", "--trace"]).arg(&trace);
        let output = command.args(words).output().expect("the program");
        let messages = fs::read_to_string(&trace).expect("the trace");
        fs::remove_file(&trace).expect("the trace");
        (output.stdout, messages.matches("\"method\":\"initialize\"").count())
    };
    for _ in 0..10 {
        let output = project.command(Some(&servers)).args(["check", "--no-daemon"]).output();
        if String::from_utf8_lossy(&output.expect("the program").stderr).contains("are from a check") {
            break;
        }
    }
    project.write("shop/use.py", format!("{USER}y: int = total(\"4\")\n"));
    let (findings, started) = compare(&[]);
    let (anew, started_anew) = compare(&["--no-store"]);
    assert!(String::from_utf8_lossy(&findings).contains("shop/use.py:4"));
    assert_eq!((findings, 2 * started), (anew, started_anew));
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_of_slow_server_are_stored_by_default() {
    let project = shop();
    project.write_settings("answer-store = false\n");
    let (first, _) = check(&project, &["pyright"], project.root()).await;
    assert!(entries(&project).is_empty() && first.to_string().contains("reportArgumentType"), "{first}");
    project.write_settings("");
    assert_eq!(stored_check(&project, &["pyright"], project.root()).await, first);
}

/// The texts that a random edit gives each file; an empty text stands for a missing file.
const STATES: [(&str, &[&str]); 9] = [
    ("shop/cart.py", &[CART, "def total(n: str) -> str:\n    return n\n", "total: int = 3\n"]),
    ("shop/use.py", &[USER, "import made\nimport lib\n\nx: str = made.VERSION\n", ""]),
    ("shop/more.py", &["", "from shop import cart as cart\nfrom pack import one\n\none.two\n"]),
    ("made.py", &["VERSION = 1\n", "VERSION = \"1\"\n", ""]),
    ("lib/note.txt", &["", "a folder can be a package\n"]),
    ("ruff.toml", &["", "[lint]\nselect = [\"E\", \"F\", \"I\"]\n"]),
    (
        "pyproject.toml",
        &[
            "[project]\nname = \"shop\"\nversion = \"1\"\n",
            "[tool.pyright]\nstrict = [\"shop\"]\n",
            "[tool.ty.rules]\ninvalid-argument-type = \"ignore\"\n",
        ],
    ),
    (".venv/lib/python3.11/site-packages/pack/one.py", &["two: int = 2\n", "three: int = 3\n", ""]),
    (".venv/pyvenv.cfg", &[VENV, "home = /usr/bin\nversion = 3.12.1\n"]),
];

/// The most edits that are not yet undone: states that occurred before come again.
const MAX_EDITS_TO_UNDO: usize = 3;

/// After each random edit, half of which undo an earlier one, compares the store's answer with those
/// of fresh servers.
async fn soak(servers: &'static [&'static str], steps: usize, seed: u64) {
    let (project, anew) = (shop(), Project::new([]));
    anew.write_settings("answer-store = false\n");
    let check = async |settings: &Project| {
        let shop = settings.opening().servers(servers).workspace(project.root()).open();
        let answer = shop.answer("lsp_diagnostics", json!({"paths": ["."]})).await;
        shop.shutdown().await;
        (findings(&answer), answer["notes"].to_string().contains("are from a check"))
    };
    let mut random = seed;
    let mut next = |below: usize| {
        // Knuth's generator, of which only the high bits are random.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    let (mut stored, mut edits, mut to_undo) = (0, 0, Vec::new());
    for step in 0..steps {
        let goes_back = next(2) == 0 || to_undo.len() == MAX_EDITS_TO_UNDO;
        let (file, texts) = STATES[next(STATES.len())];
        let earlier = to_undo.pop_if(|_| goes_back);
        let is_new = earlier.is_none();
        let (file, text) = earlier.unwrap_or_else(|| (file, texts[next(texts.len())].to_owned()));
        let before = fs::read_to_string(project.path(file)).unwrap_or_default();
        if before == text {
            continue;
        }
        if is_new {
            to_undo.push((file, before));
        }
        match text.as_str() {
            "" => _ = fs::remove_file(project.path(file)),
            text => project.write(file, text),
        }
        edits += 1;
        let (findings, is_stored) = check(&project).await;
        if is_stored {
            stored += 1;
            assert_eq!(
                (findings, false),
                check(&anew).await,
                "seed {seed}, step {step}, after an edit of {file}"
            );
        }
    }
    println!(
        "{servers:?}, seed {seed}: {stored} of {edits} checks from the store, all as those of fresh servers"
    );
    assert!(stored * 10 > edits, "the store was hardly used");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes: just store-soak"]
async fn stored_checks_equal_those_of_fresh_servers_after_random_edits() {
    soak(&["ty", "ruff"], 300, 20_261_128).await;
    soak(&["pyright"], 100, 2).await;
    soak(&["basedpyright"], 100, 3).await;
    soak(&["pylsp"], 100, 4).await;
}
