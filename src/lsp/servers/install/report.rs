//! Reports of pip and npm on fetched packages: hash mismatches and builds from source.

use super::error::InstallError;
use super::known_failure::{KnownFailure, without_traces};
use super::locks::RecipeLocks;
use crate::config::spec::Recipe;
use crate::lsp::servers::health;

/// The beginning of pip's report of a hash mismatch.
const PIP_DIFFERS: &str = "DO NOT MATCH THE HASHES";
/// The beginning of pip's report of a build.
const PIP_BUILDS: &str = "Building wheel for ";
/// The part of npm's report of a hash mismatch: `… integrity checksum failed when using sha512:
/// wanted HASH but got HASH. (9 bytes)`.
const NPM_DIFFERS: &str = "integrity checksum failed when using";

/// The maximum number of error lines that are kept, the first ones.
const MAX_ERROR_LINES: usize = 3;

/// The parsed output of one command.
#[derive(Debug, Default)]
pub(super) struct FetchReport {
    built: Vec<String>,
    errors: Vec<String>,
    known: Option<(&'static KnownFailure, String)>,
    pip: Option<PipMismatch>,
    npm: Option<NpmMismatch>,
}

/// The hash mismatch of the first package that has one.
#[derive(Debug, Default)]
struct PipMismatch {
    package: Option<String>,
    expected: Vec<String>,
    got: Option<String>,
}

#[derive(Debug)]
struct NpmMismatch {
    expected: String,
    got: String,
}

impl FetchReport {
    /// Takes one line of the command's output.
    pub(super) fn parse_line(&mut self, line: &str) {
        if self.errors.len() < MAX_ERROR_LINES && health::is_error_line(line) {
            self.errors.push(line.to_owned());
        }
        if self.known.is_none() {
            self.known = KnownFailure::in_line(line).map(|known| (known, line.trim().to_owned()));
        }
        if line.contains(PIP_DIFFERS) {
            self.pip.get_or_insert_default();
        } else if let Some(pip) = &mut self.pip {
            pip.parse_line(line.trim());
        }
        if line.contains(NPM_DIFFERS) && self.npm.is_none() {
            self.npm = NpmMismatch::in_line(line);
        }
        if let Some(name) = line.trim().strip_prefix(PIP_BUILDS) {
            let name = name.split([' ', ':']).next().unwrap_or(name).to_lowercase().replace(['_', '.'], "-");
            if !self.built.contains(&name) {
                self.built.push(name);
            }
        }
    }

    /// `error` with its cause, if that is known. Otherwise it gets the first error lines before its
    /// last lines, in which npm explains all its options.
    pub(super) fn with_causes(&self, error: InstallError) -> InstallError {
        let InstallError::Failed { command, exit, output } = error else { return error };
        if let Some((known, output_line)) = &self.known {
            let (cause, remedy) = (known.cause, known.remedy);
            return InstallError::Known { command, cause, said: output_line.clone(), remedy };
        }
        let output = without_traces(output);
        let mut lines = self.errors.clone();
        lines.retain(|line| !output.contains(line));
        lines.extend(output);
        InstallError::Failed { command, exit, output: lines }
    }

    /// Returns the error if other content than that of `locks` was fetched; `None` if no mismatch
    /// was reported.
    pub(super) fn mismatch(&self, server: &str, locks: &RecipeLocks) -> Option<InstallError> {
        let (registry, package, got, expected) = if let Some(pip) = &self.pip {
            let expected = match &pip.expected[..] {
                [one] => format!("sha256 {one}"),
                several => format!("one of {} hashes", several.len()),
            };
            let got = pip.got.as_ref().map(|hash| format!("sha256 {hash}"));
            ("PyPI", pip.package.clone(), got, expected)
        } else {
            let npm = self.npm.as_ref()?;
            ("npm", locks.npm_package(&npm.expected), Some(npm.got.clone()), npm.expected.clone())
        };
        Some(InstallError::Mismatch {
            server: server.to_owned(),
            package: package.unwrap_or_else(|| "a package".to_owned()),
            registry,
            got: got.unwrap_or_else(|| "another hash".to_owned()),
            expected,
        })
    }

    /// Lists the locked packages that were built from source, with the catalogue's reason.
    pub(super) fn built_notes(&self, recipe: &Recipe) -> Vec<String> {
        let note = |name: &String| {
            let reason = recipe.pip_source.get(name)?;
            Some(format!("{name} was built from source, with build tools that are not locked: {reason}"))
        };
        self.built.iter().filter_map(note).collect()
    }
}

impl PipMismatch {
    fn parse_line(&mut self, line: &str) {
        if self.got.is_some() {
            return;
        }
        if let Some(hash) =
            line.strip_prefix("Expected sha256 ").or_else(|| line.strip_prefix("Expected     or "))
        {
            self.expected.push(hash.trim().to_owned());
        } else if let Some(hash) = line.strip_prefix("Got ") {
            self.got = Some(hash.trim().to_owned());
        } else if let Some((package, _)) = line.split_once(" from ") {
            self.package.get_or_insert_with(|| package.to_owned());
        }
    }
}

impl NpmMismatch {
    fn in_line(line: &str) -> Option<Self> {
        let (_, hashes) = line.split_once(": wanted ")?;
        let (expected, got) = hashes.split_once(" but got ")?;
        let got = got.split_whitespace().next()?.trim_end_matches('.');
        Some(Self { expected: expected.to_owned(), got: got.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Exit;

    fn heard(lines: &str) -> Option<String> {
        let mut report = FetchReport::default();
        lines.lines().for_each(|line| report.parse_line(line));
        report.mismatch("s", &RecipeLocks::default()).map(|error| error.to_string())
    }

    #[test]
    fn fetch_report_names_package_with_hash_mismatch() {
        let pip = "Collecting ruff==1\nERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If …\n    \
                   ruff==1 from http://host/ruff-1.whl (from -r /p/requirements.txt (line 2)):\n        \
                   Expected sha256 aa\n        Expected     or bb\n             Got        cc\n";
        let said = heard(pip).unwrap();
        assert!(said.starts_with("ruff==1 from PyPI does not match the lock of s"), "{said}");
        assert!(said.contains("it has sha256 cc instead of one of 2 hashes"), "{said}");
        let npm = "npm ERR! code EINTEGRITY\nnpm ERR! sha512-a== integrity checksum failed when using sha512: wanted \
                   sha512-a== but got sha512-b==. (12 bytes)";
        let said = heard(npm).unwrap();
        assert!(said.contains("it has sha512-b== instead of sha512-a=="), "{said}");
        assert_eq!(heard("ERROR: No matching distribution found for ruff==1"), None);
    }

    #[test]
    fn cause_that_advice_pushed_out_of_the_last_words_comes_first() {
        let mut report = FetchReport::default();
        ["npm error code EUSAGE", "npm error the lock is not in sync", "npm error Usage:"]
            .iter()
            .for_each(|line| report.parse_line(line));
        let output = vec!["npm error Usage:".to_owned(), "npm error --help".to_owned()];
        let failed = InstallError::Failed { command: "npm ci".into(), exit: Exit::Code(1), output };
        let said = report.with_causes(failed).to_string();
        assert!(
            said.ends_with("npm error the lock is not in sync\nnpm error Usage:\nnpm error --help"),
            "{said}"
        );
    }

    #[test]
    fn fetch_report_names_source_builds_with_reason() {
        let recipe: Recipe = toml::from_str("pip = ['a==1']\npip-source = { b-c = 'no wheel' }").unwrap();
        let mut report = FetchReport::default();
        ["  Building wheel for B_c (pyproject.toml): started", "  Building wheel for d (setup.py): started"]
            .iter()
            .for_each(|line| report.parse_line(line));
        assert_eq!(
            report.built_notes(&recipe),
            ["b-c was built from source, with build tools that are not locked: no wheel"]
        );
    }
}
