//! Scripts of npm: a program of a package is a batch file that runs Node.js.

use std::path::Path;
use std::process::Command;

/// Returns the command that the batch file of npm at `program` runs, without the system's command
/// interpreter, which would read the arguments as words of its own. `None` for other programs.
pub(crate) fn command(program: &Path) -> Option<Command> {
    program.extension().filter(|ending| ending.eq_ignore_ascii_case("cmd"))?;
    let text = std::fs::read_to_string(program).ok()?;
    text.contains("SET \"_prog=node\"").then_some(())?;
    let (_, call) = text.trim_end().rsplit_once("\"%_prog%\"")?;
    let (script, arguments) = call.trim_start().strip_prefix("\"%dp0%\\")?.split_once('"')?;
    (arguments.trim() == "%*").then_some(())?;
    let folder = program.parent()?;
    let beside = folder.join("node.exe");
    let mut node = if beside.is_file() { Command::new(beside) } else { Command::new("node") };
    node.arg(folder.join(script));
    Some(node)
}
