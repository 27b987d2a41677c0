//! Reports as their readers parse them: XML by a parser, GitLab's list by its schema.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::Project;

/// The result of Python's parser for a JUnit report: for each case its name, and the names and
/// messages of its children.
const READ_JUNIT: &str = "
import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.stdin.buffer).getroot()
assert root.tag == 'testsuites', root.tag
(suite,) = root
cases = suite.findall('testcase')
order = ['skipped', 'error', 'failure', 'system-out']
for element, counted in [(suite, ['tests', 'failures', 'errors', 'skipped']), (root, ['tests', 'failures', 'errors'])]:
    assert set(element.attrib) == set(counted) | {'name'}, element.attrib
    for attribute in counted:
        tag = {'failures': 'failure', 'errors': 'error'}.get(attribute, attribute)
        found = len(cases) if tag == 'tests' else sum(case.find(tag) is not None for case in cases)
        assert int(element.get(attribute)) == found, (attribute, found)
for case in cases:
    assert {'name', 'classname'} <= set(case.attrib), case.attrib
    inside = [order.index(part.tag) for part in case]
    assert inside == sorted(set(inside)), 'the order of the schema, each once'
print(json.dumps([[case.get('name'), [[part.tag, part.get('message'), part.text] for part in case]] for case in cases]))
";

fn project() -> Project {
    let files = [
        ("clean.scr", "def one\n"),
        ("src/a&b<c>\"d\u{1b}.scr", "def two\nWRONG\nWRONG\n"),
        ("src/three.scr", "WRONG\n"),
    ];
    Project::scripted(&json!({}), "", files)
}

fn run(project: &Project, arguments: &[&str]) -> Output {
    project.command(None).args(arguments).stdin(Stdio::null()).output().expect("the program runs")
}

fn junit_cases(report: &[u8]) -> Value {
    let mut python = Command::new("python3")
        .args(["-c", READ_JUNIT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3");
    python.stdin.take().expect("its input").write_all(report).expect("the report is accepted");
    let read = python.wait_with_output().expect("python3");
    let (errors, text) = (String::from_utf8_lossy(&read.stderr), String::from_utf8_lossy(report));
    assert!(read.status.success(), "{errors}\n{text}");
    serde_json::from_slice(&read.stdout).expect("JSON")
}

#[test]
fn junit_report_is_well_formed_and_has_a_case_for_every_file() {
    let project = project();
    let said = run(&project, &["check", "--format", "junit"]);
    assert_eq!(said.status.code(), Some(1), "{said:?}");
    let hostile = "src/a&b<c>\"d\\u{1b}.scr";
    let line = |line: u32| format!("{hostile}:{line}:1: error: WRONG [W1] (scripted)");
    let expected = json!([
        ["clean.scr", []],
        [hostile, [["failure", "2 errors", format!("{}\n{}", line(2), line(3))]]],
        ["src/three.scr", [["failure", "1 error", "src/three.scr:1:1: error: WRONG [W1] (scripted)"]]],
    ]);
    assert_eq!(junit_cases(&said.stdout), expected);
}

#[test]
#[ignore = "slow: just slow"]
fn junit_report_calls_no_file_clean_that_nobody_judged() {
    let scenario = json!({"diagnostics": {"mode": "none"}});
    let project = Project::scripted(&scenario, "", [("a.scr", "def one\n")]);
    let said = run(&project, &["check", "--format", "junit", "--timeout", "2"]);
    let cases = junit_cases(&said.stdout);
    let inside = cases[0][1][0][0].as_str().unwrap_or_default();
    assert!(cases[0][0] == "a.scr" && ["error", "skipped"].contains(&inside), "{cases}");
    assert_ne!(said.status.code(), Some(0), "{said:?}");
}

#[test]
fn gitlab_report_has_what_gitlab_asks_for_and_stable_fingerprints() {
    let project = project();
    let report = |expected: i32| -> Vec<Value> {
        let said = run(&project, &["check", "--format", "gitlab"]);
        assert_eq!(said.status.code(), Some(expected), "{said:?}");
        serde_json::from_slice(&said.stdout).expect("a list")
    };
    let prints = |report: &[Value]| -> BTreeSet<String> {
        report.iter().map(|entry| entry["fingerprint"].as_str().expect("a fingerprint").to_owned()).collect()
    };
    let before = report(1);
    assert_eq!((before.len(), prints(&before).len()), (3, 3), "{before:?}");
    let severities = ["info", "minor", "major", "critical", "blocker"];
    for entry in &before {
        assert_eq!((&entry["description"], &entry["check_name"]), (&json!("WRONG"), &json!("W1")));
        assert!(severities.contains(&entry["severity"].as_str().unwrap_or_default()), "{entry}");
        assert!(entry["location"]["lines"]["begin"].as_u64().is_some_and(|line| line > 0), "{entry}");
    }
    assert_eq!(before[2]["location"]["path"], "src/three.scr");
    project.write("src/three.scr", "def moved\n\nWRONG\n");
    let after = report(1);
    assert_eq!(prints(&after), prints(&before));
    assert_eq!(after[2]["location"]["lines"]["begin"], 3);
}

#[test]
fn report_files_equal_the_output_of_their_formats() {
    let project = project();
    let formats = ["sarif", "gitlab", "junit", "github"];
    let files = formats.map(|format| format!("{format}=report.{format}"));
    let reports = files.iter().flat_map(|file| ["--report", file]);
    let words: Vec<&str> = ["check"].into_iter().chain(reports).collect();
    assert_eq!(run(&project, &words).status.code(), Some(1));
    for format in formats {
        let printed = run(&project, &["check", "--format", format]).stdout;
        assert_eq!(project.read(&format!("report.{format}")), String::from_utf8_lossy(&printed), "{format}");
    }
    for bad in ["text=a", "junit", "junit=", "=a"] {
        assert_eq!(run(&project, &["check", "--report", bad]).status.code(), Some(2), "{bad}");
    }
    let lost = run(&project, &["check", "--report", "junit=no/such/folder.xml"]);
    assert_eq!(lost.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&lost.stderr).contains("`no/such/folder.xml` cannot be written"));
}
