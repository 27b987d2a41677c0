//! Questions with types, which no arguments have to be read for: the same rules hold for them as for calls by name.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::Runtime;
use super::approve::denied;
use crate::lsp::operations::Navigation;
use crate::policy::request::{Effect, Request, Subjects, Verdict};
use crate::tools::answer::{Answer, LocationsOutput};
use crate::tools::context::Context;
use crate::tools::error::ToolError;
use crate::tools::lsp_navigate;
use crate::tools::target::Target;
use crate::tools::tool::Caller;

impl Runtime {
    /// What `tool` works with when it is asked about `target`.
    ///
    /// # Errors
    /// `denied` where a rule forbids it; `outside_workspace`.
    pub(super) fn asked(&self, tool: &str, target: &Target) -> Result<Cow<'_, Context>, ToolError> {
        match target {
            Target::Position { path, .. }
            | Target::NameOnLine { path, .. }
            | Target::NameInFile { path, .. }
            | Target::File(path) => self.allowed(tool, std::slice::from_ref(path)),
            Target::Name(_) => self.allowed(tool, &[]),
        }
    }

    /// What the reading `tool` works with when it is asked about `paths`. Whoever asks in this way is taken for someone who
    /// typed it: what rules forbid stays forbidden.
    ///
    /// # Errors
    /// `denied` where a rule forbids it; `outside_workspace`.
    pub(super) fn allowed(&self, tool: &str, paths: &[PathBuf]) -> Result<Cow<'_, Context>, ToolError> {
        let caller = Caller::at_shell();
        let policy = self.policy_of(&caller);
        let path = |path: &PathBuf| self.context.path(Path::new(path));
        let paths = paths.iter().map(path).collect::<Result<_, _>>()?;
        let mut subjects = Subjects { paths, ..Subjects::default() };
        let limits = policy.limits(&Request { tool, effect: Effect::Read, subjects: &subjects });
        if !limits.is_none() {
            subjects = self.with_real(subjects);
        }
        let decision = policy.decide(&Request { tool, effect: Effect::Read, subjects: &subjects });
        if decision.verdict == Verdict::Deny {
            return Err(denied(&decision));
        }
        let context = self.context();
        Ok(if limits.is_none() { context } else { Cow::Owned(context.within(limits)) })
    }

    pub(super) async fn navigate(
        &self,
        tool: &str,
        navigation: Navigation,
        target: Target,
        limit: Option<usize>,
    ) -> Result<Answer<LocationsOutput>, ToolError> {
        let context = self.asked(tool, &target)?;
        lsp_navigate::run(&context, navigation, &target, limit).await
    }
}
