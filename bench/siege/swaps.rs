//! Folders exchanged repeatedly for links that lead out, while every file tool works in them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{RenameFlags, renameat_with};
use serde_json::{Value, json};

use crate::chaos::Dice;
use crate::report::Row;
use crate::support::{Project, TestWorkspace};

/// The content of every file outside.
const SECRET: &str = "the-secret-of-the-siege";
/// The number of concurrent callers.
const CALLERS: usize = 4;

#[derive(Default)]
struct Counts {
    exchanges: AtomicUsize,
    calls: AtomicUsize,
    done: AtomicUsize,
    leaks: AtomicUsize,
    /// Internal errors.
    internal: AtomicUsize,
    /// Unexpected answers.
    odd: AtomicUsize,
}

pub fn run(time: Duration) -> Vec<Row> {
    let project = Project::new([
        ("d/f", "inside\n"),
        ("d/e", "inside\n"),
        ("d/sub/g", "inside\n"),
        ("kept", "inside\n"),
    ]);
    fs::write(project.beside("config").join("lsp-tools.toml"), "[permissions]\nprofile = \"all\"\n")
        .expect("settings");
    let outside = project.beside("outside");
    fs::create_dir_all(outside.join("sub")).expect("a folder");
    for name in ["f", "e", "gone", "sub/g"] {
        fs::write(outside.join(name), SECRET).expect("a file");
    }
    symlink(&outside, project.path("link")).expect("a link");
    symlink(outside.join("sub"), project.path("d/other")).expect("a link");
    let before = tree(&outside);
    let tokio = tokio::runtime::Runtime::new().expect("tokio");
    let _inside = tokio.enter();
    let workspace = project.open();
    let (counts, over) = (Counts::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (root, counts, over) = (project.root(), &counts, &over);
        // The folder is opened, because its path leads out half of the time.
        for (folder, one, other) in [(root.clone(), "d", "link"), (root.join("d"), "sub", "other")] {
            let folder = fs::File::open(folder).expect("a folder");
            scope.spawn(move || exchange(&folder, one, other, over, &counts.exchanges));
        }
        tokio.block_on(async {
            let end = Instant::now() + time;
            let callers = (0..CALLERS).map(|number| work(&workspace, number, end, counts));
            futures::future::join_all(callers).await;
        });
        over.store(true, Ordering::Relaxed);
    });
    let escapes = usize::from(tree(&outside) != before);
    // The next edit removes leftovers.
    tokio.block_on(workspace.call("mkdir", json!({"path": "last"})));
    let strays = tree(&project.root()).keys().filter(|path| is_stray(path)).count();
    tokio.block_on(workspace.shutdown());
    let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    let tried = format!(
        "{} calls ({} of them done) under {} exchanges",
        read(&counts.calls),
        read(&counts.done),
        read(&counts.exchanges)
    );
    let faults = [
        ("escapes", escapes),
        ("leaks", read(&counts.leaks)),
        ("strays", strays),
        ("internal errors", read(&counts.internal)),
        ("odd answers", read(&counts.odd)),
    ];
    vec![Row::new("swaps", tried, read(&counts.exchanges).min(read(&counts.done)), faults)]
}

fn exchange(folder: &fs::File, one: &str, other: &str, over: &AtomicBool, exchanges: &AtomicUsize) {
    let mut number = 0_usize;
    // An even number, which restores the original state.
    while !over.load(Ordering::Relaxed) || number % 2 == 1 {
        // A tool may have removed one of them at this moment.
        if renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE).is_ok() {
            number += 1;
            exchanges.fetch_add(1, Ordering::Relaxed);
        } else if over.load(Ordering::Relaxed) {
            break;
        }
        // Without pauses, the file system does little else.
        if number.is_multiple_of(64) {
            std::thread::yield_now();
        }
    }
}

async fn work(workspace: &TestWorkspace, number: usize, end: Instant, counts: &Counts) {
    let mut dice = Dice(0x51e9_e001 + number as u64);
    while Instant::now() < end {
        let (tool, arguments) = question(&mut dice);
        let shown = arguments.to_string();
        let result = workspace.call(tool, arguments).await;
        counts.calls.fetch_add(1, Ordering::Relaxed);
        let said = format!("{} {:?} {:?}", result.value, result.text, result.error);
        let fault = match result.value["code"].as_str() {
            _ if said.contains(SECRET) => &counts.leaks,
            Some("internal") => &counts.internal,
            None if !result.ok() => &counts.odd,
            _ if result.ok() => &counts.done,
            _ => continue,
        };
        fault.fetch_add(1, Ordering::Relaxed);
        if !std::ptr::eq(fault, &counts.done) {
            eprintln!("{tool} {shown}: {said}");
        }
    }
}

fn question(dice: &mut Dice) -> (&'static str, Value) {
    let files = ["d/f", "d/e", "d/gone", "d/sub/g", "d/other/g", "link/f", "d/new/h", "kept"];
    let folders = ["d", "d/sub", "link", ".", "d/new"];
    let file = files[dice.below(files.len())];
    let other = files[dice.below(files.len())];
    let folder = folders[dice.below(folders.len())];
    let patch = format!("--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-inside\n+inside\n");
    let added = format!("--- /dev/null\n+++ b/{file}\n@@ -0,0 +1 @@\n+inside\n");
    let quiet = |mut arguments: Value| {
        arguments["diagnostics"] = json!(false);
        arguments
    };
    match dice.below(14) {
        0 => ("read", json!({"path": file})),
        1 => ("list", json!({"path": folder, "recursive": true})),
        2 => ("glob", json!({"pattern": "**/*", "path": folder})),
        3 => ("grep", json!({"pattern": "i", "path": folder, "semantic": false})),
        4 | 5 => ("write", quiet(json!({"path": file, "content": "inside\n", "overwrite": true}))),
        6 => ("edit", quiet(json!({"path": file, "edits": [{"old": "inside", "new": "inside"}]}))),
        7 => ("patch", quiet(json!({"patch": patch}))),
        8 => ("patch", quiet(json!({"patch": added}))),
        9 => ("move", quiet(json!({"from": file, "to": other}))),
        10 => ("delete", quiet(json!({"path": file}))),
        11 => ("mkdir", json!({"path": "d/new"})),
        12 => ("undo", json!({})),
        _ => ("grep", json!({"pattern": SECRET, "semantic": false})),
    }
}

/// Every path below `folder`, with a file's content or a link's target.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder").map(|entry| entry.expect("an entry")) {
            let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
            let content = if kind.is_symlink() {
                fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
            } else if kind.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).expect("a file")
            };
            found.insert(path.strip_prefix(folder).expect("below").to_owned(), content);
        }
    }
    found
}

fn is_stray(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b".lsp-tools-tmp-"))
}
