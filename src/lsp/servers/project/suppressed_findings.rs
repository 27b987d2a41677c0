//! Settings by which a project hides errors that its compiler reports.

use std::path::Path;

use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;
use regex::Regex;

use crate::config::spec::SuppressionRule;
use crate::lsp::session::live_session::Session;
use crate::workspace::{Workspace, WorkspacePath};

/// The largest file of settings that is examined, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

impl Session {
    /// The reason why diagnostics of `path` are partial: settings suppress some of them.
    pub(crate) fn suppression(&self, path: &WorkspacePath) -> Option<String> {
        let rule = self.state.spec.diagnostics.suppressed_by.as_ref()?;
        let file = self.workspace.absolute(path);
        let of_user = Xdg::new().ok()?.config_dir().join(&rule.user_file);
        let own = file.ancestors().skip(1).map(|folder| (folder.join(&rule.file), folder));
        let (settings, _) = own.chain([(of_user, Path::new(""))]).find(|(settings, folder)| {
            let text = Workspace::read_outside(settings, MAX_SETTINGS_BYTES).unwrap_or_default();
            let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
            let text = lines.join("\n");
            let relative = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy();
            text.split("\n---").any(|part| rule.suppresses(part, &relative))
        })?;
        let settings = settings.strip_prefix(self.workspace.root()).unwrap_or(&settings).display();
        Some(format!("{settings} suppresses {}", rule.hides))
    }
}

impl SuppressionRule {
    /// Returns true if a part of the settings, in YAML, applies to the file and suppresses errors.
    fn suppresses(&self, part: &str, file: &str) -> bool {
        let is_in =
            |pattern: &String| Regex::new(&format!("^(?:{pattern})$")).map_or(true, |it| it.is_match(file));
        let (only, except) = (values_of(part, &self.only_in), values_of(part, &self.not_in));
        values_of(part, &self.key).iter().any(|value| self.values.is_in(value))
            && (only.is_empty() || only.iter().any(is_in))
            && !except.iter().any(is_in)
    }
}

/// The values of `key` in a text in YAML: one, or those of a list.
fn values_of(text: &str, key: &str) -> Vec<String> {
    // Most folders have no such file, and most files not all keys.
    let pattern = || Regex::new(&format!(r#"(?m)(?:^|[{{,])[ \t]*["']?{key}["']?[ \t]*:[ \t]*"#)).ok();
    let pattern = text.contains(key).then(pattern).flatten();
    let Some(found) = pattern.and_then(|pattern| pattern.find(text)) else { return Vec::new() };
    let rest = &text[found.end()..];
    let items = match rest.strip_prefix('[') {
        Some(list) => items_of(list),
        None => {
            let mut lines = rest.lines().map(str::trim);
            let first = lines.next().into_iter();
            let more = lines.take_while(|line| line.is_empty() || line.starts_with(['-', '#']));
            let items = first.chain(more).filter(|line| !line.starts_with('#'));
            items.map(|line| line.trim_start_matches("- ").to_owned()).collect()
        }
    };
    items.iter().map(|item| scalar_of(item)).filter(|item| !item.is_empty()).collect()
}

/// The items of a list in brackets, from behind the opening one.
fn items_of(list: &str) -> Vec<String> {
    let (mut items, mut item, mut quote, mut depth) = (Vec::new(), String::new(), None, 0_u32);
    for character in list.chars() {
        match (quote, character) {
            (Some(open), _) => quote = quote.filter(|_| character != open),
            (None, '"' | '\'') => quote = Some(character),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => break,
            (None, ']') => depth -= 1,
            (None, ',') if depth == 0 => {
                items.push(std::mem::take(&mut item));
                continue;
            }
            _ => {}
        }
        item.push(character);
    }
    items.push(item);
    items
}

fn scalar_of(item: &str) -> String {
    let item = item.trim();
    let quoted = |quote| item.strip_prefix(quote)?.split_once(quote).map(|(value, _)| value);
    match (quoted('"'), quoted('\'')) {
        (Some(value), _) => value.replace(r"\\", r"\"),
        (_, Some(value)) => value.to_owned(),
        _ => item.split(" #").next().unwrap_or_default().trim_end_matches(['}', ' ']).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Catalogue;

    #[test]
    fn settings_that_suppress_errors_are_told_from_those_about_warnings() {
        let rule = Catalogue::built_in().servers["clangd"].diagnostics.suppressed_by.as_ref().unwrap();
        for errors in [
            "Diagnostics:\n  Suppress: \"*\"\n",
            "Diagnostics:\n  Suppress: '*'  # all\n",
            "Diagnostics: {Suppress: \"*\"}\n",
            "Diagnostics:\n  Suppress: [unused-variable, '*']\n",
            "Diagnostics:\n  Suppress: [\n    unused-variable,\n    undeclared_var_use,\n  ]\n",
            "Diagnostics:\n  Suppress:\n    # all\n    - unused-variable\n    - \"*\"\n",
            "Diagnostics:\n  Suppress:\n  - typecheck_convert_incompatible\n  UnusedIncludes: None\n",
            "If:\n  PathMatch: src/[^/]*\\.c\nDiagnostics:\n  Suppress: '*'\n",
            "If: {PathMatch: [\"lib/.*\", \"src/.*\\\\.c\"]}\nDiagnostics:\n  Suppress: '*'\n",
            "If:\n  PathExclude: lib/.*\nDiagnostics:\n  Suppress: '*'\n",
        ] {
            assert!(rule.suppresses(errors, "src/a.c"), "{errors}");
        }
        for none in [
            "",
            "Diagnostics:\n  UnusedIncludes: None\n",
            "Diagnostics:\n  Suppress: [unused-variable, misc-*, readability-magic-numbers]\n",
            "Diagnostics:\n  Suppress: drv_unknown_argument\n",
            "Diagnostics:\n  Suppress:\n    - shadow\n  ClangTidy:\n    Remove: '*'\n",
            "Diagnostics:\n  # Suppress: '*'\n  ClangTidy: {Remove: ['*']}\n",
            "If:\n  PathMatch: [lib/.*, 'third_party/.*']\nDiagnostics:\n  Suppress: '*'\n",
            "If:\n  PathExclude: src/.*\nDiagnostics:\n  Suppress: '*'\n",
        ] {
            assert!(!rule.suppresses(none, "src/a.c"), "{none}");
        }
    }
}
