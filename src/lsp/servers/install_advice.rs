//! Install advice: the command that installs a missing server.

use serde::{Deserialize, Serialize};

use crate::config::spec::ServerSpec;
use crate::text::shell_word;

/// The ways to an answer without a server.
pub(crate) const SEARCH_ADVICE: &str = "search for the name with `grep`, or read the source";

/// The ways to install a missing server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Advice {
    /// The command to run; absent if only a person can install it.
    pub(crate) install: Option<String>,
    /// True if `lsp-tools install` can install it as well.
    pub(crate) ours: bool,
    /// One sentence with the command or, without one, with the steps.
    pub(crate) sentence: String,
}

/// The advice for the server with the key `key` in the catalogue.
pub(crate) fn advice(key: &str, server: &ServerSpec) -> Advice {
    let install = command(server);
    let sentence = match (&install, &server.install.manual, &server.homepage) {
        (Some(command), ..) => format!("{key} is not installed, run: {command}"),
        (None, Some(manual), _) => format!("{key} is not installed: {manual}"),
        (None, None, Some(homepage)) => format!("{key} is not installed, see {homepage}"),
        (None, None, None) => format!("{key} is not installed; the catalogue has no installation for it"),
    };
    Advice { install, ours: server.install.has_recipe(), sentence }
}

fn command(server: &ServerSpec) -> Option<String> {
    let install = &server.install;
    if let Some(advice) = &install.advice {
        return Some(advice.clone());
    }
    let recipes = [
        ("rustup component add", &install.rustup),
        ("pip install", &install.pip),
        ("npm install -g", &install.npm),
        ("cargo install", &install.cargo),
        ("go install", &install.go),
        ("gem install", &install.gem),
        ("dotnet tool install -g", &install.dotnet),
    ];
    let (manager, packages) = recipes.iter().find(|(_, packages)| !packages.is_empty())?;
    let packages: Vec<_> = packages.iter().map(|package| shell_word(package)).collect();
    Some(format!("{manager} {}", packages.join(" ")))
}

/// The language of messages to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SpokenLanguage {
    /// English.
    English,
    /// Chinese.
    Chinese,
}

impl SpokenLanguage {
    /// The locale of the environment: the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set
    /// and not empty decides (POSIX, *Environment Variables*).
    pub(crate) fn from_environment() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
        let locale = names.iter().filter_map(|name| variable(name)).find(|value| !value.is_empty());
        let language = locale.as_deref().and_then(|locale| locale.split(['_', '.', '@', '-']).next());
        if language == Some("zh") { Self::Chinese } else { Self::English }
    }
}

/// The command of lsp-tools that installs `name`: a server, or those of a language.
pub(crate) fn our_command(name: &str) -> String {
    format!("lsp-tools install {name}")
}

/// Both ways to install a server, for people.
pub(crate) fn commands(command: &str, ours: Option<&String>) -> String {
    spoken_commands(command, ours, SpokenLanguage::English)
}

fn spoken_commands(command: &str, ours: Option<&String>, locale: SpokenLanguage) -> String {
    let or = match locale {
        SpokenLanguage::English => "or",
        SpokenLanguage::Chinese => "或",
    };
    match ours {
        Some(ours) if ours != command => format!("{command} ({or}: {ours})"),
        _ => command.to_owned(),
    }
}

/// The line printed at start for a language of the workspace whose server is missing. `ours` is
/// the command of lsp-tools that installs it.
pub(crate) fn startup_line(
    language: &str,
    key: &str,
    server: &ServerSpec,
    ours: Option<&String>,
    locale: SpokenLanguage,
) -> String {
    let advice = advice(key, server);
    let manual = server.install.manual.as_deref().or(server.homepage.as_deref());
    let install = advice.install.or_else(|| ours.cloned());
    let install = install.map(|command| spoken_commands(&command, ours, locale));
    match (install, locale) {
        (Some(command), SpokenLanguage::English) => {
            format!("[LSP] {language}: {key} not installed, run: {command}")
        }
        (Some(command), SpokenLanguage::Chinese) => {
            format!("[LSP] {language}: {key} 未安装，运行: {command}")
        }
        (None, SpokenLanguage::English) => format!("[LSP] {language}: {}", advice.sentence),
        (None, SpokenLanguage::Chinese) => {
            format!("[LSP] {language}: {key} 未安装 {}", manual.unwrap_or_default()).trim_end().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Catalogue;

    fn server(words: &str) -> ServerSpec {
        toml::from_str(&format!("name = \"X\"\nlanguages = [\"x\"]\ncommand = [\"x\"]\n{words}")).unwrap()
    }

    #[test]
    fn startup_line_names_install_command_in_english_and_chinese() {
        let pylsp = &Catalogue::built_in().servers["pylsp"];
        let ours = our_command("python");
        assert_eq!(
            startup_line("python", "pylsp", pylsp, Some(&ours), SpokenLanguage::English),
            "[LSP] python: pylsp not installed, run: pip install python-lsp-server (or: lsp-tools install python)"
        );
        assert_eq!(
            startup_line("python", "pylsp", pylsp, Some(&ours), SpokenLanguage::Chinese),
            "[LSP] python: pylsp 未安装，运行: pip install python-lsp-server (或: lsp-tools install python)"
        );
    }

    #[test]
    fn install_advice_follows_the_recipe_of_the_server() {
        let of = |words: &str| advice("x", &server(words));
        assert_eq!(
            of("install = { npm = [\"a@1.2\", \"b@3\"] }").install.as_deref(),
            Some("npm install -g a@1.2 b@3")
        );
        assert_eq!(
            of("install = { pip = [\"a[all]==1\"] }").install.as_deref(),
            Some("pip install 'a[all]==1'")
        );
        assert_eq!(
            of("install = { go = [\"e.org/x@v1\"] }").sentence,
            "x is not installed, run: go install e.org/x@v1"
        );
        let manual = of("install = { manual = \"get it from your system\" }");
        assert_eq!(
            (manual.install, manual.sentence.as_str()),
            (None, "x is not installed: get it from your system")
        );
        assert_eq!(of("").sentence, "x is not installed; the catalogue has no installation for it");
    }

    #[test]
    fn spoken_language_follows_first_nonempty_locale_variable() {
        let speech = |set: &[(&str, &str)]| {
            SpokenLanguage::from_variables(|name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(speech(&[]), SpokenLanguage::English);
        assert_eq!(speech(&[("LANG", "zh_CN.UTF-8")]), SpokenLanguage::Chinese);
        assert_eq!(
            speech(&[("LC_ALL", ""), ("LC_MESSAGES", "zh_TW"), ("LANG", "en_US")]),
            SpokenLanguage::Chinese
        );
        assert_eq!(speech(&[("LC_ALL", "C"), ("LANG", "zh_CN.UTF-8")]), SpokenLanguage::English);
        assert_eq!(speech(&[("LANG", "zha")]), SpokenLanguage::English);
    }
}
