//! The catalogue of usable skills, one of each name.

use std::collections::BTreeMap;

use super::frontmatter::Frontmatter;
use super::manifest::SkillManifest;
use super::sources::{SkillFolder, Whose, skill_folders};
use crate::analysis::context::Context;
use crate::config::TrustState;
use crate::workspace::ReadError;

/// The longest name, in bytes.
const MAX_SKILL_NAME_BYTES: usize = 64;

/// A skill with readable front matter or manifest.
#[derive(Debug, Clone)]
pub(crate) struct Skill {
    /// The folder of the skill.
    pub place: SkillFolder,
    /// The purpose of the skill.
    pub description: String,
    /// The text of its `SKILL.md`.
    pub text: Option<String>,
    /// Its `skill.json`.
    pub manifest: Option<SkillManifest>,
    /// The position in the order of all folders, in which later ones win.
    pub order: usize,
}

/// The skills that were found.
#[derive(Debug, Clone, Default)]
pub(crate) struct SkillCatalogue {
    /// The skills, by name.
    pub skills: BTreeMap<String, Skill>,
    /// The unusable skills: name and reason.
    pub left_out: Vec<(String, String)>,
    /// The reasons that folders are unusable, one sentence each.
    pub unreadable: Vec<String>,
}

impl SkillCatalogue {
    /// Scans all folders. The later of two skills with the same name wins, but never one of the
    /// workspace over one of the user's.
    pub(crate) fn scan(context: &Context) -> Self {
        let (places, unread) = skill_folders(context);
        let mut catalogue = Self { unreadable: unread, ..Self::default() };
        for (order, place) in places.into_iter().enumerate() {
            let name = place.name.clone();
            match catalogue.check_skill(context, place) {
                Ok(skill) => {
                    catalogue.skills.insert(name, Skill { order, ..skill });
                }
                Err((shown, reason)) => catalogue.left_out.push((name, format!("{shown}: {reason}"))),
            }
        }
        catalogue
    }

    fn check_skill(&self, context: &Context, place: SkillFolder) -> Result<Skill, (String, String)> {
        let shown = place.display_name();
        let refused = |reason: String| (shown.clone(), reason);
        if !is_name(&place.name) {
            return Err(refused("its name must be at most 64 of a-z, 0-9, `-` and `_`".to_owned()));
        }
        if context.config.settings.skills.disabled.contains(&place.name) {
            return Err(refused("disabled in the settings".to_owned()));
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
        return Err("its SKILL.md or skill.json no longer exists".to_owned());
    }
    let manifest = manifest.map(|text| SkillManifest::parse(&text)).transpose()?;
    let head = text.as_deref().map(Frontmatter::parse).transpose().map_err(|error| error.to_string())?;
    let names = [head.as_ref().map(|head| &head.name), manifest.as_ref().map(|manifest| &manifest.name)];
    if let Some(name) = names.into_iter().flatten().find(|name| **name != place.name) {
        return Err(format!("its `name` {name:?} differs from the name of its folder"));
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

/// The reason that a file of a skill is not available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SkillFileError {
    /// The file cannot be read.
    #[error(transparent)]
    Not(#[from] ReadError),
    /// The file is not trusted.
    #[error("it belongs to the workspace and is not trusted in its current state (lsp-tools trust)")]
    Untrusted,
    /// The trust store is not available.
    #[error("its trust cannot be determined; the reason is in the log")]
    NoStore,
}

/// The text of a file of a skill. For a skill of the workspace, exactly this text must be trusted.
///
/// # Errors
/// If it is not trusted, or cannot be read.
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

/// The texts of the workspace's own skills, by their names in the trust store, for
/// `lsp-tools trust`.
pub(crate) fn texts_to_trust(context: &Context) -> Vec<(String, String)> {
    let (places, _) = skill_folders(context);
    let own = places.iter().filter(|place| place.whose == Whose::Workspace && is_name(&place.name));
    let texts = own.flat_map(|place| {
        let files = place.files().into_iter();
        files.filter_map(|file| Some((place.trust_key(&file)?, place.read(&file).ok()?.text)))
    });
    texts.collect()
}

/// Returns true if a folder may be a skill, regardless of its content.
pub(super) fn may_be_skill(context: &Context, place: &SkillFolder) -> bool {
    is_name(&place.name) && !context.config.settings.skills.disabled.contains(&place.name)
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    (1..=MAX_SKILL_NAME_BYTES).contains(&name.len())
        && name.bytes().all(fits)
        && !name.starts_with(['-', '_'])
}
