//! The capabilities of client and server, with dynamic registration.

use std::path::Path;

use globset::GlobSet;
use serde_json::{Value, json};

use super::semantic_tokens::{TOKEN_MODIFIERS, TOKEN_TYPES};
use crate::config::spec;
use crate::text::{Encoding, build_glob_set, read_glob};

/// Our side of LSP 3.17 *ClientCapabilities*: the features that this client really supports.
pub(super) fn client_capabilities() -> Value {
    let dynamic = json!({ "dynamicRegistration": true });
    let linked = json!({ "dynamicRegistration": true, "linkSupport": true });
    let markup = json!(["markdown", "plaintext"]);
    json!({
        "general": {
            "positionEncodings": ["utf-8", "utf-16", "utf-32"],
            "staleRequestSupport": { "cancel": true, "retryOnContentModified": [] },
            "markdown": { "parser": "pulldown-cmark", "version": "0.13" }
        },
        "window": {
            "workDoneProgress": true,
            "showMessage": { "messageActionItem": { "additionalPropertiesSupport": false } },
            "showDocument": { "support": false }
        },
        "workspace": {
            "applyEdit": true,
            "workspaceEdit": {
                "documentChanges": true, "resourceOperations": ["create", "rename", "delete"],
                "failureHandling": "transactional", "normalizesLineEndings": true
            },
            "fileOperations": { "dynamicRegistration": false, "willRename": true, "didRename": true },
            "configuration": true,
            "workspaceFolders": true,
            "didChangeConfiguration": dynamic,
            "didChangeWatchedFiles": { "dynamicRegistration": true, "relativePatternSupport": true },
            "symbol": { "dynamicRegistration": true, "symbolKind": { "valueSet": (1..=26).collect::<Vec<_>>() } },
            "diagnostics": { "refreshSupport": true },
            "executeCommand": dynamic
        },
        "notebookDocument": { "synchronization": { "dynamicRegistration": false, "executionSummarySupport": false } },
        "textDocument": {
            "synchronization": { "dynamicRegistration": true, "didSave": true },
            "publishDiagnostics": {
                "relatedInformation": true, "versionSupport": true, "codeDescriptionSupport": true,
                "tagSupport": { "valueSet": [1, 2] }
            },
            "diagnostic": { "dynamicRegistration": true, "relatedDocumentSupport": false },
            "hover": { "dynamicRegistration": true, "contentFormat": markup },
            "definition": linked, "declaration": linked, "typeDefinition": linked, "implementation": linked,
            "references": dynamic,
            "documentSymbol": {
                "dynamicRegistration": true, "hierarchicalDocumentSymbolSupport": true,
                "symbolKind": { "valueSet": (1..=26).collect::<Vec<_>>() }
            },
            "callHierarchy": dynamic,
            "typeHierarchy": dynamic,
            "rename": { "dynamicRegistration": true, "prepareSupport": true, "prepareSupportDefaultBehavior": 1 },
            "codeAction": {
                "dynamicRegistration": true, "isPreferredSupport": true, "disabledSupport": true,
                "dataSupport": true, "resolveSupport": { "properties": ["edit"] },
                "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [
                    "", "quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.rewrite",
                    "source", "source.organizeImports", "source.fixAll"
                ] } }
            },
            "formatting": dynamic, "rangeFormatting": dynamic,
            "documentHighlight": dynamic, "foldingRange": dynamic, "selectionRange": dynamic,
            "linkedEditingRange": dynamic, "documentLink": dynamic, "codeLens": dynamic, "inlayHint": dynamic,
            "semanticTokens": {
                "dynamicRegistration": true, "requests": { "full": true, "range": true }, "formats": ["relative"],
                "tokenTypes": TOKEN_TYPES, "tokenModifiers": TOKEN_MODIFIERS, "augmentsSyntaxTokens": true
            },
            "signatureHelp": {
                "dynamicRegistration": true,
                "signatureInformation": {
                    "documentationFormat": markup, "activeParameterSupport": true,
                    "parameterInformation": { "labelOffsetSupport": true }
                }
            },
            "completion": {
                "dynamicRegistration": true,
                "completionItem": {
                    "snippetSupport": true, "documentationFormat": markup, "deprecatedSupport": true,
                    "tagSupport": { "valueSet": [1] }, "labelDetailsSupport": true
                },
                "completionList": { "itemDefaults": ["editRange", "data"] }
            }
        },
        "experimental": { "serverStatusNotification": true }
    })
}

/// The way in which a server takes changes (LSP 3.17, *TextDocumentSyncKind*).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SyncKind {
    /// The server reads the disk itself.
    None,
    /// The server takes the whole text each time.
    Full,
    /// The server takes changed ranges.
    Incremental,
}

/// The capabilities of a server's `initialize` response, with the catalogue's corrections.
#[derive(Debug, Clone)]
pub(crate) struct ServerCapabilities {
    raw: Value,
    /// The encoding in which the server counts columns.
    pub(crate) encoding: Encoding,
    /// The way in which it takes changes.
    pub(crate) sync: SyncKind,
    /// Set if the server wants `didSave`; `true` if with the text.
    pub(crate) save: Option<bool>,
    /// True if it takes more workspace folders while it runs.
    pub(crate) more_folders: bool,
    /// The version that it states with its name (LSP 3.17, `serverInfo`).
    pub(crate) version: Option<String>,
}

impl ServerCapabilities {
    /// Reads the `result` of `initialize`.
    pub(super) fn from_initialize(result: &Value, spec: &spec::ServerSpec) -> Self {
        let raw = result.get("capabilities").cloned().unwrap_or_default();
        let announced = raw["positionEncoding"].as_str().and_then(Encoding::from_name);
        let sync = &raw["textDocumentSync"];
        let kind = if sync.is_object() { &sync["change"] } else { sync };
        let sync_kind = match (spec.sync, kind.as_u64()) {
            (spec::SyncRule::Full, Some(1 | 2)) | (_, Some(1)) => SyncKind::Full,
            (_, Some(2)) => SyncKind::Incremental,
            _ => SyncKind::None,
        };
        let save = match &sync["save"] {
            Value::Bool(true) => Some(false),
            Value::Object(options) => Some(options.get("includeText") == Some(&Value::Bool(true))),
            // A number for `textDocumentSync` does not cover saves; the rule may.
            _ => spec.diagnostics.on_save.then_some(false),
        };
        let folders = &raw["workspace"]["workspaceFolders"];
        let notified = matches!(&folders["changeNotifications"], Value::Bool(true) | Value::String(_));
        Self {
            encoding: spec.position_encoding.or(announced).unwrap_or(Encoding::Utf16),
            sync: sync_kind,
            save,
            more_folders: folders["supported"] == true && notified,
            version: result["serverInfo"]["version"].as_str().map(str::to_owned),
            raw,
        }
    }

    /// Returns true if the server announced `method` at its start (it may still register it later).
    pub(crate) fn announces(&self, method: &str) -> bool {
        let Some(field) = provider_of(method) else { return false };
        !matches!(self.raw.pointer(field), None | Some(Value::Null | Value::Bool(false)))
    }

    /// Returns true if the server accepts notebooks of this type, on disk, with cells in this
    /// language (LSP 3.17, *NotebookDocumentSyncOptions*).
    pub(crate) fn takes_notebooks(&self, notebook_type: &str, language_id: &str) -> bool {
        let fits = |filter: &Value, word: &str| matches!(filter.as_str(), None | Some("*")) || filter == word;
        let selectors = self.raw["notebookDocumentSync"]["notebookSelector"].as_array();
        selectors.into_iter().flatten().any(|selector| {
            let (notebook, cells) = (&selector["notebook"], selector["cells"].as_array());
            let kind = if notebook.is_object() { &notebook["notebookType"] } else { notebook };
            selector.is_object()
                && fits(kind, notebook_type)
                && fits(&notebook["scheme"], "file")
                && cells.is_none_or(|cells| cells.iter().any(|cell| fits(&cell["language"], language_id)))
        })
    }

    /// The `identifier` of the announced `diagnosticProvider`.
    pub(crate) fn diagnostic_identifier(&self) -> Option<String> {
        self.raw["diagnosticProvider"]["identifier"].as_str().map(str::to_owned)
    }

    /// Returns true if the server wants a request that checks whether a place can be renamed (LSP
    /// 3.17, *RenameOptions*).
    pub(crate) fn prepares_rename(&self) -> bool {
        self.raw["renameProvider"]["prepareProvider"] == true
    }

    /// Returns true if code actions may come without their edit, which then needs a further request
    /// (LSP 3.17, *CodeActionOptions*).
    pub(crate) fn resolves_actions(&self) -> bool {
        self.raw["codeActionProvider"]["resolveProvider"] == true
    }

    /// Returns true if the server answers `resolve` (`completionItem/resolve`, `codeLens/resolve`,
    /// …; LSP 3.17, their *Options*).
    pub(crate) fn supports_resolve(&self, resolve: &str) -> bool {
        let provider = match resolve {
            "completionItem/resolve" => "completionProvider",
            "codeAction/resolve" => "codeActionProvider",
            "codeLens/resolve" => "codeLensProvider",
            "documentLink/resolve" => "documentLinkProvider",
            "inlayHint/resolve" => "inlayHintProvider",
            "workspaceSymbol/resolve" => "workspaceSymbolProvider",
            _ => return false,
        };
        self.raw[provider]["resolveProvider"] == true
    }

    /// Returns true if `character` is one that makes the server answer `method` (LSP 3.17,
    /// *CompletionOptions*, *SignatureHelpOptions*).
    pub(crate) fn is_trigger_character(&self, method: &str, character: &str) -> bool {
        let Some(options) = provider_of(method).and_then(|field| self.raw.pointer(field)) else {
            return false;
        };
        let lists = ["triggerCharacters", "retriggerCharacters"].map(|list| options[list].as_array());
        lists.into_iter().flatten().flatten().any(|known| known == character)
    }

    /// The legend of the numbers in its semantic tokens, if it announced one.
    pub(crate) fn semantic_legend(&self) -> Option<Value> {
        self.raw["semanticTokensProvider"].get("legend").cloned()
    }

    /// Returns true if the server wants to be notified of a file operation (`willRename`,
    /// `didRename`) on `path` (LSP 3.17, *FileOperationRegistrationOptions*).
    pub(crate) fn covers_file_operation(&self, operation: &str, path: &Path) -> bool {
        let filters = &self.raw["workspace"]["fileOperations"][operation]["filters"];
        filters.as_array().into_iter().flatten().any(|filter| {
            let scheme = filter["scheme"].as_str();
            let pattern = filter["pattern"]["glob"].as_str();
            scheme.is_none_or(|scheme| scheme == "file")
                && pattern.and_then(glob).is_some_and(|glob| glob.is_match(path))
        })
    }

    /// Returns true if the server offers `command` through `workspace/executeCommand`.
    pub(crate) fn supports_command(&self, command: &str) -> bool {
        let commands = &self.raw["executeCommandProvider"]["commands"];
        commands.as_array().is_some_and(|known| known.iter().any(|known| known == command))
    }
}

/// Returns the JSON pointer at which LSP 3.17 *ServerCapabilities* announces a request.
fn provider_of(method: &str) -> Option<&'static str> {
    Some(match method {
        "textDocument/hover" => "/hoverProvider",
        "textDocument/definition" => "/definitionProvider",
        "textDocument/declaration" => "/declarationProvider",
        "textDocument/typeDefinition" => "/typeDefinitionProvider",
        "textDocument/implementation" => "/implementationProvider",
        "textDocument/references" => "/referencesProvider",
        "textDocument/documentSymbol" => "/documentSymbolProvider",
        "textDocument/prepareCallHierarchy" => "/callHierarchyProvider",
        "textDocument/prepareTypeHierarchy" => "/typeHierarchyProvider",
        "textDocument/signatureHelp" => "/signatureHelpProvider",
        "textDocument/completion" => "/completionProvider",
        "textDocument/diagnostic" => "/diagnosticProvider",
        "textDocument/rename" => "/renameProvider",
        "textDocument/codeAction" => "/codeActionProvider",
        "textDocument/formatting" => "/documentFormattingProvider",
        "textDocument/rangeFormatting" => "/documentRangeFormattingProvider",
        "textDocument/prepareRename" => "/renameProvider/prepareProvider",
        "textDocument/documentHighlight" => "/documentHighlightProvider",
        "textDocument/foldingRange" => "/foldingRangeProvider",
        "textDocument/selectionRange" => "/selectionRangeProvider",
        "textDocument/linkedEditingRange" => "/linkedEditingRangeProvider",
        "textDocument/documentLink" => "/documentLinkProvider",
        "textDocument/codeLens" => "/codeLensProvider",
        "textDocument/inlayHint" => "/inlayHintProvider",
        "textDocument/semanticTokens" => "/semanticTokensProvider",
        "textDocument/semanticTokens/full" => "/semanticTokensProvider/full",
        "textDocument/semanticTokens/range" => "/semanticTokensProvider/range",
        "workspace/symbol" => "/workspaceSymbolProvider",
        "workspace/executeCommand" => "/executeCommandProvider",
        _ => return None,
    })
}

/// The capabilities that a server registered after its start (LSP 3.17, *Register Capability*).
#[derive(Debug, Default)]
pub(crate) struct Registrations {
    entries: Vec<CapabilityRegistration>,
}

#[derive(Debug)]
struct CapabilityRegistration {
    id: String,
    method: String,
    options: Value,
    watchers: Vec<WatchedFilesGlob>,
}

/// One glob of `workspace/didChangeWatchedFiles`.
#[derive(Debug)]
struct WatchedFilesGlob {
    /// The base of a relative pattern.
    base: Option<std::path::PathBuf>,
    glob: GlobSet,
    /// Bits of LSP 3.17 *WatchKind*: 1 create, 2 change, 4 delete.
    kinds: u64,
}

impl Registrations {
    /// Takes the params of `client/registerCapability`.
    pub(crate) fn register(&mut self, params: &Value) {
        for entry in params["registrations"].as_array().into_iter().flatten() {
            let (Some(id), Some(method)) = (entry["id"].as_str(), entry["method"].as_str()) else { continue };
            let options = entry["registerOptions"].clone();
            let watchers =
                options["watchers"].as_array().into_iter().flatten().filter_map(parse_watcher).collect();
            // Ids should be unique (LSP 3.17, Register Capability), and pyrefly uses one for
            // several sets of watchers: it wants all of them, until it unregisters the id.
            let entry =
                CapabilityRegistration { id: id.to_owned(), method: method.to_owned(), options, watchers };
            let is_known = |known: &CapabilityRegistration| {
                known.id == entry.id && known.method == entry.method && known.options == entry.options
            };
            if !self.entries.iter().any(is_known) {
                self.entries.push(entry);
            }
        }
    }

    /// Takes the params of `client/unregisterCapability` (the specification spells the member
    /// `unregisterations`).
    pub(crate) fn unregister(&mut self, params: &Value) {
        let lists = [&params["unregisterations"], &params["unregistrations"]];
        for entry in lists.into_iter().filter_map(Value::as_array).flatten() {
            self.entries.retain(|known| entry["id"] != known.id.as_str());
        }
    }

    /// Returns true if `method` is registered for documents of `language_id` at `path`.
    pub(crate) fn covers(&self, method: &str, language_id: &str, path: &Path) -> bool {
        self.all_options(method, language_id, path).next().is_some()
    }

    /// Returns the options with which `method` is registered for such a document.
    pub(crate) fn all_options(
        &self,
        method: &str,
        language_id: &str,
        path: &Path,
    ) -> impl Iterator<Item = &Value> {
        let fits = move |entry: &&CapabilityRegistration| {
            entry.method == method && selector_matches(&entry.options["documentSelector"], language_id, path)
        };
        self.entries.iter().filter(fits).map(|entry| &entry.options)
    }

    /// Returns true if `method` is registered for any document.
    pub(crate) fn has_method(&self, method: &str) -> bool {
        self.entries.iter().any(|entry| entry.method == method)
    }

    /// Returns true if the server wants to be notified of a change at `path`; `kind` is a bit of
    /// LSP 3.17 *WatchKind*.
    pub(crate) fn watches(&self, path: &Path, kind: u64) -> bool {
        let watchers = self.entries.iter().flat_map(|entry| &entry.watchers);
        watchers.into_iter().any(|watcher| {
            let relative = match &watcher.base {
                Some(base) => match path.strip_prefix(base) {
                    Ok(relative) => relative,
                    Err(_) => return false,
                },
                None => path,
            };
            watcher.kinds & kind != 0 && watcher.glob.is_match(relative)
        })
    }
}

/// Matches LSP 3.17 *DocumentSelector*; a missing one selects every document.
fn selector_matches(selector: &Value, language_id: &str, path: &Path) -> bool {
    let Some(filters) = selector.as_array() else { return true };
    filters.iter().any(|filter| {
        let language = filter.as_str().or(filter["language"].as_str());
        let scheme = filter["scheme"].as_str();
        let pattern = filter["pattern"].as_str();
        language.is_none_or(|wanted| wanted == language_id || wanted == "*")
            && scheme.is_none_or(|scheme| scheme == "file")
            && pattern.is_none_or(|pattern| glob(pattern).is_none_or(|glob| glob.is_match(path)))
    })
}

fn parse_watcher(entry: &Value) -> Option<WatchedFilesGlob> {
    let kinds = entry["kind"].as_u64().unwrap_or(7);
    let (base, pattern) = match &entry["globPattern"] {
        Value::String(pattern) => (None, pattern.as_str()),
        relative => {
            let uri = relative["baseUri"].as_str().or(relative["baseUri"]["uri"].as_str())?;
            (crate::lsp::uri::to_path(uri), relative["pattern"].as_str()?)
        }
    };
    // An absolute pattern matches whole paths; any other matches at any depth, as editors have it.
    let pattern = match base {
        None if !pattern.starts_with(['/', '*']) => format!("**/{pattern}"),
        _ => pattern.to_owned(),
    };
    Some(WatchedFilesGlob { base, glob: glob(&pattern)?, kinds })
}

/// Compiles LSP 3.17 *Pattern*: `*` stays inside a path segment, `**` does not.
fn glob(pattern: &str) -> Option<GlobSet> {
    let glob = read_glob(pattern, |builder| {
        builder.literal_separator(true);
    });
    match glob.and_then(|glob| build_glob_set([glob])) {
        Ok(glob) => Some(glob),
        Err(error) => {
            let pattern: String = pattern.chars().take(200).collect();
            tracing::warn!(pattern, "a server registered an invalid glob: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn registered(options: Value, method: &str) -> Registrations {
        let mut registrations = Registrations::default();
        registrations.register(
            &json!({ "registrations": [{ "id": "1", "method": method, "registerOptions": options }] }),
        );
        registrations
    }

    #[test]
    fn notebooks_are_taken_by_type_scheme_and_language_of_cells() {
        let takes = |selector: Value| {
            let raw =
                json!({ "capabilities": { "notebookDocumentSync": { "notebookSelector": [selector] } } });
            let spec = crate::config::Catalogue::built_in().servers["ty"].clone();
            ServerCapabilities::from_initialize(&raw, &spec).takes_notebooks("jupyter-notebook", "python")
        };
        let python = json!([{ "language": "python" }]);
        assert!(takes(json!({ "cells": python })));
        assert!(takes(json!({ "notebook": "*" })));
        let of_type = |kind: &str, scheme: &str| json!({ "notebookType": kind, "scheme": scheme });
        assert!(takes(json!({ "notebook": of_type("jupyter-notebook", "file"), "cells": python })));
        assert!(!takes(json!({ "notebook": of_type("jupyter-notebook", "untitled"), "cells": python })));
        assert!(!takes(json!({ "notebook": "interactive", "cells": python })));
        assert!(!takes(json!({ "cells": [{ "language": "r" }] })));
        assert!(!takes(json!(null)), "a selector names a notebook or cells");
    }

    #[test]
    fn file_watchers_match_glob_kind_and_base_uri() {
        let top = if cfg!(windows) { "C:/w" } else { "/w" };
        let base = Url::from_file_path(Path::new(top).join("sub")).unwrap();
        let watchers = json!({ "watchers": [
            { "globPattern": "**/*.{ts,tsx}" },
            { "globPattern": "package.json", "kind": 2 },
            { "globPattern": { "baseUri": base, "pattern": "*.toml" } }
        ] });
        let registrations = registered(watchers, "workspace/didChangeWatchedFiles");
        let watches = |path: &str, kind| registrations.watches(&Path::new(top).join(path), kind);
        assert!(watches("a/b.tsx", 1));
        assert!(!watches("a/b.rs", 7));
        assert!(watches("package.json", 2));
        assert!(!watches("package.json", 4));
        assert!(watches("sub/x.toml", 2));
        assert!(!watches("x.toml", 2));
        assert!(!watches("sub/deep/x.toml", 2));
    }

    #[test]
    fn registrations_with_same_id_are_kept_and_unregistered_together() {
        let watching = |pattern: &str| json!({ "watchers": [{ "globPattern": pattern }] });
        let method = "workspace/didChangeWatchedFiles";
        let mut registrations = registered(watching("**/*.py"), method);
        for pattern in ["**/*.so", "**/*.so"] {
            registrations.register(
                &json!({ "registrations": [{ "id": "1", "method": method, "registerOptions": watching(pattern) }] }),
            );
        }
        assert!(registrations.watches(Path::new("/w/a.py"), 2));
        assert!(registrations.watches(Path::new("/w/a.so"), 2));
        assert_eq!(registrations.entries.len(), 2);
        registrations.unregister(&json!({ "unregisterations": [{ "id": "1", "method": method }] }));
        assert!(!registrations.has_method(method));
    }

    #[test]
    fn dynamic_registration_obeys_document_selector_until_unregistered() {
        let selector =
            json!({ "documentSelector": [{ "language": "python", "scheme": "file" }], "identifier": "x" });
        let mut registrations = registered(selector, "textDocument/diagnostic");
        assert!(registrations.covers("textDocument/diagnostic", "python", Path::new("/a.py")));
        assert!(!registrations.covers("textDocument/diagnostic", "rust", Path::new("/a.rs")));
        registrations
            .unregister(&json!({ "unregisterations": [{ "id": "1", "method": "textDocument/diagnostic" }] }));
        assert!(!registrations.has_method("textDocument/diagnostic"));
    }
}
