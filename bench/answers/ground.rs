//! The packages, the servers, and the tools that establish the expected answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use super::archives::{self, run};
use super::lines::Servers;

/// Jedi and ty analyse Python independently of pyright, which is the server under test.
const WITNESSES: [&str; 2] = ["jedi==0.19.2", "ty==0.0.105"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Python,
    TypeScript,
}

impl Language {
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["py"],
            Self::TypeScript => &["ts", "tsx"],
        }
    }
}

pub struct Package {
    pub name: &'static str,
    pub language: Language,
}

const fn python(name: &'static str) -> Package {
    Package { name, language: Language::Python }
}

const fn typescript(name: &'static str) -> Package {
    Package { name, language: Language::TypeScript }
}

/// Ordered so that any prefix has packages of both languages.
pub const PACKAGES: [Package; 10] = [
    python("click==8.1.7"),
    typescript("immer@10.1.1"),
    python("httpx==0.27.2"),
    typescript("@tanstack/query-core@5.59.0"),
    python("werkzeug==3.0.4"),
    python("rich==13.8.1"),
    typescript("@tanstack/table-core@8.20.5"),
    python("jinja2==3.1.4"),
    typescript("rxjs@7.8.1"),
    python("starlette==0.38.5"),
];

impl Package {
    /// The name as a folder name.
    pub fn folder(&self) -> String {
        self.name.replace(['@', '/', '='], "-").trim_matches('-').to_owned()
    }

    /// Unpacks the sources of the package into `project`, without the build output of npm packages.
    pub fn put(&self, project: PathBuf) -> Result<PathBuf> {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench/archives");
        archives::unpack(&archives::fetched(&kept, self.name, false)?, &project)?;
        if self.language == Language::TypeScript {
            for entry in fs::read_dir(&project)? {
                let path = entry?.path();
                let is_source = path.file_name().is_some_and(|name| name == "src" || name == "package.json");
                if !is_source {
                    if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }?;
                }
            }
            archives::default_tsconfig(&project)?;
        }
        Ok(project)
    }
}

/// The servers, installed by the product's own installer, and the witnesses.
pub struct Tools {
    pub data: PathBuf,
    pub servers: Servers,
    /// A Python environment with the witnesses.
    pub python: PathBuf,
}

impl Tools {
    pub fn ready(folder: &Path, kept: &Path) -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let data = std::env::var_os("LSP_TOOLS_BENCH_DATA")
            .map_or_else(|| root.join("target/test-servers"), PathBuf::from);
        let config = folder.join("config");
        fs::create_dir_all(&config)?;
        let preferred =
            "prefer.python = [\"pyright\"]\nprefer.typescript = [\"typescript-language-server\"]\n";
        fs::write(config.join("lsp-tools.toml"), preferred)?;
        for server in ["pyright", "typescript-language-server"] {
            let mut install = ours(folder, &data);
            let status = install.args(["install", server]).stdout(Stdio::null()).status()?;
            ensure!(status.success(), "{server} could not be installed");
        }
        let data = fs::canonicalize(data)?;
        let python = kept.join("python");
        if !python.join("made").is_file() {
            run(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
            run(Command::new(python.join("bin/pip")).args(["install", "-q"]).args(WITNESSES))?;
            fs::write(python.join("made"), "")?;
        }
        Ok(Self { servers: Servers::new(data.clone(), &python)?, data, python })
    }

    fn of(&self, server: &str) -> PathBuf {
        self.data.join("servers").join(server).join("current/npm/node_modules")
    }

    pub fn typescript(&self) -> PathBuf {
        self.of("typescript-language-server").join("typescript")
    }

    /// The folders of the servers' programs, for peers that look for them on PATH.
    pub fn programs(&self) -> [PathBuf; 2] {
        ["pyright", "typescript-language-server"].map(|server| self.of(server).join(".bin"))
    }
}

/// The product's command, without the user's settings.
pub fn ours(folder: &Path, data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lsp-tools"));
    for (name, below) in [("CONFIG", "config"), ("STATE", "state"), ("CACHE", "cache")] {
        command.env(format!("LSP_TOOLS_{name}_DIR"), folder.join(below));
    }
    command.env("LSP_TOOLS_DATA_DIR", data).env_remove("VIRTUAL_ENV");
    command
}
