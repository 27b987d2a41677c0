use super::*;
use crate::config::spec::IdleSign;
use crate::lsp::documents::open_documents::DocumentSource;
use crate::text::Buffer;
use crate::workspace::{FileStamp, WorkspacePath};

fn rule(source: DiagnosticsSource) -> DiagnosticsRule {
    DiagnosticsRule { source, quiet_ms: Some(100), ..DiagnosticsRule::default() }
}

fn snapshot(version: i32, pushes_before: u64) -> Snapshot {
    Snapshot {
        path: WorkspacePath::root(),
        uri: crate::lsp::uri::from_path(std::path::Path::new("/")),
        language_id: String::new(),
        buffer: Buffer::default(),
        version,
        source: DocumentSource::Disk(FileStamp { size: 0, mtime_ns: 0, ctime_ns: 0, inode: 0 }),
        pushes_before,
        owed: false,
        idle_before: 0,
        worked_before: 0,
        forced: false,
    }
}

fn pushes(count: u64, version: Option<i32>, items: usize) -> Pushes {
    Pushes {
        is_early: false,
        left_out: 0,
        count,
        version,
        items: vec![Value::Null; items].into(),
        revision: 0,
        of_version: 1,
        idle: 0,
        idle_at_push: 0,
        worked: 0,
        busy: false,
        pushed_at: None,
    }
}

/// Returns the decision after `quiet` milliseconds of silence; `barrier` is true if the barrier was
/// answered.
fn decide(
    rule: &DiagnosticsRule,
    snapshot: &Snapshot,
    pushes: &Pushes,
    barrier: bool,
    quiet: u64,
) -> PushDecision {
    let quiet = Duration::from_millis(quiet);
    let idle = pushes.idle > snapshot.idle_before;
    PushWaitState {
        rule,
        snapshot,
        pushes,
        barrier,
        quiet,
        since_push: quiet,
        idle,
        claims_unsent_version: false,
        confirmed: false,
    }
    .decide()
}

#[test]
fn published_diagnostics_are_taken_only_for_current_version() {
    let rule = rule(DiagnosticsSource::VersionedPush);
    let ours = snapshot(3, 5);
    assert_eq!(decide(&rule, &ours, &pushes(6, Some(3), 1), false, 0), PushDecision::Take);
    assert_eq!(decide(&rule, &ours, &pushes(9, Some(2), 1), true, 9_999), PushDecision::Wait(None));
    assert_eq!(decide(&rule, &ours, &pushes(6, Some(4), 1), true, 0), PushDecision::Overtaken);
}

#[test]
fn first_empty_push_of_unmeasured_server_is_taken_after_silence() {
    let unmeasured = rule(DiagnosticsSource::Auto);
    let opened = snapshot(1, 0);
    let wait = PushDecision::Wait(Some(Duration::from_millis(150)));
    assert_eq!(decide(&unmeasured, &opened, &pushes(1, Some(1), 0), true, 50), wait);
    assert_eq!(decide(&unmeasured, &opened, &pushes(1, Some(1), 0), true, 200), PushDecision::Take);
    assert_eq!(decide(&unmeasured, &opened, &pushes(2, Some(1), 1), true, 0), PushDecision::Take);
    let changed = snapshot(2, 1);
    assert_eq!(decide(&unmeasured, &changed, &pushes(2, Some(2), 0), true, 0), PushDecision::Take);
    let measured = rule(DiagnosticsSource::VersionedPush);
    assert_eq!(decide(&measured, &opened, &pushes(1, Some(1), 0), true, 0), PushDecision::Take);
}

#[test]
fn first_empty_publish_diagnostics_is_not_taken_as_clean() {
    let rule = DiagnosticsRule { first_empty_is_noise: true, ..rule(DiagnosticsSource::VersionedPush) };
    let opened = snapshot(1, 0);
    assert_eq!(decide(&rule, &opened, &pushes(1, Some(1), 0), false, 0), PushDecision::Wait(None));
    assert_eq!(
        decide(&rule, &opened, &pushes(1, Some(1), 0), true, 50),
        PushDecision::Wait(Some(Duration::from_millis(150)))
    );
    assert_eq!(decide(&rule, &opened, &pushes(1, Some(1), 0), true, 200), PushDecision::TakeSilence);
    assert_eq!(decide(&rule, &opened, &pushes(2, Some(1), 0), false, 0), PushDecision::Take);
    assert_eq!(decide(&rule, &snapshot(2, 1), &pushes(2, Some(2), 0), false, 0), PushDecision::Take);
}

#[test]
fn unversioned_publish_diagnostics_is_taken_only_behind_barrier() {
    let rule = rule(DiagnosticsSource::Push);
    let ours = snapshot(2, 1);
    assert_eq!(decide(&rule, &ours, &pushes(1, None, 1), true, 9_999), PushDecision::Wait(None));
    assert_eq!(decide(&rule, &ours, &pushes(2, None, 1), false, 0), PushDecision::Wait(None));
    assert_eq!(decide(&rule, &ours, &pushes(2, None, 1), true, 0), PushDecision::Take);
    let owed = Snapshot { owed: true, ..ours };
    assert_eq!(
        decide(&rule, &owed, &pushes(2, None, 1), true, 0),
        PushDecision::Wait(Some(Duration::from_millis(200)))
    );
    assert_eq!(decide(&rule, &owed, &pushes(2, None, 1), true, 200), PushDecision::TakeSilence);
}

#[test]
fn diagnostics_of_unmeasured_server_are_taken_after_quiet_window() {
    let rule = DiagnosticsRule { quiet_ms: None, ..rule(DiagnosticsSource::Auto) };
    let ours = snapshot(2, 1);
    assert_eq!(
        decide(&rule, &ours, &pushes(2, None, 1), true, 0),
        PushDecision::Wait(Some(Duration::from_secs(1)))
    );
    assert_eq!(decide(&rule, &ours, &pushes(2, None, 1), true, 1_000), PushDecision::TakeSilence);
}

fn with_idle_sign(work: Option<&str>) -> DiagnosticsRule {
    let work = work.map(str::to_owned);
    let idle = IdleSign { method: "m".into(), field: "state".into(), value: "idle".into(), work };
    DiagnosticsRule { idle: Some(idle), ..rule(DiagnosticsSource::VersionedPush) }
}

/// Returns the decision when the request after the sign was answered.
fn decide_confirmed(rule: &DiagnosticsRule, snapshot: &Snapshot, pushes: &Pushes) -> PushDecision {
    let quiet = Duration::ZERO;
    PushWaitState {
        rule,
        snapshot,
        pushes,
        barrier: true,
        quiet,
        since_push: Duration::ZERO,
        idle: true,
        claims_unsent_version: false,
        confirmed: true,
    }
    .decide()
}

#[test]
fn idle_sign_confirms_diagnostics_only_after_work_on_current_text() {
    let rule = with_idle_sign(Some("parsing"));
    let ours = Snapshot { worked_before: 4, ..snapshot(2, 1) };
    let seen = |worked| Pushes { idle: 2, idle_at_push: 1, worked, ..pushes(2, Some(2), 1) };
    assert_eq!(
        decide_confirmed(&rule, &ours, &seen(4)),
        PushDecision::Wait(Some(UNSIGNALED_PUSH_QUIET_WINDOW))
    );
    assert_eq!(decide(&rule, &ours, &seen(4), true, 3_000), PushDecision::TakeSilence);
    assert_eq!(decide(&rule, &ours, &seen(5), true, 9_999), PushDecision::Confirm);
    assert_eq!(decide_confirmed(&rule, &ours, &seen(5)), PushDecision::Take);
}

#[test]
fn diagnostics_before_idle_sign_are_not_taken() {
    let rule = with_idle_sign(None);
    let ours = snapshot(2, 1);
    let seen = |idle, idle_at_push| Pushes { idle, idle_at_push, ..pushes(2, Some(2), 1) };
    assert_eq!(decide(&rule, &ours, &seen(1, 1), true, 9_999), PushDecision::Wait(None));
    assert_eq!(decide(&rule, &ours, &seen(2, 1), false, 9_999), PushDecision::Confirm);
    assert_eq!(decide_confirmed(&rule, &ours, &seen(2, 1)), PushDecision::Take);
    assert_eq!(decide_confirmed(&rule, &ours, &seen(2, 2)), PushDecision::Wait(None));
    let again = Pushes { busy: true, ..seen(2, 1) };
    assert_eq!(decide(&rule, &ours, &again, false, 9_999), PushDecision::Wait(None));
    assert_eq!(
        decide(&rule, &ours, &seen(0, 0), true, 0),
        PushDecision::Wait(Some(UNSIGNALED_PUSH_QUIET_WINDOW))
    );
    assert_eq!(decide(&rule, &ours, &seen(0, 0), true, 3_000), PushDecision::TakeSilence);
}

#[test]
fn unchanged_diagnostics_are_taken_after_idle_sign_or_quiet_window() {
    let rule = DiagnosticsRule { silent_when_same: true, ..rule(DiagnosticsSource::VersionedPush) };
    let touched = snapshot(3, 4);
    assert_eq!(
        decide(&rule, &touched, &pushes(4, Some(2), 1), true, 0),
        PushDecision::Wait(Some(Duration::from_millis(200)))
    );
    assert_eq!(decide(&rule, &touched, &pushes(4, Some(2), 1), true, 200), PushDecision::TakeSilence);
    let idle = Pushes { idle: 1, ..pushes(4, Some(2), 1) };
    assert_eq!(decide(&rule, &touched, &idle, true, 0), PushDecision::Take);
    let forced = Snapshot { forced: true, ..touched.clone() };
    assert_eq!(decide(&rule, &forced, &idle, true, 9_999), PushDecision::Wait(None));
    assert_eq!(decide(&rule, &snapshot(1, 0), &pushes(0, None, 0), true, 9_999), PushDecision::Wait(None));
}

#[test]
fn last_of_several_pushes_per_version_is_taken() {
    let rule = DiagnosticsRule { pushes_per_version: 2, ..rule(DiagnosticsSource::VersionedPush) };
    let ours = snapshot(2, 1);
    let first = pushes(2, Some(2), 1);
    assert_eq!(decide(&rule, &ours, &first, true, 0), PushDecision::Wait(Some(Duration::from_millis(200))));
    assert_eq!(decide(&rule, &ours, &first, true, 200), PushDecision::TakeSilence);
    let last = Pushes { of_version: 2, ..pushes(3, Some(2), 0) };
    assert_eq!(decide(&rule, &ours, &last, false, 0), PushDecision::Take);
}
