//! The hosts that can start us, as a table: presence, our entries, and the next command.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::bridges::init::HostSurvey;
use crate::cli::render::DisplayCapabilities;
use crate::cli::render::terminal::display::{BOLD, DIM, GOOD};
use crate::cli::render::terminal::escape;
use crate::cli::render::terminal::table::{Cell, table};

/// One host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct HostRow {
    /// The name on the command line.
    host: &'static str,
    /// The display name.
    title: &'static str,
    /// True if the host is on this machine.
    found: bool,
    /// The host's program.
    program: Option<PathBuf>,
    /// The folder of the host's settings.
    settings: Option<PathBuf>,
    /// The files with our entry.
    entered: Vec<PathBuf>,
    /// The files with our hooks.
    hooks: Vec<PathBuf>,
    /// The instruction files with our block.
    instructions: Vec<PathBuf>,
    /// The next command for the user.
    next: Option<String>,
}

impl From<&HostSurvey> for HostRow {
    fn from(host: &HostSurvey) -> Self {
        Self {
            host: host.host.name(),
            title: host.host.title(),
            found: host.is_found(),
            program: host.program.clone(),
            settings: host.folder.clone(),
            entered: host.entered.clone(),
            hooks: host.hooks.clone(),
            instructions: host.instructions.clone(),
            next: host.next_command(),
        }
    }
}

/// Folders whose paths are shortened in a table.
pub(crate) struct ShortenedFolders<'a> {
    /// The project.
    pub(crate) project: &'a Path,
    /// The user's home.
    pub(crate) home: &'a Path,
}

impl ShortenedFolders<'_> {
    fn shown(&self, path: &Path) -> String {
        let shown = match (path.strip_prefix(self.project), path.strip_prefix(self.home)) {
            (Ok(inside), _) => inside.display().to_string(),
            (_, Ok(inside)) => format!("~/{}", inside.display()),
            _ => path.display().to_string(),
        };
        escape::words(&shown)
    }

    fn all(&self, paths: &[PathBuf]) -> String {
        paths.iter().map(|path| self.shown(path)).collect::<Vec<_>>().join(", ")
    }
}

/// One line per host, the present ones first.
pub(crate) fn render(
    hosts: &[HostRow],
    folders: &ShortenedFolders<'_>,
    display: &DisplayCapabilities,
) -> String {
    let mut sorted: Vec<&HostRow> = hosts.iter().collect();
    sorted.sort_by_key(|host| !host.found);
    let rows: Vec<Vec<Cell>> = sorted
        .into_iter()
        .map(|host| {
            let found = host.program.as_ref().or(host.settings.as_ref());
            let here =
                found.map_or_else(|| Cell::new("not found", DIM), |path| Cell::plain(folders.shown(path)));
            let next = match (&host.next, host.found) {
                (Some(command), _) => Cell::new(escape::words(command), BOLD),
                (None, true) => Cell::new("done", GOOD),
                (None, false) => Cell::new(format!("lsp-tools init {}", host.host), DIM),
            };
            vec![
                Cell::plain(host.host),
                here,
                Cell::plain(folders.all(&host.entered)),
                Cell::plain(folders.all(&host.hooks)),
                Cell::plain(folders.all(&host.instructions)),
                next,
            ]
        })
        .collect();
    table(&["HOST", "FOUND", "ENTERED IN", "HOOKS", "INSTRUCTIONS", "NEXT"], &rows, display)
}
