//! Files that users and projects write: settings, hooks, skill headers, notebooks. They are
//! accepted or rejected with a message, in memory bounded by their size.

use std::sync::OnceLock;

use crate::config::{Catalogue, Config, ConfigOverrides, TrustStore};
use crate::policy::hooks::Hooks;
use crate::policy::hooks::files::HookFile;
use crate::policy::rules::Policy;
use crate::tools::agent::skills::frontmatter::Frontmatter;
use crate::tools::files::notebook;

use super::draw::Draw;
use super::peak_of;
use super::world::World;

const MEMORY: usize = 48 << 20;
const MEMORY_PER_BYTE: usize = 256;

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        Catalogue::built_in();
        World::new([(".lsp-tools/x", "")])
    })
}

pub fn run(bytes: &[u8]) {
    let world = world();
    let mut draw = Draw::new(bytes);
    let kind = draw.byte() % 8;
    let text = draw.swollen(256 << 10);
    let size = text.len();
    let ((), peak) = peak_of(|| match kind {
        0 => world.write_beside("config/lsp-tools.toml", text),
        1 => world.write(".lsp-tools/lsp-tools.toml", text),
        2 => world.write_beside("config/servers.toml", text),
        3 => world.write(".lsp-tools/servers.toml", text),
        4 => world.write(".mcp.json", text),
        5 => hooks(&String::from_utf8_lossy(&text)),
        6 => {
            let _refused = Frontmatter::parse(&String::from_utf8_lossy(&text)).map_err(|error| told(&error));
        }
        _ => {
            notebook::as_text(&String::from_utf8_lossy(&text));
        }
    });
    let (loaded, peak_of_load) = peak_of(|| if kind < 5 { load(world) } else { Ok(()) });
    for (_, file) in FILES {
        // Only one of them exists.
        let _not_there = std::fs::remove_file(world.beside(file));
    }
    if let Err(error) = loaded {
        told(&error);
    }
    let peak = peak.max(peak_of_load);
    assert!(peak < MEMORY + MEMORY_PER_BYTE * size, "{size} bytes took {peak} bytes");
}

/// Loads the settings and all that is derived from them before anything runs.
fn load(world: &World) -> Result<(), Box<dyn std::error::Error>> {
    let (folders, root) = (world.folders(), world.root());
    let trust = TrustStore::open(&folders)?;
    if world.beside("code/project/.mcp.json").exists() {
        world.write_beside("config/lsp-tools.toml", "[mcp]\nfiles = [\".mcp.json\"]\n");
    }
    let config = Config::load(&folders, Some(&root), &ConfigOverrides::default(), &trust)?;
    Policy::new(&config.settings.access)?;
    Hooks::new(&config.settings.access)?;
    for name in ["a.py", "Makefile", "x.scr", ""] {
        config.catalogue.language_of(name, Some("#!/bin/sh"));
    }
    Ok(())
}

const FILES: [(u8, &str); 5] = [
    (0, "config/lsp-tools.toml"),
    (1, "code/project/.lsp-tools/lsp-tools.toml"),
    (2, "config/servers.toml"),
    (3, "code/project/.lsp-tools/servers.toml"),
    (4, "code/project/.mcp.json"),
];

fn hooks(text: &str) {
    let file = HookFile { path: ".github/hooks/fuzz.json".to_owned(), text: text.to_owned() };
    if let Err(error) = file.hooks() {
        assert!(!error.is_empty());
    }
}

/// Checks that an error message is present, limited in length and free of escape sequences.
fn told(error: &(impl std::fmt::Display + ?Sized)) {
    let told = error.to_string();
    assert!(!told.is_empty() && told.len() < 64 << 10, "{} bytes", told.len());
    assert!(!told.contains('\u{1b}'), "{told:?}");
}
