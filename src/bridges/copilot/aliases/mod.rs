//! Aliases: the tool names of the Copilot language server and of its clients' models, as adapters of our tools.
//!
//! What lives here: [`all`] such names, what each does to the server's own list ([`AliasClass`]), which of them are registered
//! unless somebody chose otherwise ([`choice`]), and [`call`]. One file per kind: [`edits`], [`files`], [`errors`],
//! [`terminal`], [`web`], [`test_files`], [`changed_files`] and [`run_tests`]; [`adapter`] is what one of
//! them consists of, [`context`] how it gets to the tools, [`answer`] what a call comes to, [`mod@format`] what is made of their answers. May use: `runtime`, `tools`,
//! `policy`, `workspace`, `text`. Knows nothing of protocols: the door registers what [`AliasName::registration`] says, and
//! makes its own reply of an [`AliasAnswer`].
//!
//! How data passes: the arguments that the server sends are checked against the name's schema, put into the words of a tool of
//! ours, and go the way of every call ([`Runtime::call`]), so that rules, hooks, undo and the record hold; what comes back is
//! text.

mod adapter;
mod answer;
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

use std::sync::LazyLock;

use serde_json::Value;

use self::adapter::entry;
use crate::runtime::Runtime;
use crate::text::nearest_word;
use crate::tools::tool::Caller;

pub use self::adapter::AliasClass;
pub(crate) use self::adapter::AliasName;
pub use self::answer::AliasAnswer;
pub use self::context::AliasCallOptions;

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
    known.call(runtime, input, options).await
}

#[cfg(test)]
mod tests;
