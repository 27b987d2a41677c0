//! Command lines as the rules parse them: if they find plain words, a shell finds the same words.

use std::time::Duration;

use crate::policy::command::{CommandPattern, allowed_by, forbids};
use crate::policy::shell::Script;

use super::draw::Draw;
use super::thread_time;

const TIME: Duration = Duration::from_secs(5);

pub fn run(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let pattern = String::from_utf8_lossy(draw.part()).into_owned();
    let text = draw.swollen(64 << 10);
    let text = String::from_utf8_lossy(&text);
    let begun = thread_time();
    let script = Script::read(&text);
    if script.unknown.is_none() {
        let words = |words: &[crate::policy::shell_words::ShellWord]| -> Vec<String> {
            words.iter().map(|word| word.text().expect("a word that is known").to_owned()).collect()
        };
        let ours: Vec<Vec<String>> = script.commands.iter().map(|command| words(&command.words)).collect();
        assert_eq!(Ok(&ours), commands(&text).as_ref(), "{text:?}");
        if let [only] = &ours[..]
            && !text.contains([';', '&', '|', '>'])
        {
            assert_eq!(shlex::split(&text).as_ref(), Some(only), "{text:?}");
        }
    }
    let pattern = CommandPattern::new(&pattern);
    if let Ok(used) = allowed_by(&[&pattern], &text) {
        assert!(used.len() <= 1 && script.unknown.is_none(), "{text:?}");
        assert!(forbids(&pattern, &text), "{pattern:?} allows and does not forbid {text:?}");
    } else {
        forbids(&pattern, &text);
    }
    let took = thread_time() - begun;
    assert!(took < TIME, "{:?} for {} bytes", took, text.len());
}

/// The words of simple commands by POSIX (2.2 and 2.3), or the reason why they are not that simple.
fn commands(text: &str) -> Result<Vec<Vec<String>>, &'static str> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' => end(&mut commands, &mut word, &mut is_quoted)?,
            '\\' => {
                is_quoted = true;
                word.get_or_insert_default().push(rest.next().ok_or("a backslash at the end")?);
            }
            '\'' => {
                is_quoted = true;
                let word = word.get_or_insert_default();
                loop {
                    match rest.next().ok_or("an open quote")? {
                        '\'' => break,
                        other => word.push(other),
                    }
                }
            }
            '"' => {
                is_quoted = true;
                double_quoted(&mut rest, word.get_or_insert_default())?;
            }
            ';' | '&' | '|' => {
                let twice = rest.next_if_eq(&character).is_some();
                if twice == (character == ';') {
                    return Err("another operator");
                }
                end(&mut commands, &mut word, &mut is_quoted)?;
                if commands.last().is_some_and(Vec::is_empty) {
                    return Err("no command before an operator");
                }
                commands.push(Vec::new());
            }
            '>' => {
                let is_number = |word: &String| !is_quoted && word.bytes().all(|byte| byte.is_ascii_digit());
                match word.take_if(|word| is_number(word)) {
                    Some(number) if !matches!(number.as_str(), "1" | "2") => {
                        return Err("another descriptor");
                    }
                    Some(_) => {}
                    None => end(&mut commands, &mut word, &mut is_quoted)?,
                }
                redirect(&mut rest)?;
            }
            '#' if word.is_none() => return Err("a comment"),
            '~' if word.as_ref().is_none_or(|word| word.ends_with(['=', ':'])) => return Err("a home"),
            '$' | '`' | '(' | ')' | '{' | '}' | '<' => return Err("more than words"),
            _ if character.is_control() => return Err("a control character"),
            _ => word.get_or_insert_default().push(character),
        }
    }
    end(&mut commands, &mut word, &mut is_quoted)?;
    // A list may end with `;`.
    if commands.last().is_some_and(Vec::is_empty) && text.trim_end_matches([' ', '\t']).ends_with(';') {
        commands.pop();
    }
    if commands.iter().any(Vec::is_empty) { Err("no command") } else { Ok(commands) }
}

/// Ends the current word.
fn end(
    commands: &mut [Vec<String>],
    word: &mut Option<String>,
    is_quoted: &mut bool,
) -> Result<(), &'static str> {
    let was_quoted = std::mem::take(is_quoted);
    let (Some(word), Some(command)) = (word.take(), commands.last_mut()) else { return Ok(()) };
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    if command.is_empty() && !was_quoted && word.split_once('=').is_some_and(|(name, _)| is_name(name)) {
        return Err("an assignment");
    }
    command.push(word);
    Ok(())
}

fn double_quoted(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    word: &mut String,
) -> Result<(), &'static str> {
    loop {
        match rest.next().ok_or("an open quote")? {
            '"' => return Ok(()),
            '$' | '`' => return Err("an expansion"),
            '\\' => match rest.next().ok_or("an open quote")? {
                special @ ('\\' | '"' | '$' | '`') => word.push(special),
                '\n' => {}
                other => word.extend(['\\', other]),
            },
            other => word.push(other),
        }
    }
}

/// The target of `>`: `/dev/null` or another descriptor.
fn redirect(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<(), &'static str> {
    let to_descriptor = rest.next_if_eq(&'&').is_some();
    if !to_descriptor {
        rest.next_if_eq(&'>');
    }
    while rest.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
    let mut target = String::new();
    while let Some(next) = rest.next_if(|next| !matches!(next, ' ' | '\t' | ';' | '&' | '|' | '>' | '<')) {
        target.push(next);
    }
    let known =
        if to_descriptor { matches!(target.as_str(), "0" | "1" | "2") } else { target == "/dev/null" };
    if known { Ok(()) } else { Err("a redirection") }
}
