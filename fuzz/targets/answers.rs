//! Arbitrary responses and messages of a language server. An answer or error stays within its
//! limit, memory is bounded by the response's size, and no file outside the workspace changes.
//!
//! Here, the server is a thread behind two FIFOs: the process that the product starts only forwards
//! bytes.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::Runtime;
use serde_json::{Value, json};

use super::draw::Draw;
use super::peak_of;
use super::world::{World, call, tokio};

const TIME: Duration = Duration::from_secs(20);
const MEMORY: usize = 32 << 20;
const MEMORY_PER_BYTE: usize = 256;
/// A few times the size limit of an answer (`limits.answer-bytes`): lists may be larger.
const LONGEST: usize = 200_000;

const TEXT: &str = "def one\ndef two\nuse one two\n\u{1f980} one\n";
const FILES: [(&str, &str); 3] =
    [("a.scr", TEXT), ("sub/b.scr", TEXT), (".git/HEAD", "ref: refs/heads/main\n")];

/// The calls: a tool and its arguments.
const QUESTIONS: [(&str, &str); 20] = [
    ("lsp_hover", r#"{"path": "a.scr", "line": 2, "character": 4}"#),
    ("lsp_definition", r#"{"path": "a.scr", "line": 2, "character": 4}"#),
    ("lsp_references", r#"{"path": "a.scr", "line": 2, "character": 4}"#),
    ("lsp_implementation", r#"{"path": "a.scr", "line": 2, "character": 4}"#),
    ("lsp_symbols", r#"{"path": "a.scr"}"#),
    ("lsp_symbols", r#"{"query": "one"}"#),
    ("lsp_completion", r#"{"path": "a.scr", "line": 2, "character": 5}"#),
    ("lsp_signature", r#"{"path": "a.scr", "line": 2, "character": 5}"#),
    ("lsp_calls", r#"{"path": "a.scr", "line": 2, "character": 4}"#),
    ("lsp_calls", r#"{"path": "a.scr", "line": 2, "character": 4, "direction": "outgoing"}"#),
    ("lsp_types", r#"{"path": "a.scr", "line": 2, "character": 4}"#),
    (
        "lsp_rename",
        r#"{"path": "a.scr", "line": 2, "character": 4, "new_name": "three", "diagnostics": false}"#,
    ),
    (
        "lsp_rename",
        r#"{"path": "a.scr", "line": 2, "character": 4, "new_name": "three", "diagnostics": false}"#,
    ),
    ("lsp_format", r#"{"path": "a.scr"}"#),
    ("lsp_code_actions", r#"{"path": "a.scr", "line": 2}"#),
    ("lsp_code_actions", r#"{"path": "a.scr", "line": 2, "apply": 0, "diagnostics": false}"#),
    ("lsp_diagnostics", r#"{"paths": ["a.scr"]}"#),
    ("lsp_diagnostics", r#"{"path": "a.scr"}"#),
    ("move", r#"{"from": "sub/b.scr", "to": "sub/c.scr", "diagnostics": false}"#),
    ("grep", r#"{"pattern": "one"}"#),
];

/// Notifications of the server before its response.
const TOLD: [&str; 8] = [
    "",
    "textDocument/publishDiagnostics",
    "$/progress",
    "window/showMessage",
    "window/logMessage",
    "telemetry/event",
    "$/cancelRequest",
    "custom/thing",
];

/// Requests of the server before its response.
const ASKED: [&str; 8] = [
    "",
    "client/registerCapability",
    "client/unregisterCapability",
    "workspace/configuration",
    "workspace/applyEdit",
    "window/workDoneProgress/create",
    "window/showDocument",
    "workspace/workspaceFolders",
];

const WORDS: [&str; 92] = [
    "uri",
    "range",
    "start",
    "end",
    "line",
    "character",
    "targetUri",
    "targetRange",
    "targetSelectionRange",
    "contents",
    "kind",
    "markdown",
    "plaintext",
    "value",
    "language",
    "name",
    "detail",
    "selectionRange",
    "children",
    "location",
    "containerName",
    "tags",
    "items",
    "isIncomplete",
    "label",
    "insertText",
    "textEdit",
    "newText",
    "documentation",
    "signatures",
    "parameters",
    "activeParameter",
    "activeSignature",
    "from",
    "to",
    "fromRanges",
    "changes",
    "documentChanges",
    "textDocument",
    "version",
    "edits",
    "create",
    "rename",
    "delete",
    "oldUri",
    "newUri",
    "options",
    "overwrite",
    "ignoreIfExists",
    "recursive",
    "title",
    "edit",
    "command",
    "arguments",
    "diagnostics",
    "isPreferred",
    "disabled",
    "reason",
    "severity",
    "code",
    "source",
    "message",
    "relatedInformation",
    "full",
    "unchanged",
    "resultId",
    "relatedDocuments",
    "registrations",
    "id",
    "method",
    "registerOptions",
    "documentSelector",
    "pattern",
    "scheme",
    "watchers",
    "globPattern",
    "token",
    "percentage",
    "begin",
    "report",
    "placeholder",
    "defaultBehavior",
    "one",
    "three",
    "URI",
    "OTHER",
    "OUTSIDE",
    "file:///etc/passwd",
    "jdt://x",
    "**/*",
    "quickfix",
    "annotationId",
];

type Shared = Arc<Mutex<Script>>;

/// The next messages of the server.
#[derive(Default)]
struct Script {
    capabilities: Value,
    result: Value,
    is_error: bool,
    tell: Option<(&'static str, Value)>,
    ask: Option<(&'static str, Value)>,
}

struct Place {
    runtime: Runtime,
    script: Shared,
    /// Whether the conversation broke.
    broken: Arc<AtomicBool>,
    files: BTreeMap<PathBuf, Vec<u8>>,
    calls: usize,
    world: World,
}

/// All server capabilities.
fn all_of_it() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": 1,
        "hoverProvider": true, "definitionProvider": true, "declarationProvider": true, "typeDefinitionProvider": true,
        "implementationProvider": true, "referencesProvider": true, "documentSymbolProvider": true,
        "workspaceSymbolProvider": true, "completionProvider": {"resolveProvider": true}, "signatureHelpProvider": {},
        "renameProvider": {"prepareProvider": true}, "documentFormattingProvider": true, "documentRangeFormattingProvider": true,
        "codeActionProvider": {"resolveProvider": true}, "callHierarchyProvider": true, "typeHierarchyProvider": true,
        "diagnosticProvider": {"interFileDependencies": false, "workspaceDiagnostics": false},
        "executeCommandProvider": {"commands": ["one"]},
        "workspace": {"fileOperations": {
            "willRename": {"filters": [{"pattern": {"glob": "**/*"}}]}, "didRename": {"filters": [{"pattern": {"glob": "**/*"}}]}
        }}
    })
}

impl Place {
    fn new(capabilities: Value) -> Self {
        let world = World::new(FILES);
        let fifos = ["answers", "questions"].map(|name| world.beside("cache").join(name));
        let made = Command::new("mkfifo").args(&fifos).status().expect("mkfifo");
        assert!(made.success());
        let [answers, questions] = fifos.each_ref().map(|path| path.display().to_string());
        let catalogue = format!(
            "[language.scripted]\nname = \"Scripted\"\nextensions = [\"scr\"]\nservers = [\"scripted\"]\n\
             [server.scripted]\nname = \"Scripted\"\nlanguages = [\"scripted\"]\n\
             command = [\"/bin/sh\", \"-c\", \"cat '{answers}' & exec cat > '{questions}'\"]\n"
        );
        world.write_beside("config/servers.toml", catalogue);
        let settings = "audit.enabled = false\n[deadlines]\nhover = 2000\ndefinition = 2000\nsymbols = 2000\ncompletion = 2000\n\
            signature = 2000\ndiagnostics = 2000\nworkspace-symbols = 2000\nedit = 2000\nreferences = 2000\nhierarchy = 2000\n\
            start = 5000\nstop = 500\n";
        world.write_beside("config/lsp-tools.toml", settings);
        let script = Arc::new(Mutex::new(Script { capabilities, ..Script::default() }));
        let broken = Arc::new(AtomicBool::new(false));
        let ends = fifos.map(|path| open_both_ways(&path));
        let (shared, lost) = (Arc::clone(&script), Arc::clone(&broken));
        std::thread::spawn(move || {
            let [answers, questions] = ends;
            play(BufReader::new(questions), answers, &shared);
            lost.store(true, Ordering::Relaxed);
        });
        let runtime = world.runtime();
        let files = world.files();
        Self { runtime, script, broken, files, calls: 0, world }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().expect("a lock")
    }

    fn end(self) {
        tokio().block_on(self.runtime.shutdown());
    }
}

/// Opens a FIFO for reading and writing, so that opening does not block.
fn open_both_ways(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).open(path).expect("a FIFO")
}

/// Answers requests until one cannot be parsed.
fn play(mut questions: BufReader<File>, mut answers: File, script: &Shared) {
    let mut number = 0_u64;
    while let Some(message) = next(&mut questions) {
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else { continue };
        let script = script.lock().expect("a lock");
        let mut send = |message: Value| {
            let text = message.to_string();
            // The reader may be gone; the next request detects it.
            let _gone = write!(answers, "Content-Length: {}\r\n\r\n{text}", text.len());
        };
        match method {
            "initialize" => {
                let result = json!({"capabilities": script.capabilities, "serverInfo": {"name": "fuzz"}});
                send(json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
            "shutdown" => send(json!({"jsonrpc": "2.0", "id": id, "result": null})),
            _ => {
                if let Some((method, params)) = &script.tell {
                    send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
                }
                if let Some((method, params)) = &script.ask {
                    number += 1;
                    send(
                        json!({"jsonrpc": "2.0", "id": format!("q{number}"), "method": method, "params": params}),
                    );
                }
                let key = if script.is_error { "error" } else { "result" };
                send(json!({"jsonrpc": "2.0", "id": id, key: script.result}));
            }
        }
    }
}

fn next(from: &mut BufReader<File>) -> Option<Value> {
    let mut header = String::new();
    from.read_line(&mut header).ok()?;
    let length: usize = header.trim().strip_prefix("Content-Length: ")?.parse().ok()?;
    from.read_line(&mut String::new()).ok()?;
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Replaces placeholders by URIs of this workspace.
fn localise(value: &mut Value, root: &str) {
    match value {
        Value::String(text) => match text.as_str() {
            "URI" => *text = format!("file://{root}/a.scr"),
            "OTHER" => *text = format!("file://{root}/sub/b.scr"),
            "OUTSIDE" => *text = format!("file://{root}/../../outside/kept.txt"),
            _ => {}
        },
        Value::Array(values) => values.iter_mut().for_each(|value| localise(value, root)),
        Value::Object(object) => {
            if let Some(mut value) = object.remove("URI") {
                localise(&mut value, root);
                object.insert(format!("file://{root}/a.scr"), value);
            }
            object.values_mut().for_each(|value| localise(value, root));
        }
        _ => {}
    }
}

/// JSON from the input, built from words of the protocol, or with a long text or list in it.
fn value(draw: &mut Draw<'_>) -> Value {
    match draw.byte() % 8 {
        0..=2 => serde_json::from_slice(draw.part()).unwrap_or_default(),
        3 => {
            let mut value: Value = serde_json::from_slice(draw.part()).unwrap_or_default();
            let long = json!(String::from_utf8_lossy(&draw.swollen(1 << 18)));
            replace_first(&mut value, "LONG", &long);
            value
        }
        4 => {
            let times = 1 << draw.below(11);
            let one: Value = serde_json::from_slice(draw.part()).unwrap_or_default();
            json!(vec![one; times])
        }
        _ => draw.json(&WORDS, 0),
    }
}

fn replace_first(value: &mut Value, word: &str, with: &Value) -> bool {
    if value == word {
        *value = with.clone();
        return true;
    }
    match value {
        Value::Array(values) => values.iter_mut().any(|value| replace_first(value, word, with)),
        Value::Object(object) => object.values_mut().any(|value| replace_first(value, word, with)),
        _ => false,
    }
}

pub fn run(bytes: &[u8]) {
    static PLACE: Mutex<Option<Place>> = Mutex::new(None);
    let mut held = PLACE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if held.as_ref().is_some_and(|place| place.calls > 2_000 || place.broken.load(Ordering::Relaxed)) {
        held.take().expect("a place").end();
    }
    if ask(held.get_or_insert_with(|| Place::new(all_of_it())), bytes) {
        held.take().expect("a place").end();
    }
}

/// Like [`run`], with arbitrary server capabilities.
pub fn run_capabilities(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let mut said = value(&mut draw);
    if draw.byte().is_multiple_of(2)
        && let (Some(own), Value::Object(mut all)) = (said.as_object(), all_of_it())
    {
        all.extend(own.clone());
        said = Value::Object(all);
    }
    let mut place = Place::new(said);
    ask(&mut place, draw.rest());
    place.end();
}

/// Makes one call. Returns whether the server left progress open, for which the next call would
/// wait.
fn ask(place: &mut Place, bytes: &[u8]) -> bool {
    let mut draw = Draw::new(bytes);
    let root = place.world.root().display().to_string();
    let (tool, arguments) = draw.one_of(&QUESTIONS);
    let arguments: Value = serde_json::from_str(arguments).expect("JSON");
    let how = draw.byte();
    let mut result = value(&mut draw);
    localise(&mut result, &root);
    let said = |all: &[&'static str], draw: &mut Draw<'_>| {
        let method = draw.one_of(all);
        if method.is_empty() {
            return None;
        }
        let mut params = value(draw);
        localise(&mut params, &root);
        Some((method, params))
    };
    let (tell, ask) = (said(&TOLD, &mut draw), said(&ASKED, &mut draw));
    let size = result.to_string().len()
        + [&tell, &ask].into_iter().flatten().map(|(_, params)| params.to_string().len()).sum::<usize>();
    let is_at_work = tell.as_ref().is_some_and(|(method, _)| *method == "$/progress");
    {
        let mut script = place.script();
        // Errors that cause retries cost pauses, so they are rare.
        let is_error = how.is_multiple_of(16);
        *script = Script { capabilities: script.capabilities.take(), result, is_error, tell, ask };
    }
    place.calls += 1;
    let begun = Instant::now();
    let (answer, peak) = peak_of(|| call(&place.runtime, tool, arguments));
    assert!(begun.elapsed() < TIME, "{tool}: {:?}", begun.elapsed());
    assert!(peak < MEMORY + MEMORY_PER_BYTE * size, "{tool}: {size} bytes took {peak} bytes");
    let length = answer.value.to_string().len();
    assert!(length < LONGEST, "{tool}: an answer of {length} bytes");
    place.world.check_outside();
    place.world.restore(&place.files);
    is_at_work
}
