//! The servers of the soak: their files, wrong words, and signs for the raw client.

use std::path::PathBuf;
use std::time::Duration;

use crate::support::raw_client::Start;
use crate::support::{Project, real_servers, server_program};

/// The column unit of a server that does not state it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// The announced encoding, else UTF-16 (3.17, *PositionEncodingKind*).
    Announced,
    /// Unicode scalar values, regardless of the announcement.
    Scalars,
}

/// A server and the edits in its files.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    pub name: &'static str,
    /// Key in the catalogue.
    pub key: &'static str,
    /// The language's key in the catalogue.
    pub language: &'static str,
    /// Program and arguments.
    pub command: &'static [&'static str],
    pub language_id: &'static str,
    /// The copied folder under `fixtures/`.
    pub fixture: &'static str,
    /// The edited files, relative to the folder.
    pub files: &'static [&'static str],
    /// A line with an error that a checker finds; `{n}` becomes a number.
    pub wrong: &'static str,
    /// A line without an error.
    pub right: &'static str,
    /// A line with characters outside ASCII before a name.
    pub unicode: &'static str,
    pub columns: Columns,
    /// The silence after which a server has reported everything about a document.
    pub settles: Duration,
}

const PYTHON_FILES: &[&str] = &["greet/app.py", "greet/messages.py", "greet/people.py", "greet/broken.py"];

pub const PYLSP: Subject = Subject {
    name: "pylsp",
    key: "pylsp",
    language: "python",
    command: &["pylsp"],
    language_id: "python",
    fixture: "python",
    files: PYTHON_FILES,
    wrong: "undefined_{n}\n",
    right: "value_{n} = len(\"{n}\")\n",
    unicode: "pair_{n} = (\"😀é漢\", len(\"{n}\"))\n",
    columns: Columns::Scalars,
    settles: Duration::from_millis(150),
};

pub const PYRIGHT: Subject = Subject {
    name: "pyright",
    key: "pyright",
    command: &["pyright-langserver", "--stdio"],
    columns: Columns::Announced,
    settles: Duration::from_millis(300),
    ..PYLSP
};

pub const BASH: Subject = Subject {
    name: "bash-language-server",
    key: "bash-language-server",
    language: "shell",
    command: &["bash-language-server", "start"],
    language_id: "shellscript",
    fixture: "shell",
    files: &["deploy.sh", "lib/log.sh", "broken.sh"],
    wrong: "echo $undefined_{n} | cat file_{n} | grep x\n",
    right: "value_{n}={n}; echo \"$value_{n}\"\n",
    unicode: "echo \"😀é漢\"; value_{n}={n}; echo $value_{n}\n",
    columns: Columns::Announced,
    settles: Duration::from_millis(300),
};

pub const TYPESCRIPT: Subject = Subject {
    name: "typescript-language-server",
    key: "typescript-language-server",
    language: "typescript",
    command: &["typescript-language-server", "--stdio"],
    language_id: "typescript",
    fixture: "typescript",
    files: &["src/money.ts", "src/basket.ts", "src/broken.ts"],
    wrong: "undefined_{n};\n",
    right: "export const value_{n} = \"{n}\".length;\n",
    unicode: "export const pair_{n} = [\"😀é漢\", undefined_{n}];\n",
    columns: Columns::Announced,
    settles: Duration::from_millis(1_200),
};

pub const CLANGD: Subject = Subject {
    name: "clangd",
    key: "clangd",
    language: "c",
    command: &["clangd"],
    language_id: "c",
    fixture: "c",
    files: &["src/queue.c", "src/main.c", "src/broken.c"],
    wrong: "int wrong_{n} = undefined_{n};\n",
    right: "int value_{n} = {n};\n",
    unicode: "const char *text_{n} = \"😀é漢\"; int other_{n} = undefined_{n};\n",
    columns: Columns::Announced,
    settles: Duration::from_millis(200),
};

pub const SCRIPTED: Subject = Subject {
    name: "scripted",
    key: "scripted",
    language: "scripted",
    command: &[],
    language_id: "scripted",
    fixture: "",
    files: &["a.scr", "sub/b.scr"],
    wrong: "WRONG wrong_{n}\n",
    right: "def value_{n}\n",
    unicode: "😀é漢 WRONG unicode_{n}\n",
    columns: Columns::Announced,
    settles: Duration::from_millis(30),
};

impl Subject {
    /// A copy of the fixture, and the start of the server in it for the raw client.
    pub fn real_project(&self) -> (Project, Start) {
        let project = Project::of_fixture(self.fixture);
        // If a language has several servers, the product must use only this one.
        let settings = format!("prefer.{} = [\"{}\"]\n", self.language, self.key);
        std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
        let program = self.program();
        let arguments = self.command[1..].iter().map(|argument| (*argument).to_owned());
        let command = [program.to_string_lossy().into_owned()].into_iter().chain(arguments);
        let mut start = Start::new(command, project.root());
        // The server finds components installed beside it, as for the product.
        let beside = self.prefix().join("servers").join(self.key).join("current/venv/bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(beside).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).expect("folders without a colon");
        start.env.push(("PATH".to_owned(), path.to_string_lossy().into_owned()));
        (project, start)
    }

    /// The folder with the installed server: `SOAK_DATA` if set, else the tests' prefix.
    pub fn prefix(&self) -> PathBuf {
        std::env::var_os("SOAK_DATA").map_or_else(|| real_servers(&[self.key]), PathBuf::from)
    }

    /// The server's program: from `SOAK_BIN`, a list of folders like PATH, if set, else as
    /// installed by the product.
    fn program(&self) -> PathBuf {
        let name = self.command[0];
        if let Some(folders) = std::env::var_os("SOAK_BIN") {
            let found =
                std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
            return found.unwrap_or_else(|| panic!("no {name} in SOAK_BIN"));
        }
        let prefix = real_servers(&[self.key]);
        server_program(&prefix, name).unwrap_or_else(|| panic!("no {name} in {}", prefix.display()))
    }

    /// The raw client's start of the scripted server of `project`.
    pub fn scripted_start(&self, project: &Project) -> Start {
        Start { timeout: Duration::from_secs(10), ..Start::new(project.server_command(), project.root()) }
    }
}
