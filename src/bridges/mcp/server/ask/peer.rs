//! The permissions of the process at the other end of an MCP connection: an unidentified process
//! cannot approve calls.

use http::request::Parts;
use rmcp::model::Extensions;

use crate::rpc::http_entry::peer::HttpPeer;

/// Returns true if the client of a request with these extensions may approve calls. On a pipe there
/// is only one possible client.
pub(super) fn may_approve(extensions: &Extensions) -> bool {
    match extensions.get::<Parts>() {
        Some(parts) => parts.extensions.get::<HttpPeer>().is_some_and(|peer| peer.may_approve()),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_peer_may_approve_only_as_visible_client() {
        let approves = |peer: Option<HttpPeer>| {
            let (mut parts, ()) = http::Request::new(()).into_parts();
            if let Some(peer) = peer {
                parts.extensions.insert(peer);
            }
            let mut extensions = Extensions::new();
            extensions.insert(parts);
            may_approve(&extensions)
        };
        assert!(approves(Some(HttpPeer::Client)));
        for peer in [HttpPeer::OtherUser, HttpPeer::Remote, HttpPeer::Unseen, HttpPeer::Supervised] {
            assert!(!approves(Some(peer)), "{peer:?}");
        }
        assert!(!approves(None), "nobody has looked");
        assert!(may_approve(&Extensions::new()), "a pipe");
    }
}
