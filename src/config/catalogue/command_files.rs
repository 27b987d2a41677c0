//! The paths that the words of a command may name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The maximum number of folders that a command may be in.
const MAX_COMMAND_FOLDERS: usize = 1024;
/// The options of Python that are one letter, take no value, and so may stand before the `m` of
/// `-m`.
const PYTHON_FLAGS: &str = "bBdEhiIOPqsSuvVx";

/// The words of a command, the program first, and the folder that it runs in, relative to the
/// workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CommandWords {
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
    /// The working folder, if it is not the default one.
    pub(crate) cwd: Option<PathBuf>,
}

impl CommandWords {
    /// Every path that its words may mean, from `base` and from its own folder; see
    /// [`files_named`].
    ///
    /// # Errors
    /// [`TooManyFolders`].
    pub(crate) fn files_named(&self, base: &Path) -> Result<BTreeSet<PathBuf>, TooManyFolders> {
        // The command may name its folder.
        let words: Vec<String> = self.words.iter().map(|word| word.replace("${root}/", "")).collect();
        let program = words.first().map_or("", String::as_str);
        let mut paths = files_named(program, words.iter().map(String::as_str), base)?;
        if let Some(cwd) = &self.cwd {
            paths.extend(files_named(program, words.iter().map(String::as_str), &base.join(cwd))?);
        }
        Ok(paths)
    }
}

/// A command changes to more folders than can be followed.
#[derive(Debug, thiserror::Error)]
#[error("a command with too many `cd` to follow")]
pub(crate) struct TooManyFolders;

/// Returns every path that the arguments `words` of `program` may mean, if it runs in the folder
/// `base`.
///
/// These are the paths of each word and of its parts; after `cd` also from that folder; after `-m`
/// the files of the Python module; for interpreters of Python and JavaScript the first files of a
/// folder. Existence is not checked.
///
/// # Errors
/// [`TooManyFolders`].
pub(crate) fn files_named<'a>(
    program: &str,
    words: impl IntoIterator<Item = &'a str>,
    base: &Path,
) -> Result<BTreeSet<PathBuf>, TooManyFolders> {
    let mut command = CommandFileScan {
        folders: vec![base.to_owned()],
        paths: BTreeSet::new(),
        runs: Interpreter::from_program_name(program),
        next: NextArgument::Path,
    };
    for word in words {
        for piece in paths_in(word) {
            command.add_piece(piece)?;
        }
    }
    Ok(command.paths)
}

/// A command as far as it was read.
struct CommandFileScan {
    folders: Vec<PathBuf>,
    paths: BTreeSet<PathBuf>,
    runs: Option<Interpreter>,
    next: NextArgument,
}

#[derive(Clone, Copy)]
enum Interpreter {
    Python,
    JavaScript,
}

/// The meaning of the next word, apart from a path.
enum NextArgument {
    Path,
    Folder,
    Module,
}

impl CommandFileScan {
    fn add_piece(&mut self, piece: &str) -> Result<(), TooManyFolders> {
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
        match std::mem::replace(&mut self.next, NextArgument::Path) {
            NextArgument::Module => self.add_module(piece),
            // An option of `cd`.
            NextArgument::Folder if piece.starts_with('-') => self.next = NextArgument::Folder,
            NextArgument::Folder => self.change_folder(piece)?,
            NextArgument::Path => {}
        }
        if matches!(piece, "cd" | "pushd") {
            self.next = NextArgument::Folder;
        }
        match module_option(piece) {
            Some("") => self.next = NextArgument::Module,
            Some(module) => self.add_module(module),
            None => {}
        }
        self.runs = Interpreter::from_program_name(piece).or(self.runs);
        Ok(())
    }

    /// Adds the folders that the command may be in after a `cd`. A subshell, which would undo it,
    /// is not recognised.
    fn change_folder(&mut self, folder: &str) -> Result<(), TooManyFolders> {
        let there: Vec<PathBuf> = self.folders.iter().map(|from| from.join(folder)).collect();
        self.folders.extend(there);
        self.folders.sort();
        self.folders.dedup();
        if self.folders.len() > MAX_COMMAND_FOLDERS { Err(TooManyFolders) } else { Ok(()) }
    }

    /// `python3 -m a.b` runs `a/__init__.py`, then `a/b.py`, or `a/b/__init__.py` and
    /// `a/b/__main__.py`.
    fn add_module(&mut self, name: &str) {
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
    fn from_program_name(piece: &str) -> Option<Self> {
        let name = Path::new(piece).file_name()?.to_str()?;
        match name {
            "node" | "nodejs" | "bun" | "deno" => Some(Self::JavaScript),
            name if name.starts_with("python") || name.starts_with("pypy") => Some(Self::Python),
            _ => None,
        }
    }
}

/// Returns the value of `-m`, which may be joined to other options (`-Bm`) and to its value
/// (`-mjson.tool`).
fn module_option(piece: &str) -> Option<&str> {
    let (flags, module) = piece.strip_prefix('-')?.split_once('m')?;
    flags.chars().all(|flag| PYTHON_FLAGS.contains(flag)).then_some(module)
}

/// Returns the parts of a word that may be paths: the whole word, and the pieces into which the
/// shell or the program may split it (`sh -c "a; b"`, `--flag=path`).
pub(super) fn paths_in(word: &str) -> impl Iterator<Item = &str> {
    std::iter::once(word).chain(shell_words(word).filter(move |piece| *piece != word))
}

/// Splits a shell command into the words that may name files which it runs or reads. The target of
/// an output redirection is not among them.
fn shell_words(command: &str) -> impl Iterator<Item = &str> {
    let between = |character: char| character.is_whitespace() || ";|&()<`\"'={}".contains(character);
    let mut before = "";
    command.split_inclusive('>').flat_map(move |piece| {
        let opened = std::mem::replace(&mut before, piece);
        let words = piece.trim_end_matches('>').split(between).filter(|word| !word.is_empty());
        words.skip(usize::from(is_output_target(opened, piece)))
    })
}

/// Returns true if the first word of `piece` is the target of the output redirection at the end of
/// `opened`.
fn is_output_target(opened: &str, piece: &str) -> bool {
    let Some(opened) = opened.strip_suffix('>') else { return false };
    // `<>`, `'>'`, `->` and similar forms redirect nothing, and neither does a `>` before the end
    // of a line or in `>(…)`.
    let sends = !opened.ends_with(['<', '\'', '"', '\\', '-', '=']);
    sends && piece.trim_start_matches([' ', '\t']).starts_with(|next: char| !"(;|&\n".contains(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_splits_flags_and_shell_text_into_candidates() {
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
    fn shell_words_yields_every_word_except_redirection_outputs() {
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
    fn shell_words_skips_only_real_redirection_targets() {
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
    fn python_modules_and_node_folders_name_their_entry_files() {
        let named = |words: &[&str]| {
            let found = files_named(words[0], words[1..].iter().copied(), Path::new("/w")).unwrap();
            found.into_iter().map(|path| path.display().to_string().replace('\\', "/")).collect::<Vec<_>>()
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
        names(&["python3", "-Bm", "tools"], "/w/tools.py");
        names(&["sh", "-c", "cd tools && ./c.sh"], "/w/tools/./c.sh");
        names(&["sh", "-c", "cd a && cd -P -- b && ./c.sh"], "/w/a/b/./c.sh");
        let apart: String = (1..=9).map(|number| format!("(cd d{number} && ./g.sh); ")).collect();
        names(&["sh", "-c", &apart], "/w/d9/./g.sh");
        let far: String = (1..=20).map(|number| format!("cd d{number}; ")).collect();
        files_named("sh", ["-c", &far], Path::new("/w")).unwrap_err();
        assert_eq!(named(&["ruff", "check", "src"]), ["/w/check", "/w/src"]);
    }
}
