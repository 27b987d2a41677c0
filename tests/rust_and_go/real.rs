//! rust-analyzer and gopls themselves, installed in the documented ways.

use std::fs;
use std::time::{Duration, Instant};

use lsp_tools::internals::lsp::Severity;
use lsp_tools::{Answer, Runtime, Target, Verdict};

use serde_json::json;

use crate::support::{Project, TestWorkspace, copy_executable, wait_until, write_executable};

/// Slow machines that run many tests at once need long deadlines; a wrong result is wrong at any
/// speed.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub fn open(project: &Project, server: &str) -> TestWorkspace {
    project.opening().servers(&[server]).timeout(PATIENCE).open()
}

pub fn named(path: &str, name: &str) -> Target {
    Target::NameInFile { path: path.into(), name: name.to_owned() }
}

fn on_line(path: &str, line: u32, name: &str) -> Target {
    Target::NameOnLine { path: path.into(), line0: line - 1, name: name.to_owned() }
}

fn complete<T>(answer: Answer<T>) -> T {
    assert_eq!(answer.verdict, Verdict::Complete, "{:?} {:?}", answer.server_status, answer.notes);
    answer.output
}

/// Asserts that an answer reports its gaps for lack of trust.
fn lacking<T>(answer: Answer<T>) -> T {
    let detail = answer.server_status.detail.unwrap_or_default();
    assert!(answer.verdict == Verdict::Partial && detail.contains("lsp-tools trust"), "{detail}");
    answer.output
}

async fn references(runtime: &Runtime, target: Target) -> Vec<String> {
    let found = complete(runtime.references(target, 100).await.expect("an answer"));
    found.locations.iter().map(|place| format!("{}:{}", place.path, place.range.start.line + 1)).collect()
}

async fn errors(runtime: &Runtime, path: &str) -> Answer<Vec<String>> {
    let answer = runtime.diagnose(vec![path.into()], Some(Severity::Error), 100).await.expect("an answer");
    let found = answer.output.diagnostics.iter();
    let output = found.map(|item| format!("{}: {}", item.range.start.line + 1, item.message)).collect();
    Answer {
        ok: true,
        output,
        resolved: None,
        servers: answer.servers,
        notes: answer.notes,
        verdict: answer.verdict,
        server_status: answer.server_status,
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs rust-analyzer: just rust-go"]
async fn rust_analyzer_untrusted_answers_and_trusted_answers_more() {
    let project = Project::of_fixture("rust");
    let runtime = open(&project, "rust-analyzer");
    let hover = complete(runtime.hover(on_line("src/main.rs", 4, "tally")).await.expect("an answer"));
    assert!(hover.contents.contains("Counts the words of"), "{}", hover.contents);
    let std = complete(runtime.definition(on_line("src/lib.rs", 3, "BTreeMap")).await.expect("an answer"));
    assert!(
        std.location.is_some_and(|place| place.uri.ends_with("map.rs")),
        "the standard library's sources"
    );
    let uses = references(&runtime, named("src/lib.rs", "Tally")).await;
    assert_eq!(uses, ["src/lib.rs:13", "src/lib.rs:17", "src/lib.rs:23", "src/lib.rs:35", "src/lib.rs:36"]);
    let one = complete(runtime.implementation(named("src/lib.rs", "Count")).await.expect("an answer"));
    assert_eq!(one.count, 1);
    assert_eq!(lacking(errors(&runtime, "src/lib.rs").await), Vec::<String>::new());
    runtime.grant_trust().await;
    runtime.shutdown().await;

    // An error that only the compiler sees: a moved value.
    project.write("src/main.rs", "fn main() {\n    let a = String::new();\n    drop(a);\n    drop(a);\n}\n");
    let runtime = open(&project, "rust-analyzer");
    let found = complete(errors(&runtime, "src/main.rs").await);
    assert!(found.iter().any(|error| error.starts_with("4: ") && error.contains("moved")), "{found:?}");
    assert!(project.path("target/rust-analyzer").is_dir(), "it builds beside the user's own build");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs rust-analyzer: just rust-go"]
async fn rust_module_is_renamed_with_its_file_and_its_folder() {
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    for own in ["src/cart.rs", "src/cart/mod.rs"] {
        let project = Project::new([
            ("Cargo.toml", manifest),
            ("src/lib.rs", "pub mod cart;\n\npub use cart::item::Item;\n"),
            (own, "pub mod item;\n"),
            ("src/cart/item.rs", "pub struct Item;\n"),
        ]);
        let workspace = open(&project, "rust-analyzer");
        let rename = json!({"path": "src/lib.rs", "line": 0, "symbol": "cart", "new_name": "basket"});
        workspace.ok("lsp_rename", rename).await;
        assert_eq!(project.read("src/lib.rs"), "pub mod basket;\n\npub use basket::item::Item;\n", "{own}");
        assert_eq!(project.read(&own.replace("cart", "basket")), "pub mod item;\n");
        assert_eq!(project.read("src/basket/item.rs"), "pub struct Item;\n");
        assert!(!project.path("src/cart").exists() && !project.path("src/cart.rs").exists());
        workspace.ok("undo", json!({})).await;
        assert_eq!(project.read(own), "pub mod item;\n");
        assert!(!project.path("src/basket").exists());
        workspace.shutdown().await;
    }
}

/// A function whose last line uses a moved value, which only `cargo check` finds.
const MOVED: &str = "pub fn moved(text: String) -> String {\n    let _taken = text;\n    text\n}\n";
const KEPT: &str = "pub fn moved(text: String) -> String {\n    text\n}\n";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs rust-analyzer: just rust-go"]
async fn trusted_check_has_what_cargo_check_finds_right_after_each_change() {
    let project = Project::new([
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub mod other;\n"),
        ("src/other.rs", KEPT),
    ]);
    let runtime = open(&project, "rust-analyzer");
    runtime.grant_trust().await;
    runtime.shutdown().await;
    let runtime = open(&project, "rust-analyzer");
    for round in 0..4 {
        let (text, expected) = if round % 2 == 0 { (KEPT, 0) } else { (MOVED, 1) };
        project.write("src/other.rs", text);
        let found = complete(errors(&runtime, "src/other.rs").await);
        assert_eq!(found.len(), expected, "round {round}: {found:?}");
    }
    // Another file decides whether the value is moved or copied.
    project.write("src/lib.rs", "pub mod last;\npub mod other;\n");
    project.write("src/last.rs", "pub type Text = &'static str;\n");
    project.write("src/other.rs", format!("use crate::last::Text;\n{}", MOVED.replace("String", "Text")));
    assert_eq!(complete(errors(&runtime, "src/other.rs").await), Vec::<String>::new());
    project.write("src/last.rs", "pub type Text = String;\n");
    let found = complete(errors(&runtime, "src/other.rs").await);
    assert!(found.len() == 1 && found[0].contains("moved"), "{found:?}");
    // The answer names the errors of an edit.
    let kept = json!({"path": "src/last.rs", "edits": [{"old": "String", "new": "&'static str"}], "diagnostics": true});
    let edited = runtime.ok("edit", kept).await;
    assert_eq!(edited["diagnostics"]["verdict"], "complete", "{edited}");
    assert_eq!(
        (&edited["diagnostics"]["errors"], &edited["diagnostics"]["removed"]),
        (&json!(0), &json!(1)),
        "{edited}"
    );
    let moved = json!({"path": "src/last.rs", "edits": [{"old": "&'static str", "new": "String"}], "diagnostics": true});
    let edited = runtime.ok("edit", moved).await;
    assert_eq!(edited["diagnostics"]["verdict"], "complete", "{edited}");
    assert!(edited["diagnostics"]["added"].to_string().contains("moved"), "{edited}");
    runtime.shutdown().await;
}

/// A project that names its own program in every setting of cargo, rustc and rust-analyzer that
/// does not refuse an untrusted start. Each program writes a file.
fn hostile() -> Project {
    let project = Project::new([
        (
            "src/main.rs",
            "mac::evil!{}\nfn greet(name: &str) -> String { name.to_owned() }\nfn main() { greet(\"a\"); }\n",
        ),
        (
            "Cargo.toml",
            "[package]\nname = \"victim\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nmac = { path = \"mac\" }\n[workspace]\nmembers = [\"mac\"]\n",
        ),
        (
            "mac/Cargo.toml",
            "[package]\nname = \"mac\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n",
        ),
        (".vscode/settings.json", "{\"rust-analyzer.check.overrideCommand\": [\"./evil\"]}"),
    ]);
    let marker = project.path("RAN").display().to_string();
    let written = |who: &str| format!("std::fs::write({marker:?}, {who:?}).unwrap();");
    project.write("build.rs", format!("fn main() {{ {} }}\n", written("build script")));
    let mac = "use proc_macro::TokenStream;\n#[proc_macro]\npub fn evil(_: TokenStream) -> TokenStream {";
    project.write("mac/src/lib.rs", format!("{mac} {} TokenStream::new() }}\n", written("macro")));
    let script = project.path("evil");
    write_executable(&script, format!("#!/bin/sh\necho \"$0 $*\" >> {marker:?}\n"));
    let evil = script.display();
    let config = format!(
        "[build]\nrustc = \"{evil}\"\nrustc-wrapper = \"{evil}\"\nrustc-workspace-wrapper = \"{evil}\"\nrustdoc = \"{evil}\"\n\
         rustflags = [\"-Clinker={evil}\", \"-Zcodegen-backend={evil}\"]\n\
         [target.'cfg(all())']\nrunner = \"{evil}\"\n\
         [alias]\nmetadata = [\"run\"]\nrustc = [\"run\"]\nconfig = [\"run\"]\ncheck = [\"run\"]\n[net]\ngit-fetch-with-cli = true\n"
    );
    project.write(".cargo/config.toml", config);
    // Irrelevant for the root, but relevant for programs in this folder.
    let tools = project.path("mac/src/tools");
    project.write(
        "mac/src/rust-toolchain.toml",
        format!("[toolchain]\npath = {:?}\n", tools.display().to_string()),
    );
    for name in ["rustfmt", "rustc", "cargo"] {
        copy_executable(&script, tools.join("bin").join(name));
    }
    project
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs rust-analyzer: just rust-go"]
async fn rust_analyzer_untrusted_runs_no_project_code() {
    let project = hostile();
    let runtime = open(&project, "rust-analyzer");
    let greet = || named("src/main.rs", "greet");
    let hover = lacking(runtime.hover(greet()).await.expect("an answer"));
    assert!(hover.contents.contains("fn greet(name: &str) -> String"), "{}", hover.contents);
    let uses = lacking(runtime.references(greet(), 10).await.expect("an answer"));
    assert_eq!(uses.count, 2, "{uses:?}");
    lacking(errors(&runtime, "src/main.rs").await);
    project.write("src/main.rs", project.read("src/main.rs").replace("\"a\"", "\"b\""));
    lacking(runtime.hover(greet()).await.expect("an answer"));
    let formatted = runtime.ok("lsp_format", json!({"path": "mac/src/lib.rs", "dry_run": true})).await;
    assert!(formatted["results"].to_string().contains("mac/src/lib.rs"), "{formatted}");
    runtime.shutdown().await;
    assert!(!project.path("RAN").exists(), "{}", project.read("RAN"));

    // The same project would run its code if trusted: the rule is tested above, not a harmless
    // project.
    fs::remove_file(project.path(".cargo/config.toml")).expect("a file");
    runtime.grant_trust().await;
    let runtime = open(&project, "rust-analyzer");
    runtime.hover(greet()).await.expect("an answer");
    wait_until("its own code has run", PATIENCE, || project.path("RAN").exists());
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs gopls and Go: just rust-go"]
async fn gopls_answers_are_complete_and_follow_edits() {
    let project = Project::of_fixture("go");
    let runtime = open(&project, "gopls");
    let begun = Instant::now();
    let hover = complete(runtime.hover(on_line("main.go", 12, "ToFahrenheit")).await.expect("an answer"));
    assert!(hover.contents.contains("converts exactly, up to rounding"), "{}", hover.contents);
    println!("the first answer of gopls came after {:?}", begun.elapsed());
    let found = complete(runtime.definition(on_line("main.go", 11, "Mean")).await.expect("an answer"));
    assert_eq!(found.locations.first().map(|place| place.path.as_str()), Some("station/station.go"));
    let uses = references(&runtime, named("station/station.go", "Mean")).await;
    let expected =
        ["main.go:11", "station/station.go:35", "station/station_test.go:7", "station/station_test.go:10"];
    assert_eq!(uses, expected);
    let kinds =
        complete(runtime.implementation(named("station/station.go", "Sensor")).await.expect("an answer"));
    assert_eq!(kinds.count, 2, "{kinds:?}");
    for path in ["main.go", "station/station.go", "station/station_test.go", "temperature/temperature.go"] {
        assert_eq!(complete(errors(&runtime, path).await), Vec::<String>::new(), "{path}");
    }
    let station = project.read("station/station.go");
    project.write("station/station.go", station.replace("func Mean(", "func Average("));
    let broken = complete(errors(&runtime, "main.go").await);
    assert!(broken.iter().any(|error| error.starts_with("11: ") && error.contains("Mean")), "{broken:?}");
    project.write("station/station.go", station);
    assert_eq!(complete(errors(&runtime, "main.go").await), Vec::<String>::new());
    runtime.shutdown().await;
}

/// No toolchain is fetched or run because a `go.mod` names it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs gopls and Go: just rust-go"]
async fn gopls_untrusted_ignores_toolchain_of_go_mod() {
    let project = Project::of_fixture("go");
    project.write("go.mod", "module example.com/weather\n\ngo 1.19\n\ntoolchain go1.99.9\n");
    let runtime = open(&project, "gopls");
    // The installed Go gives the answer.
    let hover = runtime.hover(on_line("main.go", 12, "ToFahrenheit")).await.expect("an answer");
    assert!(hover.output.contents.contains("converts exactly"), "{}", hover.output.contents);
    let detail = hover.server_status.detail.unwrap_or_default();
    assert!(hover.verdict == Verdict::Partial && detail.contains("uses >=1.99.9 (go.mod)"), "{detail}");
    runtime.shutdown().await;
}
