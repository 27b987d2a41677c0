//! The caches of package managers: no other program runs code from a command's caches, and commands
//! can read the user's.
//!
//! Each test has its own home outside all temporary folders, and runs the binary as a user does.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::sandbox::outside;
use crate::support::{Project, uv};

/// A user with a home, and a project.
struct Home {
    folder: TempDir,
    project: Project,
    env: Vec<(String, String)>,
}

impl Home {
    /// With these files, by paths relative to the home.
    fn with(files: &[(&str, &str)]) -> Self {
        let home = Self { folder: outside(), project: Project::new([("a.txt", "a\n")]), env: Vec::new() };
        for (path, content) in files {
            home.write(path, content);
        }
        home
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    fn write(&self, relative: &str, content: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Prepares `command` to run as this user.
    fn as_user(&self, command: &mut Command) {
        let toolchains = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
        let toolchains =
            toolchains.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".rustup")));
        let known = std::env::vars_os().map(|(name, _)| name);
        for name in known.filter(|name| {
            let name = name.to_string_lossy();
            ["CARGO_", "XDG_", "UV_", "NPM_", "npm_", "GO", "PNPM_"]
                .iter()
                .any(|start| name.starts_with(start))
                || name == "CARGO_HOME"
        }) {
            command.env_remove(name);
        }
        command.env("HOME", self.folder.path()).envs(toolchains.map(|path| ("RUSTUP_HOME", path)));
        command.envs(self.env.iter().cloned());
    }

    /// The answer of `bash` for `line`.
    fn bash(&self, line: &str) -> Value {
        let mut command = self.project.command(None);
        self.as_user(&mut command);
        command.env_remove("LSP_TOOLS_CACHE_DIR");
        let arguments = json!({"command": line, "timeout_ms": 200_000}).to_string();
        let output = command.args(["tools", "call", "bash", &arguments]).output().expect("lsp-tools");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// The output of a command that must succeed.
    fn stdout(&self, line: &str) -> String {
        let answer = self.bash(line);
        assert_eq!(answer["exit_code"], 0, "{line}: {answer}");
        answer["stdout"].as_str().unwrap().trim_end().to_owned()
    }

    /// A program that the user runs, in the project.
    fn user(&self, program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Output {
        let mut command = Command::new(program);
        self.as_user(&mut command);
        let output = command.args(args).current_dir(self.project.root()).output().expect("a program");
        assert!(output.status.success(), "{args:?}: {output:?}");
        output
    }

    fn settings(&self, text: &str) {
        fs::write(self.project.beside("config").join("lsp-tools.toml"), text).unwrap();
    }

    /// All files of the user except ours: path, mode, and content or target.
    fn all(&self) -> BTreeMap<PathBuf, (u32, String)> {
        let mut all = BTreeMap::new();
        let mut waiting = vec![self.folder.path().to_owned()];
        while let Some(folder) = waiting.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                let metadata = fs::symlink_metadata(&path).unwrap();
                let content = if metadata.is_dir() {
                    if !path.ends_with(".cache/lsp-tools") {
                        waiting.push(path.clone());
                    }
                    String::new()
                } else if metadata.is_symlink() {
                    fs::read_link(&path).unwrap().display().to_string()
                } else {
                    sha256(&fs::read(&path).unwrap())
                };
                all.insert(path, (metadata.mode(), content));
            }
        }
        all.retain(|path, _| !path.ends_with(".cache/lsp-tools") && !path.ends_with(".cache"));
        all
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

const NPX: &str = ".npm/_npx/1/node_modules/.bin/server";
const BUILD: &str = ".cargo/registry/src/index/one-1.0.0/build.rs";
const CRATE: &str = ".cargo/registry/cache/index/one-1.0.0.crate";
const INDEX: &str = ".cargo/registry/index/index/.cache/on/e-/one-1";
const PROGRAM: &str = ".cargo/bin/cargo-tool";
const HOOK: &str = ".cache/pre-commit/repo1/env/bin/hook";
const ARCHIVE: &str = ".cache/uv/archive-v0/1/six.py";
const BROWSER: &str = ".cache/ms-playwright/chromium-1/chrome";
const ZIP: &str = "go/pkg/mod/cache/download/example.com/m/@v/v1.0.0.zip";

/// A user with all caches.
fn user_of_everything() -> Home {
    let files = [NPX, BUILD, CRATE, INDEX, PROGRAM, HOOK, ARCHIVE, BROWSER, ZIP];
    let others = [
        ".cache/go-build/00/x-d",
        "go/pkg/mod/example.com/m@v1.0.0/m.go",
        "go/bin/tool",
        ".gradle/caches/modules-2/x.jar",
        ".gradle/wrapper/dists/gradle-8/1/gradle/bin/gradle",
        ".m2/repository/a/a.jar",
        ".bun/install/cache/x/index.js",
        ".local/share/pnpm/store/v3/files/00/1",
        ".yarn/berry/cache/x.zip",
        ".nuget/packages/x/1.0.0/build/x.targets",
        ".ccache/0/1",
        ".hex/packages/hexpm/x.tar",
        ".composer/cache/x",
    ];
    Home::with(&files.into_iter().chain(others).map(|path| (path, "the user's\n")).collect::<Vec<_>>())
}

#[test]
fn user_caches_cannot_be_written_by_sandboxed_command() {
    let home = user_of_everything();
    let before = home.all();
    assert_eq!(home.bash("true")["sandbox"], "landlock");
    let mut lines = Vec::new();
    for path in before.keys() {
        let path = path.display();
        lines.push(format!("test -f {path} && echo evil > {path}"));
        lines.push(format!("test -d {path} && echo evil > {path}/new"));
        lines.push(format!("rm -r {path}"));
        lines.push(format!("mv {path} {path}.away"));
    }
    // Also under the names to which tools are redirected.
    for path in [
        "$CARGO_HOME/registry/src/index/one-1.0.0/build.rs",
        "$CARGO_HOME/registry/src/index/one-1.0.0/new",
        "$CARGO_HOME/registry/cache/index/one-1.0.0.crate",
        "$CARGO_HOME/registry/index/index/.cache/on/e-/one-1",
        "$CARGO_HOME/bin/new",
        "$XDG_CACHE_HOME/ms-playwright/chromium-1/chrome",
        "$GOPATH/pkg/mod/cache/download/example.com/m/@v/v1.0.0.zip",
        "$GOPATH/bin/tool",
        "$GRADLE_USER_HOME/wrapper/dists/gradle-8/1/gradle/bin/gradle",
        "$HEX_HOME/packages/hexpm/x.tar",
    ] {
        lines.push(format!("test -e $(dirname {path}) && echo evil > {path}"));
        lines.push(format!("ln {path} here && echo evil > here"));
    }
    // All in one command, each in its own shell, which reports its success.
    let all = lines.iter().map(|line| format!("({line}) 2>/dev/null && echo '{line}'\n"));
    let answer = home.bash(&format!("{}true", all.collect::<String>()));
    assert_eq!((&answer["exit_code"], &answer["stdout"]), (&json!(0), &json!("")), "{answer}");
    assert_eq!(home.all(), before);
}

#[test]
fn user_caches_are_visible_and_command_writes_go_to_its_own() {
    let home = user_of_everything();
    let before = home.all();
    let seen = "cat $CARGO_HOME/registry/*/index/one-1.0.0*/build.rs $CARGO_HOME/registry/cache/index/one-1.0.0.crate \
                $CARGO_HOME/registry/index/index/.cache/on/e-/one-1 $CARGO_HOME/bin/cargo-tool \
                $XDG_CACHE_HOME/ms-playwright/chromium-1/chrome $GOPATH/bin/tool";
    assert_eq!(home.stdout(&format!("{seen} | sort -u")), "the user's");
    let added = "for d in $CARGO_HOME/registry/src/index/two $XDG_CACHE_HOME/ms-playwright/chromium-2 $npm_config_cache/_cacache \
                 $GOPATH/pkg/mod/example.com/n@v1 $PNPM_HOME/store $XDG_CACHE_HOME/anything; \
                 do mkdir -p $d && echo $d > $d/f || exit 1; done";
    home.stdout(added);
    assert_eq!(home.stdout("cat $CARGO_HOME/registry/src/index/two/f | wc -l"), "1");
    assert_eq!(home.all(), before);
    let base = fs::read_dir(home.path(".cache/lsp-tools/commands")).unwrap().next().unwrap().unwrap().path();
    let modes = [base.parent().unwrap(), &base, &base.join("own")]
        .map(|path| fs::metadata(path).unwrap().permissions().mode() & 0o777);
    assert_eq!(modes, [0o700; 3]);
    // No command can write the caches' records, nor those of another workspace.
    let known = base.display();
    assert_ne!(home.bash(&format!("echo > {known}/shown.json"))["exit_code"], 0);
    assert_ne!(home.bash(&format!("mkdir {known}/../0123"))["exit_code"], 0);
}

#[test]
fn user_cache_changes_are_seen_by_next_command() {
    let home = user_of_everything();
    let list = "ls $CARGO_HOME/registry/src/index";
    assert_eq!(home.stdout(list), "one-1.0.0");
    home.write(".cargo/registry/src/index/three-3.0.0/lib.rs", "");
    assert_eq!(home.stdout(list), "one-1.0.0\nthree-3.0.0");
    fs::remove_dir_all(home.path(".cargo/registry/src/index/one-1.0.0")).unwrap();
    assert_eq!(home.stdout(list), "three-3.0.0");
    home.write(".cargo/registry/src/other/four/lib.rs", "");
    assert_eq!(home.stdout("ls $CARGO_HOME/registry/src"), "index\nother");
    home.write(".cache/pre-commit/db.db", "one");
    let copy = "cat $XDG_CACHE_HOME/pre-commit/db.db";
    assert_eq!(home.stdout(copy), "one");
    home.stdout("echo own > $XDG_CACHE_HOME/pre-commit/db.db");
    home.write(".cargo/registry/src/index/five/lib.rs", "");
    assert_eq!(home.stdout(copy), "own", "it did not change");
    home.write(".cache/pre-commit/db.db", "another");
    assert_eq!(home.stdout(copy), "another");
}

/// A link that a command puts in place of a folder is not followed.
#[test]
fn symlinks_left_in_command_caches_are_not_followed() {
    let home = user_of_everything();
    home.write("victim/index/one-1.0.0/kept", "");
    symlink(home.path(BUILD), home.path("victim/link")).unwrap();
    let victim = home.path("victim");
    let line = "for d in src cache index; do rm -r $CARGO_HOME/registry/$d && ln -s VICTIM $CARGO_HOME/registry/$d || exit 1; done; \
                mkdir -p $XDG_CACHE_HOME; rm -rf $XDG_CACHE_HOME/pre-commit; ln -s VICTIM $XDG_CACHE_HOME/pre-commit";
    home.stdout(&line.replace("VICTIM", victim.to_str().unwrap()));
    home.write(".cargo/registry/src/index/new/lib.rs", "");
    home.write(".cache/pre-commit/db.db", "one");
    let before = home.all();
    assert_eq!(home.stdout("ls $CARGO_HOME/registry/src/index"), "new\none-1.0.0");
    assert_eq!(home.all(), before);
    home.stdout(&format!("rm -r $CARGO_HOME && ln -s {} $CARGO_HOME", victim.display()));
    home.write(".cargo/registry/src/index/newer/lib.rs", "");
    let before = home.all();
    assert_eq!(home.stdout("ls $CARGO_HOME/registry/src/index"), "new\nnewer\none-1.0.0");
    assert_eq!(home.all(), before);
}

#[test]
fn bash_cache_settings_share_one_cache_or_all() {
    let home = user_of_everything();
    home.settings("[bash]\nwritable = [\"~/.npm\", \"~/.cargo/registry\"]\n");
    let own = home.path(".cache/lsp-tools/commands");
    let led = "echo ${npm_config_cache-none} ${CARGO_HOME-none} $XDG_CACHE_HOME; echo > ~/.npm/new && echo > ~/.cargo/registry/new";
    let told = home.stdout(led);
    assert!(told.starts_with("none none ") && told.contains(own.to_str().unwrap()), "{told}");
    assert_ne!(home.bash("echo > ~/.cache/new")["exit_code"], 0);

    home.settings("[bash]\ncaches = \"shared\"\n");
    let line =
        "echo ${XDG_CACHE_HOME-none}; echo > ~/.cache/new && echo > ~/.cargo/git && echo > ~/go/pkg/new";
    fs::write(home.path(".cargo/git"), "").unwrap();
    assert_eq!(home.stdout(line), "none");

    // Tools that may write the user's caches are not redirected.
    home.settings("[bash]\nsandbox = \"off\"\n");
    assert_eq!(home.stdout("echo ${XDG_CACHE_HOME-none} ${CARGO_HOME-none}"), "none none");
}

#[test]
fn cache_variables_of_user_are_read_and_redirected_for_commands() {
    let mut home = user_of_everything();
    home.write("elsewhere/registry/src/index/six/lib.rs", "");
    home.write(".profile", "export CARGO_HOME=$HOME/.cargo XDG_CACHE_HOME=$HOME/.cache\n");
    let elsewhere = home.path("elsewhere").display().to_string();
    let inside = home.project.path("in").display().to_string();
    let variables = [("CARGO_HOME", &elsewhere), ("UV_CACHE_DIR", &elsewhere), ("PIP_CACHE_DIR", &inside)];
    home.env = variables.map(|(name, value)| (name.to_owned(), value.clone())).into();
    let own = fs::canonicalize(home.folder.path()).unwrap().join(".cache/lsp-tools/commands");
    let told = home.stdout(
        "ls $CARGO_HOME/registry/src/index; echo $CARGO_HOME; echo $XDG_CACHE_HOME; echo $UV_CACHE_DIR; echo $PIP_CACHE_DIR; \
         echo ${LSP_TOOLS_COMMAND_CACHES-unset}",
    );
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!((lines[0], lines[4], lines[5]), ("six", &*inside, "unset"), "{told}");
    assert!(lines[1..4].iter().all(|path| path.starts_with(own.to_str().unwrap())), "{told}");
}

#[test]
fn command_caches_not_creatable_command_runs_and_answer_notes_it() {
    let home = user_of_everything();
    fs::create_dir(home.path(".cache/lsp-tools")).unwrap();
    fs::write(home.path(".cache/lsp-tools/commands"), "in the way").unwrap();
    let answer = home.bash("echo ${CARGO_HOME-none}; echo > ~/.npm/new");
    assert_eq!((&answer["stdout"], &answer["exit_code"]), (&json!("none\n"), &json!(2)), "{answer}");
    assert!(answer["no_caches"].as_str().unwrap().contains("lsp-tools/commands"), "{answer}");
}

/// Two packages in a folder that acts as cargo's registry.
fn local_registry(home: &Home) {
    for name in ["dep-a", "dep-b"] {
        home.write(&format!("make/{name}/src/lib.rs"), "pub fn seven() -> u8 { 7 }\n");
        let manifest = format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2021\"\n");
        home.write(&format!("make/{name}/Cargo.toml"), &manifest);
        let manifest = home.path(&format!("make/{name}/Cargo.toml"));
        let args = ["package", "--offline", "--no-verify", "--manifest-path", manifest.to_str().unwrap()];
        home.user("cargo", &args);
        let file = format!("{name}-1.0.0.crate");
        let content = fs::read(home.path(&format!("make/{name}/target/package/{file}"))).unwrap();
        fs::create_dir_all(home.path("registry")).unwrap();
        fs::write(home.path("registry").join(file), &content).unwrap();
        let sum = sha256(&content);
        let line =
            json!({"name": name, "vers": "1.0.0", "deps": [], "cksum": sum, "features": {}, "yanked": false});
        home.write(&format!("registry/index/de/p-/{name}"), &line.to_string());
    }
    let registry = home.path("registry");
    let config = format!(
        "[source.crates-io]\nreplace-with = \"local\"\n[source.local]\nlocal-registry = {:?}\n",
        registry.to_str().unwrap()
    );
    home.write(".cargo/config.toml", &config);
}

#[test]
#[ignore = "slow: just slow"]
fn cargo_offline_build_uses_user_crates_and_unpacks_others_apart() {
    let home = Home::with(&[]);
    local_registry(&home);
    let manifest = |also: &str| {
        format!(
            "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ndep-a = \"1\"\n{also}"
        )
    };
    home.project.write("Cargo.toml", manifest(""));
    home.project.write("src/main.rs", "fn main() { println!(\"{}\", dep_a::seven()); }\n");
    home.user("cargo", &["fetch", "--offline"]);
    let before = home.all();
    assert!(before.keys().any(|path| path.ends_with("dep-a-1.0.0/src/lib.rs")), "the user has it");
    assert_eq!(home.stdout("cargo run --offline --quiet"), "7");
    assert_eq!(home.stdout("readlink $CARGO_HOME/registry/src/*/dep-a-1.0.0 | wc -l"), "1");
    home.project.write("Cargo.toml", manifest("dep-b = \"1\"\n"));
    assert_eq!(home.stdout("cargo fetch --offline && cargo run --offline --quiet"), "7");
    assert_eq!(home.stdout("ls $CARGO_HOME/registry/src/*"), "dep-a-1.0.0\ndep-b-1.0.0");
    let evil = home.bash("cargo metadata --offline --format-version=1 | grep -o '/[^\"]*dep-a-1.0.0/Cargo.toml' | head -1 | xargs -I{} sh -c 'echo >> {}'");
    assert_ne!(evil["exit_code"], 0, "{evil}");
    assert_eq!(home.all(), before);
}

/// git follows links where other tools do not: a command's downloads are beside the user's.
#[test]
fn cargo_git_dependencies_are_fetched_beside_user_caches() {
    let home = Home::with(&[
        ("made/Cargo.toml", "[package]\nname = \"made\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("made/src/lib.rs", "pub fn number() -> u8 { 1 }\n"),
    ]);
    let made = home.path("made");
    let git = |args: &[&str]| {
        let who = ["-C", made.to_str().unwrap(), "-c", "user.name=a", "-c", "user.email=a@example.com"];
        home.user("git", &[&who[..], args].concat());
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "one"]);
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let address = format!("file://{}", made.display());
    home.project.write("Cargo.toml", format!("{manifest}[dependencies]\nmade = {{ git = {address:?} }}\n"));
    home.project.write("src/main.rs", "fn main() { println!(\"{}\", made::number()); }\n");
    home.user("cargo", &["fetch"]);
    assert_eq!(home.stdout("cargo run --offline --quiet"), "1");
    home.write("made/src/lib.rs", "pub fn number() -> u8 { 2 }\n");
    git(&["commit", "--quiet", "-a", "-m", "two"]);
    let before = home.all();
    assert_eq!(home.stdout("cargo update --quiet && cargo run --quiet"), "2");
    // From the user's objects and from its own.
    let again = "rm -r $CARGO_HOME/git/checkouts && cargo run --offline --quiet";
    assert_eq!(home.stdout(again), "2");
    assert_eq!(home.all(), before);
}

#[test]
#[ignore = "slow: just slow"]
fn npm_install_uses_cache_of_its_own() {
    let home = user_of_everything();
    home.project.write("package.json", "{\"name\": \"app\", \"version\": \"1.0.0\"}");
    home.project
        .write("dep/package.json", "{\"name\": \"dep\", \"version\": \"1.0.0\", \"main\": \"index.js\"}");
    home.project.write("dep/index.js", "module.exports = 7\n");
    let before = home.all();
    let line = "npm pack --silent ./dep && npm install --offline --no-audit --no-fund ./dep-1.0.0.tgz && \
                node -p 'require(\"dep\")' && npm config get cache && ls $npm_config_cache";
    let told = home.stdout(line);
    assert!(told.contains("\n7\n") && told.contains("_cacache"), "{told}");
    assert!(told.contains("/.cache/lsp-tools/commands/"), "{told}");
    assert_eq!(home.all(), before);
}

/// uv makes hard links from its store: those of a command point to its own store.
#[test]
fn uv_install_by_command_shares_no_hard_link_with_user_store() {
    let Some(uv) = uv() else { return };
    let home = Home::with(&[]);
    let make = "import zipfile\n\
                z = zipfile.ZipFile('dep-1.0-py3-none-any.whl', 'w')\n\
                z.writestr('dep.py', 'N = 7\\n')\n\
                z.writestr('dep-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: dep\\nVersion: 1.0\\n')\n\
                z.writestr('dep-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
                z.writestr('dep-1.0.dist-info/RECORD', 'dep.py,,\\n')\n\
                z.close()\n";
    home.user("python3", &["-c", make]);
    let uv_path = uv.to_str().unwrap();
    let install =
        ["pip", "install", "--offline", "--no-index", "--no-config", "--quiet", "./dep-1.0-py3-none-any.whl"];
    home.user(&uv, &["venv", "--offline", "--no-config", "--quiet", ".venv"]);
    home.user(&uv, &install);
    let before = home.all();
    assert!(before.keys().any(|path| path.ends_with("dep.py")), "the store has it");
    let line = format!(
        "rm -r .venv && {uv_path} venv --offline --no-config --quiet .venv && {uv_path} {} && .venv/bin/python -c 'import dep; print(dep.N)' && \
         for f in .venv/lib/python3*/site-packages/dep.py; do echo 'N = 8' > $f; done && {uv_path} cache dir --no-config",
        install.join(" ")
    );
    let told = home.stdout(&line);
    assert!(told.starts_with("7\n") && told.contains("/.cache/lsp-tools/commands/"), "{told}");
    assert_eq!(home.all(), before);
}

#[test]
fn doctor_names_caches_that_commands_write() {
    let home = user_of_everything();
    let doctor = || {
        let mut command = home.project.command(None);
        home.as_user(&mut command);
        let output = command.args(["doctor", "--format", "json"]).output().expect("lsp-tools");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = |key: &str| answer[key].to_string();
        (text("commands"), text("commands_may"))
    };
    let (commands, may) = doctor();
    assert!(commands.contains("caches of their own") && !may.contains("caches"), "{commands} {may}");
    home.settings("[bash]\ncaches = \"shared\"\n");
    let (commands, may) = doctor();
    assert!(!commands.contains("of their own") && may.contains("bash.caches"), "{commands} {may}");
}

/// A removed workspace's folder is deleted by commands of another workspace.
#[test]
fn command_caches_of_deleted_workspaces_are_removed() {
    let home = user_of_everything();
    home.stdout("true");
    let commands = home.path(".cache/lsp-tools/commands");
    let old = Path::new(&commands).join("00000000000000000000000000000000");
    fs::create_dir_all(old.join("own/npm")).unwrap();
    fs::write(old.join("root"), home.path("no/such/project").to_str().unwrap()).unwrap();
    let own = fs::read_dir(&commands).unwrap().map(|entry| entry.unwrap().path()).find(|path| *path != old);
    // Once a day.
    home.stdout("true");
    assert!(old.exists());
    fs::remove_file(own.unwrap().join("root")).unwrap();
    home.stdout("true");
    assert!(!old.exists());
    assert_eq!(fs::read_dir(&commands).unwrap().count(), 1);
}
