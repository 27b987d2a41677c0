//! Invalid input on the command line: a clear sentence, the right exit status, and an end in
//! bounded time.
//!
//! The server is the scripted one, for the fictitious language of `.scr` files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Project, fingerprint, wait_until};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(60);
const TEXT: &str = "def foo\nfoo WRONG\n";

/// The output of a run.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

fn project() -> Project {
    Project::scripted(&json!({}), "", [("a.scr", TEXT)])
}

fn run<A: AsRef<OsStr>>(project: &Project, arguments: &[A]) -> Said {
    let mut command = project.command(None);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begun = Instant::now();
    let mut child = command.spawn().expect("the program");
    let shown: Vec<_> = arguments.iter().map(|argument| argument.as_ref().to_string_lossy()).collect();
    wait_until(&shown.join(" "), SOON, || child.try_wait().expect("its status").is_some());
    let Output { status, stdout, stderr } = child.wait_with_output().expect("its output");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let said = Said { code: status.code(), out: text(stdout), err: text(stderr) };
    eprintln!("{} ({:?}): {said:?}", shown.join(" "), begun.elapsed());
    assert!(!said.err.contains("panicked"), "{said:?}");
    said
}

/// Words of the command line may come from anywhere; an error must not contain commands of a CI
/// system.
#[test]
fn usage_error_shows_words_of_the_command_line_escaped() {
    let project = project();
    let words = ["x\n::error::y", "\u{202e}gnp", "a\u{1b}[31mb", "c\u{85}d", "e\rf"];
    for word in words {
        for arguments in [&["list", "a", word][..], &["init", word], &[word], &["check", "--severity", word]]
        {
            let said = run(&project, arguments);
            assert_eq!(said.code, Some(2), "{said:?}");
            let unsafe_ones =
                |character: char| character.is_control() && character != '\n' || character == '\u{202e}';
            assert!(
                !said.err.contains(unsafe_ones) && !said.err.contains("\n::error"),
                "{arguments:?}: {said:?}"
            );
        }
    }
}

/// `hover ADDRESS`, `check FILE` and `symbols FILE` of the same file.
fn all_three(project: &Project, file: &OsStr) -> [Said; 3] {
    let mut address = file.to_owned();
    address.push(":1:1");
    [
        run(project, &[OsStr::new("hover"), &address]),
        run(project, &[OsStr::new("check"), file]),
        run(project, &[OsStr::new("symbols"), file]),
    ]
}

/// Asserts that all three commands refuse the file with the sentence and the status.
#[track_caller]
fn refused(project: &Project, file: impl AsRef<OsStr>, sentence: &str, code: i32) {
    for said in all_three(project, file.as_ref()) {
        assert!(said.err.contains(sentence), "{said:?} does not say: {sentence}");
        assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{said:?}");
    }
}

/// Writes the file and asserts that it is refused.
#[track_caller]
fn refused_bytes(name: &str, bytes: &[u8], sentence: &str) {
    let project = project();
    fs::write(project.path(name), bytes).expect("a file");
    refused(&project, name, sentence, 2);
    assert_eq!(project.log().starts(), 0, "no server is started for it");
}

#[test]
fn position_outside_text_error_names_what_exists() {
    let project = project();
    let said = |address: &str, code: i32| {
        let said = run(&project, &["hover", address]);
        assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{said:?}");
        said.err
    };
    assert!(said("a.scr:99:1", 2).contains("a.scr has 2 lines, so there is no line 99"));
    assert!(said("a.scr:1:99", 2).contains("line 1 of a.scr has 7 characters, so there is no column 99"));
    assert!(said("a.scr:0:1", 2).contains("lines and columns start at 1"));
    assert!(said("a.scr:1:0", 2).contains("lines and columns start at 1"));
    assert!(said("a.scr:4294967296:1", 2).contains("4294967296 is too large for a line or column"));
    assert!(said("a.scr:1:nosuch", 2).contains("a.scr does not contain the name `nosuch`"));
    assert!(said("nosuch.scr:1:1", 2).contains("`nosuch.scr` does not exist"));
    // The end of a line and the empty last line are valid positions without a symbol.
    assert_eq!(run(&project, &["hover", "a.scr:3:1"]).code, Some(1));
}

#[test]
fn file_that_is_not_utf_8_text_is_refused_with_reason() {
    refused_bytes("a.scr", b"\x7fELF\0\0\x01", "`a.scr` is binary (a NUL byte at offset 4), not text");
    refused_bytes(
        "a.scr",
        b"def caf\xe9\n",
        "not UTF-8 (byte 0xE9 at line 1, column 8; perhaps Latin-1 or Windows-1252)",
    );
    let utf16 = "def foo\n".encode_utf16().flat_map(u16::to_le_bytes);
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(utf16).collect();
    refused_bytes("a.scr", &utf16, "seems to be UTF-16 (little endian), not UTF-8; convert it to UTF-8");
    refused_bytes("a.scr", b"def foo\n\xed\xa0\x80\n", "not UTF-8");
}

#[test]
fn huge_file_is_refused_at_once() {
    let project = project();
    fs::File::create(project.path("large.scr")).expect("a file").set_len(200 << 20).expect("a size");
    refused(&project, "large.scr", "`large.scr`", 2);
}

#[test]
fn special_file_is_refused_by_its_kind() {
    let project = project();
    fs::create_dir(project.path("dir.scr")).expect("a folder");
    let said = run(&project, &["hover", "dir.scr:1:1"]);
    assert!(
        said.code == Some(2) && said.err.contains("`dir.scr` is a directory; give a file in it"),
        "{said:?}"
    );
    let said = run(&project, &["check", "dir.scr"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), "no problems, 0 files checked\n"));
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mkfifoat(rustix::fs::CWD, project.path("fifo.scr"), mode).expect("a FIFO");
    refused(
        &project,
        "fifo.scr",
        "`fifo.scr` is a named pipe (FIFO), not a regular file, and is never opened",
        2,
    );
    let _listens = std::os::unix::net::UnixListener::bind(project.path("socket.scr")).expect("a socket");
    refused(&project, "socket.scr", "`socket.scr` is a socket", 2);
    assert_eq!(project.log().starts(), 0, "no server is started for them");
}

#[test]
fn symlinks_dangling_or_out_of_workspace_are_refused() {
    let project = project();
    fs::write(project.beside("outside.scr"), "def foo\n").expect("a file");
    symlink(project.beside("outside.scr"), project.path("out.scr")).expect("a link");
    symlink(project.beside(""), project.path("up")).expect("a link");
    symlink("loop.scr", project.path("loop.scr")).expect("a link");
    symlink("nowhere.scr", project.path("dangling.scr")).expect("a link");
    symlink("/dev/zero", project.path("zero.scr")).expect("a link");
    refused(&project, "out.scr", "`out.scr` leads out of the workspace through a symbolic link", 2);
    refused(&project, "up/outside.scr", "leads out of the workspace through a symbolic link", 2);
    refused(&project, "zero.scr", "leads out of the workspace through a symbolic link", 2);
    refused(&project, "../outside.scr", "`../outside.scr` lies outside the workspace", 2);
    assert_eq!(project.log().starts(), 0, "no server is started for them");
    for (link, sentence, code) in [
        ("loop.scr", "`loop.scr` cannot be followed: its symbolic links form a loop", 2),
        ("dangling.scr", "`dangling.scr` does not exist", 2),
    ] {
        for arguments in [["hover".to_owned(), format!("{link}:1:1")], ["check".to_owned(), link.to_owned()]]
        {
            let said = run(&project, &arguments);
            assert!(said.code == Some(code) && said.err.contains(sentence), "{said:?}");
        }
    }
    symlink("a.scr", project.path("fine.scr")).expect("a link");
    let said = run(&project, &["hover", "fine.scr:1:5"]);
    assert!(
        said.code == Some(0) && said.out.contains(&fingerprint(TEXT)),
        "a link inside is a file: {said:?}"
    );
}

#[test]
fn unreadable_file_error_names_permission() {
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let project = project();
    fs::set_permissions(project.path("a.scr"), fs::Permissions::from_mode(0o000)).expect("a mode");
    let root = rustix::process::geteuid().is_root();
    if root {
        // The superuser can read every file, so the program runs as another user.
        for folder in [project.beside(""), project.root(), project.beside("config")] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        for name in ["state", "data", "cache", "logs"] {
            std::os::unix::fs::chown(project.beside(name), Some(NOBODY), Some(NOBODY)).expect("an owner");
        }
    }
    for arguments in [&["hover", "a.scr:1:1"][..], &["check", "a.scr"], &["symbols", "a.scr"]] {
        let mut command = project.command(None);
        command.args(arguments).stdin(Stdio::null());
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = match command.output() {
            Err(error) if root && error.kind() == std::io::ErrorKind::PermissionDenied => {
                eprintln!("not tried: only root can reach the program");
                return;
            }
            output => output.expect("the program"),
        };
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("`a.scr`") && told.contains("permission"), "{told}");
        assert_eq!(output.status.code(), Some(5), "{told}");
    }
}

#[test]
fn empty_file_has_no_hover_diagnostics_or_symbols() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "")]);
    let [hover, check, symbols] = all_three(&project, OsStr::new("a.scr"));
    assert_eq!((hover.code, hover.err.as_str()), (Some(1), "no hover information here\n"));
    assert_eq!((check.code, check.out.as_str()), (Some(0), "no problems, 1 file checked\n"));
    assert_eq!((symbols.code, symbols.err.as_str()), (Some(1), "the file has no symbols\n"));
}

#[test]
fn file_name_not_utf_8_is_shown_escaped() {
    let project = project();
    let odd = OsStr::from_bytes(b"odd\xff.unknown");
    fs::write(project.root().join(odd), TEXT).expect("a file");
    for said in all_three(&project, odd) {
        assert!(said.err.contains("the language of odd\\xff.unknown is unknown"), "{said:?}");
        assert_eq!(said.code, Some(3), "{said:?}");
    }
}

#[test]
fn file_name_not_utf_8_language_comes_from_extension() {
    let project = project();
    let odd = OsStr::from_bytes(b"odd\xff.scr");
    fs::write(project.root().join(odd), TEXT).expect("a file");
    let [hover, check, symbols] = all_three(&project, odd);
    assert!(hover.out.contains(&fingerprint(TEXT)), "{hover:?}");
    assert!(check.out.contains("odd\\xff.scr:2:5") && check.code == Some(1), "{check:?}");
    assert!(symbols.out.contains("foo") && symbols.code == Some(0), "{symbols:?}");
}

#[test]
fn columns_count_characters_for_any_prefix_and_line_ending() {
    let text = "def foo\r\n😀😀 foo\re\u{301}\u{301} 中文 foo\n\tWRONG 👨\u{200d}👩 foo\r\n";
    let project = Project::scripted(&json!({"encoding": "utf-16"}), "", [("a.scr", text)]);
    let lines: Vec<&str> = text.split(['\r', '\n']).filter(|line| !line.is_empty()).collect();
    for (number, line) in lines.iter().enumerate() {
        let before = line.split_once("foo").expect("foo").0.chars().count();
        let address = format!("a.scr:{}:{}", number + 1, before + 1);
        let said = run(&project, &["hover", &address, "--format", "json"]);
        assert_eq!(said.code, Some(0), "{address}: {said:?}");
        let answer: Value = serde_json::from_str(&said.out).expect("JSON");
        assert_eq!(answer["contents"], format!("foo v1 {}", fingerprint(text)), "{address}");
        assert_eq!(answer["range"]["start"], json!({"line": number, "character": before}), "{address}");
        assert_eq!(answer["range"]["end"], json!({"line": number, "character": before + 3}), "{address}");
    }
    let said = run(&project, &["check", "a.scr", "--format", "json"]);
    let answer: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(answer["diagnostics"][0]["at"], "4:2-7", "{said:?}");
    assert_eq!(said.code, Some(1));
}

#[test]
fn file_deleted_and_recreated_is_found_or_reported_missing() {
    let project = project();
    let (path, beside) = (project.path("a.scr"), project.path("b.tmp"));
    let stop = Arc::new(Stop(AtomicBool::new(false)));
    let stopped = Arc::clone(&stop);
    let deleting = std::thread::spawn(move || {
        while !stopped.0.load(Ordering::Relaxed) {
            fs::remove_file(&path).expect("a removal");
            fs::write(&beside, TEXT).expect("a file");
            fs::rename(&beside, &path).expect("a rename");
        }
    });
    {
        let _stops_when_this_fails = StopOnDrop(&stop);
        for round in 0..8 {
            let arguments =
                [&["hover", "a.scr:1:5"][..], &["check", "a.scr"], &["symbols", "a.scr"], &["check"]]
                    [round % 4];
            let said = run(&project, arguments);
            let found = said.err.is_empty() && matches!(said.code, Some(0 | 1));
            let gone = said.err.contains("does not exist")
                || said.err.contains("no file has that name")
                || said.err.contains("no files of a known language");
            let moving = said.err.contains("kept changing") || said.err.contains("changed while");
            assert!(
                found || gone && matches!(said.code, Some(1 | 2)) || moving || arguments == ["check"],
                "{arguments:?}: {said:?}"
            );
        }
    }
    deleting.join().expect("the deleting thread");
}

/// Ends the deleting thread, even if the test fails.
struct StopOnDrop<'a>(&'a Stop);

struct Stop(AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn check_with_unreadable_files_still_checks_the_others() {
    let project = project();
    fs::write(project.path("binary.scr"), b"\x7fELF\0").expect("a file");
    fs::write(project.path("latin.scr"), b"caf\xe9\n").expect("a file");
    let said = run(&project, &["check", "--format", "json"]);
    let answer: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((&answer["count"], &answer["files"], said.code), (&json!(1), &json!(1), Some(1)), "{said:?}");
    let notes = answer["notes"].to_string();
    assert!(
        notes.contains("`binary.scr` is binary") && notes.contains("`latin.scr` is not UTF-8"),
        "{notes}"
    );
}
