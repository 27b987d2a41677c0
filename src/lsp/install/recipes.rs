//! What is run to install a server: its recipes as commands of the package managers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::InstallError;
use crate::config::spec;

/// What a server's private prefix is made of; two that are equal make the same prefix.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipes {
    pip: Vec<String>,
    npm: Vec<String>,
    cargo: Vec<String>,
    cargo_features: Vec<String>,
    go: Vec<String>,
    gem: Vec<String>,
    dotnet: Vec<String>,
}

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
}

impl Tool {
    /// The program's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::Npm => "npm",
            Self::Cargo => "cargo",
            Self::Go => "go",
            Self::Gem => "gem",
            Self::Dotnet => "dotnet",
        }
    }

    /// How to get it.
    pub fn mend(self) -> &'static str {
        match self {
            Self::Python => "install Python 3 (Debian, Ubuntu: apt install python3 python3-venv)",
            Self::Npm => "install Node.js with npm (Debian, Ubuntu: apt install npm; or https://nodejs.org)",
            Self::Cargo => "install Rust (https://rustup.rs)",
            Self::Go => "install Go (Debian, Ubuntu: apt install golang; or https://go.dev/dl)",
            Self::Gem => "install Ruby (Debian, Ubuntu: apt install ruby)",
            Self::Dotnet => "install the .NET SDK (https://dotnet.microsoft.com/download)",
        }
    }
}

impl Recipes {
    /// The recipes of a server. Errors: [`InstallError::Recipe`] for one that a package manager would take for an
    /// option, or that lacks the version where the command needs it apart.
    pub fn of(server: &str, install: &spec::Install) -> Result<Self, InstallError> {
        let recipes = Self {
            pip: install.pip.clone(),
            npm: install.npm.clone(),
            cargo: install.cargo.clone(),
            cargo_features: install.cargo_features.clone(),
            go: install.go.clone(),
            gem: install.gem.clone(),
            dotnet: install.dotnet.clone(),
        };
        let wrong = |package: &&String| package.starts_with('-') || package.trim().is_empty();
        let unversioned =
            |package: &&String| package.split_once('@').is_none_or(|(_, version)| version.is_empty());
        let bad = recipes.packages().find(wrong).or_else(|| recipes.dotnet.iter().find(unversioned));
        match bad {
            Some(package) => {
                Err(InstallError::Recipe { server: server.to_owned(), package: package.clone() })
            }
            None => Ok(recipes),
        }
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.packages().next().is_none()
    }

    /// Every package, as the catalogue names it.
    pub fn packages(&self) -> impl Iterator<Item = &String> {
        [&self.pip, &self.npm, &self.cargo, &self.go, &self.gem, &self.dotnet].into_iter().flatten()
    }

    /// Whether a Python environment is part of it.
    pub fn has_python(&self) -> bool {
        !self.pip.is_empty()
    }

    /// The commands that fill `folder`, in order.
    pub fn steps(&self, folder: &Path) -> Vec<Step> {
        let mut steps = Vec::new();
        if !self.pip.is_empty() {
            steps.extend(pip(&self.pip, &folder.join("venv")));
        }
        if !self.npm.is_empty() {
            steps.push(npm(&self.npm, &folder.join("npm")));
        }
        if !self.cargo.is_empty() {
            steps.push(cargo(&self.cargo, &self.cargo_features, &folder.join("cargo")));
        }
        steps.extend(self.go.iter().map(|module| go(module, &folder.join("go/bin"))));
        if !self.gem.is_empty() {
            steps.push(gem(&self.gem, &folder.join("gem")));
        }
        let packages = self.dotnet.iter().filter_map(|package| package.split_once('@'));
        steps.extend(packages.map(|(name, version)| dotnet(name, version, &folder.join("dotnet"))));
        steps
    }
}

fn step(program: Program, words: String, args: &[&str]) -> Step {
    Step { program, args: args.iter().map(OsString::from).collect(), env: BTreeMap::new(), words }
}

impl Step {
    fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    fn args(mut self, args: &[String]) -> Self {
        self.args.extend(args.iter().map(OsString::from));
        self
    }

    fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }
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
    step.arg("--").args(packages)
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

    fn install(toml: &str) -> spec::Install {
        toml::from_str(toml).unwrap()
    }

    #[test]
    fn a_package_cannot_be_an_option() {
        for bad in [
            "pip = ['--index-url=http://x']",
            "npm = ['']",
            "dotnet = ['csharp-ls']",
            "dotnet = ['csharp-ls@']",
        ] {
            let error = Recipes::of("s", &install(bad)).unwrap_err();
            assert!(matches!(error, InstallError::Recipe { .. }), "{bad}");
        }
        assert!(Recipes::of("s", &install("npm = ['@vue/language-server@3.0.0']")).is_ok());
    }

    #[test]
    fn every_recipe_is_a_step_below_the_folder() {
        let all = "pip = ['a==1']\nnpm = ['b@1']\ncargo = ['c@1']\ncargo-features = ['x', 'y']\n\
                   go = ['d@v1', 'e@v1']\ngem = ['f:1']\ndotnet = ['g@1']";
        let recipes = Recipes::of("s", &install(all)).unwrap();
        let steps = recipes.steps(Path::new("/p"));
        let words: Vec<&str> = steps.iter().map(|step| step.words.as_str()).collect();
        let expected = [
            "python3 -m venv",
            "pip install a==1",
            "npm install b@1",
            "cargo install c@1",
            "go install d@v1",
            "go install e@v1",
            "gem install f:1",
            "dotnet tool install g 1",
        ];
        assert_eq!(words, expected);
        for step in &steps {
            let below = |text: &OsString| text.to_str().is_some_and(|text| text.starts_with("/p/"));
            assert!(
                step.args.iter().chain(step.env.values()).any(below)
                    || step.program != Program::Tool(Tool::Go)
            );
        }
        assert_eq!(steps[3].args[3..], ["/p/cargo", "--features", "x,y", "--", "c@1"].map(OsString::from));
    }
}
