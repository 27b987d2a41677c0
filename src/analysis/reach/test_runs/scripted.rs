//! Test commands of Node.js, Deno, Python, Elixir, Ruby, PHP and Dart.

use serde_json::Value;

use super::{ALL_OF_FILES, ProjectFolder, ProjectPython, SelectedTest, TestRunPlan, TestSelection, any_of};
use crate::text::shell_word;

pub(super) fn node(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    let package: Value = serde_json::from_str(&folder.text("package.json")?).ok()?;
    // The default that `npm init` writes if there are no tests.
    let script = package
        .pointer("/scripts/test")
        .and_then(Value::as_str)
        .filter(|script| !script.contains("no test specified"));
    let (plan, runner) = match script {
        Some(script) => {
            let plan = TestRunPlan::new(
                node_script(folder),
                format!("package.json has the script `test`: {script}"),
            );
            (plan, runner_of(script))
        }
        None => {
            let runner =
                [NodeRunner::Vitest, NodeRunner::Jest, NodeRunner::Mocha].into_iter().find(|runner| {
                    ["dependencies", "devDependencies"]
                        .iter()
                        .any(|list| package[*list].get(runner.word()).is_some())
                })?;
            let run = if runner == NodeRunner::Vitest { " run" } else { "" };
            let command = format!("npx --no-install {}{run}", runner.word());
            let reason = format!("package.json depends on {} and has no script `test`", runner.word());
            (TestRunPlan::new(command, reason), Some(runner))
        }
    };
    let plan = plan.with_words(&wanted.files).with_set_up(format!("{} install", package_manager(folder)));
    if wanted.names.is_empty() && (wanted.tests.is_empty() || wanted.whole_files().next().is_some()) {
        return Some(plan.with_note_if(!wanted.tests.is_empty(), ALL_OF_FILES));
    }
    let by_titles = || format!("({})$", wanted.tests.iter().map(title_pattern).collect::<Vec<_>>().join("|"));
    Some(match runner.and_then(NodeRunner::name_option) {
        Some(option) if wanted.names.is_empty() => plan.with_words([option.to_owned(), by_titles()]),
        None if wanted.names.is_empty() => plan.without_names(&wanted.by_parts_of_names()),
        Some(option) => plan.with_words([option.to_owned(), any_of(&wanted.names)]),
        None => plan.without_names(wanted),
    })
}

/// A pattern of the whole title of a test. The values that a runner inserts for each row of a table
/// are unknown.
fn title_pattern(test: &SelectedTest) -> String {
    let mut pattern = String::new();
    let mut rest = test.name.as_str();
    while let Some(at) = rest.find(['%', '$']) {
        pattern.push_str(&regex::escape(&rest[..at]));
        pattern.push_str(".*");
        let marked = &rest[at + 1..];
        let end = match marked.strip_prefix('{') {
            Some(inner) => inner.find('}').map_or(marked.len(), |end| end + 2),
            None => marked
                .find(|letter: char| !letter.is_alphanumeric() && !".#".contains(letter))
                .unwrap_or(marked.len()),
        };
        rest = &marked[end..];
    }
    pattern.push_str(&regex::escape(rest));
    pattern
}

/// The command of the script that passes further words on to the runner.
fn node_script(folder: &dyn ProjectFolder) -> String {
    let manager = package_manager(folder);
    format!("{manager} run test{}", if manager == "npm" { " --" } else { "" })
}

/// The package manager, according to its lock file.
fn package_manager(folder: &dyn ProjectFolder) -> &'static str {
    let locks =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
    locks.iter().find(|(lock, _)| folder.has(lock)).map_or("npm", |(_, manager)| manager)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeRunner {
    Vitest,
    Jest,
    Mocha,
    Playwright,
    Node,
}

impl NodeRunner {
    fn word(self) -> &'static str {
        match self {
            Self::Vitest => "vitest",
            Self::Jest => "jest",
            Self::Mocha => "mocha",
            Self::Playwright => "playwright",
            Self::Node => "node",
        }
    }

    /// The option that takes a pattern of names.
    fn name_option(self) -> Option<&'static str> {
        match self {
            Self::Vitest | Self::Jest => Some("-t"),
            Self::Mocha | Self::Playwright => Some("-g"),
            // Options behind the files are the program's own.
            Self::Node => None,
        }
    }
}

fn runner_of(script: &str) -> Option<NodeRunner> {
    let runners =
        [NodeRunner::Vitest, NodeRunner::Jest, NodeRunner::Mocha, NodeRunner::Playwright, NodeRunner::Node];
    runners.into_iter().find(|runner| script.split([' ', '/', '&']).any(|word| word == runner.word()))
}

pub(super) fn deno(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    let file = ["deno.json", "deno.jsonc"].into_iter().find(|file| folder.has(file))?;
    let plan = TestRunPlan::new("deno test", format!("{file} is here"));
    let plan = match wanted.names.is_empty() {
        true => plan,
        false => plan.with_words([format!("--filter=/{}/", any_of(&wanted.names))]),
    };
    Some(plan.with_words(&wanted.files))
}

pub(super) fn python(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    let names = |word: &str, file: &str| folder.text(file).is_some_and(|text| text.contains(word));
    let pytest = [
        ("[tool.pytest", "pyproject.toml"),
        ("", "pytest.ini"),
        ("[tool:pytest]", "setup.cfg"),
        ("pytest", "tox.ini"),
        ("pytest", "noxfile.py"),
        ("pytest", "Pipfile"),
        ("pytest", "pyproject.toml"),
        ("pytest", "requirements.txt"),
        ("pytest", "requirements-dev.txt"),
        ("", "conftest.py"),
        ("", "tests/conftest.py"),
    ];
    // A folder of tests often has these, but its tests run from another folder.
    let is_weak = |file: &str| file.ends_with("conftest.py") || file.starts_with("requirements");
    let counts = |file: &str| !is_weak(file) || folder.is_last_resort();
    let sign = pytest.into_iter().filter(|(_, file)| counts(file)).find(|(word, file)| names(word, file));
    let sign = sign.map(|(word, file)| match word {
        "" => format!("{file} is here"),
        word => format!("{file} has `{word}`"),
    });
    let needs = || {
        let is_project = ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|file| folder.has(file));
        // unittest runs no functions.
        let is_function = |line: &str| {
            let name = line.strip_prefix("async ").unwrap_or(line).strip_prefix("def test_");
            // unittest calls this one itself.
            name.is_some_and(|name| !name.starts_with("suite("))
        };
        let reason = |file: &String| match folder.text(file)? {
            text if text.contains("import pytest") => Some(format!("{file} has `import pytest`")),
            text => text.lines().any(is_function).then(|| format!("{file} has test functions")),
        };
        wanted.files.iter().find_map(reason).filter(|_| is_project || folder.is_last_resort())
    };
    let (python, set_up) = python_program(folder);
    if let Some(reason) = sign.or_else(needs) {
        let plan = TestRunPlan::new(format!("{python} -m pytest"), reason).with_set_up(set_up);
        let plan = match wanted.tests.is_empty() {
            true => plan.with_words(&wanted.files),
            false => plan.with_words(wanted.whole_files()).with_words(wanted.tests.iter().map(node_id)),
        };
        return Some(match wanted.names.is_empty() {
            true => plan,
            false => plan.with_words(["-k".to_owned(), wanted.names.join(" or ")]),
        });
    }
    let wanted = &wanted.by_parts_of_names();
    let tests = ["tests", "test"].into_iter().find(|tests| folder.has(tests));
    let beside = folder.names().iter().any(|name| name.starts_with("test_") && name.ends_with(".py"));
    let project = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"];
    let file = project.into_iter().find(|file| folder.has(file));
    let reason = match (file, beside) {
        (Some(file), _) => format!("{file} is here and does not name pytest"),
        (None, true) if folder.is_last_resort() => "there are test_*.py".to_owned(),
        (None, _) => return None,
    };
    let plan = TestRunPlan::new(format!("{python} -m unittest"), reason);
    let plan = match (wanted.files.is_empty(), tests) {
        (false, _) => plan.with_words(&wanted.files),
        (true, Some(tests)) if !beside => plan.with_words(["discover", "-s", tests]),
        (true, _) => plan,
    };
    Some(plan.with_words(wanted.names.iter().flat_map(|name| ["-k", name])))
}

/// The id of a test: `tests/test_cart.py::TestCart::test_add`.
fn node_id(test: &SelectedTest) -> String {
    format!("{}::{}", test.file, test.name.replace('.', "::"))
}

/// The Python of the project's own environment, if it has one, and the command that installs pytest
/// there.
fn python_program(folder: &dyn ProjectFolder) -> (String, String) {
    let lists = ["requirements-dev.txt", "requirements-test.txt", "requirements.txt"];
    let names_pytest = |list: &&str| folder.text(list).is_some_and(|text| text.contains("pytest"));
    let wanted =
        lists.into_iter().find(names_pytest).map_or("pytest".to_owned(), |list| format!("-r {list}"));
    if let Some(ProjectPython { program, has_pip }) = folder.python() {
        let word = shell_word(&program).into_owned();
        let set_up = match has_pip {
            true => format!("{word} -m pip install {wanted}"),
            false => format!("uv pip install --python {word} {wanted}"),
        };
        return (word, set_up);
    }
    let (program, set_up) = if folder.has("uv.lock") {
        ("uv run python", "uv sync --all-extras --all-groups".to_owned())
    } else if folder.has("poetry.lock") {
        ("poetry run python", "poetry install --all-extras".to_owned())
    } else {
        ("python3", format!("python3 -m venv .venv && .venv/bin/python -m pip install {wanted}"))
    };
    (program.to_owned(), set_up)
}

pub(super) fn mix(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    folder.text("mix.exs")?;
    let plan = TestRunPlan::new("mix test", "mix.exs is here").with_set_up("mix deps.get");
    Some(plan.with_words(&wanted.files).without_names(wanted))
}

pub(super) fn ruby(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    let bundled = if folder.has("Gemfile") { "bundle exec " } else { "" };
    if folder.has(".rspec") || folder.has("spec/spec_helper.rb") {
        let plan = TestRunPlan::new(format!("{bundled}rspec"), "spec/ is written for rspec")
            .with_words(&wanted.files)
            .with_set_up("bundle install");
        return Some(plan.with_words(wanted.names.iter().flat_map(|name| ["-e", name])));
    }
    folder.text("Rakefile").filter(|text| text.contains("TestTask") || text.contains(":test"))?;
    let plan = TestRunPlan::new(format!("{bundled}rake test"), "Rakefile has the task `test`")
        .with_set_up("bundle install");
    Some(match wanted.files.as_slice() {
        [] => plan.without_names(wanted),
        [file] => plan.with_words([format!("TEST={file}")]).without_names(wanted),
        _ => plan.without_files(wanted).without_names(wanted),
    })
}

pub(super) fn php(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    let file =
        ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"].into_iter().find(|file| folder.has(file))?;
    let plan =
        TestRunPlan::new("vendor/bin/phpunit", format!("{file} is here")).with_set_up("composer install");
    let plan = plan.with_any_of("--filter", &wanted.names);
    // phpunit takes one file or folder.
    Some(match wanted.files.as_slice() {
        [] => plan,
        [file] => plan.with_words([file]),
        _ => plan.without_files(wanted),
    })
}

pub(super) fn dart(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    let text = folder.text("pubspec.yaml")?;
    let program = if text.lines().any(|line| line.trim() == "sdk: flutter") { "flutter" } else { "dart" };
    let plan = TestRunPlan::new(format!("{program} test"), "pubspec.yaml is here").with_words(&wanted.files);
    Some(plan.with_any_of("--name", &wanted.names))
}
