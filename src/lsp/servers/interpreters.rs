//! Programs that servers need (`node`, `java`), found if PATH lacks them.
//!
//! This happens in hosts that a desktop starts. The path that was recorded when the server was
//! installed is used, else the PATH of the user's login shell.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::install::manifest::InstallationManifest;
use crate::config::interpreter_named_by;
use crate::config::spec::ServerSpec;
use crate::process::{ProgramPath, Spawn, Spawner, is_program, run};
use crate::workspace::Workspace;

/// The timeout for the start of the login shell.
const LOGIN_SHELL_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of bytes of a script that are read for its first line.
const MAX_FIRST_LINE_BYTES: u64 = 256;

/// The PATH of the login shell; read once in the life of this process.
static LOGIN_SHELL_PATH: OnceCell<Option<OsString>> = OnceCell::const_new();

/// The folders of programs that the installation at `prefix` recorded and that `path` lacks.
/// Programs in the workspace are left out.
pub(super) fn recorded_folders(workspace: &Workspace, prefix: &Path, path: &ProgramPath) -> Vec<PathBuf> {
    let Some(manifest) = InstallationManifest::read(prefix) else { return Vec::new() };
    let recorded = manifest.programs.iter().filter(|(name, program)| {
        is_program(program) && workspace.is_resolved_outside(program) && path.find(name).is_none()
    });
    recorded.filter_map(|(_, program)| program.parent().map(Path::to_owned)).collect()
}

/// The folders in which the login shell finds programs that `server` needs and that neither PATH
/// nor `folders` have. The shell is not started if its own files lie in an untrusted workspace.
pub(crate) async fn login_shell_folders(
    spawner: &Spawner,
    (workspace, trusted): (&Workspace, bool),
    (server, program): (&ServerSpec, &Path),
    folders: impl Iterator<Item = &PathBuf>,
) -> Vec<PathBuf> {
    let known = ProgramPath::of_user(workspace).after(folders.cloned());
    let needed = needed_programs(server, program);
    let missing: Vec<String> = needed.into_iter().filter(|name| known.find(name).is_none()).collect();
    let is_ours = |home: &PathBuf| trusted || workspace.is_resolved_outside(home);
    let Some(home) = etcetera::home_dir().ok().filter(is_ours).filter(|_| !missing.is_empty()) else {
        return Vec::new();
    };
    let path = LOGIN_SHELL_PATH.get_or_init(|| login_shell_path(spawner, workspace, home)).await;
    let Some(path) = path else { return Vec::new() };
    let path = ProgramPath::new(workspace, path);
    let found = missing.iter().filter_map(|name| path.find(name));
    found.filter_map(|program| program.parent().map(Path::to_owned)).collect()
}

/// The interpreter in the first line of the server's program, and the programs that the catalogue
/// names.
fn needed_programs(server: &ServerSpec, program: &Path) -> Vec<String> {
    let beside = server.hollow.iter().filter_map(|hollow| hollow.program.clone());
    env_interpreter(program).into_iter().chain(beside).collect()
}

/// The interpreter of a script that begins with `#!/usr/bin/env`.
fn env_interpreter(script: &Path) -> Option<String> {
    let mut start = Vec::new();
    Workspace::open_outside(script).ok()?.0.take(MAX_FIRST_LINE_BYTES).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    let line = start.lines().next().filter(|line| line.starts_with("#!") && line.contains("/env "))?;
    interpreter_named_by(line).map(str::to_owned)
}

/// The PATH of the login shell, after it has read the user's files.
async fn login_shell_path(spawner: &Spawner, workspace: &Workspace, home: PathBuf) -> Option<OsString> {
    let shell = std::env::var_os("SHELL").map(PathBuf::from).filter(|shell| is_program(shell))?;
    if !workspace.is_resolved_outside(&shell) {
        return None;
    }
    let spawn = Spawn {
        name: "login shell".to_owned(),
        program: shell,
        // PATH is often set in files that only interactive shells read.
        args: ["-l", "-i", "-c", "/usr/bin/env"].map(OsString::from).into(),
        env: BTreeMap::from([("TERM".into(), "dumb".into())]),
        cwd: home,
        pins: Vec::new(),
    };
    let mut path = None;
    let note = |line: &str| path = line.strip_prefix("PATH=").map(OsString::from).or_else(|| path.take());
    // The exit status is that of the user's files.
    let ended = run(spawner, spawn, Instant::now() + LOGIN_SHELL_TIMEOUT, note).await;
    if let Err(error) = ended {
        tracing::warn!("the login shell did not say its PATH: {error}");
    }
    path
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::canonicalize;
    use crate::platform::files::PermissionsExt;

    use super::*;

    #[test]
    fn interpreter_is_that_of_a_script_that_begins_with_env() {
        let temp = tempfile::tempdir().unwrap();
        let script = temp.path().join("server");
        let named = |text: &str| {
            std::fs::write(&script, text).unwrap();
            env_interpreter(&script)
        };
        assert_eq!(named("#!/usr/bin/env node\nimport x"), Some("node".to_owned()));
        assert_eq!(named("#!/usr/bin/env -S node --x\n"), Some("node".to_owned()));
        assert_eq!(named("#!/v/bin/python3\n"), None);
        assert_eq!(named("\x7fELF"), None);
    }

    #[test]
    fn recorded_program_counts_where_path_lacks_it_and_outside_the_workspace() {
        let temp = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = canonicalize(temp.path()).unwrap().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            folder
        };
        let (root, prefix, nvm, own) = (folder("w"), folder("p"), folder("nvm"), folder("w/bin"));
        for folder in [&nvm, &own] {
            std::fs::write(folder.join("node"), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(folder.join("node"), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let workspace = Workspace::open(&root).unwrap();
        let record = |program: PathBuf| {
            let mut manifest = InstallationManifest::now(Default::default(), None);
            manifest.programs = BTreeMap::from([("node".to_owned(), program)]);
            manifest.write(&prefix).unwrap();
        };
        record(nvm.join("node"));
        let none = ProgramPath::new(&workspace, "".as_ref());
        let with_nvm = ProgramPath::new(&workspace, nvm.as_os_str());
        assert_eq!(recorded_folders(&workspace, &prefix, &none), [nvm.as_path()]);
        assert!(recorded_folders(&workspace, &prefix, &with_nvm).is_empty());
        record(own.join("node"));
        assert!(recorded_folders(&workspace, &prefix, &none).is_empty());
    }
}
