//! Java's server on a project in Eclipse's form, which it imports without a network.

use lsp_tools::answer::LocationsOutput;
use lsp_tools::{Answer, Position, Target, Verdict};
use serde_json::json;

use crate::support::{Project, TestWorkspace, real_servers};

const SERVER: &str = "jdtls";

/// The paths and 0-based lines of an answer's places.
fn places(answer: &Answer<LocationsOutput>) -> Vec<(&str, u32)> {
    answer.output.locations.iter().map(|place| (place.path.as_str(), place.range.start.line)).collect()
}

fn named(path: &str, name: &str) -> Target {
    Target::NameInFile { path: path.into(), name: name.to_owned() }
}

/// The uses after jdtls has indexed its JDK: until then, it may omit uses, and the answer says so.
async fn complete_uses(shop: &TestWorkspace, target: &Target) -> Answer<LocationsOutput> {
    for _ in 0..10 {
        let uses = shop.references(target.clone(), 100).await.expect("uses");
        if uses.verdict == Verdict::Complete {
            return uses;
        }
    }
    panic!("the uses of {target:?} are never complete");
}

/// Unless an answer is `complete`, jdtls may still read the project or its JDK, which takes long on a
/// busy machine. A `complete` one is right.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "reads a JDK for minutes: just java"]
async fn java_questions_edits_and_checks_are_right_in_a_trusted_project() {
    let project = Project::of_fixture("java");
    project.trust(Some(&real_servers(&[SERVER])));
    let shop = project.opening().servers(&[SERVER]).open();
    let means = "src/station/Means.java";
    let expected = [("src/report/Report.java", 13), (means, 9)];
    let first = shop.references(named(means, "mean"), 100).await.expect("uses");
    assert!(first.verdict != Verdict::Complete || places(&first) == expected, "{first:?}");
    let uses = complete_uses(&shop, &named(means, "mean")).await;
    assert_eq!(places(&uses), expected, "{uses:?}");
    let sensor = named("src/station/Sensor.java", "Sensor");
    let implementations = shop.implementation(sensor).await.expect("implementations");
    assert_eq!(places(&implementations), [("src/station/Thermometer.java", 3)], "{implementations:?}");

    let list = Target::Position { path: means.into(), position: Position::new(9, 30) };
    let answer = shop.definition(list).await.expect("an answer");
    let document = "jdt://contents/java.base/java.util/List.class";
    assert_eq!(places(&answer).first().map(|place| place.0), Some(document), "{answer:?}");
    let (_, error) = shop.failure("lsp_hover", json!({"path": document, "symbol": "List"})).await;
    assert!(error.contains("is a URI; give a path"), "{error}");

    let check = shop.ok("lsp_diagnostics", json!({"paths": ["."]})).await;
    let findings = check["diagnostics"].as_array().expect("findings");
    let are_right = findings.len() == 2 && findings.iter().all(|one| one["path"] == "src/report/Broken.java");
    assert!(are_right || check["verdict"] != "complete", "{check}");

    let renamed = json!({"path": means, "symbol": "mean", "new_name": "average"});
    shop.ok("lsp_rename", renamed).await;
    let report = std::fs::read_to_string(project.root().join("src/report/Report.java")).unwrap();
    assert!(report.contains("Means.average(sensors)"), "{report}");
    let edit = json!({"path": means, "edits": [{"old": "double average(", "new": "double median("}]});
    let delta = shop.ok("edit", edit).await["diagnostics"].take();
    let is_named = delta["added"].to_string().contains("src/report/Report.java");
    assert!(is_named || delta["verdict"] != "complete", "the file of the use is not named: {delta}");
    shop.shutdown().await;
}

/// Source folders side by side, one below another's module, and a file without a package.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "starts a JDK: just java"]
async fn folders_without_a_build_file_have_packages_that_start_in_several_folders() {
    let project = Project::new([
        ("src/com/acme/Cart.java", "package com.acme;\n\npublic class Cart {\n    public int total;\n}\n"),
        (
            "test/com/acme/CartTest.java",
            "package com.acme;\n\nclass CartTest {\n    int t = new Cart().total;\n}\n",
        ),
        (
            "mod/src/org/x/Use.java",
            "package org.x;\n\nclass Use {\n    int t = new com.acme.Cart().totl;\n}\n",
        ),
        ("Main.java", "class Main {\n    com.acme.Cart cart = new com.acme.Cart();\n}\n"),
    ]);
    let shop = project.opening().servers(&[SERVER]).open();
    let total = named("src/com/acme/Cart.java", "total");
    let expected = [("src/com/acme/Cart.java", 3), ("test/com/acme/CartTest.java", 3)];
    let mut uses = shop.references(total.clone(), 100).await.expect("uses");
    for _ in 0..10 {
        if places(&uses) == expected {
            break;
        }
        uses = shop.references(total.clone(), 100).await.expect("uses");
    }
    assert_eq!((places(&uses).as_slice(), uses.verdict), (expected.as_slice(), Verdict::Partial), "{uses:?}");
    let detail = uses.server_status.detail.unwrap_or_default();
    assert!(detail.contains("package lines"), "a build may use other folders: {detail}");
    let check = shop.ok("lsp_diagnostics", json!({"paths": ["."]})).await;
    let findings = check["diagnostics"].as_array().expect("findings");
    let paths: Vec<&str> = findings.iter().filter_map(|one| one["path"].as_str()).collect();
    assert_eq!(
        (paths.as_slice(), &check["verdict"]),
        (["mod/src/org/x/Use.java"].as_slice(), &json!("partial")),
        "{check}"
    );
    shop.shutdown().await;
}
