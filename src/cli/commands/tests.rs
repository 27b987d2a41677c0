use super::*;
use crate::cli::args::{ManPageArgs, ShellCompletionsArgs};
use crate::cli::render::DisplayCapabilities;

const CONSOLE: Console = Console { out: DisplayCapabilities::PLAIN, err: DisplayCapabilities::PLAIN };

fn refusal(result: Result<Target, ToolError>) -> (ErrorCode, String) {
    let error = result.unwrap_err();
    (error.code, format!("{} / {}", error.error, error.hint.unwrap_or_default()))
}

#[test]
fn place_argument_is_parsed_as_name_or_refused_as_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.py"), "x = 1\n").unwrap();
    std::fs::create_dir(folder.path().join("greet")).unwrap();
    let given = |text: &'static str| parse_place(OsStr::new(text), folder.path());

    assert_eq!(given("a.py:x"), Ok(Target::NameInFile { path: "a.py".into(), name: "x".into() }));
    assert_eq!(given("greet"), Ok(Target::Name("greet".into())), "a folder's name can be a symbol's");
    let whole = "a.py is a whole file; give a position or name in it / a.py:LINE:COL, a.py:LINE:NAME or a.py:NAME, counted from 1";
    assert_eq!(refusal(given("a.py")), (ErrorCode::InvalidArgs, whole.to_owned()));
    let zero = "a.py:0:1: lines and columns start at 1 / ";
    assert_eq!(refusal(given("a.py:0:1")), (ErrorCode::InvalidArgs, zero.to_owned()));
    let name = "greet is not a position in a file (nor an existing file) / give FILE:LINE:COL or FILE:LINE:NAME, counted from 1";
    let refused = refusal(place_in_file(OsStr::new("greet"), folder.path()));
    assert_eq!(refused, (ErrorCode::InvalidArgs, name.to_owned()));
}

#[test]
fn failed_command_is_rendered_as_text_and_json() {
    let error = ToolError::new(ErrorCode::Denied, "not trusted").with_hint("lsp-tools trust");
    let text = failure_reply(&error, CliOutputFormat::Text, &CONSOLE);
    assert_eq!((text.out.as_str(), text.status.code()), ("", 5));
    assert_eq!(text.lines, ["error: not trusted", " hint: lsp-tools trust"]);
    let json = failure_reply(&error, CliOutputFormat::Json, &CONSOLE);
    let expected =
        "{\"ok\":false,\"code\":\"denied\",\"error\":\"not trusted\",\"hint\":\"lsp-tools trust\"}\n";
    assert_eq!((json.out.as_str(), json.lines.len()), (expected, 0));
}

#[test]
fn shell_completions_and_manual_pages_name_every_subcommand() {
    let commands: Vec<String> = <crate::cli::args::Cli as clap::CommandFactory>::command()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    assert!(commands.len() >= 18, "{commands:?}");
    let script = completions::run(&ShellCompletionsArgs { shell: clap_complete::Shell::Bash }).unwrap().out;
    let page = man::run(&ManPageArgs { folder: None }).unwrap().out;
    let folder = tempfile::tempdir().unwrap();
    man::run(&ManPageArgs { folder: Some(folder.path().join("man1")) }).unwrap();
    for command in commands {
        assert!(script.contains(&command), "{command}");
        assert!(
            page.contains(&format!("lsp\\-tools\\-{}(1)", command.replace('-', "\\-"))),
            "{command}: {page}"
        );
        assert!(folder.path().join(format!("man1/lsp-tools-{command}.1")).is_file(), "{command}");
    }
}
