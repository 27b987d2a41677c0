//! Real installations of servers, from the registries, into a temporary data folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use lsp_tools::internals::config::{Catalogue, ServerSpec};
use lsp_tools::internals::lsp::{
    InstallError, InstallProgress, InstalledServer, Installer, LocatedProgram, ProgramOrigin, prefix_folders,
    prerequisite_findings, server_version,
};
use lsp_tools::internals::process::{Spawn, Spawner, run};
use lsp_tools::internals::workspace::Workspace;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PATIENCE: Duration = Duration::from_secs(120);

fn spawner() -> Spawner {
    Spawner::new(Some(env!("CARGO_BIN_EXE_lsp-tools").into()))
}

/// A workspace that is unrelated to the installations.
fn workspace() -> Workspace {
    Workspace::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/python")).unwrap()
}

fn installer(data: &Path) -> Installer {
    Installer::new(data.to_owned(), &workspace()).with_spawner(spawner())
}

fn server(command: &str, install: &str) -> ServerSpec {
    toml::from_str(&format!("name = 'S'\nlanguages = ['x']\ncommand = ['{command}']\ninstall = {install}"))
        .unwrap()
}

fn ruff() -> ServerSpec {
    Catalogue::built_in().servers["ruff"].clone()
}

fn located(data: &Path, key: &str, program: PathBuf) -> LocatedProgram {
    LocatedProgram {
        program,
        origin: ProgramOrigin::Prefix,
        path_folders: prefix_folders(data, key),
        fallback_folders: Vec::new(),
        pin: None,
    }
}

/// The folders of installations, complete or not.
fn installations(data: &Path, key: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(data.join("servers").join(key)).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().unwrap().is_dir()).map(|entry| entry.path()).collect()
}

fn living_with(marker: &str) -> usize {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let lines = pids.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(marker)).count()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

async fn install(data: &Path, key: &str, server: &ServerSpec) -> Result<InstalledServer, InstallError> {
    installer(data).install(key, server, &|_| {}).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn concurrent_installs_of_one_server_install_once() {
    let data = tempfile::tempdir().unwrap();
    let steps = Mutex::new(Vec::new());
    let note = |progress: InstallProgress<'_>| {
        if let InstallProgress::Step(words) = progress {
            steps.lock().unwrap().push(words.to_owned());
        }
    };
    let (installer, ruff) = (installer(data.path()), ruff());
    let (one, other) =
        tokio::join!(installer.install("ruff", &ruff, &note), installer.install("ruff", &ruff, &note));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert!(one.already != other.already, "one installs, the other finds it there");
    assert_eq!(*steps.lock().unwrap(), ["python3 -m venv", &format!("pip install {}", ruff.install.pip[0])]);
    assert_eq!(one.packages, ruff.install.pip);
    assert!(one.notes.is_empty() && other.notes.is_empty(), "it is locked: {:?}", one.notes);
    assert_eq!(one.program, data.path().join("servers/ruff/current/venv/bin/ruff"));
    assert_eq!(installations(data.path(), "ruff").len(), 1);
    let version = server_version(&spawner(), &workspace(), &ruff, &located(data.path(), "ruff", one.program))
        .await
        .unwrap();
    assert_eq!(version, ruff.install.pip[0].replace("==", " "));

    // An interpreter that a system upgrade removed: created again, beside the one that may still be
    // running.
    fs::remove_file(data.path().join("servers/ruff/current/venv/bin/python")).unwrap();
    assert!(!install(data.path(), "ruff", &ruff).await.unwrap().already);
    assert_eq!(installations(data.path(), "ruff").len(), 2);

    // Another lock is another installation, although the recipe is the same.
    let manifest = data.path().join("servers/ruff/current/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"locks\": \"", "\"locks\": \"0")).unwrap();
    assert!(!install(data.path(), "ruff", &ruff).await.unwrap().already);
    assert!(install(data.path(), "ruff", &ruff).await.unwrap().already);
}

/// The case of a home or data folder on another disk.
#[tokio::test(flavor = "multi_thread")]
async fn locked_packages_of_npm_install_below_a_symbolic_link() {
    let real = tempfile::tempdir().unwrap();
    let link = real.path().join("link");
    fs::create_dir(real.path().join("data")).unwrap();
    std::os::unix::fs::symlink("data", &link).unwrap();
    let server = &Catalogue::built_in().servers["vim-language-server"];
    let installed = install(&link, "vim-language-server", server).await.unwrap();
    assert!(installed.program.starts_with(&link), "{:?}", installed.program);
}

/// Not a test: the process that the next test kills.
#[test]
#[ignore = "runs in a process of its own, which a test starts and kills"]
fn installs_until_killed() {
    let Some(data) = std::env::var_os("LSP_TOOLS_TEST_DATA") else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(install(Path::new(&data), "ruff", &ruff())).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn install_killed_midway_keeps_old_version_and_is_cleaned_up() {
    let data = tempfile::tempdir().unwrap();
    let marker = data.path().to_str().unwrap();
    // Another program under the same key is in use, so that the kill has something to break.
    let before = server("normalizer", "{ pip = ['charset-normalizer==3.4.0'] }");
    let old = install(data.path(), "ruff", &before).await.unwrap();
    let real = old.program.canonicalize().unwrap();

    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "install::installs_until_killed", "--ignored"])
        .env("LSP_TOOLS_TEST_DATA", data.path());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    until("pip runs", || {
        living_with(&format!("{marker}/servers/ruff")) > 0 && installations(data.path(), "ruff").len() == 2
    });
    child.kill().unwrap();
    child.wait().unwrap();
    until("its tools have ended with it", || living_with(&format!("{marker}/servers/ruff")) == 0);
    assert_eq!(old.program.canonicalize().unwrap(), real, "the used version is still there");

    let new = install(data.path(), "ruff", &ruff()).await.unwrap();
    assert!(!new.already);
    assert_eq!(new.program, data.path().join("servers/ruff/current/venv/bin/ruff"));
    let left = installations(data.path(), "ruff");
    assert_eq!(left.len(), 2, "the new one and the one before it: {left:?}");
    assert!(left.iter().all(|folder| folder.join("manifest.json").is_file()));
}

#[tokio::test(flavor = "multi_thread")]
async fn install_future_dropped_ends_its_processes() {
    let data = tempfile::tempdir().unwrap();
    let marker = format!("{}/servers", data.path().display());
    let (begun, mut is_begun) = tokio::sync::mpsc::unbounded_channel();
    let path = data.path().to_owned();
    let task = tokio::spawn(async move {
        let note = move |progress: InstallProgress<'_>| {
            if matches!(progress, InstallProgress::Step(_)) {
                begun.send(()).unwrap();
            }
        };
        installer(&path).install("ruff", &ruff(), &note).await
    });
    is_begun.recv().await.unwrap();
    until("the tool runs", || living_with(&marker) > 0);
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    until("nothing runs", || living_with(&marker) == 0);
    assert!(!data.path().join("servers/ruff/current").exists());
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn install_failure_reports_the_registry_error() {
    let data = tempfile::tempdir().unwrap();
    let cases = [
        ("{ pip = ['ruff==0.0.0.99'] }", "No matching distribution found"),
        ("{ npm = ['pyright@0.0.0-none'] }", "the registry has no such version"),
    ];
    for (recipe, words) in cases {
        let error = install(data.path(), "none", &server("none", recipe)).await.unwrap_err();
        assert!(matches!(error, InstallError::Failed { .. } | InstallError::Known { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(installations(data.path(), "none").is_empty(), "what failed is removed");
    }
}

#[tokio::test]
async fn install_without_expected_program_is_an_error() {
    let data = tempfile::tempdir().unwrap();
    let wrong = server("no-such-program", "{ npm = ['left-pad@1.3.0'] }");
    let error = install(data.path(), "wrong", &wrong).await.unwrap_err();
    let expected =
        "left-pad@1.3.0 did not install the program `no-such-program`, the command of wrong in the catalogue";
    assert_eq!(error.to_string(), expected);
    assert!(!data.path().join("servers/wrong/current").exists());
}

#[tokio::test]
async fn install_without_npm_or_pip_names_how_to_get_it() {
    let data = tempfile::tempdir().unwrap();
    let bare = installer(data.path()).with_path("/nonexistent".as_ref(), &workspace());
    for (recipe, words) in
        [("{ npm = ['a@1'] }", "apt install npm"), ("{ pip = ['a==1'] }", "apt install python3 python3-venv")]
    {
        let error = bare.install("a", &server("a", recipe), &|_| {}).await.unwrap_err();
        assert!(matches!(error, InstallError::NoTool { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let venv = fs::canonicalize(data.path()).unwrap();
    let found =
        std::env::split_paths(&std::env::var_os("PATH").unwrap()).find(|folder| folder.join("npm").is_file());
    fs::create_dir(venv.join("bin")).unwrap();
    std::os::unix::fs::symlink(found.unwrap().join("npm"), venv.join("bin/npm")).unwrap();
    let path = venv.join("bin");
    let avoiding = installer(data.path()).with_path(path.as_os_str(), &Workspace::open(&venv).unwrap());
    let error = avoiding.install("a", &server("a", "{ npm = ['a@1'] }"), &|_| {}).await.unwrap_err();
    assert!(matches!(error, InstallError::NoTool { tool: "npm", .. }), "{error}");
}

#[tokio::test]
async fn install_of_manual_recipe_or_invalid_key_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let by_hand = server("a", "{ manual = 'ask your distribution', advice = 'apt install a' }");
    let error = install(data.path(), "a", &by_hand).await.unwrap_err();
    assert_eq!(error.to_string(), "a must be installed manually: ask your distribution");
    for key in ["", "../up", ".hidden", "a/b"] {
        let error = install(data.path(), key, &server("a", "{ npm = ['a@1'] }")).await.unwrap_err();
        assert!(matches!(error, InstallError::Key { .. }), "{error}");
    }
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0, "nothing was made");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn installed_server_missing_dependencies_is_reported_by_health() {
    let data = tempfile::tempdir().unwrap();
    let text = "name = 'S'\nlanguages = ['x']\ncommand = ['ruff']\ninstall = { pip = ['ruff==0.14.0'] }
        [[hollow]]\nprogram = 'no-such-program'\nmessage = 'no program'\ninstall = 'get it'
        [[hollow]]\nprogram = 'sh'\nmessage = 'no shell'\ninstall = 'get it'
        [[hollow]]\npython-module = 'pip'\nmessage = 'no pip'\ninstall = 'get it'
        [[hollow]]\npython-module = 'no_such_module'\nmessage = 'no module'\ninstall = 'get it'
        [[hollow]]\nsucceeds = ['--version']\nmessage = 'no version'\ninstall = 'get it'
        [[hollow]]\nsucceeds = ['no-such-command']\nmessage = 'no command'\ninstall = 'get it'";
    let server: ServerSpec = toml::from_str(text).unwrap();
    // A program that fails a check that it is known to pass is not installed.
    let refused = install(data.path(), "s", &server).await.unwrap_err();
    assert!(refused.to_string().starts_with("ruff does not work: no command (error:"), "{refused}");
    let without = text.split("[[hollow]]").next().unwrap();
    let installed = install(data.path(), "s", &toml::from_str(without).unwrap()).await.unwrap();
    assert_eq!(
        installed.notes,
        ["ruff==0.14.0 is not locked: pip chooses the versions of what it depends on"]
    );
    let located = located(data.path(), "s", installed.program);
    let findings = prerequisite_findings(&spawner(), &workspace(), "s", &server, &located).await;
    let told: Vec<(&str, &str)> =
        findings.iter().map(|finding| (finding.message.as_str(), finding.install.as_str())).collect();
    assert_eq!(told[0], ("no program", "get it"));
    assert_eq!(told[1], ("no module", "lsp-tools install s"));
    assert!(told[2].0.starts_with("no command (") && told[2].1 == "get it", "{told:?}");
    assert_eq!(told.len(), 3);
}

#[tokio::test]
async fn probe_process_past_deadline_is_killed() {
    let spawn = Spawn {
        name: "sleep".into(),
        program: "/bin/sleep".into(),
        args: vec!["1000".into()],
        env: BTreeMap::new(),
        cwd: "/".into(),
        pins: Vec::new(),
    };
    let begun = Instant::now();
    let deadline = tokio::time::Instant::now() + Duration::from_millis(200);
    let error = run(&spawner(), spawn, deadline, |_| {}).await.unwrap_err();
    assert_eq!(error.to_string(), "/bin/sleep was ended because its time limit was reached");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// Every recipe of the catalogue, from the registries: gigabytes and minutes, so only on request.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "downloads every server of the catalogue"]
async fn every_catalogue_recipe_installs_a_working_server() {
    let data = tempfile::tempdir().unwrap();
    let mut failed = Vec::new();
    for (key, server) in Catalogue::built_in().servers.iter() {
        let begun = Instant::now();
        match install(data.path(), key, server).await {
            Ok(installed) => {
                let located = located(data.path(), key, installed.program);
                let version = server_version(&spawner(), &workspace(), server, &located).await;
                let findings = prerequisite_findings(&spawner(), &workspace(), key, server, &located).await;
                let answers = answers_initialize(server, &located).await;
                println!("{key}: {:?}, {version:?}, {findings:?}, {:?}", installed.packages, begun.elapsed());
                if !findings.is_empty() || !answers {
                    failed.push(format!("{key}: initialize answered: {answers}; {findings:?}"));
                }
            }
            Err(InstallError::Manual { manual, .. }) => println!("{key}: by hand: {manual}"),
            Err(error) => failed.push(format!("{key}: {error}")),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Returns true if the installed program responds: a version alone does not show that its packages
/// are complete.
async fn answers_initialize(server: &ServerSpec, located: &LocatedProgram) -> bool {
    let folders = located.path_folders.iter().cloned();
    let own = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&own))).unwrap();
    let spawn = Spawn {
        name: "server".into(),
        program: located.program.clone(),
        args: server.command.iter().skip(1).map(OsString::from).collect(),
        env: BTreeMap::from([("PATH".into(), path)]),
        cwd: "/".into(),
        pins: Vec::new(),
    };
    let mut process = spawner().spawn(spawn).await.unwrap();
    let (mut stdin, mut stdout) = (process.take_stdin().unwrap(), process.take_stdout().unwrap());
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}"#;
    stdin.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    let mut said = Vec::new();
    let answered = async {
        while !String::from_utf8_lossy(&said).contains(r#""capabilities""#) {
            if stdout.read_buf(&mut said).await.unwrap() == 0 {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(PATIENCE, answered).await.unwrap_or(false)
}
