//! The start of a server in an untrusted project, so that it runs nothing of the project, or its
//! refusal.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::setup::ManagerSetup;
use crate::config::merge;
use crate::config::spec::{self, FileSign, ServerSpec};
use crate::lsp::servers::health;
use crate::lsp::servers::locate::inner_folders;
use crate::lsp::servers::node_guard;
use crate::lsp::servers::project::shortfall::Shortfall;
use crate::platform::canonicalize;
use crate::process::{Exchange, Exit, Spawn, exchange, find_on_path_of_child, run};

/// The time limit of finding out the parameters of an untrusted start, or its loss.
const UNTRUSTED_PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of that program's output that is read, in bytes.
const MAX_UNTRUSTED_PROBE_BYTES: usize = 64 << 20;

/// Returns `server` with the changes for a start at `root` without trust. Errors: the reason why it
/// may not be started, in one sentence.
pub(super) fn restricted_spec(key: &str, server: &ServerSpec, root: &Path) -> Result<ServerSpec, String> {
    if server.waits_for_trust() {
        return Err(refusal_text(&format!("{key} runs code of this project when it starts")));
    }
    let Some(untrusted) = &server.untrusted else { return Ok(server.clone()) };
    if let Some(reason) = start_refusal(key, server, root) {
        return Err(reason);
    }
    let mut server = server.clone();
    server.command.extend(untrusted.args.iter().cloned());
    server.env.extend(untrusted.env.clone());
    merge(&mut server.settings, untrusted.settings.clone());
    merge(&mut server.initialization_options, untrusted.initialization_options.clone());
    Ok(server)
}

/// Returns the reason why `server` may not run at `root` without trust, if a file there forbids it;
/// in one sentence.
pub(super) fn start_refusal(key: &str, server: &ServerSpec, root: &Path) -> Option<String> {
    let shown = found_sign(&server.untrusted.as_ref()?.refused_with, root)?;
    Some(refusal_text(&format!("{key} would run code that {shown} of this project names")))
}

/// The sentence that refuses a start for want of trust.
pub(super) fn refusal_text(reason: &str) -> String {
    format!("{reason}; to allow that, run: lsp-tools trust")
}

/// The folder in which it is started, if that is not its root.
pub(super) fn separate_folder(server: &ServerSpec) -> Option<PathBuf> {
    // One that is always there, and that only the system writes.
    server.untrusted.as_ref().is_some_and(|untrusted| untrusted.apart).then(|| PathBuf::from("/"))
}

/// Returns the variables of an untrusted start that are not in the catalogue: those that keep
/// Node.js from loading the project's code, and those whose values programs print, run like the
/// server. Errors: the output of a failed program.
pub(super) async fn variables(
    setup: &ManagerSetup,
    server: &ServerSpec,
    spawn: &Spawn,
) -> Result<BTreeMap<OsString, OsString>, String> {
    let mut found = BTreeMap::new();
    let Some(untrusted) = &server.untrusted else { return Ok(found) };
    if untrusted.node_guard {
        found.insert("NODE_OPTIONS".into(), node_options(setup, spawn).map_err(|error| error.to_string())?);
    }
    for (name, command) in &untrusted.env_from {
        let Some(probe) = spawn_like_server(spawn, command) else { continue };
        let mut word = None;
        let note =
            |line: &str| word = word.take().or_else(|| line.split_whitespace().next().map(OsString::from));
        let finished = run(&setup.spawner, probe, Instant::now() + UNTRUSTED_PROBE_TIMEOUT, note).await;
        let finished = finished.map_err(|error| error.to_string())?;
        match (finished.exit, word) {
            (Exit::Code(0), Some(word)) => found.insert(name.into(), word),
            _ => {
                return Err(format!(
                    "`{}` failed: {}",
                    command.join(" "),
                    health::most_informative_line(&finished.tail)
                ));
            }
        };
    }
    Ok(found)
}

fn node_options(setup: &ManagerSetup, spawn: &Spawn) -> io::Result<OsString> {
    let given =
        spawn.env.get(OsStr::new("NODE_OPTIONS")).cloned().or_else(|| std::env::var_os("NODE_OPTIONS"));
    // If the workspace is the user's home folder, it contains our own folders.
    let open = [setup.data.as_path(), setup.cache.as_path()];
    node_guard::node_options(&setup.cache, setup.workspace.root(), &open, given.as_deref())
}

/// Creates the start of `command` with the variables, and in the folder, of the server; `None` if
/// its PATH has no such program.
fn spawn_like_server(server: &Spawn, command: &[String]) -> Option<Spawn> {
    let (program, args) = command.split_first()?;
    let path = server.env.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let program = find_on_path_of_child(program, &path)?;
    Some(Spawn { program, args: args.iter().map(Into::into).collect(), pins: Vec::new(), ..server.clone() })
}

/// Returns the omissions of an untrusted start, as far as they may matter at the root; `spawn` is
/// the start of the server itself.
pub(super) async fn shortfall(setup: &ManagerSetup, server: &ServerSpec, spawn: &Spawn) -> Shortfall {
    let rule = server.untrusted.as_ref().and_then(|untrusted| untrusted.shortfall.as_ref());
    let Some(rule) = rule else { return Shortfall::default() };
    let matters = found_sign(&rule.files, &spawn.cwd).is_some() || shows_sign(setup, rule, spawn).await;
    to_shortfall(rule, matters)
}

/// Converts the rule to a shortfall, once it is known whether it `matters`.
pub(super) fn to_shortfall(rule: &spec::ShortfallRule, matters: bool) -> Shortfall {
    let answers = matters.then(|| rule.reason.clone());
    Shortfall { diagnostics: rule.diagnostics.clone().or_else(|| answers.clone()), answers }
}

/// Returns true if the rule's program prints one of its signs, or if that cannot be determined.
async fn shows_sign(setup: &ManagerSetup, rule: &spec::ShortfallRule, server: &Spawn) -> bool {
    if rule.command.is_empty() {
        return false;
    }
    let Some(spawn) = spawn_like_server(server, &rule.command) else { return true };
    let limits = Exchange {
        input: &[],
        most_bytes: MAX_UNTRUSTED_PROBE_BYTES,
        deadline: Instant::now() + UNTRUSTED_PROBE_TIMEOUT,
    };
    let Ok(finished) = exchange(&setup.spawner, spawn, limits, |_| {}).await else { return true };
    let shows = |sign: &String| memchr::memmem::find(&finished.output, sign.as_bytes()).is_some();
    finished.exit != Exit::Code(0) || finished.cut || rule.signs.iter().any(shows)
}

fn found_sign(signs: &[FileSign], root: &Path) -> Option<String> {
    if signs.is_empty() {
        return None;
    }
    searched_folders(root).iter().find_map(|folder| signs.iter().find_map(|sign| sign.found_in(folder)))
}

/// Returns the folders in which a server and its tools look for project files: its root, the
/// folders directly in it, and the folders above it, up to but without the user's home folder.
fn searched_folders(root: &Path) -> Vec<PathBuf> {
    let home = etcetera::home_dir().ok().and_then(|home| canonicalize(home).ok());
    let above = root.ancestors().take_while(|folder| Some(*folder) != home.as_deref());
    above.map(Path::to_owned).chain(inner_folders(root)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_folders_surround_the_root_and_exclude_home() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("a/root");
        std::fs::create_dir_all(root.join("inner/deep")).unwrap();
        let folders = searched_folders(&root);
        // On Windows the folder for temporary files lies in the user's home.
        let top = if cfg!(windows) { temp.path() } else { Path::new("/") };
        for folder in [root.clone(), root.join("inner"), temp.path().join("a"), top.to_owned()] {
            assert!(folders.contains(&folder), "{}", folder.display());
        }
        assert!(!folders.contains(&root.join("inner/deep")));
        let home = canonicalize(etcetera::home_dir().unwrap()).unwrap();
        let folders = searched_folders(&home.join("work/root"));
        assert_eq!(folders, [home.join("work/root"), home.join("work")]);
        assert!(!searched_folders(&home).contains(&home));
    }

    #[test]
    fn untrusted_server_running_project_code_without_rule_is_refused() {
        let table = |words: &str| {
            toml::from_str::<ServerSpec>(&format!("name = 'S'\nlanguages = ['x']\ncommand = ['s']\n{words}"))
                .unwrap()
        };
        let temp = tempfile::tempdir().unwrap();
        assert!(restricted_spec("s", &table(""), temp.path()).is_ok());
        let refused = restricted_spec("s", &table("runs-project-code = true"), temp.path()).unwrap_err();
        assert_eq!(
            refused,
            "s runs code of this project when it starts; to allow that, run: lsp-tools trust"
        );
    }
}
