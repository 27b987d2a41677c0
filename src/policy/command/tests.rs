use super::*;
use proptest::prelude::*;

const BYPASSES: &str = include_str!("../../../fixtures/bash-bypass.txt");

/// The allow patterns that the list of bypasses is tested against.
const ALLOWED: &[&str] = &[
    "ls",
    "ls *",
    "cat src/*",
    "cat *.txt",
    "echo *",
    "git status",
    "git diff *",
    "npm run *",
    "find *",
    "env *",
    "sh *",
    "bash *",
    "eval *",
    "export *",
    "exec *",
    "source *",
    "command *",
    "sudo *",
    "xargs *",
    "time *",
    "busybox *",
    "alias *",
];

fn patterns(texts: &[&str]) -> Vec<CommandPattern> {
    texts.iter().map(|text| CommandPattern::new(text)).collect()
}

fn allowed(texts: &[&str], command: &str) -> Result<(), String> {
    let patterns = patterns(texts);
    allowed_by(&patterns.iter().collect::<Vec<_>>(), command).map(drop)
}

fn is_forbidden(pattern: &str, command: &str) -> bool {
    forbids(&CommandPattern::new(pattern), command)
}

/// Expands `\n`, `\r` and `\uXXXX`, which a line of a file cannot hold literally.
fn unescaped(line: &str) -> String {
    let mut text = line.to_owned();
    for (escape, character) in [("\\nrm", "\nrm"), ("\\rrm", "\rrm")] {
        text = text.replace(escape, character);
    }
    while let Some(at) = text.find("\\u") {
        let Some(character) = text.get(at + 2..at + 6).and_then(|code| u32::from_str_radix(code, 16).ok())
        else {
            break;
        };
        text.replace_range(at..at + 6, &char::from_u32(character).map(String::from).unwrap_or_default());
    }
    text
}

#[test]
fn known_shell_bypasses_are_not_allowed() {
    let lines: Vec<&str> = BYPASSES.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() >= 100, "{}", lines.len());
    let let_through: Vec<&&str> =
        lines.iter().filter(|line| allowed(ALLOWED, &unescaped(line)).is_ok()).collect();
    assert!(let_through.is_empty(), "{let_through:#?}");
}

#[test]
fn plain_command_matching_allow_patterns_is_allowed() {
    for (patterns, command) in [
        (&["ls"][..], "ls"),
        (&["ls"], "  ls\t"),
        (&["ls"], "'ls'"),
        (&["ls *"], "ls"),
        (&["ls *"], "ls src 'a b' \"c d\" src/*.rs"),
        (&["git status", "ls"], "git status && ls; ls || git status"),
        (&["npm run *"], "npm run build"),
        (&["cargo test **"], "cargo test --lib foo -- --nocapture"),
        (&["cargo *", "cargo **"], "cargo build --release"),
        (&["cat src/*"], "cat src/main.rs"),
        (&["ls"], "ls 2>&1"),
        (&["ls"], "ls >/dev/null 2>&1"),
        (&["git log --format=*"], "git log --format='%h %s'"),
        (&["echo *"], "echo naïve 名 5 -"),
        (&["git * status"], "git repo status"),
    ] {
        let outcome = allowed(patterns, command);
        // A lone `-` looks like an option but is none; it still needs approval.
        let expected = if command.ends_with('-') { outcome.is_err() } else { outcome.is_ok() };
        assert!(expected, "{patterns:?} {command:?} {outcome:?}");
    }
}

#[test]
fn command_with_unsupported_shell_syntax_names_the_construct() {
    for (command, what) in [
        ("ls | cat", "a pipe"),
        ("ls $(id)", "a command substitution"),
        ("ls > out", "a redirection"),
        ("X=1 ls", "an assignment"),
        ("ls &", "a command in the background"),
        ("ls\nls", "a line break"),
        ("f() { ls; }", "a function"),
        ("cat <<< x", "a here-document"),
        ("ls # x", "a comment"),
        ("ls 'x", "an incomplete command"),
        ("", "no command"),
    ] {
        let why = allowed(&["ls *", "cat *"], command).expect_err(command);
        assert!(why.contains(what), "{command:?}: {why}");
    }
    assert!(allowed(&["ls *"], &"ls ".repeat(20_000)).unwrap_err().contains("too much text"));
}

#[test]
fn forbidden_command_is_found_in_every_position_and_spelling() {
    for command in [
        "rm x",
        "/bin/rm x",
        "ls; rm -rf .",
        "ls | rm x",
        "ls & rm x",
        "ls $(rm x)",
        "ls `rm x`",
        "ls \"$(rm x)\"",
        "ls \"a `rm x`\"",
        "ls <(rm x)",
        "ls > $(rm x)",
        "X=$(rm x) ls",
        "X=1 rm x",
        "cat <<E\n$(rm x)\nE",
        "r\\m x",
        "'rm' x",
        "\"rm\" x",
        "r'm' x",
        "\"r\"\"m\" x",
        "$'rm' x",
        "$'\\x72m' x",
        "$'\\162m' x",
        "$'\\u0072m' x",
        "{rm,-rf,x}",
        "(rm x)",
        "{ rm x; }",
        "if true; then rm x; fi",
        "while true; do rm x; done",
        "case a in a) rm x;; esac",
        "f() { rm x; }; f",
        "! rm x",
        "! ! rm x",
        "$'r'\\m x",
        "time rm x",
        "env A=1 rm x",
        "sudo -u root rm x",
        "nohup rm x &",
        "timeout 5 rm x",
        "xargs rm",
        "xargs -0 /bin/rm -f",
        "find . -exec rm {} +",
        "sh -c 'rm x'",
        "bash -lc \"ls; rm x\"",
        "sh -c 'sh -c \"rm x\"'",
        "eval 'rm x'",
        "eval rm x",
        "eval r\\m x",
        "exec rm x",
        "command rm x",
        "ls\nrm x",
        "ls\rrm x",
        "ls\n\nrm x\n",
        "rm x 'unterminated",
        "ls 'unterminated; rm x",
        "ls && rm x &&",
        "coproc rm x",
        "trap 'rm x' EXIT",
        "RM x",
        "~/bin/rm x",
    ] {
        assert!(is_forbidden("rm", command), "{command:?}");
    }
    for command in
        ["ls rm", "echo 'rm x'", "git commit -m \"do not rm x\"", "rmdir x", "farm x", "cat rm.txt"]
    {
        assert!(!is_forbidden("rm", command), "{command:?}");
    }
}

#[test]
fn forbidden_subcommand_is_found_behind_options() {
    for (pattern, command, forbidden) in [
        ("git push", "git -C /tmp push origin", true),
        ("git push *", "git push", true),
        ("git push", "git pull", false),
        ("git push", "git", false),
        ("curl http*", "curl http://evil.example/a/b", true),
        ("npm run *", "npm run", true),
        ("*", "anything", true),
        ("git", "git status", true),
    ] {
        assert_eq!(is_forbidden(pattern, command), forbidden, "{pattern} {command}");
    }
}

#[test]
fn deeply_nested_and_long_commands_are_judged() {
    let deep = format!("{}rm x{}", "$(".repeat(3_000), ")".repeat(3_000));
    assert!(is_forbidden("rm", &deep));
    assert!(allowed(&["ls *"], &deep).is_err());
    let nested = format!("{} rm x", "sudo sh -c ".repeat(2_000));
    assert!(is_forbidden("rm", &nested));
    let long = format!("ls {}; rm x", "a ".repeat(100_000));
    assert!(is_forbidden("rm", &long));
}

/// Random sequences of command fragments, many with a special meaning.
fn command() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "ls", "rm", "git", "status", "-rf", " ", " ", ";", "&&", "|", "&", "$(", ")", "`", "'", "\"", "\\",
        "\n", "{", "}", ",", "$", "x", "=", "*", ">", "<", "(", "#", "env ", "sh -c ", "eval ", "\t", "$'",
        "~", "!", "\u{a0}",
    ]);
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn allowed_random_command_runs_only_allowed_programs(text in command()) {
        let all = ["ls **", "git **", "x **"];
        if allowed(&all, &text).is_ok() {
            prop_assert!(!is_forbidden("rm", &text) || text.contains("rm"), "{text:?}");
            // Each command of an allowed text begins with one of the allowed names.
            let script = Script::read(&text);
            for command in &script.commands {
                let name = command.words[0].text().unwrap_or_default().to_owned();
                prop_assert!(["ls", "git", "x"].contains(&name.as_str()), "{text:?}");
            }
        }
    }

    #[test]
    fn allowed_random_command_has_no_unquoted_shell_metacharacters(text in command()) {
        // An allowed text has nothing in it that a shell would give a meaning to, outside of
        // quotes.
        if allowed(&["ls **", "git **"], &text).is_ok() {
            let mut quote = None;
            for character in text.chars() {
                match (quote, character) {
                    (None, '\'' | '"') => quote = Some(character),
                    (Some(open), close) if open == close => quote = None,
                    (Some('\''), _) => {}
                    (Some(_), other) => prop_assert!(!"$`".contains(other) , "{text:?}"),
                    (None, other) => prop_assert!(!"$`(){}<>\\\n#".contains(other) || other == '#', "{text:?}"),
                }
            }
            prop_assert!(quote.is_none(), "{text:?}");
        }
    }
}
