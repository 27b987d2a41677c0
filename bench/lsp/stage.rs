//! Two instances of a server, one for the library and one for the raw client, each on its own copy
//! of the sample.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use lsp_tools::internals::config::Catalogue;
use lsp_tools::internals::lsp::prefix_folders;
use lsp_tools::{Folders, Position, Runtime, RuntimeOptions, Target, TrustRequest};
use serde_json::Value;

use super::raw_client::{RawClient, Start, uri};
use super::samples::{Sample, Samples};

/// The source of a server's diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Findings {
    /// `textDocument/diagnostic`.
    Pull,
    /// The publish for the right text.
    Push,
}

/// The measured servers, with the raw client's source of diagnostics.
pub const SERVERS: [(&str, Findings); 5] = [
    ("pyright", Findings::Pull),
    ("pylsp", Findings::Push),
    ("typescript-language-server", Findings::Push),
    ("clangd", Findings::Push),
    ("bash-language-server", Findings::Push),
];

/// One server on its sample, in a temporary folder.
pub struct Stage {
    /// The server's key.
    pub server: String,
    pub sample: Sample,
    /// The 0-based position of the hover.
    pub position: Position,
    /// The prefix of installed servers.
    pub data: PathBuf,
    folder: tempfile::TempDir,
}

impl Stage {
    /// Writes the sample of `server`. Returns `None` if the server is not installed.
    pub fn set(server: &str, data: &Path) -> anyhow::Result<Option<Self>> {
        if prefix_folders(data, server).is_empty() {
            return Ok(None);
        }
        let sample = Samples::read()?.of(server).ok_or_else(|| anyhow!("{server} has no sample"))?;
        let folder = tempfile::tempdir()?;
        for copy in ["ours", "raw"] {
            let root = folder.path().join(copy);
            fs::create_dir_all(root.join(".git"))?;
            sample.write(&root)?;
        }
        let at = sample.hover.as_ref().map(|hover| hover.at.clone()).ok_or_else(|| anyhow!("no hover"))?;
        let (line, name) = at.split_once(':').ok_or_else(|| anyhow!("{at}"))?;
        let line = line.parse::<u32>()? - 1;
        let text = fs::read_to_string(folder.path().join("raw").join(&sample.file))?;
        let text = text.lines().nth(line as usize).unwrap_or_default();
        let character = text.find(name).ok_or_else(|| anyhow!("no {name} in {text}"))?;
        let position = Position { line, character: u32::try_from(character)? };
        Ok(Some(Self { server: server.to_owned(), sample, position, data: data.to_owned(), folder }))
    }

    /// The root of the library's copy.
    pub fn our_root(&self) -> PathBuf {
        self.folder.path().join("ours")
    }

    /// The queried file in the library's copy.
    pub fn our_file(&self) -> PathBuf {
        self.our_root().join(&self.sample.file)
    }

    /// The queried file in the raw client's copy.
    pub fn raw_file(&self) -> PathBuf {
        self.folder.path().join("raw").join(&self.sample.file)
    }

    /// The target of the library's requests.
    pub fn target(&self) -> Target {
        Target::Position { path: self.our_file(), position: self.position }
    }

    /// The user folders of this stage, without the machine's own settings.
    pub fn folders(&self) -> anyhow::Result<Folders> {
        let config = self.folder.path().join("config");
        fs::create_dir_all(&config)?;
        let prefer = format!("prefer.{:?} = [{:?}]\n", self.sample.language, self.server);
        fs::write(config.join("lsp-tools.toml"), prefer)?;
        let state = self.folder.path().join("state");
        let cache = self.folder.path().join("cache");
        Ok(Folders { config, data: self.data.clone(), state, cache, home: None })
    }

    /// A runtime on the library's copy, which is trusted.
    pub async fn runtime(&self) -> anyhow::Result<Runtime> {
        let refused = |error: lsp_tools::ToolError| anyhow!("{}", error.error);
        let folders = self.folders()?;
        let open = || {
            let options = RuntimeOptions {
                workspace: Some(self.our_root()),
                cwd: self.our_root(),
                timeout: Some(Duration::from_secs(60)),
                ..RuntimeOptions::default()
            };
            Runtime::open_with(options, folders.clone()).map_err(refused)
        };
        let runtime = open()?;
        let shown = runtime.trust(TrustRequest::Show).await.map_err(refused)?;
        runtime.trust(TrustRequest::Grant { fingerprint: shown.fingerprint }).await.map_err(refused)?;
        open()
    }

    /// The raw client's start parameters, from the catalogue.
    pub fn start(&self) -> anyhow::Result<Start> {
        let table =
            Catalogue::built_in().servers.get(&self.server).ok_or_else(|| anyhow!("unknown server"))?;
        let folders = prefix_folders(&self.data, &self.server);
        let name = table.command.first().cloned().unwrap_or_default();
        let program = folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
        let program = program.with_context(|| format!("{name} is not installed"))?;
        let root = self.folder.path().join("raw");
        let table = table.expand(&root, &program, None).server;
        let mut command = table.command.clone();
        command[0] = program.display().to_string();
        let mut start = Start::new(command, root);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path: OsString = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path)))?;
        start.env = vec![("PATH".to_owned(), path.to_string_lossy().into_owned())];
        start.options = serde_json::to_value(&table.initialization_options)?;
        let settings = serde_json::to_value(&table.settings)?;
        start.configuration = sections("", &settings);
        Ok(start)
    }

    /// The raw client, initialized, with the file open and hover answering as the sample expects.
    pub fn raw(&self) -> anyhow::Result<Raw> {
        let mut client = RawClient::start(self.start()?)?;
        let uri = uri(&self.raw_file());
        let extension = Path::new(&self.sample.file).extension().and_then(|extension| extension.to_str());
        let id = Catalogue::built_in().language_id(&self.sample.language, extension).to_owned();
        client.open(&uri, &id, 1, &fs::read_to_string(self.raw_file())?)?;
        let mut raw = Raw { client, uri, version: 1 };
        let says = self.sample.hover.as_ref().map_or("", |hover| hover.says.as_str());
        let deadline = Instant::now() + Duration::from_secs(60);
        while !raw.ask("textDocument/hover", self.position)?.to_string().contains(says) {
            anyhow::ensure!(Instant::now() < deadline, "{} never hovers", self.server);
        }
        Ok(raw)
    }
}

/// Every section of `settings` by its dotted name.
fn sections(prefix: &str, settings: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::from([(prefix.to_owned(), settings.clone())]);
    for (name, value) in settings.as_object().into_iter().flatten() {
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        found.extend(sections(&name, value));
    }
    found
}

/// The raw client on its copy, with the file open.
pub struct Raw {
    pub client: RawClient,
    pub uri: String,
    version: i64,
}

impl Raw {
    /// Sends a request for a position. The samples are ASCII, so all encodings agree.
    pub fn ask(&mut self, method: &str, at: Position) -> anyhow::Result<Value> {
        Ok(self.client.ask_at(method, &self.uri, u64::from(at.line), u64::from(at.character))?)
    }

    /// Sends a new text and waits for diagnostics of it that `right` accepts.
    pub fn findings_after(
        &mut self,
        text: &str,
        findings: Findings,
        right: impl Fn(&[Value]) -> bool,
    ) -> anyhow::Result<()> {
        self.version += 1;
        let version = self.version;
        self.client.change(&self.uri, version, text)?;
        if findings == Findings::Pull {
            let items = self.client.pull(&self.uri)?;
            anyhow::ensure!(right(&items), "the pull returned {items:?}");
            return Ok(());
        }
        let found = self.client.next_publish(&self.uri.clone(), Duration::from_secs(20), |publish| {
            publish.version.is_none_or(|said| said == version) && right(&publish.diagnostics)
        })?;
        anyhow::ensure!(found.is_some(), "no right publish for version {version}");
        Ok(())
    }
}
