//! Workspaces of one user, and a meter of the memory that the servers of all their daemons use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::daemon::house::House;
use crate::support::Project;

/// The interval of the meter.
const METER_INTERVAL: Duration = Duration::from_millis(100);

/// These projects as workspaces of one user with these settings.
pub fn neighbours(projects: Vec<Project>, settings: &str) -> Vec<House> {
    let mut houses: Vec<House> = projects.into_iter().map(House::of).collect();
    let user = houses[0].user.clone();
    for house in &mut houses {
        house.user.clone_from(&user);
        fs::write(house.project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    }
    houses
}

/// The machine's part of the output of `daemon status --all`.
pub fn machine(house: &House) -> Value {
    let said = house.run(&["daemon", "status", "--all", "--format", "json"]);
    let value: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    value["machine"].clone()
}

/// The measurements of the servers' memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// The maximum in bytes.
    pub peak: u64,
    /// The longest continuous time above the budget.
    pub longest_above: Duration,
    /// The maximum number of servers, starting ones included.
    pub most_servers: usize,
}

/// Repeatedly measures all processes below the daemons of some houses.
pub struct Meter {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Reading>,
}

impl Meter {
    pub fn start(houses: &[House], budget: u64) -> Self {
        let roots: Vec<String> =
            houses.iter().map(|house| format!("--workspace\0{}\0", house.project.root().display())).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            let (mut reading, mut above) = (Reading::default(), None);
            while !stopped.load(Ordering::Relaxed) {
                let (bytes, servers) = below_daemons(&roots);
                reading.peak = reading.peak.max(bytes);
                reading.most_servers = reading.most_servers.max(servers);
                above = (bytes > budget).then(|| above.unwrap_or_else(Instant::now));
                let lasts = above.map_or(Duration::ZERO, |since: Instant| since.elapsed());
                reading.longest_above = reading.longest_above.max(lasts);
                thread::sleep(METER_INTERVAL);
            }
            reading
        });
        Self { stop, thread }
    }

    pub fn stop(self) -> Reading {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("a reading")
    }
}

/// The resident memory of all processes below daemons with these arguments, and the number of the
/// daemons' children.
fn below_daemons(roots: &[String]) -> (u64, usize) {
    let mut children: BTreeMap<i32, Vec<(i32, u64)>> = BTreeMap::new();
    let mut daemons = BTreeSet::new();
    let names = fs::read_dir("/proc").expect("/proc").flatten();
    for pid in names.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        let Some((_, rest)) = stat.rsplit_once(") ") else { continue };
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // Parent and resident pages are the fields 4 and 24 of proc_pid_stat(5), counted from 1;
        // the state is the third.
        let (Some(parent), Some(pages)) = (fields.get(1), fields.get(21)) else { continue };
        let (Ok(parent), Ok(pages)) = (parent.parse(), pages.parse::<u64>()) else { continue };
        children.entry(parent).or_default().push((pid, pages * rustix::param::page_size() as u64));
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments);
        if arguments.contains("daemon\0run\0") && roots.iter().any(|root| arguments.contains(root.as_str())) {
            daemons.insert(pid);
        }
    }
    let direct = daemons.iter().filter_map(|daemon| children.get(daemon)).map(Vec::len).sum();
    let mut bytes = 0;
    let mut next: Vec<i32> = daemons.into_iter().collect();
    while let Some(pid) = next.pop() {
        for (child, resident) in children.get(&pid).into_iter().flatten() {
            bytes += resident;
            next.push(*child);
        }
    }
    (bytes, direct)
}
