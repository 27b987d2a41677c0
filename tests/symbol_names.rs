//! Symbols by name in workspaces of many languages, roots and projects.

use lsp_tools::{Runtime, Target, Verdict};

use crate::support::Project;

/// The paths of the symbols with exactly the name `name`, the verdict, and all notes.
async fn named(runtime: &Runtime, name: &str) -> (Vec<String>, Verdict, String) {
    let found = runtime.symbols(Target::Name(name.to_owned()), 100).await.expect("an answer");
    let symbols = found.output.symbols.into_iter().filter(|symbol| symbol.name == name);
    let mut paths: Vec<String> = symbols.filter_map(|symbol| symbol.path).collect();
    paths.sort();
    (paths, found.verdict, found.notes.join("\n"))
}

/// More files of five other languages than of Python, and names in Python and in a script.
fn polyglot() -> Project {
    let project = Project::new([
        ("tools/report.py", "def py_total(prices):\n    return sum(prices)\n"),
        ("deploy/run.sh", "release_now() {\n  echo now\n}\n"),
        ("web/a.ts", "export const first = 1;\n"),
        ("web/b.ts", "export const second = 2;\n"),
        ("web/c.ts", "export const third = 3;\n"),
    ]);
    for number in 0..6 {
        project.write(&format!("docs/page{number}.md"), "# Page\n\nCall py_total.\n");
        project.write(&format!("data/d{number}.json"), "{\"name\": \"py_total\"}\n");
        project.write(&format!("ci/c{number}.yaml"), "name: py_total\n");
        project.write(&format!("conf/e{number}.toml"), "name = \"py_total\"\n");
    }
    project
}

#[tokio::test(flavor = "multi_thread")]
async fn name_of_language_with_few_files_is_found() {
    let project = polyglot();
    let runtime =
        project.opening().servers(&["typescript-language-server", "pyright", "bash-language-server"]).open();
    for (name, path) in [("py_total", "tools/report.py"), ("release_now", "deploy/run.sh")] {
        let (paths, verdict, notes) = named(&runtime, name).await;
        assert_eq!((paths, verdict), (vec![path.to_owned()], Verdict::Complete), "{name}: {notes}");
        let found = runtime.definition(Target::Name(name.to_owned())).await.expect("an answer");
        assert_eq!(found.output.locations[0].path, path, "{name}");
    }
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn name_of_language_without_servers_is_found_in_text_and_is_not_complete() {
    let project = polyglot();
    project.write("web/lua/x.lua", "function lua_only()\nend\n");
    let settings = "[language.python]\nservers = []\nalternatives = []\n\
                    [server.typescript-language-server.judge]\nreleases = [\"5.9.3\"]\n";
    std::fs::create_dir_all(project.beside("config")).expect("a folder");
    std::fs::write(project.beside("config").join("servers.toml"), settings).expect("settings");
    let runtime = project.opening().servers(&["typescript-language-server"]).open();
    let (paths, verdict, notes) = named(&runtime, "py_total").await;
    assert_eq!(paths, ["tools/report.py"], "{notes}");
    assert_ne!(verdict, Verdict::Complete);
    let (paths, verdict, notes) = named(&runtime, "lua_only").await;
    assert_eq!((paths.len(), verdict), (0, Verdict::Partial), "no grammar reads it: {notes}");
    let (paths, verdict, notes) = named(&runtime, "nowhere_at_all").await;
    assert_eq!((paths.len(), verdict), (0, Verdict::Complete), "{notes}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn name_that_only_styles_have_is_not_called_absent() {
    let mixin = "@mixin button-variant($color) {\n  color: $color;\n}\n";
    let project = Project::new([("web/a.ts", "export const first = 1;\n"), ("web/_mixins.scss", mixin)]);
    let runtime = project.opening().servers(&["typescript-language-server"]).open();
    let (paths, verdict, notes) = named(&runtime, "button-variant").await;
    assert_eq!((paths.len(), verdict), (0, Verdict::Partial), "no server of styles is installed: {notes}");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn word_in_a_component_that_imports_nothing_is_no_use() {
    let settings = "{\"compilerOptions\": {\"strict\": true}, \"include\": [\"src\"]}";
    let project = Project::new([
        ("tsconfig.json", settings),
        ("src/prices.ts", "export function total(all: number[]): number {\n  return all.length;\n}\n"),
        ("src/Other.svelte", "<p>In total, nothing of this is meant.</p>\n"),
    ]);
    let runtime = project.opening().servers(&["typescript-language-server"]).open();
    let target = Target::NameInFile { path: "src/prices.ts".into(), name: "total".to_owned() };
    runtime.references(target.clone(), 100).await.expect("an answer");
    let found = runtime.references(target, 100).await.expect("an answer");
    assert!(!found.notes.join("\n").contains("was not resolved"), "{found:?}");
    runtime.shutdown().await;
}

fn two_carts(marker: &str, text: &str, file: &str, body: &str) -> Project {
    let project = Project::new([("README.md", "# Shop\n")]);
    for package in ["api", "web"] {
        project.write(&format!("packages/{package}/{marker}"), text);
        project.write(&format!("packages/{package}/src/{file}"), body);
    }
    project
}

#[tokio::test(flavor = "multi_thread")]
async fn namesakes_in_other_packages_are_found_at_the_first_question() {
    let settings = "{\"compilerOptions\": {\"strict\": true}, \"include\": [\"src\"]}";
    let class = "export class Cart {\n  total = 0;\n}\n";
    let scripts = || two_carts("tsconfig.json", settings, "cart.ts", class);
    let solution = scripts();
    solution.write(
        "tsconfig.json",
        "{\"files\": [], \"references\": [{\"path\": \"packages/api\"}, {\"path\": \"packages/web\"}]}",
    );
    let module = "class Cart:\n    total = 0\n";
    let python =
        two_carts("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1\"\n", "cart.py", module);
    for (project, server, file) in [
        (scripts(), "typescript-language-server", "cart.ts"),
        (solution, "typescript-language-server", "cart.ts"),
        (python, "pyright", "cart.py"),
    ] {
        let runtime = project.opening().servers(&[server]).open();
        let expected: Vec<String> =
            ["api", "web"].map(|package| format!("packages/{package}/src/{file}")).into();
        for round in 0..2 {
            let (paths, verdict, notes) = named(&runtime, "Cart").await;
            assert_eq!(paths, expected, "{server}: {notes}");
            // A server with one more root may not have read it yet; then text search answers.
            assert!(verdict == Verdict::Complete || round == 0, "{server}: {verdict:?}, {notes}");
        }
        let refused = runtime.definition(Target::Name("Cart".to_owned())).await;
        let refused = refused.expect_err("two classes answer to the name");
        assert!(refused.error.contains("2 symbols"), "{server}: {}", refused.error);
        runtime.shutdown().await;
        let runtime = project.opening().servers(&[server]).open();
        let found = runtime.symbols(Target::Name("Car".to_owned()), 100).await.expect("an answer");
        let mut paths: Vec<String> =
            found.output.symbols.into_iter().filter_map(|symbol| symbol.path).collect();
        paths.sort();
        paths.dedup();
        assert_eq!(paths, expected, "{server}: a part of the name: {:?} {:?}", found.verdict, found.notes);
        runtime.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn use_in_a_component_that_no_asked_server_reads_is_not_called_complete() {
    let settings = "{\"compilerOptions\": {\"strict\": true}, \"include\": [\"src\"]}";
    let component =
        "<script lang=\"ts\">\n  import { total } from \"./prices\";\n</script>\n<p>{total([1])}</p>\n";
    for ending in ["svelte", "vue", "astro"] {
        let project = Project::new([
            ("tsconfig.json", settings),
            ("src/prices.ts", "export function total(all: number[]): number {\n  return all.length;\n}\n"),
            ("src/main.ts", "import { total } from \"./prices\";\n\nconsole.log(total([1]));\n"),
        ]);
        project.write(&format!("src/App.{ending}"), component);
        let runtime = project.opening().servers(&["typescript-language-server"]).open();
        let target = Target::NameInFile { path: "src/prices.ts".into(), name: "total".to_owned() };
        for _ in 0..2 {
            let found = runtime.references(target.clone(), 100).await.expect("an answer");
            assert_eq!(found.verdict, Verdict::Partial, "{ending}: {found:?}");
            let note = found.notes.join("\n");
            assert!(note.contains(&format!("src/App.{ending}")), "{note}");
        }
        runtime.shutdown().await;
    }
}
