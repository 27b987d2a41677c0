//! Commands that fork and exit endlessly under a timeout of one second, with and without a process
//! namespace of their own.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::endings::COMETS;
use crate::report::Row;
use crate::scene::{PROMPT, Scene};

pub fn run(time: Duration) -> Vec<Row> {
    let tokio = tokio::runtime::Runtime::new().expect("tokio");
    let end = Instant::now() + time;
    let (mut rounds, mut late, mut left, mut wrong) = (0, 0, 0, 0);
    let mut longest = Duration::ZERO;
    while Instant::now() < end || rounds < 2 {
        let settings = if rounds % 2 == 0 { "" } else { "[bash]\nsandbox = \"off\"\n" };
        let _inside = tokio.enter();
        let scene = Scene::with(settings);
        scene.project.write("comets.py", COMETS);
        let command = format!("exec python3 comets.py {}", scene.marker.as_str());
        let begun = Instant::now();
        let called = scene.call("bash", json!({"command": command, "timeout_ms": 1_000}));
        let answer = tokio.block_on(called).value;
        let took = begun.elapsed();
        longest = longest.max(took);
        late += usize::from(took > PROMPT);
        wrong += usize::from(answer["code"] != "timeout" || answer["stdout"] != "flying\n");
        // A single scan may miss them.
        left += (0..20).map(|_| scene.marker.living()).max().unwrap_or_default();
        rounds += 1;
    }
    let tried = format!(
        "{rounds} commands with six comets each, the longest answered after {:.1} s",
        longest.as_secs_f64()
    );
    vec![Row::new(
        "comets",
        tried,
        rounds,
        [("late answers", late), ("survivors", left), ("wrong answers", wrong)],
    )]
}
