//! One program that an installation runs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::platform::paths::PYTHON;

/// One command of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstallStep {
    /// The program to run.
    pub(crate) program: StepProgram,
    /// Its arguments.
    pub(crate) args: Vec<OsString>,
    /// Variables set beside the user's.
    pub(crate) env: BTreeMap<OsString, OsString>,
    /// A description of the step ("npm install pyright@1.1.414").
    pub(crate) words: String,
}

/// The program of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepProgram {
    /// A tool on PATH.
    Tool(PrerequisiteTool),
    /// A program that an earlier step made.
    Made(PathBuf),
}

/// The tools that must be installed already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrerequisiteTool {
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

impl PrerequisiteTool {
    /// The program's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rustup => "rustup",
            Self::Python => PYTHON[1],
            Self::Npm => "npm",
            Self::Cargo => "cargo",
            Self::Go => "go",
            Self::Gem => "gem",
            Self::Dotnet => "dotnet",
            Self::AptGet => "apt-get",
        }
    }

    /// The way to install the tool.
    pub(crate) fn install_hint(self) -> &'static str {
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

pub(super) fn step(program: StepProgram, words: String, args: &[&str]) -> InstallStep {
    InstallStep { program, args: args.iter().map(OsString::from).collect(), env: BTreeMap::new(), words }
}

impl InstallStep {
    pub(super) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(super) fn args(mut self, args: &[String]) -> Self {
        self.args.extend(args.iter().map(OsString::from));
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }
}
