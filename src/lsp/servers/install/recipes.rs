//! Recipes of the catalogue as commands of the package managers.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::deb;
use super::error::InstallError;
use super::locks::RecipeLocks;
use super::package_place::PackagePlace;
use super::step::{InstallStep, PrerequisiteTool, StepProgram, step};
use crate::config::spec::{Recipe, RequiredProgram};
use crate::platform::paths::{ENVIRONMENT_PROGRAMS, PYTHON};

/// The folder of npm's packages.
const NPM: &str = "npm";

/// The packages of one way to install a server, checked: a package manager reads none of them as an
/// option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckedRecipe {
    recipe: Recipe,
    locks: RecipeLocks,
}

impl CheckedRecipe {
    /// Checks the recipe of a server. Errors: [`InstallError::Recipe`] for a package that a package
    /// manager would read as an option, or that lacks the version, or Debian's suite, if the
    /// command needs it separately.
    pub(crate) fn new(server: &str, recipe: Recipe) -> Result<Self, InstallError> {
        let wrong = |package: &&String| package.starts_with('-') || package.trim().is_empty();
        let unversioned =
            |package: &&String| package.split_once('@').is_none_or(|(_, version)| version.is_empty());
        let bad = recipe.packages().find(wrong);
        let bad = bad.or_else(|| recipe.dotnet.iter().find(unversioned));
        let bad = bad.or_else(|| recipe.deb.iter().find(|package| deb::parse_package(package).is_none()));
        match bad {
            Some(package) => {
                Err(InstallError::Recipe { server: server.to_owned(), package: package.clone() })
            }
            None => Ok(Self::with_locks(recipe)),
        }
    }

    fn with_locks(recipe: Recipe) -> Self {
        let locks = RecipeLocks::for_recipe(&recipe);
        Self { recipe, locks }
    }

    /// Adds the packages that bring the program that the server needs beside itself.
    pub(crate) fn with_packages_of(&self, needs: &RequiredProgram) -> Self {
        let mut recipe = self.recipe.clone();
        recipe.pip.extend(needs.pip.iter().cloned());
        Self::with_locks(recipe)
    }

    /// The recorded recipe; equal recipes make the same prefix.
    pub(crate) fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The locked dependencies of its pip and npm packages; equal, too, if two recipes make the
    /// same prefix.
    pub(crate) fn locks(&self) -> &RecipeLocks {
        &self.locks
    }

    /// Writes the locks to the places that the steps read.
    pub(crate) fn prepare(&self, folder: &Path) -> io::Result<()> {
        deb::prepare(&self.recipe.deb, folder)?;
        self.locks.write(folder, &folder.join(NPM))
    }

    /// The time limit of the installation: a build takes its time on a small machine.
    pub(crate) fn max_duration(&self) -> Duration {
        let builds = !self.recipe.cargo.is_empty() || !self.recipe.go.is_empty();
        Duration::from_secs(60 * if builds { 60 } else { 15 })
    }

    /// Returns true if a Python environment is part of it.
    pub(crate) fn has_python(&self) -> bool {
        !self.recipe.pip.is_empty()
    }

    /// The interpreters of the programs that the package managers install.
    pub(crate) fn interpreters(&self) -> Vec<&'static str> {
        let Recipe { rustup, npm, cargo, go, gem, dotnet, .. } = &self.recipe;
        let runs = [
            (npm, "node"),
            (go, "go"),
            (gem, "ruby"),
            (dotnet, "dotnet"),
            (rustup, "cargo"),
            (cargo, "cargo"),
        ];
        names_with_packages(runs).collect()
    }

    /// The first package manager of the recipe whose packages cannot be saved in a folder.
    pub(super) fn online_manager(&self) -> Option<&'static str> {
        let Recipe { rustup, cargo, go, gem, dotnet, deb, .. } = &self.recipe;
        let managers = [
            (rustup, "rustup"),
            (cargo, "cargo"),
            (go, "go"),
            (gem, "gem"),
            (dotnet, "dotnet"),
            (deb, "apt-get"),
        ];
        names_with_packages(managers).next()
    }

    /// The commands that fill `folder`, in order. Packages of pip and npm come from `place`, or are
    /// only saved there.
    pub(super) fn steps(&self, folder: &Path, place: &PackagePlace) -> Vec<InstallStep> {
        let Recipe { rustup, pip, pip_source: _, npm, cargo, cargo_features, go, gem, dotnet, deb } =
            &self.recipe;
        let mut steps = Vec::new();
        if !rustup.is_empty() {
            steps.push(component(rustup));
        }
        if !pip.is_empty() {
            steps.extend(self::pip(pip, self.locked_pip(folder), &folder.join("venv"), place));
        }
        if !npm.is_empty() {
            steps.push(self::npm(npm, self.locks.has_npm(), &folder.join(NPM), place));
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

    /// Returns the options that restrict pip to the packages of the lock, and to the builds that
    /// the catalogue allows.
    fn locked_pip(&self, folder: &Path) -> Option<Vec<OsString>> {
        let built = &self.recipe.pip_source;
        let wheels = match built.is_empty() {
            true => ":all:".to_owned(),
            false => {
                let wheels = self.locks.pip_names().filter(|name| !built.contains_key(*name));
                Some(wheels.collect::<Vec<_>>().join(","))
                    .filter(|names| !names.is_empty())
                    .unwrap_or(":none:".into())
            }
        };
        let options =
            ["--require-hashes".into(), "--only-binary".into(), wheels.into(), "--requirement".into()];
        self.locks
            .has_pip()
            .then(|| options.into_iter().chain([RecipeLocks::requirements(folder).into()]).collect())
    }
}

/// The names beside lists of packages that are not empty.
fn names_with_packages<const N: usize>(
    names: [(&Vec<String>, &'static str); N],
) -> impl Iterator<Item = &'static str> {
    names.into_iter().filter(|(packages, _)| !packages.is_empty()).map(|(_, name)| name)
}

/// Creates the step that adds components to the user's default toolchain, which belongs to no
/// project.
fn component(names: &[String]) -> InstallStep {
    let words = format!("rustup component add {}", names.join(" "));
    step(StepProgram::Tool(PrerequisiteTool::Rustup), words, &["component", "add"]).args(names)
}

/// Creates the step that prints the path of a component's program.
pub(super) fn which_component(program: &str) -> InstallStep {
    step(StepProgram::Tool(PrerequisiteTool::Rustup), format!("rustup which {program}"), &["which", program])
}

fn pip(
    packages: &[String],
    locked: Option<Vec<OsString>>,
    folder: &Path,
    place: &PackagePlace,
) -> [InstallStep; 2] {
    let make = step(StepProgram::Tool(PrerequisiteTool::Python), "python3 -m venv".into(), &["-m", "venv"])
        .arg(folder);
    let (command, of_place) = place.pip_options();
    let words = format!("pip {command} {}", packages.join(" "));
    let options =
        ["-m", "pip", command, "--disable-pip-version-check", "--no-input", "--progress-bar", "off"];
    let fill = step(StepProgram::Made(folder.join(ENVIRONMENT_PROGRAMS).join(PYTHON[0])), words, &options);
    let fill = of_place.into_iter().fold(fill, InstallStep::arg);
    let fill = match locked {
        Some(locked) => locked.into_iter().fold(fill, InstallStep::arg),
        None => fill.arg("--").args(packages),
    };
    // The user's settings may send packages elsewhere; for pip, an empty setting counts as none.
    let elsewhere = ["PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONPATH", "PYTHONHOME"];
    let fill = elsewhere.iter().fold(fill, |step, name| step.env(name, ""));
    [make.env("PYTHONHOME", ""), fill.env("PIP_USER", "0")]
}

/// Creates the step for npm, without install scripts: they run code of every dependency, and no
/// server of the catalogue needs them.
fn npm(packages: &[String], locked: bool, folder: &Path, place: &PackagePlace) -> InstallStep {
    let packages_words = packages.join(" ");
    let quiet = ["--location=project", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"];
    let (words, command) = match locked {
        true => (format!("npm ci ({packages_words})"), "ci"),
        false => (format!("npm install {packages_words}"), "install"),
    };
    let step =
        step(StepProgram::Tool(PrerequisiteTool::Npm), words, &[command]).args(&quiet.map(str::to_owned));
    let step = place.with_npm_options(step.arg("--prefix").arg(folder));
    match locked {
        // A lock is installed whole, regardless of the user's settings.
        true => ["--legacy-peer-deps=false", "--include=optional", "--include=peer"]
            .iter()
            .fold(step, |s, o| s.arg(*o)),
        false => step.arg("--no-save").arg("--").args(packages),
    }
}

fn cargo(packages: &[String], features: &[String], root: &Path) -> InstallStep {
    let words = format!("cargo install {}", packages.join(" "));
    let mut step =
        step(StepProgram::Tool(PrerequisiteTool::Cargo), words, &["install", "--locked", "--root"]).arg(root);
    if !features.is_empty() {
        step = step.arg("--features").arg(features.join(","));
    }
    // The cheapest build whose program is still fast: no optimisation across crates, no debug
    // information.
    let cheap = [("LTO", "off"), ("CODEGEN_UNITS", "16"), ("DEBUG", "0")];
    let step = step.arg("--").args(packages);
    cheap
        .into_iter()
        .fold(step, |step, (what, value)| step.env(&format!("CARGO_PROFILE_RELEASE_{what}"), value))
}

fn go(module: &str, bin: &Path) -> InstallStep {
    let step = step(
        StepProgram::Tool(PrerequisiteTool::Go),
        format!("go install {module}"),
        &["install", "--", module],
    );
    step.env("GOBIN", bin).env("GOFLAGS", "").env("GO111MODULE", "on")
}

fn gem(gems: &[String], folder: &Path) -> InstallStep {
    let words = format!("gem install {}", gems.join(" "));
    let step = step(
        StepProgram::Tool(PrerequisiteTool::Gem),
        words,
        &["install", "--no-document", "--no-user-install"],
    );
    step.arg("--install-dir").arg(folder).arg("--bindir").arg(folder.join("stubs")).args(gems)
}

fn dotnet(name: &str, version: &str, folder: &Path) -> InstallStep {
    let words = format!("dotnet tool install {name} {version}");
    let step = step(
        StepProgram::Tool(PrerequisiteTool::Dotnet),
        words,
        &["tool", "install", name, "--version", version],
    );
    step.arg("--tool-path").arg(folder).env("DOTNET_CLI_TELEMETRY_OPTOUT", "1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Catalogue;

    fn with_slashes(word: &OsString) -> String {
        word.to_string_lossy().replace('\\', "/")
    }

    fn recipe(toml: &str) -> Recipe {
        toml::from_str(toml).unwrap()
    }

    #[test]
    fn recipe_package_that_is_an_option_or_unversioned_is_refused() {
        for bad in [
            "pip = ['--index-url=http://x']",
            "npm = ['']",
            "dotnet = ['csharp-ls']",
            "dotnet = ['csharp-ls@']",
            "deb = ['gopls']",
            "deb = ['gopls/']",
            "deb = ['gopls/sid main [trusted=yes]']",
        ] {
            let error = CheckedRecipe::new("s", recipe(bad)).unwrap_err();
            assert!(matches!(error, InstallError::Recipe { .. }), "{bad}");
        }
        assert!(CheckedRecipe::new("s", recipe("npm = ['@vue/language-server@3.0.0']")).is_ok());
    }

    #[test]
    fn locked_packages_install_by_hash_and_build_only_where_allowed() {
        let arguments = |server: &str, manager: &str| {
            let recipe = Catalogue::built_in().servers[server].install.recipes().remove(0);
            let steps =
                CheckedRecipe::new(server, recipe).unwrap().steps(Path::new("/p"), &PackagePlace::Registries);
            let step = steps.into_iter().find(|step| step.words.starts_with(manager)).unwrap();
            step.args.iter().map(with_slashes).collect::<Vec<_>>().join(" ")
        };
        let locked = "--require-hashes --only-binary";
        let ruff = arguments("ruff", "pip install");
        assert!(ruff.ends_with(&format!("{locked} :all: --requirement /p/requirements.txt")), "{ruff}");
        // Its only pip package may be built from source.
        let shell = arguments("bash-language-server", "pip install");
        assert!(shell.contains(&format!("{locked} :none: ")), "{shell}");
        let autotools = arguments("autotools-language-server", "pip install");
        assert!(autotools.contains(&format!("{locked} attrs,autotools-language-server,")), "{autotools}");
        assert!(!autotools.contains("tree-sitter-autoconf"), "{autotools}");
        let shell = arguments("bash-language-server", "npm ci");
        assert!(shell.starts_with("ci ") && shell.contains(" --ignore-scripts "), "{shell}");
        let other = CheckedRecipe::new("s", recipe("npm = ['pyright@1.0.0']"))
            .unwrap()
            .steps(Path::new("/p"), &PackagePlace::Registries);
        assert!(other[0].args.contains(&"--ignore-scripts".into()) && other[0].args[0] == "install");
    }

    #[test]
    fn recipe_steps_install_below_the_target_folder() {
        let all = "rustup = ['r']\npip = ['a==1']\nnpm = ['b@1']\ncargo = ['c@1']\ncargo-features = ['x', 'y']\n\
                   go = ['d@v1', 'e@v1']\ngem = ['f:1']\ndotnet = ['g@1']\ndeb = ['h/sid', 'i/sid']";
        let steps =
            CheckedRecipe::new("s", recipe(all)).unwrap().steps(Path::new("/p"), &PackagePlace::Registries);
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
            let below = |text: &OsString| with_slashes(text).contains("/p/");
            let elsewhere =
                [StepProgram::Tool(PrerequisiteTool::Go), StepProgram::Tool(PrerequisiteTool::Rustup)]
                    .contains(&step.program);
            let made = matches!(&step.program, StepProgram::Made(path) if path.starts_with("/p"));
            let inside = step.args.iter().chain(step.env.values()).any(below);
            assert!(inside || made || elsewhere, "{}", step.words);
        }
        let cargo: Vec<String> = steps[4].args[3..].iter().map(with_slashes).collect();
        assert_eq!(cargo, ["/p/cargo", "--features", "x,y", "--", "c@1"]);
    }
}
