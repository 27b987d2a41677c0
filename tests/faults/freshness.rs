//! Files that other programs change: no answer is about outdated text.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use lsp_tools::Verdict;
use serde_json::{Value, json};

use super::play::{Play, SOON, in_time};
use crate::support::fingerprint;

/// The ways of writing by other programs.
const WAYS: [Way; 4] = [Way::InPlace, Way::Rename, Way::SameSize, Way::Shell];

#[derive(Debug, Clone, Copy)]
enum Way {
    /// Truncated and written.
    InPlace,
    /// Written to another file and renamed over it.
    Rename,
    /// Overwritten with the same size, and with the old modification time restored.
    SameSize,
    /// By another process.
    Shell,
}

impl Way {
    fn write(self, path: &Path, text: &str) {
        match self {
            Self::InPlace => fs::write(path, text).expect("a file"),
            Self::Rename => {
                let beside = path.with_extension("tmp");
                fs::write(&beside, text).expect("a file");
                fs::rename(beside, path).expect("a rename");
            }
            Self::SameSize => {
                let before = fs::metadata(path).expect("a file");
                assert_eq!(before.size(), text.len() as u64);
                let file = fs::OpenOptions::new().write(true).open(path).expect("a file");
                std::io::Write::write_all(&mut &file, text.as_bytes()).expect("a write");
                file.set_modified(before.modified().expect("a time")).expect("a time");
            }
            Self::Shell => {
                let mut shell = Command::new("sh");
                shell.args(["-c", "printf %s \"$1\" > \"$2\"", "sh", text]).arg(path);
                assert!(shell.status().expect("a shell").success());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn outside_writes_of_any_kind_are_seen_by_next_check() {
    for mode in [json!({}), json!({"mode": "pull"})] {
        for way in WAYS {
            let play = Play::with(&json!({ "diagnostics": mode }), "", [("a.scr", "def foo RIGHT\n")]);
            for round in 0..30 {
                let text = if round % 2 == 0 { "def foo WRONG\n" } else { "def foo RIGHT\n" };
                way.write(&play.project.path("a.scr"), text);
                if let Some(stale) = play.stale("a.scr").await {
                    panic!("{way:?} {mode}, round {round}: {stale}");
                }
            }
            play.end().await;
        }
    }
}

/// Registers for events of `**/*.scr` when the first document is opened.
fn watching() -> Value {
    let registration = json!({
        "id": "watch-1",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": {"watchers": [{"globPattern": "**/*.scr"}]},
    });
    let request = json!({
        "method": "client/registerCapability",
        "params": {"registrations": [registration]},
        "id": "watch",
    });
    json!({"rules": [{"at": "textDocument/didOpen", "do": {"request": request}}]})
}

/// The event types that the server received for the file, in order.
fn events(play: &Play, ending: &str) -> Vec<u64> {
    let params = play.log().params("workspace/didChangeWatchedFiles");
    let changes = params.iter().flat_map(|params| params["changes"].as_array().cloned().unwrap_or_default());
    changes
        .filter(|change| change["uri"].as_str().is_some_and(|uri| uri.ends_with(ending)))
        .filter_map(|change| change["type"].as_u64())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_files_reach_server_before_next_answer() {
    let files = [("a.scr", "def foo\n"), ("b.scr", "def bar\n"), ("closed.scr", "def closed\n")];
    let play = Play::with(&watching(), "", files);
    play.seen("a.scr").await;
    play.seen("b.scr").await;
    play.log().wait_for("the registration", SOON, |log| log.answer(&json!("watch")));
    play.project.write("b.scr", "def bar baz\n");
    play.project.write("closed.scr", "def closed again\n");
    play.project.write("new.scr", "def new\n");
    play.seen("a.scr").await;
    assert_eq!(play.log().text("/b.scr").as_deref(), Some("def bar baz\n"), "an open file is sent");
    assert!(events(&play, "/closed.scr").contains(&2), "{:?}", events(&play, "/closed.scr"));
    assert!(events(&play, "/new.scr").contains(&1), "{:?}", events(&play, "/new.scr"));
    fs::remove_file(play.project.path("closed.scr")).expect("a removal");
    play.seen("a.scr").await;
    assert_eq!(events(&play, "/closed.scr").last(), Some(&3));
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_file_is_closed_and_recreated_file_reopened() {
    let play = Play::with(&watching(), "", [("a.scr", "def foo\n"), ("b.scr", "def bar\n")]);
    play.seen("a.scr").await;
    play.seen("b.scr").await;
    for round in 0..5 {
        fs::remove_file(play.project.path("a.scr")).expect("a removal");
        let error = in_time(play.hover("a.scr")).await.expect_err("no file");
        assert_eq!(error.code, lsp_tools::ErrorCode::NotFound, "{error:?}");
        play.seen("b.scr").await;
        let text = format!("def foo again {round}\n");
        play.project.write("a.scr", &text);
        assert!(play.seen("a.scr").await.ends_with(&fingerprint(&text)));
    }
    assert_eq!(play.log().count("textDocument/didClose"), 5);
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mass_file_changes_leave_no_stale_documents() {
    let play = Play::with(&watching(), "", [("a.scr", "def foo\n")]);
    let name = |number: usize| format!("dir{}/sub/file{number}.scr", number % 17);
    let write = |generation: usize| {
        for number in 0..300 {
            play.project.write(&name(number), format!("def word{number} generation{generation}\n"));
        }
    };
    write(0);
    for number in 0..20 {
        play.seen(&name(number)).await;
    }
    for generation in 1..4 {
        if generation == 2 {
            for number in 0..17 {
                fs::remove_dir_all(play.project.path(&format!("dir{number}"))).expect("a removal");
            }
        }
        write(generation);
        for number in [0, 3, 19] {
            let stale = play.stale(&name(number)).await;
            assert_eq!(stale, None, "generation {generation}");
        }
        for number in 0..20 {
            let path = name(number);
            assert_eq!(
                play.log().text(&format!("/{path}")),
                Some(play.project.read(&path)),
                "generation {generation}"
            );
        }
    }
    play.end().await;
}

/// A small generator of numbers; the same seed gives the same numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_document_equals_disk_after_each_random_edit() {
    const PIECES: [&str; 16] = [
        "a",
        "foo",
        " ",
        "\n",
        "\r\n",
        "\r",
        "😀",
        "e\u{301}",
        "\u{1F468}\u{200D}\u{1F469}",
        "ß",
        "\u{2028}",
        "\t",
        "中文",
        "\u{85}",
        "\u{FEFF}",
        "WRONG",
    ];
    for (encoding, announce) in [("utf-8", true), ("utf-16", true), ("utf-32", true), ("utf-16", false)] {
        for sync in ["incremental", "full"] {
            let scenario = json!({"encoding": encoding, "announce": announce, "sync": sync});
            let play = Play::with(&scenario, "", [("a.scr", "x def foo\r\n😀 e\u{301} bar\n")]);
            let mut numbers = Numbers(0x5eed + sync.len() as u64);
            let mut characters: Vec<char> = play.project.read("a.scr").chars().collect();
            for edit in 0..100 {
                let from = 1 + numbers.below(characters.len());
                let to = from + numbers.below(4).min(characters.len() - from);
                let count = numbers.below(5);
                let new: String = (0..count).map(|_| PIECES[numbers.below(PIECES.len())]).collect();
                characters.splice(from..to, new.chars());
                let text: String = characters.iter().collect();
                play.project.write("a.scr", &text);
                let seen = play.seen("a.scr").await;
                assert!(seen.ends_with(&fingerprint(&text)), "{encoding} {sync} {edit}: {seen}, {text:?}");
            }
            assert_eq!(play.log().text("/a.scr"), Some(play.project.read("a.scr")));
            assert_eq!(play.findings("a.scr").await.0, Verdict::Complete);
            play.end().await;
        }
    }
}
