//! Declarations in headers and definitions elsewhere, with clangd: a definition is the one with the
//! body, from any position.

use serde_json::{Value, json};

use crate::support::{Project, TestWorkspace};

const HEADER: &str = "int total(int a);\n";
const SOURCE: &str = "#include \"m.h\"\n\nint total(int a) { return a; }\n";
const MAIN: &str = "#include \"m.h\"\n\nint main(void) { return total(1); }\n";

const CLASS: &str = "class Cart {\n public:\n  int total(int rate);\n};\n";
const METHOD: &str = "#include \"m.h\"\n\nint Cart::total(int rate) { return rate; }\n";
const CALL: &str = "#include \"m.h\"\n\nint main() { return Cart().total(1); }\n";

fn project(ending: &str, [header, source, main]: [&str; 3], is_compiled: bool) -> Project {
    let (source_file, main_file) = (format!("m.{ending}"), format!("main.{ending}"));
    let project = Project::new([("m.h", header), (&source_file, source), (&main_file, main)]);
    if is_compiled {
        let root = project.root();
        let command =
            |file: &String| json!({"directory": root, "file": file, "arguments": ["cc", "-c", file]});
        let database = json!([command(&source_file), command(&main_file)]);
        project.write("compile_commands.json", database.to_string());
    }
    project
}

async fn must_be_defined(workspace: &TestWorkspace, question: Value, place: &str) {
    let found = workspace.ok("lsp_definition", question.clone()).await;
    let (path, at) = place.split_once(':').expect("a place");
    let rows = &found["locations"][0][path];
    assert_eq!((found["count"].as_u64(), rows[0][0].as_str()), (Some(1), Some(at)), "{question}: {found}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn c_definition_is_found_by_name_at_call_prototype_and_itself() {
    for is_compiled in [true, false] {
        let project = project("c", [HEADER, SOURCE, MAIN], is_compiled);
        let workspace = project.opening().servers(&["clangd"]).open();
        for question in [
            json!({"symbol": "total"}),
            json!({"at": "main.c:3:25"}),
            json!({"at": "m.h:1:5"}),
            json!({"at": "m.c:3:5"}),
            json!({"at": "m.c:total"}),
        ] {
            must_be_defined(&workspace, question, "m.c:3:5").await;
        }
        workspace.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn method_is_defined_where_its_body_is() {
    for is_compiled in [true, false] {
        let project = project("cc", [CLASS, METHOD, CALL], is_compiled);
        let workspace = project.opening().servers(&["clangd"]).open();
        for question in [
            json!({"symbol": "Cart::total"}),
            json!({"symbol": "total"}),
            json!({"at": "main.cc:3:28"}),
            json!({"at": "m.h:3:7"}),
            json!({"at": "m.cc:3:11"}),
        ] {
            must_be_defined(&workspace, question, "m.cc:3:11").await;
        }
        workspace.shutdown().await;
    }
}
