//! What is run to install a server: its recipes as commands of the package managers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{InstallError, deb};
use crate::config::spec::{Needs, Recipe};

/// The packages of one way to install a server, checked: a package manager takes none of them for an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipes(Recipe);

/// One command of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What runs.
    pub program: Program,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables set beside the user's.
    pub env: BTreeMap<OsString, OsString>,
    /// What it does, in words for people ("npm install pyright@1.1.414").
    pub words: String,
}

/// What a step runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A tool looked for on PATH.
    Tool(Tool),
    /// Something that an earlier step made.
    Made(PathBuf),
}

/// The tools that have to be there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `rustup`.
    Rustup,
    /// `python3`.
    Python,
    /// `npm`.
    Npm,
    /// `cargo`.
    Cargo,
    /// `go`.
    Go,
    /// `gem`.
    Gem,
    /// `dotnet`.
    Dotnet,
    /// `apt-get`.
    AptGet,
}

impl Tool {
    /// The program's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rustup => "rustup",
            Self::Python => "python3",
            Self::Npm => "npm",
            Self::Cargo => "cargo",
            Self::Go => "go",
            Self::Gem => "gem",
            Self::Dotnet => "dotnet",
            Self::AptGet => "apt-get",
        }
    }

    /// How to get it.
    pub fn mend(self) -> &'static str {
        match self {
            Self::Rustup => "install Rust with rustup (https://rustup.rs)",
            Self::Python => "install Python 3 (Debian, Ubuntu: apt install python3 python3-venv)",
            Self::Npm => "install Node.js with npm (Debian, Ubuntu: apt install npm; or https://nodejs.org)",
            Self::Cargo => "install Rust (https://rustup.rs)",
            Self::Go => "install Go (Debian, Ubuntu: apt install golang; or https://go.dev/dl)",
            Self::Gem => "install Ruby (Debian, Ubuntu: apt install ruby)",
            Self::Dotnet => "install the .NET SDK (https://dotnet.microsoft.com/download)",
            Self::AptGet => "it is part of Debian and what derives from it",
        }
    }
}

impl Recipes {
    /// The recipe of a server, checked. Errors: [`InstallError::Recipe`] for a package that a package manager would take
    /// for an option, or that lacks the version, or Debian's suite, where the command needs it apart.
    pub fn of(server: &str, recipe: Recipe) -> Result<Self, InstallError> {
        let wrong = |package: &&String| package.starts_with('-') || package.trim().is_empty();
        let unversioned =
            |package: &&String| package.split_once('@').is_none_or(|(_, version)| version.is_empty());
        let bad = recipe.packages().find(wrong);
        let bad = bad.or_else(|| recipe.dotnet.iter().find(unversioned));
        let bad = bad.or_else(|| recipe.deb.iter().find(|package| deb::parts(package).is_none()));
        match bad {
            Some(package) => {
                Err(InstallError::Recipe { server: server.to_owned(), package: package.clone() })
            }
            None => Ok(Self(recipe)),
        }
    }

    /// The same with the packages that bring what the server needs beside itself.
    pub fn bringing(&self, needs: &Needs) -> Self {
        let mut recipe = self.0.clone();
        recipe.pip.extend(needs.pip.iter().cloned());
        Self(recipe)
    }

    /// As it is remembered; two that are equal make the same prefix.
    pub fn recipe(&self) -> &Recipe {
        &self.0
    }

    /// How long it may take: a build takes its time on a small machine.
    pub fn longest(&self) -> Duration {
        let builds = !self.0.cargo.is_empty() || !self.0.go.is_empty();
        Duration::from_secs(60 * if builds { 60 } else { 15 })
    }

    /// Whether a Python environment is part of it.
    pub fn has_python(&self) -> bool {
        !self.0.pip.is_empty()
    }

    /// The commands that fill `folder`, in order.
    pub fn steps(&self, folder: &Path) -> Vec<Step> {
        let Recipe { rustup, pip, npm, cargo, cargo_features, go, gem, dotnet, deb } = &self.0;
        let mut steps = Vec::new();
        if !rustup.is_empty() {
            steps.push(component(rustup));
        }
        if !pip.is_empty() {
            steps.extend(self::pip(pip, &folder.join("venv")));
        }
        if !npm.is_empty() {
            steps.push(self::npm(npm, &folder.join("npm")));
        }
        if !cargo.is_empty() {
            steps.push(self::cargo(cargo, cargo_features, &folder.join("cargo")));
        }
        steps.extend(go.iter().map(|module| self::go(module, &folder.join("go/bin"))));
        if !gem.is_empty() {
            steps.push(self::gem(gem, &folder.join("gem")));
        }
        let tools = dotnet.iter().filter_map(|package| package.split_once('@'));
        steps.extend(tools.map(|(name, version)| self::dotnet(name, version, &folder.join("dotnet"))));
        steps.extend(deb::steps(deb, folder));
        steps
    }
}

pub(super) fn step(program: Program, words: String, args: &[&str]) -> Step {
    Step { program, args: args.iter().map(OsString::from).collect(), env: BTreeMap::new(), words }
}

impl Step {
    pub(super) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(super) fn args(mut self, args: &[String]) -> Self {
        self.args.extend(args.iter().map(OsString::from));
        self
    }

    fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }
}

/// Into the toolchain that is the user's default: its folder is none of a project.
fn component(names: &[String]) -> Step {
    let words = format!("rustup component add {}", names.join(" "));
    step(Program::Tool(Tool::Rustup), words, &["component", "add"]).args(names)
}

/// Says where the program of a component is.
pub(super) fn which_component(program: &str) -> Step {
    step(Program::Tool(Tool::Rustup), format!("rustup which {program}"), &["which", program])
}

fn pip(packages: &[String], folder: &Path) -> [Step; 2] {
    let make = step(Program::Tool(Tool::Python), "python3 -m venv".into(), &["-m", "venv"]).arg(folder);
    let words = format!("pip install {}", packages.join(" "));
    let options =
        ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--"];
    let fill = step(Program::Made(folder.join("bin/python")), words, &options).args(packages);
    // The user's settings may send packages elsewhere; pip takes an empty setting as none.
    let elsewhere = ["PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONPATH", "PYTHONHOME"];
    let fill = elsewhere.iter().fold(fill, |step, name| step.env(name, ""));
    [make.env("PYTHONHOME", ""), fill.env("PIP_USER", "0")]
}

/// Without install scripts: they run code of every package below, and no server of the catalogue needs them.
fn npm(packages: &[String], folder: &Path) -> Step {
    let words = format!("npm install {}", packages.join(" "));
    let options =
        ["install", "--location=project", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    let step = step(Program::Tool(Tool::Npm), words, &options);
    step.args(&["--no-update-notifier".into(), "--prefix".into()]).arg(folder).arg("--").args(packages)
}

fn cargo(packages: &[String], features: &[String], root: &Path) -> Step {
    let words = format!("cargo install {}", packages.join(" "));
    let mut step = step(Program::Tool(Tool::Cargo), words, &["install", "--locked", "--root"]).arg(root);
    if !features.is_empty() {
        step = step.arg("--features").arg(features.join(","));
    }
    // As cheap as a build can be whose program is still fast: no optimisation across crates, no debug information.
    let cheap = [("LTO", "off"), ("CODEGEN_UNITS", "16"), ("DEBUG", "0")];
    let step = step.arg("--").args(packages);
    cheap
        .into_iter()
        .fold(step, |step, (what, value)| step.env(&format!("CARGO_PROFILE_RELEASE_{what}"), value))
}

fn go(module: &str, bin: &Path) -> Step {
    let step = step(Program::Tool(Tool::Go), format!("go install {module}"), &["install", "--", module]);
    step.env("GOBIN", bin).env("GOFLAGS", "").env("GO111MODULE", "on")
}

fn gem(gems: &[String], folder: &Path) -> Step {
    let words = format!("gem install {}", gems.join(" "));
    let step = step(Program::Tool(Tool::Gem), words, &["install", "--no-document", "--no-user-install"]);
    step.arg("--install-dir").arg(folder).arg("--bindir").arg(folder.join("stubs")).args(gems)
}

fn dotnet(name: &str, version: &str, folder: &Path) -> Step {
    let words = format!("dotnet tool install {name} {version}");
    let step = step(Program::Tool(Tool::Dotnet), words, &["tool", "install", name, "--version", version]);
    step.arg("--tool-path").arg(folder).env("DOTNET_CLI_TELEMETRY_OPTOUT", "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(toml: &str) -> Recipe {
        toml::from_str(toml).unwrap()
    }

    #[test]
    fn a_package_cannot_be_an_option() {
        for bad in [
            "pip = ['--index-url=http://x']",
            "npm = ['']",
            "dotnet = ['csharp-ls']",
            "dotnet = ['csharp-ls@']",
            "deb = ['gopls']",
            "deb = ['gopls/']",
            "deb = ['gopls/sid main [trusted=yes]']",
        ] {
            let error = Recipes::of("s", recipe(bad)).unwrap_err();
            assert!(matches!(error, InstallError::Recipe { .. }), "{bad}");
        }
        assert!(Recipes::of("s", recipe("npm = ['@vue/language-server@3.0.0']")).is_ok());
    }

    #[test]
    fn every_recipe_is_a_step_below_the_folder() {
        let all = "rustup = ['r']\npip = ['a==1']\nnpm = ['b@1']\ncargo = ['c@1']\ncargo-features = ['x', 'y']\n\
                   go = ['d@v1', 'e@v1']\ngem = ['f:1']\ndotnet = ['g@1']\ndeb = ['h/sid', 'i/sid']";
        let steps = Recipes::of("s", recipe(all)).unwrap().steps(Path::new("/p"));
        let words: Vec<&str> = steps.iter().map(|step| step.words.as_str()).collect();
        let expected = [
            "rustup component add r",
            "python3 -m venv",
            "pip install a==1",
            "npm install b@1",
            "cargo install c@1",
            "go install d@v1",
            "go install e@v1",
            "gem install f:1",
            "dotnet tool install g 1",
            "apt-get update (Debian sid)",
            "apt-get download h/sid i/sid",
            "dpkg-deb --extract h/sid i/sid",
        ];
        assert_eq!(words, expected);
        for step in &steps {
            let below = |text: &OsString| text.to_str().is_some_and(|text| text.contains("/p/"));
            let elsewhere = [Program::Tool(Tool::Go), Program::Tool(Tool::Rustup)].contains(&step.program);
            let made = matches!(&step.program, Program::Made(path) if path.starts_with("/p"));
            let inside = step.args.iter().chain(step.env.values()).any(below);
            assert!(inside || made || elsewhere, "{}", step.words);
        }
        assert_eq!(steps[4].args[3..], ["/p/cargo", "--features", "x,y", "--", "c@1"].map(OsString::from));
    }
}
