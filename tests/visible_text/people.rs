//! The text for people at the shell: stdout, stderr and the exit status of each command.

use super::shop::{package, shop};
use super::{record, say};
use crate::support::Project;

/// Command lines, and the name of their record.
type Said<'a> = (&'a str, &'a [&'a [&'a str]]);

/// Records the output of commands in one project, in order.
fn record_all(project: &Project, table: &[Said<'_>]) {
    for (name, commands) in table {
        let all: Vec<String> = commands.iter().map(|words| say(project, words)).collect();
        record(&format!("people_{name}"), project, &all.join("\n"));
    }
}

#[test]
fn places_that_a_server_tells_read_as_recorded() {
    record_all(
        &shop(),
        &[
            ("hover", &[&["hover", "shop.scr:4:total"]]),
            ("definition", &[&["definition", "till.scr:3:total"], &["definition", "till.scr:3:basket"]]),
            ("references", &[&["references", "total"], &["references", "shop.scr:4:5", "--limit", "2"]]),
            ("declaration", &[&["declaration", "till.scr:3:total"]]),
            ("implementation", &[&["implementation", "shop.scr:total"]]),
            ("type_definition", &[&["type-definition", "till.scr:3:basket"]]),
        ],
    );
}

#[test]
fn symbols_and_trees_that_a_server_tells_read_as_recorded() {
    record_all(
        &shop(),
        &[
            ("symbols", &[&["symbols", "shop.scr"], &["symbols", "pri"], &["symbols", "nowhere"]]),
            ("calls", &[&["calls", "shop.scr:4:total"], &["calls", "shop.scr:4:total", "--outgoing"]]),
            (
                "types",
                &[&["types", "shop.scr:4:total", "--depth", "1"], &["types", "shop.scr:4:total", "--sub"]],
            ),
        ],
    );
}

#[test]
fn help_at_the_cursor_and_overviews_read_as_recorded() {
    record_all(
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
    );
}

#[test]
fn findings_read_as_recorded() {
    record_all(
        &shop(),
        &[
            ("check", &[&["check"], &["check", "till.scr"], &["check", "till.scr", "--severity", "error"]]),
            ("check_clean", &[&["check", "shop.scr"]]),
            ("check_missing", &[&["check", "notes.md"]]),
        ],
    );
}

#[test]
fn edits_of_servers_read_as_recorded() {
    record_all(
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
    );
}

#[test]
fn questions_without_a_server_read_as_recorded() {
    record_all(
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
    );
}

#[test]
fn overviews_without_a_server_read_as_recorded() {
    record_all(
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
    );
}

#[test]
fn files_read_as_recorded() {
    record_all(
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
    );
}

/// A method with another body.
const WELCOMES: &str = "def welcomes(self, guest: Guest) -> bool:\n    return True\n";
/// A change of one line, and of one further below than stated.
const PATCH: &str = "--- a/pyproject.toml\n+++ b/pyproject.toml\n@@ -1,2 +1,2 @@\n [project]\n-name = \"greet\"\n+name = \"hail\"\n\
                     --- a/greet/app.py\n+++ b/greet/app.py\n@@ -10,3 +10,3 @@\n \n def main() -> None:\n-    \"\"\"Greet the usual company.\"\"\"\n\
                     +    \"\"\"Greet those who are there.\"\"\"\n";

#[test]
fn edits_by_symbol_and_of_text_read_as_recorded() {
    let project = package();
    record_all(
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
    );
}

#[test]
fn changes_of_files_read_as_recorded() {
    let project = package();
    project.write("fix.diff", PATCH);
    record_all(
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
    );
}
