//! Helix as Debian ships it (`hx`), driven by keys in a terminal of tmux, with `lsp-tools lsp` as
//! its language server.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::nvim::working_in;
use crate::support::{Project, real_servers, wait_until};

/// The upper bound for every expected screen, on a slow and busy machine.
const SOON: Duration = Duration::from_secs(90);

/// Helix on a project, with its own screen.
struct Helix<'a> {
    project: &'a Project,
}

impl<'a> Helix<'a> {
    /// Opens `file`.
    fn open(project: &'a Project, servers: &Path, file: &str) -> Self {
        let settings = project.beside("cache").join("helix");
        fs::create_dir_all(&settings).expect("a folder");
        let program = env!("CARGO_BIN_EXE_lsp-tools");
        let root = project.root();
        let languages = format!(
            "[language-server.lsp-tools]\ncommand = {program:?}\nargs = [\"lsp\", \"--no-daemon\", \"--workspace\", {root:?}]\n\n\
             [[language]]\nname = \"python\"\nlanguage-servers = [\"lsp-tools\"]\n"
        );
        fs::write(settings.join("languages.toml"), languages).expect("its settings");
        // Keys during the opening of Helix's own completion list may be reordered.
        fs::write(settings.join("config.toml"), "[editor]\nauto-completion = false\n").expect("its settings");
        let helix = Self { project };
        let mut command = helix.tmux(&["new-session", "-d", "-x", "150", "-y", "40", "hx", file]);
        command.envs(project.environment(Some(servers))).current_dir(project.root());
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
            command.env(name, project.beside("cache"));
        }
        let started = command.output().expect("tmux");
        assert!(started.status.success(), "{started:?}");
        helix
    }

    fn tmux(&self, words: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(self.project.beside("logs").join("tmux")).args(["-f", "/dev/null"]);
        command.args(words).stdin(Stdio::null());
        command
    }

    fn output(&self, words: &[&str]) -> Output {
        self.tmux(words).output().expect("tmux")
    }

    /// Presses keys, by tmux's names.
    fn press(&self, keys: &[&str]) {
        let mut words = vec!["send-keys"];
        words.extend(keys);
        assert!(self.output(&words).status.success(), "Helix has gone");
    }

    /// Leaves any open mode. If an escape and the next key arrive together, a terminal reads one
    /// key with Alt, and it does not show when it has read the escape.
    fn escape(&self) {
        self.press(&["Escape"]);
        std::thread::sleep(Duration::from_millis(200));
    }

    fn command(&self, line: &str) {
        self.escape();
        self.press(&["-l", line]);
        self.press(&["Enter"]);
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.output(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// Waits until the screen shows `what`, pressing keys again if they had no effect: a server may
    /// not be ready yet.
    fn until(&self, what: &str, mut press: impl FnMut(&Self)) -> String {
        let end = Instant::now() + SOON;
        loop {
            press(self);
            let pressed = Instant::now();
            while pressed.elapsed() < Duration::from_secs(5) {
                let screen = self.screen();
                if screen.contains(what) {
                    return screen;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            assert!(Instant::now() < end, "never seen: {what}\n{}", self.screen());
        }
    }
}

impl Drop for Helix<'_> {
    fn drop(&mut self) {
        // Remains of a failed test.
        let _gone = self.output(&["kill-server"]);
    }
}

fn is_there(program: &str, argument: &str) -> bool {
    Command::new(program)
        .arg(argument)
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success())
}

#[test]
#[ignore = "it drives a terminal by keys, which needs a machine that does little else: cargo test editor::helix -- --ignored"]
fn helix_hover_rename_unsaved_diagnostics_and_quit_work() {
    if !is_there("hx", "--version") || !is_there("tmux", "-V") {
        crate::support::skipped("there is no hx, or no tmux, on PATH; install Debian's `hx` and `tmux`");
        return;
    }
    let servers = real_servers(&["pyright"]);
    let project = Project::of_fixture("python");
    project.write_settings("prefer.python = [\"pyright\"]\n");
    let helix = Helix::open(&project, &servers, "greet/app.py");
    helix.until("Greets everybody", |_| {});

    helix.command(":goto 9");
    helix.press(&["f", "c"]);
    let screen = helix.until("Compose a greeting", |helix| {
        helix.escape();
        helix.press(&["Space", "k"]);
    });
    assert!(screen.contains("(function) def compose("), "{screen}");

    helix.command(":goto 7");
    helix.press(&["f", "g"]);
    helix.until("rename-to:greet_all", |helix| {
        helix.escape();
        helix.press(&["Space", "r"]);
    });
    helix.press(&["C-u"]);
    helix.press(&["-l", "welcome_all"]);
    let screen = helix.until("def welcome_all(", |helix| helix.press(&["Enter"]));
    assert!(screen.contains("for line in welcome_all("), "{screen}");

    // It is not saved: the server learns of it only from the editor.
    helix.command(":goto 22");
    helix.press(&["o"]);
    helix.press(&["-l", "nowhere_defined"]);
    helix.escape();
    helix.press(&["b"]);
    helix.until("\"nowhere_defined\" is not defined", |_| {});
    assert!(!project.read("greet/app.py").contains("nowhere_defined"));

    helix.command(":q!");
    let ended = || !helix.output(&["has-session"]).status.success();
    wait_until("Helix ends", SOON, ended);
    wait_until("nothing is left running", Duration::from_secs(60), || working_in(&project.root()) == 0);
}
