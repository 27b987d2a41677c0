//! Real MCP servers and clients from npm and PyPI: installed once, pinned, below `target/test-mcp`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The version that the newest of the packages requires.
const NODE_AT_LEAST: u32 = 20;

fn folder() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_lsp-tools")).ancestors().nth(2).expect("target");
    target.join("test-mcp")
}

/// Runs `commands` in the folder, each unless its file exists, under a lock that all test binaries
/// share.
///
/// # Panics
/// If an installation fails.
fn install(commands: &[(&str, &str)]) {
    let folder = folder();
    fs::create_dir_all(&folder).expect("a folder");
    let lock = fs::File::create(folder.join("tests.lock")).expect("a lock");
    lock.lock().expect("the lock");
    for (done, command) in commands.iter().filter(|(done, _)| !folder.join(done).exists()) {
        let status = Command::new("sh").args(["-ec", command]).current_dir(&folder).status();
        assert!(status.expect("a shell").success(), "{command} does not bring {done}");
    }
}

/// The folder with the real servers of npm (`node_modules`) and the Python SDK (`venv`).
pub fn real_mcp() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        install(&[
            (
                "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
                "npm install --no-fund --no-audit --prefix . @modelcontextprotocol/server-everything@2026.8.31 \
                 @modelcontextprotocol/server-filesystem@2026.8.31",
            ),
            (
                "venv/has-mcp",
                "rm -rf venv && python3 -m venv venv && venv/bin/pip -q install mcp==2.3.0 && touch venv/has-mcp",
            ),
        ]);
        folder()
    })
}

/// The folder with both lines of the TypeScript SDK.
pub fn real_clients() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        real_mcp();
        install(&[(
            "node_modules/has-clients-1",
            "npm install --no-fund --no-audit --prefix . @modelcontextprotocol/sdk@1.32.2 \
             @modelcontextprotocol/client@2.4.0 && touch node_modules/has-clients-1",
        )]);
        folder()
    })
}

/// A recent Node.js: the machine's, or one from npm.
pub fn node() -> PathBuf {
    static NODE: OnceLock<PathBuf> = OnceLock::new();
    let own = || {
        let output = Command::new("node").arg("--version").output().ok()?;
        let said = String::from_utf8(output.stdout).ok()?;
        let major: u32 = said.trim().trim_start_matches('v').split('.').next()?.parse().ok()?;
        (major >= NODE_AT_LEAST).then(|| PathBuf::from("node"))
    };
    let installed = || {
        let program = "node_modules/node/bin/node";
        install(&[(program, "npm install --no-fund --no-audit --prefix . node@24")]);
        folder().join(program)
    };
    NODE.get_or_init(|| own().unwrap_or_else(installed)).clone()
}
