//! Detection of answers to our questions in messages of HTTP clients: only clients that may approve
//! calls may send them.

/// Returns true if `body` answers one of our questions, even if it is invalid otherwise.
pub(super) fn answers_a_question(body: &[u8]) -> bool {
    /// Detects an answer to an elicitation in a message, even in repeated members of one name.
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
