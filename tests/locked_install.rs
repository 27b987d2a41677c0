//! `install` with a registry that returns different content than was published: an impostor on this
//! machine answers for PyPI and npm.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use lsp_tools::internals::config::Catalogue;

/// Writes a valid wheel of `ruff` and a valid package of `pyright`, both different from the
/// published ones.
const FORGE: &str = r##"
import io, json, sys, tarfile, zipfile
folder, ruff, pyright = sys.argv[1:]
with zipfile.ZipFile(f"{folder}/wheel", "w") as wheel:
    info = f"ruff-{ruff}.dist-info"
    wheel.writestr("ruff.py", "print('forged')")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: ruff\nVersion: {ruff}\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\nruff = ruff:main\n")
    wheel.writestr(f"{info}/RECORD", "")
with tarfile.open(f"{folder}/tgz", "w:gz") as package:
    for name, text in {
        "package/package.json": json.dumps({"name": "pyright", "version": pyright, "bin": {"pyright-langserver": "forged.js"}}),
        "package/forged.js": "#!/usr/bin/env node\n",
    }.items():
        member = tarfile.TarInfo(name)
        member.size, member.mode = len(text), 0o755
        package.addfile(member, io.BytesIO(text.encode()))
"##;

/// A registry that answers for both, and records its requests.
struct Impostor {
    folder: tempfile::TempDir,
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Impostor {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (ruff, pyright) = (version("ruff"), version("pyright"));
        let forged =
            Command::new("python3").args(["-c", FORGE]).arg(folder.path()).args([&ruff, &pyright]).status();
        assert!(forged.unwrap().success());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answers = Answers { folder: folder.path().to_owned(), address: address.clone(), ruff, pyright };
        let seen = Arc::clone(&asked);
        // It ends with the test's process: it waits for connections, and none come.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let path = answers.answer(stream);
                seen.lock().unwrap().extend(path);
            }
        });
        Self { folder, address, asked }
    }

    /// `lsp-tools install SERVER` for a user whose settings name the impostor, in a home without
    /// earlier downloads.
    fn install(&self, server: &str) -> Output {
        let home = self.home();
        let workspace = self.folder.path().join("a/b/c/workspace");
        fs::create_dir_all(workspace.join(".git")).unwrap();
        fs::create_dir_all(&home).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_lsp-tools"));
        let settings = std::env::vars().map(|(name, _)| name).filter(|name| {
            let name = name.to_lowercase();
            ["pip_", "npm_config_", "xdg_"].iter().any(|start| name.starts_with(start))
        });
        for name in settings {
            command.env_remove(name);
        }
        command
            .args(["--no-daemon", "install", server])
            .current_dir(workspace)
            .stdin(Stdio::null())
            .env("HOME", &home)
            .env("PIP_INDEX_URL", format!("{}/simple", self.address))
            .env("npm_config_registry", format!("{}/", self.address))
            .env("npm_config_fetch_retries", "0")
            .output()
            .unwrap()
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

struct Answers {
    folder: PathBuf,
    address: String,
    ruff: String,
    pyright: String,
}

impl Answers {
    /// Sends one response on a connection; returns the requested path.
    fn answer(&self, mut stream: TcpStream) -> Option<String> {
        let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
        let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
        lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
        let body = match path.as_str() {
            "/simple/ruff/" => {
                let wheel = format!("ruff-{}-py3-none-any.whl", self.ruff);
                Some(("text/html", format!("<a href=\"/{wheel}\">{wheel}</a>").into_bytes()))
            }
            "/pyright" => {
                let version = &self.pyright;
                let tarball = format!("{}/pyright/-/pyright-{version}.tgz", self.address);
                let one = serde_json::json!({"name": "pyright", "version": version,
                    "bin": {"pyright-langserver": "forged.js"}, "dist": {"tarball": tarball}});
                let all = serde_json::json!({"name": "pyright", "dist-tags": {"latest": version}, "versions": {version: one}});
                Some(("application/json", all.to_string().into_bytes()))
            }
            path if path.ends_with(".whl") => Some(("application/zip", self.file("wheel"))),
            path if path.ends_with(".tgz") => Some(("application/octet-stream", self.file("tgz"))),
            _ => None,
        };
        let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
        let (kind, body) = body.unwrap_or(("text/plain", Vec::new()));
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).ok()?;
        Some(path)
    }

    fn file(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.join(name)).unwrap()
    }
}

/// The version that the catalogue pins.
fn version(server: &str) -> String {
    let install = &Catalogue::built_in().servers[server].install;
    let package = install.pip.first().or_else(|| install.npm.first()).unwrap();
    package.rsplit(['=', '@']).next().unwrap().to_owned()
}

fn is_installed(home: &Path, server: &str) -> bool {
    home.join(".local/share/lsp-tools/servers").join(server).join("current").exists()
}

/// The message about a server from an impostor, which is not installed.
fn refused(server: &str) -> (Impostor, String) {
    let impostor = Impostor::start();
    let done = impostor.install(server);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(!done.status.success() && !is_installed(&impostor.home(), server), "{said}");
    (impostor, said)
}

#[test]
#[ignore = "slow: just slow"]
fn pypi_wheel_with_wrong_hash_is_refused() {
    let (_impostor, said) = refused("ruff");
    let expected = format!("ruff=={} from PyPI does not match the lock of ruff", version("ruff"));
    assert!(said.contains(&expected) && said.contains("it has sha256 "), "{said}");
    assert!(said.contains(" hashes. "), "{said}");
}

#[test]
fn npm_package_with_wrong_hash_is_refused() {
    let (impostor, said) = refused("pyright");
    let version = version("pyright");
    let expected = format!("pyright@{version} from npm does not match the lock of pyright");
    assert!(said.contains(&expected) && said.contains("it has sha512-"), "{said}");
    // The lock's addresses are those of the public registry; the user's own registry is contacted
    // instead.
    let tarball = format!("/pyright/-/pyright-{version}.tgz");
    assert!(impostor.asked().contains(&tarball), "{:?}", impostor.asked());
}
