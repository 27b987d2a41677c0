//! Packages installed while servers run count from the next answer on: with the real tools, from
//! their registries.

use std::fs;
use std::process::Command;

use lsp_tools::{Target, TrustRequest, Verdict};

use super::{codes, make_environment, open, run};
use crate::support::{Project, uv};

#[tokio::test]
#[ignore = "slow: just slow"]
async fn uv_sync_while_server_runs_resolves_member_imports() {
    let Some(uv) = uv() else { return };
    let project = Project::of_fixture("projects/uv");
    for server in ["pyright", "ty"] {
        let runtime = open(&project, &[server]);
        let (found, _) = codes(&runtime, "main.py").await;
        assert!(found.iter().any(|code| code.to_lowercase().contains("import")), "{server}: {found:?}");
        let mut sync = Command::new(&uv);
        sync.args(["sync", "--quiet", "--no-config", "--no-python-downloads"]).current_dir(project.root());
        sync.env_remove("VIRTUAL_ENV").env("UV_CACHE_DIR", project.beside("uv-cache"));
        run(&mut sync);
        let (found, verdict) = codes(&runtime, "main.py").await;
        let is_import = |code: &String| code.to_lowercase().contains("import");
        assert!(found.len() == 1 && !found.iter().any(is_import), "{server}: {found:?}");
        assert_eq!(verdict, Verdict::Complete, "{server}");
        runtime.shutdown().await;
        fs::remove_dir_all(project.path(".venv")).expect("the environment");
    }
}

/// A version that two packages do not share goes into the package's own `node_modules`.
#[tokio::test]
#[ignore = "slow: just slow"]
async fn npm_install_in_workspace_while_server_runs_resolves_imports() {
    let project = Project::of_fixture("projects/npm");
    let use_of = "import slash from \"slash\";\nexport const path: string = slash(\"a\");\n";
    project.write("packages/app/src/path.ts", use_of);
    let runtime = open(&project, &["typescript-language-server"]);
    let path = "packages/app/src/path.ts";
    assert_eq!(codes(&runtime, path).await.0, ["2307"]);
    let install = |words: &[&str]| {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--silent"]).args(words).current_dir(project.root());
        run(&mut npm);
    };
    install(&["slash@4.0.0", "-w", "packages/ui"]);
    install(&["slash@5.1.0", "-w", "packages/app"]);
    let nested = project.path("packages/app/node_modules/slash").exists()
        || project.path("packages/ui/node_modules/slash").exists();
    assert!(nested, "both versions fit in one folder");
    let (found, verdict) = codes(&runtime, path).await;
    // The packages are CommonJS, and slash is not.
    assert!(!found.contains(&"2307".to_owned()), "{found:?}");
    assert_eq!(verdict, Verdict::Complete);
    runtime.shutdown().await;
}

/// With trust, the environment's own interpreter is run.
#[tokio::test]
#[ignore = "slow: just slow"]
async fn trusted_python_environment_is_run_and_followed() {
    let project = Project::new([
        ("a.py", "import acmelib\n\nx: str = acmelib.answer()\n"),
        ("pyproject.toml", "[project]\nname = \"a\"\n"),
    ]);
    let site = make_environment(&project);
    // Only a running interpreter follows this, since it is code.
    fs::create_dir(project.path("hidden")).expect("a folder");
    let hidden = project.path("hidden").display().to_string();
    fs::write(site.join("z.pth"), format!("import sys; sys.path.append({hidden:?})\n")).expect("a file");
    let module = "def answer() -> int:\n    return 42\n";
    project.write("hidden/acmelib.py", module);
    let runtime = open(&project, &["pyright"]);
    assert_eq!(codes(&runtime, "a.py").await.0, ["reportMissingImports"], "untrusted, it is only read");
    let shown = runtime.trust(TrustRequest::Show).await.expect("its programs");
    runtime.trust(TrustRequest::Grant { fingerprint: shown.fingerprint }).await.expect("trust");
    runtime.shutdown().await;
    let runtime = open(&project, &["pyright"]);
    assert_eq!(codes(&runtime, "a.py").await, (vec!["reportAssignmentType".to_owned()], Verdict::Complete));
    let target = Target::NameOnLine { path: "a.py".into(), line0: 2, name: "answer".to_owned() };
    let found = runtime.definition(target).await.expect("an answer").output.locations;
    assert_eq!(found.first().map(|place| place.path.as_str()), Some("hidden/acmelib.py"));
    // Later installations there count as well.
    fs::write(project.path("a.py"), "import later\n\nx: str = later.answer()\n").expect("a file");
    assert_eq!(codes(&runtime, "a.py").await.0, ["reportMissingImports"]);
    fs::write(site.join("later.py"), module).expect("a file");
    assert_eq!(codes(&runtime, "a.py").await, (vec!["reportAssignmentType".to_owned()], Verdict::Complete));
    runtime.shutdown().await;
}
