//! LSP 3.17 *Semantic Tokens*: packed positions, and conversion of each server's numbers.

use serde_json::{Value, json};

use super::conventions::EditorConventions;
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::semantic_tokens::{TOKEN_MODIFIERS, TOKEN_TYPES};
use crate::text::EncodedPosition;

/// One token with an absolute position.
struct AbsoluteToken {
    line: u32,
    unit: u32,
    length: u32,
    kind: usize,
    modifiers: u64,
}

impl Session {
    /// Converts a server's tokens to the editor's numbers and columns. Tokens of types that only
    /// the server knows are left out.
    pub(super) fn tokens_to_editor(
        &self,
        conventions: &EditorConventions,
        snapshot: &Snapshot,
        value: &Value,
    ) -> Value {
        let Some(packed) = value["data"].as_array() else { return Value::Null };
        let legend = self.legend(snapshot);
        let names = |which: &str| -> Vec<String> {
            let names = legend[which].as_array().into_iter().flatten();
            names.map(|name| name.as_str().unwrap_or_default().to_owned()).collect()
        };
        let (types, modifiers) = (names("tokenTypes"), names("tokenModifiers"));
        let packed: Vec<u32> =
            packed.iter().filter_map(|number| u32::try_from(number.as_u64()?).ok()).collect();
        let (mut line, mut unit) = (0_u32, 0_u32);
        let mut tokens = Vec::new();
        for token in packed.chunks_exact(5) {
            unit = if token[0] == 0 { unit.saturating_add(token[1]) } else { token[1] };
            line = line.saturating_add(token[0]);
            let known =
                types.get(token[3] as usize).and_then(|name| TOKEN_TYPES.iter().position(|own| own == name));
            let Some(kind) = known else { continue };
            let set = modifiers.iter().enumerate().take(32).filter(|(bit, _)| token[4] >> bit & 1 == 1);
            let known = set.filter_map(|(_, name)| TOKEN_MODIFIERS.iter().position(|own| own == name));
            let modifiers = known.fold(0, |bits, bit| bits | 1 << bit);
            tokens.push(AbsoluteToken { line, unit, length: token[2], kind, modifiers });
        }
        self.encode_tokens(conventions, snapshot, &tokens)
    }

    fn encode_tokens(
        &self,
        conventions: &EditorConventions,
        snapshot: &Snapshot,
        tokens: &[AbsoluteToken],
    ) -> Value {
        let encoding = self.capabilities.encoding;
        let column = |line: u32, unit: u32| {
            let position = snapshot.buffer.decode(EncodedPosition { line, unit, encoding });
            snapshot.buffer.encode(position, conventions.encoding).unit
        };
        let (mut data, mut before) = (Vec::new(), (0, 0));
        for token in tokens {
            let start = column(token.line, token.unit);
            let end = column(token.line, token.unit.saturating_add(token.length));
            let delta = token.line - before.0;
            let along = if delta == 0 { start.saturating_sub(before.1) } else { start };
            data.extend([delta.into(), along.into(), end.saturating_sub(start).into()]);
            data.extend([Value::from(token.kind), token.modifiers.into()]);
            before = (token.line, start);
        }
        json!({ "data": data })
    }

    fn legend(&self, snapshot: &Snapshot) -> Value {
        let announced = self.capabilities.semantic_legend();
        announced.unwrap_or_else(|| {
            let absolute = self.workspace.absolute(&snapshot.path);
            let method = "textDocument/semanticTokens";
            self.state.with_registrations(|known| {
                let mut options = known.all_options(method, &snapshot.language_id, &absolute);
                options.next().map(|options| options["legend"].clone()).unwrap_or_default()
            })
        })
    }
}
