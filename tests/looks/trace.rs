//! The started programs and the opened code files, as recorded by `strace`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// File extensions that interpreters load.
const CODE: &[&str] = &[
    "py", "pyc", "pth", "js", "cjs", "mjs", "ts", "mts", "cts", "node", "so", "rb", "lua", "pl", "php",
    "fish", "vim", "sh", "cmake", "wasm", "jar",
];

/// The recorded events.
#[derive(Debug, Default)]
pub struct Traced {
    /// Executed programs of the workspace, and those whose path depends on the current folder.
    pub executed: BTreeSet<String>,
    /// Command lines of all other executed programs, shortened.
    pub started: BTreeSet<String>,
    /// Opened code files of the workspace; reading them as text is normal for a server.
    pub opened: BTreeSet<String>,
}

/// `command` under `strace`, if that is installed.
pub fn traced_command(command: Command, log: &Path) -> Command {
    if !Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success()) {
        return command;
    }
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-s", "4096", "-e", "trace=execve,openat", "-e", "signal=none", "-o"]).arg(log);
    traced.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        traced.current_dir(folder);
    }
    traced
}

impl Traced {
    /// The events in `log` about the workspace at `root`; `None` without a log.
    pub fn read(log: &Path, root: &Path) -> Option<Self> {
        let text = String::from_utf8_lossy(&fs::read(log).ok()?).into_owned();
        let mut seen = Self::default();
        let below =
            |path: &str| Path::new(path).strip_prefix(root).ok().map(|path| path.display().to_string());
        for line in text.lines() {
            // Failed calls ran and read nothing; an unfinished call to `execve` shows its path all
            // the same.
            if line.contains(" = -1 ") {
                continue;
            }
            if let Some(rest) = line.split_once("execve(\"").map(|(_, rest)| rest) {
                let path = rest.split('"').next().unwrap_or_default();
                match below(path) {
                    Some(name) => seen.executed.insert(name),
                    None if !path.starts_with('/') => seen.executed.insert(format!("{path} (relative)")),
                    None => seen.started.insert(arguments(rest)),
                };
            } else if let Some(rest) = line.split_once("openat(").map(|(_, rest)| rest) {
                let path = rest.split('"').nth(1).unwrap_or_default();
                let path = if path.starts_with('/') {
                    path.to_owned()
                } else {
                    root.join(path).display().to_string()
                };
                let is_code =
                    Path::new(&path).extension().is_some_and(|end| CODE.iter().any(|code| end == *code));
                if let Some(name) = below(&path).filter(|_| is_code) {
                    seen.opened.insert(name);
                }
            }
        }
        Some(seen)
    }
}

/// The arguments of an `execve` line, shortened.
fn arguments(call: &str) -> String {
    let list = call.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    let words: Vec<&str> = list.split(", ").map(|word| word.trim_matches('"')).collect();
    words.join(" ").chars().take(160).collect()
}
