//! Uses in conditional code, of which a server that knows one configuration lists none.

use std::collections::BTreeSet;

use super::context::Context;
use crate::hints::ConditionalOccurrence;
use crate::lsp::session::Session;
use crate::workspace::WorkspacePath;
use tokio::time::Instant;

/// So many places are looked at; a server that knows none of them may know none of the others.
const MAX_PROBED_PLACES: usize = 8;
/// The most places that a sentence names.
const MAX_NAMED_PLACES: usize = 4;

/// The lines of an answer, counted from 0.
pub(crate) type ListedLines = BTreeSet<(WorkspacePath, u32)>;

impl Context {
    /// Those of `places` that the server does not know: they lie in code that it leaves out in its configuration. `listed` are the
    /// places that it named; `None` where those cannot be told, so that files that it named are taken as known.
    pub(crate) async fn unknown_conditional_uses(
        &self,
        session: &Session,
        mut places: Vec<ConditionalOccurrence>,
        (listed, files): (Option<ListedLines>, &BTreeSet<WorkspacePath>),
        deadline: Instant,
    ) -> Vec<ConditionalOccurrence> {
        if !session.knows_one_configuration() {
            return Vec::new();
        }
        places.retain(|place| match &listed {
            Some(lines) => !lines.contains(&(place.path.clone(), place.position.line)),
            None => !files.contains(&place.path),
        });
        let mut unknown = Vec::new();
        for (index, place) in places.into_iter().enumerate() {
            if place.excluded
                || index >= MAX_PROBED_PLACES
                || !self.knows_name_at(session, &place, deadline).await
            {
                unknown.push(place);
            }
        }
        unknown
    }

    /// Whether the server has something to say of a name, as it has of each that it compiles.
    async fn knows_name_at(
        &self,
        session: &Session,
        place: &ConditionalOccurrence,
        deadline: Instant,
    ) -> bool {
        let asked = async {
            let _viewing = session.enter_view(&self.view, deadline).await?;
            session.hover(&place.path, place.position, deadline).await
        };
        match asked.await {
            Ok(said) => said.value.is_some_and(|hover| !hover.contents.trim().is_empty()),
            Err(error) => {
                tracing::debug!(path = %place.path.display(), "not looked at: {error}");
                false
            }
        }
    }
}

/// "stands in code that clangd leaves out in its configuration: a.c:3, b.c:8 and 2 more"
pub(crate) fn left_out_sentence(places: &[ConditionalOccurrence], server: &str) -> Option<String> {
    let name = |place: &ConditionalOccurrence| {
        format!("{}:{}", place.path.display(), u64::from(place.position.line) + 1)
    };
    let named: Vec<String> = places.iter().take(MAX_NAMED_PLACES).map(name).collect();
    let more = match places.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| {
        format!("stands in code that {server} leaves out in its configuration: {}{more}", named.join(", "))
    })
}
