//! How to get a server that is missing.

use crate::config::spec::Server;

/// The command that installs `server`, as people type it: the catalogue's own words, else the first recipe's.
pub fn install_command(key: &str, server: &Server) -> String {
    let install = &server.install;
    if let Some(advice) = &install.advice {
        return advice.clone();
    }
    let recipes = [
        ("pip install", &install.pip),
        ("npm install -g", &install.npm),
        ("cargo install --locked", &install.cargo),
        ("go install", &install.go),
        ("gem install", &install.gem),
        ("dotnet tool install --global", &install.dotnet),
    ];
    match recipes.into_iter().find(|(_, packages)| !packages.is_empty()) {
        Some((command, packages)) => format!("{command} {}", packages.join(" ")),
        None => install.manual.clone().or_else(|| server.homepage.clone()).unwrap_or_else(|| key.to_owned()),
    }
}

/// The line that is printed at the start for a missing server, in the user's language.
///
/// `locale` is what the environment says (`LC_ALL`, `LC_MESSAGES` or `LANG`, the first one set).
pub fn startup_line(language: &str, server: &str, command: &str, locale: Option<&str>) -> String {
    if locale.is_some_and(|locale| locale.to_ascii_lowercase().starts_with("zh")) {
        format!("[LSP] {language}: {server} 未安装，运行: {command}")
    } else {
        format!("[LSP] {language}: {server} not installed, run: {command}")
    }
}

/// The user's locale for messages.
pub fn locale() -> Option<String> {
    ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(|name| std::env::var(name).ok()).find(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Catalogue;

    #[test]
    fn the_line_is_the_contracts_in_both_languages() {
        let server = &Catalogue::built_in().servers["pylsp"];
        let command = install_command("pylsp", server);
        let line = |locale| startup_line("python", "pylsp", &command, locale);
        let english = "[LSP] python: pylsp not installed, run: pip install python-lsp-server";
        assert_eq!(line(Some("en_US.UTF-8")), english);
        assert_eq!(line(None), english);
        assert_eq!(line(Some("zh_CN.UTF-8")), "[LSP] python: pylsp 未安装，运行: pip install python-lsp-server");
    }

    #[test]
    fn every_server_of_the_catalogue_has_advice() {
        for (key, server) in &Catalogue::built_in().servers {
            assert!(!install_command(key, server).is_empty(), "{key}");
        }
    }
}
