//! The pictures of the README keep every space, which aligns their columns.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::skipped;

const PICTURES: [&str; 2] = ["docs/terminal.svg", "docs/merge-gate.svg"];

/// Returns the texts of a page that have invisible characters, or that end elsewhere than their
/// element specifies.
const LOST: &str = r#"
const lost = [...document.querySelectorAll("text")].filter(text => {
  const shown = text.getNumberOfChars();
  const end = Number(text.getAttribute("x")) + Number(text.getAttribute("textLength"));
  return shown !== [...text.textContent].length || Math.abs(text.getEndPositionOfChar(shown - 1).x - end) > 1;
}).map(text => text.textContent);
document.documentElement.innerHTML = "<body><pre></pre>";
document.querySelector("pre").textContent = "lost: " + JSON.stringify(lost);
"#;

fn picture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Browsers read `xml:space` of the element only; without it they drop spaces at both ends and
/// spread the remaining letters.
#[test]
fn picture_text_elements_keep_their_own_spaces() {
    for name in PICTURES {
        let picture = picture(name);
        let texts: Vec<&str> = picture.lines().filter(|line| line.contains("<text")).collect();
        assert!(texts.len() > 10, "{name}: only {} texts", texts.len());
        for text in texts {
            assert!(text.starts_with("<text xml:space=\"preserve\" "), "{name}: {text}");
        }
    }
}

#[test]
fn pictures_rendered_by_chromium_lose_no_character() {
    let Some(chromium) = chromium() else {
        return skipped("Chromium is not on PATH (Debian: apt-get install chromium)");
    };
    let folder = tempfile::tempdir().expect("a folder");
    for name in PICTURES {
        let page = folder.path().join("page.html");
        let html = format!("<!doctype html><meta charset=utf-8>{}<script>{LOST}</script>", picture(name));
        std::fs::write(&page, html).expect("the page can be written");
        let output = Command::new(&chromium)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg(format!("file://{}", page.display()))
            .output()
            .expect("Chromium can be run");
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(
            shown.contains("<pre>lost: []</pre>"),
            "{name}: {shown}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

fn chromium() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| which::which(name).ok())
}
