//! The shared answer store: findings of trusted writers are used on another machine, and a store
//! that is absent, slow, wrong or hostile changes no answer.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Output;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::support::{Project, real_servers};

mod services;
mod stand_in;

use stand_in::{Manner, Store};

const SERVERS: [&str; 2] = ["ty", "ruff"];
const FROM_STORE: &str = "the findings of 3 files are from a check";

fn shop() -> Project {
    Project::new([
        ("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1\"\n"),
        ("shop/__init__.py", ""),
        ("shop/cart.py", "import os\n\n\ndef total(n: int) -> int:\n    return n\n"),
        ("shop/use.py", "from shop.cart import total\n\nx: int = total(\"3\")\n"),
        (".venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n"),
        (".venv/lib/python3.11/site-packages/pack/__init__.py", "one: int = 1\n"),
    ])
}

/// A machine of a user: settings, caches and state of its own, and the tree of [`shop`].
struct Machine {
    project: Project,
    /// The folder of installed servers.
    servers: PathBuf,
}

impl Machine {
    fn new(store: &str, writers: &[&str]) -> Self {
        let project = shop();
        project.write_settings(&format!(
            "answer-store = true\n[shared-answers]\nurl = {store:?}\nwriters = {writers:?}\n"
        ));
        Self::over(project)
    }

    fn over(project: Project) -> Self {
        Self { project, servers: real_servers(&SERVERS) }
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = self.project.command(Some(&self.servers));
        command.args(arguments).envs(variables.iter().copied());
        command.output().expect("the program")
    }

    fn texts(&self, arguments: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String, String) {
        let output = self.run(arguments, variables);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// The status and findings of a check, and its notes.
    fn check(&self) -> ((Option<i32>, String), String) {
        let (status, out, notes) =
            self.texts(&["check", "--no-daemon"], &[("LSP_TOOLS_STORE_READ_TOKEN", "reads")]);
        ((status, out), notes)
    }

    /// Checks until the findings are stored: a slow disk is not waited for.
    fn check_until_stored(&self) {
        let is_stored = (0..10).any(|_| self.check().1.contains(FROM_STORE));
        assert!(is_stored, "the check is never stored");
    }

    fn push(&self, secret: &str) -> (Option<i32>, String, String) {
        self.texts(
            &["store", "push"],
            &[("LSP_TOOLS_STORE_KEY", secret), ("LSP_TOOLS_STORE_WRITE_TOKEN", "writes")],
        )
    }

    fn forget(&self) {
        assert_eq!(self.texts(&["store", "forget"], &[]).0, Some(0));
    }
}

/// The secret key of a new writer, and its entry for `writers`.
fn key(name: &str) -> (String, String) {
    let (status, out, _) =
        Machine::new("http://127.0.0.1:1", &[]).texts(&["store", "key", name, "--format", "json"], &[]);
    let key: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{status:?} {out}: {error}"));
    let text = |name: &str| key[name].as_str().expect("a text").to_owned();
    (text("secret"), text("writer"))
}

fn unpacked(value: &[u8]) -> Value {
    let mut text = String::new();
    GzDecoder::new(value).read_to_string(&mut text).expect("gzip");
    serde_json::from_str(&text).expect("JSON")
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).expect("gzip");
    packed.finish().expect("gzip")
}

#[test]
fn findings_of_trusted_writer_are_used_on_another_machine() {
    let (store, (secret, writer)) = (Store::start(), key("ci/main"));
    let ci = Machine::new(&store.url, &[]);
    let (_, out, errors) = ci.push(&secret);
    assert!(out.contains("no findings for this state"), "{out}{errors}");
    ci.check_until_stored();
    let (first, _) = ci.check();
    let (status, out, errors) = ci.push(&secret);
    assert_eq!(
        (status, out.as_str()),
        (Some(0), "the findings of 3 files are now in the shared store\n"),
        "{errors}"
    );
    let again = ci.push(&secret).1;
    assert!(again.contains("already has the findings of 3 files"), "an entry is never replaced: {again}");
    let tokens = store.with(|state| std::mem::take(&mut state.seen));
    let path = |path: &str| path.starts_with("/answers/") && path.ends_with("?team=a") && path.len() == 80;
    assert!(tokens.iter().all(|(_, at, _)| path(at)), "{tokens:?}");
    assert!(
        tokens.iter().filter(|(_, _, token)| token.contains("writes")).all(|(method, _, _)| method != "GET")
    );

    let developer = Machine::new(&store.url, &["old=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", &writer]);
    let (found, notes) = developer.check();
    assert!(notes.contains(FROM_STORE) && notes.contains("ago by ci/main of the same sources"), "{notes}");
    assert_eq!(found, first);
    let asked = store.with(|state| std::mem::take(&mut state.seen));
    assert!(asked.iter().all(|(method, _, token)| method == "GET" && token == "Bearer reads"), "{asked:?}");
    assert_eq!(developer.check().0, first, "now from the user's own store");
    assert!(store.with(|state| state.seen.is_empty()));
    assert!(developer.push(&secret).1.contains("already has the findings"), "those of others are not signed");

    developer.forget();
    let (status, out, errors) = developer.texts(&["store", "pull"], &[]);
    assert_eq!(
        (status, out.as_str()),
        (Some(0), "the findings of 3 files are now in the answer store, by ci/main\n"),
        "{errors}"
    );
    assert!(developer.texts(&["store", "pull"], &[]).1.contains("already has the findings of 3 files"));

    developer.project.write("shop/cart.py", "x = 1\n");
    assert!(!developer.check().1.contains("are from a check"), "of a changed tree");
}

#[test]
#[ignore = "slow: just slow"]
fn store_that_lies_or_fails_changes_no_answer() {
    let (store, (secret, writer), (foreign, _)) = (Store::start(), key("ci"), key("guest"));
    let writers = [writer.as_str()];
    let ci = Machine::new(&store.url, &writers);
    ci.check_until_stored();
    let (first, _) = ci.check();
    assert_eq!(ci.push(&foreign).0, Some(0));
    let of_guest = store.with(|state| state.values.values().next().cloned()).expect("a value");
    assert_eq!(ci.push(&secret).0, Some(0), "another writer's entry takes no name");
    store.with(|state| state.seen.clear());

    let reader = Machine::new(&store.url, &writers);
    assert!(reader.check().1.contains(FROM_STORE));
    let path = store.with(|state| state.seen[0].1.clone());
    let value = store.with(|state| state.values[&path].clone());
    let with = |key: &str, text: &str| {
        let mut changed = unpacked(&value);
        changed[key] = text.into();
        packed(changed.to_string().as_bytes())
    };
    let entry = unpacked(&value)["entry"].as_str().expect("a text").to_owned();
    let clean = entry.replace("invalid-argument-type", "nothing-at-all");
    assert_ne!(clean, entry);
    let mut flipped = value.clone();
    flipped[value.len() / 2] ^= 1;
    let wrong: [(&str, Vec<u8>); 10] = [
        ("forged", with("entry", &clean)),
        (
            "a signature of another entry",
            with("signature", unpacked(&of_guest)["signature"].as_str().expect("a text")),
        ),
        ("another key", with("writer", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")),
        ("a foreign writer", of_guest),
        ("truncated", value[..value.len() / 2].to_vec()),
        ("a flipped bit", flipped),
        ("no gzip", b"{}".to_vec()),
        ("another form", packed(b"[]")),
        ("a bomb", packed(&vec![b' '; 40 << 20])),
        ("empty", Vec::new()),
    ];
    for (what, value) in wrong {
        // An entry with another writer in its text is still the same, if the signature holds.
        let is_used = what == "another key";
        store.with(|state| state.values.insert(path.clone(), value));
        reader.forget();
        let (found, notes) = reader.check();
        assert_eq!((found, notes.contains("are from a check")), (first.clone(), is_used), "{what}: {notes}");
    }
    store.with(|state| state.values.insert(path, value.clone()));
    let manners = [
        (Manner::LoginPage, "an entry that `ci` did not sign"),
        (Manner::Status(500), "answered with status 500"),
        (Manner::Status(401), "LSP_TOOLS_STORE_READ_TOKEN"),
        (Manner::Redirect, "answered with status 302"),
        (Manner::Silent, "did not answer within 0.3 s"),
        (Manner::Dripping, "did not answer within"),
        (Manner::Oversized, "more than"),
        (Manner::Cut, "failed"),
    ];
    for (manner, note) in manners {
        store.with(|state| state.manner = manner);
        reader.forget();
        let (found, notes) = reader.check();
        assert!(notes.contains(note) && !notes.contains("are from a check"), "{manner:?}: {notes}");
        assert_eq!(found, first, "{manner:?}");
    }
    store.with(|state| state.manner = Manner::Right);

    // The value of one tree under the name of another.
    reader.forget();
    reader.project.write("shop/use.py", "x = 1\n");
    store.with(|state| state.seen.clear());
    let (changed, _) = reader.check();
    let other = store.with(|state| state.seen[0].1.clone());
    store.with(|state| state.values.insert(other, value));
    reader.forget();
    let (found, notes) = reader.check();
    assert!(found == changed && !notes.contains("are from a check"), "replayed: {notes}");

    let absent = Machine::new("http://127.0.0.1:1/", &writers);
    let (found, notes) = absent.check();
    assert!(found == first && notes.contains("the shared store at 127.0.0.1 failed"), "{notes}");
}

#[test]
fn shared_store_is_the_users_own_choice_and_its_faults_are_sentences() {
    let (secret, writer) = key("a");
    let machine = Machine::new("http://127.0.0.1:1/", &[&writer]);
    let fails = |machine: &Machine, arguments: &[&str], variables: &[(&str, &str)], part: &str| {
        let (status, out, errors) = machine.texts(arguments, variables);
        assert!(status != Some(0) && errors.contains(part), "{arguments:?}: {status:?} {out}{errors}");
        assert!(!errors.contains(&secret), "{errors}");
    };
    fails(&machine, &["store", "push"], &[], "LSP_TOOLS_STORE_KEY is not set");
    fails(
        &machine,
        &["store", "push"],
        &[("LSP_TOOLS_STORE_KEY", "x")],
        "LSP_TOOLS_STORE_KEY is no secret key",
    );
    fails(&machine, &["store", "pull"], &[], "the shared store at 127.0.0.1 failed");
    fails(&machine, &["store", "key", "a b"], &[], "`a b` is no name of a writer");
    fails(&Machine::new("ftp://a/b", &[]), &["store", "status"], &[], "`shared-answers.url`");
    fails(
        &Machine::new("https://a/", &["x"]),
        &["store", "status"],
        &[],
        "`shared-answers.writers` has an entry of another form",
    );
    fails(&Machine::new("https://a/", &[]), &["store", "pull"], &[], "trust no writer");
    fails(&Machine::over(shop()), &["store", "pull"], &[], "the settings name no shared store");

    // A project cannot choose whose answers are believed.
    let victim = shop();
    victim.write_settings("answer-store = true\n");
    let settings = format!("[shared-answers]\nurl = \"http://127.0.0.1:1/\"\nwriters = [{writer:?}]\n");
    victim.write(".lsp-tools/lsp-tools.toml", &settings);
    let machine = Machine::over(victim);
    let (_, _, notes) = machine.texts(&["check", "--no-daemon"], &[]);
    assert!(notes.contains("`shared-answers` of") && !notes.contains("127.0.0.1"), "{notes}");
}
