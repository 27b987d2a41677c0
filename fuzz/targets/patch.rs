//! Patches: the new text follows from their lines, and no other file changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::Runtime;
use crate::text::patch::{
    AppliedFilePatch, ApplyOptions, FilePatch, FilePatchOperation, LineKind, Patch, apply, parse,
};
use serde_json::json;

use super::draw::Draw;
use super::world::{World, call};

const NAMES: [&str; 3] = ["a.txt", "b.txt", "sub/c.txt"];
const OTHERS: [(&str, &str); 2] = [("other.txt", "other\n"), ("sub/other.txt", "other\n")];

struct Place {
    world: World,
    runtime: Runtime,
    others: BTreeMap<PathBuf, Vec<u8>>,
}

fn place() -> &'static Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    PLACE.get_or_init(|| {
        let world = World::new(OTHERS);
        world.write_beside("config/lsp-tools.toml", "audit.enabled = false\n");
        let runtime = world.runtime();
        let others = world.files();
        Place { world, runtime, others }
    })
}

pub fn run(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let olds: Vec<String> = NAMES.iter().map(|_| String::from_utf8_lossy(draw.part()).into_owned()).collect();
    let text = draw.swollen(64 << 10);
    let text = String::from_utf8_lossy(&text);
    let Ok(patch) = parse(&text) else { return };
    for section in &patch.files {
        for old in &olds {
            if let Ok(applied) = apply(section, old, ApplyOptions { fuzz: 2 }) {
                check(section, old, &applied);
            }
        }
    }
    on_disk(&patch, &text, &olds);
}

/// Lines without line ends, which are adapted to the file's.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').map(|line| line.trim_end_matches(['\n', '\r'])).collect()
}

/// Applies the hunks to the old text independently and compares the result.
fn check(section: &FilePatch, old: &str, applied: &AppliedFilePatch) {
    let plain = |text: &str| !text.contains('\u{feff}') && !text.replace("\r\n", "").contains('\r');
    let deletes = matches!(section.operation, FilePatchOperation::Delete { .. });
    if deletes
        || !plain(old)
        || section.hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| !plain(&line.text))
    {
        return;
    }
    if applied.hunks.iter().any(|hunk| hunk.fuzz > 0) || section.hunks.is_empty() {
        return;
    }
    let mut hunks: Vec<_> =
        applied.hunks.iter().map(|hunk| (hunk.applied_at, &section.hunks[hunk.index])).collect();
    // The position of an insertion is the line before it.
    hunks.sort_by_key(|(at, hunk)| at - usize::from(hunk.old_lines().next().is_some()));
    let before = lines(old);
    let (mut expected, mut at): (Vec<&str>, usize) = (Vec::new(), 0);
    for (applied_at, hunk) in hunks {
        let start = applied_at - usize::from(hunk.old_lines().next().is_some());
        assert!(start >= at && start <= before.len(), "hunks overlap: {section:?} {old:?} {applied:?}");
        expected.extend(&before[at..start]);
        at = start;
        for line in &hunk.lines {
            match line.kind {
                LineKind::Add => expected.push(line.text.trim_end_matches('\r')),
                LineKind::Context => {
                    expected.push(before[at]);
                    at += 1;
                }
                LineKind::Remove => at += 1,
            }
        }
    }
    expected.extend(&before[at..]);
    assert_eq!(lines(&applied.text), expected, "{section:?} {old:?}");
}

/// Checks that files which the patch does not name are unchanged.
fn on_disk(patch: &Patch, text: &str, olds: &[String]) {
    let Place { world, runtime, others } = place();
    let mut before = others.clone();
    for (name, old) in NAMES.iter().zip(olds) {
        before.insert(world.root().join(name), old.as_bytes().to_vec());
    }
    world.restore(&before);
    let result = call(runtime, "patch", json!({ "patch": text, "diagnostics": false }));
    let after = world.files();
    world.check_outside();
    if !result.ok() {
        assert_eq!(after, before, "refused, but files have changed: {}", result.value);
        return;
    }
    let paths = patch.files.iter().flat_map(|file| [file.old_path(), file.new_path()]).flatten();
    let root = world.root();
    let named: BTreeSet<PathBuf> =
        paths.flat_map(|path| [&path.raw, &path.clean]).map(|name| normal(&root.join(name))).collect();
    for (path, content) in before.iter().chain(&after) {
        let same = before.get(path) == after.get(path);
        assert!(same || named.contains(path), "{} is not in the patch: {content:?}", path.display());
    }
}

/// The path without `.` and `..`.
fn normal(path: &std::path::Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                normal.pop();
            }
            std::path::Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}
