//! Limits on paths for a running call, for paths that are unknown before it runs.

use std::sync::Arc;

use super::request::{CallSubjects, Effect, PolicyRequest};
use super::rule::Rule;
use crate::workspace::WorkspacePath;
use crate::workspace::edit::approval_reason;

/// The rules about paths that hold for one call.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathLimits(Option<Arc<PathLimitsInner>>);

#[derive(Debug)]
struct PathLimitsInner {
    tool: String,
    effect: Effect,
    rules: Vec<Arc<Rule>>,
    /// The paths that were decided on before the call ran, for an edit that was not typed.
    decided: Option<Vec<WorkspacePath>>,
}

impl PathLimits {
    pub(super) fn new(
        tool: &str,
        effect: Effect,
        rules: Vec<Arc<Rule>>,
        decided: Option<Vec<WorkspacePath>>,
    ) -> Self {
        if rules.is_empty() && decided.is_none() {
            return Self::default();
        }
        Self(Some(Arc::new(PathLimitsInner { tool: tool.to_owned(), effect, rules, decided })))
    }

    /// Returns true if the call may access every path.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Returns true if some paths may be hidden from the call.
    pub(crate) fn may_hide(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| !inner.rules.is_empty())
    }

    /// Returns true if `path` is hidden from the call.
    pub(crate) fn is_hidden(&self, path: &WorkspacePath) -> bool {
        self.0.as_ref().is_some_and(|inner| {
            let subjects = CallSubjects::default();
            let request = PolicyRequest { tool: &inner.tool, effect: inner.effect, subjects: &subjects };
            inner.rules.iter().any(|rule| rule.hides(&request, path))
        })
    }

    /// The reason that the call may not change `paths`, in one sentence; `None` if it may.
    pub(crate) fn denial_reason(&self, paths: Vec<WorkspacePath>) -> Option<String> {
        let inner = self.0.as_ref()?;
        if let Some(decided) = &inner.decided {
            let governing = paths.iter().filter(|path| !decided.contains(path));
            if let Some((path, reason)) =
                governing.filter_map(|path| Some((path, approval_reason(path.as_path())?))).next()
            {
                return Some(format!(
                    "`{0}` would be changed as well, and {reason}, for which the default rule is `ask`; nothing was changed. A rule that names the path \
                     allows it: `{1}({0})` under `allow` in lsp-tools.toml",
                    path.display(),
                    inner.tool
                ));
            }
        }
        self.forbids_by_rule(paths)
    }

    /// Like [`Self::denial_reason`] for files below a folder that was already approved: only rules
    /// are checked.
    pub(crate) fn forbids_by_rule(&self, paths: Vec<WorkspacePath>) -> Option<String> {
        let inner = self.0.as_ref()?;
        let subjects = CallSubjects { paths, ..CallSubjects::default() };
        let request = PolicyRequest { tool: &inner.tool, effect: inner.effect, subjects: &subjects };
        let rule = inner.rules.iter().find(|rule| rule.applies_to(&request))?;
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
