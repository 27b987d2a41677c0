//! Random edits that are likely to break something: of a definition that another file mentions, or
//! of an import.

use std::ops::Range;

/// One edit of one file.
#[derive(Debug, Clone)]
pub struct Edit {
    /// A description for the report.
    pub what: String,
    /// The edited name.
    pub name: String,
    /// The path of the file, relative to the package's folder.
    pub path: String,
    pub before: String,
    pub after: String,
}

/// Pseudo-random numbers that depend only on the seed and the package (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, package: &str) -> Self {
        Self(package.bytes().fold(seed, |state, byte| state.wrapping_mul(0x0100_0000_01B3) ^ u64::from(byte)))
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % end.max(1) as u64).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    ParameterAdded,
    ParameterRemoved,
    FunctionRenamed,
    ReturnTypeChanged,
    ClassRenamed,
    AttributeRenamed,
    ImportDeleted,
    MethodDeleted,
    BaseChanged,
    VariableRenamed,
}

const KINDS: [Kind; 10] = [
    Kind::ParameterAdded,
    Kind::ParameterRemoved,
    Kind::FunctionRenamed,
    Kind::ReturnTypeChanged,
    Kind::ClassRenamed,
    Kind::AttributeRenamed,
    Kind::ImportDeleted,
    Kind::MethodDeleted,
    Kind::BaseChanged,
    Kind::VariableRenamed,
];

/// A place where a kind of edit is possible: the name and the replacement.
struct Site {
    path: usize,
    name: String,
    bytes: Range<usize>,
    new: String,
}

/// The next random edit. The kind is drawn first, so that all possible kinds are equally frequent.
pub fn draw(files: &[(String, String)], random: &mut Random) -> Option<Edit> {
    for _ in 0..50 {
        let kind = KINDS[random.below(KINDS.len())];
        let mut sites: Vec<Site> = Vec::new();
        for (path, (_, text)) in files.iter().enumerate() {
            sites.extend(sites_in(kind, path, text));
        }
        // Another file must mention the name, except for imports, which may be used in this file
        // alone.
        while !sites.is_empty() {
            let site = sites.swap_remove(random.below(sites.len()));
            let elsewhere = files
                .iter()
                .enumerate()
                .any(|(index, (_, text))| index != site.path && mentions(text, &site.name));
            if !elsewhere && !matches!(kind, Kind::ImportDeleted) {
                continue;
            }
            let (path, before) = &files[site.path];
            let mut after = before.clone();
            after.replace_range(site.bytes.clone(), &site.new);
            let line = before[..site.bytes.start].lines().count();
            return Some(Edit {
                what: format!("{kind:?} {} {path}:{line}", site.name),
                name: site.name,
                path: path.clone(),
                before: before.clone(),
                after,
            });
        }
    }
    None
}

/// Whether `text` contains the word `name`.
pub fn mentions(text: &str, name: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    text.match_indices(name).any(|(at, _)| {
        let bytes = text.as_bytes();
        !is_word(at.checked_sub(1).and_then(|at| bytes.get(at))) && !is_word(bytes.get(at + name.len()))
    })
}

fn sites_in(kind: Kind, path: usize, text: &str) -> Vec<Site> {
    let mut sites = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        sites.extend(site(kind, path, text, start, line));
        start += line.len();
    }
    sites
}

/// The edit of `kind` for the line that begins at `start`, if possible.
fn site(kind: Kind, path: usize, text: &str, start: usize, line: &str) -> Option<Site> {
    let indent = line.len() - line.trim_start().len();
    let code = line.trim();
    let site = |name: &str, bytes: Range<usize>, new: &str| {
        let name = name.to_owned();
        Some(Site { path, name, bytes, new: new.to_owned() })
    };
    match kind {
        Kind::ParameterAdded
        | Kind::ParameterRemoved
        | Kind::FunctionRenamed
        | Kind::ReturnTypeChanged
        | Kind::MethodDeleted => {
            let define = if code.starts_with("async def ") { "async def " } else { "def " };
            let name = identifier(code.strip_prefix(define)?);
            if name.starts_with("__") {
                return None;
            }
            let named = start + indent + define.len();
            let open = named + name.len();
            let close = open + closing(text.get(open..)?)?;
            let inside = &text[open + 1..close];
            match kind {
                Kind::FunctionRenamed => site(name, named..open, &format!("zz_{name}")),
                Kind::ParameterAdded => {
                    let owner =
                        ["self", "cls"].into_iter().find(|owner| identifier(inside.trim_start()) == *owner);
                    let at = match owner {
                        Some(owner) => open + 1 + inside.find(owner)? + owner.len(),
                        None => open + 1,
                    };
                    match (owner, inside.trim().is_empty()) {
                        (Some(_), _) => site(name, at..at, ", zz_required"),
                        (None, true) => site(name, at..at, "zz_required"),
                        (None, false) => site(name, at..at, "zz_required, "),
                    }
                }
                Kind::ParameterRemoved => {
                    let bytes = plain_parameter(inside)?;
                    site(name, open + 1 + bytes.start..open + 1 + bytes.end, "")
                }
                Kind::ReturnTypeChanged => {
                    let rest = text.get(close + 1..)?;
                    let end = rest.find('\n')?;
                    let arrow = rest[..end].find("->").filter(|at| rest[..*at].trim().is_empty())?;
                    let colon = rest[..end].rfind(':').filter(|colon| *colon > arrow)?;
                    let other = if rest[arrow..colon].contains("int") { " bytes" } else { " int" };
                    site(name, close + 1 + arrow + 2..close + 1 + colon, other)
                }
                _ => {
                    if indent == 0 {
                        return None;
                    }
                    let body = text.get(close..)?;
                    let mut end = close + body.find('\n')? + 1;
                    for line in text[end..].split_inclusive('\n') {
                        if !line.trim().is_empty() && line.len() - line.trim_start().len() <= indent {
                            break;
                        }
                        end += line.len();
                    }
                    let decorated = text[..start]
                        .lines()
                        .next_back()
                        .is_some_and(|line| line.trim().starts_with(['@', ')']));
                    if decorated { None } else { site(name, start + indent..end, "pass\n") }
                }
            }
        }
        Kind::ClassRenamed | Kind::BaseChanged => {
            let name = identifier(code.strip_prefix("class ")?);
            let named = start + indent + "class ".len();
            let open = named + name.len();
            match kind {
                Kind::ClassRenamed => site(name, named..open, &format!("Zz{name}")),
                _ => {
                    let close = open + closing(text.get(open..)?)?;
                    if text[open + 1..close].trim().is_empty() {
                        None
                    } else {
                        site(name, open..close + 1, "")
                    }
                }
            }
        }
        Kind::AttributeRenamed | Kind::VariableRenamed => {
            let is_own = code.strip_prefix("self.");
            let name = identifier(is_own.unwrap_or(code));
            let after = is_own.unwrap_or(code).get(name.len()..)?;
            let assigned = after.starts_with(" = ") || (after.starts_with(": ") && !after.ends_with(','));
            let fits = match kind {
                Kind::AttributeRenamed => indent == 4 && is_own.is_none() || indent == 8 && is_own.is_some(),
                _ => indent == 0 && is_own.is_none(),
            };
            let statement = ["else", "try", "finally", "lambda"].contains(&name) || name.starts_with("__");
            let named = start + indent + if is_own.is_some() { "self.".len() } else { 0 };
            let is_first = !text[..named].contains(&format!("{name} = "))
                && !text[..named].contains(&format!("{name}: "));
            if name.len() < 3 || !assigned || !fits || statement || !is_first {
                return None;
            }
            site(name, named..named + name.len(), &format!("zz_{name}"))
        }
        Kind::ImportDeleted => {
            let is_import = indent == 0 && (code.starts_with("from ") || code.starts_with("import "));
            let is_whole = !code.contains('(') && !code.ends_with('\\') && !code.contains("__future__");
            let name = identifier(code.rsplit(' ').next()?);
            if is_import && is_whole && !name.is_empty() {
                site(name, start..start + line.len(), "")
            } else {
                None
            }
        }
    }
}

fn identifier(text: &str) -> &str {
    let end = text.find(|character: char| !character.is_alphanumeric() && character != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The position of the bracket that closes the one at the start of `text`.
fn closing(text: &str) -> Option<usize> {
    if !text.starts_with('(') {
        return None;
    }
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            '#' | '"' | '\'' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The first parameter without a default, with its comma, except for `self`.
fn plain_parameter(inside: &str) -> Option<Range<usize>> {
    let mut depth = 0_usize;
    let (mut from, mut parts) = (0, Vec::new());
    for (at, character) in inside.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(from..at + 1);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(from..inside.len());
    parts.into_iter().find(|part| {
        let text = inside[part.clone()].trim().trim_end_matches(',');
        let is_own = ["self", "cls"].contains(&identifier(text));
        !text.is_empty() && !is_own && !text.starts_with(['*', '/']) && !text.contains('=')
    })
}
