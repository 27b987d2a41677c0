//! Aliases: the tool names of the Copilot language server and of its clients' models, as adapters
//! of our tools.
//!
//! - [`all`]: the aliases; [`AliasClass`]: the effect of each on the server's own list; [`choice`]:
//!   the default choice; [`call`]: a call
//! - [`edits`], [`files`], [`errors`], [`terminal`], [`web`], [`test_files`], [`changed_files`],
//!   [`run_tests`]: one file per kind
//! - [`adapter`]: the definition of an alias; [`context`]: its calls of our tools
//! - [`answer`]: the result of a call; [`mod@format`]: its text
//!
//! May use: `runtime`, `tools`, `policy`, `analysis` and below. Does not depend on protocols: the
//! door registers [`AliasName::registration`], and converts an [`AliasAnswer`] to its own response.
//!
//! Data flow: the server's arguments are validated against the alias's schema and converted to
//! those of one of our tools. The call is a regular one ([`Runtime::call`]), so that rules, hooks,
//! undo and the audit log apply. The result is text.

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
use crate::tools::api::tool::Caller;

pub use self::adapter::AliasClass;
pub(crate) use self::adapter::AliasName;
pub use self::answer::AliasAnswer;
pub use self::context::AliasCallOptions;

/// Returns all aliases, in the order of the server's documentation.
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

/// Finds the alias called `name`.
pub(crate) fn find(name: &str) -> Option<&'static AliasName> {
    all().iter().find(|known| known.name() == name)
}

/// An alias, with the decision to register it.
#[derive(Debug, Clone)]
pub struct AliasChoice {
    /// The alias.
    pub name: &'static AliasName,
    /// True if it is registered.
    pub registered: bool,
    /// The reason, in one sentence without a full stop.
    pub why: String,
}

/// Returns the default choice for `caller`: aliases that do not replace a better tool of the
/// server, as far as the rules permit them.
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

/// Calls the alias `name`. Failures are returned as answers as well.
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
