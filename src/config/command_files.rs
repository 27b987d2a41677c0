//! The paths that the words of a command may mean.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most folders that a command is taken to go to (`cd`).
const MOST_FOLDERS: usize = 8;

/// Every path that the words which `program` is given may mean to what runs in the folder `base`: of each word and of what stands in it, the path; after
/// `cd` also from there; after `-m` the files of the Python module; for interpreters of Python and JavaScript the first files of a folder.
/// Whether something is there is not asked.
pub fn files_named<'a>(
    program: &str,
    words: impl IntoIterator<Item = &'a str>,
    base: &Path,
) -> BTreeSet<PathBuf> {
    let mut command = Command {
        folders: vec![base.to_owned()],
        paths: BTreeSet::new(),
        runs: Interpreter::called(program),
        next: Next::Path,
    };
    for word in words {
        for piece in paths_in(word) {
            command.take(piece);
        }
    }
    command.paths
}

/// A command as far as it was read.
struct Command {
    folders: Vec<PathBuf>,
    paths: BTreeSet<PathBuf>,
    runs: Option<Interpreter>,
    next: Next,
}

#[derive(Clone, Copy)]
enum Interpreter {
    Python,
    JavaScript,
}

/// What the next word is, beside a path.
enum Next {
    Path,
    Folder,
    Module,
}

impl Command {
    fn take(&mut self, piece: &str) {
        for folder in &self.folders {
            let path = folder.join(piece);
            let entries: &[&str] = match self.runs {
                Some(Interpreter::Python) => &["__main__.py"],
                Some(Interpreter::JavaScript) => &["package.json", "index.js"],
                None => &[],
            };
            self.paths.extend(entries.iter().map(|entry| path.join(entry)));
            if matches!(self.runs, Some(Interpreter::JavaScript)) {
                self.paths.insert(folder.join(format!("{piece}.js")));
            }
            self.paths.insert(path);
        }
        match std::mem::replace(&mut self.next, Next::Path) {
            Next::Module => self.module(piece),
            Next::Folder if self.folders.len() < MOST_FOLDERS => {
                self.folders.push(self.folders[0].join(piece))
            }
            Next::Folder | Next::Path => {}
        }
        match piece {
            "cd" => self.next = Next::Folder,
            "-m" => self.next = Next::Module,
            _ => {}
        }
        if let Some(module) = piece.strip_prefix("-m").filter(|module| !module.is_empty()) {
            self.module(module);
        }
        self.runs = Interpreter::called(piece).or(self.runs);
    }

    /// `python3 -m a.b` runs `a/__init__.py`, then `a/b.py`, or `a/b/__init__.py` and `a/b/__main__.py`.
    fn module(&mut self, name: &str) {
        for folder in &self.folders {
            let mut package = folder.clone();
            for part in name.split('.') {
                package.push(part);
                self.paths.insert(package.join("__init__.py"));
            }
            self.paths.insert(package.join("__main__.py"));
            self.paths.insert(package.with_extension("py"));
        }
    }
}

impl Interpreter {
    fn called(piece: &str) -> Option<Self> {
        let name = Path::new(piece).file_name()?.to_str()?;
        match name {
            "node" | "nodejs" | "bun" | "deno" => Some(Self::JavaScript),
            name if name.starts_with("python") || name.starts_with("pypy") => Some(Self::Python),
            _ => None,
        }
    }
}

/// What in a word of a command may be a path: all of it, and what the shell or the program may take it apart into (`sh -c "a; b"`,
/// `--flag=path`).
pub(super) fn paths_in(word: &str) -> impl Iterator<Item = &str> {
    std::iter::once(word).chain(shell_words(word).filter(move |piece| *piece != word))
}

/// The words of a shell command that may be names of files which it runs or reads, whatever the shell makes of them; a file that
/// its output goes to is none of them.
fn shell_words(command: &str) -> impl Iterator<Item = &str> {
    let between = |character: char| character.is_whitespace() || ";|&()<`\"'={}".contains(character);
    let mut before = "";
    command.split_inclusive('>').flat_map(move |piece| {
        let opened = std::mem::replace(&mut before, piece);
        let words = piece.trim_end_matches('>').split(between).filter(|word| !word.is_empty());
        words.skip(usize::from(goes_to(opened, piece)))
    })
}

/// Whether the first word of `piece` is where output goes, which stands behind `opened`.
fn goes_to(opened: &str, piece: &str) -> bool {
    let Some(opened) = opened.strip_suffix('>') else { return false };
    // `<>`, `'>'`, `->` and their kin send nothing anywhere, and neither does what stands on the next line or within `>(…)`.
    let sends = !opened.ends_with(['<', '\'', '"', '\\', '-', '=']);
    sends && piece.trim_start_matches([' ', '\t']).starts_with(|next: char| !"(;|&\n".contains(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_apart() {
        assert_eq!(
            paths_in("--config=a/b.py").collect::<Vec<_>>(),
            ["--config=a/b.py", "--config", "a/b.py"]
        );
        assert_eq!(paths_in("plain").collect::<Vec<_>>(), ["plain"]);
        let shell = "cd tools && exec ./serve --log=x >out 2>&1; ${HOME}/y";
        let expected = [shell, "cd", "tools", "exec", "./serve", "--log", "x", "2", "1", "$", "HOME", "/y"];
        assert_eq!(paths_in(shell).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_word_of_a_command_may_be_a_file() {
        let found: Vec<_> =
            shell_words("A=./x.sh bash \"./my.sh\" | sh -c './b.sh && c.py>>\"d\" 2>&1 <e'; f > g h")
                .collect();
        for word in ["./x.sh", "./my.sh", "./b.sh", "c.py", "e", "f", "h"] {
            assert!(found.contains(&word), "{word}: {found:?}");
        }
        for output in ["d", "g"] {
            assert!(!found.contains(&output), "{output}: {found:?}");
        }
    }

    #[test]
    fn what_is_no_redirection_hides_no_file() {
        for command in [
            "tee >(./c.sh)",
            "test '>'; ./c.sh",
            "# ->\n./c.sh",
            "sh <>./c.sh",
            "a >\n./c.sh",
            "x>&2; ./c.sh",
        ] {
            assert!(shell_words(command).any(|word| word == "./c.sh"), "{command}");
        }
        for command in ["a >log", "a >> log", "a 2>log", "a &>log", "a >log 2>&1"] {
            assert!(shell_words(command).all(|word| word != "log"), "{command}");
        }
    }

    #[test]
    fn folders_and_modules_are_the_files_that_run() {
        let named = |words: &[&str]| {
            let found = files_named(words[0], words[1..].iter().copied(), Path::new("/w"));
            found.into_iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        let names = |words: &[&str], file: &str| {
            assert!(named(words).contains(&file.to_owned()), "{words:?}: {file}")
        };
        names(&["python3", "tools"], "/w/tools/__main__.py");
        names(&["/usr/bin/env", "python3.12", "-m", "tools.lint"], "/w/tools/lint.py");
        names(&["python3", "-mtools.lint"], "/w/tools/lint/__main__.py");
        names(&["python3", "-m", "tools.lint"], "/w/tools/__init__.py");
        names(&["node", "tools"], "/w/tools/package.json");
        names(&["node", "tools/c"], "/w/tools/c.js");
        names(&["sh", "-c", "cd tools && ./c.sh"], "/w/tools/./c.sh");
        assert_eq!(named(&["ruff", "check", "src"]), ["/w/check", "/w/src"]);
    }
}
