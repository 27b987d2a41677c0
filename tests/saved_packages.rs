//! `install --download` and `install --from`, with the real package managers.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A machine with an empty home. Without a network, its package managers get an address with a
/// closed port.
struct Machine {
    folder: TempDir,
    has_network: bool,
}

impl Machine {
    fn new(has_network: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b/c/workspace/.git")).unwrap();
        fs::create_dir_all(folder.path().join("home")).unwrap();
        Self { folder, has_network }
    }

    /// The items of `lsp-tools install WORDS`, and its exit status.
    fn install(&self, words: &[&str]) -> (Vec<Value>, Option<i32>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lsp-tools"));
        command
            .args(["--no-daemon", "--format", "json", "install"])
            .args(words)
            .current_dir(self.folder.path().join("a/b/c/workspace"))
            .stdin(Stdio::null())
            .env_remove("LSP_TOOLS_DATA_DIR")
            .env_remove("XDG_DATA_HOME")
            .env("HOME", self.folder.path().join("home"));
        if !self.has_network {
            let closed = "http://127.0.0.1:9/";
            command
                .env_remove("PIP_FIND_LINKS")
                .env("PIP_INDEX_URL", closed)
                .env("PIP_RETRIES", "0")
                .env("npm_config_registry", closed)
                .env("npm_config_fetch_retries", "0");
        }
        let done = command.output().unwrap();
        let answer: Value = serde_json::from_slice(&done.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&done.stderr)));
        (answer["items"].as_array().cloned().unwrap_or_default(), done.status.code())
    }
}

/// Changes one byte in the middle of each file below `folder`.
fn corrupt(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            corrupt(&entry.path());
            continue;
        }
        let mut bytes = fs::read(entry.path()).unwrap();
        let middle = bytes.len() / 2;
        if let Some(byte) = bytes.get_mut(middle) {
            *byte ^= 1;
        }
        fs::write(entry.path(), bytes).unwrap();
    }
}

#[test]
fn packages_of_pip_and_npm_are_saved_and_installed_without_a_network() {
    let (online, offline) = (Machine::new(true), Machine::new(false));
    let stick = tempfile::tempdir().unwrap();
    let folder = stick.path().join("packages");
    let folder = folder.to_str().unwrap();
    let servers = ["ruff", "docker-langserver"];
    let (items, status) = online.install(&["--download", folder, servers[0], servers[1]]);
    assert!(items.len() == 2 && items.iter().all(|item| item["state"] == "downloaded"), "{items:?}");
    assert_eq!(status, Some(0));
    assert!(!online.folder.path().join("home/.local/share/lsp-tools/servers/ruff/current").exists());

    let (items, _) = offline.install(&servers);
    assert!(items.iter().all(|item| item["state"] == "failed"), "there is a network: {items:?}");
    let (items, status) = offline.install(&["--from", folder, servers[0], servers[1]]);
    assert!(items.iter().all(|item| item["state"] == "installed"), "{items:?}");
    assert_eq!(status, Some(0));

    corrupt(Path::new(folder));
    let (items, status) = Machine::new(false).install(&["--from", folder, servers[0], servers[1]]);
    assert!(items.iter().all(|item| item["state"] == "failed"), "{items:?}");
    assert_eq!(status, Some(4));
}

#[test]
fn packages_that_cannot_be_saved_or_found_are_named() {
    let machine = Machine::new(false);
    let folder = machine.folder.path().join("packages");
    let folder = folder.to_str().unwrap();
    let (items, status) = machine.install(&["--download", folder, "taplo"]);
    assert_eq!(status, Some(4), "{items:?}");
    let detail = items[0]["detail"].as_str().unwrap();
    assert!(detail.contains("cargo, whose packages cannot be saved"), "{detail}");
    let (items, _) = machine.install(&["--from", "no/such/folder", "ruff"]);
    let detail = items[0]["detail"].as_str().unwrap();
    assert!(detail.contains("no/such/folder is no folder of saved packages"), "{detail}");
}
