//! A start that nobody waits for any more leaves nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use lsp_tools::lsp::process::{Spawn, Spawner};

fn alive(marker: &str) -> usize {
    std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let read = |file: &str| std::fs::read(entry.path().join(file)).unwrap_or_default();
        let state = String::from_utf8_lossy(&read("stat")).into_owned();
        let state = state.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
        String::from_utf8_lossy(&read("cmdline")).contains(marker) && !matches!(state, None | Some(Some('Z' | 'X')))
    }).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_given_up_leaves_nothing() {
    for supervisor in [Some(env!("CARGO_BIN_EXE_lsp-tools").into())] {
        let spawner = Spawner::new(supervisor);
        let marker = format!("given-up-{}", std::process::id());
        for turn in 0..20 {
            let spawn = Spawn {
                name: "test".into(),
                program: which::which("python3").unwrap(),
                args: ["-c", "import time; time.sleep(60)", &marker].map(Into::into).to_vec(),
                env: BTreeMap::new(),
                cwd: "/".into(),
            };
            let _ = tokio::time::timeout(Duration::from_micros(turn * 200), spawner.spawn(spawn)).await;
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(alive(&marker), 0);
    }
}
