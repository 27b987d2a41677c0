//! Invalid arguments for every tool: an answer or error message within limits, and nothing outside
//! changes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::{Caller, Runtime};
use serde_json::{Value, json};

use super::draw::Draw;
use super::world::{World, call};

/// The time limit of a call on a slow machine.
const TIME: Duration = Duration::from_secs(30);

const FILES: [(&str, &str); 6] = [
    ("a.txt", "one\ntwo\nthree\n"),
    ("b.py", "def f(x):\n    return x\n\nf(1)\n"),
    ("sub/c.rs", "fn main() {}\n"),
    ("empty", ""),
    ("bin.dat", "a\0b"),
    ("n.ipynb", r##"{"cells": [{"cell_type": "markdown", "source": ["# One"]}]}"##),
];

const WORDS: [&str; 42] = [
    "",
    ".",
    "..",
    "a.txt",
    "b.py",
    "sub",
    "sub/c.rs",
    "sub/../a.txt",
    "/",
    "/etc/passwd",
    "\0",
    "\u{202e}",
    "a\u{301}",
    "*",
    "**/*",
    "(",
    "[",
    "a{99999}",
    "e1",
    "--help",
    "@@ -1 +1 @@\n-one\n+x\n",
    "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+ONE\n",
    "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+x\n*** End Patch",
    "one",
    "f",
    "main",
    "\r\n",
    "\u{feff}",
    "true",
    "list",
    "save",
    "read",
    "delete",
    "9999999999999999999999",
    "~",
    "file:///etc",
    "pending",
    "in_progress",
    "n.ipynb",
    "../../outside",
    "../../outside/kept.txt",
    ".git/config",
];

struct Place {
    world: World,
    runtime: Runtime,
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Names and schemas.
    tools: Vec<(String, Value)>,
}

fn place() -> &'static Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    PLACE.get_or_init(|| {
        let world = World::new(FILES);
        let settings = "audit.enabled = false\n[permissions]\nprofile = 'all'\n\
                        deny = ['effect:execute', 'effect:network', 'get_library_docs', 'resolve_library_id']\n\
                        [deadlines]\ntool = 20000\n";
        world.write_beside("config/lsp-tools.toml", settings);
        let runtime = world.runtime();
        let definitions = runtime.definitions(&Caller::default());
        assert!(definitions.len() > 25, "{}", definitions.len());
        let tools = definitions.iter().map(|tool| (tool.card.name.to_string(), tool.input.as_value().clone()));
        Place { tools: tools.collect(), files: world.files(), world, runtime }
    })
}

/// The number of tools; the first byte of an input selects one.
#[allow(dead_code, reason = "only the test iterates over all of them")]
pub fn count() -> usize {
    place().tools.len()
}

pub fn run(bytes: &[u8]) {
    let Place { world, runtime, files, tools } = place();
    let mut draw = Draw::new(bytes);
    let (name, schema) = &tools[draw.below(tools.len())];
    let arguments = match draw.byte() % 8 {
        0 => draw.json(&WORDS, 0),
        // Long texts, which the fuzzer would not find.
        1 => {
            let mut arguments = draw.fitting(schema, schema, &WORDS, 0);
            let key = draw.byte();
            let long = String::from_utf8_lossy(&draw.swollen(1 << 20)).into_owned();
            let texts =
                arguments.as_object_mut().into_iter().flatten().filter(|(_, value)| value.is_string());
            let mut texts: Vec<_> = texts.map(|(_, value)| value).collect();
            if !texts.is_empty() {
                let at = usize::from(key) % texts.len();
                *texts[at] = json!(long);
            }
            arguments
        }
        _ => draw.fitting(schema, schema, &WORDS, 0),
    };
    let begun = Instant::now();
    call(runtime, name, arguments);
    assert!(begun.elapsed() < TIME, "{name}: {:?}", begun.elapsed());
    world.check_outside();
    world.restore(files);
    for unknown in ["", "nosuch", "re\0ad", "REED", "read ", "lsp_*", "../read"] {
        if draw.byte() == 255 {
            assert_eq!(call(runtime, unknown, json!({})).value["code"], "unknown_tool", "{unknown:?}");
        }
    }
}
