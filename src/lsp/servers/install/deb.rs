//! Debian packages without the system's package manager. They are fetched from the named suite,
//! checked against the keyring of the system's own archive, and unpacked into the private prefix.
//! Nothing is installed, and no script of a package runs.
//!
//! `apt-get` uses its own lists and cache there, so the system stays unchanged and no privileges
//! are needed. Dependencies are not fetched: recipes name packages that run without them.

use std::fs;
use std::io;
use std::path::Path;

use super::step::{InstallStep, PrerequisiteTool, StepProgram, step};

/// The archive of Debian's packages, regardless of the machine's own sources.
const ARCHIVE: &str = "http://deb.debian.org/debian";
/// The keys that Debian signs its suites with, from the package `debian-archive-keyring`.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// The folder of `apt-get`'s files, below the folder of the installation.
const OWN: &str = "apt";

/// Parses a package and its suite; `None` if one is missing or has characters that Debian does not
/// allow.
pub(crate) fn parse_package(package: &str) -> Option<(&str, &str)> {
    let plain = |word: &str| {
        let first = word.chars().next().is_some_and(|first| first.is_ascii_alphanumeric());
        first && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    };
    package.split_once('/').filter(|(name, suite)| plain(name) && plain(suite))
}

/// Writes the configuration that the steps read.
pub(crate) fn prepare(packages: &[String], folder: &Path) -> io::Result<()> {
    let own = folder.join(OWN);
    for inner in ["lists/partial", "archives/partial"] {
        fs::create_dir_all(own.join(inner))?;
    }
    let source = |suite: &str| format!("deb [signed-by={KEYRING} target=Packages] {ARCHIVE} {suite} main\n");
    fs::write(own.join("sources.list"), suites(packages).map(source).collect::<String>())
}

/// The commands that unpack `packages` into `<folder>/deb`.
pub(crate) fn steps(packages: &[String], folder: &Path) -> Vec<InstallStep> {
    if packages.is_empty() {
        return Vec::new();
    }
    let named: Vec<&str> = suites(packages).collect();
    let update =
        apt(folder, format!("apt-get update (Debian {})", named.join(", "))).args(&["update".into()]);
    let all = packages.join(" ");
    let download = apt(folder, format!("apt-get download {all}")).args(&["download".into()]).args(packages);
    // Each command runs in the folder, because `download` saves its files there.
    let unpack = "for file in ./*.deb; do dpkg-deb --extract \"$file\" \"$0\" || exit; rm \"$file\"; done; rm -r \"$1\"";
    let words = format!("dpkg-deb --extract {all}");
    let unpack = step(StepProgram::Made("/bin/sh".into()), words, &["-c", unpack]);
    vec![update, download, unpack.arg(folder.join("deb")).arg(folder.join(OWN))]
}

fn suites(packages: &[String]) -> impl Iterator<Item = &str> {
    let mut suites: Vec<&str> =
        packages.iter().filter_map(|package| Some(parse_package(package)?.1)).collect();
    suites.dedup();
    suites.into_iter()
}

fn apt(folder: &Path, words: String) -> InstallStep {
    let own = folder.join(OWN);
    let paths = [
        ("Dir::Etc::SourceList", own.join("sources.list")),
        ("Dir::Etc::SourceParts", "/dev/null".into()),
        ("Dir::State::Lists", own.join("lists")),
        ("Dir::Cache", own.clone()),
    ];
    let mut step = step(
        StepProgram::Tool(PrerequisiteTool::AptGet),
        words,
        &["--quiet", "--option", "Acquire::Languages=none"],
    );
    for (name, path) in paths {
        step = step.args(&["--option".into()]).arg(format!("{name}={}", path.display()));
    }
    let strict = ["APT::Get::AllowUnauthenticated=false", "Acquire::AllowInsecureRepositories=false"];
    strict.iter().fold(step, |step, option| step.args(&["--option".into()]).arg(*option))
}
