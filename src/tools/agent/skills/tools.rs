//! Tools of skills: definitions with a `command`, called like dropped-in tools. A definition
//! without one is text for the host of the model.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::catalogue::{SkillCatalogue, may_be_skill, trusted_text};
use super::manifest::SkillManifest;
use super::sources::{SkillFolder, Whose, skill_folders};
use crate::analysis::context::Context;

/// The file of a tool definition with a command.
#[derive(Debug, Clone)]
pub(crate) struct ToolFile {
    /// The owner of its skill.
    pub whose: Whose,
    /// The name shown to people.
    pub display_name: String,
    /// The absolute path of its folder.
    pub folder: PathBuf,
    /// The file name without `.json`.
    pub stem: String,
    /// The text of the file.
    pub text: String,
}

/// The tool files of all usable skills, the winner of a name first: the user's before the
/// workspace's, and among those the one in the later folder.
pub(crate) fn usable_tool_files(context: &Context) -> Vec<ToolFile> {
    let (places, _) = skill_folders(context);
    if !places.iter().any(SkillFolder::has_manifest) {
        return Vec::new();
    }
    let catalogue = SkillCatalogue::scan(context);
    let mut skills: Vec<_> = catalogue.skills.values().collect();
    skills.sort_by_key(|skill| (skill.place.whose, std::cmp::Reverse(skill.order)));
    let read = |place: &SkillFolder, file: &str| trusted_text(context, place, file).ok();
    let files = skills.iter().flat_map(|skill| {
        skill.manifest.iter().flat_map(|manifest| files_of(&skill.place, manifest, read)).collect::<Vec<_>>()
    });
    files.collect()
}

/// The tool files of the workspace's skills, trusted or not, for `lsp-tools trust`.
pub(crate) fn of_workspace(context: &Context) -> Vec<ToolFile> {
    let (places, _) = skill_folders(context);
    let own =
        places.iter().rev().filter(|place| place.whose == Whose::Workspace && may_be_skill(context, place));
    let read = |place: &SkillFolder, file: &str| place.read(file).ok().map(|file| file.text);
    let files = own.filter_map(|place| {
        let manifest = SkillManifest::parse(&read(place, SkillFolder::MANIFEST)?).ok()?;
        Some(files_of(place, &manifest, read))
    });
    files.flatten().collect()
}

fn files_of(
    place: &SkillFolder,
    manifest: &SkillManifest,
    read: impl Fn(&SkillFolder, &str) -> Option<String>,
) -> Vec<ToolFile> {
    let files = manifest.tools.iter().filter_map(|file| {
        let text = read(place, file)?;
        let definition: Value = serde_json::from_str(&text).ok()?;
        definition.get("command")?;
        let path = place.absolute(file)?;
        let stem = Path::new(file).file_stem()?.to_str()?.to_owned();
        let shown = format!("the skill {}: {}", place.display_name(), file.escape_debug());
        Some(ToolFile {
            whose: place.whose,
            display_name: shown,
            folder: path.parent()?.to_owned(),
            stem,
            text,
        })
    });
    files.collect()
}
