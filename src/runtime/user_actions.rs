//! Actions of users that are not tools: installing servers, trusting a project.
//!
//! Rules can deny them by name (`install`, `trust`), and the audit log records them. Hooks do not
//! run: otherwise a changed hooks file would prevent `trust` itself.

use std::path::Path;

use serde_json::{Value, json};

use super::Runtime;
use super::installs::run_recorded;
use crate::analysis::check::answer_store::folder;
use crate::analysis::check::answer_store::folder::AnswerStoreStatus;
use crate::analysis::check::shared_exchange;
use crate::analysis::check::shared_exchange::ExchangeDirection;
use crate::analysis::check::stored_reports::SharedExchange;
use crate::analysis::error::ToolError;
use crate::analysis::install_outcome::InstallOutput;
use crate::lsp::servers::install::PackagePlace;
use crate::policy::request::{CallSubjects, Effect, PolicyRequest};
use crate::tools::api::tool::Caller;
use crate::tools::language::install;
use crate::tools::language::install_list;
use crate::tools::language::install_list::InstallListOutput;
use crate::tools::language::scip_index;
use crate::tools::language::scip_index::CodeIndexOutput;
use crate::tools::language::trust;
use crate::tools::language::trust::{TrustOutput, TrustRequest};

impl Runtime {
    /// Installs servers, by their own names or by languages.
    ///
    /// # Errors
    /// `denied` by a rule; those of the installation.
    pub async fn install(&self, names: Vec<String>) -> Result<InstallOutput, ToolError> {
        self.install_at(names, PackagePlace::Registries).await
    }

    /// Like [`install`](Self::install), with packages of `place`, or saves the packages there.
    pub(crate) async fn install_at(
        &self,
        names: Vec<String>,
        place: PackagePlace,
    ) -> Result<InstallOutput, ToolError> {
        let arguments = match &place {
            PackagePlace::Registries => json!({"names": names}),
            PackagePlace::From(folder) => json!({"names": names, "from": folder}),
            PackagePlace::Download(folder) => json!({"names": names, "download": folder}),
        };
        let run = Box::pin(install::run(&self.context, &names, place));
        self.run_recorded("install", Effect::Network, &arguments, run).await
    }

    /// Lists the languages and servers that can be installed, and the installed ones.
    pub(crate) async fn install_list(&self) -> InstallListOutput {
        install_list::run(&self.context).await
    }

    /// Returns the size and age of the stored reports of checks.
    ///
    /// # Errors
    /// Their folder cannot be read.
    pub(crate) async fn answer_store(&self) -> Result<AnswerStoreStatus, ToolError> {
        folder::status(&self.context).await
    }

    /// Removes all stored reports of checks. Returns the status before.
    ///
    /// # Errors
    /// They cannot be removed.
    pub(crate) async fn forget_answers(&self) -> Result<AnswerStoreStatus, ToolError> {
        folder::forget(&self.context).await
    }

    /// Exchanges the stored reports of the workspace with the shared store.
    ///
    /// # Errors
    /// `denied` by a rule or the store; those of the exchange.
    pub(crate) async fn exchange_answers(
        &self,
        direction: ExchangeDirection,
    ) -> Result<SharedExchange, ToolError> {
        let what = json!({"direction": format!("{direction:?}").to_lowercase()});
        let run = Box::pin(shared_exchange::exchange(&self.context, direction));
        self.run_recorded("store", Effect::Network, &what, run).await
    }

    /// Writes an index of the workspace to `output`.
    ///
    /// # Errors
    /// `denied` by a rule; those of the index.
    pub(crate) async fn write_index(&self, output: &Path) -> Result<CodeIndexOutput, ToolError> {
        let arguments = json!({"output": output});
        // An agent can read the index, so files that rules hide from agents are not in it.
        let subjects = CallSubjects::default();
        let reading = PolicyRequest { tool: "read", effect: Effect::Read, subjects: &subjects };
        let context = self.context.with_limits(self.policy_of(&Caller::default()).limits(&reading));
        let run = Box::pin(scip_index::run(&context, output));
        self.run_recorded("index", Effect::Edit, &arguments, run).await
    }

    /// Shows, grants or withdraws trust in the project.
    ///
    /// # Errors
    /// `denied` by a rule; `conflict` if the content has changed since it was shown.
    pub async fn trust(&self, request: TrustRequest) -> Result<TrustOutput, ToolError> {
        let what = match &request {
            TrustRequest::Show => return trust::run(&self.context, request).await,
            TrustRequest::Grant { .. } => "grant",
            TrustRequest::Revoke => "revoke",
            TrustRequest::Decline { .. } => "decline",
        };
        let arguments = json!({"action": what});
        self.run_recorded("trust", Effect::Execute, &arguments, trust::run(&self.context, request)).await
    }

    async fn run_recorded<T>(
        &self,
        name: &str,
        effect: Effect,
        arguments: &Value,
        run: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        run_recorded(&self.policy, self.audit.as_deref(), name, effect, arguments, run).await
    }
}
