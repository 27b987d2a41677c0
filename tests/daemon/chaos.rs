//! Daemon, supervisors, servers and commands are killed at random while others work. Every
//! surviving command ends in time with an answer or a clear error, no file is torn, no confirmed
//! write is lost, and no process or file remains.
//!
//! Runs for 10 seconds here; `bench/siege` runs for minutes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::house::House;
use crate::support::processes;

/// The time limit of a command, regardless of kills.
const DEADLINE: Duration = Duration::from_secs(60);
const WORKERS: usize = 4;

/// The seed of the random numbers, the same in every run.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).expect("a small number")
    }
}

/// The results of a run.
#[derive(Debug, Default)]
pub struct Fought {
    pub daemons_killed: AtomicUsize,
    pub supervisors_killed: AtomicUsize,
    /// Servers, and commands of `bash`.
    pub servers_killed: AtomicUsize,
    pub commands_killed: AtomicUsize,
    pub answered: AtomicUsize,
    pub failed: AtomicUsize,
    /// Confirmed writes.
    pub written: AtomicUsize,
    /// Files with neither the old nor the new text.
    pub torn: AtomicUsize,
    /// Files older than a confirmed write.
    pub lost: AtomicUsize,
    /// Commands that did not end in time.
    pub hung: AtomicUsize,
    /// Commands that ended with neither an answer nor a clear error.
    pub wrong: AtomicUsize,
    /// Processes that remain at the end.
    pub orphans: AtomicUsize,
    /// Unexpected files that remain at the end.
    pub strays: AtomicUsize,
}

fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Fought {
    pub fn kills(&self) -> usize {
        let all =
            [&self.daemons_killed, &self.supervisors_killed, &self.servers_killed, &self.commands_killed];
        all.iter().map(|killed| killed.load(Ordering::Relaxed)).sum()
    }

    /// The violations, with their counts.
    pub fn faults(&self) -> [(&'static str, usize); 6] {
        [
            ("torn files", &self.torn),
            ("lost writes", &self.lost),
            ("hung commands", &self.hung),
            ("wrong ends", &self.wrong),
            ("orphans", &self.orphans),
            ("strays", &self.strays),
        ]
        .map(|(what, counter)| (what, counter.load(Ordering::Relaxed)))
    }
}

fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended by itself.
        let _gone = kill_process(pid, Signal::KILL);
    }
}

/// The text of a worker's own file; large enough for several write steps.
fn text(generation: usize) -> String {
    format!("generation {generation}\n{}\n", "x".repeat(99)).repeat(200)
}

/// A worker, with the file that only it writes.
struct Worker<'a> {
    house: &'a House,
    number: usize,
    dice: Dice,
    /// The last confirmed generation, and the last attempted one.
    told: usize,
    tried: usize,
}

impl Worker<'_> {
    fn own_file(&self) -> String {
        format!("w{}.txt", self.number)
    }

    fn words(&mut self) -> Vec<String> {
        let commands: [&[&str]; 6] = [
            &["hover", "a.scr:1:5"],
            &["check", "a.scr"],
            &["grep", "foo"],
            &["references", "a.scr:1:foo"],
            &["edit", "b.scr", "--old", "foo", "--new", "bar", "--dry-run"],
            &["read", "a.scr"],
        ];
        let call = |tool: &str, arguments: serde_json::Value| {
            ["tools", "call", tool, &arguments.to_string()].map(str::to_owned).to_vec()
        };
        match self.dice.below(10) {
            0..=2 => {
                self.tried += 1;
                call(
                    "write",
                    json!({"path": self.own_file(), "content": text(self.tried), "diagnostics": false}),
                )
            }
            3 => {
                let command = format!("sleep 0.{}; : {}", self.dice.below(5), self.house.project.marker());
                call("bash", json!({"command": command}))
            }
            other => commands[(other - 4) % commands.len()].iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    /// Returns true if the file has one of the allowed contents.
    fn check(&mut self, fought: &Fought) {
        let Ok(found) = std::fs::read_to_string(self.house.project.path(&self.own_file())) else {
            return if self.told > 0 {
                count(&fought.lost)
            };
        };
        let generation = found.split([' ', '\n']).nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
        if found != text(generation) {
            eprintln!("torn: {} bytes, generation {generation}", found.len());
            count(&fought.torn);
        } else if generation < self.told {
            eprintln!("lost: {generation} is there, {} was confirmed", self.told);
            count(&fought.lost);
        }
    }

    /// Runs one command and records how it ended.
    fn step(&mut self, fought: &Fought) {
        let words = self.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let is_write = words.get(2) == Some(&"write");
        let mut child = self.house.begin(&words);
        let killed = self.dice.below(8) == 0;
        if killed {
            thread::sleep(Duration::from_millis(self.dice.below(200) as u64));
            kill(i32::try_from(child.id()).expect("a pid"));
            count(&fought.commands_killed);
        }
        let begun = Instant::now();
        while child.try_wait().expect("its status").is_none() {
            if begun.elapsed() > DEADLINE {
                eprintln!("hung: {words:?}");
                count(&fought.hung);
                kill(i32::try_from(child.id()).expect("a pid"));
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
        let said = super::house::output(child.wait_with_output().expect("its output"));
        if is_write && said.code == Some(0) {
            self.told = self.tried;
            count(&fought.written);
        }
        self.check(fought);
        if killed {
            return;
        }
        let is_clear =
            said.err.contains("error: ") || said.out.contains("\"error\"") || said.err.contains("scripted");
        let is_fault = said.err.contains("panicked") || said.err.contains("a fault in lsp-tools");
        match said.code {
            Some(0 | 1 | 3) if !is_fault => count(&fought.answered),
            Some(4) if is_clear && !is_fault => count(&fought.failed),
            // A command of `bash` that was killed.
            Some(_) if words.get(2) == Some(&"bash") && !is_fault => count(&fought.failed),
            _ => {
                eprintln!("wrong: {words:?}: {said:?}");
                count(&fought.wrong);
            }
        }
    }
}

/// Kills a random living process, and returns its kind.
fn strike(house: &House, dice: &mut Dice, fought: &Fought) {
    let daemons = house.daemons();
    let is_daemon = dice.below(2) == 0;
    let victims = if is_daemon { daemons } else { processes(&house.project.marker()) };
    // The arguments of a typed command also contain the marker, but its worker kills it.
    let told = |pid: &i32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let of_ours = |text: &str, word: &str| text.split('\0').any(|part| part == word);
    let victims: Vec<(i32, String)> = victims
        .iter()
        .map(|pid| (*pid, String::from_utf8_lossy(&told(pid)).into_owned()))
        .filter(|(_, arguments)| !of_ours(arguments, "tools"))
        .collect();
    let Some((victim, arguments)) = victims.get(dice.below(victims.len().max(1))) else { return };
    kill(*victim);
    count(match (is_daemon, of_ours(arguments, "__supervise")) {
        (true, _) => &fought.daemons_killed,
        (false, true) => &fought.supervisors_killed,
        (false, false) => &fought.servers_killed,
    });
}

/// Works and kills for `seconds`.
pub fn fight(seconds: u64) -> Fought {
    let house =
        House::playing(&json!({"hover_version": false, "answers": {"textDocument/hover": {"delay_ms": 20}}}));
    let settings = "[permissions]\nprofile = \"all\"\nallow = [\"bash\", \"write\"]\n";
    std::fs::write(house.project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    let fought = Fought::default();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let (house, over, fought) = (&house, &over, &fought);
        for number in 0..WORKERS {
            scope.spawn(move || {
                let dice = Dice(0x9e37_79b9_7f4a_7c15 + number as u64);
                let mut worker = Worker { house, number, dice, told: 0, tried: 0 };
                while !over.load(Ordering::Relaxed) {
                    worker.step(fought);
                }
            });
        }
        scope.spawn(move || {
            let mut dice = Dice(42);
            let end = Instant::now() + Duration::from_secs(seconds);
            while Instant::now() < end {
                thread::sleep(Duration::from_millis(200 + dice.below(800) as u64));
                strike(house, &mut dice, fought);
            }
            over.store(true, Ordering::Relaxed);
        });
    });
    // A server that was killed last is started again after a pause.
    let begun = Instant::now();
    let mut after = house.run(&["hover", "a.scr:1:5"]);
    while after.code != Some(0) && begun.elapsed() < DEADLINE {
        after = house.run(&["hover", "a.scr:1:5"]);
    }
    assert_eq!(after.code, Some(0), "all is well again: {after:?}");
    // The first edit after a kill finishes or reverts interrupted ones.
    assert_eq!(house.run(&["tools", "call", "mkdir", "{\"path\": \"last\"}"]).code, Some(0));
    house.run(&["daemon", "stop"]);
    let end = Instant::now() + Duration::from_secs(60);
    while house.daemons().len() + house.servers() > 0 && Instant::now() < end {
        thread::sleep(Duration::from_millis(20));
    }
    fought.orphans.store(house.daemons().len() + house.servers(), Ordering::Relaxed);
    fought.strays.store(strays(&house), Ordering::Relaxed);
    fought
}

/// The number of unexpected names in the workspace.
fn strays(house: &House) -> usize {
    let names =
        std::fs::read_dir(house.project.root()).expect("a folder").map(|entry| entry.expect("an entry"));
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let ours = |name: &String| {
        let own = (0..WORKERS).any(|number| *name == format!("w{number}.txt"));
        own || ["a.scr", "b.scr", "last"].contains(&name.as_str())
    };
    let strays: Vec<String> = names.filter(|name| !ours(name)).collect();
    if !strays.is_empty() {
        eprintln!("strays: {strays:?}");
    }
    strays.len()
}

#[test]
#[ignore = "slow: just slow"]
fn processes_killed_at_random_lose_nothing_and_leave_nothing() {
    let fought = fight(10);
    eprintln!("{fought:?}");
    let [answered, failed] = [&fought.answered, &fought.failed].map(|count| count.load(Ordering::Relaxed));
    assert!(answered > failed && fought.kills() > 5, "{fought:?}");
    for (what, count) in fought.faults() {
        assert_eq!(count, 0, "{what}: {fought:?}");
    }
}
