//! Real diffs: the output of `git diff` for two releases of well-known crates, applied by us and by
//! `git apply`.
//!
//! The releases come through `cargo vendor` into `target/test-corpus`, once. Without a network the
//! tests report that they were skipped; otherwise they use at least 500 different diffs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use super::super::{
    ApplyError, ApplyOptions, FileMode, FilePatch, FilePatchOperation, MismatchReason, PatchForm, PatchPath,
    apply, apply_all, parse,
};
use crate::skipped::skipped;

/// Old and new releases.
const RELEASES: [(&str, &str, &str); 9] = [
    ("anyhow", "1.0.30", "1.0.80"),
    ("bytes", "1.1.0", "1.9.0"),
    ("itertools", "0.10.0", "0.13.0"),
    ("regex-syntax", "0.6.20", "0.8.2"),
    ("semver", "1.0.0", "1.0.20"),
    ("textwrap", "0.13.0", "0.16.1"),
    ("tokio", "1.8.4", "1.38.0"),
    ("toml_edit", "0.14.0", "0.22.0"),
    ("url", "2.2.0", "2.5.0"),
];

/// The minimum number of diffs of a corpus.
const AT_LEAST: usize = 500;

/// The folders of old and new releases, each with a folder per crate; `None` if they are not
/// available.
fn corpus() -> Option<[PathBuf; 2]> {
    let own = std::env::current_exe().expect("this program");
    let target = own.ancestors().nth(3).expect("the target folder");
    let root = target.join("test-corpus");
    fs::create_dir_all(&root).expect("the folder of the corpus");
    let lock = fs::File::create(root.join("lock")).expect("the lock of the corpus");
    lock.lock().expect("the lock of the corpus");
    let folders = ["old", "new"].map(|side| vendor(&root, side));
    match folders {
        [Some(old), Some(new)] => Some([old, new]),
        _ => None,
    }
}

fn vendor(root: &Path, side: &str) -> Option<PathBuf> {
    let mut manifest = String::from(
        "[package]\nname = \"corpus\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n",
    );
    for (name, old, new) in RELEASES {
        let version = if side == "old" { old } else { new };
        manifest.push_str(&format!("{name} = \"={version}\"\n"));
    }
    let (project, folder) = (root.join(format!("{side}-manifest")), root.join(side));
    let stamp = root.join(format!("{side}.complete"));
    if fs::read_to_string(&stamp).is_ok_and(|complete| complete == manifest) {
        return Some(folder);
    }
    fs::create_dir_all(project.join("src")).expect("the corpus' manifest");
    fs::write(project.join("src/lib.rs"), "").expect("the corpus' manifest");
    fs::write(project.join("Cargo.toml"), &manifest).expect("the corpus' manifest");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["vendor", "--quiet", "--config", "net.retry=1"]).arg(&folder).current_dir(&project);
    let output = cargo.stdin(Stdio::null()).output().expect("cargo");
    if output.status.success() {
        fs::write(&stamp, &manifest).expect("the corpus' stamp");
        return Some(folder);
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let unreachable =
        ["Could not resolve host", "Couldn't connect", "Connection refused", "timed out", "unreachable"];
    assert!(unreachable.iter().any(|sign| told.contains(sign)), "`cargo vendor` failed:\n{told}");
    None
}

/// A file of both releases, with different text.
struct Pair {
    name: String,
    old: String,
    new: String,
}

fn pairs([old, new]: &[PathBuf; 2]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (name, _, _) in RELEASES {
        let (old, new) = (old.join(name), new.join(name));
        for file in files(&old) {
            let relative = file.path().strip_prefix(&old).expect("below the crate");
            let texts = (fs::read_to_string(file.path()), fs::read_to_string(new.join(relative)));
            if let (Ok(old), Ok(new)) = texts
                && old != new
            {
                pairs.push(Pair { name: format!("{name}/{}", relative.display()), old, new });
            }
        }
    }
    pairs.sort_by(|a, b| a.name.cmp(&b.name));
    pairs
}

/// All files below a folder, including hidden ones, without those of git and of cargo.
fn files(folder: &Path) -> impl Iterator<Item = ignore::DirEntry> {
    let of_tools = |name: &OsStr| name == ".git" || name == ".cargo-checksum.json" || name == ".cargo-ok";
    let walk = ignore::WalkBuilder::new(folder)
        .standard_filters(false)
        .filter_entry(move |entry| !of_tools(entry.file_name()))
        .build();
    walk.flatten().filter(|entry| entry.path().is_file())
}

/// git, away from any repository and any settings.
fn git(folder: &Path, arguments: &[&str]) -> std::process::Output {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(folder).stdin(Stdio::null());
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("LC_ALL", "C");
    git.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder));
    git.output().expect("git, which the tests of patches need")
}

/// The folder of one thread: files `a/f`, `b/f`, and the target `f`.
struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for side in ["a", "b"] {
            fs::create_dir(folder.path().join(side)).expect("a temporary folder");
        }
        Self { folder }
    }

    fn diff(&self, pair: &Pair, context: usize) -> String {
        let folder = self.folder.path();
        fs::write(folder.join("a/f"), &pair.old).expect("the old text");
        fs::write(folder.join("b/f"), &pair.new).expect("the new text");
        let context = format!("-U{context}");
        let output =
            git(folder, &["diff", "--no-index", "--no-color", "--no-prefix", &context, "a/f", "b/f"]);
        assert_eq!(output.status.code(), Some(1), "{}: git says that nothing differs", pair.name);
        let diff = String::from_utf8(output.stdout).expect("the diff of two UTF-8 texts");
        fs::write(folder.join("p"), &diff).expect("the patch");
        diff
    }

    /// Runs `git apply` on `target` with the last patch. Returns the patched text.
    fn git_apply(&self, target: &str, context: usize) -> Option<String> {
        let folder = self.folder.path();
        fs::write(folder.join("f"), target).expect("the target");
        let zero: &[&str] = if context == 0 { &["apply", "--unidiff-zero", "p"] } else { &["apply", "p"] };
        let done = git(folder, zero).status.success();
        done.then(|| fs::read_to_string(folder.join("f")).expect("the patched target"))
    }
}

/// Runs `check` on every pair, on as many threads as there are cores.
fn on_all(pairs: &[Pair], check: impl Fn(&Room, usize, &Pair) + Sync) {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    let check = &check;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let room = Room::new();
                for (number, pair) in pairs.iter().enumerate().skip(thread).step_by(threads) {
                    check(&room, number, pair);
                }
            });
        }
    });
}

fn only_file(diff: &str, of: &str) -> FilePatch {
    let patch = parse(diff).unwrap_or_else(|error| panic!("{of}: {error}\n{diff}"));
    assert_eq!(patch.form, PatchForm::Unified, "{of}");
    let [file] = <[FilePatch; 1]>::try_from(patch.files).unwrap_or_else(|files| panic!("{of}: {files:?}"));
    assert!(
        matches!(&file.operation, FilePatchOperation::Modify { path } if path.clean == "f"),
        "{of}: {:?}",
        file.operation
    );
    assert_eq!(file.repairs, [], "{of}");
    file
}

#[derive(Default)]
struct Tally(Mutex<BTreeMap<String, usize>>);

impl Tally {
    fn count(&self, what: impl Into<String>) {
        *self.0.lock().expect("the tally").entry(what.into()).or_default() += 1;
    }

    fn of(&self, what: &str) -> usize {
        self.0.lock().expect("the tally").get(what).copied().unwrap_or(0)
    }

    fn print(&self) {
        for (what, count) in &*self.0.lock().expect("the tally") {
            println!("{count:6} {what}");
        }
    }
}

fn corpus_or_skip() -> Option<Vec<Pair>> {
    let Some(folders) = corpus() else {
        skipped("the registry cannot be reached, and the releases were not fetched before");
        return None;
    };
    let pairs = pairs(&folders);
    assert!(pairs.len() >= AT_LEAST, "only {} different files", pairs.len());
    Some(pairs)
}

/// Changes a file after its diff was made. Returns the kind of change and the new text.
fn disturbed(old: &str, how: usize) -> (&'static str, String) {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let added = "// inserted\n// above\n\n// all\n// hunks\n";
    match how % 5 {
        0 => ("lines above", format!("{added}{old}")),
        1 => ("lines in the middle", {
            let (head, tail) = lines.split_at(lines.len() / 2);
            format!("{}{added}{}", head.concat(), tail.concat())
        }),
        2 => ("first lines gone", lines[lines.len().min(2)..].concat()),
        3 => ("lines below", format!("{old}\n// appended\n")),
        _ => ("first half twice", format!("{}{old}", lines[..lines.len() / 2].concat())),
    }
}

#[test]
#[ignore = "slow: just slow"]
fn patch_of_real_diff_gives_same_text_as_git_apply() {
    let Some(pairs) = corpus_or_skip() else { return };
    let tally = Tally::default();
    on_all(&pairs, |room, number, pair| {
        let context = [3, 0, 10][number % 3];
        let diff = room.diff(pair, context);
        let file = only_file(&diff, &pair.name);
        let applied = apply(&file, &pair.old, ApplyOptions::default())
            .unwrap_or_else(|error| panic!("{} -U{context}: {error}", pair.name));
        assert!(applied.text == pair.new, "{} -U{context}: another text", pair.name);
        assert!(applied.hunks.iter().all(|hunk| hunk.offset == 0 && hunk.fuzz == 0), "{}", pair.name);
        assert_eq!(room.git_apply(&pair.old, context).as_ref(), Some(&pair.new), "{}: git itself", pair.name);
        tally.count("diffs");

        let (how, target) = disturbed(&pair.old, number / 3);
        let by_git = room.git_apply(&target, context);
        let by_us = apply(&file, &target, ApplyOptions::default());
        if let (Ok(us), Some(meant)) = (&by_us, meant(pair, &target)) {
            let right = us.text == meant;
            let told_apart = context > 0 && how != "first half twice";
            assert!(right || !told_apart, "{} -U{context} {how}: applied elsewhere than meant", pair.name);
            let right = if right { "what was meant" } else { "elsewhere, as nothing told better" };
            tally.count(format!("disturbed, applied {right}: -U{context} {how}"));
        }
        compare(&tally, pair, how, context, by_git, by_us.map(|applied| applied.text));
    });
    tally.print();
    assert!(tally.of("diffs") >= AT_LEAST);
    assert!(tally.of("disturbed, the same") >= AT_LEAST / 3, "too few disturbed files were patched");
}

/// Returns the intended text of a disturbed file, if all of the old text is in it.
fn meant(pair: &Pair, target: &str) -> Option<String> {
    let (before, behind) = (target.strip_suffix(&pair.old), target.strip_prefix(&pair.old));
    before
        .map(|before| format!("{before}{}", pair.new))
        .or(behind.map(|behind| format!("{}{behind}", pair.new)))
}

/// Compares our result with git's: it must be the same wherever git applies, except that we refuse
/// a place chosen by luck.
fn compare(
    tally: &Tally,
    pair: &Pair,
    how: &str,
    context: usize,
    by_git: Option<String>,
    by_us: Result<String, ApplyError>,
) {
    let Pair { name, .. } = pair;
    match (by_git, by_us) {
        (Some(git), Ok(us)) => {
            assert!(git == us, "{name} -U{context} {how}: not what git made of it");
            tally.count("disturbed, the same");
        }
        (Some(_), Err(ApplyError::Mismatch(mismatch))) => {
            let guessed = |reason: &MismatchReason| match reason {
                MismatchReason::Ambiguous { .. } => true,
                MismatchReason::Unanchored | MismatchReason::PastEnd { .. } => context == 0,
                // Without context git does not see that the last line is not the last any more.
                MismatchReason::NotFound => context == 0 && !pair.new.ends_with('\n'),
                _ => false,
            };
            let all = mismatch.failed.iter().all(|failed| guessed(&failed.reason));
            assert!(all, "{name} -U{context} {how}: git applies it\n{mismatch}");
            tally.count(format!("disturbed, git guessed: -U{context} {how}"));
        }
        (Some(_), Err(error)) => panic!("{name} -U{context} {how}: git applies it\n{error}"),
        (None, Ok(_)) => tally.count("disturbed, refused by git alone"),
        (None, Err(_)) => tally.count("disturbed, refused by both"),
    }
}

#[test]
#[ignore = "slow: just slow"]
fn patch_with_other_line_endings_keeps_those_of_file() {
    let Some(pairs) = corpus_or_skip() else { return };
    let plain: Vec<Pair> =
        pairs.into_iter().filter(|pair| !pair.old.contains('\r') && !pair.new.contains('\r')).collect();
    let crlf = |text: &str| text.replace('\n', "\r\n");
    on_all(&plain, |room, _, pair| {
        let diff = room.diff(pair, 3);
        let lf_patch = only_file(&diff, &pair.name);
        let applied =
            apply(&lf_patch, &crlf(&pair.old), ApplyOptions::default()).expect("an LF patch for a CRLF file");
        assert!(applied.text == crlf(&pair.new), "{}: LF patch, CRLF file", pair.name);
        let crlf_patch = only_file(&crlf(&diff), &pair.name);
        let applied =
            apply(&crlf_patch, &pair.old, ApplyOptions::default()).expect("a CRLF patch for an LF file");
        assert!(applied.text == pair.new, "{}: CRLF patch, LF file", pair.name);
        assert_eq!(applied.line_ends_adapted(), lf_patch.line_counts().0 > 0, "{}", pair.name);
    });
}

/// Hunks as an agent writes them into the envelope: without numbers, counts and marks of missing
/// line ends.
fn envelope(diff: &str) -> String {
    let mut text = String::from("*** Begin Patch\n*** Update File: f\n");
    let hunks = diff.split_inclusive('\n').skip_while(|line| !line.starts_with("@@"));
    for line in hunks.filter(|line| !line.starts_with('\\')) {
        text.push_str(if line.starts_with("@@") { "@@\n" } else { line });
    }
    text + "*** End Patch\n"
}

#[test]
#[ignore = "slow: just slow"]
fn patch_envelope_gives_same_text_or_reports_ambiguity() {
    let Some(pairs) = corpus_or_skip() else {
        return;
    };
    let tally = Tally::default();
    let trimmed = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
    on_all(&pairs, |room, _, pair| {
        let patch =
            parse(&envelope(&room.diff(pair, 3))).unwrap_or_else(|error| panic!("{}: {error}", pair.name));
        match apply(&patch.files[0], &pair.old, ApplyOptions { fuzz: 0 }) {
            Ok(applied) => {
                assert!(trimmed(&applied.text) == trimmed(&pair.new), "{}: another text", pair.name);
                tally.count("envelopes applied");
            }
            Err(ApplyError::Mismatch(mismatch)) => {
                let unclear = |reason: &MismatchReason| matches!(reason, MismatchReason::Ambiguous { .. });
                assert!(
                    mismatch.failed.iter().all(|failed| unclear(&failed.reason)),
                    "{}: {mismatch}",
                    pair.name
                );
                tally.count("envelopes with several places");
            }
            Err(error) => panic!("{}: {error}", pair.name),
        }
    });
    tally.print();
    assert!(tally.of("envelopes applied") >= AT_LEAST * 9 / 10);
}

#[test]
#[ignore = "slow: just slow"]
fn patch_of_whole_release_applies_renames_copies_and_modes() {
    let Some([old, new]) = corpus() else {
        skipped("the registry cannot be reached, and the releases were not fetched before");
        return;
    };
    let room = tempfile::tempdir().expect("a temporary folder");
    let repository = room.path().join("repository");
    fs::create_dir(&repository).expect("the repository");
    let run = |arguments: &[&str]| {
        let output = git(&repository, arguments);
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8 from git")
    };
    run(&["init", "-q"]);
    let commit = |from: &Path| {
        for (name, _, _) in RELEASES {
            // A gitlink would be no file; the texts alone matter.
            copy_texts(&from.join(name), &repository.join(name));
        }
        run(&["add", "-A", "-f"]);
        let author = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        run(&[&author[..], &["commit", "-q", "-m", "t"]].concat());
    };
    commit(&old);
    let before = tree(&repository);
    run(&["rm", "-r", "-q", "."]);
    commit(&new);
    // Changes that are rare in releases: a changed mode, a name that needs quotes, a copy.
    fs::rename(repository.join("url/src/host.rs"), repository.join("url/src/h\t\"ö st.rs"))
        .expect("a file of url");
    fs::copy(repository.join("url/src/lib.rs"), repository.join("url/src/copy of lib.rs"))
        .expect("a file of url");
    make_executable(&repository.join("semver/build.rs"));
    run(&["add", "-A"]);
    let after = tree(&repository);
    for flavour in [&["-M"][..], &["-M", "-C", "--find-copies-harder", "-U1"], &["--no-renames", "-U0"]] {
        let mut arguments = vec!["diff", "--cached", "HEAD~1"];
        arguments.extend_from_slice(flavour);
        let patch = parse(&run(&arguments)).expect("the diff of git");
        let read = |path: &PatchPath| Ok::<_, ()>(before.get(&path.clean).map(|(text, _)| text.clone()));
        let outcome = apply_all(&patch, ApplyOptions::default(), read).expect("it fits");
        let mut made = before.clone();
        for file in outcome.files {
            let mode = |path: &PatchPath| before.get(&path.clean).is_some_and(|(_, executable)| *executable);
            let executable = match file.mode {
                Some(mode) => mode == FileMode::Executable,
                None => mode(file.origin.as_ref().unwrap_or(&file.path)),
            };
            match file.text {
                Some(text) => made.insert(file.path.clean, (text, executable)),
                None => made.remove(&file.path.clean),
            };
        }
        let differ =
            |(path, file): (&String, &(String, bool))| (after.get(path) != Some(file)).then(|| path.clone());
        let wrong: Vec<String> = made.iter().filter_map(differ).collect();
        assert_eq!(wrong, [""; 0], "{flavour:?}");
        assert_eq!(made.len(), after.len(), "{flavour:?}");
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for file in &patch.files {
            *kinds.entry(file.operation.name()).or_default() += 1;
        }
        println!("{flavour:?}: {kinds:?}");
        assert!(patch.files.len() >= AT_LEAST, "{flavour:?}: {}", patch.files.len());
    }
}

fn copy_texts(from: &Path, to: &Path) {
    for entry in files(from) {
        let Some(text) = fs::read_to_string(entry.path()).ok().filter(|text| !text.contains('\0')) else {
            continue;
        };
        let target = to.join(entry.path().strip_prefix(from).expect("below it"));
        fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
        fs::write(target, text).expect("a file");
    }
}

/// All files except git's own: the text, and whether it is executable.
fn tree(root: &Path) -> BTreeMap<String, (String, bool)> {
    use std::os::unix::fs::PermissionsExt;
    let file = |entry: ignore::DirEntry| {
        let name = entry.path().strip_prefix(root).expect("below it").to_str().map(ToOwned::to_owned)?;
        let mode = entry.metadata().ok()?.permissions().mode();
        Some((name, (fs::read_to_string(entry.path()).ok()?, mode & 0o100 != 0)))
    };
    files(root).filter_map(file).collect()
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("the mode of a file");
}
