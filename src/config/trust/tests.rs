use crate::platform::canonicalize;
use crate::platform::files::{MetadataExt, PermissionsExt, symlink};

use super::*;
use crate::config::catalogue::CATALOGUE_FIELDS;
use crate::config::schema::{ConfigField, ConfigFieldType};
use crate::config::settings::SETTINGS_FIELDS;
use crate::config::{Catalogue, Layer, LayerOrigin, PinError};

struct Bench {
    _folder: tempfile::TempDir,
    project: PathBuf,
    trust: TrustStore,
    store: PathBuf,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let path = canonicalize(folder.path()).unwrap();
    let project = path.join("project");
    fs::create_dir(&project).unwrap();
    let state = path.join("state/lsp-tools");
    let folders = Folders {
        config: path.join("c"),
        data: path.join("d"),
        state: state.clone(),
        cache: path.join("k"),
        home: None,
    };
    let trust = TrustStore::open(&folders).unwrap();
    Bench { _folder: folder, project, trust, store: state.join(TRUST_STORE) }
}

fn fields(servers: &str) -> LaunchFields {
    let layer = Layer::new(LayerOrigin::Project { trusted: false }, ".lsp-tools/servers.toml", servers);
    launch_fields(&layer, &CATALOGUE_FIELDS)
}

fn launch_fields(layer: &Layer, fields: &[ConfigField]) -> LaunchFields {
    let mut found = LaunchFields::default();
    found.add_layer(layer, fields).unwrap();
    found
}

fn changes(state: TrustState) -> Vec<String> {
    match state {
        TrustState::Changed { what } => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn trust_is_granted_listed_and_revoked() {
    let Bench { project, trust, store, .. } = &bench();
    let mine = fields("server.pylsp.command = ['./run']");
    assert_eq!(trust.is_trusted(project, &mine).unwrap(), TrustState::Untrusted);
    assert!(!store.exists(), "asking writes nothing");

    trust.grant(project, &mine).unwrap();
    assert!(trust.is_trusted(project, &mine).unwrap().is_trusted());
    let listed = trust.list().unwrap();
    assert_eq!(listed[0].project, *project);
    assert_eq!(listed[0].fields, ["`server.pylsp.command` of `.lsp-tools/servers.toml`"]);

    assert!(trust.revoke(project).unwrap());
    assert!(!trust.revoke(project).unwrap());
    assert_eq!(trust.is_trusted(project, &mine).unwrap(), TrustState::Untrusted);
}

#[test]
fn trust_is_lost_when_any_launch_field_differs() {
    let Bench { project, trust, .. } = &bench();
    for (key, old, new) in [
        ("command", "['a']", "['a', '--b']"),
        ("env", "{ A = '1' }", "{ A = '2' }"),
        ("configured-by", "['a']", "['a', 'b#c']"),
        ("version", "['-v']", "['-V']"),
        ("for-more", "'a'", "'b'"),
        ("judge", "{ npm = 'a' }", "{ npm = 'b' }"),
        ("complaints", "['a']", "[]"),
        ("configuration-warnings", "true", "false"),
        ("configuration-findings", "['a']", "[]"),
        ("extends", "['a#b']", "[]"),
        (
            "outside",
            "{ method = 'a', outside = 'a', reason = 'r', params = {} }",
            "{ method = 'b', outside = 'a', reason = 'r', params = {} }",
        ),
        (
            "settings-unless",
            "[{ configured-by = ['a'], settings = { a = 1 } }]",
            "[{ configured-by = [], settings = { a = 1 } }]",
        ),
        ("settings-for-version", "{ a = 1 }", "{ a = 2 }"),
        (
            "set-up",
            "[{ where = ['a'], unless = [], message = 'm' }]",
            "[{ where = ['a'], unless = [], message = 'n' }]",
        ),
        ("set-up-as", "'pyright'", "'clangd'"),
        (
            "build-file",
            "{ name = 'a', itself = [], folders = [], option = 'a' }",
            "{ name = 'b', itself = [], folders = [], option = 'a' }",
        ),
        ("install", "{ pip = ['a==1'] }", "{ pip = ['a==2'] }"),
        ("settings", "{ a = 1 }", "{ a = '1' }"),
        ("initialization-options", "{ a = [1] }", "{ a = [1, 2] }"),
        ("reload", "{ method = 'a' }", "{ method = 'b' }"),
        (
            "hollow",
            "[{ message = 'm', install = 'i' }]",
            "[{ message = 'm', install = 'i', succeeds = ['x'] }]",
        ),
        ("reads-outside", "[]", "['a']"),
        ("ignores-root-name", "true", "false"),
        ("checks-slowly", "true", "false"),
        ("python-environment", "true", "false"),
        ("python-path-setting", "'a'", "'b'"),
        ("python-path-option", "'a'", "'b'"),
        ("python-unrun", "'stand-in'", "'variable'"),
        ("python-finds-own", "true", "false"),
        ("python-on-path", "true", "false"),
        ("runs-project-code", "true", "false"),
        ("untrusted", "{ refused-with = [{ file = 'a' }] }", "{ refused-with = [] }"),
        (
            "proxy",
            "{ program = 'a', variable = 'A', folder = 'a', behind = 'a' }",
            "{ program = 'b', variable = 'A', folder = 'a', behind = 'a' }",
        ),
        ("disabled", "true", "false"),
    ] {
        let name = format!("`server.pylsp.{key}` of `.lsp-tools/servers.toml`");
        let with = |value: &str| fields(&format!("server.pylsp.{key} = {value}"));
        trust.grant(project, &with(old)).unwrap();
        assert!(trust.is_trusted(project, &with(old)).unwrap().is_trusted(), "{key}");
        assert_eq!(changes(trust.is_trusted(project, &with(new)).unwrap()), [format!("{name} was changed")]);
        assert_eq!(changes(trust.is_trusted(project, &fields("")).unwrap()), [format!("{name} was removed")]);
        trust.grant(project, &fields("")).unwrap();
        assert_eq!(changes(trust.is_trusted(project, &with(old)).unwrap()), [format!("{name} was added")]);
    }
}

#[test]
fn trust_survives_change_of_non_launch_fields() {
    let Bench { project, trust, .. } = &bench();
    trust.grant(project, &fields("")).unwrap();
    let harmless = fields(
        "[server.pylsp]\nstart-timeout = 9\nroot-markers = ['x']\n[language.python]\nextensions = ['py', 'pyx']\n",
    );
    assert!(harmless.approval_items().is_empty());
    assert!(trust.is_trusted(project, &harmless).unwrap().is_trusted());
}

/// The keys of `servers.toml` that an untrusted project sets, by table.
const OPEN_CATALOGUE_KEYS: &str = "\
    file: language server\n\
    language.*: name extensions filenames shebangs language-id language-ids built-ins data\n\
    server.*: name homepage languages door root-markers weak-root-markers root-required root-topmost \
        root-workspaces root-workspaces-topmost root-excludes root-members root-dependencies features answers \
        answers-of-project implements-unnamed unchecked restarts-with packages-in asks-for-settings \
        position-encoding sync diagnostics readiness move-symbol faults start-timeout\n\
    server.*.weak-root-markers: markers within\n\
    server.*.features: navigation diagnostics format actions\n\
    server.*.diagnostics: source quiet-ms first-empty-is-noise pushes-per-version on-save idle \
        silent-when-same silent-if-refused one-at-a-time stale-after-signature hints-are-findings notebooks \
        sees-unsaved own-text keeps-findings byte-columns falls-short check-status failed-checks\n\
    server.*.diagnostics.idle: method field value work\n\
    server.*.diagnostics.falls-short[]: code matches without-build-file reason\n\
    server.*.diagnostics.check-status: method field success reason\n\
    server.*.diagnostics.failed-checks[]: source matches\n\
    server.*.readiness: progress grace-ms files-first server-status files-during not-indexing \
        knows-open-files knows-open-files-where leaves-files-out-where knows-all-below knows-open-projects \
        symbols-of-last-file knows-one-configuration distrust-empty-ms reads-on-request notification \
        ends-start\n\
    server.*.readiness.notification: method field matches\n\
    server.*.move-symbol: kind argument makes-file\n\
";

/// The keys of `lsp-tools.toml` that an untrusted project sets, by table.
const OPEN_SETTINGS_KEYS: &str = "\
    file: deadlines servers limits log bash daemon fetch library-docs permissions agents mcp chats \
        answer-store shared-answers end-of-turn-gate\n\
    deadlines: hover definition references hierarchy symbols workspace-symbols completion signature \
        diagnostics edit start stop tool task\n\
    servers: idle-stop-s memory-budget-mb max-open-documents machine-memory-budget-mb machine-starts\n\
    limits: max-file-bytes answer-bytes answer-items walk-files\n\
    log: level\n\
    bash: timeout-ms max-timeout-ms output-bytes background\n\
    daemon: idle-stop-s\n\
    fetch:\n\
    library-docs:\n\
    permissions: ask deny available excluded\n\
    agents.*: description tools excluded ask deny\n\
    mcp:\n\
    chats: enabled vscode copilot-cli\n\
    shared-answers: url writers\n\
";

fn open_keys(fields: &[ConfigField], table: &str, found: &mut String) {
    let open: Vec<_> = fields.iter().filter(|field| !field.launch).collect();
    let keys: String = open.iter().map(|field| format!(" {}", field.key)).collect();
    found.push_str(&format!("{table}:{keys}\n"));
    for field in open {
        let place = if table == "file" { field.key.clone() } else { format!("{table}.{}", field.key) };
        match &field.shape {
            ConfigFieldType::Record(inner) => open_keys(inner, &place, found),
            ConfigFieldType::Named(each) => {
                if let ConfigFieldType::Record(inner) = &**each {
                    open_keys(inner, &format!("{place}.*"), found);
                }
            }
            ConfigFieldType::List(each) => {
                if let ConfigFieldType::Record(inner) = &**each {
                    assert!(
                        inner.iter().all(|field| !field.launch),
                        "{place}: no launch field is taken out of a list"
                    );
                    open_keys(inner, &format!("{place}[]"), found);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn keys_that_an_untrusted_project_sets_equal_the_reviewed_list() {
    for (fields, reviewed) in
        [(&CATALOGUE_FIELDS, OPEN_CATALOGUE_KEYS), (&SETTINGS_FIELDS, OPEN_SETTINGS_KEYS)]
    {
        let mut found = String::new();
        open_keys(fields, "file", &mut found);
        assert_eq!(
            found, reviewed,
            "mark a field `x-launch` if it affects which program runs, else list it here"
        );
    }
}

#[test]
fn trust_is_lost_when_project_folder_is_replaced() {
    let Bench { project, trust, .. } = &bench();
    trust.grant(project, &fields("")).unwrap();
    fs::rename(project, project.with_file_name("moved")).unwrap();
    fs::create_dir(project).unwrap();
    let what = changes(trust.is_trusted(project, &fields("")).unwrap());
    assert_eq!(what, [format!("the folder `{}` was replaced by another", project.display())]);
    let moved = project.with_file_name("moved");
    assert_eq!(trust.is_trusted(&moved, &fields("")).unwrap(), TrustState::Untrusted);
    let link = project.with_file_name("link");
    symlink(&moved, &link).unwrap();
    assert!(matches!(trust.is_trusted(&link, &fields("")), Err(TrustError::Moved { .. })));
}

#[test]
fn project_program_pin_fails_when_program_changed_after_trust() {
    let Bench { project, trust, .. } = &bench();
    let program = project.join(".venv/bin/pylsp");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, "#!/bin/sh\n").unwrap();
    assert_eq!(trust.pin(project, &program).unwrap(), Err(TrustState::Untrusted));

    trust.grant(project, &fields("")).unwrap();
    let what = changes(trust.pin(project, &program).unwrap().unwrap_err());
    assert_eq!(what, ["the program `.venv/bin/pylsp` was added"]);

    let mut with_program = fields("");
    with_program.add_program(project, &program).unwrap();
    trust.grant(project, &with_program).unwrap();
    let pin = trust.pin(project, &program).unwrap().unwrap();
    assert!(pin.path == program && pin.check().is_ok());

    fs::write(&program, "#!/bin/sh\nevil\n").unwrap();
    assert!(matches!(pin.check(), Err(PinError::Changed { .. })));
    let what = changes(trust.pin(project, &program).unwrap().unwrap_err());
    assert_eq!(what, ["the program `.venv/bin/pylsp` was changed"]);
    let mut now = fields("");
    now.add_program(project, &program).unwrap();
    assert_eq!(changes(trust.is_trusted(project, &now).unwrap()), what);

    let outside = project.with_file_name("elsewhere");
    fs::write(&outside, "").unwrap();
    assert!(matches!(trust.pin(project, &outside), Err(TrustError::Outside(_))));
}

#[test]
fn damaged_trust_store_is_an_error_and_not_overwritten() {
    let Bench { project, trust, store, .. } = &bench();
    trust.grant(project, &fields("")).unwrap();
    for text in
        ["", "{", "[]", r#"{"version":2,"projects":{}}"#, r#"{"version":1,"projects":{},"x":1}"#, "\u{0}"]
    {
        fs::write(store, text).unwrap();
        for error in [
            trust.is_trusted(project, &fields("")).err(),
            trust.grant(project, &fields("")).err(),
            trust.revoke(project).err(),
            trust.list().err(),
        ] {
            let error = error.expect(text);
            assert!(matches!(error, TrustError::Damaged { .. }), "{error}");
            assert!(error.to_string().contains("again with `lsp-tools trust`"), "{error}");
        }
        assert_eq!(fs::read_to_string(store).unwrap(), text);
    }
}

#[test]
fn trust_store_is_private_and_refused_when_writable_by_others() {
    let Bench { project, trust, store, .. } = &bench();
    trust.grant(project, &fields("")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    let folder = store.parent().unwrap();
    assert_eq!((mode(store), mode(folder)), (0o600, 0o700));
    for path in [store.as_path(), folder] {
        let before = mode(path);
        fs::set_permissions(path, fs::Permissions::from_mode(before | 0o020)).unwrap();
        let error = trust.is_trusted(project, &fields("")).unwrap_err();
        assert_eq!(error, TrustError::Open { path: path.display().to_string() });
        assert!(trust.grant(project, &fields("")).is_err());
        fs::set_permissions(path, fs::Permissions::from_mode(before)).unwrap();
    }
}

#[test]
fn leftover_temporary_trust_file_does_not_block_grant() {
    let Bench { project, trust, store, .. } = &bench();
    trust.grant(project, &fields("")).unwrap();
    fs::write(store.with_file_name("trust.json.new"), "half").unwrap();
    trust.grant(project, &fields("server.pylsp.command = ['a']")).unwrap();
    assert_eq!(trust.list().unwrap()[0].fields.len(), 1);
}

#[test]
fn concurrent_trust_grants_are_all_kept() {
    let Bench { project, trust, .. } = &bench();
    let projects = (0..16).map(|number| project.join(number.to_string())).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        for project in &projects {
            fs::create_dir(project).unwrap();
            scope.spawn(move || trust.grant(project, &LaunchFields::default()).unwrap());
        }
    });
    assert_eq!(trust.list().unwrap().len(), projects.len());
}

#[test]
fn built_in_catalogue_needs_no_trust() {
    let catalogue = Catalogue::load(&[]).unwrap();
    assert!(catalogue.left_out.is_empty());
}

#[test]
fn cached_trust_store_follows_writes_and_permissions_of_its_file() {
    let Bench { project, trust, store, .. } = &bench();
    let other = TrustStore { folder: trust.folder.clone(), kept: Arc::default() };
    other.grant(project, &fields("")).unwrap();
    // Younger than a tick of the file system's clock, a store is not kept.
    assert!(trust.is_trusted(project, &fields("")).unwrap().is_trusted());
    while !FileStamp::from_path(store).unwrap().is_settled(SystemTime::now()) {
        std::thread::yield_now();
    }
    assert!(trust.is_trusted(project, &fields("")).unwrap().is_trusted());
    assert!(trust.kept.lock().is_some(), "it is read once");
    for path in [store.as_path(), store.parent().unwrap()] {
        let before = fs::metadata(path).unwrap().permissions();
        fs::set_permissions(path, fs::Permissions::from_mode(0o722)).unwrap();
        assert!(matches!(trust.is_trusted(project, &fields("")), Err(TrustError::Open { .. })), "{path:?}");
        fs::set_permissions(path, before).unwrap();
    }
    other.revoke(project).unwrap();
    assert_eq!(trust.is_trusted(project, &fields("")).unwrap(), TrustState::Untrusted);
    fs::remove_file(store).unwrap();
    assert!(trust.list().unwrap().is_empty());
}

#[test]
fn symlink_replacing_trusted_project_is_refused() {
    let Bench { project, trust, .. } = &bench();
    trust.grant(project, &fields("")).unwrap();
    let (moved, empty) = (project.with_extension("moved"), project.with_extension("empty"));
    fs::rename(project, &moved).unwrap();
    for target in [&empty, &moved] {
        fs::create_dir_all(target).unwrap();
        symlink(target, project).unwrap();
        for refused in
            [trust.is_trusted(project, &fields("")).map(|_| ()), trust.texts_below(project, "").map(|_| ())]
        {
            assert!(matches!(refused, Err(TrustError::Moved { .. })), "{refused:?}");
        }
        fs::remove_file(project).unwrap();
    }
}

#[test]
fn trusted_hooks_of_replaced_project_folder_are_reported_as_lost() {
    let Bench { project, trust, .. } = &bench();
    let hooks =
        Layer::new(LayerOrigin::User, "lsp-tools.toml", "[[hooks.pre]]\ncommand = ['true']\n".to_owned());
    let fields = launch_fields(&hooks, &SETTINGS_FIELDS);
    trust.grant(project, &fields).unwrap();
    let lost = |fields: &LaunchFields| trust.recorded_hooks(project, fields, "").unwrap().lost;
    assert!(!lost(&fields) && lost(&LaunchFields::default()));
    fs::rename(project, project.with_extension("moved")).unwrap();
    fs::create_dir(project).unwrap();
    assert!(lost(&fields));
}

/// A command that is kept from writing it may read the lock's file, and so hold it.
#[test]
fn trust_lock_held_by_another_process_is_a_busy_error() {
    let Bench { project, trust, store, .. } = &bench();
    trust.grant(project, &fields("")).unwrap();
    let path = store.with_file_name("trust.lock");
    let held = File::open(&path).unwrap();
    held.lock().unwrap();
    let error = trust.revoke(project).unwrap_err();
    assert_eq!(error, TrustError::Busy { lock: path.display().to_string() });
    drop(held);
    assert!(trust.revoke(project).unwrap());
}
