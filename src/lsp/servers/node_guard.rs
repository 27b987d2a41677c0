//! The guard that keeps a server on Node.js from loading code of an untrusted project.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::generated_file;
use crate::platform::canonicalize;

/// The module, without the list of folders.
const MODULE: &str = include_str!("node_guard.cjs");
/// The placeholder line for the folders.
const FOLDERS: &str = "/* FOLDERS */\n";

/// Returns the value of `NODE_OPTIONS` with which Node.js loads no code from below `closed`, apart
/// from that below `open`; `given` is its present value. The module that enforces this is written
/// to `cache`.
///
/// # Errors
/// The module cannot be written.
pub(super) fn node_options(
    cache: &Path,
    closed: &Path,
    open: &[&Path],
    given: Option<&OsStr>,
) -> io::Result<OsString> {
    let module =
        generated_file::ensure_written(&cache.join("node"), "guard.cjs", &guard_script(closed, open), 0o600)?;
    // Words are parted at blanks there, but for those in quotes.
    let quoted = module.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let mut options = OsString::from(format!("--require \"{quoted}\""));
    if let Some(given) = given.filter(|given| !given.is_empty()) {
        options.push(" ");
        options.push(given);
    }
    Ok(options)
}

fn guard_script(closed: &Path, open: &[&Path]) -> String {
    let folders =
        format!("const CLOSED = {};\nconst OPEN = {};\n", folder_literal(&[closed]), folder_literal(open));
    MODULE.replace(FOLDERS, &folders)
}

/// Returns the folders as named and as resolved, as a JavaScript literal, which is JSON.
fn folder_literal(folders: &[&Path]) -> Value {
    let real = folders.iter().filter_map(|folder| canonicalize(folder).ok());
    let mut all: Vec<PathBuf> = folders.iter().map(|folder| folder.to_path_buf()).chain(real).collect();
    all.sort();
    all.dedup();
    all.iter().map(|folder| Value::from(folder.to_string_lossy())).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::files::{PermissionsExt, symlink};
    use std::fs;
    use std::process::{Command, Stdio};

    use super::*;

    /// Ways to run code of the project, one each.
    const WAYS: &str = r#"
const [closed] = process.argv.slice(2);
const vm = require("node:vm"), processes = require("node:child_process"), Module = require("node:module");
const { Worker } = require("node:worker_threads");
const file = `${closed}/evil.cjs`, program = `${closed}/evil.sh`, ended = (thing) => new Promise((done) => thing.on("error", done).on("exit", done));
const compiled = new Module(file);
const ways = [
    () => require(file),
    () => require(`${closed}/../link/evil.cjs`),
    () => import(file),
    () => import(`file://${closed}/evil.mjs`),
    () => import(`file://${closed}/evil.mjs?data=.json`),
    () => require("evil-package"),
    () => compiled._compile(require("node:fs").readFileSync(file, "utf8"), `${closed}/evil.ts`),
    () => new vm.Script(require("node:fs").readFileSync(file, "utf8"), { filename: file }).runInThisContext()(require),
    () => ended(new Worker(file)),
    () => ended(processes.fork(file, { stdio: "ignore" })),
    () => ended(processes.spawn(process.execPath, [file], { stdio: "ignore" })),
    () => ended(processes.spawn(program)),
    () => ended(processes.spawn("./evil.sh", { cwd: closed })),
    () => processes.spawnSync(program),
    () => processes.execFileSync(program),
    () => process.dlopen({ exports: {} }, `${closed}/evil.node`),
];
(async () => {
    for (const way of ways) try { await way(); } catch {}
    const data = require(`${closed}/data.json`);
    console.log(data.is, require(`${closed}/ours/own.cjs`), (await import("node:os")).EOL === "\n", vm.runInThisContext("1 + 1"));
})();
"#;

    fn ways(guarded: bool) -> (String, String) {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        let (closed, canary) = (at("p q"), at("canary"));
        fs::create_dir_all(closed.join("node_modules/evil-package")).unwrap();
        fs::create_dir_all(closed.join("ours")).unwrap();
        symlink(&closed, at("link")).unwrap();
        let evil = format!("require('node:fs').appendFileSync({canary:?}, 'x')\n");
        for name in ["evil.cjs", "node_modules/evil-package/index.js"] {
            fs::write(closed.join(name), &evil).unwrap();
        }
        let module =
            format!("import {{ appendFileSync }} from 'node:fs'; appendFileSync({canary:?}, 'x');\n");
        fs::write(closed.join("evil.mjs"), module).unwrap();
        fs::write(closed.join("evil.sh"), format!("#!/bin/sh\necho x >> '{}'\n", canary.display())).unwrap();
        let may_run = PermissionsExt::from_mode(0o755);
        fs::set_permissions(closed.join("evil.sh"), may_run).unwrap();
        fs::write(closed.join("data.json"), r#"{"is": "read"}"#).unwrap();
        fs::write(closed.join("ours/own.cjs"), "module.exports = 'own'").unwrap();
        fs::write(at("ways.cjs"), WAYS).unwrap();
        let mut node = Command::new("node");
        node.arg(at("ways.cjs"))
            .arg(&closed)
            .current_dir(&closed)
            .env("NODE_PATH", closed.join("node_modules"));
        node.env_remove("NODE_OPTIONS");
        if guarded {
            let ours = closed.join("ours");
            let given = OsStr::new("--no-deprecation");
            node.env("NODE_OPTIONS", node_options(&at("a \"cache"), &closed, &[&ours], Some(given)).unwrap());
        }
        let output = node.stdin(Stdio::null()).stderr(Stdio::inherit()).output().expect("node");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (said, fs::read_to_string(canary).unwrap_or_default().replace('\n', ""))
    }

    #[test]
    fn node_guard_blocks_loading_code_from_closed_folder_only() {
        let (said, ran) = ways(false);
        assert_eq!(said, "read own true 2\n");
        // The addon is none, and the script in a context is a function's body.
        assert!(ran.len() >= 10, "the ways do lead to code: {ran}");
        let (said, ran) = ways(true);
        assert_eq!((said.as_str(), ran.as_str()), ("read own true 2\n", ""));
    }
}
