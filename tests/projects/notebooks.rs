//! Notebooks in a check: the findings in their cells, and notebooks that cannot be checked.

use serde_json::{Value, json};

use super::json;
use crate::support::Project;

const MODULE: &str = "def half(x: int) -> float:\n    return x / 2\n";

/// Four cells, two of them with code for the kernel; the strings have escapes before the wrong
/// names.
const NOTEBOOK: &str = r##"{
 "cells": [
  {"cell_type": "markdown", "source": ["# Title\n", "undefined_in_prose"]},
  {"cell_type": "code", "source": [
    "%matplotlib inline\n",
    "from m import half\n",
    "\n",
    "\n",
    "def twice(x: int) -> int:\n",
    "    return x * 2"
  ]},
  {"cell_type": "code", "source": "%%bash\nls | undefined_in_shell"},
  {"cell_type": "code", "source": [
    "print(\"\u00e9\ud83e\udd80é\", twice(half(4)), undefined_name)\n"
  ], "outputs": [{"output_type": "stream", "text": ["undefined_in_output"]}]}
 ],
 "metadata": {"kernelspec": {"language": "python", "name": "python3"}},
 "nbformat": 4, "nbformat_minor": 5
}
"##;

/// The verdict on each file that was not checked completely, with the reason.
fn incomplete(answer: &Value) -> Vec<[&str; 3]> {
    let files = answer["incomplete"].as_array().into_iter().flatten();
    files
        .map(|file| ["path", "verdict", "detail"].map(|key| file[key].as_str().unwrap_or_default()))
        .collect()
}

/// The path, place, code and cell of each finding of a server.
fn found_by(answer: &Value, server: &str) -> Vec<Value> {
    let items = answer["diagnostics"].as_array().into_iter().flatten();
    let own = items.filter(|item| item["server"] == server);
    own.map(|item| json!([item["path"], item["at"], item["code"], item["in"]])).collect()
}

#[test]
fn findings_in_cells_are_at_their_places_in_the_file() {
    let project = Project::new([("m.py", MODULE), ("n.ipynb", NOTEBOOK)]);
    for paths in [&["n.ipynb"][..], &[]] {
        let answer = json(&project, &["ruff", "ty"], &[&["check"], paths].concat());
        let name = json!(["n.ipynb", "14:53-67", "F821", "cell 4"]);
        assert_eq!(found_by(&answer, "ruff"), [name], "{answer}");
        let argument = json!(["n.ipynb", "14:43-50", "invalid-argument-type", "cell 4"]);
        let name = json!(["n.ipynb", "14:53-67", "unresolved-reference", "cell 4"]);
        assert_eq!(
            found_by(&answer, "ty"),
            [argument, name],
            "twice and half are defined in others: {answer}"
        );
        assert_eq!(
            (&answer["verdict"], &answer["files"]),
            (&json!("complete"), &json!(2 - paths.len())),
            "{answer}"
        );
    }
}

#[test]
#[ignore = "slow: just slow"]
fn every_server_that_takes_notebooks_knows_names_of_other_cells() {
    let project = Project::new([("m.py", MODULE), ("n.ipynb", NOTEBOOK)]);
    for server in ["basedpyright", "pylsp", "ty"] {
        let answer = json(&project, &[server], &["check", "n.ipynb", "--severity", "error"]);
        let items = answer["diagnostics"].as_array().into_iter().flatten();
        let unknown = items.filter(|item| item["message"].to_string().contains("undefined"));
        let places: Vec<_> = unknown.map(|item| &item["at"]).collect();
        assert_eq!(places, ["14:53-67"], "{server}: {answer}");
        let verdict = (&answer["verdict"], &answer["server_status"]["server"]);
        assert_eq!(verdict, (&json!("complete"), &json!(server)), "{answer}");
    }
}

#[test]
#[ignore = "slow: just slow"]
fn notebook_that_cannot_be_checked_is_named_and_lowers_the_verdict() {
    let project = Project::new([
        ("m.py", MODULE),
        ("n.ipynb", NOTEBOOK),
        ("broken.ipynb", "{\"cells\": ["),
        ("other.ipynb", "{\"cells\": [], \"metadata\": {\"kernelspec\": {\"language\": \"APL\"}}}"),
    ]);
    let answer = json(&project, &["pyright", "ruff"], &["check"]);
    assert_eq!((&answer["verdict"], &answer["files"]), (&json!("partial"), &json!(4)), "{answer}");
    assert_eq!(answer["unchecked"], json!(2), "{answer}");
    let expected = [
        [
            "broken.ipynb",
            "partial",
            "broken.ipynb was not checked: its text is not valid notebook JSON: EOF while parsing a list at line 1 column 11",
        ],
        ["n.ipynb", "partial", "pyright does not check notebooks"],
        [
            "other.ipynb",
            "partial",
            "other.ipynb was not checked: the language of its kernel, `apl`, is unknown",
        ],
    ];
    assert_eq!(incomplete(&answer), expected, "{answer}");
    assert_eq!(found_by(&answer, "ruff"), [json!(["n.ipynb", "14:53-67", "F821", "cell 4"])], "{answer}");
    let alone = json(&project, &["pyright"], &["check", "n.ipynb"]);
    assert_eq!((&alone["verdict"], &alone["unchecked"]), (&json!("partial"), &json!(1)), "{alone}");
    let hover = json(&project, &["ruff", "ty"], &["hover", "n.ipynb:14:53"]);
    assert_eq!(hover["server_status"]["state"], "unsupported", "{hover}");
    assert_eq!(hover["verdict"], "hints", "{hover}");
}

/// This version answers a pull for one cell with the findings of all cells.
#[test]
#[ignore = "slow: just slow"]
fn findings_of_an_older_ruff_are_in_their_own_cells() {
    let cells = ["import os", "import json", "x = 1"];
    let cells =
        cells.map(|source| json!({"cell_type": "code", "metadata": {}, "outputs": [], "source": source}));
    let notebook = json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).to_string();
    let project = Project::new([("n.ipynb", notebook.as_str()), ("requirements.txt", "ruff==0.12.0\n")]);
    let answer = json(&project, &["ruff@0.12.0", "ty"], &["check"]);
    let found: Vec<_> = answer["diagnostics"].as_array().into_iter().flatten().collect();
    let of = |cell: &str| found.iter().filter(|item| item["server"] == "ruff" && item["in"] == cell).count();
    assert_eq!([of("cell 1"), of("cell 2"), of("cell 3")], [1, 1, 0], "{answer}");
}
