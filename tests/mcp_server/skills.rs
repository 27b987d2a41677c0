//! The skills extension: the results of its methods, and its absence elsewhere.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::Project;
use crate::support::mcp::Mcp;

const TIDY: &str = "---\nname: tidy\ndescription: Tidies up.\nlicense: MIT\n---\n\n# Tidy\n";

fn project(settings: &str) -> Project {
    let project =
        Project::new([(".claude/skills/theirs/SKILL.md", "---\nname: theirs\ndescription: x\n---\n")]);
    let skills = project.beside("config").join("skills");
    std::fs::create_dir_all(skills.join("tidy/refs")).expect("a folder");
    std::fs::write(skills.join("tidy/SKILL.md"), TIDY).expect("a file");
    std::fs::write(skills.join("tidy/refs/how to.md"), "So.\n").expect("a file");
    std::fs::write(skills.join("tidy/logo.bin"), [0, 159, 146, 150]).expect("a file");
    std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    project
}

fn both(project: &Project) -> [Mcp; 2] {
    let declared = json!({"extensions": {"io.modelcontextprotocol/skills": {}}});
    [Mcp::legacy(project, None, declared.clone()), Mcp::modern(project, None, declared)]
}

#[test]
fn skills_list_has_frontmatter_and_files() {
    let project = project("");
    for mut client in both(&project) {
        let list = client.result("skills/list", json!({}));
        let skills = list["skills"].as_array().expect("skills");
        assert_eq!(skills.len(), 1, "the project's own is not trusted: {list}");
        let uri = "skill://tidy/SKILL.md";
        let frontmatter = json!({"name": "tidy", "description": "Tidies up.", "license": "MIT"});
        assert_eq!((&skills[0]["uri"], &skills[0]["frontmatter"]), (&json!(uri), &frontmatter));
        let files = skills[0]["resources"].as_array().expect("files");
        let uris: Vec<&str> = files.iter().filter_map(|file| file["uri"].as_str()).collect();
        assert_eq!(uris, [uri, "skill://tidy/refs/how%20to.md"], "only text is served");
        for file in files {
            let read = client.result("resources/read", json!({"uri": file["uri"]}));
            let text = read["contents"][0]["text"].as_str().expect("a text");
            let digest: String =
                Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(
                (&file["digest"], &file["size"]),
                (&json!(format!("sha256:{digest}")), &json!(text.len()))
            );
            assert_eq!(read["contents"][0]["mimeType"], "text/markdown");
        }
        let got = client.result("skills/get", json!({"uri": uri}));
        assert_eq!(got["skill"], skills[0]);
        for uri in [
            "skill://none/SKILL.md",
            "skill://theirs/SKILL.md",
            "skill://tidy/refs/SKILL.md",
            "file:///SKILL.md",
        ] {
            assert_eq!(client.error("skills/get", json!({"uri": uri})), -32602, "{uri}");
        }
        for uri in [
            "skill://theirs/SKILL.md",
            "skill://tidy/none.md",
            "skill://tidy/..%2f..%2flsp-tools.toml",
            "skill://tidy/%2e%2e/%2e%2e/lsp-tools.toml",
            "skill://tidy",
        ] {
            let code = client.error("resources/read", json!({"uri": uri}));
            assert!(matches!(code, -32602 | -32002), "{uri}: {code}");
        }
    }
}

#[test]
fn resource_lists_do_not_contain_skills() {
    let project = project("");
    for mut client in both(&project) {
        for method in ["resources/list", "resources/templates/list"] {
            let list = client.result(method, json!({}));
            assert!(!list.to_string().contains("skill"), "{list}");
        }
    }
}

#[test]
fn skill_tool_denied_skills_are_not_served() {
    let project = project("[permissions]\ndeny = ['skill']\n");
    for mut client in both(&project) {
        assert_eq!(client.result("skills/list", json!({}))["skills"], Value::Array(Vec::new()));
        assert_eq!(client.error("skills/get", json!({"uri": "skill://tidy/SKILL.md"})), -32602);
        let code = client.error("resources/read", json!({"uri": "skill://tidy/SKILL.md"}));
        assert!(matches!(code, -32602 | -32002), "{code}");
    }
}
