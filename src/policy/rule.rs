//! One rule of an allow, ask or deny list.

use super::command::{self, CommandPattern};
use super::host::HostPattern;
use super::name::NamePattern;
use super::path::{PathCaseSensitivity, PathPattern};
use super::request::{CallSubjects, Effect, PolicyRequest, PolicyVerdict};
use crate::workspace::WorkspacePath;

/// A rule: a set of tools, and optionally the subjects of their calls.
///
/// `read`, `lsp_*`, `effect:edit` match every call of those tools. `write(src/**)`, `*(.env)`,
/// `bash(git status)`, `fetch_web_page(docs.rs)`, `effect:network(*.example)` match the calls that
/// touch such a path, run such a command or fetch from such a host. In lists that forbid or ask,
/// `read(.env)` holds for every tool that reads or edits, because all of them show contents of
/// files.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// The text of the rule.
    pub(crate) text: String,
    /// The origin of the rule, in words without paths of the machine.
    pub(crate) whose: String,
    tools: RuleTools,
    subject: Option<RuleSubject>,
}

#[derive(Debug, Clone)]
enum RuleTools {
    Named(NamePattern),
    With(Effect),
}

/// The text in parentheses as a path, a command and a host pattern. The subjects of a call
/// determine the one that applies.
#[derive(Debug, Clone)]
struct RuleSubject {
    path: PathPattern,
    command: CommandPattern,
    host: HostPattern,
}

impl Rule {
    /// Parses a rule of the list for `verdict`.
    ///
    /// # Errors
    /// The problem of the rule and a correct form, in words.
    pub(crate) fn read(text: &str, verdict: PolicyVerdict, whose: &str) -> Result<Self, String> {
        let (tools, subject) = match text.split_once('(') {
            None => (text, None),
            Some((tools, rest)) => {
                let inner = rest
                    .strip_suffix(')')
                    .ok_or_else(|| format!("the rule `{text}` has no `)` at its end"))?;
                (tools, Some(inner.trim()))
            }
        };
        let letters = if verdict == PolicyVerdict::Allow {
            PathCaseSensitivity::Exact
        } else {
            PathCaseSensitivity::Folded
        };
        let subject = subject
            .map(|inner| subject_of(inner, letters).map_err(|reason| format!("the rule `{text}`: {reason}")));
        Ok(Self {
            text: text.to_owned(),
            whose: whose.to_owned(),
            tools: tools_of(tools).map_err(|reason| format!("the rule `{text}`: {reason}"))?,
            subject: subject.transpose()?,
        })
    }

    /// Returns true if the rule is about reading some paths: for `read` itself, or for a reading
    /// tool by its name. Paths kept from `read` are kept from every tool that shows contents of
    /// files.
    fn covers_reading(&self, tool: &str, effect: Effect) -> bool {
        self.subject.is_some()
            && match effect {
                Effect::Read => self.covers_tool("read", Effect::Read) || self.covers_tool(tool, effect),
                // An edit shows the old content in its answer, and a moved file escapes rules for
                // its path.
                Effect::Edit => self.covers_tool("read", Effect::Read),
                Effect::Execute | Effect::Network => false,
            }
    }

    /// Returns true if the rule hides `path` from the call.
    pub(crate) fn hides(&self, request: &PolicyRequest<'_>, path: &WorkspacePath) -> bool {
        self.covers_reading(request.tool, request.effect)
            && self.subject.as_ref().is_some_and(|subject| subject.path.matches(path))
    }

    /// Returns true if the rule may hide or forbid some paths to the tool.
    pub(crate) fn speaks_of_paths(&self, tool: &str, effect: Effect) -> bool {
        self.subject.is_some() && (self.covers_tool(tool, effect) || self.covers_reading(tool, effect))
    }

    /// Returns true if the rule matches every call of the tool.
    pub(crate) fn covers_all_calls(&self, tool: &str, effect: Effect) -> bool {
        self.subject.is_none() && self.covers_tool(tool, effect)
    }

    /// Returns true if the call touches a subject of the rule, for rules that forbid or ask.
    pub(crate) fn applies_to(&self, request: &PolicyRequest<'_>) -> bool {
        if !self.covers_tool(request.tool, request.effect)
            && !self.covers_reading(request.tool, request.effect)
        {
            return false;
        }
        let Some(subject) = &self.subject else { return true };
        let CallSubjects { paths, commands, urls, .. } = request.subjects;
        let changes = request.effect != Effect::Read;
        paths.iter().any(|path| subject.path.matches(path) || (changes && subject.path.may_lie_beneath(path)))
            || commands.iter().any(|text| command::forbids(&subject.command, text))
            || urls.iter().any(|url| subject.host.forbids(url))
    }

    /// Returns true if the rule matches the tool, regardless of the call's subjects.
    fn covers_tool(&self, tool: &str, effect: Effect) -> bool {
        match &self.tools {
            RuleTools::Named(name) => name.matches(tool),
            RuleTools::With(wanted) => *wanted == effect,
        }
    }
}

/// The indexes of the rules of an allow list that together allow all subjects of the call.
///
/// # Errors
/// The reason, as the end of a sentence; `None` if no rule is about the tool at all.
pub(crate) fn allowed_by(rules: &[Rule], request: &PolicyRequest<'_>) -> Result<Vec<usize>, Option<String>> {
    // An edit of a file that needs approval is allowed only by rules with a subject.
    let governs = request.effect == Effect::Edit && request.subjects.governs.is_some();
    let is_enough = |rule: &Rule| !governs || rule.subject.is_some();
    let meant = |rule: &Rule| rule.covers_tool(request.tool, request.effect) && is_enough(rule);
    let meant: Vec<(usize, &Rule)> = rules.iter().enumerate().filter(|(_, rule)| meant(rule)).collect();
    if let Some((at, _)) = meant.iter().find(|(_, rule)| rule.subject.is_none()) {
        return Ok(vec![*at]);
    }
    let subjects: Vec<(usize, &RuleSubject)> =
        meant.iter().filter_map(|(at, rule)| rule.subject.as_ref().map(|subject| (*at, subject))).collect();
    let CallSubjects { paths, commands, urls, .. } = request.subjects;
    if subjects.is_empty() || (paths.is_empty() && commands.is_empty() && urls.is_empty()) {
        return Err(None);
    }
    let mut used = Vec::new();
    let patterns: Vec<&CommandPattern> = subjects.iter().map(|(_, subject)| &subject.command).collect();
    for text in commands {
        let found = command::allowed_by(&patterns, text).map_err(Some)?;
        used.extend(found.into_iter().map(|place| subjects[place].0));
    }
    for url in urls {
        let found = subjects.iter().find(|(_, subject)| subject.host.allows(url));
        used.push(found.ok_or_else(|| Some("no pattern allows its host".to_owned()))?.0);
    }
    // The files of a command are named in the command itself.
    for path in paths.iter().filter(|_| commands.is_empty()) {
        let found = subjects.iter().find(|(_, subject)| subject.path.matches(path));
        used.push(found.ok_or_else(|| Some(format!("no pattern allows `{}`", path.display())))?.0);
    }
    used.sort_unstable();
    used.dedup();
    Ok(used)
}

fn tools_of(text: &str) -> Result<RuleTools, String> {
    if let Some(word) = text.strip_prefix("effect:") {
        let effect = Effect::ALL.into_iter().find(|effect| effect.as_str() == word);
        return effect.map(RuleTools::With).ok_or_else(|| {
            format!("there is no effect `{word}`; there are `read`, `edit`, `execute` and `network`")
        });
    }
    NamePattern::new(text).map(RuleTools::Named).ok_or_else(|| {
        format!("`{text}` is not a tool name; write `read`, `lsp_*`, `effect:edit` or one of them before `(`")
    })
}

fn subject_of(inner: &str, letters: PathCaseSensitivity) -> Result<RuleSubject, String> {
    if inner.is_empty() {
        return Err("`()` is empty; omit it to match every call".to_owned());
    }
    // A pattern with these in it would never match a command, and a deny rule that never matches is
    // worse than none.
    let odd = |character: char| character.is_control() || ";|&$<>`\"'\\()".contains(character);
    if let Some(odd) = inner.chars().find(|character| odd(*character)) {
        return Err(format!(
            "`{}` is not allowed in a pattern, which is a path, a host, or the words of one command; write one rule per command",
            odd.escape_default()
        ));
    }
    Ok(RuleSubject {
        path: PathPattern::new(inner, letters)?,
        command: CommandPattern::new(inner),
        host: HostPattern::new(inner),
    })
}

#[cfg(test)]
mod tests;
