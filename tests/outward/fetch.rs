use serde_json::json;

use super::stage::{Said, Web, open, page, redirect, settings};
use crate::support::Project;

fn site(path: &str, here: std::net::SocketAddr) -> Said {
    match path {
        "/page" => page(
            "text/html; charset=utf-8",
            "<title>T</title><h1>Head</h1><p>Text <b>bold</b></p><script>x</script>",
        ),
        "/moved" => redirect("/page"),
        "/away" => redirect(&format!("http://localhost:{}/page", here.port())),
        "/metadata" => redirect("http://169.254.169.254/latest/meta-data"),
        "/file" => redirect("file:///etc/passwd"),
        "/circle" => redirect("/circle"),
        "/large" => page("text/plain", "line of text\n".repeat(1_000_000)),
        "/bomb" => page("text/html", "<div>".repeat(200_000)),
        "/picture" => page("image/png", [0x89, 0x50]),
        _ => (404, Vec::new(), Vec::new()),
    }
}

/// A web server, and a project whose user allows it by address and port.
fn stage() -> (Web, Project) {
    let web = Web::new(site);
    let project = Project::new([("a.txt", "a")]);
    settings(&project, &format!("[fetch]\nallow-hosts = [\"{}\"]\n", web.address));
    (web, project)
}

#[tokio::test(flavor = "multi_thread")]
async fn fetch_returns_page_as_markdown_also_after_redirect() {
    let (web, project) = stage();
    let workspace = open(&project);
    for path in ["/page", "/moved"] {
        let result = workspace.call("fetch_web_page", json!({"url": web.url(path)})).await;
        assert!(result.ok(), "{}", result.value);
        assert_eq!(result.value["text"], "# Head\n\nText **bold**");
        assert_eq!(result.value["title"], "T");
        assert_eq!(result.value["url"], web.url("/page"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_44_fetch_of_private_address_is_refused_in_any_way() {
    let (web, project) = stage();
    let opened = open(&project);
    for path in ["/away", "/metadata"] {
        let result = opened.call("fetch_web_page", json!({"url": web.url(path)})).await;
        assert_eq!(result.value["code"], "denied", "{path}: {}", result.value);
    }
    assert_eq!(web.asked(), ["/away", "/metadata"]);

    // Without the exception no address of this machine is contacted, in any spelling.
    let closed = Project::new([("a.txt", "a")]);
    let closed = open(&closed);
    let port = web.address.port();
    for host in ["127.0.0.1", "localhost", "127.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let url = format!("http://{host}:{port}/page");
        let result = closed.call("fetch_web_page", json!({"url": url})).await;
        assert_eq!(result.value["code"], "denied", "{url}: {}", result.value);
    }
    assert_eq!(web.asked().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn fetch_of_non_page_fails_with_its_error_code() {
    let (web, project) = stage();
    let workspace = open(&project);
    for (path, code) in [
        ("/file", "invalid_args"),
        ("/circle", "server_failed"),
        ("/missing", "not_found"),
        ("/picture", "not_text"),
        ("/bomb", "too_large"),
    ] {
        let result = workspace.call("fetch_web_page", json!({"url": web.url(path)})).await;
        assert_eq!(result.value["code"], code, "{path}: {}", result.value);
    }
    let result = workspace.call("fetch_web_page", json!({"url": "file:///etc/passwd"})).await;
    assert_eq!(result.value["code"], "invalid_args");
}

#[tokio::test(flavor = "multi_thread")]
async fn fetch_of_large_page_is_paged_and_truncated() {
    let (web, project) = stage();
    let workspace = open(&project);
    let url = web.url("/large");
    let first = workspace.call("fetch_web_page", json!({"url": url})).await.value;
    assert_eq!((first["has_more"].clone(), first["truncated"].clone()), (json!(true), json!(true)));
    let next = first["next_offset"].as_u64().unwrap();
    assert_eq!(first["text"].as_str().unwrap().chars().count() as u64, next);
    let second = workspace.call("fetch_web_page", json!({"url": url, "offset": next})).await.value;
    assert!(second["text"].as_str().unwrap().starts_with("line of text\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn fetch_allow_hosts_of_untrusted_project_is_ignored() {
    let (web, project) = stage();
    settings(&project, "");
    let word = format!("[fetch]\nallow-hosts = [\"{}\"]\n", web.address);
    project.write(".lsp-tools/lsp-tools.toml", word);
    let result = open(&project).call("fetch_web_page", json!({"url": web.url("/page")})).await;
    assert_eq!(result.value["code"], "denied");
    assert_eq!(web.asked(), Vec::<String>::new());
}
