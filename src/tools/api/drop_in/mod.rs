//! Dropped-in tools: a manifest or a Python file in a folder, and a program that does the work. A
//! manifest is `NAME.json` in `.lsp-tools/tools/` of a trusted project, or in `tools/` beside the
//! user's settings, or the same in a skill; a Python file has `SCHEMA` and `execute` ([`python`]).
//!
//! The module contains the manifests ([`manifest`]), the folders and their changes ([`DropIns`]),
//! the parts of a project's tools that need trust ([`pin`]), and the call ([`run`]). It may use
//! `workspace`, `config`, `process`, `tool` and `source`.
//!
//! The registry of the built-in tools is extended by the dropped-in tools, again after each change
//! of a folder. An unusable manifest is reported and does not affect other tools.

mod folder;
mod manifest;
mod pin;
mod python;
mod run;

use std::sync::Arc;

use parking_lot::Mutex;

pub(crate) use pin::pins;

use self::folder::{DropInContents, DropInOrigin, DropInStamps};
use self::manifest::ToolManifest;
use self::run::DropIn;
use super::registry::Registry;
use super::source::{OmittedTool, ToolSource};
use crate::analysis::context::Context;

/// All tools at one time.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolInventory {
    /// The tools by name, including the built-in ones.
    pub tools: Registry,
    /// The unusable manifests.
    pub left_out: Vec<OmittedTool>,
}

/// Finds dropped-in tools, and caches the result until a folder or the trust store changes.
#[derive(Debug, Default)]
pub(crate) struct DropIns {
    last: Mutex<Option<DropInScan>>,
}

/// The result of a scan, and the state of folders and sources at its time.
#[derive(Debug)]
struct DropInScan {
    stamps: DropInStamps,
    generations: Vec<u64>,
    offer: Arc<ToolInventory>,
}

impl DropIns {
    /// All tools: `built_in`, which cannot be shadowed, the present tools of the folders, and those
    /// of `sources`.
    pub(crate) fn inventory(
        &self,
        context: &Context,
        built_in: &Registry,
        sources: &[Arc<dyn ToolSource>],
    ) -> Arc<ToolInventory> {
        let found = folder::scan_folders(context);
        // Read before the tools, so that a change in between is detected at the next call.
        let generations: Vec<u64> = sources.iter().map(|source| source.generation()).collect();
        let mut last = self.last.lock();
        if let Some(known) = last.as_ref()
            && known.stamps == found.stamps
            && known.generations == generations
        {
            return Arc::clone(&known.offer);
        }
        let stamps = found.stamps.clone();
        let mut offer = build_inventory(context, built_in, &found);
        for source in sources {
            add_source(source.as_ref(), &mut offer);
        }
        let offer = Arc::new(offer);
        *last = Some(DropInScan { stamps, generations, offer: Arc::clone(&offer) });
        offer
    }

    /// Clears the cache, for a change of the built-in tools.
    pub(crate) fn clear_cache(&self) {
        *self.last.lock() = None;
    }
}

fn build_inventory(context: &Context, built_in: &Registry, found: &DropInContents) -> ToolInventory {
    let mut offer = ToolInventory { tools: built_in.clone(), left_out: found.left_out.clone() };
    for file in &found.files {
        let Some(manifest) = manifest::read(file) else { continue };
        if let Err(why) = manifest.and_then(|manifest| add(context, file, manifest, &mut offer.tools)) {
            offer.left_out.push(OmittedTool { file: file.display_name.clone(), why });
        }
    }
    offer
}

fn add_source(source: &dyn ToolSource, offer: &mut ToolInventory) {
    offer.left_out.extend(source.left_out());
    for tool in source.tools() {
        let file = tool.definition().card.name.to_string();
        if let Err(error) = offer.tools.add_any(tool) {
            offer.left_out.push(OmittedTool { file, why: error.error });
        }
    }
}

fn add(
    context: &Context,
    file: &folder::DropInFile,
    manifest: ToolManifest,
    tools: &mut Registry,
) -> Result<(), String> {
    let pin = match file.origin {
        DropInOrigin::User => None,
        DropInOrigin::Project => {
            let needs = pin::trust_needs(context, &manifest)?;
            pin::check_trusted(context, &manifest.name, &needs.text)?;
            Some(needs.text)
        }
    };
    tools.add_any(Arc::new(DropIn::new(manifest, pin))).map_err(|error| error.error)
}
