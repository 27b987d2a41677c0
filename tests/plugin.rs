//! The plugin folders of hosts are those that `plugin/generate` writes.

use std::path::Path;
use std::process::Command;

#[test]
fn plugin_folders_are_generated_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("python3");
    command.arg(root.join("plugin/generate")).arg("--check").arg(env!("CARGO_BIN_EXE_lsp-tools"));
    let ran = command.output().expect("python3");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
