//! The types of the catalogue: one language, one server, and its recipes. See `servers.toml` for the words in use.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::layer::merge;
use super::marker::ConfigMarker;
use crate::text::Encoding;
use crate::workspace::{Workspace, WorkspacePath};

/// One language: how its files are known and which servers speak for it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Language {
    /// The name people use ("C#").
    pub name: String,
    /// File name extensions without the dot, compared without case.
    #[serde(default)]
    pub(crate) extensions: Vec<String>,
    /// Whole file names ("Makefile", ".bashrc"); one that ends in `.*` stands for any extension
    /// ("Dockerfile.*"), and `.*.` in one for any word between dots ("tsconfig.*.json").
    #[serde(default)]
    pub(crate) filenames: Vec<String>,
    /// Interpreters named by a first line that starts with `#!` ("python3").
    #[serde(default)]
    pub(crate) shebangs: Vec<String>,
    /// LSP `languageId` (3.17, *TextDocumentItem*); the language's key where absent.
    pub(crate) language_id: Option<String>,
    /// Extensions whose `languageId` differs (`tsx = "typescriptreact"`).
    #[serde(default)]
    pub(crate) language_ids: BTreeMap<String, String>,
    /// Keys of the servers used by default, the first one navigates.
    #[serde(default)]
    pub(crate) servers: Vec<String>,
    /// Keys of the servers that take the place of those where they are installed, the best first; those that do not navigate
    /// join the one that does.
    #[serde(default)]
    pub(crate) alternatives: Vec<String>,
    /// Settings name the servers, so what is installed has no say.
    #[serde(skip)]
    pub(crate) fixed: bool,
    /// The servers that run instead of `servers`, by what is installed.
    #[serde(skip)]
    pub(crate) chosen: Option<Vec<String>>,
}

impl Language {
    /// What files of the language end in: its extensions, and "" where scripts without any may be of it.
    pub(crate) fn endings(&self) -> impl Iterator<Item = &str> {
        let bare = (!self.shebangs.is_empty()).then_some("");
        self.extensions.iter().map(String::as_str).chain(bare)
    }

    /// Keys of the servers that run, the first one navigates.
    pub(crate) fn active_servers(&self) -> &[String] {
        self.chosen.as_deref().unwrap_or(&self.servers)
    }
}

/// One language server: how it is found, started, installed, and what is known of its behaviour.
///
/// `command`, `env`, `settings` and `initialization_options` may hold placeholders; [`ServerSpec::expand`] fills them in.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServerSpec {
    /// The name people use.
    pub name: String,
    /// Where its documentation is.
    #[serde(default)]
    pub homepage: Option<String>,
    /// Keys of the languages it speaks; none where a `door` starts it.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The command of ours that starts it ("copilot"): it is asked for no file.
    pub door: Option<String>,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Environment variables added for the server's process.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// File or folder names that mark a project's root; the nearest folder above a file that has one is the root.
    /// One that begins with `*` stands for any name with that ending ("*.sln").
    #[serde(default)]
    pub root_markers: Vec<String>,
    /// Do not start without a root marker (a Deno server in a Node project).
    #[serde(default)]
    pub root_required: bool,
    /// Use the topmost marked folder instead of the nearest (Cargo workspaces, Gradle builds).
    #[serde(default)]
    pub root_topmost: bool,
    /// What marks a project of projects that one process serves whole: the nearest folder that has one is the root, before any
    /// of the markers is looked for.
    #[serde(default)]
    pub root_workspaces: Vec<ConfigMarker>,
    /// The list of folders in it that do not belong to it: they are projects of their own.
    pub root_excludes: Option<ConfigMarker>,
    /// The list of the folders that belong to it, as globs.
    pub root_members: Option<ConfigMarker>,
    /// The topmost of those folders is the root, not the nearest.
    #[serde(default)]
    pub root_workspaces_topmost: bool,
    /// What shows that a project wants this server.
    #[serde(default)]
    pub configured_by: Vec<ConfigMarker>,
    /// All that it reads of a project to learn how to look at it; not known where there is nothing.
    #[serde(default)]
    pub project_settings: Vec<ConfigMarker>,
    /// What it is asked for.
    #[serde(default)]
    pub features: ServerFeatures,
    /// Of the questions that many servers do not know, those that it answers, in the words of [`ServerQuestion`].
    #[serde(default)]
    pub answers: Vec<ServerQuestion>,
    /// Those that it answers from the project of the file alone, where its root has several.
    #[serde(default)]
    pub answers_of_project: Vec<ServerQuestion>,
    /// A type may implement an interface of another root without naming it; what joins roots into one.
    pub implements_unnamed: Option<String>,
    /// What its diagnostics say nothing of.
    #[serde(default)]
    pub unchecked: Vec<UncheckedAspect>,
    /// What people should know who have only this server, and what to install beside or instead.
    pub for_more: Option<ForMore>,
    /// How it can be installed.
    #[serde(default)]
    pub install: InstallSpec,
    /// Answer to `workspace/configuration`, by section, and the content of `workspace/didChangeConfiguration`.
    #[serde(default)]
    pub settings: toml::Table,
    /// What a project may lack for its answers to be whole.
    #[serde(default)]
    pub set_up: Vec<SetUp>,
    /// What the project's builds leave that tells it how files are compiled.
    pub build_file: Option<BuildFile>,
    /// Names of folders, in the root and above it, into which packages are installed: it is started again when others are there.
    #[serde(default)]
    pub packages_in: Vec<String>,
    /// What it reads only when it starts: it is started again when one of these is another.
    #[serde(default)]
    pub restarts_with: Vec<ConfigMarker>,
    /// Settings that hold below those while the root has no sign of a configuration of their own.
    #[serde(default)]
    pub settings_unless: Vec<SettingsUnless>,
    /// It asks for its settings (`workspace/configuration`) right after its start; what is told to it besides makes it begin anew.
    #[serde(default)]
    pub asks_for_settings: bool,
    /// `initializationOptions` of the `initialize` request.
    #[serde(default)]
    pub initialization_options: toml::Table,
    /// What it counts columns in, whatever it announces.
    pub position_encoding: Option<Encoding>,
    /// How it must be told of changes.
    #[serde(default)]
    pub sync: SyncRule,
    /// When its diagnostics are those of the text it has now.
    #[serde(default)]
    pub diagnostics: DiagnosticsRule,
    /// When its answers across files are whole.
    #[serde(default)]
    pub readiness: ReadinessRule,
    /// What it takes for it to see other files as they are on disk.
    #[serde(default)]
    pub reload: ReloadRule,
    /// How it moves a symbol to another file, where it can.
    pub move_symbol: Option<MoveSymbolRule>,
    /// What must be there beside the server for it to be of full use.
    #[serde(default)]
    pub hollow: Vec<ServerPrerequisite>,
    /// Known faults, in sentences.
    #[serde(default)]
    pub faults: Vec<String>,
    /// Seconds `initialize` may take.
    pub start_timeout: Option<u64>,
    /// Give a Python project's virtual environment to the server (`VIRTUAL_ENV`, PATH and `python-path-setting`).
    #[serde(default)]
    pub python_environment: bool,
    /// Dotted settings key that takes the path of the project's Python interpreter ("python.pythonPath").
    pub python_path_setting: Option<String>,
    /// Dotted key of its initialization options that takes the same ("workspace.environmentPath").
    pub python_path_option: Option<String>,
    /// How it is given an environment of which nothing may be run; not at all where this is absent.
    pub python_unrun: Option<PythonUnrun>,
    /// Not told which interpreter to run, it runs one of the project.
    #[serde(default)]
    pub python_finds_own: bool,
    /// It takes the first `python3` on PATH for the one of the project.
    #[serde(default)]
    pub python_on_path: bool,
    /// Whether the project owner's trust is needed before it may start, because starting it runs the project's code.
    #[serde(default)]
    pub runs_project_code: bool,
    /// How it is started where there is no such trust; it is not started at all where this is absent.
    pub untrusted: Option<UntrustedLaunch>,
    /// What a program of the command's name on PATH may be instead of the server itself.
    pub proxy: Option<ToolchainProxy>,
    /// Do not use this server unless a setting names it.
    #[serde(default)]
    pub disabled: bool,
}

/// How a server is given a Python environment of which nothing may be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PythonUnrun {
    /// By an interpreter of ours that says what the environment's would say, and imports nothing from it.
    StandIn,
    /// By `VIRTUAL_ENV`: it reads the environment, and runs nothing of it.
    Variable,
}

/// What a server is asked for when several share a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ServerFeatures {
    /// Hover, definition, references, symbols, hierarchies, signatures, completion, rename.
    pub(crate) navigation: bool,
    /// Diagnostics.
    pub(crate) diagnostics: bool,
    /// Formatting.
    pub(crate) format: bool,
    /// Code actions.
    pub(crate) actions: bool,
}

impl Default for ServerFeatures {
    fn default() -> Self {
        Self { navigation: true, diagnostics: true, format: true, actions: true }
    }
}

/// A question that many servers do not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerQuestion {
    /// The callers and the callees of a function.
    Calls,
    /// What it derives from, what derives from it.
    Types,
    /// What implements it.
    Implementation,
    /// Where it is declared.
    Declaration,
    /// Where its type is defined.
    TypeDefinition,
}

/// What the diagnostics of a server may say nothing of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UncheckedAspect {
    /// Whether imports lead to something.
    Imports,
    /// Whether types, arguments and members fit.
    Types,
}

impl UncheckedAspect {
    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Imports => "imports",
            Self::Types => "types",
        }
    }
}

/// What a server that is only the first at hand lacks.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ForMore {
    /// What it finds and does not find ("undefined names, but no type errors").
    pub(crate) finds: String,
    /// Keys of the servers to install for more.
    pub(crate) servers: Vec<String>,
}

/// Settings that hold unless the project has its own.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SettingsUnless {
    /// The signs of the project's own.
    pub(crate) configured_by: Vec<ConfigMarker>,
    /// The settings.
    pub(crate) settings: toml::Table,
}

/// What a project's builds leave that tells a server how files are compiled, and where they put it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BuildFile {
    /// Its name.
    pub(crate) name: String,
    /// The folders, relative to the root, in which the server looks by itself.
    pub(crate) itself: Vec<String>,
    /// Files in the root that say it as well, where builds put none.
    #[serde(default)]
    pub(crate) instead: Vec<String>,
    /// Where builds put it, relative to the root, in this order; a `*` stands for any part of one name.
    pub(crate) folders: Vec<String>,
    /// Files of CMake's presets, which name more folders.
    #[serde(default)]
    pub(crate) presets: Vec<String>,
    /// Dotted key of the initialization options that takes its folder.
    pub(crate) option: String,
}

/// Something that a project of a kind needs and may not have yet.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SetUp {
    /// The signs of such a project.
    #[serde(rename = "where")]
    pub(crate) of: Vec<ConfigMarker>,
    /// The signs that it is there, in the root or a folder above it.
    pub(crate) unless: Vec<ConfigMarker>,
    /// Where there are any, one of these signs must be there as well, in the root or a folder above it.
    #[serde(default)]
    pub(crate) with: Vec<ConfigMarker>,
    /// What is lost without it, and the command that makes it.
    pub(crate) message: String,
    /// A Python environment is another sign that it is there.
    #[serde(default)]
    pub(crate) environment: bool,
    /// Without it diagnostics may fall short of what there is.
    #[serde(default)]
    pub(crate) lowers: bool,
    /// The server's build file is another sign that it is there.
    #[serde(default)]
    pub(crate) build_file: bool,
}

impl SetUp {
    /// Whether the project at `root` needs it and does not have it.
    pub(crate) fn is_lacking(&self, workspace: &Workspace, root: &WorkspacePath) -> bool {
        let above = |signs: &[ConfigMarker]| {
            let mut folders = std::iter::successors(Some(root.clone()), WorkspacePath::parent);
            folders.any(|folder| signs.iter().any(|sign| sign.is_in(workspace, &folder)))
        };
        let is_wanted = self.of.iter().any(|sign| sign.is_in(workspace, root));
        is_wanted && (self.with.is_empty() || above(&self.with)) && !above(&self.unless)
    }
}

impl ServerSpec {
    /// Whether it is not started before its project is trusted.
    pub fn waits_for_trust(&self) -> bool {
        self.runs_project_code && self.untrusted.is_none()
    }

    /// What the project at `root` needs for its answers and does not have.
    pub(crate) fn missing_set_up<'a>(
        &'a self,
        workspace: &'a Workspace,
        root: &'a WorkspacePath,
    ) -> impl Iterator<Item = &'a SetUp> {
        let is_built =
            || self.build_file.as_ref().is_some_and(|rule| rule.search(workspace, root).file.is_some());
        let lacking = self.set_up.iter().filter(|needed| needed.is_lacking(workspace, root));
        lacking.filter(move |needed| !(needed.build_file && is_built()))
    }

    /// Its table for `root`, the settings that depend on the root's files decided.
    pub(crate) fn resolve_for_root(&self, workspace: &Workspace, root: &WorkspacePath) -> Self {
        let mut settings = toml::Table::new();
        for unless in &self.settings_unless {
            if !unless.configured_by.iter().any(|sign| sign.is_in(workspace, root)) {
                merge(&mut settings, unless.settings.clone());
            }
        }
        merge(&mut settings, self.settings.clone());
        Self { settings, ..self.clone() }
    }
}

/// How a server can be installed: packages by package manager, and what else is tried where they cannot be had.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InstallSpec {
    /// Components of the user's Rust toolchain (`rust-analyzer`).
    #[serde(default)]
    pub(crate) rustup: Vec<String>,
    /// Packages from PyPI, pinned (`python-lsp-server[all]==1.15.0`), into a virtual environment of their own.
    #[serde(default)]
    pub pip: Vec<String>,
    /// Of what is fetched from PyPI, what may be built from source, and why.
    #[serde(default)]
    pub(crate) pip_source: BTreeMap<String, String>,
    /// Packages from npm, pinned (`pyright@1.1.400`), under a prefix of their own.
    #[serde(default)]
    pub npm: Vec<String>,
    /// Crates, pinned (`taplo-cli@0.9.3`), under a root of their own.
    #[serde(default)]
    pub cargo: Vec<String>,
    /// Features for `cargo install`.
    #[serde(default)]
    pub(crate) cargo_features: Vec<String>,
    /// Go modules, pinned (`golang.org/x/tools/gopls@v0.24.0`).
    #[serde(default)]
    pub(crate) go: Vec<String>,
    /// Ruby gems, pinned (`ruby-lsp:0.26.0`).
    #[serde(default)]
    pub(crate) gem: Vec<String>,
    /// .NET tools, pinned (`csharp-ls@0.19.0`).
    #[serde(default)]
    pub(crate) dotnet: Vec<String>,
    /// Debian's packages, with the suite (`gopls/sid`), unpacked under a root of their own.
    #[serde(default)]
    pub(crate) deb: Vec<String>,
    /// What is tried next, in this order, where the packages above cannot be had.
    #[serde(default)]
    pub(crate) or: Vec<Recipe>,
    /// A program that the server, or its build, needs beside itself.
    pub(crate) needs: Option<RequiredProgram>,
    /// The command that advice shows, where it is not derived from the recipes above.
    pub advice: Option<String>,
    /// What to tell who must install by hand (system packages, downloads).
    pub manual: Option<String>,
}

/// The packages of one way to install a server, in the words of [`InstallSpec`]. What is installed is remembered as such.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Recipe {
    /// Components of the user's Rust toolchain.
    pub(crate) rustup: Vec<String>,
    /// From PyPI.
    pub(crate) pip: Vec<String>,
    /// What of it may be built from source, and why.
    pub(crate) pip_source: BTreeMap<String, String>,
    /// From npm.
    pub(crate) npm: Vec<String>,
    /// Crates.
    pub(crate) cargo: Vec<String>,
    /// Features for `cargo install`.
    pub(crate) cargo_features: Vec<String>,
    /// Go modules.
    pub(crate) go: Vec<String>,
    /// Ruby gems.
    pub(crate) gem: Vec<String>,
    /// .NET tools.
    pub(crate) dotnet: Vec<String>,
    /// Debian's packages.
    pub(crate) deb: Vec<String>,
}

impl Recipe {
    /// Every package, as the catalogue names it.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &String> {
        let Self { rustup, pip, pip_source: _, npm, cargo, cargo_features: _, go, gem, dotnet, deb } = self;
        [rustup, pip, npm, cargo, go, gem, dotnet, deb].into_iter().flatten()
    }

    /// Whether there is nothing to install.
    pub(crate) fn is_empty(&self) -> bool {
        self.packages().next().is_none()
    }
}

impl InstallSpec {
    /// Whether `lsp-tools install` can do it.
    pub fn has_recipe(&self) -> bool {
        !self.recipes().is_empty()
    }

    /// Every way to install the server, in the order in which they are tried; none where it is installed by hand.
    pub fn recipes(&self) -> Vec<Recipe> {
        let first = Recipe {
            rustup: self.rustup.clone(),
            pip: self.pip.clone(),
            pip_source: self.pip_source.clone(),
            npm: self.npm.clone(),
            cargo: self.cargo.clone(),
            cargo_features: self.cargo_features.clone(),
            go: self.go.clone(),
            gem: self.gem.clone(),
            dotnet: self.dotnet.clone(),
            deb: self.deb.clone(),
        };
        [first].into_iter().chain(self.or.iter().cloned()).filter(|recipe| !recipe.is_empty()).collect()
    }
}

/// A program that is brought with a server unless PATH has one that is new enough.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct RequiredProgram {
    /// Its name ("go").
    pub(crate) program: String,
    /// The arguments with which it says its version.
    pub(crate) version: Vec<String>,
    /// The least version that will do ("1.21").
    pub(crate) at_least: String,
    /// The packages from PyPI, pinned, that bring it.
    pub(crate) pip: Vec<String>,
}

/// How a server is started in a project that is not trusted, where its ordinary start would run code of the project.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct UntrustedLaunch {
    /// Arguments after those of the command.
    pub(crate) args: Vec<String>,
    /// It is started outside of the project, in the system's root folder, and not in its root.
    pub(crate) apart: bool,
    /// Node.js, in it and in what it starts, loads no code that lies in the workspace.
    pub(crate) node_guard: bool,
    /// Requests of LSP that it is not sent, since its answers would come from code of the project.
    pub(crate) unasked: Vec<String>,
    /// Environment variables, laid over those of the server.
    pub(crate) env: BTreeMap<String, String>,
    /// Environment variables whose value is the first word that a program, with arguments, says in the root. Where there is no
    /// such program they are not set; where it fails the server is not started.
    pub(crate) env_from: BTreeMap<String, Vec<String>>,
    /// Settings, laid over those of the server.
    pub(crate) settings: toml::Table,
    /// `initializationOptions`, laid over those of the server.
    pub(crate) initialization_options: toml::Table,
    /// Files with which it is not started even so, since they have it run code of the project all the same.
    pub refused_with: Vec<FileSign>,
    /// Where what it finds may fall short of what it would find in a trusted project.
    pub(crate) shortfall: Option<ShortfallRule>,
}

/// A program that stands on PATH under the names of others and runs the one behind it, where that is installed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ToolchainProxy {
    /// Its own name ("rustup").
    pub(crate) program: String,
    /// The variable that names its folder ("RUSTUP_HOME").
    pub(crate) variable: String,
    /// Its folder below the home folder, where the variable is not set (".rustup").
    pub(crate) folder: String,
    /// Where the programs behind it are, relative to its folder; a `*` stands for any name ("toolchains/*/bin").
    pub(crate) behind: String,
}

/// A file of a project that says something. Without `keys` and `matches` its being there is enough.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FileSign {
    /// Relative to a folder in which the server looks for it; one that begins with `*` stands for any name with that ending, whatever
    /// such files say.
    pub file: String,
    /// Dotted keys of TOML, `*` for any key, one of which it must have.
    #[serde(default)]
    pub(crate) keys: Vec<String>,
    /// What its text must have, where it is no TOML.
    pub(crate) matches: Option<RegexPattern>,
}

/// What an untrusted start costs, and in which projects.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ShortfallRule {
    /// What was left undone, as a sentence without its full stop.
    pub(crate) reason: String,
    /// What its diagnostics lack in every project, as such a sentence; absent where they lack nothing more.
    pub(crate) diagnostics: Option<String>,
    /// A program, with arguments, that is run in the root as the server is; a failure counts as a sign. None where it is absent.
    #[serde(default)]
    pub(crate) command: Vec<String>,
    /// It matters where the program's output has one of these texts.
    #[serde(default)]
    pub(crate) signs: Vec<String>,
    /// It matters where one of these files is there.
    #[serde(default)]
    pub(crate) files: Vec<FileSign>,
    /// Names of files that decide it: it is looked at anew when one of that name changes, wherever.
    #[serde(default)]
    pub(crate) depends_on: Vec<String>,
}

/// How a server must be told of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SyncRule {
    /// As it announced.
    #[default]
    Announced,
    /// The whole text whenever the text has characters outside the Basic Multilingual Plane, as announced otherwise.
    FullIfAstral,
    /// Always the whole text.
    Full,
}

/// How a server's diagnostics for exactly our text are known.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DiagnosticsRule {
    /// The way to use.
    pub(crate) source: DiagnosticsSource,
    /// Milliseconds of silence after which unversioned pushes are taken as settled, where nothing better is known.
    pub(crate) quiet_ms: Option<u64>,
    /// The first push after opening is an empty list that says nothing.
    pub(crate) first_empty_is_noise: bool,
    /// How many pushes each version gets; those before the last speak of an older text (0 stands for 1).
    pub(crate) pushes_per_version: u64,
    /// It checks only what was saved: a `didSave` follows each change of the file on disk.
    pub(crate) on_save: bool,
    /// A notification that says "done with this document" (clangd's file status).
    pub(crate) idle: Option<IdleSign>,
    /// Milliseconds to wait for the first diagnostics of a document, beyond the usual deadline (slow linters).
    pub(crate) timeout_ms: Option<u64>,
    /// It publishes nothing when nothing changed: after a change that leaves its findings as they are, silence means
    /// that the last push still holds once a barrier request was answered and `quiet-ms` have passed.
    pub(crate) silent_when_same: bool,
    /// It checks only the document that changed last, so documents are given to it one after the other.
    pub(crate) one_at_a_time: bool,
    /// What it gives as hints are findings, as its command line shows them.
    pub(crate) hints_are_findings: bool,
    /// Members added to the `didChange` that makes it check a text again which is the same, after another file changed
    /// (clangd's `forceRebuild`); it then pushes for that version in any case.
    pub(crate) recheck: toml::Table,
    /// A checker of the whole project that it runs beside what it answers to pulls (rust-analyzer's `cargo check`); it pushes what that
    /// finds.
    pub(crate) background_check: Option<BackgroundCheckRule>,
    /// What it finds in a file follows unsaved text of others.
    pub(crate) sees_unsaved: bool,
    /// Findings by which it says that there may be more.
    pub(crate) falls_short: Vec<FallsShort>,
    /// Checkers (a diagnostic's `source`) whose start columns count bytes of UTF-8, whatever the server counts.
    pub(crate) byte_columns: Vec<String>,
    /// Codes of findings that follow from which files there are and from the text they are in, and from no other text.
    pub(crate) about_files: Vec<String>,
}

/// A checker that a server runs in the background, over the project as it is on disk.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct BackgroundCheckRule {
    /// What people call it.
    pub(crate) name: String,
    /// The notification that starts it over the whole project.
    pub(crate) start: String,
    /// What the tokens of its work-done progress begin with: a run is over when its progress has ended.
    pub(crate) progress_token: String,
    /// The dotted key of a setting that turns it off where it is `false`.
    pub(crate) off_by: Option<String>,
}

/// A finding by which a server says that it has not looked at everything.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct FallsShort {
    /// Its code.
    pub(crate) code: Option<String>,
    /// What its message reads like.
    pub(crate) matches: Option<RegexPattern>,
    /// It counts only where the project has no build file.
    #[serde(default)]
    pub(crate) without_build_file: bool,
    /// What may be missing, as a sentence without its full stop.
    pub(crate) reason: String,
}

/// Where fresh diagnostics come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DiagnosticsSource {
    /// Not measured: pull where offered, else pushes, versioned where they are.
    #[default]
    Auto,
    /// `textDocument/diagnostic` (3.17), also when it is registered late.
    Pull,
    /// Pushes that carry the document's version.
    VersionedPush,
    /// Pushes without version.
    Push,
    /// Asked through `workspace/executeCommand typescript.tsserverRequest`, whose answer is for the text it has.
    Tsserver,
    /// It gives none.
    None,
}

/// A notification that tells that a server is done with a document.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct IdleSign {
    /// The notification's method; its params name the document in `uri`.
    pub(crate) method: String,
    /// The member that tells the state.
    pub(crate) field: String,
    /// The member's value (or the start of it) that means "done".
    pub(crate) value: String,
    /// The start of what it says at least once while it works on a new text: until then "done" is about an older one.
    #[serde(default)]
    pub(crate) work: Option<String>,
}

/// What it takes for a server to see other files as they are on disk, once they came, went or changed while it had them not open.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ReloadRule {
    /// It holds for changes of files with these names; for all that concern the server, where there are none.
    pub(crate) files: Vec<String>,
    /// A request that makes it look at the disk. It is put before the next question.
    pub(crate) method: Option<String>,
    /// The params of that request.
    pub(crate) params: toml::Table,
    /// A document is sent to it again, with the same text, and what it pushes for it is waited for, before it is asked about it.
    pub(crate) touch: bool,
    /// It never sees them, and is started anew.
    pub(crate) restart: bool,
    /// Milliseconds in which its answers may still be about the files as they were.
    pub(crate) settle_ms: Option<u64>,
}

impl ReloadRule {
    /// How long its answers may be about the files as they were.
    pub(crate) fn settle(&self) -> Option<Duration> {
        self.settle_ms.map(Duration::from_millis)
    }
}

/// How a server moves a symbol to a file that the client names, which LSP has no request for: a code action whose command takes that file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MoveSymbolRule {
    /// The kind of that code action.
    pub(crate) kind: String,
    /// Where in the first argument of its command the absolute path goes (RFC 6901).
    pub(crate) argument: String,
    /// It makes the file on disk, empty, where there is none.
    #[serde(default)]
    pub(crate) makes_file: bool,
}

/// When answers across files are whole.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ReadinessRule {
    /// Starts of the titles of work-done progress that must begin and end after the first document was opened.
    pub(crate) progress: Vec<String>,
    /// Milliseconds within which that progress begins; where it does not, the server is taken as ready.
    pub(crate) grace_ms: Option<u64>,
    /// What it says of single files is right before that progress ends: only questions across files wait for it.
    pub(crate) files_first: bool,
    /// It reports `experimental/serverStatus` with `quiescent` (rust-analyzer).
    pub(crate) server_status: bool,
    /// Starts of the titles of work-done progress during which what it says of single files is right already, though it is
    /// not quiescent: it only fills its caches.
    pub(crate) files_during: Vec<String>,
    /// A notification that says "ready" once.
    pub(crate) notification: Option<ReadySign>,
    /// Milliseconds after its first document was opened in which "nothing" is not believed and asked again: it answers
    /// before it has looked.
    pub(crate) distrust_empty_ms: u64,
    /// Starts of the titles of work-done progress that is not indexing (a linter's run); `*` for all.
    pub(crate) not_indexing: Vec<String>,
    /// Of the files that no index covers it knows those that are open.
    pub(crate) knows_open_files: bool,
    /// But it knows all that lie in, or below, a folder with one of these files.
    pub(crate) knows_all_below: Vec<String>,
    /// Where the root has one of these settings, which say what files it lists, it knows of the others those that are open.
    pub(crate) knows_open_files_where: Vec<ConfigMarker>,
    /// Where the root has one of these settings, it knows nothing of the files that they leave out.
    pub(crate) leaves_files_out_where: Vec<ConfigMarker>,
    /// Of the projects within its root it knows those with an open file.
    pub(crate) knows_open_projects: bool,
    /// It compiles the project in one configuration, and knows nothing of the code of others.
    pub(crate) knows_one_configuration: bool,
}

impl ReadinessRule {
    /// How long the announced progress may take to begin.
    pub(crate) fn grace(&self) -> Duration {
        Duration::from_millis(self.grace_ms.unwrap_or(1_000))
    }
}

/// A notification by which a server says that it is ready.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ReadySign {
    /// The notification's method.
    pub(crate) method: String,
    /// The member to look at.
    pub(crate) field: Option<String>,
    /// What that member reads like when it means "ready"; any value does where there is none.
    pub(crate) matches: Option<RegexPattern>,
}

/// A regular expression.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct RegexPattern(regex::Regex);

impl TryFrom<String> for RegexPattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        regex::Regex::new(&text).map(Self)
    }
}

impl PartialEq for RegexPattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for RegexPattern {}

impl RegexPattern {
    /// Whether `text` has it.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// Something a server needs beside itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServerPrerequisite {
    /// A program that must be on PATH.
    pub(crate) program: Option<String>,
    /// A Python module that must be importable in the server's own environment.
    pub(crate) python_module: Option<String>,
    /// The program of the server's command must succeed with these arguments (a rustup proxy without its component fails).
    #[serde(default)]
    pub(crate) succeeds: Vec<String>,
    /// A path that must be there, relative to the folder that `below` says.
    pub(crate) file: Option<String>,
    /// A program, with arguments, whose first line is a folder.
    #[serde(default)]
    pub(crate) below: Vec<String>,
    /// What is lost without it.
    pub(crate) message: String,
    /// The command that mends it.
    pub(crate) install: String,
}
