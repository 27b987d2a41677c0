//! Agreement of `grep`, `glob` and `list` with ripgrep and a plain walk, on a large real tree.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{
    CaseMode, EntryKind, GlobOrder, GlobQuery, GrepPattern, GrepQuery, GrepWanted, ListQuery, Selection,
    WorkDeadline, Workspace, WorkspacePath,
};
use crate::skipped::skipped;

/// The sources of all dependencies of this package.
fn tree() -> Workspace {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"))).expect("a home");
    Workspace::open(&home.join("registry/src")).expect("the sources of packages, where cargo puts them")
}

/// Copies the first packages by name that are not huge: an amount that a dozen searches of an
/// unoptimised build take seconds for.
fn part_of_tree() -> (tempfile::TempDir, Workspace) {
    const MOST: u64 = 15 << 20;
    const LARGEST: u64 = 3 << 20;
    let folder = tempfile::TempDir::with_prefix("lsp-tools-test-").expect("a temporary folder");
    let tree = tree();
    let mut packages: Vec<PathBuf> = Vec::new();
    for registry in fs::read_dir(tree.root()).expect("the tree") {
        let registry = registry.expect("an entry").path();
        packages
            .extend(fs::read_dir(registry).expect("packages").map(|entry| entry.expect("an entry").path()));
    }
    packages.sort();
    let mut left = MOST;
    for package in packages.iter().filter(|package| package.is_dir()) {
        let size = size_below(package);
        if size <= LARGEST && size <= left {
            left -= size;
            let name = package.file_name().expect("a name");
            let copied = Command::new("cp").arg("-r").args([package, &folder.path().join(name)]).status();
            assert!(copied.is_ok_and(|status| status.success()), "cp -r {}", package.display());
        }
    }
    // The files that each search finds at least, regardless of the packages.
    let planted = folder.path().join("planted");
    for (name, text) in [
        (
            "src/lib.rs",
            "//! αβγ\nuse std::time::Instant;\n    pub unsafe fn x() { BTreeMap::new() }\nunsafe impl Send for A {}\nfn ab(\n    &self) { match Deadline {} todo!()\nfn c(&self) {}\n",
        ),
        ("NOTES.md", "unsafe\n"),
        ("Cargo.toml", "proc-macro = true\n"),
        ("Cargo.toml.orig", "[1]\n"),
        (".hidden/list", "sha1\n"),
    ] {
        let path = planted.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let workspace = Workspace::open(folder.path()).expect("a workspace");
    (folder, workspace)
}

fn size_below(folder: &Path) -> u64 {
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_below(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    fs::read_dir(folder).expect("a folder").map(|entry| size(entry.expect("an entry"))).sum()
}

/// Returns true if `rg` is installed. Under `CI` it must be.
fn has_ripgrep() -> bool {
    let found = which::which("rg").is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "rg is missing; install the package ripgrep");
    if !found {
        skipped("rg is not installed (package ripgrep)");
    }
    found
}

fn until() -> WorkDeadline {
    WorkDeadline::new(Instant::now() + Duration::from_secs(300))
}

/// Returns the output of rg in the workspace's root.
fn rg(workspace: &Workspace, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new("rg");
    command.args(["--no-config", "--no-messages", "--no-require-git", "--no-ignore-parent", "--color=never"]);
    let output =
        command.args(arguments).arg("./").current_dir(workspace.root()).stdin(Stdio::null()).output();
    output.expect("rg runs").stdout
}

fn path(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.strip_prefix(b"./").unwrap_or(bytes)).into_owned()
}

/// Returns true if both read the file as the same text. rg shows the part before the first NUL byte
/// of a binary file, does not end a line at a lone carriage return, and searches generated folders
/// (`node_modules`, build output).
fn is_comparable(workspace: &Workspace, path: &str) -> bool {
    let Ok(text) = fs::read(workspace.root().join(path)) else { return false };
    let has_lone_return = text.windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n');
    !text.contains(&0) && !has_lone_return && !is_litter(path)
}

fn is_litter(path: &str) -> bool {
    ["node_modules", "__pycache__", "target", "venv", "bower_components"]
        .iter()
        .any(|folder| path.split('/').any(|name| name == *folder))
}

fn pattern(text: &str) -> GrepPattern {
    GrepPattern {
        text: text.to_owned(),
        fixed: false,
        case: CaseMode::Sensitive,
        whole_word: false,
        multiline: false,
        invert: false,
    }
}

fn query(pattern: GrepPattern) -> GrepQuery {
    GrepQuery {
        pattern,
        under: WorkspacePath::root(),
        select: Selection::default(),
        wanted: GrepWanted::Lines { before: 0, after: 0 },
        max: usize::MAX,
        deadline: until(),
    }
}

/// Formats `path:line text`; the text of lines that are not cut.
fn ours(workspace: &Workspace, query: &GrepQuery) -> BTreeSet<String> {
    let result = workspace.grep(query).expect("a search");
    assert!(!result.timed_out && !result.has_more);
    let mut lines = BTreeSet::new();
    for file in result.files {
        for line in file.lines {
            let text = if line.text.contains('…') { "" } else { line.text.as_str() };
            lines.insert(format!("{}:{} {text}", file.path.display(), line.start.line + 1));
        }
    }
    lines
}

fn theirs(workspace: &Workspace, arguments: &[&str]) -> BTreeSet<String> {
    let mut all = vec!["--no-heading", "--line-number", "--with-filename", "--null"];
    all.extend(arguments);
    let output = rg(workspace, &all);
    let mut lines = BTreeSet::new();
    for line in output.split(|byte| *byte == b'\n') {
        let Some(end) = line.iter().position(|byte| *byte == 0) else { continue };
        let rest = String::from_utf8_lossy(&line[end + 1..]);
        let Some((number, text)) = rest.split_once(':') else { continue };
        let text = text.strip_suffix('\r').unwrap_or(text);
        let text = if text.chars().count() > 400 || text.contains('…') { "" } else { text };
        lines.insert(format!("{}:{number} {text}", path(&line[..end])));
    }
    lines
}

fn assert_same(workspace: &Workspace, name: &str, ours: &BTreeSet<String>, theirs: &BTreeSet<String>) {
    let differing = ours.symmetric_difference(theirs);
    let differing: Vec<&String> = differing
        .filter(|line| is_comparable(workspace, line.split(':').next().unwrap_or_default()))
        .collect();
    let of = |line: &String| if ours.contains(line) { "ours" } else { "rg's" };
    let shown: Vec<String> = differing.iter().take(5).map(|line| format!("{}: {line}", of(line))).collect();
    assert!(differing.is_empty(), "{name}: {} differ: {shown:#?}", differing.len());
    assert!(!theirs.is_empty(), "{name}: nothing was found, so nothing was compared");
}

#[test]
#[ignore = "slow: just slow"]
fn grep_matches_same_lines_as_ripgrep() {
    if !has_ripgrep() {
        return;
    }
    let (_keep, workspace) = part_of_tree();
    let globs = |globs: &[&str]| Selection {
        globs: globs.iter().map(|glob| (*glob).to_owned()).collect(),
        ..Selection::default()
    };
    let types = Selection { types: vec!["toml".into()], ..Selection::default() };
    let cases: Vec<(&str, GrepQuery, Vec<&str>)> = vec![
        ("literal", query(pattern("BTreeMap::new")), vec!["-e", "BTreeMap::new"]),
        ("regex", query(pattern(r"^\s*pub unsafe fn \w+")), vec!["-e", r"^\s*pub unsafe fn \w+"]),
        ("end of line", query(pattern(r"todo!\(\)$")), vec!["--crlf", "-e", r"todo!\(\)$"]),
        ("Unicode", query(pattern(r"\p{Greek}+")), vec!["-e", r"\p{Greek}+"]),
        (
            "ignoring case",
            query(GrepPattern { case: CaseMode::Insensitive, ..pattern("deadline") }),
            vec!["-i", "-e", "deadline"],
        ),
        (
            "smart case",
            query(GrepPattern { case: CaseMode::Smart, ..pattern("Instant") }),
            vec!["-S", "-e", "Instant"],
        ),
        ("word", query(GrepPattern { whole_word: true, ..pattern("match") }), vec!["-w", "-e", "match"]),
        ("fixed", query(GrepPattern { fixed: true, ..pattern("(&self)") }), vec!["-F", "-e", "(&self)"]),
        (
            "globs",
            GrepQuery { select: globs(&["*.md", "!README*"]), ..query(pattern("unsafe")) },
            vec!["-g", "*.md", "-g", "!README*", "-e", "unsafe"],
        ),
        (
            "type",
            GrepQuery { select: types, ..query(pattern("proc-macro")) },
            vec!["-t", "toml", "-e", "proc-macro"],
        ),
        (
            "hidden and ignored",
            GrepQuery {
                select: Selection { hidden: true, no_ignore: true, ..Selection::default() },
                ..query(pattern("sha1"))
            },
            vec!["-uu", "-g", "!.git", "-e", "sha1"],
        ),
        (
            "inverted",
            GrepQuery {
                select: globs(&["Cargo.toml.orig"]),
                ..query(GrepPattern { invert: true, ..pattern("[a-z]") })
            },
            vec!["-v", "-g", "Cargo.toml.orig", "-e", "[a-z]"],
        ),
    ];
    for (name, query, arguments) in &cases {
        assert_same(&workspace, name, &ours(&workspace, query), &theirs(&workspace, arguments));
    }
}

#[test]
#[ignore = "slow: just slow"]
fn grep_counts_and_files_equal_those_of_ripgrep() {
    if !has_ripgrep() {
        return;
    }
    let (_keep, workspace) = part_of_tree();
    let over_lines = GrepPattern { multiline: true, ..pattern(r"fn \w+\(\n\s+&self") };
    for (name, pattern, flags) in [
        ("word", pattern("unsafe impl"), vec!["-e", "unsafe impl"]),
        ("over lines", over_lines, vec!["-U", "-e", r"fn \w+\(\n\s+&self"]),
    ] {
        let counted = GrepQuery { wanted: GrepWanted::Counts, ..query(pattern.clone()) };
        let result = workspace.grep(&counted).expect("a search");
        let ours: BTreeSet<String> =
            result.files.iter().map(|file| format!("{}:{}", file.path.display(), file.count)).collect();
        let files = GrepQuery { wanted: GrepWanted::Files, ..query(pattern) };
        let names = workspace.grep(&files).expect("a search").files;
        assert!(names.iter().map(|file| &file.path).eq(result.files.iter().map(|file| &file.path)), "{name}");
        let mut arguments = vec!["--count", "--with-filename"];
        // In multiline mode rg counts occurrences unless asked to count lines; with one match each,
        // both are the same.
        arguments.extend(flags);
        let output = String::from_utf8_lossy(&rg(&workspace, &arguments)).into_owned();
        let theirs: BTreeSet<String> = output.lines().map(|line| path(line.as_bytes())).collect();
        assert_same(&workspace, name, &ours, &theirs);
    }
}

#[test]
fn glob_matches_same_files_as_ripgrep() {
    if !has_ripgrep() {
        return;
    }
    let workspace = tree();
    let listed = rg(&workspace, &["--files", "--null"]);
    let listed: BTreeSet<String> = listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(path)
        .filter(|path| !is_litter(path))
        .collect();
    for (pattern, fits) in [
        ("**", (|_: &str| true) as fn(&str) -> bool),
        ("**/*.rs", |path: &str| path.ends_with(".rs")),
        ("**/src/lib.rs", |path: &str| path.ends_with("/src/lib.rs")),
        ("*/*/Cargo.{toml,lock}", |path: &str| {
            path.matches('/').count() == 2 && (path.ends_with("/Cargo.toml") || path.ends_with("/Cargo.lock"))
        }),
    ] {
        let query = GlobQuery {
            pattern: pattern.to_owned(),
            under: WorkspacePath::root(),
            hidden: false,
            no_ignore: false,
            order: GlobOrder::Path,
            max: usize::MAX - 1,
            deadline: until(),
        };
        let found = workspace.glob(&query).expect("files").paths;
        assert!(found.is_sorted());
        let ours: BTreeSet<String> =
            found.iter().map(WorkspacePath::display).filter(|path| !is_litter(path)).collect();
        let theirs: BTreeSet<String> = listed.iter().filter(|path| fits(path)).cloned().collect();
        let differing: Vec<&String> = ours.symmetric_difference(&theirs).take(5).collect();
        assert!(differing.is_empty(), "{pattern}: {differing:?}");
        assert!(theirs.len() > 100, "{pattern}: {}", theirs.len());
    }
}

#[test]
#[cfg_attr(windows, ignore = "the sources are those in cargo's home on Linux")]
fn list_entries_equal_a_plain_directory_walk() {
    let workspace = tree();
    let mut directories = vec![WorkspacePath::root()];
    let mut seen = 0;
    while let Some(directory) = directories.pop() {
        let query =
            ListQuery { under: directory.clone(), recursive: false, max: usize::MAX, deadline: until() };
        let listed = workspace.list(&query).expect("a directory");
        let ours: Vec<(PathBuf, bool, u64)> = listed
            .entries
            .iter()
            .map(|entry| {
                let is_dir = entry.kind == EntryKind::Directory;
                (entry.path.as_path().to_owned(), is_dir, entry.size)
            })
            .collect();
        assert_eq!(ours, plain(workspace.root(), directory.as_path()));
        seen += ours.len();
        directories.extend(
            listed
                .entries
                .into_iter()
                .filter(|entry| entry.kind == EntryKind::Directory)
                .map(|entry| entry.path),
        );
    }
    assert!(seen > 5_000, "{seen}");
}

/// The entries of a directory: path, whether it is a directory, size of a file.
fn plain(root: &Path, directory: &Path) -> Vec<(PathBuf, bool, u64)> {
    let mut entries: Vec<(PathBuf, bool, u64)> = fs::read_dir(root.join(directory))
        .expect("a directory")
        .map(|entry| {
            let entry = entry.expect("an entry");
            let metadata = entry.metadata().expect("its metadata");
            let size = if metadata.is_file() { metadata.len() } else { 0 };
            (directory.join(entry.file_name()), metadata.is_dir(), size)
        })
        .collect();
    entries.sort();
    entries
}
