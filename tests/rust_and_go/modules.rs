//! Several Go modules in one workspace. Types of one implement interfaces of another without naming
//! them, so an answer is complete only if a `go.work` joins the modules.

use lsp_tools::answer::LocationsOutput;
use lsp_tools::internals::tools::TypeDirection;
use lsp_tools::{Answer, Runtime, Verdict};

use super::real::{named, open};
use crate::support::Project;

const GEO: &str = "// Package geo has shapes.\npackage geo\n\n// Shape has an area.\ntype Shape interface {\n\tArea() float64\n}\n\n\
                   // Dot is a shape.\ntype Dot struct{}\n\n// Area is none.\nfunc (Dot) Area() float64 { return 0 }\n\n\
                   // Total adds areas.\nfunc Total(shapes []Shape) float64 {\n\tsum := 0.0\n\tfor _, shape := range shapes {\n\
                   \t\tsum += shape.Area()\n\t}\n\treturn sum\n}\n";
const SQUARE: &str = "package app\n\n// Square is a shape, without a word of it.\ntype Square struct{ side float64 }\n\n\
                      // Area is the square of its side.\nfunc (s Square) Area() float64 { return s.side * s.side }\n";
const USE: &str = "package app\n\nimport \"example.com/geo\"\n\n// Sum uses it.\nfunc Sum() float64 { return geo.Total([]geo.Shape{Square{2}}) }\n";
const CIRCLE: &str = "package loose\n\n// Circle has an area.\ntype Circle struct{ r float64 }\n\n\
                      // Area is about three.\nfunc (c Circle) Area() float64 { return 3 * c.r * c.r }\n";

fn modules(names: &[&str]) -> Project {
    let project = Project::new([("README.md", "Go modules\n")]);
    let module = |name: &str, more: &str| {
        let text = format!("module example.com/{name}\n\ngo 1.21\n{more}");
        project.write(&format!("{name}/go.mod"), text);
    };
    module("geo", "");
    project.write("geo/geo.go", GEO);
    module("app", "\nrequire example.com/geo v0.0.0\n\nreplace example.com/geo => ../geo\n");
    project.write("app/shapes.go", SQUARE);
    project.write("app/use.go", USE);
    if names.contains(&"loose") {
        module("loose", "");
        project.write("loose/loose.go", CIRCLE);
    }
    project
}

fn places(answer: &Answer<LocationsOutput>) -> Vec<String> {
    let places = answer.output.locations.iter();
    places.map(|place| format!("{}:{}", place.path, place.range.start.line + 1)).collect()
}

async fn implementations(runtime: &Runtime, path: &str, name: &str) -> Answer<LocationsOutput> {
    runtime.implementation(named(path, name)).await.expect("an answer")
}

const ADVICE: &str = "to make one project of them: go work init && go work use -r .";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs gopls and Go: just rust-go"]
async fn go_implementations_across_unjoined_modules_are_partial() {
    let project = modules(&["loose"]);
    let runtime = open(&project, "gopls");
    // The module that uses this one gets a request as well; whether a third one's types are meant
    // is unknown.
    let found = implementations(&runtime, "geo/geo.go", "Shape").await;
    assert_eq!(places(&found), ["app/shapes.go:4", "geo/geo.go:10"], "{found:?}");
    assert_eq!(found.verdict, Verdict::Partial);
    assert_eq!(found.notes, [format!("`Shape` was not resolved for loose; {ADVICE}")]);
    for (path, name) in
        [("geo/geo.go", "Shape.Area"), ("app/shapes.go", "Square"), ("loose/loose.go", "Circle")]
    {
        let found = implementations(&runtime, path, name).await;
        assert_eq!(found.verdict, Verdict::Partial, "{name}: {found:?}");
    }
    let above = runtime.types(named("loose/loose.go", "Circle"), TypeDirection::Supertypes, 1).await;
    assert_eq!(above.expect("an answer").verdict, Verdict::Partial);
    // A call through an interface of another module may be a call of this method.
    let square = runtime.references(named("app/shapes.go", "Square.Area"), 100).await.expect("an answer");
    let is_listed = places(&square).contains(&"geo/geo.go:19".to_owned());
    assert!(is_listed || square.verdict == Verdict::Partial, "{square:?}");
    // A function that is not a method is used by its name.
    let total = runtime.references(named("geo/geo.go", "Total"), 100).await.expect("an answer");
    assert_eq!(places(&total), ["app/use.go:6", "geo/geo.go:16"]);
    assert_eq!((total.verdict, total.notes.as_slice()), (Verdict::Complete, [].as_slice()));
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs gopls and Go: just rust-go"]
async fn go_implementations_across_joined_modules_are_complete() {
    let project = modules(&[]);
    let runtime = open(&project, "gopls");
    let found = implementations(&runtime, "geo/geo.go", "Shape").await;
    assert_eq!(places(&found), ["app/shapes.go:4", "geo/geo.go:10"], "{found:?}");
    assert_eq!((found.verdict, found.notes.as_slice()), (Verdict::Complete, [].as_slice()));
    runtime.shutdown().await;

    let project = modules(&["loose"]);
    project.write("go.work", "go 1.21\n\nuse (\n\t./app\n\t./geo\n\t./loose\n)\n");
    let runtime = open(&project, "gopls");
    let found = implementations(&runtime, "geo/geo.go", "Shape").await;
    assert_eq!(places(&found), ["app/shapes.go:4", "geo/geo.go:10", "loose/loose.go:4"], "{found:?}");
    assert_eq!((found.verdict, found.notes.as_slice()), (Verdict::Complete, [].as_slice()));
    let circle = implementations(&runtime, "loose/loose.go", "Circle").await;
    assert_eq!((places(&circle), circle.verdict), (vec!["geo/geo.go:5".to_owned()], Verdict::Complete));
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs gopls and Go: just rust-go"]
async fn go_that_is_older_than_the_toolchain_of_a_module_makes_answers_partial() {
    let project = Project::new([("main.go", "package main\n\nfunc main() {}\n")]);
    let manifest = |more: &str| project.write("go.mod", format!("module example.com/m\n\ngo 1.21\n{more}"));
    manifest("\ntoolchain go1.99.1\n");
    let runtime = open(&project, "gopls");
    let found = runtime.diagnose(vec!["main.go".into()], None, 100).await.expect("an answer");
    let detail = found.server_status.detail.unwrap_or_default();
    assert_eq!(found.verdict, Verdict::Partial, "{detail}");
    assert!(detail.contains("answered, but the project uses >=1.99.1 (go.mod)"), "{detail}");
    manifest("");
    let found = runtime.diagnose(vec!["main.go".into()], None, 100).await.expect("an answer");
    assert_eq!(found.verdict, Verdict::Complete, "{:?}", found.server_status);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs gopls and Go: just rust-go"]
async fn go_mod_without_a_module_makes_a_check_partial() {
    let project = Project::new([("main.go", "package main\n\nfunc main() {}\n"), ("go.mod/keep.txt", "")]);
    let runtime = open(&project, "gopls");
    let found = runtime.diagnose(vec!["main.go".into()], None, 100).await.expect("an answer");
    let detail = found.server_status.detail.unwrap_or_default();
    assert_eq!(found.verdict, Verdict::Partial, "{detail}");
    assert!(detail.contains("go.mod names no module"), "{detail}");
    std::fs::remove_dir_all(project.path("go.mod")).expect("the folder");
    project.write("go.mod", "  module\texample.com/m\n\ngo 1.21\n");
    let found = runtime.diagnose(vec!["main.go".into()], None, 100).await.expect("an answer");
    assert_eq!(found.verdict, Verdict::Complete, "{:?}", found.server_status);
    runtime.shutdown().await;
}
