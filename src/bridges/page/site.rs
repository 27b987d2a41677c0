//! The files of the page, compiled in.

/// A file of the page.
pub(super) struct SiteFile {
    /// The name in the address; empty for the page itself.
    name: &'static str,
    /// The content type.
    pub(super) kind: &'static str,
    /// The content.
    pub(super) text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

const FILES: [SiteFile; 12] = [
    SiteFile { name: "", kind: "text/html; charset=utf-8", text: include_str!("site/index.html") },
    SiteFile { name: "style.css", kind: "text/css; charset=utf-8", text: include_str!("site/style.css") },
    SiteFile { name: "icon.svg", kind: "image/svg+xml", text: include_str!("site/icon.svg") },
    SiteFile { name: "main.js", kind: SCRIPT, text: include_str!("site/main.js") },
    SiteFile { name: "dom.js", kind: SCRIPT, text: include_str!("site/dom.js") },
    SiteFile { name: "chart.js", kind: SCRIPT, text: include_str!("site/chart.js") },
    SiteFile { name: "servers.js", kind: SCRIPT, text: include_str!("site/servers.js") },
    SiteFile { name: "calls.js", kind: SCRIPT, text: include_str!("site/calls.js") },
    SiteFile { name: "edits.js", kind: SCRIPT, text: include_str!("site/edits.js") },
    SiteFile { name: "files.js", kind: SCRIPT, text: include_str!("site/files.js") },
    SiteFile { name: "clients.js", kind: SCRIPT, text: include_str!("site/clients.js") },
    SiteFile { name: "log.js", kind: SCRIPT, text: include_str!("site/log.js") },
];

/// Returns the file called `name`.
pub(super) fn file(name: &str) -> Option<&'static SiteFile> {
    FILES.iter().find(|file| file.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn site_files_load_nothing_from_elsewhere_and_make_no_markup_of_texts() {
        for file in &FILES {
            let without_namespace = file.text.replace("http://www.w3.org/2000/svg", "");
            for word in [
                "http://",
                "https://",
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
            ] {
                assert!(!without_namespace.contains(word), "{}: {word}", file.name);
            }
        }
        let page = file("").expect("the page").text;
        assert!(!page.contains("style=") && !page.contains("<style") && !page.contains(" onclick"));
        assert!(file("../Cargo.toml").is_none());
    }
}
