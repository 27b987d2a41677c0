//! The raw client's start parameters and capabilities.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

/// The parameters of a server's start.
#[derive(Debug, Clone)]
pub struct Start {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Environment variables added to those of this process.
    pub env: Vec<(String, String)>,
    /// Working directory, `rootUri` and the one workspace folder.
    pub root: PathBuf,
    /// `initializationOptions`.
    pub options: Value,
    /// Answers to `workspace/configuration` by section; null for every other section.
    pub configuration: BTreeMap<String, Value>,
    /// `general.positionEncodings`, best first.
    pub encodings: Vec<&'static str>,
    /// The timeout of `initialize` and of each later request.
    pub timeout: Duration,
}

impl Start {
    /// A start with all encodings, no settings, and a timeout of a minute.
    pub fn new<S: Into<String>>(command: impl IntoIterator<Item = S>, root: impl Into<PathBuf>) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            root: root.into(),
            options: Value::Null,
            configuration: BTreeMap::new(),
            encodings: vec!["utf-8", "utf-32", "utf-16"],
            timeout: Duration::from_secs(60),
        }
    }
}

/// The `initialize` parameters of a client with all capabilities for reading code.
pub fn initialize_params(start: &Start) -> Value {
    let dynamic = json!({"dynamicRegistration": true});
    let links = json!({"dynamicRegistration": true, "linkSupport": true});
    let root = uri(&start.root);
    let name = start.root.file_name().map(|name| name.to_string_lossy().into_owned());
    json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "raw-client"},
        "rootUri": root,
        "rootPath": start.root,
        "workspaceFolders": [{"uri": root, "name": name}],
        "initializationOptions": start.options,
        "capabilities": {
            "general": {"positionEncodings": start.encodings},
            "window": {"workDoneProgress": true, "showDocument": {"support": true}},
            "workspace": {
                "configuration": true,
                "workspaceFolders": true,
                "applyEdit": true,
                "didChangeConfiguration": dynamic,
                "didChangeWatchedFiles": {"dynamicRegistration": true, "relativePatternSupport": true},
                "symbol": dynamic,
                "diagnostics": {"refreshSupport": true},
            },
            "textDocument": {
                "synchronization": {"dynamicRegistration": true, "didSave": true},
                "publishDiagnostics": {
                    "versionSupport": true,
                    "relatedInformation": true,
                    "codeDescriptionSupport": true,
                    "tagSupport": {"valueSet": [1, 2]},
                },
                "diagnostic": {"dynamicRegistration": true, "relatedDocumentSupport": true},
                "hover": {"dynamicRegistration": true, "contentFormat": ["markdown", "plaintext"]},
                "definition": links,
                "declaration": links,
                "typeDefinition": links,
                "implementation": links,
                "references": dynamic,
                "documentSymbol": {"dynamicRegistration": true, "hierarchicalDocumentSymbolSupport": true},
                "callHierarchy": dynamic,
                "typeHierarchy": dynamic,
                "signatureHelp": dynamic,
                "completion": {
                    "dynamicRegistration": true,
                    "completionItem": {"documentationFormat": ["markdown", "plaintext"], "deprecatedSupport": true},
                },
            },
            "experimental": {"serverStatusNotification": true},
        },
    })
}

/// The URI of a file.
///
/// # Panics
/// If the path is relative.
pub fn uri(path: &Path) -> String {
    Url::from_file_path(path).unwrap_or_else(|()| panic!("not an absolute path: {}", path.display())).into()
}

/// Whether two URIs name the same file, regardless of escaping.
pub fn same_file(one: &str, other: &str) -> bool {
    let path = |uri: &str| Url::parse(uri).ok().and_then(|uri| uri.to_file_path().ok());
    one == other || path(one).is_some_and(|path_of_one| path(other) == Some(path_of_one))
}
