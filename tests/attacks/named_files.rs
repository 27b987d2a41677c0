//! Files of the project that a trusted command names: they are shown, and exactly these run.

use std::fs;
use std::path::Path;

use lsp_tools::TrustRequest;
use serde_json::json;

use crate::support::Project;

/// A Python program that leaves a mark and ends.
fn marking(mark: &Path) -> String {
    format!(
        "import pathlib, sys\npathlib.Path({}).write_text('ran')\nprint('{{\"summary\": \"done\"}}')\n",
        json!(mark)
    )
}

/// The names in the output of `lsp-tools trust`.
async fn shown(project: &Project) -> Vec<String> {
    let list = project.open().trust(TrustRequest::Show).await.expect("a list");
    list.items.into_iter().map(|item| item.name).collect()
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn language_server_script_changed_after_trust_does_not_run() {
    for (command, file) in [
        ("['/usr/bin/env', 'python3', '${root}/tools/server.py', '--stdio']", "tools/server.py"),
        ("['/bin/sh', '-c', 'cd . && exec python3 tools/server.py']", "tools/server.py"),
        ("['/bin/sh', '-c', 'cd tools; exec python3 server.py']", "tools/server.py"),
        ("['python3', 'tools']", "tools/__main__.py"),
        ("['/usr/bin/env', '-u', 'PYTHONSAFEPATH', 'python3', '-m', 'tools.server']", "tools/server.py"),
    ] {
        runs_only_as_it_was_trusted(command, file).await;
    }
}

async fn runs_only_as_it_was_trusted(command: &str, file: &str) {
    let servers = "[language.odd]\nname = 'Odd'\nextensions = ['odd']\nservers = ['odd']\n[server.odd]\nname = 'Odd'\nlanguages = ['odd']\n";
    let servers = format!("{servers}command = {command}\n");
    let project = Project::new([("a.odd", "a\n"), (".lsp-tools/servers.toml", &servers)]);
    let (good, evil) = (project.beside("logs").join("good"), project.beside("logs").join("evil"));
    project.write(file, marking(&good));
    assert!(shown(&project).await.contains(&format!("the program `{file}`")), "{command}");
    let hover = || project.command(None).args(["hover", "a.odd:1:1"]).output().expect("lsp-tools");
    hover();
    assert!(!good.exists(), "{command} ran without trust");
    project.trust(None);
    hover();
    assert!(good.exists(), "{command}: {:?}", hover());
    // Also for a file that is missing for a moment: its next content is unknown.
    for is_there in [true, false] {
        match is_there {
            true => project.write(file, marking(&evil)),
            false => fs::remove_file(project.path(file)).expect("a file"),
        }
        let refused = hover();
        assert!(!evil.exists(), "{command}");
        let told =
            String::from_utf8_lossy(&refused.stderr).into_owned() + &String::from_utf8_lossy(&refused.stdout);
        assert!(told.contains(&format!("{file}`, used by the command of odd, is not trusted")), "{told}");
    }
}

#[tokio::test]
async fn agent_runner_script_changed_after_trust_does_not_run() {
    let settings =
        "[agents.helper]\nrunner = ['/usr/bin/env', 'python3', 'tools/agent.py']\ntools = ['read']\n";
    let project = Project::new([("a.txt", "a\n"), (".lsp-tools/lsp-tools.toml", settings)]);
    let (good, evil) = (project.beside("logs").join("good"), project.beside("logs").join("evil"));
    project.write("tools/agent.py", marking(&good));
    assert!(shown(&project).await.contains(&"the program `tools/agent.py`".to_owned()));
    project.trust(None);
    let workspace = project.open();
    let order = json!({"agent": "helper", "objective": "anything"});
    let done = workspace.call("task", order.clone()).await;
    assert!(done.ok() && good.exists(), "{}", done.value);
    fs::write(project.path("tools/agent.py"), marking(&evil)).expect("a file");
    let (code, error) = workspace.failure("task", order).await;
    assert!(!evil.exists());
    assert_eq!(code, "denied");
    assert!(error.contains("`tools/agent.py`, used by the runner of the agent helper,"), "{error}");
    // Python runs a folder as well.
    fs::remove_file(project.path("tools/agent.py")).expect("a file");
    project.write("tools/agent.py/__main__.py", marking(&evil));
    let order = json!({"agent": "helper", "objective": "anything"});
    assert_eq!(workspace.failure("task", order).await.0, "denied");
    assert!(!evil.exists());
}

#[tokio::test]
async fn trust_listing_shows_program_file_of_each_command() {
    let hooks: String = (1..=9)
        .map(|number| format!("[[hooks.pre]]\ncommand = ['sh', '-c', 'cd d{number} && ./g{number}.sh']\n"))
        .collect();
    let mount = "[mcp.servers.own]\ncommand = 'python3'\nargs = ['-m', 'tools.serve']\ncwd = 'sub'\n";
    let project = Project::new([(".lsp-tools/lsp-tools.toml", format!("{hooks}{mount}").as_str())]);
    for number in 1..=9 {
        project.write(&format!("d{number}/g{number}.sh"), "exit 0\n");
    }
    project.write("sub/tools/serve.py", "");
    let shown = shown(&project).await;
    let hooks = (1..=9).map(|number| format!("d{number}/g{number}.sh"));
    for file in hooks.chain(["sub/tools/serve.py".to_owned()]) {
        assert!(shown.contains(&format!("the program `{file}`")), "{file}: {shown:?}");
    }
}
