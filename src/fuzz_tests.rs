//! Replays the seeds of the fuzz targets: every line of `fuzz/seeds/TARGET.txt`, past failures
//! included.
//! `just fuzz` searches for more inputs; `fuzz/README.md` describes the procedure.
//!
//! Targets count the allocations of the whole process and the panics of any thread, so each replay
//! runs in a process of its own.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use crate::fuzz_targets::{TARGETS, tools};

/// The time limit of one input on a slow machine.
const TIME: Duration = Duration::from_secs(120);

/// The environment variable that passes the name of the replay to [`alone`].
const REPLAY: &str = "LSP_TOOLS_FUZZ_REPLAY";
/// The replay that calls every tool with generated arguments instead of seeds.
const RANDOM_TOOLS: &str = "random tools";

/// Serializes the replays, since targets measure time.
static TURN: Mutex<()> = Mutex::new(());

/// Panics of any thread. Otherwise a panic in a task would go unnoticed.
static PANICS: AtomicUsize = AtomicUsize::new(0);

fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(1, Ordering::SeqCst);
            usual(panic);
        }));
    });
}

fn try_input(run: fn(&[u8]), bytes: &[u8], what: &str) {
    let before = PANICS.load(Ordering::SeqCst);
    let begun = Instant::now();
    let ended = std::panic::catch_unwind(|| run(bytes));
    let panics = PANICS.load(Ordering::SeqCst) - before;
    assert!(ended.is_ok() && panics == 0, "{what}: {panics} panics, see above");
    assert!(begun.elapsed() < TIME, "{what}: {:?}", begun.elapsed());
}

/// Runs one replay in a process of its own.
#[test]
#[ignore = "a process of its own for the tests below"]
fn alone() {
    let Ok(name) = std::env::var(REPLAY) else { return };
    count_panics();
    if name == RANDOM_TOOLS { call_tools_at_random() } else { replay(&name) }
}

/// Starts [`alone`] for `name` and waits for its end.
fn replay_alone(name: &str) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut alone = Command::new(std::env::current_exe().expect("this program"));
    alone.args(["--exact", "fuzz_tests::alone", "--ignored", "--nocapture", "--test-threads=1"]);
    let output = alone.env(REPLAY, name).output().expect("a process of its own");
    let [out, errors] = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    assert!(output.status.success() && out.contains("1 passed"), "{name}: {out}{errors}");
}

fn replay(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name).with_extension("txt");
    let seeds = std::fs::read_to_string(&file).expect("the seeds of the target");
    assert!(seeds.lines().count() > 5, "{}: too few seeds", file.display());
    for (name, text) in seeds.lines().filter_map(|line| line.split_once('\t')) {
        try_input(target.run, &unescaped(text), &format!("{}: {name}", file.display()));
    }
}

/// Decodes a seed, in which `\xNN` stands for one byte.
fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).expect("two hexadecimal digits"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}

macro_rules! replays {
    ($($name:ident)*) => {
        /// The names of the replayed targets.
        const REPLAYED: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        #[ignore = "half a minute together: just slow"]
        fn $name() {
            replay_alone(stringify!($name));
        })*
    };
}

replays! {
    path frames answers capabilities markdown patch uri globs mcp shell settings ignored tools records http
}

#[test]
fn fuzz_targets_all_have_seeds_and_a_replay() {
    let targets: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(targets, REPLAYED);
}

#[test]
#[ignore = "half a minute together: just slow"]
fn tools_given_random_input_answer_without_panic() {
    replay_alone(RANDOM_TOOLS);
}

fn call_tools_at_random() {
    const CALLS: u64 = 40;
    let tools = tools::count();
    for number in 0..tools * CALLS as usize {
        let mut bytes = vec![u8::try_from(number % tools).expect("so many tools")];
        bytes.extend(noise(number as u64 + 1).take(160));
        try_input(tools::run, &bytes, &format!("{bytes:?}"));
    }
}

/// Generates pseudo-random bytes that are the same in every run (xorshift).
fn noise(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some((state >> 32) as u8)
    })
}
