//! How a server is started in a project that is not trusted: so that it runs nothing of the project, or not at all.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::ManagerSetup;
use crate::config::merge;
use crate::config::spec::{self, FileSign, Server};
use crate::lsp::locate::{inner_folders, search};
use crate::lsp::process::{Exchange, Exit, Spawn, exchange};
use crate::lsp::session::Shortfall;

/// How long it may take to find out whether an untrusted start matters.
const LOOK: Duration = Duration::from_secs(10);
/// So much of what the program says about that is read, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// `server` as it may be started at `root` without trust. Errors: why it may not, in one sentence.
pub fn restrained(key: &str, server: &Server, root: &Path) -> Result<Server, String> {
    let Some(untrusted) = &server.untrusted else {
        return match server.runs_project_code {
            false => Ok(server.clone()),
            true => Err(refusal(&format!("{key} runs code of this project when it starts"))),
        };
    };
    if let Some(shown) = shown(&untrusted.refused_with, server, root) {
        return Err(refusal(&format!("{key} would run what {shown} of this project says")));
    }
    let mut server = server.clone();
    server.env.extend(untrusted.env.clone());
    merge(&mut server.settings, untrusted.settings.clone());
    merge(&mut server.initialization_options, untrusted.initialization_options.clone());
    Ok(server)
}

/// The sentence with which a start is refused for want of trust.
pub fn refusal(why: &str) -> String {
    format!("{why}; to allow that, run: lsp-tools trust")
}

/// What an untrusted start leaves undone, as far as it may matter at the root; `spawn` is how the server itself is started.
pub async fn shortfall(setup: &ManagerSetup, server: &Server, spawn: Spawn) -> Shortfall {
    let rule = server.untrusted.as_ref().and_then(|untrusted| untrusted.shortfall.as_ref());
    let Some(rule) = rule else { return Shortfall::default() };
    let matters = shown(&rule.files, server, &spawn.cwd).is_some() || says_so(setup, rule, spawn).await;
    let answers = matters.then(|| rule.reason.clone());
    Shortfall { diagnostics: rule.diagnostics.clone().or_else(|| answers.clone()), answers }
}

/// Whether the rule's program shows one of its signs; what cannot be told may be so.
async fn says_so(setup: &ManagerSetup, rule: &spec::Shortfall, server: Spawn) -> bool {
    let Some((program, args)) = rule.command.split_first() else { return false };
    let path = server.env.get(std::ffi::OsStr::new("PATH")).cloned().unwrap_or_default();
    let Some(program) = search(program, std::env::split_paths(&path)) else { return true };
    let spawn = Spawn { program, args: args.iter().map(Into::into).collect(), ..server };
    let limits = Exchange { input: &[], most_bytes: MOST_BYTES, deadline: Instant::now() + LOOK };
    let Ok(said) = exchange(&setup.spawner, spawn, limits, |_| {}).await else { return true };
    let shows = |sign: &String| memchr::memmem::find(&said.output, sign.as_bytes()).is_some();
    said.exit != Exit::Code(0) || said.cut || rule.signs.iter().any(shows)
}

fn shown(signs: &[FileSign], server: &Server, root: &Path) -> Option<String> {
    let folders = looked_at(server, root);
    folders.iter().find_map(|folder| signs.iter().find_map(|sign| sign.shown_in(folder)))
}

/// Where a server and the tools that it runs look for files of a project: in its root and above it, but not in the user's home
/// folder nor above that; and, where nothing marks the root, in the folders directly in it.
fn looked_at(server: &Server, root: &Path) -> Vec<PathBuf> {
    let home = etcetera::home_dir().ok().and_then(|home| home.canonicalize().ok());
    let above = root.ancestors().take_while(|folder| Some(*folder) != home.as_deref());
    let mut folders: Vec<PathBuf> = above.map(Path::to_owned).collect();
    let marked = server.root_markers.iter().any(|marker| root.join(marker).exists());
    if !marked {
        folders.extend(inner_folders(root));
    }
    folders
}
