//! Aliases: the tool names of the Copilot language server and of its clients' models, as adapters of our tools.
//!
//! What lives here: [`all`] such names, what each does to the server's own list ([`AliasClass`]), which of them are registered
//! unless somebody chose otherwise ([`choice`]), and [`call`]. One file per kind: [`edits`], [`files`], [`errors`],
//! [`terminal`], [`web`], [`test_files`], [`changed_files`] and [`run_tests`]; [`adapter`] is what one of
//! them consists of, [`context`] how it gets to the tools, [`mod@format`] what is made of their answers. May use: `runtime`, `tools`,
//! `policy`, `workspace`, `text`. Knows nothing of protocols: the door registers what [`AliasName::registration`] says, and
//! makes its own reply of an [`AliasAnswer`].
//!
//! How data passes: the arguments that the server sends are checked against the name's schema, put into the words of a tool of
//! ours, and go the way of every call ([`Runtime::call`]), so that rules, hooks, undo and the record hold; what comes back is
//! text.

mod adapter;
mod changed_files;
mod context;
mod edits;
mod errors;
mod files;
mod format;
mod run_tests;
mod terminal;
mod test_files;
mod web;

use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::adapter::{AliasMetadata, AliasRunner, check_arguments, entry};
use self::context::{AliasContext, AliasError};
use crate::policy::approval::Approver;
use crate::runtime::Runtime;
use crate::text::nearest_word;
use crate::tools::export::{ToolListFormat, export};
use crate::tools::tool::{Caller, ToolDefinition};

/// What registering a name does to the server's own list of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasClass {
    /// The server has tools that write through a client's tool of this name, and offers them only then: it computes the edit,
    /// ours does the write.
    Unlocks,
    /// The server has a tool of this name, which ours takes the place of.
    Replaces,
    /// The server has none of this name.
    New,
}

/// One of the names.
#[derive(Debug)]
pub struct AliasName {
    metadata: AliasMetadata,
    definition: ToolDefinition,
    run: AliasRunner,
}

impl AliasName {
    /// The name that the server and its models know.
    pub(crate) fn name(&self) -> &'static str {
        self.metadata.name
    }

    /// What registering it does to the server's list.
    pub fn class(&self) -> AliasClass {
        self.metadata.class
    }

    /// Whether it is registered where nobody chose: when that takes no better tool away from the server.
    pub fn by_default(&self) -> bool {
        self.metadata.by_default
    }

    /// Why so, in one sentence without a full stop.
    pub(crate) fn why(&self) -> &'static str {
        self.metadata.why
    }

    /// The tools of ours that it adapts.
    pub fn uses(&self) -> &'static [&'static str] {
        self.metadata.uses
    }

    /// What models are told of it, and the schema that arguments are checked against.
    pub(crate) fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// Its entry in the parameters of `conversation/registerTools`.
    pub(crate) fn registration(&self) -> Value {
        // One tool is within every limit of the format, so that there is always exactly one entry.
        export(ToolListFormat::Copilot, [&self.definition])
            .ok()
            .and_then(|exported| exported.tools.into_iter().next())
            .unwrap_or_default()
    }

    /// Whether `caller` may call the tools that it adapts.
    pub(crate) fn is_offered(&self, runtime: &Runtime, caller: &Caller) -> bool {
        self.uses().iter().all(|tool| runtime.is_offered(caller, tool))
    }
}

/// All of them, in the order in which the server's documentation names them.
pub fn all() -> &'static [AliasName] {
    static ALL: LazyLock<Vec<AliasName>> = LazyLock::new(|| {
        vec![
            entry::<edits::InsertEdit>(),
            entry::<edits::ReplaceString>(),
            entry::<edits::MultiReplaceString>(),
            entry::<edits::CreateFile>(),
            entry::<edits::CreateDirectory>(),
            entry::<edits::ApplyPatch>(),
            entry::<files::ReadFile>(),
            entry::<files::ListDir>(),
            entry::<files::FileSearch>(),
            entry::<files::GrepSearch>(),
            entry::<test_files::FindTestFiles>(),
            entry::<terminal::RunInTerminal>(),
            entry::<terminal::GetTerminalOutput>(),
            entry::<run_tests::RunTests>(),
            entry::<web::FetchWebpage>(),
            entry::<web::WebPageAdapter>(),
            entry::<errors::GetErrors>(),
            entry::<changed_files::GetChangedFiles>(),
        ]
    });
    &ALL
}

/// The one called `name`.
pub(crate) fn find(name: &str) -> Option<&'static AliasName> {
    all().iter().find(|known| known.name() == name)
}

/// A name, and whether it is registered.
#[derive(Debug, Clone)]
pub struct AliasChoice {
    /// The name.
    pub name: &'static AliasName,
    /// Whether it is registered.
    pub registered: bool,
    /// Why, in one sentence without a full stop.
    pub why: String,
}

/// What is registered for `caller` where nobody chose: what takes no better tool away from the server, as far as the rules
/// let the caller have it.
pub fn choice(runtime: &Runtime, caller: &Caller) -> Vec<AliasChoice> {
    let chosen = |name: &'static AliasName| {
        if !name.by_default() {
            return AliasChoice { name, registered: false, why: name.why().to_owned() };
        }
        match name.uses().iter().find(|tool| !runtime.is_offered(caller, tool)) {
            None => AliasChoice { name, registered: true, why: name.why().to_owned() },
            Some(tool) => {
                let why = format!("it is a form of `{tool}`, which the settings keep from this caller");
                AliasChoice { name, registered: false, why }
            }
        }
    };
    all().iter().map(chosen).collect()
}

/// What comes along with a call.
#[derive(Clone)]
pub struct AliasCallOptions<'a> {
    /// Who calls.
    pub caller: &'a Caller,
    /// Who is asked where the rules leave it open.
    pub approver: &'a dyn Approver,
    /// Edits of all calls with the same group are undone together: the turn.
    pub group: Option<&'a str>,
    /// Ends the call when its turn is cancelled.
    pub cancelled: CancellationToken,
}

/// What a call comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasAnswer {
    /// What the model reads; of a failure, what was wrong and what to do.
    pub text: String,
    /// Whether it did what it was asked.
    pub ok: bool,
    /// Absolute paths of the files that it made, changed or took away, for whoever keeps documents in step.
    pub changed: Vec<PathBuf>,
}

impl AliasAnswer {
    fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), ok: true, changed: Vec::new() }
    }

    fn failure(text: impl Into<String>) -> Self {
        Self { ok: false, ..Self::done(text) }
    }

    fn with_changed(mut self, changed: Vec<PathBuf>) -> Self {
        self.changed = changed;
        self
    }
}

/// Calls the tool that the server knows as `name`. Every failure is an answer as well.
pub async fn call(
    runtime: &Runtime,
    name: &str,
    input: Value,
    options: &AliasCallOptions<'_>,
) -> AliasAnswer {
    let Some(known) = find(name) else {
        let near = nearest_word(name, all().iter().map(AliasName::name));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return AliasAnswer::failure(format!("unknown tool: {}{near}", name.escape_debug()));
    };
    let input = match check_arguments(&known.metadata, &known.definition, input) {
        Ok(input) => input,
        Err(error) => return AliasAnswer::failure(AliasError::from(error).text),
    };
    let context = AliasContext { runtime, options };
    match (known.run)(&context, input).await {
        Ok(answer) => answer,
        Err(refused) => AliasAnswer::failure(refused.text).with_changed(refused.changed),
    }
}

#[cfg(test)]
mod tests;
