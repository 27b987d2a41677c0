//! The catalogue of usable skills, one of each name.

use std::collections::BTreeMap;

use super::super::context::Context;
use super::frontmatter::Frontmatter;
use super::manifest::SkillManifest;
use super::sources::{SkillFolder, Whose, skill_folders};
use crate::config::TrustState;
use crate::workspace::ReadError;

/// The longest name, in bytes.
const MAX_SKILL_NAME_BYTES: usize = 64;

/// A skill whose head could be read.
#[derive(Debug, Clone)]
pub(crate) struct Skill {
    /// Where it is.
    pub place: SkillFolder,
    /// What it is for.
    pub description: String,
    /// The text of its `SKILL.md`.
    pub text: Option<String>,
    /// Its `skill.json`.
    pub manifest: Option<SkillManifest>,
    /// Its number in the order of all folders, in which later ones win.
    pub order: usize,
}

/// What there is.
#[derive(Debug, Clone, Default)]
pub(crate) struct SkillCatalogue {
    /// By name.
    pub skills: BTreeMap<String, Skill>,
    /// A sentence for each that cannot be used, by its name.
    pub left_out: Vec<(String, String)>,
    /// A sentence for each folder that cannot be used.
    pub unreadable: Vec<String>,
}

impl SkillCatalogue {
    /// Looks through all folders. Of two skills with one name the later wins, but never one of the workspace over one of the
    /// user's.
    pub(crate) fn scan(context: &Context) -> Self {
        let (places, unread) = skill_folders(context);
        let mut shelf = Self { unreadable: unread, ..Self::default() };
        for (order, place) in places.into_iter().enumerate() {
            let name = place.name.clone();
            match shelf.check_skill(context, place) {
                Ok(skill) => {
                    shelf.skills.insert(name, Skill { order, ..skill });
                }
                Err((shown, why)) => shelf.left_out.push((name, format!("{shown}: {why}"))),
            }
        }
        shelf
    }

    fn check_skill(&self, context: &Context, place: SkillFolder) -> Result<Skill, (String, String)> {
        let shown = place.display_name();
        let refused = |why: String| (shown.clone(), why);
        if !is_name(&place.name) {
            return Err(refused("its name is not of a-z, 0-9, `-` and `_` alone, at most 64".to_owned()));
        }
        if context.config.settings.skills.disabled.contains(&place.name) {
            return Err(refused("switched off in the settings".to_owned()));
        }
        let known = self.skills.get(&place.name).map(|skill| skill.place.whose);
        if (known, place.whose) == (Some(Whose::User), Whose::Workspace) {
            return Err(refused("the user has a skill of that name".to_owned()));
        }
        read(context, place).map_err(refused)
    }
}

fn read(context: &Context, place: SkillFolder) -> Result<Skill, String> {
    let text = read_optional(context, &place, "SKILL.md")?;
    let manifest = read_optional(context, &place, SkillFolder::MANIFEST)?;
    if text.is_none() && manifest.is_none() {
        return Err("neither SKILL.md nor skill.json of it can be found any more".to_owned());
    }
    let manifest = manifest.map(|text| SkillManifest::parse(&text)).transpose()?;
    let head = text.as_deref().map(Frontmatter::parse).transpose().map_err(|error| error.to_string())?;
    let names = [head.as_ref().map(|head| &head.name), manifest.as_ref().map(|manifest| &manifest.name)];
    if let Some(name) = names.into_iter().flatten().find(|name| **name != place.name) {
        return Err(format!("it calls itself {name:?}, which must be the name of its folder"));
    }
    let description = head.map(|head| head.description);
    let description = description.or_else(|| manifest.as_ref().map(|manifest| manifest.description.clone()));
    Ok(Skill { place, description: description.unwrap_or_default(), text, manifest, order: 0 })
}

fn read_optional(context: &Context, place: &SkillFolder, file: &str) -> Result<Option<String>, String> {
    match trusted_text(context, place, file) {
        Ok(text) => Ok(Some(text)),
        Err(SkillFileError::Not(ReadError::NotFound { .. })) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Why a file of a skill is not to be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SkillFileError {
    /// It cannot be read.
    #[error(transparent)]
    Not(#[from] ReadError),
    /// Its owner has not said yes to it.
    #[error("it is the workspace's, and its owner has not said yes to it as it is now (lsp-tools trust)")]
    Untrusted,
    /// Nobody can tell.
    #[error("whether it is trusted cannot be told; why is in the log")]
    NoStore,
}

/// The text of a file of a skill; of a skill of the workspace only where exactly this text is trusted.
///
/// # Errors
/// Where it is not, or cannot be read.
pub(crate) fn trusted_text(
    context: &Context,
    place: &SkillFolder,
    file: &str,
) -> Result<String, SkillFileError> {
    let text = place.read(file)?.text;
    if place.whose == Whose::User {
        return Ok(text);
    }
    let key = place.trust_key(file).ok_or(SkillFileError::Untrusted)?;
    match context.trust.text_state(context.workspace.root(), &key, text.as_bytes()) {
        Ok(TrustState::Trusted) => Ok(text),
        Ok(TrustState::Untrusted | TrustState::Changed { .. }) => Err(SkillFileError::Untrusted),
        Err(error) => {
            tracing::warn!("{error}");
            Err(SkillFileError::NoStore)
        }
    }
}

/// Every text of the workspace's own skills, by the name that trust knows it by: what `lsp-tools trust` asks leave for.
pub(crate) fn texts_to_trust(context: &Context) -> Vec<(String, String)> {
    let (places, _) = skill_folders(context);
    let own = places.iter().filter(|place| place.whose == Whose::Workspace && is_name(&place.name));
    let texts = own.flat_map(|place| {
        let files = place.files().into_iter();
        files.filter_map(|file| Some((place.trust_key(&file)?, place.read(&file).ok()?.text)))
    });
    texts.collect()
}

/// Whether a folder can be a skill at all, whatever it says.
pub(super) fn may_be_skill(context: &Context, place: &SkillFolder) -> bool {
    is_name(&place.name) && !context.config.settings.skills.disabled.contains(&place.name)
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    (1..=MAX_SKILL_NAME_BYTES).contains(&name.len())
        && name.bytes().all(fits)
        && !name.starts_with(['-', '_'])
}
