//! Tables on a real terminal of 80 and of 50 columns.

use std::process::Stdio;

use unicode_width::UnicodeWidthStr;

use crate::daemon::house::{House, said};
use crate::support::Project;

/// Runs a command on a terminal of this width, and returns its output without colours and links.
const ON_A_TERMINAL: &str = r#"
import fcntl, os, pty, re, struct, sys, termios
size = struct.pack('HHHH', 40, int(sys.argv[1]), 0, 0)
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, size)
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
text = b''
while True:
    try: part = os.read(terminal, 65536)
    except OSError: break
    if not part: break
    text += part
os.waitpid(pid, 0)
text = re.sub(r'\x1b\]8;;.*?\x1b\\', '', text.decode())
print(re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', text).replace('\r\n', '\n'), end='')
"#;

#[test]
#[ignore = "slow: just slow"]
fn tables_fit_terminals_of_80_and_50_columns() {
    let files =
        [("a.py", "x = 1\n"), ("b.sh", "true\n"), ("c.rs", "fn main() {}\n"), ("d.ts", "let x = 1\n")];
    let house = House::of(Project::new(files));
    house.run(&["edit", "a.py", "--old", "1", "--new", "2"]);
    house.run(&["daemon", "status"]);
    let mut seen = 0;
    for columns in [80, 50] {
        for words in
            [&["servers"][..], &["daemon", "status"], &["tools", "list"], &["undo", "--list"], &["init"]]
        {
            let mut command = house.command(words);
            let mut python = std::process::Command::new("python3");
            python
                .args(["-c", ON_A_TERMINAL, &columns.to_string()])
                .arg(command.get_program())
                .args(command.get_args());
            python.current_dir(house.project.root()).stdin(Stdio::null());
            for (name, value) in command.get_envs() {
                match value {
                    Some(value) => python.env(name, value),
                    None => python.env_remove(name),
                };
            }
            command.stdin(Stdio::null());
            let shown = said(python, "", &format!("{words:?} on {columns} columns")).out;
            // Besides tables, the output has sentences, commands and paths to copy, which the
            // terminal wraps.
            let prose = ["note:", "daemon ", "workspace ", "socket ", "hint:", "npm ", "pip ", "rustup "];
            for line in
                shown.lines().filter(|line| !prose.iter().any(|begin| line.trim_start().starts_with(begin)))
            {
                assert!(line.width() <= columns, "{words:?}, {columns}: {line:?}\n{shown}");
                seen += 1;
            }
        }
    }
    assert!(seen > 60, "{seen} lines");
}
