//! The move of a symbol to another file, with its imports, if a server offers that as a code
//! action.

use serde_json::Value;
use tokio::time::Instant;

use super::{Proposal, ProposalError};
use crate::lsp::session::live_session::Session;
use crate::text::{Position, Range};
use crate::workspace::WorkspacePath;

impl Session {
    /// Returns the changes in the whole project that moving the declaration on the lines of `range`
    /// of `path` to the file `to` needs; `None` if the server does not offer that.
    pub(crate) async fn move_symbol(
        &self,
        path: &WorkspacePath,
        range: Range,
        to: &WorkspacePath,
        deadline: Instant,
    ) -> Result<Option<Proposal>, ProposalError> {
        let Some(rule) = &self.state.spec.move_symbol else { return Ok(None) };
        let (synced, snapshot) = self.sync(path).await?;
        drop(synced);
        let whole_lines = Range::new(
            Position::new(range.start.line, 0),
            snapshot.buffer.clamp(Position::new(range.end.line, u32::MAX)),
        );
        let offered = self.code_actions(path, whole_lines, Some(&rule.kind), deadline).await?;
        if let Some(work) = offered.unfinished_work {
            return Err(ProposalError::Busy { server: self.server().to_owned(), work });
        }
        let Some(mut action) = offered.list.into_iter().find(|action| action.kind == rule.kind) else {
            return Ok(None);
        };
        let target = self.workspace.absolute(to);
        let target = target.to_str().ok_or_else(|| self.unusable_error("a path that is not UTF-8"))?;
        if !action.set_argument(&rule.argument, target) {
            return Err(self.unusable_error("an action without a command that takes a file"));
        }
        let missing = self.workspace.missing_entries(to);
        let proposed = self.action_edit(&action, deadline).await;
        if rule.makes_file {
            self.workspace.remove_empty_entries(&missing).map_err(|error| {
                self.unusable_error(&format!("it made {}, which cannot be removed: {error}", to.display()))
            })?;
        }
        let mut proposal = proposed?;
        for file in proposal.files.iter_mut().filter(|file| missing.contains(&file.path)) {
            file.before = None;
            file.after = file.after.take().map(|text| text.trim_start_matches(['\r', '\n']).to_owned());
        }
        let changes = |path: &WorkspacePath| proposal.files.iter().any(|file| file.path == *path);
        match changes(path) && changes(to) {
            true => Ok(Some(proposal)),
            false => Err(self.unusable_error("a move that leaves one of the two files as it is")),
        }
    }
}

/// Sets `pointer` of `arguments` to `value`; the objects on the way are created.
pub(super) fn put(arguments: &mut Value, pointer: &str, value: &str) -> bool {
    let mut at = arguments;
    for key in pointer.split('/').skip(1) {
        let Some(object) = at.as_object_mut() else { return false };
        at = object.entry(key).or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    *at = Value::String(value.to_owned());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn put_makes_the_objects_on_the_way_and_refuses_other_values() {
        let mut arguments = json!({"file": "a.ts"});
        assert!(put(&mut arguments, "/interactive/target", "b.ts"));
        assert_eq!(arguments, json!({"file": "a.ts", "interactive": {"target": "b.ts"}}));
        assert!(!put(&mut json!([1]), "/target", "b.ts"));
    }
}
