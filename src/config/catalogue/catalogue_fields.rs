//! The keys of `servers.toml` and their types, with a mark on those that decide which programs run.
//!
//! Launch fields are chosen with caution. A server's settings and initialization options may name
//! programs (`python.pythonPath`, `rust-analyzer.check.overrideCommand`), so the whole of them
//! counts. So does a `hollow` check, because it runs the server's command and shows a command to
//! people; every switch that turns a protection off; and every choice of the servers that run.

use crate::config::schema::ConfigFieldType::{
    Choice, Choices, Flag, Free, Named, Number, Record, Records, Text, TextTable, Texts, TextsTable,
};
use crate::config::schema::{ConfigField, launch, plain};

const HOUR_MS: u64 = 3_600_000;

/// A whole `servers.toml`.
pub(crate) const CATALOGUE: &[ConfigField] =
    &[plain("language", Named(LANGUAGE)), plain("server", Named(SERVER))];

pub(super) const LANGUAGE: &[ConfigField] = &[
    plain("name", Text),
    plain("extensions", Texts),
    plain("filenames", Texts),
    plain("shebangs", Texts),
    plain("language-id", Text),
    plain("language-ids", TextTable),
    plain("built-ins", Texts),
    plain("data", Flag),
    launch("support", Flag),
    launch("servers", Texts),
    launch("alternatives", Texts),
    launch("install", Texts),
];

pub(crate) const SERVER: &[ConfigField] = &[
    plain("name", Text),
    plain("homepage", Text),
    plain("languages", Texts),
    plain("door", Text),
    launch("command", Texts),
    launch("version", Texts),
    launch("env", TextTable),
    plain("root-markers", Texts),
    plain("weak-root-markers", Record(WEAK_ROOT_MARKERS)),
    plain("root-required", Flag),
    plain("root-topmost", Flag),
    plain("root-workspaces", Texts),
    plain("root-workspaces-topmost", Flag),
    plain("root-excludes", Text),
    plain("root-members", Text),
    launch("configured-by", Texts),
    launch("project-settings", Texts),
    plain("features", Record(FEATURES)),
    plain("answers", Choices(QUESTIONS)),
    plain("answers-of-project", Choices(QUESTIONS)),
    plain("implements-unnamed", Text),
    plain("unchecked", Choices(&["imports", "types"])),
    launch("for-more", Text),
    launch("judge", Record(JUDGE)),
    launch("complaints", Texts),
    launch("configuration-warnings", Flag),
    launch("configuration-findings", Texts),
    launch("extends", Texts),
    launch("outside", Record(OUTSIDE)),
    launch("install", Record(INSTALL)),
    launch("settings", Free),
    launch("settings-unless", Records(SETTINGS_UNLESS)),
    launch("settings-for-version", Free),
    launch("set-up", Records(SET_UP)),
    launch("set-up-as", Text),
    launch("build-file", Record(BUILD_FILE)),
    launch("source-roots", Record(SOURCE_ROOTS)),
    plain("restarts-with", Texts),
    launch("reads-outside", Texts),
    launch("ignores-root-name", Flag),
    plain("packages-in", Texts),
    plain("asks-for-settings", Flag),
    launch("initialization-options", Free),
    plain("position-encoding", Choice(&["utf-8", "utf-16", "utf-32"])),
    plain("sync", Choice(&["announced", "full-if-astral", "full"])),
    plain("diagnostics", Record(DIAGNOSTICS)),
    plain("readiness", Record(READINESS)),
    launch("reload", Record(RELOAD)),
    plain("move-symbol", Record(MOVE_SYMBOL)),
    launch("hollow", Records(HOLLOW)),
    plain("faults", Texts),
    plain("start-timeout", Number(1, 3_600)),
    launch("python-environment", Flag),
    launch("python-path-setting", Text),
    launch("python-path-option", Text),
    launch("python-unrun", Choice(&["stand-in", "variable"])),
    launch("python-finds-own", Flag),
    launch("python-on-path", Flag),
    launch("runs-project-code", Flag),
    launch("untrusted", Record(UNTRUSTED)),
    launch("proxy", Record(PROXY)),
    launch("disabled", Flag),
];

pub(super) const FEATURES: &[ConfigField] =
    &[plain("navigation", Flag), plain("diagnostics", Flag), plain("format", Flag), plain("actions", Flag)];

/// The words of [`crate::config::spec::ServerQuestion`].
pub(super) const QUESTIONS: &[&str] =
    &["calls", "types", "implementation", "declaration", "type-definition", "moves", "actions"];

pub(super) const WEAK_ROOT_MARKERS: &[ConfigField] = &[plain("markers", Texts), plain("within", Texts)];

pub(super) const SET_UP: &[ConfigField] = &[
    plain("where", Texts),
    plain("with", Texts),
    plain("unless", Texts),
    plain("message", Text),
    plain("environment", Flag),
    plain("lowers", Flag),
    plain("build-file", Flag),
];

pub(super) const BUILD_FILE: &[ConfigField] = &[
    plain("name", Text),
    plain("instead", Texts),
    plain("itself", Texts),
    plain("folders", Texts),
    plain("presets", Texts),
    plain("option", Text),
    plain("lists", Texts),
];

pub(super) const SOURCE_ROOTS: &[ConfigField] =
    &[plain("unless", Texts), plain("package", Text), plain("setting", Text)];

pub(super) const OUTSIDE: &[ConfigField] = &[
    plain("where", Texts),
    plain("defaults-differ", Texts),
    plain("method", Text),
    plain("params", Free),
    plain("result", Text),
    plain("outside", Text),
    plain("reason", Text),
];

pub(super) const SETTINGS_UNLESS: &[ConfigField] = &[plain("configured-by", Texts), launch("settings", Free)];

pub(super) const JUDGE: &[ConfigField] = &[
    plain("name", Text),
    plain("npm", Text),
    plain("pip", Text),
    plain("program", Text),
    plain("from-major", Number(0, 1_000)),
    plain("before-major", Number(0, 1_000)),
    plain("in-server-info", Flag),
    plain("required-by", Texts),
    plain("at-least", Flag),
    plain("silent-before", Text),
    plain("silent-about", Texts),
    plain("releases", Texts),
];

pub(super) const INSTALL: &[ConfigField] = &[
    plain("rustup", Texts),
    plain("pip", Texts),
    plain("pip-source", TextTable),
    plain("npm", Texts),
    plain("cargo", Texts),
    plain("cargo-features", Texts),
    plain("go", Texts),
    plain("gem", Texts),
    plain("dotnet", Texts),
    plain("deb", Texts),
    plain("or", Records(RECIPE)),
    plain("needs", Record(NEEDS)),
    plain("advice", Text),
    plain("manual", Text),
];

pub(super) const RECIPE: &[ConfigField] = &[
    plain("rustup", Texts),
    plain("pip", Texts),
    plain("pip-source", TextTable),
    plain("npm", Texts),
    plain("cargo", Texts),
    plain("cargo-features", Texts),
    plain("go", Texts),
    plain("gem", Texts),
    plain("dotnet", Texts),
    plain("deb", Texts),
];

pub(super) const NEEDS: &[ConfigField] =
    &[plain("program", Text), plain("version", Texts), plain("at-least", Text), plain("pip", Texts)];

pub(super) const UNTRUSTED: &[ConfigField] = &[
    plain("args", Texts),
    plain("apart", Flag),
    plain("node-guard", Flag),
    plain("unasked", Texts),
    plain("env", TextTable),
    plain("env-from", TextsTable),
    plain("settings", Free),
    plain("initialization-options", Free),
    plain("refused-with", Records(FILE_SIGN)),
    plain("shortfall", Record(SHORTFALL)),
];

pub(super) const PROXY: &[ConfigField] =
    &[plain("program", Text), plain("variable", Text), plain("folder", Text), plain("behind", Text)];

pub(super) const FILE_SIGN: &[ConfigField] =
    &[plain("file", Text), plain("keys", Texts), plain("matches", Text)];

pub(super) const SHORTFALL: &[ConfigField] = &[
    plain("reason", Text),
    plain("diagnostics", Text),
    plain("command", Texts),
    plain("signs", Texts),
    plain("files", Records(FILE_SIGN)),
    plain("depends-on", Texts),
];

pub(super) const DIAGNOSTICS: &[ConfigField] = &[
    plain("source", Choice(&["auto", "pull", "versioned-push", "push", "tsserver", "none"])),
    plain("quiet-ms", Number(1, HOUR_MS)),
    plain("first-empty-is-noise", Flag),
    plain("pushes-per-version", Number(1, 10)),
    plain("on-save", Flag),
    plain("idle", Record(IDLE)),
    plain("timeout-ms", Number(1, HOUR_MS)),
    plain("silent-when-same", Flag),
    plain("one-at-a-time", Flag),
    plain("stale-after-signature", Flag),
    plain("hints-are-findings", Flag),
    launch("recheck", Free),
    launch("background-check", Record(BACKGROUND_CHECK)),
    plain("notebooks", Choice(&["announced", "without-commands", "opened-cells", "pushed-cells"])),
    plain("sees-unsaved", Flag),
    plain("own-text", Flag),
    plain("keeps-findings", Flag),
    plain("byte-columns", Texts),
    launch("about-files", Texts),
    launch("includes", Texts),
    launch("excludes", Texts),
    plain("falls-short", Records(FALLS_SHORT)),
    launch("left-out", Records(LEFT_OUT)),
    plain("failed-checks", Records(FAILED_CHECK)),
];

pub(super) const BACKGROUND_CHECK: &[ConfigField] =
    &[plain("name", Text), plain("start", Text), plain("progress-token", Text), plain("off-by", Text)];

pub(super) const FALLS_SHORT: &[ConfigField] =
    &[plain("code", Text), plain("matches", Text), plain("without-build-file", Flag), plain("reason", Text)];

pub(super) const LEFT_OUT: &[ConfigField] =
    &[plain("source", Text), plain("matches", Text), plain("unless", Texts)];

pub(super) const FAILED_CHECK: &[ConfigField] = &[plain("source", Text), plain("matches", Text)];

pub(super) const IDLE: &[ConfigField] =
    &[plain("method", Text), plain("field", Text), plain("value", Text), plain("work", Text)];

pub(super) const READINESS: &[ConfigField] = &[
    plain("progress", Texts),
    plain("grace-ms", Number(1, HOUR_MS)),
    plain("files-first", Flag),
    plain("server-status", Flag),
    plain("files-during", Texts),
    plain("not-indexing", Texts),
    plain("knows-open-files", Flag),
    plain("knows-open-files-where", Texts),
    plain("leaves-files-out-where", Texts),
    plain("knows-all-below", Texts),
    plain("knows-open-projects", Flag),
    plain("symbols-of-last-file", Flag),
    plain("knows-one-configuration", Flag),
    plain("distrust-empty-ms", Number(0, 60_000)),
    plain("reads-on-request", Flag),
    plain("notification", Record(READY)),
    plain("ends-start", Flag),
];

pub(super) const MOVE_SYMBOL: &[ConfigField] =
    &[plain("kind", Text), plain("argument", Text), plain("makes-file", Flag)];

pub(super) const RELOAD: &[ConfigField] = &[
    plain("files", Texts),
    plain("method", Text),
    plain("params", Free),
    plain("touch", Flag),
    plain("restart", Flag),
    plain("settle-ms", Number(1, 60_000)),
];

pub(super) const READY: &[ConfigField] =
    &[plain("method", Text), plain("field", Text), plain("matches", Text)];

pub(super) const HOLLOW: &[ConfigField] = &[
    plain("program", Text),
    plain("python-module", Text),
    plain("succeeds", Texts),
    plain("file", Text),
    plain("below", Texts),
    plain("message", Text),
    plain("install", Text),
];

#[cfg(test)]
pub(crate) mod tests {
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::config::spec;

    /// Returns the keys that a type reads, in their order, as serde lists them when it finds an
    /// unknown one.
    pub(crate) fn words_of<T: DeserializeOwned>() -> Vec<String> {
        let error = toml::from_str::<T>("no-such-word = 1")
            .err()
            .expect("the type takes no unknown word")
            .to_string();
        let (_, list) = error.split_once("expected").expect("serde lists the words");
        list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    fn keys(fields: &[ConfigField]) -> Vec<String> {
        let mut keys = fields.iter().map(|field| field.key.to_owned()).collect::<Vec<_>>();
        keys.sort();
        keys
    }

    fn sorted<T: DeserializeOwned>() -> Vec<String> {
        let mut words = words_of::<T>();
        words.sort();
        words
    }

    #[test]
    fn catalogue_keys_equal_the_fields_of_serde_types() {
        assert_eq!(sorted::<spec::Language>(), keys(LANGUAGE));
        assert_eq!(sorted::<spec::ServerSpec>(), keys(SERVER));
        assert_eq!(sorted::<spec::ServerFeatures>(), keys(FEATURES));
        assert_eq!(sorted::<spec::SetUp>(), keys(SET_UP));
        assert_eq!(sorted::<spec::SettingsUnless>(), keys(SETTINGS_UNLESS));
        assert_eq!(sorted::<spec::JudgeRule>(), keys(JUDGE));
        assert_eq!(sorted::<spec::InstallSpec>(), keys(INSTALL));
        assert_eq!(sorted::<spec::Recipe>(), keys(RECIPE));
        assert_eq!(sorted::<spec::RequiredProgram>(), keys(NEEDS));
        assert_eq!(sorted::<spec::UntrustedLaunch>(), keys(UNTRUSTED));
        assert_eq!(sorted::<spec::ToolchainProxy>(), keys(PROXY));
        assert_eq!(sorted::<spec::FileSign>(), keys(FILE_SIGN));
        assert_eq!(sorted::<spec::ShortfallRule>(), keys(SHORTFALL));
        assert_eq!(sorted::<spec::DiagnosticsRule>(), keys(DIAGNOSTICS));
        assert_eq!(sorted::<spec::IdleSign>(), keys(IDLE));
        assert_eq!(sorted::<spec::ReadinessRule>(), keys(READINESS));
        assert_eq!(sorted::<spec::ReloadRule>(), keys(RELOAD));
        assert_eq!(sorted::<spec::MoveSymbolRule>(), keys(MOVE_SYMBOL));
        assert_eq!(sorted::<spec::ReadySign>(), keys(READY));
        assert_eq!(sorted::<spec::ServerPrerequisite>(), keys(HOLLOW));
    }
}
