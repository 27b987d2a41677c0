//! The text for people at the shell: stdout, stderr and the exit status of each command.

use super::shop::{package, shop};
use super::{compare, say, steady_section};
use crate::support::Project;

/// Command lines, and the heading of their output.
type Said<'a> = (&'a str, &'a [&'a [&'a str]]);

#[test]
fn questions_to_a_server_read_as_recorded() {
    let all = [server_places(), server_symbols_and_trees(), server_help_and_overviews()];
    compare("people_server_questions", &all.concat());
}

#[test]
fn findings_and_edits_of_a_server_read_as_recorded() {
    compare("people_server_edits", &[server_findings(), server_edits()].concat());
}

#[test]
fn questions_without_a_server_read_as_recorded() {
    compare("people_no_server", &[text_answers(), text_overviews()].concat());
}

#[test]
fn files_and_their_edits_read_as_recorded() {
    compare("people_files", &[files(), edits(), file_changes()].concat());
}

/// The output of commands in one project, in order.
fn sections(project: &Project, table: &[Said<'_>]) -> Vec<String> {
    let print = |commands: &[&[&str]]| {
        commands.iter().map(|words| say(project, words)).collect::<Vec<_>>().join("\n")
    };
    table.iter().map(|(heading, commands)| steady_section(heading, project, &print(commands))).collect()
}

fn server_places() -> Vec<String> {
    sections(
        &shop(),
        &[
            ("hover", &[&["hover", "shop.scr:4:total"]]),
            ("definition", &[&["definition", "till.scr:3:total"], &["definition", "till.scr:3:basket"]]),
            ("references", &[&["references", "total"], &["references", "shop.scr:4:5", "--limit", "2"]]),
            ("declaration", &[&["declaration", "till.scr:3:total"]]),
            ("implementation", &[&["implementation", "shop.scr:total"]]),
            ("type_definition", &[&["type-definition", "till.scr:3:basket"]]),
        ],
    )
}

fn server_symbols_and_trees() -> Vec<String> {
    sections(
        &shop(),
        &[
            ("symbols", &[&["symbols", "shop.scr"], &["symbols", "pri"], &["symbols", "nowhere"]]),
            ("calls", &[&["calls", "shop.scr:4:total"], &["calls", "shop.scr:4:total", "--outgoing"]]),
            (
                "types",
                &[&["types", "shop.scr:4:total", "--depth", "1"], &["types", "shop.scr:4:total", "--sub"]],
            ),
        ],
    )
}

fn server_help_and_overviews() -> Vec<String> {
    sections(
        &shop(),
        &[
            ("signature", &[&["signature", "till.scr:3:6"]]),
            (
                "completion",
                &[&["completion", "till.scr:3:2"], &["completion", "till.scr:3:2", "--limit", "1"]],
            ),
            ("explore", &[&["explore", "total"]]),
            ("servers", &[&["servers"]]),
        ],
    )
}

fn server_findings() -> Vec<String> {
    sections(
        &shop(),
        &[
            ("check", &[&["check"], &["check", "till.scr"], &["check", "till.scr", "--severity", "error"]]),
            ("check_clean", &[&["check", "shop.scr"]]),
            ("check_missing", &[&["check", "notes.md"]]),
        ],
    )
}

fn server_edits() -> Vec<String> {
    sections(
        &shop(),
        &[
            (
                "actions",
                &[
                    &["actions", "till.scr:4"],
                    &["actions", "till.scr:4", "--apply", "Extract a variable", "--dry-run"],
                ],
            ),
            ("format", &[&["format", "shop.scr", "--check"], &["format", "shop.scr", "--dry-run"]]),
            (
                "rename",
                &[
                    &["rename", "shop.scr:4:total", "sum", "--dry-run"],
                    &["rename", "shop.scr:4:total", "sum", "--diagnostics"],
                ],
            ),
        ],
    )
}

fn text_answers() -> Vec<String> {
    sections(
        &package(),
        &[
            (
                "text_places",
                &[
                    &["hover", "greet/app.py:9:13"],
                    &["definition", "greet/app.py:9:compose"],
                    &["references", "greet/messages.py:compose"],
                    &["implementation", "greet/people.py:Person"],
                    &["type-definition", "greet/app.py:16:line"],
                ],
            ),
            (
                "text_symbols",
                &[
                    &["symbols", "greet/messages.py"],
                    &["symbols", "compose"],
                    &["calls", "greet/messages.py:compose"],
                    &["types", "greet/people.py:Guest"],
                ],
            ),
        ],
    )
}

fn text_overviews() -> Vec<String> {
    sections(
        &package(),
        &[
            ("text_explore", &[&["explore", "compose"], &["explore", "Host.welcomes", "--budget", "400"]]),
            ("text_check", &[&["check", "greet/broken.py"], &["check"]]),
            ("text_servers", &[&["servers"]]),
            ("text_tests", &[&["tests", "greet/messages.py:compose"]]),
            (
                "text_edit",
                &[
                    &["signature", "greet/app.py:9:20"],
                    &["completion", "greet/app.py:9:20"],
                    &["rename", "greet/messages.py:compose", "say", "--dry-run"],
                    &["format", "greet/app.py"],
                    &["actions", "greet/app.py:9"],
                ],
            ),
        ],
    )
}

fn files() -> Vec<String> {
    sections(
        &package(),
        &[
            (
                "read",
                &[
                    &["read", "pyproject.toml"],
                    &["read", "-n", "greet/app.py:7-9"],
                    &["read", "greet/people.py", "--outline"],
                ],
            ),
            ("list", &[&["list"], &["list", "greet", "--limit", "2"], &["list", "-r"]]),
            ("glob", &[&["glob", "**/*.py"], &["glob", "**/*.py", "--limit", "1"], &["glob", "*.rs"]]),
            (
                "grep",
                &[
                    &["grep", "Guest\\("],
                    &["grep", "-C", "1", "def welcomes"],
                    &["grep", "-c", "def"],
                    &["grep", "def", "--max-count", "2"],
                    &["grep", "unheard of"],
                ],
            ),
        ],
    )
}

/// A method with another body.
const WELCOMES: &str = "def welcomes(self, guest: Guest) -> bool:\n    return True\n";
/// A change of one line, and of one further below than stated.
const PATCH: &str = "--- a/pyproject.toml\n+++ b/pyproject.toml\n@@ -1,2 +1,2 @@\n [project]\n-name = \"greet\"\n+name = \"hail\"\n\
                     --- a/greet/app.py\n+++ b/greet/app.py\n@@ -10,3 +10,3 @@\n \n def main() -> None:\n-    \"\"\"Greet the usual company.\"\"\"\n\
                     +    \"\"\"Greet those who are there.\"\"\"\n";

fn edits() -> Vec<String> {
    let project = package();
    sections(
        &project,
        &[
            (
                "edit_symbol",
                &[
                    &["edit", "Host.welcomes", "--body", WELCOMES, "--dry-run"],
                    &["edit", "greet/app.py:main", "--before", "ANSWER = 42\n", "--dry-run"],
                    &["edit", "compose", "--delete"],
                    &["edit", "undefined", "--delete", "--dry-run"],
                ],
            ),
            (
                "edit",
                &[
                    &["edit", "pyproject.toml", "--old", "1.0.0", "--new", "1.1.0", "--dry-run"],
                    &["edit", "greet/app.py", "--old", "main():", "--new", "main(", "--diagnostics"],
                ],
            ),
        ],
    )
}

fn file_changes() -> Vec<String> {
    let project = package();
    project.write("fix.diff", PATCH);
    sections(
        &project,
        &[
            ("patch", &[&["patch", "fix.diff", "--dry-run"], &["patch", "fix.diff"]]),
            (
                "write",
                &[
                    &["write", "notes/new.md", "--content", "# Notes\n"],
                    &["write", "notes/new.md", "--content", "# Notes\n"],
                ],
            ),
            (
                "move_and_delete",
                &[
                    &["move", "notes/new.md", "notes/old.md"],
                    &["delete", "notes/old.md"],
                    &["delete", "-r", "notes"],
                ],
            ),
            ("undo", &[&["undo"], &["undo", "e1"], &["undo", "--list"]]),
        ],
    )
}
