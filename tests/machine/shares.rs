//! Shared limits of workspaces of one user: the memory budget and the queue of starts; the shares
//! that a killed daemon returns.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::neighbours::{Meter, machine, neighbours};
use crate::daemon::house::House;
use crate::daemon::program::Program;
use crate::support::{Project, wait_until};

const SOON: Duration = Duration::from_secs(60);
const TEXT: &str = "def foo\nfoo bar\n";

fn project(scenario: &Value) -> Project {
    Project::scripted(scenario, "", [("a.scr", TEXT)])
}

/// Asks until a server has answered; returns the number of questions.
fn ask_until_answered(agent: &mut Program, first: u64) -> u64 {
    let begun = Instant::now();
    for id in first.. {
        let answer = agent.call(id, "lsp_hover", json!({"path": "a.scr", "line": 0, "character": 5}));
        assert_eq!(answer["ok"], json!(true), "{answer}");
        if answer["verdict"] == json!("complete") {
            return id - first + 1;
        }
        assert!(begun.elapsed() < SOON, "starved: {answer}");
    }
    unreachable!()
}

#[test]
#[ignore = "slow: just slow"]
fn servers_of_several_workspaces_share_one_budget_and_all_are_answered() {
    let projects: Vec<Project> = (0..5).map(|_| project(&json!({"hover_version": false}))).collect();
    for project in &projects {
        project.add_ballast(100_000_000);
    }
    // Three fit.
    let budget: u64 = 420;
    let settings = format!("[servers]\nmachine-memory-budget-mb = {budget}\nmachine-starts = 2\n");
    let houses = neighbours(projects, &settings);
    let mut agents: Vec<Program> = houses.iter().map(Program::open_mcp).collect();
    let meter = Meter::start(&houses, budget << 20);
    thread::scope(|scope| {
        for agent in &mut agents {
            scope.spawn(move || {
                for round in 0..4 {
                    ask_until_answered(agent, 1_000 * (round + 1));
                    // The pause of an agent that reads the message.
                    thread::sleep(Duration::from_millis(800));
                }
            });
        }
    });
    let reading = meter.stop();
    eprintln!("{reading:?}");
    assert!(reading.longest_above < Duration::from_secs(10), "{reading:?}");
    let all = machine(&houses[0]);
    assert_eq!((&all["budget_bytes"], &all["starting_limit"]), (&json!(budget << 20), &json!(2)), "{all}");
    assert_eq!(all["waiting"], json!(0));
    let bytes = all["memory_bytes"].as_u64().expect("a number");
    // The ballast is in a grandchild of each daemon.
    assert!((100_000_000..=budget << 20).contains(&bytes), "{all}");
    let ended: usize = houses.iter().map(|house| house.project.log().events("exit").len()).sum();
    assert!(ended >= 2, "five do not fit: {ended}");
    for house in &houses {
        assert_eq!(house.project.log().violations(), Vec::<String>::new());
    }
    for agent in agents {
        agent.close();
    }
}

#[test]
#[ignore = "slow: just slow"]
fn start_that_waits_says_so_and_begins_when_the_daemon_before_it_is_killed() {
    let stuck = json!({"answers": {"initialize": {"delay_ms": 600_000}}});
    let projects = vec![project(&stuck), project(&json!({"hover_version": false}))];
    let houses = neighbours(projects, "[servers]\nmachine-starts = 1\n");
    let first = houses[0].run(&["hover", "a.scr:1:5", "--timeout", "1"]);
    assert_eq!(first.code, Some(4), "{first:?}");
    let second = houses[1].run(&["hover", "a.scr:1:5", "--timeout", "1"]);
    assert_eq!(second.code, Some(4), "{second:?}");
    assert!(
        second.err.contains("waits to be started") && second.err.contains("1 language servers are starting"),
        "{second:?}"
    );
    let all = machine(&houses[1]);
    assert_eq!((&all["starting"], &all["waiting"]), (&json!(1), &json!(1)), "{all}");
    assert_eq!(houses[1].project.log().starts(), 0);
    let text = houses[1].run(&["daemon", "status", "--all"]).out;
    assert!(text.contains("1 of 1 being started, 1 waiting"), "{text}");
    houses[0].kill(houses[0].pid(), Signal::KILL);
    wait_until("the second one is started", SOON, || houses[1].project.log().starts() == 1);
    assert_eq!(houses[1].run(&["hover", "a.scr:1:5"]).code, Some(0));
    wait_until("the killed one is forgotten", SOON, || {
        let all = machine(&houses[1]);
        all["processes"].as_array().is_some_and(|processes| processes.len() == 1)
            && all["servers"] == json!(1)
    });
}

#[test]
fn server_starts_at_the_first_read_and_not_before() {
    let house = House::of(project(&json!({"hover_version": false})));
    assert_eq!(house.run(&["daemon", "start"]).code, Some(0));
    let mut agent = Program::open_mcp(&house);
    agent.ask(1, "tools/list", json!({}));
    for (id, (tool, arguments)) in [
        ("list", json!({})),
        ("glob", json!({"pattern": "**/*.scr"})),
        ("grep", json!({"pattern": "nowhere at all"})),
        ("lsp_servers", json!({})),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = agent.call(10 + id as u64, tool, arguments);
        assert_eq!(answer["ok"], json!(true), "{tool}: {answer}");
    }
    let view = house.run(&["view", "--format", "json"]);
    assert_eq!(view.code, Some(0), "{view:?}");
    for words in [&["servers"][..], &["daemon", "status", "--all"], &["list"]] {
        assert_eq!(house.run(words).code, Some(0), "{words:?}");
    }
    assert_eq!((house.servers(), house.project.log().starts()), (0, 0));
    assert_eq!(machine(&house)["processes"], json!([]));
    let read = agent.call(50, "read", json!({"path": "a.scr"}));
    assert_eq!(read["ok"], json!(true), "{read}");
    wait_until("the server of the read file is started", SOON, || house.project.log().starts() == 1);
    ask_until_answered(&mut agent, 100);
    assert_eq!((house.project.log().starts(), &machine(&house)["servers"]), (1, &json!(1)));
    agent.close();
}
