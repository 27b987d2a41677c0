//! What the process at the other end of a connection may do over MCP: whoever is not seen to be the user's approves nothing.

use http::request::Parts;
use rmcp::model::Extensions;

use crate::rpc::http_entry::peer::HttpPeer;

/// Whether the client of a request with these extensions may approve calls. On a pipe there is only one that could.
pub(in crate::bridges::mcp::server) fn may_approve(extensions: &Extensions) -> bool {
    match extensions.get::<Parts>() {
        Some(parts) => parts.extensions.get::<HttpPeer>().is_some_and(|peer| peer.may_approve()),
        None => true,
    }
}

/// Whether `body` answers a question of ours, whatever else it is.
pub(super) fn answers_a_question(body: &[u8]) -> bool {
    /// Whether a message holds the answer to an elicitation, in any of several members of one name.
    struct ElicitationAnswerProbe(bool);

    impl<'de> serde::Deserialize<'de> for ElicitationAnswerProbe {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct MemberVisitor;
            impl<'de> serde::de::Visitor<'de> for MemberVisitor {
                type Value = ElicitationAnswerProbe;

                fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    formatter.write_str("a message")
                }

                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<ElicitationAnswerProbe, A::Error> {
                    let mut found = false;
                    while let Some((name, value)) = map.next_entry::<String, serde_json::Value>()? {
                        found |= name == "result" && value.get("action").is_some();
                    }
                    Ok(ElicitationAnswerProbe(found))
                }
            }
            deserializer.deserialize_map(MemberVisitor)
        }
    }

    serde_json::from_slice::<ElicitationAnswerProbe>(body).is_ok_and(|answer| answer.0)
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

    #[test]
    fn elicitation_response_is_recognised_in_any_json_spelling() {
        for answer in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"decision":"once"}}}"#,
            r#"{"result":{"action":"decline"}}"#,
            r#"{"id":1,"result":{"action":"accept"},"result":{}}"#,
            r#"{"id":1,"\u0072esult":{"\u0061ction":"accept"},"method":"ping"}"#,
        ] {
            assert!(answers_a_question(answer.as_bytes()), "{answer}");
        }
        for other in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"action":"accept"}}"#,
            r#"{"id":1,"result":{"roots":[]}}"#,
            "[]",
            "no JSON",
        ] {
            assert!(!answers_a_question(other.as_bytes()), "{other}");
        }
    }
}
