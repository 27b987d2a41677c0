//! A fetched body as text: HTML as Markdown, other texts unchanged, the rest refused.

use std::rc::Rc;

use encoding_rs::{Encoding, UTF_8};
use htmd::{HtmlToMarkdown, Node};
use regex::Regex;
use std::sync::LazyLock;

use super::http::FetchedResponse;
use crate::analysis::error::{ErrorCode, ToolError};

/// Elements without text of a page.
const SKIPPED: [&str; 10] =
    ["script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "head", "form"];
/// The deepest nesting of elements. Deeper pages are made to break recursive readers.
const MAX_PAGE_ELEMENT_DEPTH: usize = 400;
/// The deepest nesting of tags before parsing; old pages leave some tags open.
const MAX_OPEN_TAG_DEPTH: usize = 1_000;

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WebPage {
    /// The type in the response (`text/html`).
    pub content_type: String,
    /// The title of an HTML page, if it has one.
    pub title: Option<String>,
    /// Markdown for HTML, else the unchanged text.
    pub text: String,
}

/// Converts `fetched` to text. Large pages take long, so it must run on a blocking thread.
///
/// # Errors
/// `not_text` if it is not text, `too_large` if it is nested too deeply.
pub(crate) fn to_page(fetched: &FetchedResponse) -> Result<WebPage, ToolError> {
    let header = fetched.content_type.as_deref().unwrap_or("text/plain");
    let content_type = header.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let html = matches!(content_type.as_str(), "text/html" | "application/xhtml+xml");
    if !html && !is_text(&content_type) {
        let what = format!("it is `{}`; only HTML and other text is read", content_type.escape_default());
        return Err(ToolError::new(ErrorCode::NotText, what));
    }
    if !html && fetched.body.contains(&0) {
        let what = format!("its content type is {content_type}, but it is binary data");
        return Err(ToolError::new(ErrorCode::NotText, what));
    }
    let text = decode_body(&fetched.body, header, html);
    if !html {
        return Ok(WebPage { content_type, title: None, text });
    }
    let (title, text) = markdown(&text)?;
    Ok(WebPage { content_type, title, text })
}

fn is_text(content_type: &str) -> bool {
    content_type.starts_with("text/")
        || content_type.ends_with("+json")
        || content_type.ends_with("+xml")
        || matches!(
            content_type,
            "application/json"
                | "application/xml"
                | "application/javascript"
                | "application/yaml"
                | "application/x-yaml"
                | "application/toml"
                | "application/x-ndjson"
        )
}

/// Decodes the bytes: by their byte order mark, the response header, the declaration in the page,
/// else as UTF-8.
fn decode_body(body: &[u8], content_type: &str, html: bool) -> String {
    static CHARSET: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?i)charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)"#).ok());
    let named = |text: &str| {
        let name = CHARSET.as_ref()?.captures(text)?.get(1)?.as_str();
        Encoding::for_label(name.as_bytes())
    };
    // The declaration is searched for at the beginning of the page, as in browsers.
    let within = || {
        let start = &body[..body.len().min(1024)];
        html.then(|| named(&String::from_utf8_lossy(start))).flatten()
    };
    let encoding = named(content_type).or_else(within).unwrap_or(UTF_8);
    encoding.decode(body).0.into_owned()
}

fn markdown(html: &str) -> Result<(Option<String>, String), ToolError> {
    let failed = |error: std::io::Error| {
        ToolError::new(ErrorCode::Internal, format!("the page cannot be read as HTML: {error}"))
    };
    let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
    let deep = || {
        let what =
            format!("the page is nested deeper than {MAX_PAGE_ELEMENT_DEPTH} elements, and is not read");
        ToolError::new(ErrorCode::TooLarge, what)
    };
    if seems_deep(html) {
        return Err(deep());
    }
    let tree = converter.html_to_tree(html).map_err(failed)?;
    if depth(&tree) > MAX_PAGE_ELEMENT_DEPTH {
        return Err(deep());
    }
    let text = converter.tree_to_markdown(&tree);
    Ok((title(html), tidy(&text)))
}

/// Elements without an end tag, or whose end tag is often omitted.
const ENDLESS: [&str; 27] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    "p", "li", "dt", "dd", "option", "optgroup", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup",
    "param",
];
/// Elements of drawings, which may be self-closing.
const SHAPES: [&str; 12] =
    ["path", "circle", "rect", "line", "polyline", "polygon", "ellipse", "use", "stop", "g", "defs", "image"];

/// Returns true if a quick scan finds deeply nested tags, which would make the parser slow.
fn seems_deep(html: &str) -> bool {
    static TAG: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"<(/?)([a-zA-Z][^\s/>]*)([^<>]*)").ok());
    let Some(tag) = TAG.as_ref() else { return true };
    let (mut depth, mut drawing) = (0_usize, false);
    for found in tag.captures_iter(html) {
        let name = found[2].to_ascii_lowercase();
        let (ends, empty) = (!found[1].is_empty(), found[3].ends_with('/'));
        if ENDLESS.contains(&name.as_str()) {
            continue;
        }
        if ends {
            depth = depth.saturating_sub(1);
            drawing &= name != "svg";
            continue;
        }
        // A `/` ends an element only within a drawing, and only until another element follows.
        drawing &= SHAPES.contains(&name.as_str());
        if drawing && empty {
            continue;
        }
        drawing |= name == "svg";
        depth += 1;
        if depth > MAX_OPEN_TAG_DEPTH {
            return true;
        }
    }
    false
}

/// The depth of nested elements. The traversal is not recursive, because it checks if recursion is
/// safe.
fn depth(tree: &Rc<Node>) -> usize {
    let (mut deepest, mut open) = (0, vec![(Rc::clone(tree), 1)]);
    while let Some((node, depth)) = open.pop() {
        deepest = deepest.max(depth);
        open.extend(node.children.borrow().iter().map(|child| (Rc::clone(child), depth + 1)));
    }
    deepest
}

fn title(html: &str) -> Option<String> {
    static TITLE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?is)<title[^>]*>(.{0,500}?)</title>").ok());
    let raw = TITLE.as_ref()?.captures(html)?.get(1)?.as_str();
    let plain = htmd::convert(raw).ok()?;
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then_some(words)
}

/// Removes blanks at line ends, and reduces consecutive empty lines to one.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines().map(str::trim_end) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty <= 1 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content_type: &str, body: &[u8]) -> Result<WebPage, ToolError> {
        let url = url::Url::parse("http://example.com/").unwrap();
        to_page(&FetchedResponse {
            url,
            content_type: Some(content_type.to_owned()),
            body: body.to_vec(),
            truncated: false,
        })
    }

    #[test]
    fn html_page_becomes_markdown_without_scripts_and_styles() {
        let html = "<html><head><title>A &amp; B</title><style>p{}</style></head><body><script>evil()</script>\
                    <h1>Head</h1><p>See <a href='/x'>this</a> and <code>that</code>.</p><ul><li>one</li></ul></body></html>";
        let page = read("text/html; charset=utf-8", html.as_bytes()).unwrap();
        assert_eq!(page.title.as_deref(), Some("A & B"));
        assert!(page.text.starts_with("# Head\n\nSee [this](/x) and `that`."), "{}", page.text);
        assert!(!page.text.contains("evil") && !page.text.contains("p{}"));
    }

    #[test]
    fn page_charset_follows_content_type_or_meta_tag() {
        assert_eq!(read("text/plain; charset=iso-8859-1", b"caf\xe9").unwrap().text, "café");
        let html = b"<meta charset=\"windows-1251\"><p>\xcf\xf0\xe8\xe2\xe5\xf2</p>";
        assert_eq!(read("text/html", html).unwrap().text, "Привет");
    }

    #[test]
    fn page_with_binary_content_is_refused() {
        for (kind, body) in
            [("image/png", &b"\x89PNG"[..]), ("application/octet-stream", b"a"), ("text/plain", b"a\0b")]
        {
            assert_eq!(read(kind, body).unwrap_err().code, ErrorCode::NotText, "{kind}");
        }
        assert_eq!(read("application/json", b"{}").unwrap().text, "{}");
    }

    #[test]
    fn page_with_excessive_html_nesting_is_refused() {
        for start in ["<div>", "<b>", "<x-y/>", "<svg><p><path/>", "<ul><li>", "<table><tr><td>"] {
            let deep = start.repeat(100_000);
            assert_eq!(read("text/html", deep.as_bytes()).unwrap_err().code, ErrorCode::TooLarge, "{start}");
        }
        let wide =
            format!("<svg>{}</svg>{}<p>end", "<path d='M0 0'/>".repeat(5_000), "<p>a<br>".repeat(5_000));
        assert!(read("text/html", wide.as_bytes()).unwrap().text.ends_with("end"));
    }
}
