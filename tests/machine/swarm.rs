//! Twenty worktrees, twenty agents, one machine: the servers' memory against the budget, and the
//! agents' waits.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::neighbours::{Meter, neighbours};
use crate::daemon::house::House;
use crate::daemon::program::Program;
use crate::support::{Project, real_servers};

const WORKTREES: usize = 20;
/// The duration in seconds; `SWARM_SECONDS` sets another one.
const WORK_SECONDS: u64 = 120;
/// An agent's pause between two questions.
const THOUGHT: Duration = Duration::from_millis(1_500);
/// The deadline of a hover is 10 s; a machine with more work than cores adds to it.
const MAX_CALL: Duration = Duration::from_secs(12);
/// The longest time above the budget.
const MAX_ABOVE: Duration = Duration::from_secs(2);

/// The results of one agent.
#[derive(Debug, Default)]
struct Work {
    calls: usize,
    complete: usize,
    slowest: Duration,
    /// The longest time from a question to its first complete answer, with repetitions.
    longest_want: Duration,
    /// The server's state at the last incomplete answer.
    lack: String,
}

/// A file of a worktree, and a position in it.
struct Question {
    path: &'static str,
    line: u32,
    character: u32,
}

fn work(house: &House, question: &Question, until: Instant) -> Work {
    let mut agent = Program::open_mcp(house);
    let (mut done, mut wants) = (Work::default(), Instant::now());
    while Instant::now() < until {
        let Question { path, line, character } = question;
        let asked = Instant::now();
        let place = json!({"path": path, "line": line, "character": character});
        let answer = agent.call(done.calls as u64 + 1, "lsp_hover", place);
        assert_eq!(answer["ok"], json!(true), "{answer}");
        done.calls += 1;
        done.slowest = done.slowest.max(asked.elapsed());
        done.longest_want = done.longest_want.max(wants.elapsed());
        if answer["verdict"] == json!("complete") {
            done.complete += 1;
            thread::sleep(THOUGHT);
            wants = Instant::now();
        } else {
            done.lack = format!("{}: {}", answer["verdict"], answer["server_status"]["detail"]);
        }
    }
    agent.close();
    done
}

fn swarm(name: &str, projects: Vec<Project>, budget_mib: u64, prefix: bool, question: &Question, more: &str) {
    let settings = format!("{more}[servers]\nmachine-memory-budget-mb = {budget_mib}\n");
    let mut houses = neighbours(projects, &settings);
    if prefix {
        let prefix = real_servers(&["pyright"]);
        houses.iter_mut().for_each(|house| house.prefix = Some(prefix.clone()));
    }
    let seconds = std::env::var("SWARM_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(WORK_SECONDS));
    let meter = Meter::start(&houses, budget_mib << 20);
    let work: Vec<Work> = thread::scope(|scope| {
        let agents: Vec<_> =
            houses.iter().map(|house| scope.spawn(|| work(house, question, until))).collect();
        agents.into_iter().map(|agent| agent.join().expect("an agent")).collect()
    });
    let reading = meter.stop();
    let sum = |count: fn(&Work) -> usize| work.iter().map(count).sum::<usize>();
    let most = |time: fn(&Work) -> Duration| work.iter().map(time).max().unwrap_or_default();
    let fewest = work.iter().map(|work| work.complete).min().unwrap_or_default();
    println!(
        "{name}: {WORKTREES} worktrees, {WORKTREES} agents, budget {budget_mib} MiB: peak {} MiB, longest above the budget {:.1} s, \
         {} servers at most; {} calls, {} complete; slowest call {:.1} s; longest wait for a complete answer {:.1} s; \
         complete answers of the agent with the fewest: {fewest}",
        reading.peak >> 20,
        reading.longest_above.as_secs_f64(),
        reading.most_servers,
        sum(|work| work.calls),
        sum(|work| work.complete),
        most(|work| work.slowest).as_secs_f64(),
        most(|work| work.longest_want).as_secs_f64(),
    );
    assert!(fewest > 0, "starved: {work:?}");
    assert!(most(|work| work.slowest) < MAX_CALL, "{work:?}");
    assert!(reading.longest_above <= MAX_ABOVE, "{reading:?}");
}

#[test]
#[ignore = "two minutes: just swarm"]
fn scripted_servers_with_ballast() {
    let scenario = json!({"hover_version": false, "answers": {"initialize": {"delay_ms": 300}}});
    let projects = (0..WORKTREES).map(|_| {
        let project = Project::scripted(&scenario, "", [("a.scr", "def foo\nfoo bar\n")]);
        project.add_ballast(100_000_000);
        project
    });
    let question = Question { path: "a.scr", line: 0, character: 5 };
    swarm("scripted", projects.collect(), 1_024, false, &question, "");
}

#[test]
#[ignore = "two minutes: just swarm"]
fn pyright() {
    let projects: Vec<Project> = (0..WORKTREES).map(|_| Project::of_fixture("python")).collect();
    for project in &projects {
        fs::create_dir(project.path(".git")).expect("a folder");
    }
    let question = Question { path: "greet/app.py", line: 8, character: 14 };
    swarm("pyright", projects, 2_048, true, &question, "prefer.python = [\"pyright\"]\n");
}
