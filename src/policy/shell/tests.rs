use super::*;

fn plain(words: &[&str]) -> SimpleCommand {
    SimpleCommand { words: words.iter().map(|word| ShellWord::Plain((*word).to_owned())).collect() }
}

#[test]
fn shell_list_of_simple_commands_is_parsed_completely() {
    let script = Script::read("git commit -m 'a b' && ls \"c \\\"d\\\"\" e'f'g; ls 2>/dev/null");
    assert_eq!(script.unknown, None);
    assert_eq!(
        script.commands,
        [plain(&["git", "commit", "-m", "a b"]), plain(&["ls", "c \"d\"", "efg"]), plain(&["ls"])]
    );
    assert!(script.loose.is_empty());
}

#[test]
fn shell_word_is_classified_as_plain_glob_spelled_or_unknown() {
    let script = Script::read("ls a*.rs *x r\\m $'\\x41b' $HOME \"$x\" {a,b} [x] ~/y 5");
    let glob = |text: &str| ShellWord::Glob(text.to_owned());
    let spelled = |text: &str| ShellWord::Spelled(text.to_owned());
    let plain = |text: &str| ShellWord::Plain(text.to_owned());
    assert_eq!(
        script.commands[0].words,
        [
            plain("ls"),
            glob("a*.rs"),
            ShellWord::Unknown,
            spelled("rm"),
            spelled("Ab"),
            ShellWord::Unknown,
            ShellWord::Unknown,
            ShellWord::Unknown,
            ShellWord::Unknown,
            spelled("~/y"),
            plain("5"),
        ]
    );
    assert!(script.unknown.is_some());
}

#[test]
fn quoted_blanks_stay_in_shell_words() {
    let script = Script::read("echo \"  two  \" '\ta'");
    let texts: Vec<_> = script.commands[0].words.iter().filter_map(ShellWord::text).collect();
    assert_eq!(texts, ["echo", "  two  ", "\ta"]);
}

#[test]
fn unusual_blanks_in_shell_command_do_not_hide_a_word() {
    // A no-break space is a letter to a shell.
    for text in ["ls\u{a0}rm", "ls \u{3000}rm", "ls \\ rm", "ls\\\nrm"] {
        let script = Script::read(text);
        let certain = script.unknown.is_none();
        let split =
            script.commands.iter().any(|command| command.words.iter().any(|word| word.text() == Some("rm")));
        assert!(!(certain && split), "{text:?} {script:?}");
    }
}

#[test]
fn shell_script_over_command_limit_is_unknown() {
    assert_eq!(Script::read(&"ls;".repeat(MAX_SHELL_COMMANDS)).unknown, None);
    assert_eq!(Script::read(&"ls;".repeat(MAX_SHELL_COMMANDS + 1)).unknown, Some("more than 50 commands"));
}
