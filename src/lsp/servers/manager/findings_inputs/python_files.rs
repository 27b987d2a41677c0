//! The files of a workspace that lead checkers of Python to files outside of it.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::config::settings_of;

/// Settings of checkers of Python that name further files, folders and packages above the root,
/// without `-` and `_`.
const LEADING_KEYS: &str = "baselinefile extend extends extrapaths mypypath namespacepackages stubpath typeshed typeshedpath venv venvpath";

/// An import from a folder above, or the same words in a comment.
static IMPORT_FROM_ABOVE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"from([\s\\.]*\.)").expect("a constant pattern"));

/// Returns true if a file of the workspace at `path` (relative) leads a checker to files elsewhere:
/// settings (`is_settings`) by their values, a module of Python (`is_module`) by an import from above
/// the root.
pub(super) fn leads_elsewhere(path: &Path, content: &[u8], is_settings: bool, is_module: bool) -> bool {
    let text = || String::from_utf8_lossy(content);
    let most_dots = path.components().count();
    is_settings && reads_elsewhere(&path.to_string_lossy(), &text())
        || is_module
            && IMPORT_FROM_ABOVE.captures_iter(&text()).any(|found| found[1].matches('.').count() > most_dots)
}

/// Returns true if the settings in a file of JSON or TOML lead to files elsewhere, or are malformed.
fn reads_elsewhere(file: &str, text: &str) -> bool {
    let is_table = file.ends_with(".json") || file.ends_with(".toml");
    is_table && settings_of(file, text.trim_start_matches('\u{feff}')).is_none_or(|all| leads_out("", &all))
}

/// Returns true if a value of settings, which is that of the key `above`, leads to files elsewhere.
fn leads_out(above: &str, settings: &Value) -> bool {
    match settings {
        Value::String(text) => names_elsewhere(text),
        Value::Array(values) => values.iter().any(|value| leads_out(above, value)),
        Value::Object(table) => table.iter().any(|(key, value)| {
            is_leading_key(above, key) || key != "$schema" && names_elsewhere(key) || leads_out(key, value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_leading_key(above: &str, key: &str) -> bool {
    let plain = key.trim().replace(['-', '_'], "").to_ascii_lowercase();
    LEADING_KEYS.split(' ').any(|known| known == plain) || (above, key) == ("environment", "python")
}

/// Returns true if a text of settings may name a place outside of the project: by a variable, the
/// home folder, a parent folder, or an absolute path whose first folder exists.
fn names_elsewhere(text: &str) -> bool {
    let is_variable = |after: &str| after.starts_with(['{', '_']) || after.starts_with(char::is_alphabetic);
    let is_version =
        |rest: &str| rest.starts_with('=') || rest.starts_with(|next: char| next.is_ascii_digit());
    let is_absolute = |word: &str| {
        let first = word.strip_prefix('/').and_then(|path| path.split('/').find(|name| !name.is_empty()));
        first.is_some_and(|name| name.contains(['*', '?']) || Path::new("/").join(name).exists())
    };
    let is_elsewhere = |word: &str| {
        word.strip_prefix('~').is_some_and(|rest| !is_version(rest))
            || word.split(['/', '\\']).any(|name| name == "..")
            || is_absolute(word)
    };
    let separates = |letter: char| letter.is_whitespace() || "\"'`,;:()[]{}".contains(letter);
    // The name of a folder may have letters that otherwise end a word.
    text == "/"
        || is_absolute(text)
        || text.split('$').skip(1).any(is_variable)
        || text.split(separates).any(is_elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_lead_to_files_elsewhere_are_recognised() {
        for (file, text) in [
            ("ruff.toml", "extend = 'base.toml'"),
            ("ruff.toml", "src = ['..']"),
            ("ruff.toml", "src = ['x/../..']"),
            ("ruff.toml", "src = ['~']"),
            ("ruff.toml", "cache-dir = '~/cache'"),
            ("ruff.toml", "builtins = ['/usr']"),
            ("ruff.toml", "src = ['/u*/share']"),
            ("ruff.toml", "namespace-packages = ['.']"),
            ("ruff.toml", "src = ["),
            ("ty.toml", "environment.python = '311env'"),
            ("ty.toml", "[environment]\nextra-paths = ['lib']"),
            ("pyproject.toml", "[tool.ty.environment]\npython = 'myenv'"),
            ("pyrightconfig.json", "{\"extra\\u0050aths\": [\"\\/tmp\\/out\"]}"),
            ("pyrightconfig.json", "{\"extraPaths\"/* c */: [\"lib\"]}"),
            ("pyrightconfig.json", "\u{feff}{\"stubPath\": \"typings\"}"),
            ("pyrightconfig.json", "{\"baselineFile\": \"node_modules/b.json\"}"),
            ("pyrightconfig.json", "{\"include\": [\"..\\/lib\"]}"),
            ("pyrightconfig.json", "{\"executionEnvironments\": [{\"root\": \"${HOME}/x\"}]}"),
            ("pyrightconfig.json", "{\"strict\": [\"src\""),
        ] {
            assert!(reads_elsewhere(file, text), "{file}: {text}");
        }
        let plain = "# See /usr and ../x, $HOME\n[project]\nrequires-python = '~=3.8'\nversion = '1...2'\n\
                     dependencies = ['x~=2', 'y ~= 3']\nurls.home = 'https://example.com/usr'\n\
                     [tool.poetry.dependencies]\npython = '^3.8'\nz = '~2.1'\n\
                     [tool.ruff]\nexclude = ['/not-here/', '*.py..']\nextend-select = ['I']\n\
                     lint.extend-ignore = []\n\
                     [tool.black]\nexclude = '''\n/(\n  \\.git\n | build\n)/$'''\n";
        assert!(!reads_elsewhere("pyproject.toml", plain));
        let plain = "{// ../x\n\"$schema\": \"https://example.com/a\", \"pythonVersion\": \"3.9\",}";
        assert!(!reads_elsewhere("pyrightconfig.json", plain));
    }

    #[test]
    fn import_from_above_the_workspace_leads_elsewhere() {
        let leads = |path: &str, text: &str| leads_elsewhere(Path::new(path), text.as_bytes(), false, true);
        for (path, text) in [
            ("a.py", "if x: from .. import y"),
            ("a.py", "from . .a import b"),
            ("a.py", "from..sibling import y"),
            ("a.py", "from \\\n ..sibling import y"),
            ("a.py", "\u{feff}from ..sibling import y"),
            ("a.py", "import os\rfrom ..sibling import y"),
            ("in/a.py", "  from ... import y"),
        ] {
            assert!(leads(path, text), "{text}");
        }
        assert!(!leads("a.py", "from .sibling import y") && !leads("in/a.pyi", "from ..sibling import y"));
    }
}
