//! The servers for a language: those that answer, those that are installed but unused, and the
//! setting to change.

use std::path::Path;

use tokio::time::Instant;

use crate::analysis::answer::{ServerState, ServerStatus};
use crate::analysis::context::{Context, LanguageFile};
use crate::config::spec::{Language, ServerQuestion};
use crate::lsp::servers::install_advice;
use crate::lsp::servers::manager::SessionUnavailable;
use crate::workspace::WorkspacePath;

/// The purpose of a request, in words that complete "the server cannot …".
fn request_purpose(method: &str) -> &'static str {
    match method {
        "textDocument/hover" => "describe a position",
        "textDocument/definition" => "find definitions",
        "textDocument/declaration" => "find declarations",
        "textDocument/typeDefinition" => "find the definitions of types",
        "textDocument/implementation" => "find implementations",
        "textDocument/references" => "find references",
        "textDocument/documentSymbol" => "list the symbols of a file",
        "workspace/symbol" => "search the workspace for symbols",
        "textDocument/prepareCallHierarchy" => "list callers and callees",
        "textDocument/prepareTypeHierarchy" => "list supertypes and subtypes",
        "textDocument/signatureHelp" => "show signatures",
        "textDocument/completion" => "complete",
        "textDocument/rename" => "rename",
        "textDocument/codeAction" => "offer code actions of every kind",
        "textDocument/formatting" => "format files",
        "textDocument/rangeFormatting" => "format parts of files",
        "workspace/willRenameFiles" => "update imports of files that move",
        _ => "answer that",
    }
}

fn server_question(method: &str) -> Option<ServerQuestion> {
    Some(match method {
        "textDocument/declaration" => ServerQuestion::Declaration,
        "textDocument/typeDefinition" => ServerQuestion::TypeDefinition,
        "textDocument/implementation" => ServerQuestion::Implementation,
        "textDocument/prepareCallHierarchy" => ServerQuestion::Calls,
        "textDocument/prepareTypeHierarchy" => ServerQuestion::Types,
        "workspace/willRenameFiles" => ServerQuestion::Moves,
        "textDocument/codeAction" => ServerQuestion::Actions,
        _ => return None,
    })
}

/// The use of a server after its installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InstalledServerUse {
    /// The server runs for these languages.
    Running(Vec<String>),
    /// The server does not run: the reason, and the way to change that.
    Resting(String),
}

impl Context {
    /// Returns true if `server` answers `method` only for the project of the file.
    pub(crate) fn answers_of_project(&self, server: &str, method: &str) -> bool {
        let spec = self.catalogue().servers.get(server);
        spec.zip(server_question(method))
            .is_some_and(|(spec, question)| spec.answers_of_project.contains(&question))
    }

    /// The status of a server that does not offer `method`.
    pub(crate) fn unsupported_status(
        &self,
        server: &str,
        subject: &LanguageFile,
        method: &str,
        started: Instant,
    ) -> ServerStatus {
        let mut status = self.status(server, subject, ServerState::Unsupported, started);
        status.detail = Some(self.unsupported_sentence(server, subject, method));
        status
    }

    /// A sentence such as "pylsp cannot list callers and callees; pyright can: lsp-tools install
    /// pyright".
    pub(crate) fn unsupported_sentence(&self, server: &str, subject: &LanguageFile, method: &str) -> String {
        let sentence = format!("{server} cannot {}", request_purpose(method));
        let Some(other) = self.alternative_server(server, subject, method) else { return sentence };
        let language = subject.language.as_deref().unwrap_or_default();
        let located = self.manager.locate(other, &subject.path);
        let setting = || self.preference_setting(language, other);
        let way = match located {
            Ok(_) => setting(),
            Err(_) => {
                let command = install_advice::our_command(self.catalogue().install_name(other, None));
                let will_lead =
                    self.language(language).is_some_and(|language| language.prefers(other, server));
                if will_lead { command } else { format!("{command}, then: {}", setting()) }
            }
        };
        format!("{sentence}; {other} can: {way}")
    }

    /// An installed server of the language that supports `method`, which `server` does not, and a
    /// note on that.
    pub(crate) fn substitute_server(
        &self,
        server: &str,
        subject: &LanguageFile,
        method: &str,
    ) -> Option<(&str, String)> {
        let other = self.alternative_server(server, subject, method)?;
        self.manager.locate(other, &subject.path).ok()?;
        Some((other, format!("{server} cannot {}; {other} answers", request_purpose(method))))
    }

    /// Another server of the language that supports `method`: an installed one first, else the
    /// best.
    fn alternative_server(&self, server: &str, subject: &LanguageFile, method: &str) -> Option<&str> {
        let question = server_question(method)?;
        let language = self.language(subject.language.as_deref()?)?;
        let able = language.alternatives.iter().map(String::as_str).filter(|key| {
            let spec = self.catalogue().servers.get(*key);
            *key != server && spec.is_some_and(|spec| !spec.disabled && spec.answers.contains(&question))
        });
        able.min_by_key(|key| self.manager.locate(key, &subject.path).is_err())
    }

    /// Notes on the servers of `language`: limitations of the primary server, and installed servers
    /// that do not run.
    pub(crate) fn server_notes(&self, subject: &LanguageFile) -> Vec<String> {
        let Some(key) = subject.language.as_deref() else { return Vec::new() };
        let Some(language) = self.language(key) else { return Vec::new() };
        let unused = language.alternatives.iter().map(String::as_str).filter(|server| {
            !language.active_servers().iter().any(|running| running == server)
                && self.can_run(server, &subject.path)
        });
        let unused: Vec<&str> = unused.collect();
        let mut notes: Vec<String> = self.more_findings_note(key, &subject.path).into_iter().collect();
        if let Some(first) = unused.first() {
            let setting = self.preference_setting(key, first);
            notes.push(format!(
                "installed, but not used for {key}: {}; to use one: {setting}",
                unused.join(", ")
            ));
        }
        notes
    }

    /// A note such as "pylsp finds …, no type errors; for more: lsp-tools install python", unless
    /// settings name the server.
    fn more_findings_note(&self, key: &str, path: &WorkspacePath) -> Option<String> {
        let language = self.language(key).filter(|language| !language.fixed)?;
        let leading =
            language.active_servers().first().filter(|key| self.manager.locate(key, path).is_ok())?;
        let finds = self.catalogue().servers.get(leading)?.for_more.as_ref()?;
        let is_missing = |key: &String| self.manager.locate(key, path).is_err();
        let more = language.install.iter().any(is_missing).then(|| install_advice::our_command(key))?;
        Some(format!("{leading} finds {finds}; for more: {more}"))
    }

    /// The use of the installed `server`: the languages for which it runs with the programs that
    /// are installed now.
    pub(crate) fn installed_server_use(&self, server: &str) -> Option<InstalledServerUse> {
        let chosen = self.manager.chosen_servers();
        let spoken = &self.catalogue().servers.get(server)?.languages;
        let running = |language: &str| -> Option<Vec<String>> {
            let spec = self.language(language)?;
            let all =
                |choices: &Vec<(_, Vec<String>)>| choices.iter().flat_map(|(_, keys)| keys.clone()).collect();
            Some(chosen.languages.get(language).map_or_else(|| spec.servers.clone(), all))
        };
        let runs = |language: &&String| {
            running(language).is_some_and(|servers| servers.iter().any(|running| running == server))
        };
        let used: Vec<String> = spoken.iter().filter(runs).cloned().collect();
        if !used.is_empty() {
            return Some(InstalledServerUse::Running(used));
        }
        let language = spoken.first()?;
        let leading = running(language)?.first().cloned()?;
        let spec = self.catalogue().servers.get(server)?;
        if spec.joins_where_marked() {
            let markers = spec.named_root_markers();
            return Some(InstalledServerUse::Resting(format!("used in folders with {markers}")));
        }
        let setting = self.preference_setting(language, server);
        Some(InstalledServerUse::Resting(format!(
            "not used: {leading} answers for {language}; to use {server}: {setting}"
        )))
    }

    /// A note that another program than the `installed` one is used for `server`, and the setting
    /// that changes that.
    pub(crate) fn preceding_program_note(
        &self,
        server: &str,
        installed: Option<&str>,
        languages: &str,
    ) -> Option<String> {
        let installed = installed?;
        let found = self.manager.locate(server, &WorkspacePath::root()).ok()?;
        if found.program == Path::new(installed) {
            return None;
        }
        let arguments = self.catalogue().servers.get(server)?.command.iter().skip(1).map(String::as_str);
        let command: Vec<String> =
            [installed].into_iter().chain(arguments).map(|word| format!("{word:?}")).collect();
        Some(format!(
            "not used: {} ({}) comes before it and answers for {languages}; to use the installed one: server.{server}.command = [{}] in {}",
            found.program.display(),
            found.origin,
            command.join(", "),
            self.folders.servers_file().display()
        ))
    }

    /// A note on limitations of `server` after its installation.
    pub(crate) fn advice_after(&self, server: &str) -> Option<String> {
        let spec = self.catalogue().servers.get(server)?;
        let key = spec.languages.first()?;
        let leads = self.language(key)?.active_servers().first().is_some_and(|leading| leading == server);
        leads.then(|| self.more_findings_note(key, &WorkspacePath::root())).flatten()
    }

    /// The setting that makes `server` the primary one for `language`, and the file for it.
    fn preference_setting(&self, language: &str, server: &str) -> String {
        let catalogue = self.catalogue();
        let navigates = |key: &str| catalogue.servers.get(key).is_some_and(|spec| spec.features.navigation);
        let running = self.language(language).map(Language::active_servers).unwrap_or_default();
        // Linters beside the primary server stay.
        let mut servers: Vec<&str> = running.iter().map(String::as_str).collect();
        servers.retain(|key| *key != server && navigates(key) != navigates(server));
        let at = if navigates(server) { 0 } else { servers.len() };
        servers.insert(at, server);
        let servers: Vec<String> = servers.iter().map(|key| format!("\"{key}\"")).collect();
        let file = self.folders.settings_file();
        format!("prefer.{language} = [{}] in {}", servers.join(", "), file.display())
    }

    fn language(&self, key: &str) -> Option<&Language> {
        self.catalogue().languages.get(key)
    }

    fn can_run(&self, server: &str, path: &WorkspacePath) -> bool {
        let spec = self.catalogue().servers.get(server);
        let may = spec.is_some_and(|spec| !spec.disabled && !spec.joins_where_marked());
        may && !matches!(self.manager.locate(server, path), Err(SessionUnavailable::Missing { .. }))
    }
}
