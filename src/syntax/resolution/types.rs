//! Types of values, as far as annotations, constructors and calls in the text show them.

use std::sync::Arc;

use tree_sitter::Node;

use super::definition::DefinitionRole;
use super::extract::last_name;
use super::resolve::{ResolutionStage, ResolutionTarget, Resolver};
use super::source::ParsedSource;
use crate::syntax::grammar::MemberAccess;

impl Resolver<'_> {
    /// The text of a type or path at a byte of `source`, resolved: every name in it that is known.
    pub(crate) fn names_in(
        &self,
        source: &Arc<ParsedSource>,
        text: &str,
        at: usize,
    ) -> Vec<ResolutionTarget> {
        let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':' | '\\');
        let mut found = Vec::new();
        for path in text.split(|c: char| !is_path(c)).filter(|path| !path.is_empty()) {
            let path = path.trim_matches(':').trim_matches('.');
            let mut parts = path.split(['.', ':', '\\']).filter(|part| !part.is_empty());
            let Some(first) = parts.next().filter(|first| !first.starts_with(|c: char| c.is_numeric()))
            else {
                continue;
            };
            let targets = parts
                .fold(self.resolve_name(source, first, at), |targets, part| self.of_modules(&targets, part));
            found.extend(targets);
        }
        found
    }

    /// The base types of a type.
    pub(super) fn base_types(&self, target: &ResolutionTarget) -> Vec<ResolutionTarget> {
        let ResolutionTarget::Definition(source, index) = target else { return Vec::new() };
        let name = &source.definitions[*index].name;
        let mut found = Vec::new();
        let extensions = source
            .definitions_named(name)
            .filter(|&other| source.definitions[other].role == DefinitionRole::Extension);
        for definition in std::iter::once(*index).chain(extensions).map(|index| &source.definitions[index]) {
            for base in &definition.bases {
                let text = source.slice(base);
                // A keyword argument of a Python class is not a base.
                let bases = self.names_in(
                    source,
                    text.split("metaclass").next().unwrap_or(text),
                    definition.selection.start,
                );
                found.extend(bases.into_iter().filter(|base| {
                    base.definition().is_some_and(|base| base.role.is_type() && base.name != *name)
                }));
            }
        }
        found
    }

    /// The types that a definition's values have, as far as the text shows them.
    pub(super) fn value_types(&self, target: &ResolutionTarget) -> Vec<ResolutionTarget> {
        self.with_step_limit(ResolutionStage::Members, || {
            let ResolutionTarget::Definition(source, index) = target else { return vec![target.clone()] };
            let definition = &source.definitions[*index];
            if definition.role.is_type()
                || matches!(definition.role, DefinitionRole::Module | DefinitionRole::Extension)
            {
                return vec![target.clone()];
            }
            if matches!(definition.role, DefinitionRole::EnumMember | DefinitionRole::Constructor) {
                return definition
                    .container
                    .as_ref()
                    .map_or_else(Vec::new, |class| self.resolve_name(source, class, definition.span.start));
            }
            if definition.role == DefinitionRole::Parameter
                && (source.grammar.selves.contains(&definition.name.as_str()))
                && let Some(class) = source.class_at(definition.selection.start)
            {
                return vec![ResolutionTarget::Definition(source.clone(), class)];
            }
            if let Some(span) = &definition.type_span {
                let found = self.names_in(source, source.slice(span), span.start);
                if !found.is_empty() || !source.slice(span).contains("auto") {
                    return found;
                }
            }
            match &definition.value_span {
                Some(span) => source.node(span).map_or_else(Vec::new, |value| self.type_of(source, value)),
                None => Vec::new(),
            }
        })
    }

    /// The types of the value of an expression.
    pub(crate) fn type_of(&self, source: &Arc<ParsedSource>, node: Node<'_>) -> Vec<ResolutionTarget> {
        self.with_step_limit(ResolutionStage::Members, || {
            self.resolve_expression(source, node).iter().flat_map(|target| self.value_types(target)).collect()
        })
    }

    /// Resolves an expression to the definitions, modules or types that it names or makes; a call
    /// to the type of its result.
    pub(crate) fn resolve_expression(
        &self,
        source: &Arc<ParsedSource>,
        node: Node<'_>,
    ) -> Vec<ResolutionTarget> {
        self.with_step_limit(ResolutionStage::Scopes, || {
            let grammar = source.grammar;
            let kind = node.kind();
            if grammar.transparent.contains(&kind) {
                return node
                    .named_child(0)
                    .map_or_else(Vec::new, |inner| self.resolve_expression(source, inner));
            }
            if let Some((_, callee)) = grammar.calls.iter().find(|(call, _)| *call == kind) {
                let made = match callee {
                    Some(field) => node
                        .child_by_field_name(field)
                        .map_or_else(Vec::new, |callee| self.call_result(source, callee)),
                    None => self.called_member(source, node),
                };
                if !made.is_empty() || callee.is_some() {
                    return made;
                }
            }
            if let Some(MemberAccess { owner, name }) = grammar.member_access(node) {
                let Some(name) = name else { return Vec::new() };
                return match owner {
                    Some(owner) => self.member_of(source, owner, last_name(source.text_of(name))),
                    None => self.resolve_name(source, source.text_of(name), name.start_byte()),
                };
            }
            match kind {
                "generic_type"
                | "pointer_type"
                | "reference_type"
                | "object_creation_expression"
                | "super"
                | "this"
                | "self"
                | "crate" => self.names_in(source, source.text_of(node), node.start_byte()),
                _ if node.named_child_count() == 0 || grammar.names.contains(&kind) => {
                    self.resolve_name(source, source.text_of(node), node.start_byte())
                }
                "conditional_expression" | "ternary_expression" | "binary_expression" => {
                    let parts =
                        (0..node.named_child_count() as u32).filter_map(|index| node.named_child(index));
                    parts
                        .map(|part| self.resolve_expression(source, part))
                        .find(|found| !found.is_empty())
                        .unwrap_or_default()
                }
                _ => Vec::new(),
            }
        })
    }

    /// Resolves the member `name` of the expression `owner`.
    pub(crate) fn member_of(
        &self,
        source: &Arc<ParsedSource>,
        owner: Node<'_>,
        name: &str,
    ) -> Vec<ResolutionTarget> {
        let owners = self.resolve_expression(source, owner);
        self.of_modules(&owners, name)
    }

    /// Resolves the result of a call of the expression `callee`.
    fn call_result(&self, source: &Arc<ParsedSource>, callee: Node<'_>) -> Vec<ResolutionTarget> {
        let targets = self.resolve_expression(source, callee);
        if targets.is_empty() && !callee.kind().ends_with("identifier") {
            // A method from outside the workspace (`unwrap`, `iter`, `get`) often returns its
            // receiver.
            let owner = source.grammar.member_access(callee).and_then(|access| access.owner);
            return owner.map_or_else(Vec::new, |owner| self.type_of(source, owner));
        }
        targets.iter().flat_map(|target| self.value_types(target)).collect()
    }

    fn called_member(&self, source: &Arc<ParsedSource>, call: Node<'_>) -> Vec<ResolutionTarget> {
        let Some(MemberAccess { owner, name: Some(name) }) = source.grammar.member_access(call) else {
            return Vec::new();
        };
        let Some(owner) = owner else {
            let targets = self.resolve_name(source, source.text_of(name), name.start_byte());
            return targets.iter().flat_map(|target| self.value_types(target)).collect();
        };
        let owners = self.resolve_expression(source, owner);
        // `Class.new` makes an object of the class.
        if source.text_of(name) == "new" {
            return owners;
        }
        self.of_modules(&owners, source.text_of(name))
            .iter()
            .flat_map(|target| self.value_types(target))
            .collect()
    }
}
