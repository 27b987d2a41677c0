//! Languages and servers of the catalogue, as a table.

use crate::tools::language::install_list::{InstallListOutput, InstallableServer};

use crate::cli::render::DisplayCapabilities;
use crate::cli::render::terminal::display::{BOLD, DIM, GOOD};
use crate::cli::render::terminal::escape;
use crate::cli::render::terminal::table::{Cell, table};

/// One line per server, the installed ones first, then the command to install one.
pub(crate) fn render(output: &InstallListOutput, display: &DisplayCapabilities) -> String {
    let mut servers: Vec<&InstallableServer> = output.servers.iter().collect();
    servers.sort_by_key(|server| !server.installed);
    let rows: Vec<Vec<Cell>> = servers.into_iter().map(cells).collect();
    // Stays one line per server, since other programs read it too.
    let display = &DisplayCapabilities { terminal: false, ..*display };
    let mut out = table(&["SERVER", "INSTALLED", "LANGUAGES"], &rows, display);
    let several = output.languages.iter().filter(|language| language.installs.len() > 1);
    let several = several.map(|language| {
        let servers = escape::words(&language.installs.join(", "));
        format!("; `{}` means {servers}", escape::words(&language.language))
    });
    let several: String = several.collect();
    out.push_str(&format!("\nto install: lsp-tools install LANGUAGE or SERVER{several}\n"));
    out.extend(output.notes.iter().map(|note| format!("{}\n", escape::words(note))));
    out
}

fn cells(server: &InstallableServer) -> Vec<Cell> {
    let (state, style) = match (&server.origin, &server.version) {
        (Some(origin), Some(version)) => (format!("{version} ({origin})"), GOOD),
        (Some(origin), None) => (format!("yes ({origin})"), GOOD),
        (None, _) if server.packages.is_empty() => ("no, by hand".to_owned(), DIM),
        (None, _) => ("no".to_owned(), DIM),
    };
    vec![
        Cell::new(escape::words(&server.server), BOLD),
        Cell::new(escape::words(&state), style),
        Cell::plain(escape::words(&server.languages.join(", "))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::language::install_list::InstallableLanguage;

    #[test]
    fn install_list_has_installed_servers_first_with_version_and_origin() {
        let server = |key: &str, version: Option<&str>, packages: &[&str]| InstallableServer {
            server: key.into(),
            languages: vec!["python".into()],
            installed: version.is_some(),
            version: version.map(Into::into),
            program: None,
            origin: version.map(|_| "PATH".to_owned()),
            packages: packages.iter().map(|package| (*package).to_owned()).collect(),
            by_hand: None,
        };
        let languages = vec![InstallableLanguage {
            language: "python".into(),
            name: "Python".into(),
            installs: vec!["pylsp".into(), "ty".into()],
        }];
        let servers = vec![
            server("a", None, &[]),
            server("b", None, &["b==1"]),
            server("ty", Some("ty 1"), &["ty==1"]),
        ];
        let output = InstallListOutput { ok: true, languages, servers, notes: Vec::new() };
        let expected = "\
SERVER  INSTALLED    LANGUAGES
ty      ty 1 (PATH)  python
a       no, by hand  python
b       no           python

to install: lsp-tools install LANGUAGE or SERVER; `python` means pylsp, ty
";
        assert_eq!(render(&output, &DisplayCapabilities::PLAIN), expected);
    }
}
