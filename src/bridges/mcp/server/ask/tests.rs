use serde_json::Value;

use super::form::to_approval;
use super::*;
use crate::policy::request::Effect;

fn request(command: &str) -> ApprovalRequest {
    ApprovalRequest {
        tool: "bash".to_owned(),
        title: "Run a command".to_owned(),
        effect: Effect::Execute,
        why: "programs have to be asked for".to_owned(),
        paths: Vec::new(),
        commands: vec![command.to_owned()],
        urls: Vec::new(),
        arguments: json!({"command": command}),
    }
}

fn answered(json: Value) -> Approval {
    to_approval(&serde_json::from_value(json).unwrap())
}

#[test]
fn elicitation_answer_other_than_explicit_accept_is_refused() {
    assert_eq!(answered(json!({"action": "accept", "content": {"decision": "once"}})), Approval::Once);
    assert_eq!(
        answered(json!({"action": "accept", "content": {"decision": "session"}})),
        Approval::ForSession
    );
    for unclear in [
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {"decision": "yes"}}),
        json!({"action": "accept", "content": {"decision": true}}),
        json!({"action": "accept", "content": {"decision": "no"}}),
        json!({"action": "decline", "content": {"decision": "once"}}),
        json!({"action": "cancel", "content": {"decision": "once"}}),
    ] {
        assert!(matches!(answered(unclear.clone()), Approval::Refused { .. }), "{unclear}");
    }
}

#[test]
fn approval_applies_only_to_the_request_it_answers() {
    let agreed = digest(&request("ls"));
    let returning = ReturningCall {
        agreed: vec![digest(&request("pwd"))],
        answered: Some((agreed, yes())),
        ..ReturningCall::default()
    };
    assert_eq!(returning.answer_approval(&request("ls")), Approval::Once);
    assert_eq!(returning.answer_approval(&request("pwd")), Approval::Once);
    assert_eq!(returning.answer_approval(&request("rm -rf .")), Approval::Nobody);
    let open = returning.open.lock().clone();
    assert_eq!(open, Some(OpenClientQuestion::Approval(request("rm -rf ."))), "it is asked about");
}

fn yes() -> ElicitResult {
    serde_json::from_value(json!({"action": "accept", "content": {"decision": "once"}})).unwrap()
}

fn form_of(message: &str, again: bool) -> FormRequest {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    FormRequest { from: "m".into(), tool: "m/say".into(), message: message.into(), schema, again }
}

#[test]
fn form_answer_applies_only_to_the_form_it_answers() {
    let given = |json: Value| serde_json::from_value::<ElicitResult>(json).unwrap();
    let name = json!({"action": "accept", "content": {"name": "x"}});
    let returning = ReturningCall {
        filled: vec![(digest(&form_of("one?", true)), given(json!({"action": "decline"})))],
        answered: Some((digest(&form_of("two?", true)), given(name))),
        ..ReturningCall::default()
    };
    assert_eq!(returning.answer_form(&form_of("one?", true)), FormAnswer::Declined);
    let filled = json!({"name": "x"}).as_object().unwrap().clone();
    assert_eq!(returning.answer_form(&form_of("two?", true)), FormAnswer::Filled(filled));
    assert_eq!(returning.answer_form(&form_of("three?", false)), FormAnswer::Nobody);
    assert!(returning.open.lock().is_none(), "the call cannot be made again");
    assert_eq!(returning.answer_form(&form_of("three?", true)), FormAnswer::Nobody);
    assert_eq!(*returning.open.lock(), Some(OpenClientQuestion::Form(form_of("three?", true))));
    // An approval does not answer a form, and a form's answer is not an approval.
    assert_eq!(returning.answer_approval(&request("ls")), Approval::Nobody);
}

#[test]
fn client_without_form_elicitation_capability_is_not_asked() {
    let client = |json: Value| can_ask(serde_json::from_value(json).ok());
    assert!(client(json!({"elicitation": {}})));
    assert!(client(json!({"elicitation": {"form": {}}})));
    assert!(client(json!({"elicitation": {"form": {}, "url": {}}})));
    assert!(!client(json!({"elicitation": {"url": {}}})));
    assert!(!client(json!({})));
}
