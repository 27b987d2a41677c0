//! Failures of a test run before its first test: the runner, or the program that starts it, is
//! missing.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use crate::analysis::error::{ErrorCode, ToolError};

/// The status of a shell that may not run a program.
const CANNOT_RUN: i64 = 126;
/// The status of a shell that does not find a program.
const NOT_FOUND: i64 = 127;
/// The status of pytest for wrong options and for a `conftest.py` that cannot be loaded.
const PYTEST_USAGE: i64 = 4;

/// Patterns of lines with which runners report that they cannot start, regardless of their status.
static SIGNS: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    let signs = [
        r"^\S*python[\d.]*: No module named \w",
        r"^npm (ERR!|error) .*(canceled due to missing packages|could not determine executable to run)",
        r"node_modules missing, did you mean to install\?",
        r"^error: (no such command|rustup could not choose a version|toolchain '.*' is not installed)",
        r"^go: .*(toolchain not available|requires go >= )",
        r"^bundler: (command not found|failed to load command)|^Could not find .* in (any of|locally)",
        r"^Unchecked dependencies for environment|^Could not find Hex",
        r"No \.NET SDKs were found|compatible \.NET SDK was not found",
        r"JAVA_HOME (is not set|environment variable is not defined)",
        r"^make: \*\*\* .* Error 127$|^make: .*: No such file or directory$",
    ];
    RegexSet::new(signs).ok()
});
/// Patterns of lines that name a program which a shell, a package manager or make does not find or
/// may not run.
static LACKING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let lacking = r"(?:^|[\s:])([\w./+@-]+): (?:(?:command )?not found|No such file or directory|Permission denied)$|command not found: (\S+)";
    Regex::new(lacking).ok()
});

/// Programs that no project installs, each with the command that does.
const TOOLCHAINS: &[(&str, &str)] = &[
    ("bun", "npm install --global bun"),
    ("bundle", "gem install bundler"),
    ("cargo", "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"),
    ("ctest", "apt install cmake"),
    ("deno", "npm install --global deno"),
    ("dotnet", "apt install dotnet-sdk-8.0"),
    ("go", "apt install golang"),
    ("gradle", "apt install gradle"),
    ("just", "cargo install just"),
    ("make", "apt install make"),
    ("mix", "apt install elixir"),
    ("mvn", "apt install maven"),
    ("node", "apt install nodejs"),
    ("npm", "apt install npm"),
    ("npx", "apt install npm"),
    ("php", "apt install php-cli"),
    ("pnpm", "npm install --global pnpm"),
    ("poetry", "pipx install poetry"),
    ("python3", "apt install python3"),
    ("rake", "gem install rake"),
    ("rspec", "gem install rspec"),
    ("uv", "pipx install uv"),
    ("yarn", "npm install --global yarn"),
];

/// An ended test command.
pub(crate) struct EndedRun<'a> {
    /// The command.
    pub(crate) command: &'a str,
    /// The command that installs the dependencies of the project's tests, if known.
    pub(crate) set_up: Option<&'a str>,
    /// The exit code.
    pub(crate) exit_code: i64,
    /// The standard output and the standard error.
    pub(crate) output: [&'a str; 2],
}

impl EndedRun<'_> {
    /// Returns true for a run of pytest that failed before the first line of a session, or because
    /// of wrong options.
    fn is_silent_pytest(&self) -> bool {
        let is_silent = self.output[0].trim().is_empty() || self.exit_code == PYTEST_USAGE;
        is_silent && self.command.contains("-m pytest")
    }

    /// The error of a run in which no test was started, with the command that helps; `None` if
    /// tests ran.
    pub(crate) fn start_failure(&self) -> Option<ToolError> {
        let lines = || self.output.iter().flat_map(|text| text.lines()).map(str::trim);
        // Before Python 3.12, this is success.
        let mut totals = lines().filter(|line| line.starts_with("Ran ")).peekable();
        let is_empty = totals.peek().is_some() && totals.all(|line| line.starts_with("Ran 0 tests in "));
        if is_empty && self.command.contains("unittest") {
            let error = ToolError::new(ErrorCode::ServerFailed, "no test ran: unittest found none");
            return Some(error.with_hint("test functions outside of a TestCase need pytest"));
        }
        let lacking = |line: &str| {
            let found = LACKING.as_ref()?.captures(line)?;
            Some(found.get(1).or_else(|| found.get(2))?.as_str().to_owned())
        };
        let line = match self.exit_code {
            0 => return None,
            CANNOT_RUN | NOT_FOUND => lines().rfind(|line| lacking(line).is_some()),
            1..=PYTEST_USAGE if self.is_silent_pytest() => lines()
                .rfind(|line| line.contains("rror: ") || line.starts_with("ERROR: "))
                .or_else(|| lines().rfind(|line| !line.is_empty())),
            _ => Some(lines().find(|line| SIGNS.as_ref().is_some_and(|signs| signs.is_match(line)))?),
        };
        let program = line.and_then(lacking);
        let toolchain = TOOLCHAINS.iter().find(|(name, _)| program.as_deref() == Some(*name));
        let remedy = match (toolchain, &program) {
            (Some((_, command)), _) => Some((*command).to_owned()),
            (None, Some(program)) if self.exit_code == CANNOT_RUN => Some(format!("chmod +x {program}")),
            (None, _) => self.set_up.map(str::to_owned),
        };
        let reason = match line {
            Some(line) => format!(": {line}"),
            None => format!(" (exit status {})", self.exit_code),
        };
        let error = format!("no test ran, because the test runner could not start{reason}");
        let error = ToolError::new(ErrorCode::ServerFailed, error);
        Some(match remedy {
            Some(remedy) => error.with_hint(format!("run: {remedy}")),
            None => {
                error.with_hint(format!("run the command in a terminal to see the reason: {}", self.command))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(command: &str, exit_code: i64, written: &str) -> Option<(String, String)> {
        let set_up = Some("npm install");
        let output = if written.contains("in 0.1s") { [written, ""] } else { ["", written] };
        let error = EndedRun { command, set_up, exit_code, output }.start_failure()?;
        Some((error.error, error.hint.unwrap_or_default()))
    }

    #[test]
    fn run_that_could_not_start_is_told_from_failed_tests_and_names_the_remedy() {
        let cases = [
            (".venv/bin/python -m pytest", 1, "/w/.venv/bin/python: No module named pytest", "npm install"),
            ("npm run test --", 127, "> vitest run\n\nsh: 1: vitest: not found", "npm install"),
            (
                "pnpm run test",
                1,
                "Local package.json exists, but node_modules missing, did you mean to install?",
                "npm install",
            ),
            (
                "npx --no-install jest",
                1,
                "npm error npx canceled due to missing packages and no YES option: [\"jest@30\"]",
                "npm install",
            ),
            ("cargo test", 127, "/bin/sh: 1: cargo: not found", "sh.rustup.rs"),
            ("go test ./...", 127, "bash: line 1: go: command not found", "apt install golang"),
            ("./mvnw -B test", 126, "/bin/sh: 1: ./mvnw: Permission denied", "chmod +x ./mvnw"),
            (
                "make test",
                2,
                "make: pytest: No such file or directory\nmake: *** [Makefile:2: test] Error 127",
                "npm install",
            ),
            (
                "python3 -m pytest",
                1,
                "Traceback (most recent call last):\nModuleNotFoundError: No module named 'trio'\n\nduring this",
                "npm install",
            ),
            (
                "python3 -m pytest",
                4,
                "ImportError while loading conftest '/w/conftest.py'.\nE   ModuleNotFoundError: No module named 'x'",
                "npm install",
            ),
        ];
        for (command, status, written, remedy) in cases {
            let (error, hint) =
                failure(command, status, written).unwrap_or_else(|| panic!("{command}: {written}"));
            assert!(error.starts_with("no test ran") && hint.contains(remedy), "{command}: {error}, {hint}");
        }
        assert!(failure("cargo test", 127, "").is_some());
        let (error, hint) =
            failure("python3 -m unittest", 0, "\nRan 0 tests in 0.000s\n\nOK").expect("an error");
        assert!(error.starts_with("no test ran") && hint.contains("pytest"), "{error}, {hint}");
        let two = "Ran 0 tests in 0.000s\nOK\nRan 1 test in 0.001s\nOK";
        assert_eq!(failure("python3 -m unittest a; python3 -m unittest b", 0, two), None);
        for (command, status, written) in [
            ("python3 -m pytest", 1, "E   ModuleNotFoundError: No module named 'shop'\n1 error in 0.1s"),
            ("cargo test", 101, "error: test failed, to rerun pass `--lib`"),
            ("npm run test --", 1, "Error: cat: x: No such file or directory"),
            ("make test", 0, "make: pytest: No such file or directory"),
        ] {
            assert_eq!(failure(command, status, written), None, "{command}: {written}");
        }
    }
}
