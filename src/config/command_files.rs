//! The paths that the words of a command may mean.

use std::path::{Path, PathBuf};

/// What interpreters run, or read first, of a folder or a package that they are given.
const ENTRY_FILES: [&str; 4] = ["__main__.py", "__init__.py", "package.json", "index.js"];

/// Every path that a word of a command may mean to a program that runs in the folder `base`: of the word and of what stands in it, the path,
/// the first files of the folder or package there, and the Python module of that name; of `base` itself no more than the path.
pub fn files_named(word: &str, base: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for piece in paths_in(word) {
        let path = base.join(piece);
        let module = module_of(&path);
        if path.components().eq(base.components()) {
            paths.push(path);
            continue;
        }
        for package in [&path].into_iter().chain(module.as_ref().filter(|module| **module != path)) {
            paths.extend(ENTRY_FILES.iter().map(|name| package.join(name)).filter(|path| path.is_file()));
        }
        paths.extend(module.map(|module| module.with_extension("py")));
        paths.push(path);
    }
    paths
}

/// `tools/lint` for `tools.lint`, as `python3 -m` takes it.
fn module_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let is_name = |part: &str| {
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        !part.is_empty() && part.chars().all(is_letter)
    };
    let is_module = name.split('.').all(is_name);
    is_module.then(|| path.with_file_name(name.replace('.', "/")))
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
    let pieces = command.split('>').enumerate().flat_map(move |(place, piece)| {
        let mut words = piece.split(between).filter(|word| !word.is_empty());
        // After `>` (and between the two of `>>`) the first word is where the output goes.
        if place > 0 {
            words.next();
        }
        words
    });
    pieces.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn words_are_taken_apart() {
        assert_eq!(
            paths_in("--config=a/b.py").collect::<Vec<_>>(),
            ["--config=a/b.py", "--config", "a/b.py"]
        );
        assert_eq!(paths_in("plain").collect::<Vec<_>>(), ["plain"]);
        let shell = "cd tools && exec ./serve --log=x >out 2>&1; ${HOME}/y";
        let expected = [shell, "cd", "tools", "exec", "./serve", "--log", "x", "2", "$", "HOME", "/y"];
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
    fn folders_and_modules_are_the_files_that_run() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        fs::create_dir_all(base.join("tools/lint")).unwrap();
        for name in ["tools/__main__.py", "tools/lint/__init__.py", "tools/serve.py"] {
            fs::write(base.join(name), "").unwrap();
        }
        let found = |word: &str| {
            let mut found = files_named(word, base);
            found.retain(|path| path.is_file());
            found
                .into_iter()
                .map(|path| path.strip_prefix(base).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(found("tools"), ["tools/__main__.py"]);
        assert_eq!(found("./tools/"), ["tools/__main__.py"]);
        assert_eq!(found("tools.serve"), ["tools/serve.py"]);
        assert_eq!(found("tools.lint"), ["tools/lint/__init__.py"]);
        fs::write(base.join("package.json"), "").unwrap();
        for none in ["--stdio", "--root=.", "./"] {
            assert_eq!(found(none), [""; 0], "{none}");
        }
        assert_eq!(found("../x"), [""; 0]);
    }
}
