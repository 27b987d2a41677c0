//! Files outside a project's configuration. Findings about them are not those of the project's own
//! tools, so every answer about them is partial and gives the reason.

use serde_json::{Value, json};

use super::json;
use crate::support::Project;

/// The verdict of an answer, and the reason that it gives.
fn verdict(answer: &Value) -> (&str, String) {
    let detail = &answer["server_status"]["detail"];
    let of_file = &answer["incomplete"][0]["detail"];
    let reason = detail.as_str().or(of_file.as_str()).unwrap_or_default();
    (answer["verdict"].as_str().unwrap_or_default(), reason.to_owned())
}

/// Asserts that answers of `server` about `inside` are complete, and those about `outside` partial
/// with a reason that contains `reason`.
#[track_caller]
fn assert_outside(project: &Project, server: &str, inside: &str, outside: &str, reason: &str) {
    let (file, _) = outside.split_once(':').expect("a place");
    let (own, _) = inside.split_once(':').expect("a place");
    for words in [["hover", outside], ["check", file], ["definition", outside]] {
        let answer = json(project, &[server], &words);
        let (verdict, said) = verdict(&answer);
        assert_eq!(verdict, "partial", "{words:?}: {answer}");
        // A check of a file that opens the server's project may be partial for that as well.
        assert!(words[0] == "check" || said.contains(reason), "{words:?}: {answer}");
    }
    for words in [["hover", inside], ["check", own], ["definition", inside]] {
        let answer = json(project, &[server], &words);
        assert_eq!(answer["verdict"], "complete", "{words:?}: {answer}");
    }
}

#[test]
fn source_file_without_compile_command_is_partial() {
    let project = Project::new([
        ("src/a.c", "#include \"m.h\"\nint main(void) { return total(1); }\n"),
        ("src/b.c", "int half(int x) { return x / 2; }\n"),
        ("src/m.h", "int total(int x);\n"),
    ]);
    let entry = |directory: &str, file: &str| json!({ "directory": directory, "file": file, "arguments": ["cc", "-c", file] });
    let build = project.root().join("build");
    let database = |entries: &[Value]| {
        project.write("build/compile_commands.json", json!(entries).to_string());
    };
    let folder = build.to_string_lossy();
    let reason = "no command for this file";
    // clangd does not resolve a relative `directory`.
    database(&[entry(&folder, "../src/a.c"), entry(".", "../src/b.c")]);
    assert_outside(&project, "clangd", "src/a.c:2:27", "src/b.c:1:5", reason);
    let header = json(&project, &["clangd"], &["hover", "src/m.h:1:5"]);
    assert_eq!(header["verdict"], "complete", "headers have no entries: {header}");
    database(&[entry(&folder, "../src/a.c"), entry(&folder, "../src/b.c")]);
    let added = json(&project, &["clangd"], &["hover", "src/b.c:1:5"]);
    assert_eq!(added["verdict"], "complete", "{added}");
}

#[test]
fn file_that_settings_of_checker_exclude_is_partial() {
    let project = Project::new([
        ("pyrightconfig.json", "{\"include\": [\"src\"], \"exclude\": [\"src/old\"]}"),
        ("src/a.py", "def half(x: int) -> float:\n    return x / 2\n"),
        ("src/old/b.py", "from src.a import half\n"),
        ("tool.py", "from src.a import half\n"),
    ]);
    for outside in ["src/old/b.py:1:19", "tool.py:1:19"] {
        assert_outside(&project, "pyright", "src/a.py:1:5", outside, "leave this file out");
    }
}

#[test]
fn file_that_no_tsconfig_includes_is_partial_until_one_does() {
    let project = Project::new([
        ("package.json", "{\"name\": \"t\", \"devDependencies\": {\"typescript\": \"5.9.3\"}}"),
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true, \"types\": []}, \"include\": [\"src\"]}"),
        ("src/a.ts", "export function half(x: number): number { return x / 2 }\n"),
        ("extra/b.ts", "import { half } from \"../src/a\";\nexport const one = half(2);\n"),
    ]);
    let server = "typescript-language-server";
    assert_outside(&project, server, "src/a.ts:1:17", "extra/b.ts:2:14", "no tsconfig.json");
    // An import in an included file makes the imported file part of the project.
    project.write("src/c.ts", "import { one } from \"../extra/b\";\nexport const two = one + 1;\n");
    let hover = json(&project, &[server], &["hover", "extra/b.ts:2:14"]);
    assert_eq!(hover["verdict"], "complete", "{hover}");
}

#[test]
#[ignore = "slow: just slow"]
fn file_that_no_tsconfig_includes_is_partial_in_other_servers() {
    let project = |version: &str| {
        let package = json!({ "name": "t", "devDependencies": { "typescript": version } });
        let project = Project::new([
            (
                "tsconfig.json",
                "{\"compilerOptions\": {\"strict\": true, \"types\": []}, \"include\": [\"src\"]}",
            ),
            ("src/a.ts", "export function half(x: number): number { return x / 2 }\n"),
            ("extra/b.ts", "import { half } from \"../src/a\";\nexport const one = half(2);\n"),
        ]);
        project.write("package.json", package.to_string());
        project
    };
    assert_outside(&project("7.0.2"), "tsc", "src/a.ts:1:17", "extra/b.ts:2:14", "no tsconfig.json");
    // A check with vtsls may end while it still reports an analysis of the file.
    let project = project("5.9.3");
    for (place, expected) in [("src/a.ts:1:17", "complete"), ("extra/b.ts:2:14", "partial")] {
        let answer = json(&project, &["vtsls"], &["hover", place]);
        assert_eq!(verdict(&answer).0, expected, "{answer}");
    }
}
