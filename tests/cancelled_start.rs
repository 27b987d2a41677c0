//! A cancelled start leaves nothing behind, at any time of the cancellation.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::support::{Marker, wait_until};
use lsp_tools::internals::process::{Spawn, Spawner};

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_spawn_at_any_moment_leaves_no_processes() {
    let spawner = Spawner::new(Some(env!("CARGO_BIN_EXE_lsp-tools").into()));
    let marker = Marker::new();
    let mut given_up = 0;
    for turn in 0..40 {
        let spawn = program("sh", &["-c", "sleep 600; true", marker.as_str()]);
        tokio::select! {
            biased;
            process = spawner.spawn(spawn) => drop(process.unwrap()),
            () = microseconds(turn * 50) => given_up += 1,
        }
    }
    assert!(given_up > 0, "no start was cancelled");
    // The last start may still be in progress, so an absence now proves nothing.
    spawner.spawn(program("true", &[])).await.unwrap().wait().await;
    wait_until("nothing is left", Duration::from_secs(60), || marker.living() == 0);
}

/// Waits for less than a timer's minimum of a millisecond.
async fn microseconds(patience: u64) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_micros(patience) {
        tokio::task::yield_now().await;
    }
}

fn program(name: &str, args: &[&str]) -> Spawn {
    let program = which::which(name).unwrap();
    Spawn {
        name: name.into(),
        program,
        args: args.iter().map(Into::into).collect(),
        env: BTreeMap::new(),
        cwd: "/".into(),
        pins: Vec::new(),
    }
}
