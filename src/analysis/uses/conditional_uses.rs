//! Uses and places in conditional code, which a server that knows only one configuration may omit.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::Instant;

use super::mergeable_answer::ListedLines;
use crate::analysis::answer::Verdict;
use crate::analysis::ask::fallback::run_in_background;
use crate::analysis::ask::resolved_position::ResolvedPosition;
use crate::analysis::context::Context;
use crate::analysis::items::named_places::{abbreviate_list, address_of};
use crate::lsp::session::ask::AskError;
use crate::lsp::session::live_session::Session;
use crate::rpc::RequestError;
use crate::syntax;
use crate::syntax::ConditionalOccurrence;
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// The most places that a server is asked about.
const MAX_PROBED_PLACES: usize = 24;
/// The timeout of these requests.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// The most places that a sentence names.
const MAX_NAMED_PLACES: usize = 4;

/// Possible uses in conditional code that a server has not listed.
#[derive(Debug, Default)]
pub(crate) struct ConditionalUses {
    /// Places that the server leaves out in its configuration.
    left_out: Vec<ConditionalOccurrence>,
    /// True if the server or the text search did not cover all of them.
    is_cut: bool,
}

/// The response of a server about one place.
enum ProbeOutcome {
    /// The server knows another symbol there.
    Known,
    /// The server has no information about the place.
    LeftOut,
    /// The server has not responded.
    Silent,
}

impl Context {
    /// The entries of `places` that a server with a single configuration leaves out, beside the
    /// lines that it `listed`.
    pub(crate) async fn conditional_uses(
        &self,
        session: &Session,
        (mut places, mut is_cut): (Vec<ConditionalOccurrence>, bool),
        listed: &ListedLines,
        deadline: Instant,
    ) -> ConditionalUses {
        if !session.knows_one_configuration() {
            return ConditionalUses::default();
        }
        places.retain(|place| {
            // Places in other roots are for those roots' servers.
            !listed.contains(&(place.path.clone(), place.position.line))
                && session.serves_root(&self.manager.root(session.server(), &place.path))
        });
        let (mut left_out, open): (Vec<_>, Vec<_>) = places.into_iter().partition(|place| place.excluded);
        is_cut |= open.len() > MAX_PROBED_PLACES;
        let until = deadline.min(Instant::now() + PROBE_TIMEOUT);
        let probes = open.into_iter().take(MAX_PROBED_PLACES).map(|place| async move {
            let outcome = self.probe(session, (&place.path, place.position), until).await;
            (place, outcome)
        });
        for (place, outcome) in join_all(probes).await {
            match outcome {
                ProbeOutcome::Known => {}
                ProbeOutcome::LeftOut => left_out.push(place),
                ProbeOutcome::Silent => is_cut = true,
            }
        }
        ConditionalUses { left_out, is_cut }
    }

    /// The reason that a server without any information about a place may be wrong: the place is
    /// outside its project or its configuration. The latter is checked only if the answer would be
    /// `complete` otherwise.
    pub(crate) async fn silence_doubt(
        &self,
        session: &Session,
        place: &ResolvedPosition,
        verdict: Verdict,
    ) -> Option<String> {
        match self.outsider_note(session.server(), &place.path) {
            None => self.left_out_doubt(session, place, verdict).await,
            outsider => outsider,
        }
    }

    /// Like [`Self::silence_doubt`], for a server that lists nothing for a place. It has hover
    /// information for each name that it compiles, even if the list is empty.
    pub(crate) async fn empty_list_doubt(
        &self,
        session: &Session,
        place: &ResolvedPosition,
        verdict: Verdict,
        deadline: Instant,
    ) -> Option<String> {
        let outsider = self.outsider_note(session.server(), &place.path);
        if outsider.is_some() {
            return outsider;
        }
        let doubt = self.left_out_doubt(session, place, verdict).await?;
        let until = deadline.min(Instant::now() + PROBE_TIMEOUT);
        match self.probe(session, (&place.path, place.position), until).await {
            ProbeOutcome::Known => None,
            ProbeOutcome::LeftOut | ProbeOutcome::Silent => Some(doubt),
        }
    }

    /// The reason that a `complete` answer may miss a place: it is in conditional code.
    async fn left_out_doubt(
        &self,
        session: &Session,
        place: &ResolvedPosition,
        verdict: Verdict,
    ) -> Option<String> {
        if verdict != Verdict::Complete || !session.knows_one_configuration() {
            return None;
        }
        let (path, position) = (place.path.clone(), place.position);
        let looked = run_in_background(self, move |workspace, catalogue| {
            let until = std::time::Instant::now() + syntax::DEADLINE;
            Ok(syntax::is_conditional(workspace, catalogue, &path, position, until))
        });
        looked.await.unwrap_or(true).then(|| {
            let (place, server) = (address_of(&place.path, place.position), session.server());
            format!("{place} is in conditional code, which {server} may skip in its configuration")
        })
    }

    /// Asks the server for a hover at a name. A server has one for each name that it compiles.
    async fn probe(
        &self,
        session: &Session,
        (path, position): (&WorkspacePath, Position),
        until: Instant,
    ) -> ProbeOutcome {
        let request = async {
            let _view_guard = session.enter_view(&self.view, until).await?;
            session.hover(path, &position, until).await
        };
        match request.await {
            Ok(answer) if answer.value.as_ref().is_some_and(|hover| !hover.contents.trim().is_empty()) => {
                ProbeOutcome::Known
            }
            Ok(_) => ProbeOutcome::LeftOut,
            // gopls returns this error for a file that belongs to no package.
            Err(AskError::Request(RequestError::Refused { .. })) => ProbeOutcome::LeftOut,
            Err(error) => {
                tracing::debug!(path = %path.display(), "not looked at: {error}");
                ProbeOutcome::Silent
            }
        }
    }
}

impl ConditionalUses {
    /// The sentence for answers, such as "stands in code that clangd leaves out in its
    /// configuration: a.c:3, b.c:8 and 2 more".
    pub(crate) fn sentence(&self, server: &str) -> Option<String> {
        let code = format!("in code that {server} skips in its configuration");
        if self.left_out.is_empty() {
            return self.is_cut.then(|| format!("may occur {code}: not all of it was checked"));
        }
        let places = self.left_out.iter().map(|place| address_of(&place.path, place.position));
        let places = abbreviate_list(places, self.left_out.len(), MAX_NAMED_PLACES);
        Some(format!("stands {code}: {places}"))
    }
}
