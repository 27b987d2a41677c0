//! A project in a temporary folder, with a user's own folders.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use lsp_tools::internals::config::Catalogue;
use rustix::fs::StatVfsMountFlags;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{ServerLog, scripted_server, signal_processes, write_executable};

/// Key of the scripted server, and of its language, in the catalogue of a [`Project`].
pub const SCRIPTED: &str = "scripted";

/// The minimum free space of the file system in memory for projects in it.
const MIN_MEMORY_DISK_BYTES: u64 = 4 << 30;

/// A temporary project. Everything is deleted, and its scripted servers end, with the last clone of
/// it.
#[derive(Clone)]
pub struct Project {
    folder: Arc<ProjectFolder>,
}

struct ProjectFolder(TempDir);

impl Project {
    /// A project of these files (path relative to the root, content).
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let project = Self { folder: Arc::new(ProjectFolder(temporary_folder())) };
        fs::create_dir_all(project.root()).expect("a folder");
        for name in ["config", "data", "state", "cache", "logs"] {
            // Like the product, independent of the umask.
            DirBuilder::new().mode(0o700).create(project.beside(name)).expect("a folder");
        }
        for (path, content) in files {
            project.write(path, content);
        }
        project
    }

    /// A copy of `fixtures/NAME`.
    pub fn of_fixture(name: &str) -> Self {
        let project = Self::new([]);
        copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name), &project.root());
        project
    }

    /// A project of these files with the scripted server for `.scr` files, playing `scenario`; see
    /// the head of `scripted_server/main.rs`. `log` is filled in. `table` is appended to the
    /// server's table in `servers.toml` ("", or lines like `diagnostics = {source =
    /// "versioned-push"}`).
    pub fn scripted<'a>(
        scenario: &Value,
        table: &str,
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let project = Self::new(files);
        project.set_scenario(scenario);
        let [program, argument] = project.server_command().map(quoted);
        let catalogue = format!(
            "[language.{SCRIPTED}]\nname = \"Scripted\"\nextensions = [\"scr\"]\nservers = [\"{SCRIPTED}\"]\n\n\
             [server.{SCRIPTED}]\nname = \"Scripted\"\nlanguages = [\"{SCRIPTED}\"]\n\
             command = [{program}, {argument}]\n{table}\n"
        );
        fs::write(project.beside("config").join("servers.toml"), catalogue).expect("servers.toml");
        project
    }

    /// Gives each of its scripted servers a child with `bytes` of memory from now on; `tail` keeps
    /// all of a line that never ends.
    pub fn add_ballast(&self, bytes: u64) {
        let wrapper = self.beside("logs").join("wrapper");
        let script = format!(
            "#!/bin/sh\n{{ head -c {bytes} /dev/zero; sleep 600; }} | tail > /dev/null 2>&1 &\nexec \"$@\"\n"
        );
        write_executable(&wrapper, &script);
        let catalogue = self.beside("config").join("servers.toml");
        let text = fs::read_to_string(&catalogue).expect("servers.toml");
        let text = text.replace("command = [", &format!("command = [{}, ", json!(wrapper)));
        fs::write(&catalogue, text).expect("servers.toml");
    }

    /// The command of the scripted server with this project's scenario, for the raw client.
    pub fn server_command(&self) -> [String; 2] {
        [scripted_server(), &self.scenario_path()].map(|path| path.to_string_lossy().into_owned())
    }

    /// Replaces the scenario; the next start of the server plays it.
    pub fn set_scenario(&self, scenario: &Value) {
        fs::write(self.scenario_path(), self.scenario(scenario).to_string()).expect("the scenario");
    }

    /// `scenario` with its log in this project's own folder.
    pub fn scenario(&self, scenario: &Value) -> Value {
        let mut scenario = scenario.clone();
        scenario["log"] = json!(self.log().path());
        scenario
    }

    /// A marker in the arguments of this project's scripted servers, and of no other process.
    pub fn marker(&self) -> String {
        self.scenario_path().to_string_lossy().into_owned()
    }

    fn scenario_path(&self) -> PathBuf {
        self.folder.scenario_path()
    }

    /// The log of the scripted server.
    pub fn log(&self) -> ServerLog {
        ServerLog::new(self.beside("logs").join("server.jsonl"))
    }

    /// The root of the project: four folders deep, since some servers do not watch shallower
    /// folders.
    pub fn root(&self) -> PathBuf {
        self.beside("code").join("project")
    }

    /// The absolute path of a file of the project.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root().join(relative)
    }

    /// A folder beside the project: outside the workspace, deleted with it.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.beside(name)
    }

    /// Writes a file in place, as an editor that truncates and writes does.
    pub fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    /// The text of a file.
    pub fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).expect("a file")
    }

    /// The product's folders for settings, data, state and cache, separate from the real user's.
    /// Commands do everything in their own process, so that no test leaves a daemon behind (tests
    /// of the daemon enable it). Uses the real servers' prefix instead of this project's data
    /// folder, if given.
    pub fn environment(&self, servers: Option<&Path>) -> Vec<(String, String)> {
        self.prefer_installed_typescript(servers);
        let data = servers.map_or_else(|| self.beside("data"), Path::to_owned);
        let folders = [
            ("LSP_TOOLS_CONFIG_DIR", self.beside("config")),
            ("LSP_TOOLS_DATA_DIR", data),
            ("LSP_TOOLS_STATE_DIR", self.beside("state")),
            ("LSP_TOOLS_CACHE_DIR", self.beside("cache")),
        ];
        let folders =
            folders.into_iter().map(|(name, path)| (name.to_owned(), path.to_string_lossy().into_owned()));
        folders.chain([("LSP_TOOLS_NO_DAEMON".to_owned(), "1".to_owned())]).collect()
    }

    /// The same folders, for the library.
    pub fn folders(&self, servers: Option<&Path>) -> lsp_tools::Folders {
        self.prefer_installed_typescript(servers);
        let data = servers.map_or_else(|| self.beside("data"), Path::to_owned);
        lsp_tools::Folders {
            config: self.beside("config"),
            data,
            state: self.beside("state"),
            cache: self.beside("cache"),
            home: Some(self.beside("home")),
        }
    }

    /// If only older versions of TypeScript are installed, makes the newest of them the version for
    /// projects that pin none, unless the test has its own settings.
    fn prefer_installed_typescript(&self, servers: Option<&Path>) {
        const OLDER: [&str; 3] = ["typescript-language-server", "vtsls", "vue-typescript"];
        let set = servers.and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let has = |key: &str| set.split('+').any(|installed| installed == key);
        let settings = self.beside("config").join("servers.toml");
        if !OLDER.iter().any(|key| has(key)) || has("tsc") || settings.exists() {
            return;
        }
        let table = |key| format!("[server.{key}.judge]\nreleases = [\"5.9.3\"]\n");
        fs::write(settings, OLDER.map(table).concat()).expect("servers.toml");
    }

    /// The product's binary, in this project and with its environment.
    pub fn command(&self, servers: Option<&Path>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lsp-tools"));
        command.current_dir(self.root()).envs(self.environment(servers));
        command
    }

    /// Writes the user's settings, with generous deadlines for busy machines.
    ///
    /// # Panics
    /// If that fails.
    pub fn write_settings(&self, settings: &str) {
        let names = ["hover", "definition", "references", "symbols", "diagnostics", "edit"];
        let deadlines: String = names.iter().map(|name| format!("{name} = 90_000\n")).collect();
        let text = format!("{settings}\n[deadlines]\n{deadlines}");
        fs::write(self.beside("config").join("lsp-tools.toml"), text).expect("the settings");
    }

    /// Trusts the project if `server` would not start otherwise.
    ///
    /// # Panics
    /// If that fails, or the catalogue has no such server.
    pub fn trust_for(&self, server: &str, servers: &Path) {
        if Catalogue::built_in().servers[server].waits_for_trust() {
            self.trust(Some(servers));
        }
    }

    /// Trusts all programs of the project, as a person at a shell does.
    ///
    /// # Panics
    /// If that fails.
    pub fn trust(&self, servers: Option<&Path>) {
        let output = self.command(servers).args(["trust", "--yes"]).output().expect("lsp-tools");
        assert!(output.status.success(), "{output:?}");
    }
}

/// A folder in memory, if `TMPDIR` is not set, there is enough space, and programs may run there (a
/// container forbids that): on some disks, making and removing the files takes longer than the
/// tests themselves.
fn temporary_folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let fits = rustix::fs::statvfs(memory).is_ok_and(|disk| {
        let left = disk.f_bavail * disk.f_frsize;
        left >= MIN_MEMORY_DISK_BYTES && !disk.f_flag.contains(StatVfsMountFlags::NOEXEC)
    });
    let prefix = "lsp-tools-test-";
    let folder = match std::env::var_os("TMPDIR").is_none() && fits {
        true => TempDir::with_prefix_in(prefix, memory),
        false => TempDir::with_prefix(prefix),
    };
    folder.expect("a temporary folder")
}

impl ProjectFolder {
    fn beside(&self, name: &str) -> PathBuf {
        let root = self.0.path();
        fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()).join(name)
    }

    fn scenario_path(&self) -> PathBuf {
        self.beside("logs").join("scenario.json")
    }
}

impl Drop for ProjectFolder {
    fn drop(&mut self) {
        signal_processes(&self.scenario_path().to_string_lossy(), Signal::KILL);
    }
}

/// Copies the files in a folder and its subfolders into another.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a kind").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// A basic string of TOML, which has JSON's escapes.
fn quoted(text: impl AsRef<str>) -> String {
    json!(text.as_ref()).to_string()
}
