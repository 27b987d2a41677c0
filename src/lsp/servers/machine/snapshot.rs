//! A snapshot of the ledger of language servers, and the decisions from it: the starts that may
//! begin, and the servers to end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::hold::{HoldCause, StartHold};
use super::limits::MachineLimits;

/// The record of one process about its servers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct LedgerRecord {
    /// The process.
    pub(crate) pid: u32,
    /// The root of its workspace, for people.
    pub(crate) workspace: String,
    /// The running servers.
    pub(crate) servers: Vec<LedgerServer>,
    /// The servers that are being started or wait for it.
    pub(crate) starts: Vec<LedgerStart>,
}

/// A running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LedgerServer {
    /// Its key in the catalogue.
    pub(crate) server: String,
    /// The process at the top of its tree, which identifies it in its record.
    pub(crate) pid: i32,
    /// Resident memory with its children, in bytes.
    pub(crate) bytes: u64,
    /// The expected memory use once the server has settled, in bytes; 0 if it has.
    pub(crate) expected: u64,
    /// The end of its turn, in milliseconds of the machine's clock. Until then it keeps its memory
    /// from waiting starts, however often it rests.
    pub(crate) turn_ends_ms: u64,
    /// The time of its last use, in milliseconds of the machine's clock; `None` while it is in use.
    pub(crate) last_used_ms: Option<u64>,
}

/// A start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LedgerStart {
    /// The number that identifies it in its record.
    pub(crate) id: u64,
    /// The server's key in the catalogue.
    pub(crate) server: String,
    /// The present memory use of the server, in bytes.
    pub(crate) bytes: u64,
    /// The expected memory use of the server, in bytes.
    pub(crate) expected: u64,
    /// The time since which it waits or has waited, in milliseconds of the machine's clock.
    pub(crate) since_ms: u64,
    /// The phase of the start.
    pub(crate) phase: StartPhase,
}

/// The phase of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartPhase {
    /// The start waits for its turn.
    Waiting,
    /// The server is being started.
    UnderWay,
    /// The start has ended; the server, if there is one, has not been measured yet.
    Ended,
}

/// The time after its last question for which a server is not ended if memory is above the budget,
/// because a call often asks several questions.
const OVERRUN_GRACE_PERIOD: Duration = Duration::from_millis(500);
/// The longer grace period that holds while a start waits for memory, unless the server has had its
/// turn.
const WAITING_GRACE_PERIOD: Duration = Duration::from_secs(2);
/// The shortest rest that ends a server that has had its turn. The pauses between the questions of
/// one call are shorter.
pub(crate) const MIN_REST: Duration = Duration::from_millis(300);
/// The shortest turn. With a shorter one, more time would go into starts than into answers when
/// many agents share few servers. Without an end of turns, one agent that asks all the time would
/// keep all others waiting.
const MIN_SERVER_TURN: Duration = Duration::from_secs(10);
/// The length of a server's turn, as a multiple of its start's duration. On a busy machine both
/// take longer.
const TURN_PER_START: u32 = 3;

/// Returns the length of the turn of a server whose start took this long.
pub(crate) fn turn_length(start: Duration) -> Duration {
    MIN_SERVER_TURN.max(start * TURN_PER_START)
}

impl LedgerServer {
    fn claimed(&self) -> u64 {
        self.bytes.max(self.expected)
    }

    fn has_had_turn(&self, now_ms: u64) -> bool {
        now_ms >= self.turn_ends_ms
    }
}

/// A server or a start: the name of its record, and its number there; those of starts are below
/// zero.
pub(crate) type LedgerPlace = (String, i64);

/// The place of the start `id` in the record `name`.
pub(super) fn start_place(name: &str, id: u64) -> LedgerPlace {
    (name.to_owned(), !id.cast_signed())
}

/// All records at one moment, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct MachineSnapshot {
    pub(crate) records: BTreeMap<String, LedgerRecord>,
}

impl MachineSnapshot {
    fn servers(&self) -> impl Iterator<Item = (LedgerPlace, &LedgerServer)> {
        self.records.iter().flat_map(|(name, record)| {
            record.servers.iter().map(|server| ((name.clone(), i64::from(server.pid)), server))
        })
    }

    fn starts(&self, phase: StartPhase) -> impl Iterator<Item = (LedgerPlace, &LedgerStart)> {
        let starts = self.records.iter().flat_map(|(name, record)| {
            record.starts.iter().map(|start| (start_place(name, start.id), start))
        });
        starts.filter(move |(_, start)| start.phase == phase)
    }

    /// Returns each record, also as a snapshot of its own.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&LedgerRecord, Self)> {
        self.records.iter().map(|(name, record)| {
            (record, Self { records: BTreeMap::from([(name.clone(), record.clone())]) })
        })
    }

    /// The number of running servers.
    pub(crate) fn running(&self) -> usize {
        self.servers().count()
    }

    /// The number of servers that are being started.
    pub(crate) fn starting(&self) -> usize {
        self.starts(StartPhase::UnderWay).count()
    }

    /// The number of servers that wait to be started.
    pub(crate) fn waiting(&self) -> usize {
        self.starts(StartPhase::Waiting).count()
    }

    /// The memory use of all servers, in bytes, including those that are being started.
    pub(crate) fn used(&self) -> u64 {
        let running = self.servers().map(|(_, server)| server.bytes);
        let starting = [StartPhase::UnderWay, StartPhase::Ended]
            .map(|phase| self.starts(phase).fold(0_u64, |sum, (_, start)| sum.saturating_add(start.bytes)));
        running.chain(starting).fold(0, u64::saturating_add)
    }

    /// The expected memory use of all servers, in bytes, including those that are being started.
    fn claimed(&self) -> u64 {
        let running = self.servers().map(|(_, server)| server.claimed());
        let starting = [StartPhase::UnderWay, StartPhase::Ended].map(|phase| {
            let claims = self.starts(phase).map(|(_, start)| start.bytes.max(start.expected));
            claims.fold(0, u64::saturating_add)
        });
        running.chain(starting).fold(0, u64::saturating_add)
    }

    /// The average memory use of servers with that key, in bytes. Expected values do not count,
    /// because they come from here.
    pub(crate) fn usual_size(&self, server: &str) -> Option<u64> {
        let sizes: Vec<u64> =
            self.servers().filter(|(_, one)| one.server == server).map(|(_, one)| one.bytes).collect();
        let count = u64::try_from(sizes.len()).ok().filter(|count| *count > 0)?;
        Some(sizes.into_iter().fold(0, u64::saturating_add) / count)
    }

    /// Returns the waiting starts in the order of their arrival.
    fn queue(&self) -> Vec<(LedgerPlace, &LedgerStart)> {
        let mut queue: Vec<_> = self.starts(StartPhase::Waiting).collect();
        queue.sort_by(|(one, a), (other, b)| (a.since_ms, one).cmp(&(b.since_ms, other)));
        queue
    }

    /// Returns the first start in the queue that is not `passed`, and the limit that delays it.
    fn head(&self, limits: MachineLimits, passed: &PassedOver) -> Option<(LedgerPlace, Option<HoldCause>)> {
        let (place, start) = self.queue().into_iter().find(|(place, _)| !passed.has(place))?;
        Some((place, self.lack_for(start, limits)))
    }

    /// Returns the limit that prevents one more start. A server that runs alone may use any amount
    /// of memory.
    fn lack_for(&self, start: &LedgerStart, limits: MachineLimits) -> Option<HoldCause> {
        if self.starting() >= limits.starts {
            return Some(HoldCause::Starts { limit: limits.starts });
        }
        let claimed = self.claimed();
        let fits = claimed == 0 || claimed.saturating_add(start.expected) <= limits.memory;
        (!fits).then_some(HoldCause::Memory { budget: limits.memory })
    }

    /// Returns the reason why the start at `place` is delayed; `None` if it may begin.
    pub(super) fn hold_of(
        &self,
        place: &LedgerPlace,
        limits: MachineLimits,
        passed: &PassedOver,
    ) -> Option<StartHold> {
        let queue = self.queue();
        let before = queue.iter().take_while(|(other, _)| other != place);
        let before = before.filter(|(other, _)| !passed.has(other)).count();
        let (_, own) = queue.iter().find(|(other, _)| other == place)?;
        let cause = match before {
            0 => self.lack_for(own, limits)?,
            _ => self.head(limits, passed).and_then(|(_, cause)| cause).unwrap_or(HoldCause::Turn),
        };
        Some(StartHold { cause, before })
    }

    /// Returns the start whose turn it is although it has not begun. It begins at once, unless its
    /// process is stuck.
    pub(super) fn start_due(&self, limits: MachineLimits, passed: &PassedOver) -> Option<LedgerPlace> {
        self.head(limits, passed).and_then(|(place, cause)| cause.is_none().then_some(place))
    }

    /// Returns the servers to end so that all others, and the first waiting start, are within the
    /// budget. The least recently used idle servers come first. All processes compute the same
    /// list, and each ends its own servers.
    pub(crate) fn surplus(
        &self,
        limits: MachineLimits,
        now_ms: u64,
        passed: &PassedOver,
    ) -> Vec<LedgerPlace> {
        let first = self.queue().into_iter().find(|(place, _)| !passed.has(place));
        let next = first.map_or(0, |(_, start)| start.expected.min(limits.memory));
        let wanted = if next == 0 { 0 } else { self.claimed().saturating_add(next) };
        let mut overrun = self.used().saturating_sub(limits.memory);
        let mut deficit = wanted.saturating_sub(limits.memory);
        let idle = |server: &LedgerServer| {
            Some((server.last_used_ms?, server.claimed(), server.has_had_turn(now_ms)))
        };
        let mut idle: Vec<_> = self
            .servers()
            .filter_map(|(place, server)| Some((idle(server)?, place)))
            .filter(|(_, place)| !passed.has(place))
            .collect();
        idle.sort();
        let mut surplus = Vec::new();
        for ((last_used_ms, bytes, has_had_turn), place) in idle {
            let rested = Duration::from_millis(now_ms.saturating_sub(last_used_ms));
            let for_others = rested >= WAITING_GRACE_PERIOD || has_had_turn && rested >= MIN_REST;
            if overrun > 0 && rested >= OVERRUN_GRACE_PERIOD || deficit > 0 && for_others {
                overrun = overrun.saturating_sub(bytes);
                deficit = deficit.saturating_sub(bytes);
                surplus.push(place);
            }
        }
        surplus
    }
}

/// The time for which a start or server is passed over.
const PASS_DURATION: Duration = Duration::from_secs(10);

/// The starts and servers whose turn came and whose process was inactive for a while. It may be
/// stuck, and the others go on without it.
#[derive(Debug, Default)]
pub(crate) struct PassedOver {
    /// The times since which each is due.
    due: BTreeMap<LedgerPlace, Instant>,
    /// The times since which each is passed over.
    passed: BTreeMap<LedgerPlace, Instant>,
}

impl PassedOver {
    /// Records the present turns, and passes over those that have lasted for `patience`.
    pub(crate) fn note_due(&mut self, due: &[LedgerPlace], patience: Duration) {
        let now = Instant::now();
        self.due.retain(|place, _| due.contains(place));
        self.passed.retain(|_, since| now.duration_since(*since) < PASS_DURATION);
        for place in due {
            let since = *self.due.entry(place.clone()).or_insert(now);
            if now.duration_since(since) >= patience {
                self.passed.insert(place.clone(), now);
            }
        }
    }

    fn has(&self, place: &LedgerPlace) -> bool {
        self.passed.contains_key(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: MachineLimits = MachineLimits { memory: 1_000, starts: 2 };

    fn server(pid: i32, bytes: u64, last_used_ms: Option<u64>) -> LedgerServer {
        LedgerServer { server: "s".into(), pid, bytes, expected: 0, turn_ends_ms: 0, last_used_ms }
    }

    fn start(id: u64, since_ms: u64, expected: u64, phase: StartPhase) -> LedgerStart {
        LedgerStart { id, server: "s".into(), bytes: 0, expected, since_ms, phase }
    }

    fn snapshot<const N: usize>(
        records: [(&str, Vec<LedgerServer>, Vec<LedgerStart>); N],
    ) -> MachineSnapshot {
        let record = |servers, starts| LedgerRecord { pid: 1, workspace: "/w".into(), servers, starts };
        let records = records.map(|(name, servers, starts)| (name.to_owned(), record(servers, starts)));
        MachineSnapshot { records: records.into() }
    }

    fn place(name: &str, number: i64) -> LedgerPlace {
        (name.to_owned(), number)
    }

    #[test]
    fn surplus_is_the_least_recently_used_idle_servers_of_all_processes() {
        let passed = PassedOver::default();
        let all = snapshot([
            ("a", vec![server(1, 400, Some(5_000)), server(2, 300, None)], vec![]),
            ("b", vec![server(1, 300, Some(3_000)), server(2, 200, Some(9_800))], vec![]),
        ]);
        assert_eq!(all.used(), 1_200);
        assert_eq!(all.surplus(LIMITS, 10_000, &passed), [place("b", 1)]);
        let less = MachineLimits { memory: 100, starts: 2 };
        // A server in use, or used a moment ago, stays in any case.
        assert_eq!(all.surplus(less, 10_000, &passed), [place("b", 1), place("a", 1)]);
        let enough = MachineLimits { memory: 1_200, starts: 2 };
        assert!(all.surplus(enough, 10_000, &passed).is_empty());
    }

    #[test]
    fn waiting_start_has_idle_servers_end_and_a_standing_process_is_passed_over() {
        let mut passed = PassedOver::default();
        let all = snapshot([
            ("a", vec![server(1, 500, Some(1)), server(2, 400, Some(2))], vec![]),
            ("b", vec![], vec![start(1, 3, 300, StartPhase::Waiting)]),
        ]);
        assert_eq!(all.surplus(LIMITS, 10_000, &passed), [place("a", 1)]);
        passed.note_due(&[place("a", 1)], Duration::from_secs(60));
        assert_eq!(all.surplus(LIMITS, 10_000, &passed), [place("a", 1)]);
        passed.note_due(&[place("a", 1)], Duration::ZERO);
        assert_eq!(all.surplus(LIMITS, 10_000, &passed), [place("a", 2)]);
    }

    #[test]
    fn server_keeps_others_waiting_only_for_its_turn() {
        let passed = PassedOver::default();
        let surplus = |turn_ends_ms, last_used_ms| {
            let server = LedgerServer { turn_ends_ms, ..server(1, 900, last_used_ms) };
            let waiting = vec![start(1, 3, 300, StartPhase::Waiting)];
            let all = snapshot([("a", vec![server], vec![]), ("b", vec![], waiting)]);
            all.surplus(LIMITS, 20_000, &passed).len()
        };
        assert_eq!(surplus(25_000, Some(19_000)), 0, "it was asked a second ago");
        assert_eq!(surplus(25_000, Some(17_500)), 1, "it has rested for longer");
        assert_eq!(surplus(19_000, Some(19_600)), 1, "it has had its turn");
        assert_eq!(surplus(19_000, Some(19_950)), 0, "it may be between two questions");
        assert_eq!(surplus(19_000, None), 0, "it is asked now");
    }

    #[test]
    fn starts_begin_in_the_order_they_came_within_number_and_memory() {
        let passed = PassedOver::default();
        let waiting = |id, since, expected| start(id, since, expected, StartPhase::Waiting);
        let all = snapshot([
            (
                "a",
                vec![server(1, 400, None)],
                vec![waiting(1, 20, 100), start(2, 1, 300, StartPhase::UnderWay)],
            ),
            ("b", vec![], vec![waiting(1, 10, 300)]),
        ]);
        assert_eq!(all.hold_of(&start_place("b", 1), LIMITS, &passed), None);
        let hold = all.hold_of(&start_place("a", 1), LIMITS, &passed).unwrap();
        assert_eq!((hold.before, hold.cause), (1, HoldCause::Turn));
        let tight = MachineLimits { memory: 999, starts: 2 };
        let memory = HoldCause::Memory { budget: 999 };
        assert_eq!(all.hold_of(&start_place("b", 1), tight, &passed).unwrap().cause, memory);
        // The small one does not overtake: the large one would wait for ever.
        assert_eq!(all.hold_of(&start_place("a", 1), tight, &passed).unwrap().cause, memory);
        let one = MachineLimits { memory: 9_999, starts: 1 };
        assert_eq!(
            all.hold_of(&start_place("b", 1), one, &passed).unwrap().cause,
            HoldCause::Starts { limit: 1 }
        );
    }

    #[test]
    fn start_that_does_not_begin_when_it_may_is_passed_over() {
        let mut passed = PassedOver::default();
        let waiting = |since| start(1, since, 300, StartPhase::Waiting);
        let all = snapshot([("a", vec![], vec![waiting(1)]), ("b", vec![], vec![waiting(2)])]);
        assert_eq!(all.start_due(LIMITS, &passed), Some(start_place("a", 1)));
        assert!(all.hold_of(&start_place("b", 1), LIMITS, &passed).is_some());
        passed.note_due(&[start_place("a", 1)], Duration::ZERO);
        assert_eq!(all.hold_of(&start_place("b", 1), LIMITS, &passed), None);
    }

    #[test]
    fn server_larger_than_the_budget_starts_alone() {
        let passed = PassedOver::default();
        let starts = vec![start(1, 1, 5_000, StartPhase::Waiting)];
        let alone = snapshot([("a", vec![], starts.clone())]);
        assert_eq!(alone.hold_of(&start_place("a", 1), LIMITS, &passed), None);
        let other = snapshot([("a", vec![], starts), ("b", vec![server(1, 10, Some(1))], vec![])]);
        assert!(other.hold_of(&start_place("a", 1), LIMITS, &passed).is_some());
        assert_eq!(other.surplus(LIMITS, 10_000, &passed), [place("b", 1)]);
    }

    #[test]
    fn numbers_of_a_hostile_record_do_not_overflow() {
        let passed = PassedOver::default();
        let servers = vec![server(1, u64::MAX, Some(u64::MAX)), server(2, u64::MAX, Some(0))];
        let starts = vec![start(u64::MAX, u64::MAX, u64::MAX, StartPhase::Waiting)];
        let all = snapshot([("a", servers, starts)]);
        assert_eq!(all.used(), u64::MAX);
        assert_eq!(all.surplus(LIMITS, 10_000, &passed), [place("a", 2)]);
        assert_eq!(all.usual_size("s"), Some(u64::MAX / 2));
    }
}
