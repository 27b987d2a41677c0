//! Questions about code for programs and the command line: by a `Target`, with typed answers. Whoever asks counts as someone
//! who typed the tool's name: what rules and hooks forbid stays forbidden.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Runtime;
use super::call::CallOptions;
use crate::lsp::model::Severity;
use crate::tools::answer::{
    Answer, CompletionsOutput, DiagnosticsOutput, HierarchyOutput, HoverOutput, LocationsOutput,
    SignaturesOutput, SymbolsOutput,
};
use crate::tools::changes::output::ChangesOutput;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::explore::output::ExploreOutput;
use crate::tools::explore::{Explore, ExploreArgs};
use crate::tools::lsp_changes::{ChangesArgs, LspChanges};
use crate::tools::lsp_completion::{CompletionArgs, LspCompletion};
use crate::tools::lsp_definition::{DefinitionArgs, LspDefinition};
use crate::tools::lsp_diagnostics::{DiagnosticsArgs, InProcess, LspDiagnostics};
use crate::tools::lsp_hierarchy::{CallDirection, CallsArgs, LspCalls, LspTypes, TypeDirection, TypesArgs};
use crate::tools::lsp_hover::LspHover;
use crate::tools::lsp_navigate::{
    LspDeclaration, LspImplementation, LspReferences, LspTypeDefinition, ReferencesArgs,
};
use crate::tools::lsp_signature::LspSignature;
use crate::tools::lsp_symbols::{LspSymbols, SymbolsArgs};
use crate::tools::lsp_tests::{LspTests, TestsArgs};
use crate::tools::target::Target;
use crate::tools::test_reach::output::TestReachOutput;
use crate::tools::tool::{Caller, Tool};

impl Runtime {
    /// What stands at `target`.
    ///
    /// # Errors
    /// As [`call_as`](Self::call_as), like all questions below.
    pub async fn hover(&self, target: Target) -> Result<Answer<HoverOutput>, ToolError> {
        self.question(LspHover, target.into()).await
    }

    /// The symbol at `target` with its source, users, callees and tests, in at most `budget` tokens; where `only` names files and
    /// folders, its lists have what is in these.
    pub async fn explore(
        &self,
        target: Target,
        budget: Option<usize>,
        only: Option<Vec<PathBuf>>,
    ) -> Result<Answer<ExploreOutput>, ToolError> {
        self.question(Explore, ExploreArgs { address: target.into(), budget, only }).await
    }

    /// Where it is defined.
    pub async fn definition(&self, target: Target) -> Result<Answer<LocationsOutput>, ToolError> {
        self.question(LspDefinition, DefinitionArgs { address: target.into(), body: None }).await
    }

    /// Where it is declared.
    pub async fn declaration(&self, target: Target) -> Result<Answer<LocationsOutput>, ToolError> {
        self.question(LspDeclaration, target.into()).await
    }

    /// Where its type is defined.
    pub async fn type_definition(&self, target: Target) -> Result<Answer<LocationsOutput>, ToolError> {
        self.question(LspTypeDefinition, target.into()).await
    }

    /// What implements it.
    pub async fn implementation(&self, target: Target) -> Result<Answer<LocationsOutput>, ToolError> {
        self.question(LspImplementation, target.into()).await
    }

    /// Where it is used; at most `limit` places.
    pub async fn references(
        &self,
        target: Target,
        limit: usize,
    ) -> Result<Answer<LocationsOutput>, ToolError> {
        self.question(LspReferences, ReferencesArgs { address: target.into(), limit: Some(limit) }).await
    }

    /// The outline of a file, or the workspace's symbols for a name; at most `limit`.
    pub async fn symbols(&self, target: Target, limit: usize) -> Result<Answer<SymbolsOutput>, ToolError> {
        self.symbols_with_locals(target, limit, false).await
    }

    /// The same, an outline on request with local variables.
    pub(crate) async fn symbols_with_locals(
        &self,
        target: Target,
        limit: usize,
        locals: bool,
    ) -> Result<Answer<SymbolsOutput>, ToolError> {
        let asked = SymbolsArgs { limit: Some(limit), all: locals.then_some(true), ..SymbolsArgs::default() };
        let args = match target {
            Target::File(path) => SymbolsArgs { path: Some(path), ..asked },
            Target::Name(name) => SymbolsArgs { query: Some(name), ..asked },
            _ => {
                let what = "symbols are asked of a file or by a name, not of a position";
                return Err(ToolError::new(ErrorCode::InvalidArgs, what));
            }
        };
        self.question(LspSymbols, args).await
    }

    /// Callers or callees, `depth` levels deep.
    pub async fn calls(
        &self,
        target: Target,
        direction: CallDirection,
        depth: usize,
    ) -> Result<Answer<HierarchyOutput>, ToolError> {
        self.question(LspCalls, CallsArgs { address: target.into(), direction, depth: Some(depth) }).await
    }

    /// Supertypes or subtypes, `depth` levels deep.
    pub async fn types(
        &self,
        target: Target,
        direction: TypeDirection,
        depth: usize,
    ) -> Result<Answer<HierarchyOutput>, ToolError> {
        self.question(LspTypes, TypesArgs { address: target.into(), direction, depth: Some(depth) }).await
    }

    /// The signatures that fit the call at `target`.
    pub async fn signature(&self, target: Target) -> Result<Answer<SignaturesOutput>, ToolError> {
        self.question(LspSignature, target.into()).await
    }

    /// What could be typed at `target`; at most `limit`.
    pub async fn completion(
        &self,
        target: Target,
        limit: usize,
    ) -> Result<Answer<CompletionsOutput>, ToolError> {
        self.question(LspCompletion, CompletionArgs { address: target.into(), limit: Some(limit) }).await
    }

    /// What is wrong in files, folders, or (given none) the whole workspace.
    pub async fn diagnose(
        &self,
        paths: Vec<PathBuf>,
        min_severity: Option<Severity>,
        limit: usize,
    ) -> Result<Answer<DiagnosticsOutput>, ToolError> {
        let (paths, limit) = (Some(paths), Some(limit));
        self.check_all(DiagnosticsArgs { paths, min_severity, limit, ..DiagnosticsArgs::default() }).await
    }

    /// As [`diagnose`](Self::diagnose), with all that can be said of it. It takes as long as it takes: a workspace can be large.
    pub(crate) async fn check_all(
        &self,
        args: DiagnosticsArgs,
    ) -> Result<Answer<DiagnosticsOutput>, ToolError> {
        let in_process = InProcess { reads_verdict: true, ..args.in_process };
        self.question_within(LspDiagnostics, DiagnosticsArgs { in_process, ..args }, Some(Duration::MAX))
            .await
    }

    /// The tests that reach a change or a symbol.
    pub(crate) async fn tests_reaching(&self, args: TestsArgs) -> Result<Answer<TestReachOutput>, ToolError> {
        self.question_within(LspTests, args, Some(Duration::MAX)).await
    }

    /// What a difference between git trees, or a merge of branches, breaks anywhere. It takes as long as it takes.
    pub(crate) async fn changes(&self, args: ChangesArgs) -> Result<Answer<ChangesOutput>, ToolError> {
        self.question_within(LspChanges, args, Some(Duration::MAX)).await
    }

    async fn question<T, O>(&self, tool: T, args: T::Args) -> Result<Answer<O>, ToolError>
    where
        T: Tool<Output = Answer<O>>,
        T::Args: Serialize + 'static,
        O: Serialize + DeserializeOwned + Send + 'static,
    {
        self.question_within(tool, args, None).await
    }

    /// The question at its place among all calls, with what hooks say of it among the notes of the answer.
    async fn question_within<T, O>(
        &self,
        tool: T,
        args: T::Args,
        limit: Option<Duration>,
    ) -> Result<Answer<O>, ToolError>
    where
        T: Tool<Output = Answer<O>>,
        T::Args: Serialize + 'static,
        O: Serialize + DeserializeOwned + Send + 'static,
    {
        let caller = Caller::at_shell();
        let options = CallOptions { limit, ..CallOptions::new(&caller) };
        let answer = self.call_as(tool, args, options).await?;
        let mut output = answer.output;
        output.notes.extend(answer.hook_notes);
        Ok(output)
    }
}
