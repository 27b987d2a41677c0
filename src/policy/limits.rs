//! The rules about paths that hold while a call runs.

use std::sync::Arc;

use super::request::{CallSubjects, Effect, PolicyRequest};
use super::rule::Rule;
use crate::analysis::path_limits::{PathLimits, PathRules};
use crate::workspace::WorkspacePath;
use crate::workspace::edit::approval_reason;

/// The rules about paths for one call.
#[derive(Debug)]
struct CallPathRules {
    tool: String,
    effect: Effect,
    rules: Vec<Arc<Rule>>,
    /// The paths that were decided on before the call ran, for an edit that was not typed.
    decided: Option<Vec<WorkspacePath>>,
}

/// The limits of a call of `tool` by `rules`.
pub(super) fn path_limits(
    tool: &str,
    effect: Effect,
    rules: Vec<Arc<Rule>>,
    decided: Option<Vec<WorkspacePath>>,
) -> PathLimits {
    if rules.is_empty() && decided.is_none() {
        return PathLimits::default();
    }
    PathLimits::new(Arc::new(CallPathRules { tool: tool.to_owned(), effect, rules, decided }))
}

impl PathRules for CallPathRules {
    fn may_hide(&self) -> bool {
        !self.rules.is_empty()
    }

    fn is_hidden(&self, path: &WorkspacePath) -> bool {
        let subjects = CallSubjects::default();
        let request = PolicyRequest { tool: &self.tool, effect: self.effect, subjects: &subjects };
        self.rules.iter().any(|rule| rule.hides(&request, path))
    }

    fn denial_reason(&self, paths: Vec<WorkspacePath>) -> Option<String> {
        if let Some(decided) = &self.decided {
            let governing = paths.iter().filter(|path| !decided.contains(path));
            if let Some((path, reason)) =
                governing.filter_map(|path| Some((path, approval_reason(path.as_path())?))).next()
            {
                return Some(format!(
                    "`{0}` would be changed as well, and {reason}, for which the default rule is `ask`; nothing was changed. A rule that names the path \
                     allows it: `{1}({0})` under `allow` in lsp-tools.toml",
                    path.display(),
                    self.tool
                ));
            }
        }
        self.forbids_by_rule(paths)
    }

    fn forbids_by_rule(&self, paths: Vec<WorkspacePath>) -> Option<String> {
        let subjects = CallSubjects { paths, ..CallSubjects::default() };
        let request = PolicyRequest { tool: &self.tool, effect: self.effect, subjects: &subjects };
        let rule = self.rules.iter().find(|rule| rule.applies_to(&request))?;
        let of_it = |path: &&WorkspacePath| {
            let subjects = CallSubjects { paths: vec![(*path).clone()], ..CallSubjects::default() };
            rule.applies_to(&PolicyRequest { subjects: &subjects, ..request.clone() })
        };
        let path = subjects.paths.iter().find(of_it).map(WorkspacePath::display).unwrap_or_default();
        Some(format!(
            "`{path}` would be changed as well, and the rule `{}` in {} (`deny` or `ask`) forbids it; nothing was changed",
            rule.text, rule.whose
        ))
    }
}
