//! Daemon, servers and commands killed at random while others work: every command that was not killed itself ends in its time
//! with an answer or a clear error, and in the end nothing is left.
//!
//! For 10 seconds; `CHAOS_SECONDS` says for how long instead.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::house::House;
use crate::support::processes;

/// No command takes longer, whatever is killed under it.
const DEADLINE: Duration = Duration::from_secs(60);
const WORKERS: usize = 4;

/// Random enough, and the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).expect("a small number")
    }
}

fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended by itself.
        let _gone = kill_process(pid, Signal::KILL);
    }
}

/// One command after the other; tells how each of them ended.
fn work(house: &House, number: usize, over: &AtomicBool, answered: &AtomicUsize, failed: &AtomicUsize) {
    let commands: [&[&str]; 6] = [
        &["hover", "a.scr:1:5"],
        &["check", "a.scr"],
        &["grep", "foo"],
        &["references", "a.scr:1:foo"],
        &["edit", "b.scr", "--old", "foo", "--new", "bar", "--dry-run"],
        &["read", "a.scr"],
    ];
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 + number as u64);
    while !over.load(Ordering::Relaxed) {
        let words = commands[dice.below(commands.len())];
        let mut child = house.begin(words);
        let killed = dice.below(8) == 0;
        if killed {
            thread::sleep(Duration::from_millis(dice.below(200) as u64));
            kill(i32::try_from(child.id()).expect("a pid"));
        }
        let begun = Instant::now();
        while child.try_wait().expect("its status").is_none() {
            assert!(begun.elapsed() < DEADLINE, "{words:?} has not ended");
            thread::sleep(Duration::from_millis(2));
        }
        let said = crate::house::output(child.wait_with_output().expect("its output"));
        if killed {
            continue;
        }
        match said.code {
            Some(0 | 1 | 3) => answered.fetch_add(1, Ordering::Relaxed),
            Some(4) => {
                assert!(
                    said.err.contains("error: ")
                        || said.out.contains("\"error\"")
                        || said.err.contains("scripted"),
                    "{words:?}: {said:?}"
                );
                failed.fetch_add(1, Ordering::Relaxed)
            }
            _ => panic!("{words:?}: {said:?}"),
        };
        assert!(
            !said.err.contains("panicked") && !said.err.contains("a fault in lsp-tools"),
            "{words:?}: {said:?}"
        );
    }
}

#[test]
fn whatever_is_killed_the_rest_goes_on_and_nothing_is_left() {
    let seconds = std::env::var("CHAOS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let house =
        House::playing(&json!({"hover_version": false, "answers": {"textDocument/hover": {"delay_ms": 20}}}));
    let over = AtomicBool::new(false);
    let (answered, failed, kills) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let (house, over, answered, failed, kills) = (&house, &over, &answered, &failed, &kills);
        for number in 0..WORKERS {
            scope.spawn(move || {
                let work = std::panic::AssertUnwindSafe(|| work(house, number, over, answered, failed));
                if let Err(panic) = std::panic::catch_unwind(work) {
                    over.store(true, Ordering::Relaxed);
                    std::panic::resume_unwind(panic);
                }
            });
        }
        scope.spawn(move || {
            let mut dice = Dice(42);
            let end = Instant::now() + Duration::from_secs(seconds);
            while Instant::now() < end && !over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(200 + dice.below(800) as u64));
                let daemons = house.daemons();
                let victims = if dice.below(2) == 0 { daemons } else { processes(&house.project.marker()) };
                if let Some(victim) = victims.get(dice.below(victims.len().max(1))) {
                    kill(*victim);
                    kills.fetch_add(1, Ordering::Relaxed);
                }
            }
            over.store(true, Ordering::Relaxed);
        });
    });
    let [answered, failed, kills] = [answered, failed, kills].map(AtomicUsize::into_inner);
    eprintln!("{kills} kills; {answered} commands answered, {failed} told a clear error");
    assert!(answered > failed && kills > 5, "{answered} {failed} {kills}");
    // A server that was killed last is started again after a pause.
    let begun = Instant::now();
    let mut after = house.run(&["hover", "a.scr:1:5"]);
    while after.code != Some(0) && begun.elapsed() < DEADLINE {
        after = house.run(&["hover", "a.scr:1:5"]);
    }
    assert_eq!(after.code, Some(0), "all is well again: {after:?}");
    house.run(&["daemon", "stop"]);
    house.wait_until_empty(Duration::from_secs(10));
}
