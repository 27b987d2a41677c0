//! The plugin folders of hosts and the client packages are those that their generators write.

use std::path::Path;
use std::process::Command;

/// Fails if the files of a generator differ from its current output.
fn check(generator: &str) {
    let mut command = Command::new("python3");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(generator));
    let ran = command.arg("--check").arg(env!("CARGO_BIN_EXE_lsp-tools")).output().expect("python3");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn plugin_folders_are_generated_ones() {
    check("plugin/generate");
}

#[test]
fn client_packages_are_generated_ones() {
    check("clients/generate");
}
