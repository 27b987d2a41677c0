//! Files found by their paths.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use super::*;
use crate::platform::files::symlink;

fn workspace(files: &[&str]) -> (tempfile::TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("w")).unwrap();
    for path in files {
        let file = dir.path().join("w").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    let workspace = Workspace::open(&dir.path().join("w")).unwrap();
    (dir, workspace)
}

fn query(pattern: &str) -> GlobQuery {
    GlobQuery {
        pattern: pattern.to_owned(),
        under: WorkspacePath::root(),
        hidden: false,
        no_ignore: false,
        order: GlobOrder::Path,
        max: 100,
        deadline: WorkDeadline::new(Instant::now() + Duration::from_secs(60)),
    }
}

fn found(workspace: &Workspace, query: &GlobQuery) -> Vec<String> {
    workspace.glob(query).unwrap().paths.iter().map(WorkspacePath::display).collect()
}

#[test]
fn glob_patterns_match_like_in_a_shell() {
    let (_keep, workspace) =
        workspace(&["a.rs", "b.ts", "src/c.rs", "src/d.tsx", "src/deep/e.rs", "src-gen/f.rs", "[x].rs"]);
    let paths = |pattern: &str| found(&workspace, &query(pattern));
    assert_eq!(paths("*.rs"), ["[x].rs", "a.rs"]);
    assert_eq!(paths("./a.rs"), ["a.rs"]);
    assert_eq!(paths("**/*.rs"), ["[x].rs", "a.rs", "src/c.rs", "src/deep/e.rs", "src-gen/f.rs"]);
    assert_eq!(paths("src/**"), ["src/c.rs", "src/d.tsx", "src/deep/e.rs"]);
    assert_eq!(paths("src/*"), ["src/c.rs", "src/d.tsx"]);
    assert_eq!(paths("src/**/*.{rs,tsx}"), ["src/c.rs", "src/d.tsx", "src/deep/e.rs"]);
    assert_eq!(paths("{src,src-gen}/?.rs"), ["src/c.rs", "src-gen/f.rs"]);
    assert_eq!(paths("[!a].ts"), ["b.ts"]);
    // On Windows `\` separates names.
    assert_eq!(paths(if cfg!(windows) { "[[]x[]].rs" } else { "\\[x\\].rs" }), ["[x].rs"]);
    assert_eq!(paths("src/c.rs"), ["src/c.rs"]);
    assert_eq!(paths("none/**"), Vec::<String>::new());
    let below = GlobQuery { under: workspace.path(Path::new("src")).unwrap(), ..query("*.rs") };
    assert_eq!(found(&workspace, &below), ["src/c.rs"]);
}

#[test]
#[cfg_attr(windows, ignore = "Wine makes no links")]
fn glob_absolute_or_leading_outside_is_refused() {
    let (keep, workspace) = workspace(&["a.rs"]);
    fs::write(keep.path().join("secret.rs"), "").unwrap();
    symlink("..", workspace.root().join("up")).unwrap();
    for pattern in ["/etc/*", "../*.rs", "a/../../*", "**/../*"] {
        assert!(matches!(workspace.glob(&query(pattern)), Err(SelectError::Outside { .. })), "{pattern}");
    }
    assert_eq!(found(&workspace, &query("**/*.rs")), ["a.rs"], "links are not followed");
    assert!(matches!(workspace.glob(&query("up/*.rs")), Err(SelectError::Place(ReadError::Outside { .. }))));
    let bad = workspace.glob(&query("a{b")).unwrap_err().to_string();
    assert!(bad.starts_with("the glob `a{b` is not valid: "), "{bad}");
    let file = GlobQuery { under: workspace.path(Path::new("a.rs")).unwrap(), ..query("*") };
    assert!(matches!(workspace.glob(&file), Err(SelectError::Place(ReadError::NotADirectory { .. }))));
}

#[test]
fn glob_finds_hidden_and_ignored_files_when_named_or_requested() {
    let (_keep, workspace) =
        workspace(&[".github/ci.yml", ".env", "a.yml", "out/b.yml", "node_modules/m/c.yml"]);
    fs::write(workspace.root().join(".gitignore"), "/out/\n").unwrap();
    assert_eq!(found(&workspace, &query("**/*.yml")), ["a.yml"]);
    assert_eq!(found(&workspace, &query(".github/**")), [".github/ci.yml"]);
    assert_eq!(found(&workspace, &query(".env")), [".env"]);
    assert_eq!(found(&workspace, &query("out/*.yml")), ["out/b.yml"]);
    assert_eq!(found(&workspace, &query("node_modules/**/*.yml")), ["node_modules/m/c.yml"]);
    let hidden = GlobQuery { hidden: true, ..query("**/*.yml") };
    assert_eq!(found(&workspace, &hidden), [".github/ci.yml", "a.yml"]);
    let all = GlobQuery { no_ignore: true, ..hidden };
    assert_eq!(found(&workspace, &all), [".github/ci.yml", "a.yml", "node_modules/m/c.yml", "out/b.yml"]);
}

#[test]
fn glob_finds_hidden_names_that_it_spells_at_any_depth() {
    let files = [
        ".eslintrc.json",
        ".github/ci.yml",
        ".github/.cache/x.yml",
        "a/.eslintrc.js",
        "a/.github/workflows/d.yml",
        "a/.other/.github/e.yml",
        "a/b/.env.example",
        "a/b/.env",
        "a/b/x.yml",
    ];
    let (_keep, workspace) = workspace(&files);
    let paths = |pattern: &str| found(&workspace, &query(pattern));
    assert_eq!(paths("**/.github/**/*.yml"), [".github/ci.yml", "a/.github/workflows/d.yml"]);
    assert_eq!(paths("**/.eslintrc*"), [".eslintrc.json", "a/.eslintrc.js"]);
    assert_eq!(paths("**/{.eslintrc,x}*"), [".eslintrc.json", "a/.eslintrc.js", "a/b/x.yml"]);
    assert_eq!(paths("**/.env.example"), ["a/b/.env.example"]);
    assert_eq!(paths("a/**/*.yml"), ["a/b/x.yml"]);
    assert_eq!(paths("*/.github/**"), ["a/.github/workflows/d.yml"]);
}

#[test]
fn glob_sorts_newest_first_and_reports_limits() {
    let (_keep, workspace) = workspace(&["a", "b", "c"]);
    let touch = |name: &str, seconds: u64| {
        let file = File::options().write(true).open(workspace.root().join(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    touch("a", 1_000);
    touch("b", 3_000);
    touch("c", 2_000);
    let newest = GlobQuery { order: GlobOrder::Newest, ..query("*") };
    assert_eq!(found(&workspace, &newest), ["b", "c", "a"]);
    let result = workspace.glob(&GlobQuery { max: 2, ..newest }).unwrap();
    assert!(result.has_more && !result.cut_short && result.paths.len() == 2);
    let result = workspace.glob(&GlobQuery { max: 2, ..query("*") }).unwrap();
    assert!(result.has_more && !result.cut_short);
    let late =
        workspace.glob(&GlobQuery { deadline: WorkDeadline::new(Instant::now()), ..query("*") }).unwrap();
    assert!(late.cut_short && late.paths.is_empty());
}

#[test]
fn glob_with_many_double_stars_takes_linear_time() {
    let deep = "a/".repeat(60) + "x.rs";
    let (_keep, workspace) = workspace(&[&deep]);
    let begun = Instant::now();
    assert_eq!(found(&workspace, &query("**/**/**/**/**/**/**/**/*.rs")).len(), 1);
    assert!(found(&workspace, &query(&("**/a*".repeat(12) + "/y"))).is_empty());
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert!(workspace.glob(&query(&"a".repeat(2_000))).is_err());
}
