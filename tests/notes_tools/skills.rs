//! `skill`: the list of skills, loading, and hostile skills.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use lsp_tools::NobodyToAsk;
use serde_json::{Value, json};

use super::house::{assert_fails, open, open_files};
use crate::support::{Project, TestWorkspace};

fn head(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n# Do this\n")
}

fn put(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn user_skills(house: &TestWorkspace) -> std::path::PathBuf {
    house.project.beside("config").join("skills")
}

async fn list(house: &TestWorkspace) -> (Vec<String>, String) {
    let listed = house.call_unasked("skill", json!({"action": "list"})).await;
    assert!(listed.ok(), "{:?}", listed.value);
    let names = listed.value["skills"].as_array().expect("a list").iter();
    let shown = |skill: &Value| format!("{}/{}: {}", skill["source"], skill["name"], skill["description"]);
    let names = names.map(|skill| shown(skill).replace('"', "")).collect();
    (names, listed.value["left_out"].to_string())
}

async fn load(house: &TestWorkspace, name: &str) -> Value {
    let loaded = house.call_unasked("skill", json!({"action": "load", "name": name})).await;
    assert!(loaded.ok(), "{:?}", loaded.value);
    loaded.value
}

#[tokio::test]
async fn skill_of_markdown_or_json_form_is_loaded() {
    let house = open_files([]);
    assert_eq!(house.call("skill", json!({"action": "list"})).await.value, json!({"ok": true, "skills": []}));
    let folder = user_skills(&house);
    let text = head("release", "How to release");
    put(&folder, "release/SKILL.md", &text);
    put(&folder, "release/reference/steps.md", "1. …");
    put(&folder, "code-review/skill.json", &json!({
        "name": "code-review", "displayName": "Review", "description": "Reviews", "version": "1.0.0", "author": "us",
        "prompts": ["prompts/system.md", "prompts/examples.md"], "tools": ["tools/lint.json"],
    }).to_string());
    put(&folder, "code-review/prompts/system.md", "Be strict.");
    put(&folder, "code-review/prompts/examples.md", "Such as:");
    put(&folder, "code-review/tools/lint.json", r#"{"name": "lint", "parameters": {"type": "object"}}"#);
    let (names, left_out) = list(&house).await;
    assert_eq!(names, ["user/code-review: Reviews", "user/release: How to release"]);
    assert_eq!(left_out, "null");
    assert_eq!(
        load(&house, "release").await,
        json!({"ok": true, "name": "release", "content": text, "files": ["reference/steps.md"]})
    );
    let file = json!({"action": "load", "name": "release", "file": "reference/steps.md"});
    assert_eq!(house.call("skill", file).await.value["content"], "1. …");
    assert_eq!(
        load(&house, "code-review").await,
        json!({"ok": true, "name": "code-review", "content": "Be strict.\n\nSuch as:",
            "tools": [{"name": "lint", "parameters": {"type": "object"}}]})
    );
    // A skill in both forms: its text comes first.
    put(&folder, "release/skill.json", r#"{"name": "release", "prompts": ["more.md"]}"#);
    put(&folder, "release/more.md", "And more.");
    assert_eq!(load(&house, "release").await["content"], format!("{text}\n\nAnd more."));
}

#[tokio::test]
async fn skill_folders_are_read_in_order_and_disabled_are_skipped() {
    let project = Project::new([]);
    let (first, second) = (project.beside("first"), project.beside("second"));
    for (folder, from) in [(&first, "first"), (&second, "second")] {
        for name in ["both", from, "noisy"] {
            put(folder, &format!("{name}/SKILL.md"), &head(name, from));
        }
    }
    put(&project.beside("config").join("skills"), "both/SKILL.md", &head("both", "config"));
    put(&project.beside("single"), "SKILL.md", &head("single", "itself"));
    let settings = json!({"skills": {
        "directories": [first, second, project.beside("single"), "/nowhere/at/all", "~nobody"],
        "disabled": ["noisy"],
    }});
    let settings = toml::to_string(&settings).expect("TOML");
    fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    let house = open(&project);
    let (names, left_out) = list(&house).await;
    assert_eq!(
        names,
        ["user/both: second", "user/first: first", "user/second: second", "user/single: itself"]
    );
    for words in ["/nowhere/at/all", "noisy: disabled in the settings"] {
        assert!(left_out.contains(words), "{left_out}");
    }
    let noisy = house.call("skill", json!({"action": "load", "name": "noisy"})).await;
    assert_fails(&noisy, "denied", "disabled");
}

#[tokio::test]
async fn skill_invalid_arguments_are_refused() {
    let house = open_files([]);
    put(&user_skills(&house), "release/SKILL.md", &head("release", "x"));
    for (arguments, code, words) in [
        (json!({"action": "load"}), "invalid_args", "`name` is missing"),
        (json!({"action": "list", "name": "x"}), "invalid_args", "takes neither"),
        (json!({"action": "run", "name": "x"}), "invalid_args", "one of `list` and `load`"),
        (json!({"action": "load", "name": "relaese"}), "not_found", "there is no skill \"relaese\""),
        (json!({"action": "load", "name": "../release"}), "not_found", "there is no skill"),
        (json!({"action": "load", "name": "release", "file": "no.md"}), "not_found", "does not exist"),
        (
            json!({"action": "load", "name": "release", "file": "../../lsp-tools.toml"}),
            "outside_workspace",
            "leads out",
        ),
        (
            json!({"action": "load", "name": "release", "file": "/etc/passwd"}),
            "outside_workspace",
            "leads out",
        ),
    ] {
        assert_fails(&house.call("skill", arguments).await, code, words);
    }
    let near = house.call("skill", json!({"action": "load", "name": "relaese"})).await;
    assert_eq!(near.value["hint"], "nearest: release");
}

#[tokio::test]
async fn row_46_malformed_skills_are_left_out_with_reason() {
    let house = open_files([("secret", "s")]);
    let folder = user_skills(&house);
    put(&folder, "other-name/SKILL.md", &head("../../x", "x"));
    put(&folder, "Upper/SKILL.md", &head("Upper", "x"));
    put(&folder, "a b/SKILL.md", &head("a b", "x"));
    put(&folder, "bomb/SKILL.md", "---\na: &a [x, x]\nname: *a\ndescription: x\n---\n");
    put(&folder, "endless/SKILL.md", &format!("---\n{}", "# x\n".repeat(30_000)));
    put(&folder, "huge/SKILL.md", &format!("{}{}", head("huge", "x"), "x".repeat(200_000)));
    put(&folder, "headless/SKILL.md", "# Title\n");
    put(&folder, "broken/skill.json", "{");
    put(&folder, "way-out/skill.json", r#"{"name": "way-out", "prompts": ["../../lsp-tools.toml"]}"#);
    put(&folder, "no-json/skill.json", r#"{"name": "no-json", "tools": ["t"]}"#);
    put(&folder, "no-json/t", "no");
    put(&folder, "linked/skill.json", r#"{"name": "linked", "prompts": ["p"]}"#);
    symlink(house.project.path("secret"), folder.join("linked/p")).expect("a link");
    let (names, left_out) = list(&house).await;
    assert_eq!(names, ["user/linked: ", "user/no-json: ", "user/way-out: "]);
    for words in [
        r#"other-name: its `name`"#,
        "Upper: its name must be at most 64 of a-z",
        "a b: its name must be at most 64 of a-z",
        "bomb: SKILL.md line 3: anchors",
        "endless: the head of SKILL.md does not end",
        "huge: ",
        "headless: SKILL.md does not begin",
        "broken: skill.json: ",
    ] {
        assert!(left_out.contains(words), "{words} is not in {left_out}");
    }
    for (name, code) in [
        ("way-out", "outside_workspace"),
        ("linked", "outside_workspace"),
        ("no-json", "not_text"),
        ("bomb", "denied"),
        ("other-name", "denied"),
    ] {
        assert_fails(&house.call("skill", json!({"action": "load", "name": name})).await, code, "");
    }
}

#[tokio::test]
async fn row_46_workspace_skill_changed_after_trust_is_not_loaded() {
    let text = head("deploy", "Deploys");
    let house = open_files([
        (".claude/skills/deploy/SKILL.md", text.as_str()),
        (".claude/skills/deploy/ref.md", "more"),
        (".lsp-tools/skills/deploy/SKILL.md", &head("deploy", "earlier")),
        (".github/skills/mine/SKILL.md", &head("mine", "theirs")),
    ]);
    put(&user_skills(&house), "mine/SKILL.md", &head("mine", "my own"));
    let (names, left_out) = list(&house).await;
    assert_eq!(names, ["user/mine: my own"]);
    assert!(
        left_out.contains("is not trusted in its current state") && !left_out.contains("Deploys"),
        "{left_out}"
    );
    let deploy = json!({"action": "load", "name": "deploy"});
    assert_fails(&house.call("skill", deploy.clone()).await, "denied", "lsp-tools trust");

    house.grant_trust().await;
    // The later of two folders wins, but never over the user.
    let (names, left_out) = list(&house).await;
    assert_eq!(names, ["workspace/deploy: Deploys", "user/mine: my own"]);
    assert!(left_out.contains(".github/skills/mine: the user has a skill of that name"), "{left_out}");
    assert_eq!(load(&house, "deploy").await["content"], text);

    house.project.write(".claude/skills/deploy/ref.md", "more, and worse");
    let changed = json!({"action": "load", "name": "deploy", "file": "ref.md"});
    assert_fails(&house.call("skill", changed).await, "denied", "is not read");
    house.project.write(".claude/skills/deploy/SKILL.md", text.replace("Do this", "Do that"));
    let now = load(&house, "deploy").await;
    assert!(now["content"].as_str().is_some_and(|text| text.contains("earlier")), "{now}");
    house.grant_trust().await;
    assert!(load(&house, "deploy").await["content"].as_str().is_some_and(|text| text.contains("Do that")));
}

#[tokio::test]
async fn row_5_symlinked_workspace_skills_are_left_out() {
    let house = open_files([(".claude/skills/a/x", ""), (".github/x", "")]);
    let outside = house.project.beside("outside");
    put(&outside, "skill/SKILL.md", &head("skill", "x"));
    put(&outside, "a.md", &head("a", "x"));
    symlink(&outside, house.project.path(".github/skills")).expect("a link");
    symlink(outside.join("skill"), house.project.path(".claude/skills/skill")).expect("a link");
    symlink(outside.join("a.md"), house.project.path(".claude/skills/a/SKILL.md")).expect("a link");
    house.grant_trust().await;
    let (names, left_out) = list(&house).await;
    assert_eq!(names, Vec::<String>::new());
    assert!(left_out.contains("leads out of the workspace"), "{left_out}");
}

/// A skill that is loaded without a request of a model needs no approval.
#[tokio::test]
async fn skill_loaded_by_host_needs_no_approval() {
    let house = open_files([]);
    put(&user_skills(&house), "release/SKILL.md", &head("release", "x"));
    let loaded = house.runtime.load_skill(&house.caller, "release").await;
    let called = json!({"action": "load", "name": "release"});
    assert_eq!(loaded, house.call_as(&house.caller, &NobodyToAsk, "skill", called).await);
    assert!(loaded.ok());
}

#[tokio::test]
async fn skills_of_other_programs_in_home_are_listed() {
    let house = open_files([]);
    let home = house.project.beside("home");
    for (folder, text) in [(".claude", "claude's"), (".agents", "agents'"), (".copilot", "copilot's")] {
        put(&home.join(folder).join("skills"), "shared/SKILL.md", &head("shared", text));
        put(
            &home.join(folder).join("skills"),
            &format!("of{}/SKILL.md", folder.replace('.', "-")),
            &head(&format!("of{}", folder.replace('.', "-")), text),
        );
    }
    put(&user_skills(&house), "own/SKILL.md", &head("own", "mine"));
    let (names, _) = list(&house).await;
    assert_eq!(
        names,
        [
            "user/of-agents: agents'",
            "user/of-claude: claude's",
            "user/of-copilot: copilot's",
            "user/own: mine",
            "user/shared: copilot's"
        ]
    );
    // Our own folder has precedence over all of them.
    put(&user_skills(&house), "shared/SKILL.md", &head("shared", "mine"));
    assert!(list(&house).await.0.contains(&"user/shared: mine".to_owned()));
}

#[tokio::test]
async fn workspace_skills_of_other_programs_need_trust() {
    let house = open_files([]);
    for folder in [".github", ".agents", ".claude"] {
        let name = format!("of{}", folder.replace('.', "-"));
        put(&house.project.path(folder).join("skills"), &format!("{name}/SKILL.md"), &head(&name, folder));
    }
    let (names, left_out) = list(&house).await;
    assert!(names.is_empty() && left_out.contains("of-agents"), "{names:?} {left_out}");
    house.grant_trust().await;
    let (names, _) = list(&house).await;
    assert_eq!(
        names,
        ["workspace/of-agents: .agents", "workspace/of-claude: .claude", "workspace/of-github: .github"]
    );
}

const LINT: &str = r#"{"name": "lint", "description": "Lints.", "command": ["sh", "-c", "echo SAYS; cat ${folder}/rules"],
                       "parameters": {"properties": {"path": {"type": "string"}}, "required": ["path"]}}"#;

fn put_lint(folder: &Path, says: &str) {
    let name = folder.file_name().and_then(|name| name.to_str()).expect("a name");
    let skill = json!({"name": name, "tools": ["tools/lint.json", "tools/shown.json"]});
    put(folder, "skill.json", &skill.to_string());
    put(folder, "tools/lint.json", &LINT.replace("SAYS", says));
    put(folder, "tools/shown.json", r#"{"name": "shown", "parameters": {"type": "object"}}"#);
    put(folder, "tools/rules", "all of them\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn skill_tool_with_command_is_callable_as_tool() {
    let house = open_files([]);
    let of_home = house.project.beside("home").join(".claude/skills/first");
    put_lint(&of_home, "first");
    let arguments = json!({"path": "a.py"});
    assert_eq!(house.call("lint", arguments.clone()).await.value["text"], "first\nall of them");
    // It needs the same approval as any program.
    assert_fails(&house.call_unasked("lint", arguments.clone()).await, "denied", "lint runs a program");
    assert_fails(&house.call("lint", json!({})).await, "invalid_args", "`path`");
    assert_eq!(house.call("shown", json!({})).await.value["code"], "unknown_tool", "it says nothing to run");
    let loaded = load(&house, "first").await;
    assert_eq!(loaded["tools"].as_array().map(Vec::len), Some(2), "{loaded}");
    // A later folder's tool of the same name replaces it, regardless of the skills' names.
    put_lint(&user_skills(&house).join("a-second"), "second");
    assert_eq!(house.call("lint", arguments.clone()).await.value["text"], "second\nall of them");
    fs::remove_dir_all(user_skills(&house).join("a-second")).expect("a folder");
    assert_eq!(house.call("lint", arguments).await.value["text"], "first\nall of them");
}

#[tokio::test(flavor = "multi_thread")]
async fn workspace_skill_tool_changed_after_trust_does_not_run() {
    let house = open_files([]);
    let folder = house.project.path(".lsp-tools/skills/review");
    put_lint(&folder, "seen");
    let arguments = json!({"path": "a.py"});
    assert_eq!(house.call("lint", arguments.clone()).await.value["code"], "unknown_tool");
    house.grant_trust().await;
    assert_eq!(house.call("lint", arguments.clone()).await.value["text"], "seen\nall of them");
    put(&folder, "tools/lint.json", &LINT.replace("SAYS", "evil"));
    assert_eq!(house.call("lint", arguments.clone()).await.value["code"], "unknown_tool");
    house.grant_trust().await;
    assert_eq!(house.call("lint", arguments.clone()).await.value["text"], "evil\nall of them");
    // Never in place of the user's own.
    put_lint(&user_skills(&house).join("mine"), "mine");
    assert_eq!(house.call("lint", arguments).await.value["text"], "mine\nall of them");
}
