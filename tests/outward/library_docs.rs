use lsp_tools::{Caller, NobodyToAsk};
use serde_json::json;

use super::stage::{Said, Web, open, page, settings};
use crate::support::Project;

fn service(path: &str, _here: std::net::SocketAddr) -> Said {
    match path.split('?').next().unwrap_or_default() {
        "/api/v2/libs/search" if path.contains("react") => page(
            "application/json",
            json!({"results": [
                {"id": "/facebook/react", "title": "React", "description": "Interfaces", "totalSnippets": 9},
                {"title": "no id"},
            ]})
            .to_string(),
        ),
        "/api/v2/libs/search" => page("application/json", "[]"),
        "/api/v2/context" => page("text/plain", format!("About hooks.\n{}", "x".repeat(9_000))),
        _ => (404, Vec::new(), Vec::new()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn library_docs_bundled_are_answered_without_network() {
    let web = Web::new(service);
    let project = Project::new([("a.txt", "a")]);
    settings(&project, &format!("[library-docs]\napi = \"{}\"\n", web.url("")));
    let workspace = open(&project);
    for (name, id) in [
        ("pw", "playwright"),
        ("WebDriver", "selenium"),
        ("bdd", "gherkin"),
        ("jdk", "java"),
        ("cucumber-jvm", "cucumber"),
    ] {
        let found = workspace.call("resolve_library_id", json!({"libraryName": name})).await;
        assert_eq!(found.value["libraries"][0]["id"], id, "{}", found.value);
        let docs = workspace.call("get_library_docs", json!({"libraryId": id, "query": "zzzz"})).await;
        assert_eq!(
            (docs.value["source"].clone(), docs.value["overview"].clone()),
            (json!("bundled"), json!(true))
        );
    }
    let docs = workspace
        .call("get_library_docs", json!({"libraryId": "playwright", "query": "wait for element"}))
        .await;
    let content = docs.value["content"].as_str().unwrap();
    assert!(content.chars().count() <= 4_000 && content.starts_with("## "), "{content}");
    assert!(content.lines().next().unwrap().to_lowercase().contains("wait"), "{content}");
    assert_eq!(web.asked(), Vec::<String>::new());
}

/// An agent without an approver.
#[tokio::test(flavor = "multi_thread")]
async fn library_docs_remote_lookup_by_agent_needs_approval() {
    let web = Web::new(service);
    let project = Project::new([("a.txt", "a")]);
    settings(&project, &format!("[library-docs]\napi = \"{}\"\n", web.url("")));
    let workspace = open(&project);
    let asked = async |name: &str, arguments| {
        workspace.call_as(&Caller::default(), &NobodyToAsk, name, arguments).await.value
    };
    let found = asked("resolve_library_id", json!({"libraryName": "pw"})).await;
    assert_eq!(found["libraries"][0]["id"], "playwright", "{found}");
    let docs = asked("get_library_docs", json!({"libraryId": "playwright", "query": "wait"})).await;
    assert_eq!(docs["source"], "bundled", "{docs}");
    for (name, arguments) in [
        ("resolve_library_id", json!({"libraryName": "react"})),
        ("get_library_docs", json!({"libraryId": "/facebook/react", "query": "hooks"})),
    ] {
        let denied = asked(name, arguments).await;
        assert_eq!(denied["code"], "denied", "{denied}");
    }
    assert_eq!(web.asked(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn library_docs_not_bundled_are_requested_from_service() {
    let web = Web::new(service);
    let project = Project::new([("a.txt", "a")]);
    settings(&project, &format!("[library-docs]\napi = \"{}/\"\n", web.url("")));
    let workspace = open(&project);
    let found = workspace.call("resolve_library_id", json!({"libraryName": "react"})).await;
    let libraries =
        json!([{"id": "/facebook/react", "title": "React", "description": "Interfaces", "source": "remote"}]);
    assert_eq!(found.value["libraries"], libraries, "{}", found.value);
    let docs = workspace
        .call("get_library_docs", json!({"libraryId": "/facebook/react", "query": "use effect"}))
        .await;
    assert_eq!(
        (docs.value["truncated"].clone(), docs.value["source"].clone()),
        (json!(true), json!("remote"))
    );
    assert_eq!(docs.value["content"].as_str().unwrap().chars().count(), 4_000);
    let nothing = workspace.call("resolve_library_id", json!({"libraryName": "nosuch"})).await;
    assert_eq!(nothing.value["code"], "not_found");
    assert_eq!(
        web.asked()[..2],
        [
            "/api/v2/libs/search?libraryName=react&query=react",
            "/api/v2/context?libraryId=%2Ffacebook%2Freact&query=use+effect",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn library_docs_service_unavailable_hint_lists_bundled() {
    for (word, code) in [("api = \"http://127.0.0.1:1\"", "server_failed"), ("remote = false", "not_found")] {
        let project = Project::new([("a.txt", "a")]);
        settings(&project, &format!("[library-docs]\n{word}\n"));
        let workspace = open(&project);
        for (tool, arguments) in [
            ("resolve_library_id", json!({"libraryName": "react"})),
            ("get_library_docs", json!({"libraryId": "/facebook/react", "query": "hooks"})),
        ] {
            let result = workspace.call(tool, arguments).await;
            assert_eq!(result.value["code"], code, "{}", result.value);
            let hint = result.value["hint"].as_str().unwrap();
            assert!(hint.contains("playwright, selenium, cucumber, gherkin, java"), "{hint}");
        }
    }
}
