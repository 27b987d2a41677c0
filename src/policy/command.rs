//! Patterns for shell commands.

use super::name;
use super::shell::{Script, SimpleCommand};
use super::shell_words::ShellWord;

/// Words that a shell treats as more than a program name, and programs that run other words as
/// commands. No pattern allows them, because their text does not determine the command that runs.
const NEVER_BY_PATTERN: &[&str] = &[
    ".",
    ":",
    "[",
    "[[",
    "!",
    "alias",
    "ash",
    "bash",
    "bind",
    "builtin",
    "busybox",
    "case",
    "command",
    "coproc",
    "csh",
    "dash",
    "declare",
    "do",
    "doas",
    "done",
    "elif",
    "else",
    "enable",
    "env",
    "esac",
    "eval",
    "exec",
    "export",
    "fc",
    "fi",
    "fish",
    "for",
    "function",
    "hash",
    "if",
    "in",
    "ksh",
    "let",
    "local",
    "mapfile",
    "nohup",
    "parallel",
    "read",
    "readarray",
    "readonly",
    "rsh",
    "script",
    "select",
    "set",
    "setsid",
    "sh",
    "shopt",
    "source",
    "ssh",
    "su",
    "sudo",
    "tcsh",
    "then",
    "time",
    "trap",
    "typeset",
    "unalias",
    "unset",
    "until",
    "watch",
    "while",
    "xargs",
    "zsh",
];

/// Programs that run commands given in their arguments.
const RUNNERS: &[&str] = &[
    "ash", "bash", "builtin", "busybox", "chroot", "chrt", "command", "coproc", "csh", "dash", "doas", "env",
    "eval", "exec", "fakeroot", "find", "fish", "flock", "ionice", "ksh", "nice", "nohup", "nsenter",
    "parallel", "rsh", "script", "setsid", "sh", "ssh", "stdbuf", "strace", "su", "sudo", "taskset", "tcsh",
    "time", "timeout", "trap", "unshare", "watch", "xargs", "zsh",
];

/// The depth to which scripts nested in scripts are read.
const MAX_NESTED_SCRIPT_DEPTH: usize = 4;

/// The words of one simple command: `git status`, `npm run *`, `cargo test **`.
///
/// In a word, `*` matches any part of a name or path (not `/`, not `..`). A last word `*` matches
/// any number of words that are not options; `**` matches any number of words of any kind.
/// Elsewhere a word `*` matches one word. These rules hold for patterns that allow. A pattern that
/// forbids matches every command that contains its words in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    words: Vec<String>,
}

impl CommandPattern {
    /// Reads a pattern.
    pub(crate) fn new(text: &str) -> Self {
        Self { words: text.split_whitespace().map(str::to_owned).collect() }
    }

    /// Returns true if the pattern matches all of `command` and each word of the command is
    /// certain.
    fn allows_command(&self, command: &SimpleCommand) -> bool {
        let Some(ShellWord::Plain(name)) = command.words.first() else { return false };
        if is_never_allowed(name) || name.starts_with(['~', '-']) || name.contains(char::is_whitespace) {
            return false;
        }
        let Some((last, fixed)) = self.words.split_last() else { return false };
        let (fixed, rest): (&[String], fn(&ShellWord) -> bool) = match last.as_str() {
            "*" => (fixed, is_operand),
            "**" => (fixed, is_certain),
            _ => (&self.words, |_| false),
        };
        let Some((matched, more)) = command.words.split_at_checked(fixed.len()) else { return false };
        fixed.iter().zip(matched).all(|(pattern, word)| allows_word(pattern, word)) && more.iter().all(rest)
    }

    /// Returns true if `words` begin with the pattern's first word and contain its other words in
    /// order. Words in between, such as options, are ignored.
    fn forbids_words(&self, words: &[Option<&str>]) -> bool {
        let Some((name, rest)) = self.words.split_first() else { return false };
        let Some(Some(first)) = words.first() else { return false };
        let base = first.rsplit('/').next().unwrap_or(first);
        if !name::matches(name, first) && !name::matches(name, base) {
            return false;
        }
        let mut given = words[1..].iter().flatten();
        rest.iter().all(|pattern| is_any(pattern) || given.any(|word| name::matches(pattern, word)))
    }
}

/// The indexes of the `patterns` that together allow all commands in `text`.
///
/// # Errors
/// The reason that the text is not allowed, as the end of a sentence.
pub(crate) fn allowed_by(patterns: &[&CommandPattern], text: &str) -> Result<Vec<usize>, String> {
    let script = Script::read(text);
    if let Some(unknown) = script.unknown {
        return Err(format!("it contains {unknown}, so no pattern can allow it"));
    }
    let mut used = Vec::new();
    for command in &script.commands {
        match patterns.iter().position(|pattern| pattern.allows_command(command)) {
            Some(at) if used.contains(&at) => {}
            Some(at) => used.push(at),
            None => return Err("no pattern allows every command in it".to_owned()),
        }
    }
    Ok(used)
}

/// Returns true if `pattern` matches any command in `text`, at any nesting and in any spelling.
pub(crate) fn forbids(pattern: &CommandPattern, text: &str) -> bool {
    forbids_script(pattern, text, 0)
}

fn forbids_script(pattern: &CommandPattern, text: &str, depth: usize) -> bool {
    let script = Script::read(text);
    let loose = script.loose.iter().any(|words| {
        // The start of a command is unknown here, so every word is tried.
        let words: Vec<Option<&str>> = words.iter().map(|word| Some(word.as_str())).collect();
        (0..words.len()).any(|at| pattern.forbids_words(&words[at..]))
    });
    loose || script.commands.iter().any(|command| forbids_command(pattern, command, depth))
}

fn forbids_command(pattern: &CommandPattern, command: &SimpleCommand, depth: usize) -> bool {
    let words: Vec<Option<&str>> = command.words.iter().map(ShellWord::text).collect();
    if pattern.forbids_words(&words) {
        return true;
    }
    let name = words.first().copied().flatten().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or(name);
    // The grammar takes a repeated keyword of the shell (`! ! rm x`) for a command name.
    let runs_more = RUNNERS.contains(&name) || is_never_allowed(name);
    if !runs_more || depth == MAX_NESTED_SCRIPT_DEPTH {
        return false;
    }
    let is_script = |word: &&str| word.contains(|character: char| !is_plain(character));
    (1..words.len()).any(|at| pattern.forbids_words(&words[at..]))
        || words[1..].iter().flatten().filter(|word| is_script(word)).any(|word| {
            forbids_script(pattern, word, depth + 1)
        })
        // `eval` joins its words.
        || forbids_script(pattern, &words[1..].iter().flatten().copied().collect::<Vec<_>>().join(" "), depth + 1)
}

/// Returns true if a character has no special meaning in a shell word.
fn is_plain(character: char) -> bool {
    character.is_alphanumeric()
        || matches!(character, '-' | '_' | '.' | '/' | '=' | ':' | ',' | '+' | '@' | '%')
}

fn is_never_allowed(name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    base.is_empty() || NEVER_BY_PATTERN.contains(&base)
}

fn is_any(pattern: &str) -> bool {
    matches!(pattern, "*" | "**")
}

fn is_operand(word: &ShellWord) -> bool {
    matches!(word, ShellWord::Plain(text) | ShellWord::Glob(text) if !text.starts_with('-'))
}

fn is_certain(word: &ShellWord) -> bool {
    matches!(word, ShellWord::Plain(_) | ShellWord::Glob(_))
}

fn allows_word(pattern: &str, word: &ShellWord) -> bool {
    match word {
        _ if pattern == "*" => is_operand(word),
        ShellWord::Plain(text) if pattern.contains('*') => {
            text.split('/').all(|name| name != "..") && part_matches(pattern, text)
        }
        ShellWord::Plain(text) => pattern == text,
        ShellWord::Glob(_) | ShellWord::Spelled(_) | ShellWord::Unknown => false,
    }
}

/// Returns true if `pattern` matches `text`, where `*` matches any text without `/`.
fn part_matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    let within = |skipped: &str| !skipped.contains('/');
    for part in parts {
        let Some(at) = text.find(part).filter(|at| within(&text[..*at])) else { return false };
        text = &text[at + part.len()..];
    }
    text.strip_suffix(end).is_some_and(within)
}

#[cfg(test)]
mod tests;
