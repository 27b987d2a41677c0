//! The recipes of a server: packages by package manager, and their requirements.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ways to install a server: packages by package manager, and the alternatives if these are not
/// available.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InstallSpec {
    /// Components of the user's Rust toolchain (`rust-analyzer`).
    #[serde(default)]
    pub(crate) rustup: Vec<String>,
    /// Packages from PyPI, pinned (`python-lsp-server[all]==1.15.0`), installed into a virtual
    /// environment of their own.
    #[serde(default)]
    pub pip: Vec<String>,
    /// The PyPI packages that may be built from source, with the reason.
    #[serde(default)]
    pub(crate) pip_source: BTreeMap<String, String>,
    /// Packages from npm, pinned (`pyright@1.1.400`), installed under a prefix of their own.
    #[serde(default)]
    pub npm: Vec<String>,
    /// Crates, pinned (`taplo-cli@0.9.3`), installed under a root of their own.
    #[serde(default)]
    pub cargo: Vec<String>,
    /// Features of the crates in `cargo`.
    #[serde(default)]
    pub(crate) cargo_features: Vec<String>,
    /// Go modules, pinned (`golang.org/x/tools/gopls@v0.24.0`).
    #[serde(default)]
    pub(crate) go: Vec<String>,
    /// Ruby gems, pinned (`ruby-lsp:0.26.0`).
    #[serde(default)]
    pub(crate) gem: Vec<String>,
    /// .NET tools, pinned (`csharp-ls@0.19.0`).
    #[serde(default)]
    pub(crate) dotnet: Vec<String>,
    /// Packages of Debian, with the suite (`gopls/sid`), unpacked under a root of their own.
    #[serde(default)]
    pub(crate) deb: Vec<String>,
    /// The alternatives, in the order of the attempts, if the packages above are not available.
    #[serde(default)]
    pub(crate) or: Vec<Recipe>,
    /// A program that the server, or its build, needs beside itself.
    pub(crate) needs: Option<RequiredProgram>,
    /// The command that advice shows; derived from the recipes if absent.
    pub advice: Option<String>,
    /// The instructions for an installation by hand (system packages, downloads).
    pub manual: Option<String>,
}

/// The packages of one way to install a server, in the terms of [`InstallSpec`]. An installation is
/// recorded in this form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Recipe {
    /// Components of the user's Rust toolchain, as in `install`.
    pub(crate) rustup: Vec<String>,
    /// Packages from PyPI, pinned, as in `install`.
    pub(crate) pip: Vec<String>,
    /// The PyPI packages that may be built from source, with the reason.
    pub(crate) pip_source: BTreeMap<String, String>,
    /// Packages from npm, pinned, as in `install`.
    pub(crate) npm: Vec<String>,
    /// Crates, pinned, as in `install`.
    pub(crate) cargo: Vec<String>,
    /// Features of the crates in `cargo`.
    pub(crate) cargo_features: Vec<String>,
    /// Go modules, pinned, as in `install`.
    pub(crate) go: Vec<String>,
    /// Ruby gems, pinned, as in `install`.
    pub(crate) gem: Vec<String>,
    /// .NET tools, pinned, as in `install`.
    pub(crate) dotnet: Vec<String>,
    /// Packages of Debian, with the suite, as in `install`.
    pub(crate) deb: Vec<String>,
}

impl Recipe {
    /// Every package, as the catalogue names it.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &String> {
        let Self { rustup, pip, pip_source: _, npm, cargo, cargo_features: _, go, gem, dotnet, deb } = self;
        [rustup, pip, npm, cargo, go, gem, dotnet, deb].into_iter().flatten()
    }

    /// Returns true if there is nothing to install.
    pub(crate) fn is_empty(&self) -> bool {
        self.packages().next().is_none()
    }
}

impl InstallSpec {
    /// Returns true if `lsp-tools install` can install the server.
    pub fn has_recipe(&self) -> bool {
        !self.recipes().is_empty()
    }

    /// Returns every way to install the server, in the order of the attempts; empty if it is
    /// installed by hand.
    pub fn recipes(&self) -> Vec<Recipe> {
        let first = Recipe {
            rustup: self.rustup.clone(),
            pip: self.pip.clone(),
            pip_source: self.pip_source.clone(),
            npm: self.npm.clone(),
            cargo: self.cargo.clone(),
            cargo_features: self.cargo_features.clone(),
            go: self.go.clone(),
            gem: self.gem.clone(),
            dotnet: self.dotnet.clone(),
            deb: self.deb.clone(),
        };
        [first].into_iter().chain(self.or.iter().cloned()).filter(|recipe| !recipe.is_empty()).collect()
    }
}

/// A program that is installed with a server unless PATH has one that is new enough.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct RequiredProgram {
    /// The name of the required program ("go").
    pub(crate) program: String,
    /// The arguments with which this program prints its version.
    pub(crate) version: Vec<String>,
    /// The minimum version of the program ("1.21").
    pub(crate) at_least: String,
    /// Pinned PyPI packages that contain the program.
    pub(crate) pip: Vec<String>,
}
