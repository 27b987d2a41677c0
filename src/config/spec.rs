//! The types of the catalogue: one language, and one server with its recipes and rules. See
//! `servers.toml` for the keys in use.

mod builds;
mod judge;
mod language;
mod membership;
mod packages;
mod rules;
mod untrusted;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::catalogue::marker::ConfigMarker;
use super::layer::merge;
use super::schema::AnyTable;
use crate::text::Encoding;
use crate::workspace::{Workspace, WorkspacePath};

pub(crate) use builds::{BuildFile, SourceRoots};
pub(crate) use judge::JudgeRule;
pub(crate) use language::Language;
pub(crate) use membership::MembershipRule;
pub(crate) use packages::{InstallSpec, Recipe, RequiredProgram};
#[cfg(test)]
pub(crate) use rules::IdleSign;
pub(crate) use rules::{
    BackgroundCheckRule, DiagnosticsRule, DiagnosticsSource, FailedCheck, FallsShort, LeftOutFinding,
    MoveSymbolRule, NotebookRule, ReadinessRule, ReloadRule, SuppressionRule, SyncRule,
};
pub use untrusted::UntrustedLaunch;
pub(crate) use untrusted::{FileSign, ShortfallRule, ToolchainProxy};

/// One language server: its location, start and installation, and its known behaviour.
///
/// `command`, `env`, `settings` and `initialization_options` may hold placeholders;
/// [`ServerSpec::expand`] fills them in.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServerSpec {
    /// The name that people see; the server's key if absent.
    pub name: String,
    /// The address of the server's documentation.
    #[serde(default)]
    pub homepage: Option<String>,
    /// Keys of the languages that the server supports; empty if a `door` starts it.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The command of lsp-tools that starts the server ("copilot"); such a server is not used for
    /// files.
    pub door: Option<String>,
    /// The server's program and its arguments.
    #[schemars(extend("x-launch" = true))]
    pub command: Vec<String>,
    /// The arguments with which the program of `command` prints the server's version (`--version`
    /// if absent). Empty if the program is an interpreter that prints only its own version.
    #[serde(default = "usual_version_arguments")]
    #[schemars(extend("x-launch" = true))]
    pub(crate) version: Vec<String>,
    /// Environment variables added for the server's process.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub env: BTreeMap<String, String>,
    /// File or folder names that mark a project's root; the nearest folder above a file that has
    /// one is the root. One that begins with `*` stands for any name with that ending ("*.sln").
    #[serde(default)]
    pub root_markers: Vec<String>,
    /// The root markers that count only if no folder above has a stronger sign.
    #[serde(default)]
    pub(crate) weak_root_markers: WeakRootMarkers,
    /// True to start the server only with a root marker (a Deno server in a Node project).
    #[serde(default)]
    pub root_required: bool,
    /// True to use the topmost marked folder instead of the nearest (Cargo workspaces, Gradle
    /// builds).
    #[serde(default)]
    pub root_topmost: bool,
    /// The markers of a project of projects that one process serves whole. The nearest folder that
    /// has one is the root, before any of `root-markers` is searched for.
    #[serde(default)]
    pub(crate) root_workspaces: Vec<ConfigMarker>,
    /// True if the topmost folder with one of `root-workspaces` is the root, not the nearest.
    #[serde(default)]
    pub root_workspaces_topmost: bool,
    /// Packages of the workspace that are roots, since they pin another version of its `judge` than
    /// the folders above them; outer ones first.
    #[serde(skip)]
    pub(crate) own_roots: Vec<WorkspacePath>,
    /// The list, in a marker of `root-workspaces`, of folders that do not belong to that marker's
    /// project: they are projects of their own.
    pub(crate) root_excludes: Option<ConfigMarker>,
    /// The list, in a marker of `root-workspaces`, of the folders, as globs, that are members of
    /// `root-workspaces`' project.
    pub(crate) root_members: Option<ConfigMarker>,
    /// The tables of dependencies in a project's settings, and the key of the folder in an entry.
    pub(crate) root_dependencies: Option<ConfigMarker>,
    /// Signs that a project wants this server.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) configured_by: Vec<ConfigMarker>,
    /// All project settings that affect the server's analysis; unknown if empty.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) project_settings: Vec<ConfigMarker>,
    /// The kinds of requests that the server gets.
    #[serde(default)]
    pub(crate) features: ServerFeatures,
    /// The questions that the server answers, of those that many servers do not know.
    #[serde(default)]
    pub(crate) answers: Vec<ServerQuestion>,
    /// Those of `answers` that the server answers from the file's project alone, if its root has
    /// several projects.
    #[serde(default)]
    pub(crate) answers_of_project: Vec<ServerQuestion>,
    /// The file or setting that joins roots into one, for languages whose types implement
    /// interfaces without naming them.
    pub implements_unnamed: Option<String>,
    /// The aspects that the server's diagnostics do not cover.
    #[serde(default)]
    pub(crate) unchecked: Vec<UncheckedAspect>,
    /// A description of the server's findings ("undefined names, no type errors"). It is shown
    /// while other servers of the language's `install` are missing.
    #[schemars(extend("x-launch" = true))]
    pub(crate) for_more: Option<String>,
    /// The compiler, checker or linter whose version decides the server's reports.
    #[schemars(extend("x-launch" = true))]
    pub(crate) judge: Option<JudgeRule>,
    /// Regular expressions for messages by which the server objects to the project's configuration.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) complaints: Vec<RegexPattern>,
    /// True if the server's warnings about a configuration file are findings of its command line.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) configuration_warnings: bool,
    /// Names of configuration files for which the server publishes findings, perhaps none, each
    /// time that it loads them.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) configuration_findings: Vec<String>,
    /// Settings that name another settings file, relative to their own.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) extends: Vec<ConfigMarker>,
    /// The request that shows that a file is outside the server's project.
    #[schemars(extend("x-launch" = true))]
    pub(crate) outside: Option<MembershipRule>,
    /// The ways to install the server.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub install: InstallSpec,
    /// The server's settings: the answer to `workspace/configuration`, by section, and the content
    /// of `workspace/didChangeConfiguration`.
    #[serde(default)]
    #[schemars(with = "AnyTable", extend("x-launch" = true))]
    pub settings: toml::Table,
    /// Settings for projects without settings of their own; `settings` override them.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) settings_unless: Vec<SettingsUnless>,
    /// Settings that override the others if the project pins a version of `judge`; `${version}`
    /// stands for that version, or the oldest of a range.
    #[serde(default)]
    #[schemars(with = "AnyTable", extend("x-launch" = true))]
    pub(crate) settings_for_version: toml::Table,
    /// The parts that a project may lack for complete answers.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) set_up: Vec<SetUp>,
    /// The server whose `set-up` also applies to this one.
    #[schemars(extend("x-launch" = true))]
    pub set_up_as: Option<String>,
    /// The file in which the project's builds record how files are compiled.
    #[schemars(extend("x-launch" = true))]
    pub(crate) build_file: Option<BuildFile>,
    /// The rule for the folders in which packages start, for a project without a build file.
    #[schemars(extend("x-launch" = true))]
    pub(crate) source_roots: Option<SourceRoots>,
    /// The settings that the server reads only at its start; a change of one restarts it.
    #[serde(default)]
    pub(crate) restarts_with: Vec<ConfigMarker>,
    /// The user's files that the server reads, relative to the home folder. Its findings follow
    /// from these, the workspace, its Python environment and its own installation; unknown if
    /// absent.
    #[schemars(extend("x-launch" = true))]
    pub(crate) reads_outside: Option<Vec<String>>,
    /// True if the server's findings do not depend on the name of the workspace's folder.
    #[schemars(extend("x-launch" = true))]
    pub(crate) ignores_root_name: Option<bool>,
    /// True if a check takes much longer than reading the files that it follows from.
    #[schemars(extend("x-launch" = true))]
    pub(crate) checks_slowly: Option<bool>,
    /// Names of folders, in the root and above it, into which packages are installed; a change of
    /// the packages restarts the server.
    #[serde(default)]
    pub packages_in: Vec<String>,
    /// True if the server, at least in newer versions, requests its settings
    /// (`workspace/configuration`) right after its start. It then gets no notification of settings,
    /// which would make it start over.
    #[serde(default)]
    pub asks_for_settings: bool,
    /// The `initializationOptions` of the server's `initialize` request.
    #[serde(default)]
    #[schemars(with = "AnyTable", extend("x-launch" = true))]
    pub initialization_options: toml::Table,
    /// The encoding in which the server counts columns, regardless of the announced one.
    pub(crate) position_encoding: Option<Encoding>,
    /// The rule for sending changes to the server (`announced` if absent).
    #[serde(default)]
    pub(crate) sync: SyncRule,
    /// The rule by which diagnostics of the current text are recognised.
    #[serde(default)]
    pub(crate) diagnostics: DiagnosticsRule,
    /// The conditions on which the server's answers across files are complete.
    #[serde(default)]
    pub(crate) readiness: ReadinessRule,
    /// The rule for making the server notice changes on disk.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) reload: ReloadRule,
    /// The rule for moving a symbol to another file, if the server can do this.
    pub(crate) move_symbol: Option<MoveSymbolRule>,
    /// Prerequisites, beside the server itself, of its full function.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) hollow: Vec<ServerPrerequisite>,
    /// Known faults of the server, in sentences.
    #[serde(default)]
    pub faults: Vec<String>,
    /// The time limit of the server's `initialize`, in seconds; `deadlines.start` of
    /// `lsp-tools.toml` if absent.
    #[schemars(range(min = 1, max = 3_600))]
    pub start_timeout: Option<u64>,
    /// True to give a Python project's virtual environment to the server (`VIRTUAL_ENV`, PATH and
    /// `python-path-setting`).
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub python_environment: bool,
    /// The dotted key of the server's settings that takes the path of the project's Python
    /// interpreter ("python.pythonPath").
    #[schemars(extend("x-launch" = true))]
    pub python_path_setting: Option<String>,
    /// The dotted key of the initialization options that takes the same path as
    /// `python-path-setting` ("workspace.environmentPath").
    #[schemars(extend("x-launch" = true))]
    pub python_path_option: Option<String>,
    /// The way to give the server a Python environment of which nothing may be run; if absent, the
    /// server gets no such environment.
    #[schemars(extend("x-launch" = true))]
    pub(crate) python_unrun: Option<PythonUnrun>,
    /// True if the server runs an interpreter of the project unless an interpreter is given to it.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub python_finds_own: bool,
    /// True if the server takes the first `python3` on PATH for the project's interpreter.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub python_on_path: bool,
    /// True if the server runs the project's code when it starts, so that it needs the trust of the
    /// project's owner.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub runs_project_code: bool,
    /// The way to start the server before the project is trusted, if `runs-project-code` is true.
    /// If absent, the server is not started in an untrusted project.
    #[schemars(extend("x-launch" = true))]
    pub untrusted: Option<UntrustedLaunch>,
    /// The toolchain proxy that a program of the command's name on PATH may be.
    #[schemars(extend("x-launch" = true))]
    pub(crate) proxy: Option<ToolchainProxy>,
    /// True to use the server only if a setting names it.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub disabled: bool,
}

/// The way to give a server a Python environment of which nothing may be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PythonUnrun {
    /// By an interpreter of ours that gives the environment's answers, and imports nothing from it.
    StandIn,
    /// By `VIRTUAL_ENV`: the server reads the environment, and runs nothing of it.
    Variable,
}

/// The kinds of requests that a server gets if several share a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ServerFeatures {
    /// True to use the server for hover, definition, references, symbols, hierarchies, signatures,
    /// completion and rename (true if absent).
    pub(crate) navigation: bool,
    /// True to use the server for diagnostics (true if absent).
    pub(crate) diagnostics: bool,
    /// True to use the server for formatting (true if absent).
    pub(crate) format: bool,
    /// True to use the server for code actions (true if absent).
    pub(crate) actions: bool,
}

impl Default for ServerFeatures {
    fn default() -> Self {
        Self { navigation: true, diagnostics: true, format: true, actions: true }
    }
}

/// A question that many servers do not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ServerQuestion {
    /// The callers and the callees of a function.
    Calls,
    /// The supertypes and subtypes of a type.
    Types,
    /// The implementations of a symbol.
    Implementation,
    /// The declaration of a symbol.
    Declaration,
    /// The definition of a symbol's type.
    TypeDefinition,
    /// The edits of imports when a file moves.
    Moves,
    /// Code actions.
    Actions,
}

/// The aspects that a server's diagnostics may not cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UncheckedAspect {
    /// The existence of import targets.
    Imports,
    /// The types of values, arguments and members.
    Types,
}

impl UncheckedAspect {
    /// The name of the aspect.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Imports => "imports",
            Self::Types => "types",
        }
    }
}

/// Root markers that may also be one of several files of a project.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct WeakRootMarkers {
    /// Root markers that are weak.
    pub(crate) markers: Vec<String>,
    /// Signs of a project inside which `markers` do not mark another root.
    pub(crate) within: Vec<ConfigMarker>,
}

/// Settings that apply unless the project has its own.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct SettingsUnless {
    /// Signs that the project has settings of its own.
    pub(crate) configured_by: Vec<ConfigMarker>,
    /// Settings for projects without these signs.
    #[schemars(with = "AnyTable")]
    pub(crate) settings: toml::Table,
}

/// A part that a certain kind of project needs and may not have yet.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct SetUp {
    /// Signs of a project that needs this part.
    #[serde(rename = "where")]
    pub(crate) of: Vec<ConfigMarker>,
    /// Signs, in the root or a folder above, of which one must exist in addition to `where`; none
    /// is required if empty.
    #[serde(default)]
    pub(crate) with: Vec<ConfigMarker>,
    /// Signs that the project has the part, in the root or a folder above.
    pub(crate) unless: Vec<ConfigMarker>,
    /// The loss without the part, and the command that creates it.
    pub(crate) message: String,
    /// True if a Python environment also shows that the project has the part.
    #[serde(default)]
    pub(crate) environment: bool,
    /// True if diagnostics may be incomplete without the part.
    #[serde(default)]
    pub(crate) lowers: bool,
    /// True if the server's build file also shows that the project has the part.
    #[serde(default)]
    pub(crate) build_file: bool,
}

impl SetUp {
    /// Returns true if the project at `root` needs it and does not have it.
    pub(crate) fn is_lacking(&self, workspace: &Workspace, root: &WorkspacePath) -> bool {
        let above = |signs: &[ConfigMarker]| {
            let mut folders = root.ancestors();
            folders.any(|folder| signs.iter().any(|sign| sign.is_in(workspace, &folder)))
        };
        let is_wanted = self.of.iter().any(|sign| sign.is_in(workspace, root));
        is_wanted && (self.with.is_empty() || above(&self.with)) && !above(&self.unless)
    }
}

impl ServerSpec {
    /// Returns true if it is not started before its project is trusted.
    pub fn waits_for_trust(&self) -> bool {
        self.runs_project_code && self.untrusted.is_none()
    }

    /// Returns true if it runs beside others, and only for files below one of its root markers.
    pub(crate) fn joins_where_marked(&self) -> bool {
        self.root_required && !self.features.navigation
    }

    /// Its root markers, as messages name them.
    pub(crate) fn named_root_markers(&self) -> String {
        let signs = self.configured_by.iter().filter(|_| self.root_required).map(ToString::to_string);
        self.root_markers.iter().cloned().chain(signs).collect::<Vec<_>>().join(" or ")
    }

    /// Returns true if settings in `folder` mark it as a root.
    pub(crate) fn is_marked_by_settings(&self, workspace: &Workspace, folder: &WorkspacePath) -> bool {
        self.root_required && self.configured_by.iter().any(|sign| sign.is_in(workspace, folder))
    }

    /// Returns true if packages of its workspace may pin versions of its judge of their own.
    pub(crate) fn may_have_own_roots(&self) -> bool {
        !self.root_workspaces.is_empty() && self.judge.as_ref().is_some_and(|rule| rule.npm.is_some())
    }

    /// The names of the files that configure it.
    pub(crate) fn configuration_files(&self) -> impl Iterator<Item = &str> {
        let settings = self.project_settings.iter().chain(&self.configured_by).map(ConfigMarker::file);
        settings.chain(self.root_markers.iter().map(String::as_str))
    }

    /// Returns true if a file of this name configures it.
    pub(crate) fn is_configuration_file(&self, name: &str) -> bool {
        self.configuration_files().any(|file| file.rsplit('/').next() == Some(name))
    }

    /// Returns the set-up that the project at `root` needs for complete answers and does not have.
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

    /// Returns its table for `root`, with the settings and rules that depend on the root's files,
    /// and on the `pinned` version of its judge, resolved.
    pub(crate) fn resolve_for_root(
        &self,
        workspace: &Workspace,
        root: &WorkspacePath,
        pinned: Option<&str>,
    ) -> Self {
        let mut settings = toml::Table::new();
        for unless in &self.settings_unless {
            if !unless.configured_by.iter().any(|sign| sign.is_in(workspace, root)) {
                merge(&mut settings, unless.settings.clone());
            }
        }
        merge(&mut settings, self.settings.clone());
        if let Some(version) = pinned {
            merge(&mut settings, with_version(&self.settings_for_version, version));
        }
        let mut diagnostics = self.diagnostics.clone();
        diagnostics.left_out.retain(|rule| !rule.unless.iter().any(|sign| sign.is_in(workspace, root)));
        Self { settings, diagnostics, ..self.clone() }
    }
}

/// Returns settings with `version` in the place of `${version}`.
fn with_version(settings: &toml::Table, version: &str) -> toml::Table {
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => toml::Value::String(text.replace("${version}", version)),
        toml::Value::Table(table) => toml::Value::Table(with_version(table, version)),
        other => other.clone(),
    };
    settings.iter().map(|(key, value)| (key.clone(), text(value))).collect()
}

fn usual_version_arguments() -> Vec<String> {
    vec!["--version".to_owned()]
}

/// A regular expression.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
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
    /// Returns true if `text` matches.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The texts of the first two groups of the first match.
    pub(crate) fn two_groups<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let found = self.0.captures(text)?;
        Some((found.get(1)?.as_str(), found.get(2)?.as_str()))
    }

    /// The text of the first group of the first match.
    pub(crate) fn first_group<'t>(&self, text: &'t str) -> Option<&'t str> {
        Some(self.0.captures(text)?.get(1)?.as_str())
    }
}

/// Something a server needs beside itself.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ServerPrerequisite {
    /// A program that must be on PATH.
    pub(crate) program: Option<String>,
    /// A Python module that must be importable in the server's own environment.
    pub(crate) python_module: Option<String>,
    /// The arguments with which the program of `command` must succeed (a rustup proxy without its
    /// component fails).
    #[serde(default)]
    pub(crate) succeeds: Vec<String>,
    /// A path that must exist, relative to the folder that `below` prints.
    pub(crate) file: Option<String>,
    /// A program, with arguments, whose first output line is the folder for `file`.
    #[serde(default)]
    pub(crate) below: Vec<String>,
    /// The loss if the prerequisite is missing.
    pub(crate) message: String,
    /// The command that installs the prerequisite.
    pub(crate) install: String,
}
