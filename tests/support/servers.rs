//! The servers of the tests.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::Value;

/// The scripted server, built once.
///
/// # Panics
/// If it does not build.
pub fn scripted_server() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_example("scripted-server"))
}

/// The scripted Copilot language server, built once.
///
/// # Panics
/// If it does not build.
pub fn scripted_copilot() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_example("scripted-copilot"))
}

fn build_example(example: &str) -> PathBuf {
    let mut command = Command::new(env!("CARGO"));
    // Cargo's variables about a test's package are not settings, but build scripts that read them
    // would run again.
    for (name, _) in std::env::vars_os() {
        let told = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_EXE_",
            "CARGO_CRATE_NAME",
            "CARGO_PRIMARY_PACKAGE",
            "OUT_DIR",
        ];
        if name.to_str().is_some_and(|name| told.iter().any(|start| name.starts_with(start))) {
            command.env_remove(name);
        }
    }
    // Set for the program under test only, by callers that measure tests (`just times`); for cargo
    // it would change every crate.
    command.env_remove("RUSTC_BOOTSTRAP");
    command.args(["build", "--example", example, "--message-format=json-render-diagnostics"]);
    command.arg("--target-dir").arg(target_dir()).current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile_dir().ends_with("release") {
        command.arg("--release");
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().expect("cargo");
    assert!(output.status.success(), "{example} does not build");
    let messages = output.stdout.split(|byte| *byte == b'\n');
    messages
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == example)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .expect("cargo names the executable")
}

/// The folder of this test's build profile.
fn profile_dir() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_lsp-tools")).parent().expect("the folder of the binary")
}

fn target_dir() -> &'static Path {
    profile_dir().parent().expect("the target folder")
}

/// A prefix (`LSP_TOOLS_DATA_DIR`) in which only these servers, by their keys in the catalogue, are
/// installed: installed servers decide which ones run. `lsp-tools install` installs them, once for
/// all tests, under a lock that all test binaries share; an existing installation costs only the
/// installer's own check.
///
/// # Panics
/// If a server cannot be installed.
pub fn real_servers(keys: &[&str]) -> PathBuf {
    static INSTALLED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let prefix = target_dir().join("test-servers");
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    let missing: Vec<&str> = keys.iter().copied().filter(|key| !installed.contains(*key)).collect();
    if missing.is_empty() {
        return prefix_of(&prefix, keys);
    }
    fs::create_dir_all(&prefix).expect("the prefix of the servers");
    let lock = File::create(prefix.join("tests.lock")).expect("the lock of the servers");
    lock.lock().expect("the lock of the servers");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lsp-tools"));
    command.arg("install").args(&missing).stdin(Stdio::null());
    command.env("LSP_TOOLS_DATA_DIR", &prefix).current_dir(&prefix);
    for (name, folder) in [("LSP_TOOLS_CONFIG_DIR", "config"), ("LSP_TOOLS_STATE_DIR", "state")] {
        command.env(name, prefix.join("of-tests").join(folder));
    }
    let output = command.output().expect("lsp-tools");
    assert!(
        output.status.success(),
        "`lsp-tools install {}` failed ({}):\n{}{}",
        missing.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    installed.extend(missing.into_iter().map(ToOwned::to_owned));
    prefix_of(&prefix, keys)
}

/// A prefix with these servers of the shared one. If `target` is a link, the prefix is valid as
/// long as the link's target.
fn prefix_of(all: &Path, keys: &[&str]) -> PathBuf {
    let all = &all.canonicalize().expect("the prefix of the servers");
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    keys.dedup();
    let prefix = all.join("sets").join(keys.join("+"));
    fs::create_dir_all(prefix.join("servers")).expect("the prefix of the servers");
    for key in keys {
        let linked = symlink(all.join("servers").join(key), prefix.join("servers").join(key));
        // Another test may have come first.
        assert!(linked.is_ok() || prefix.join("servers").join(key).exists(), "{linked:?}");
    }
    prefix
}

/// The program `name` of an installed server, so that the raw client can start the same server as
/// the product.
pub fn server_program(prefix: &Path, name: &str) -> Option<PathBuf> {
    let servers = fs::read_dir(prefix.join("servers")).into_iter().flatten().flatten();
    let folders = servers.flat_map(|server| {
        ["venv/bin", "npm/node_modules/.bin"].map(|folder| server.path().join("current").join(folder))
    });
    folders.map(|folder| folder.join(name)).find(|program| program.is_file())
}
