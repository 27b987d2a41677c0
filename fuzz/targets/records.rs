//! Damaged files of our own and of git: they are accepted or rejected, and nothing outside changes.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::bridges::daemon::preamble;
use crate::bridges::daemon::preamble::Preamble;
use crate::config::{LaunchFields, TrustStore};
use crate::workspace::edit::{EditOptions, EditPlan, PathPrecondition, TransactionManager};
use crate::workspace::{Workspace, WorkspacePath};

use super::draw::Draw;
use super::world::{World, tokio};

struct Place {
    world: World,
    /// The journal's folder.
    journal: PathBuf,
}

fn place() -> &'static Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    PLACE.get_or_init(|| {
        let world = World::new([(".git/HEAD", "ref: refs/heads/main\n"), ("a.txt", "one\n")]);
        let edits = edits(&world);
        let path = WorkspacePath::root().join("new.txt").expect("a path");
        let mut plan = EditPlan::new("a file");
        plan.write(&path, "new\n", PathPrecondition::Absent);
        edits.commit(&plan).expect("an edit");
        edits.undo_latest(None).expect("its undoing");
        let folders = std::fs::read_dir(world.beside("state/edits")).expect("a folder");
        let journal = folders.map(|entry| entry.expect("an entry").path()).next().expect("a journal");
        Place { world, journal }
    })
}

fn edits(world: &World) -> TransactionManager {
    let workspace = Workspace::open(&world.root()).expect("a workspace");
    TransactionManager::new(workspace, EditOptions::new(world.beside("state")))
}

pub fn run(bytes: &[u8]) {
    let Place { world, journal } = place();
    let mut draw = Draw::new(bytes);
    match draw.byte() % 6 {
        0 => {
            world.write(".git/config", draw.swollen(1 << 16));
            let workspace = Workspace::open(&world.root()).expect("a workspace");
            for named in workspace.named_by_git_config() {
                assert!(
                    !named.is_root() && workspace.absolute(&named).starts_with(workspace.root()),
                    "{named:?}"
                );
            }
            std::fs::remove_file(world.root().join(".git/config")).expect("a file");
        }
        1 => trust(world, &draw.swollen(1 << 16)),
        2 => {
            let line = draw.swollen(1 << 16);
            let read = tokio().block_on(preamble::read_line(&mut &*line, preamble::LONGEST));
            let Ok(line) = read else { return };
            assert!(line.len() <= preamble::LONGEST && !line.contains('\n'));
            match Preamble::read(&line) {
                Ok(preamble) => {
                    preamble.client();
                    preamble.caller("session".to_owned());
                }
                Err(refusal) => assert!(!refusal.ok && refusal.error.len() < 4_096, "{refusal:?}"),
            }
        }
        kind => record(world, journal, kind, &mut draw),
    }
}

fn trust(world: &World, text: &[u8]) {
    let store = world.beside("state/trust.json");
    std::fs::write(&store, text).expect("a file");
    std::fs::set_permissions(&store, PermissionsExt::from_mode(0o600)).expect("its mode");
    let folders = world.folders();
    if let Ok(trust) = TrustStore::open(&folders) {
        let fields = LaunchFields::default();
        // A store without valid content for this folder trusts nothing in it: the input cannot
        // guess its inode.
        let state = trust.is_trusted(&world.root(), &fields);
        let program = trust.pin(&world.root(), &world.root().join("a.txt"));
        assert!(!program.is_ok_and(|pin| pin.is_ok()), "{state:?}");
        if let Ok(listed) = trust.list() {
            assert!(listed.len() <= text.len());
        }
    }
    std::fs::remove_file(store).expect("a file");
}

/// Recovers from a journal entry with arbitrary content.
fn record(world: &World, journal: &std::path::Path, kind: u8, draw: &mut Draw<'_>) {
    let before = world.files();
    let name = ["900.begun", "900.done", "900"][usize::from(kind) - 3];
    let entry = journal.join(name);
    std::fs::create_dir(&entry).expect("a folder");
    std::fs::write(entry.join("images"), draw.part()).expect("a file");
    std::fs::write(entry.join("record.json"), draw.swollen(1 << 16)).expect("a file");
    let edits = edits(world);
    if let Ok(recovered) = edits.recover() {
        assert!(recovered.len() < 3, "{recovered:?}");
    }
    if let Err(error) = edits.history() {
        assert!(!error.to_string().is_empty());
    }
    if let Err(error) = edits.undo_latest(None) {
        assert!(!error.to_string().is_empty());
    }
    world.check_outside();
    for left in std::fs::read_dir(journal).expect("a folder") {
        let left = left.expect("an entry").path();
        if left.is_dir() {
            std::fs::remove_dir_all(left).expect("a folder that can go");
        }
    }
    world.restore(&before);
}
