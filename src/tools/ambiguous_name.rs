//! The error for a name that several symbols answer to: it lists them, each with what tells it from the others.

use std::time::Instant;

use super::context::Context;
use super::error::{ErrorCode, ToolError};
use super::outline_cache::EnclosingSymbol;
use crate::hints;
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// The most candidates that are listed.
const MAX_LISTED_CANDIDATES: usize = 10;

impl Context {
    /// Lists what `name` means at `places`, in `file` or anywhere in the workspace. Each name can be asked about as it is written, as far as
    /// the syntax tree of its file is known.
    pub(crate) async fn ambiguous_name_error(
        &self,
        name: &str,
        file: Option<&WorkspacePath>,
        places: &[(WorkspacePath, Position)],
    ) -> ToolError {
        let listed = &places[..places.len().min(MAX_LISTED_CANDIDATES)];
        let paths: Vec<String> = listed.iter().map(|(path, _)| path.display()).collect();
        let at: Vec<(&str, Position)> =
            paths.iter().zip(listed).map(|(path, (_, at))| (path.as_str(), *at)).collect();
        let symbols = self.enclosing_symbols(&at, Instant::now() + hints::DEADLINE).await;
        let mut candidates: Vec<String> = at
            .iter()
            .zip(symbols)
            .map(|((path, at), symbol)| {
                let line = u64::from(at.line) + 1;
                let place = if file.is_some() { line.to_string() } else { format!("{path}:{line}") };
                place + &symbol.map(|symbol| described(name, &symbol)).unwrap_or_default()
            })
            .collect();
        let more = places.len() - listed.len();
        candidates.extend((more > 0).then(|| format!("and {more} more")));
        let within = file.map_or_else(|| "this workspace".to_owned(), WorkspacePath::display);
        let (count, candidates) = (places.len(), candidates.join(", "));
        ToolError::new(
            ErrorCode::InvalidArgs,
            format!("`{name}` means {count} symbols in {within}: {candidates}"),
        )
        .with_hint("name the one meant: `path`, `line` and `symbol` (FILE:LINE:NAME at the shell; lines here are counted from 1), or qualify it: Class.method")
    }
}

/// ` (method Cart.total)`; of what has no body, and so is around nothing, ` (in Cart)`.
fn described(name: &str, symbol: &EnclosingSymbol) -> String {
    let last = |name: &str| name.rsplit(['.', ':', '#']).next().map(str::to_owned);
    match last(&symbol.name) == last(name) {
        true => format!(" ({} {})", symbol.kind.name(), symbol.name),
        false => format!(" (in {})", symbol.name),
    }
}
