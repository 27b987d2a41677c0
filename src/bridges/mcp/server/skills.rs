//! The skills extension (`io.modelcontextprotocol/skills`, SEP-2640): `skills/list`, `skills/get`,
//! and their files as resources.
//!
//! Only its own methods show the extension: lists of tools and resources are the same for
//! clients that do not support it. A client receives the skills that the tool `skill` would load
//! for it, under the same rules. Skills that need approval are left out. A skill without a
//! `SKILL.md` does not exist for the extension.

use rmcp::model::{
    CacheScope, ErrorData, GetSkillResult, ListSkillsResult, ResourceContents, Skill, SkillFrontmatter,
    SkillResource, SkillResources, skill_name_from_uri,
};
use serde_json::json;

use crate::analysis::error::{ErrorCode, ToolError};
use crate::runtime::Runtime;
use crate::runtime::skills::WholeSkill;
use crate::tools::api::tool::Caller;

/// The scheme of skill URIs: `skill://NAME/PATH`.
pub(super) const SCHEME: &str = "skill";
/// The time that a client may cache skills, in milliseconds. Files change at any moment.
const SKILL_TTL_MS: u64 = 0;

/// `skills/list`.
pub(super) async fn list(runtime: Runtime, caller: Caller) -> Result<ListSkillsResult, ErrorData> {
    let found = read_off_thread(runtime, move |runtime| runtime.whole_skills(&caller)).await?;
    let skills = match found {
        Ok(skills) => skills.iter().map(entry).collect(),
        // If the caller may not use the tool, the list is empty.
        Err(error) if error.code == ErrorCode::Denied => Vec::new(),
        Err(error) => return Err(ErrorData::internal_error(error.error, None)),
    };
    Ok(ListSkillsResult::with_all_items(skills)
        .with_ttl_ms(SKILL_TTL_MS)
        .with_cache_scope(CacheScope::Private))
}

/// `skills/get`.
pub(super) async fn get(runtime: Runtime, caller: Caller, uri: &str) -> Result<GetSkillResult, ErrorData> {
    let missing = |reason: &str| {
        ErrorData::invalid_params(format!("skill not found: {reason}"), Some(json!({"uri": uri})))
    };
    let name = skill_name_from_uri(uri).ok_or_else(|| missing("its address is unknown"))?.to_owned();
    let found = read_off_thread(runtime, move |runtime| runtime.whole_skill(&caller, &name)).await?;
    let skill = found.map_err(|error| missing(&error.error))?.ok_or_else(|| missing("it has no SKILL.md"))?;
    let skill = entry(&skill);
    if skill.uri != uri {
        return Err(missing("its address is another one"));
    }
    Ok(GetSkillResult::new(skill).with_ttl_ms(SKILL_TTL_MS).with_cache_scope(CacheScope::Private))
}

/// Reads one file of a skill as a resource.
pub(super) async fn read(
    runtime: Runtime,
    caller: &Caller,
    uri: &str,
    (name, file): (String, String),
) -> Result<Result<ResourceContents, ToolError>, ErrorData> {
    let caller = caller.clone();
    let kind = if file.ends_with(".md") { "text/markdown" } else { "text/plain" };
    let text = read_off_thread(runtime, move |runtime| runtime.skill_file(&caller, &name, &file)).await?;
    Ok(text.map(|text| ResourceContents::text(text, uri).with_mime_type(kind)))
}

/// Runs `read` on a blocking thread.
async fn read_off_thread<T: Send + 'static>(
    runtime: Runtime,
    read: impl FnOnce(&Runtime) -> Result<T, ToolError> + Send + 'static,
) -> Result<Result<T, ToolError>, ErrorData> {
    let found = tokio::task::spawn_blocking(move || read(&runtime)).await;
    found.map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn entry(skill: &WholeSkill) -> Skill {
    let resource = |(file, text): &(String, String)| {
        SkillResource::from_bytes(skill_uri(&skill.name, file), text.as_bytes())
    };
    let head = SkillFrontmatter::new(&skill.name, &skill.description);
    let head = skill.more.iter().fold(head, |head, (key, value)| head.with_field(key, value.clone()));
    let files = skill.files.iter().map(resource).collect();
    Skill::new(skill_uri(&skill.name, "SKILL.md"), head, SkillResources::Files(files))
}

/// Builds the URI of a file of a skill. Bytes not allowed in a URI are percent-encoded (RFC 3986).
fn skill_uri(name: &str, file: &str) -> String {
    let mut address = format!("{SCHEME}://{name}/");
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(byte));
            }
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skill_entry_validates_and_percent_encodes_resource_uris() {
        let files = [("SKILL.md", "text"), ("refs/a b#c.md", "more")];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec();
        let more = [("license".to_owned(), json!("MIT"))].into_iter().collect();
        let skill = WholeSkill { name: "tidy_up".to_owned(), description: "Tidies".to_owned(), more, files };
        let entry = entry(&skill);
        entry.validate().unwrap();
        let told = serde_json::to_value(&entry).unwrap();
        assert_eq!(
            (&told["uri"], &told["frontmatter"]),
            (
                &json!("skill://tidy_up/SKILL.md"),
                &json!({"name": "tidy_up", "description": "Tidies", "license": "MIT"})
            )
        );
        assert_eq!(told["resources"][1]["uri"], "skill://tidy_up/refs/a%20b%23c.md");
        assert_eq!(told["resources"][1]["size"], 4);
    }
}
