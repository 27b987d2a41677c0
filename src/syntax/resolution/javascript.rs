//! Rules for JavaScript alone: the value of `module.exports`, and `this` outside a class.

use std::sync::Arc;

use super::definition::{DefinitionRole, SourceDefinition};
use super::resolve::{ResolutionTarget, Resolver};
use super::source::ParsedSource;

/// The maximum number of files through which the value of `module.exports` is followed.
const MAX_MODULE_EXPORTS_HOPS: usize = 8;

/// Returns true if `source` is JavaScript or TypeScript.
fn is_javascript(source: &ParsedSource) -> bool {
    matches!(source.grammar.key, "javascript" | "typescript" | "tsx")
}

impl Resolver<'_> {
    /// Resolves a module whose file has `module.exports = …` to the exported value; every other
    /// target stays.
    pub(super) fn resolve_module_exports(&self, target: ResolutionTarget) -> ResolutionTarget {
        let mut target = target;
        for _ in 0..MAX_MODULE_EXPORTS_HOPS {
            let ResolutionTarget::File(source) = &target else { break };
            match self.module_exports_target(source) {
                Some(behind) => target = behind,
                None => break,
            }
        }
        target
    }

    /// Resolves `module.exports = …` of a file to the class or function that it names, else to the
    /// assignment itself.
    fn module_exports_target(&self, source: &Arc<ParsedSource>) -> Option<ResolutionTarget> {
        if !is_javascript(source) {
            return None;
        }
        let is_whole = |&index: &usize| {
            let definition = &source.definitions[index];
            definition.role == DefinitionRole::Field && definition.container.as_deref() == Some("module")
        };
        let index = source.definitions_named("exports").find(is_whole)?;
        let value = source.definitions[index].value_span.as_ref().and_then(|span| source.node(span));
        let named = value.and_then(|value| {
            if value.kind() == "object" {
                return None;
            }
            let name = value.child_by_field_name("name");
            match name {
                Some(name) => self.resolve_name(source, source.text_of(name), name.start_byte()),
                None => self.resolve_expression(source, value),
            }
            .into_iter()
            .next()
        });
        named.or_else(|| Some(ResolutionTarget::Definition(source.clone(), index)))
    }

    /// Resolves `this` at a byte outside all classes: the constructor whose prototype the function
    /// belongs to, or the object literal that contains it.
    pub(super) fn receiver_at(&self, source: &Arc<ParsedSource>, at: usize) -> Vec<ResolutionTarget> {
        if !is_javascript(source) {
            return Vec::new();
        }
        let mut around: Vec<&SourceDefinition> =
            source.definitions.iter().filter(|definition| definition.span.contains(&at)).collect();
        around.sort_by_key(|definition| definition.span.len());
        for definition in around {
            let found = match (definition.role, definition.parent) {
                (DefinitionRole::Field, _) => definition
                    .container
                    .as_deref()
                    .filter(|container| !matches!(*container, "exports" | "module"))
                    .map_or_else(Vec::new, |container| {
                        self.resolve_name(source, container, definition.span.start)
                    }),
                (DefinitionRole::Method | DefinitionRole::Property, Some(parent)) => {
                    vec![ResolutionTarget::Definition(source.clone(), parent)]
                }
                _ => Vec::new(),
            };
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }
}
