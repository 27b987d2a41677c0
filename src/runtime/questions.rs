//! Questions about code for programs and the command line, by a `Target`, with typed answers.
//!
//! The caller counts as a user who typed the tool's name: calls that rules and hooks forbid stay
//! forbidden.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Runtime;
use super::calls::call::CallOptions;
use crate::analysis::answer::{
    Answer, CompletionsOutput, DiagnosticsOutput, HierarchyOutput, HoverOutput, LocationsOutput,
    SignaturesOutput, SymbolsOutput,
};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::reach::test_reach::output::TestReachOutput;
use crate::analysis::target::Target;
use crate::analysis::trees::changes::output::ChangesOutput;
use crate::lsp::model::Severity;
use crate::tools::api::tool::{Caller, Tool};
use crate::tools::language::explore::output::ExploreOutput;
use crate::tools::language::explore::{Explore, ExploreArgs};
use crate::tools::language::lsp_completion::{CompletionArgs, LspCompletion};
use crate::tools::language::lsp_definition::{DefinitionArgs, LspDefinition};
use crate::tools::language::lsp_diagnostics::{DiagnosticsArgs, InProcess, LspDiagnostics};
use crate::tools::language::lsp_hierarchy::{
    CallDirection, CallsArgs, LspCalls, LspTypes, TypeDirection, TypesArgs,
};
use crate::tools::language::lsp_hover::LspHover;
use crate::tools::language::lsp_navigate::{
    LspDeclaration, LspImplementation, LspReferences, LspTypeDefinition, ReferencesArgs,
};
use crate::tools::language::lsp_signature::LspSignature;
use crate::tools::language::lsp_symbols::{LspSymbols, SymbolsArgs};
use crate::tools::vcs::lsp_changes::{ChangesArgs, LspChanges};
use crate::tools::vcs::lsp_tests::{LspTests, TestsArgs};
use crate::tools::vcs::turn_check::{TurnCheck, TurnCheckArgs, TurnCheckOutput};

impl Runtime {
    /// Returns the hover information for the symbol at `target`.
    ///
    /// # Errors
    /// Those of [`call_as`](Self::call_as), like all questions below.
    pub async fn hover(&self, target: Target) -> Result<Answer<HoverOutput>, ToolError> {
        self.question(LspHover, target.into()).await
    }

    /// Returns the symbol at `target` with its source, users, callees and tests, in at most
    /// `budget` tokens. If `only` names files and folders, the lists contain only entries within
    /// them.
    pub async fn explore(
        &self,
        target: Target,
        budget: Option<usize>,
        only: Option<Vec<PathBuf>>,
    ) -> Result<Answer<ExploreOutput>, ToolError> {
        self.question(Explore, ExploreArgs { address: target.into(), budget, only }).await
    }

    /// Returns the definitions of the symbol.
    pub async fn definition(&self, target: Target) -> Result<Answer<LocationsOutput>, ToolError> {
        self.question(LspDefinition, DefinitionArgs { address: target.into(), body: None }).await
    }

    /// Returns the declarations of the symbol.
    pub async fn declaration(&self, target: Target) -> Result<Answer<LocationsOutput>, ToolError> {
        self.question(LspDeclaration, target.into()).await
    }

    /// Returns the definitions of the symbol's type.
    pub async fn type_definition(&self, target: Target) -> Result<Answer<LocationsOutput>, ToolError> {
        self.question(LspTypeDefinition, target.into()).await
    }

    /// Returns the implementations of the symbol.
    pub async fn implementation(&self, target: Target) -> Result<Answer<LocationsOutput>, ToolError> {
        self.question(LspImplementation, target.into()).await
    }

    /// Returns at most `limit` references to the symbol.
    pub async fn references(
        &self,
        target: Target,
        limit: usize,
    ) -> Result<Answer<LocationsOutput>, ToolError> {
        self.question(LspReferences, ReferencesArgs { address: target.into(), limit: Some(limit) }).await
    }

    /// Returns the outline of a file, or at most `limit` workspace symbols for a name.
    pub async fn symbols(&self, target: Target, limit: usize) -> Result<Answer<SymbolsOutput>, ToolError> {
        self.symbols_with_locals(target, limit, false).await
    }

    /// Like `symbols`; if `locals` is set, an outline includes local variables.
    pub(crate) async fn symbols_with_locals(
        &self,
        target: Target,
        limit: usize,
        locals: bool,
    ) -> Result<Answer<SymbolsOutput>, ToolError> {
        let arguments =
            SymbolsArgs { limit: Some(limit), all: locals.then_some(true), ..SymbolsArgs::default() };
        let args = match target {
            Target::File(path) => SymbolsArgs { path: Some(path), ..arguments },
            Target::Name(name) => SymbolsArgs { query: Some(name), ..arguments },
            _ => {
                let what = "symbols need a file or a name, not a position";
                return Err(ToolError::new(ErrorCode::InvalidArgs, what));
            }
        };
        self.question(LspSymbols, args).await
    }

    /// Returns the callers or callees, `depth` levels deep.
    pub async fn calls(
        &self,
        target: Target,
        direction: CallDirection,
        depth: usize,
    ) -> Result<Answer<HierarchyOutput>, ToolError> {
        self.question(LspCalls, CallsArgs { address: target.into(), direction, depth: Some(depth) }).await
    }

    /// Returns the supertypes or subtypes, `depth` levels deep.
    pub async fn types(
        &self,
        target: Target,
        direction: TypeDirection,
        depth: usize,
    ) -> Result<Answer<HierarchyOutput>, ToolError> {
        self.question(LspTypes, TypesArgs { address: target.into(), direction, depth: Some(depth) }).await
    }

    /// Returns the signatures that match the call at `target`.
    pub async fn signature(&self, target: Target) -> Result<Answer<SignaturesOutput>, ToolError> {
        self.question(LspSignature, target.into()).await
    }

    /// Returns at most `limit` completions at `target`.
    pub async fn completion(
        &self,
        target: Target,
        limit: usize,
    ) -> Result<Answer<CompletionsOutput>, ToolError> {
        self.question(LspCompletion, CompletionArgs { address: target.into(), limit: Some(limit) }).await
    }

    /// Returns the diagnostics of the given files and folders, or of the whole workspace if none
    /// are given.
    pub async fn diagnose(
        &self,
        paths: Vec<PathBuf>,
        min_severity: Option<Severity>,
        limit: usize,
    ) -> Result<Answer<DiagnosticsOutput>, ToolError> {
        let (paths, limit) = (Some(paths), Some(limit));
        self.check_all(DiagnosticsArgs { paths, min_severity, limit, ..DiagnosticsArgs::default() }).await
    }

    /// Like [`diagnose`](Self::diagnose), with all options of the tool. No time limit applies,
    /// since a workspace can be large.
    pub(crate) async fn check_all(
        &self,
        args: DiagnosticsArgs,
    ) -> Result<Answer<DiagnosticsOutput>, ToolError> {
        let in_process = InProcess { reads_verdict: true, ..args.in_process };
        self.question_within(LspDiagnostics, DiagnosticsArgs { in_process, ..args }, Some(Duration::MAX))
            .await
    }

    /// Returns the tests that reach a change or a symbol.
    pub(crate) async fn tests_reaching(&self, args: TestsArgs) -> Result<Answer<TestReachOutput>, ToolError> {
        self.question_within(LspTests, args, Some(Duration::MAX)).await
    }

    /// Reports the new diagnostics that a difference between git trees, or a merge of branches,
    /// causes anywhere. No time limit applies.
    pub(crate) async fn changes(&self, args: ChangesArgs) -> Result<Answer<ChangesOutput>, ToolError> {
        self.question_within(LspChanges, args, Some(Duration::MAX)).await
    }

    /// Notes the state of the files at the start of an agent's turn, or judges the turn's edits at
    /// its end.
    pub(crate) async fn check_turn(
        &self,
        args: TurnCheckArgs,
        limit: Duration,
    ) -> Result<TurnCheckOutput, ToolError> {
        let caller = Caller::at_shell();
        let options = CallOptions { limit: Some(limit), ..CallOptions::new(&caller) };
        Ok(self.call_as(TurnCheck, args, options).await?.output)
    }

    async fn question<T, O>(&self, tool: T, args: T::Args) -> Result<Answer<O>, ToolError>
    where
        T: Tool<Output = Answer<O>>,
        T::Args: Serialize + 'static,
        O: Serialize + DeserializeOwned + Send + 'static,
    {
        self.question_within(tool, args, None).await
    }

    /// Runs the question as a regular call and adds the messages of hooks to the notes of the
    /// answer.
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
