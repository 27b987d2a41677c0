//! A name that several symbols share: the one at the top level is chosen, else the error lists
//! their places.

use std::time::Instant;

use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::names::outline_cache::EnclosingSymbol;
use crate::syntax;
use crate::syntax::{DeclarationPlace, DeclaredName};
use crate::text::{LineColumn, Position};
use crate::workspace::WorkspacePath;

/// The most candidates that are listed.
const MAX_LISTED_CANDIDATES: usize = 10;
/// The most candidates that are compared.
const MAX_COMPARED_CANDIDATES: usize = 50;

/// The distance of a declaration from the words of a name. The nearest declaration is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameDistance {
    /// The declaration has exactly this name.
    Exact,
    /// Only namespaces and modules enclose the declaration.
    InNamespace,
    /// The declaration lies in a type or a function that the name does not mention.
    Nested,
}

impl NameDistance {
    fn new(declared: &DeclaredName, containers: &[&str]) -> Self {
        let DeclaredName { namespaces, containers: own, .. } = declared;
        match own.iter().eq(containers) {
            true if namespaces.is_empty() => Self::Exact,
            true => Self::InNamespace,
            false if namespaces.iter().chain(own).eq(containers) => Self::Exact,
            false => Self::Nested,
        }
    }
}

impl Context {
    /// The index of the entry of `places` (in `file`, or anywhere in the workspace) that `name`
    /// means, and a note that lists the others. The syntax trees of the files decide. A declaration
    /// is the same symbol as its definition, and all openings of a namespace are one symbol.
    ///
    /// # Errors
    /// `invalid_args` with the candidates if several are equally near.
    pub(crate) async fn choose_named(
        &self,
        name: &str,
        file: Option<&WorkspacePath>,
        places: &[(WorkspacePath, Position)],
    ) -> Result<(usize, Option<String>), ToolError> {
        let parts: Vec<&str> = name.split(['.', '#', ':']).filter(|part| !part.is_empty()).collect();
        let (last, containers) = parts.split_last().map_or((name, [].as_slice()), |(last, all)| (*last, all));
        let until = Instant::now() + syntax::DEADLINE;
        let compared = places.iter().take(MAX_COMPARED_CANDIDATES);
        let declared: Vec<Option<DeclaredName>> = match places.len() {
            1 => vec![None],
            _ => compared
                .map(|(path, at)| self.declared_at(path, DeclarationPlace::Listed(*at), last, until))
                .collect(),
        };
        let distance = |index: &usize| match &declared[*index] {
            Some(declared) => NameDistance::new(declared, containers),
            None => NameDistance::Nested,
        };
        let nearest = (0..declared.len()).map(|index| distance(&index)).min().unwrap_or(NameDistance::Nested);
        let near: Vec<usize> = (0..declared.len()).filter(|index| distance(index) == nearest).collect();
        let chosen = without_repetitions(near.clone(), &declared, places);
        match chosen.as_slice() {
            [one] if places.len() <= MAX_COMPARED_CANDIDATES => {
                let others: Vec<_> = (0..places.len()).filter(|index| !near.contains(index)).collect();
                let others: Vec<_> = others.into_iter().map(|index| places[index].clone()).collect();
                let note = match others.is_empty() {
                    true => None,
                    false => {
                        let (path, at) = &places[*one];
                        let taken = format!("{}:{}", path.display(), LineColumn::from(*at));
                        let listed = self.list_candidates(name, &others).await;
                        Some(format!("`{name}` was resolved to {taken}; other matches: {listed}"))
                    }
                };
                Ok((*one, note))
            }
            _ => {
                let within = file.map_or_else(|| "this workspace".to_owned(), WorkspacePath::display);
                let (count, candidates) = (places.len(), self.list_candidates(name, places).await);
                let error = format!("`{name}` matches {count} symbols in {within}: {candidates}");
                Err(ToolError::new(ErrorCode::InvalidArgs, error)
                    .with_hint("give FILE:LINE:COLUMN, Class.method or FILE:Class.method"))
            }
        }
    }

    /// The declaration of `name` at a place, in the text that the caller sees.
    pub(crate) fn declared_at(
        &self,
        path: &WorkspacePath,
        place: DeclarationPlace,
        name: &str,
        until: Instant,
    ) -> Option<DeclaredName> {
        let language = self.language_file_unchecked(path.clone()).ok()?.language?;
        let text = self.text(path).ok()?.to_string();
        syntax::declared_at(&language, path, &text, name, place, until)
    }

    /// The first of `places`, each with a description that distinguishes it.
    async fn list_candidates(&self, name: &str, places: &[(WorkspacePath, Position)]) -> String {
        let listed = &places[..places.len().min(MAX_LISTED_CANDIDATES)];
        let paths: Vec<String> = listed.iter().map(|(path, _)| path.display()).collect();
        let at: Vec<(&str, Position)> =
            paths.iter().zip(listed).map(|(path, (_, at))| (path.as_str(), *at)).collect();
        let symbols = self.enclosing_symbols(&at, Instant::now() + syntax::DEADLINE).await;
        let candidate = |((path, at), symbol): (&(&str, Position), Option<EnclosingSymbol>)| {
            let described = symbol.map(|symbol| described(name, &symbol)).unwrap_or_default();
            format!("{path}:{}{described}", LineColumn::from(*at))
        };
        let mut candidates: Vec<String> = at.iter().zip(symbols).map(candidate).collect();
        let more = places.len() - listed.len();
        candidates.extend((more > 0).then(|| format!("and {more} more")));
        candidates.join(", ")
    }
}

/// Removes repetitions from `near`: declarations of a symbol that is also defined there, namespaces
/// beside other symbols, and further openings of a namespace in the same file.
fn without_repetitions(
    mut near: Vec<usize>,
    declared: &[Option<DeclaredName>],
    places: &[(WorkspacePath, Position)],
) -> Vec<usize> {
    let is_namespace = |index: &usize| declared[*index].as_ref().is_some_and(|one| one.is_namespace);
    let defined: Vec<&DeclaredName> = near
        .iter()
        .filter_map(|index| declared[*index].as_ref())
        .filter(|one| !one.is_only_declared)
        .collect();
    near.retain(|index| {
        let declaration = declared[*index].as_ref().filter(|one| one.is_only_declared);
        declaration.is_none_or(|one| defined.iter().all(|other| other.containers != one.containers))
    });
    if !near.iter().all(is_namespace) {
        near.retain(|index| !is_namespace(index));
    }
    near.dedup_by(|one, other| {
        is_namespace(one) && is_namespace(other) && places[*one].0 == places[*other].0
    });
    near
}

/// ` (method Cart.total)`; for a declaration without a body, which encloses nothing, ` (in Cart)`.
fn described(name: &str, symbol: &EnclosingSymbol) -> String {
    let last = |name: &str| name.rsplit(['.', ':', '#']).next().map(str::to_owned);
    match last(&symbol.name) == last(name) {
        true => format!(" ({} {})", symbol.kind.name(), symbol.name),
        false => format!(" (in {})", symbol.name),
    }
}
