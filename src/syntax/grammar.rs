//! The languages that are read with a grammar: one table entry each.

use std::sync::{LazyLock, OnceLock};

use tree_sitter::{Language, Node, Query};

/// The description of one language's syntax tree, as data; the queries are in `queries/`.
pub(crate) struct Grammar {
    /// The catalogue's key of the language; TSX files of `typescript` have an entry of their own,
    /// `tsx`.
    pub(crate) key: &'static str,
    language: fn() -> Language,
    source: &'static str,
    query: OnceLock<Query>,
    /// Leaf nodes that are names.
    pub(crate) names: &'static [&'static str],
    /// Accesses to a member: kind, field of the owner, field of the member's name.
    pub(crate) members: &'static [(&'static str, &'static str, &'static str)],
    /// Calls and constructions: the kind, and the field of the callee (`None`: the call is itself a
    /// member access).
    pub(crate) calls: &'static [(&'static str, Option<&'static str>)],
    /// Expressions whose type is that of their first named child.
    pub(crate) transparent: &'static [&'static str],
    /// Fields of pattern nodes that bind nothing.
    pub(crate) unbound: &'static [(&'static str, &'static str)],
    /// Arguments given by name: kind, field of the name.
    pub(crate) named_arguments: &'static [(&'static str, &'static str)],
    /// Names of the present object or class.
    pub(crate) selves: &'static [&'static str],
    /// True if members are visible by their plain name inside their class.
    pub(crate) implicit_members: bool,
    /// True if a later definition in the same scope hides an earlier one.
    pub(crate) shadowing: bool,
    /// True if types open no scope for the names inside (C).
    pub(crate) flat_types: bool,
}

/// Returns true if files of `language` can be parsed, so that names in them are known.
pub(crate) fn has_grammar(language: &str) -> bool {
    Grammar::for_language(language, None).is_some()
}

/// The parts of an access to a member, as far as they are written.
pub(super) struct MemberAccess<'t> {
    /// The expression that has the member.
    pub(crate) owner: Option<Node<'t>>,
    /// The member's name.
    pub(crate) name: Option<Node<'t>>,
}

impl Grammar {
    /// Returns the parts of `node`, if it is an access to a member.
    pub(super) fn member_access<'t>(&self, node: Node<'t>) -> Option<MemberAccess<'t>> {
        let (_, owner, name) = self.members.iter().find(|(kind, ..)| *kind == node.kind())?;
        let part = |field: &str| node.child_by_field_name(field);
        Some(MemberAccess { owner: part(owner), name: part(name) })
    }

    /// Returns the grammar for a file of `language` (a key of the catalogue), which may depend on
    /// the file's extension. `None` if there is none; the file is then read by patterns.
    pub(super) fn for_language(language: &str, extension: Option<&str>) -> Option<&'static Grammar> {
        let key = match (language, extension) {
            ("typescript", Some("tsx")) => "tsx",
            // A header is C as well as C++; the larger grammar reads both.
            ("c", Some("h")) => "cpp",
            _ => language,
        };
        GRAMMARS.iter().find(|grammar| grammar.key == key)
    }

    /// The tree-sitter language.
    pub(super) fn language(&self) -> Language {
        (self.language)()
    }

    /// The query that finds definitions, scopes and the text that does not count.
    pub(super) fn query(&self) -> &Query {
        self.query.get_or_init(|| match Query::new(&self.language(), self.source) {
            Ok(query) => query,
            Err(error) => panic!("the query for {} in this crate is wrong: {error}", self.key),
        })
    }
}

fn grammar(key: &'static str, language: fn() -> Language, source: &'static str) -> Grammar {
    Grammar {
        key,
        language,
        source,
        query: OnceLock::new(),
        names: &["identifier"],
        members: &[],
        calls: &[],
        transparent: &[],
        unbound: &[],
        named_arguments: &[],
        selves: &[],
        implicit_members: false,
        shadowing: false,
        flat_types: false,
    }
}

const JS_NAMES: &[&str] = &[
    "identifier",
    "property_identifier",
    "private_property_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
    "type_identifier",
    "this_type",
];
const JS_MEMBERS: &[(&str, &str, &str)] = &[
    ("member_expression", "object", "property"),
    ("nested_identifier", "object", "property"),
    ("nested_type_identifier", "module", "name"),
];
const JS_CALLS: &[(&str, Option<&str>)] =
    &[("call_expression", Some("function")), ("new_expression", Some("constructor"))];
const JS_TRANSPARENT: &[&str] = &[
    "parenthesized_expression",
    "await_expression",
    "non_null_expression",
    "as_expression",
    "satisfies_expression",
    "subscript_expression",
];
const JS_UNBOUND: &[(&str, &str)] =
    &[("pair_pattern", "key"), ("assignment_pattern", "right"), ("object_assignment_pattern", "right")];

fn javascript(key: &'static str, language: fn() -> Language, source: &'static str) -> Grammar {
    Grammar {
        names: JS_NAMES,
        members: JS_MEMBERS,
        calls: JS_CALLS,
        transparent: JS_TRANSPARENT,
        unbound: JS_UNBOUND,
        selves: &["this"],
        ..grammar(key, language, source)
    }
}

const C_NAMES: &[&str] =
    &["identifier", "field_identifier", "type_identifier", "namespace_identifier", "statement_identifier"];
const C_MEMBERS: &[(&str, &str, &str)] =
    &[("field_expression", "argument", "field"), ("qualified_identifier", "scope", "name")];
const C_TRANSPARENT: &[&str] = &["parenthesized_expression", "pointer_expression", "subscript_expression"];

static GRAMMARS: LazyLock<[Grammar; 13]> = LazyLock::new(|| {
    [
        Grammar {
            members: &[("attribute", "object", "attribute")],
            calls: &[("call", Some("function"))],
            transparent: &["parenthesized_expression", "await", "subscript", "boolean_operator"],
            unbound: &[("subscript", "value"), ("attribute", "object"), ("attribute", "attribute")],
            named_arguments: &[("keyword_argument", "name")],
            selves: &["self", "cls"],
            ..grammar("python", || tree_sitter_python::LANGUAGE.into(), include_str!("queries/python.scm"))
        },
        javascript(
            "javascript",
            || tree_sitter_javascript::LANGUAGE.into(),
            include_str!("queries/javascript.scm"),
        ),
        javascript(
            "typescript",
            || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            include_str!("queries/typescript.scm"),
        ),
        javascript(
            "tsx",
            || tree_sitter_typescript::LANGUAGE_TSX.into(),
            include_str!("queries/typescript.scm"),
        ),
        Grammar {
            names: &["identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"],
            members: &[
                ("field_expression", "value", "field"),
                ("scoped_identifier", "path", "name"),
                ("scoped_type_identifier", "path", "name"),
            ],
            calls: &[("call_expression", Some("function")), ("struct_expression", Some("name"))],
            transparent: &[
                "parenthesized_expression",
                "await_expression",
                "try_expression",
                "reference_expression",
                "unary_expression",
                "index_expression",
                "generic_function",
            ],
            unbound: &[
                ("tuple_struct_pattern", "type"),
                ("struct_pattern", "type"),
                ("match_pattern", "condition"),
                ("scoped_identifier", "path"),
                ("scoped_identifier", "name"),
            ],
            named_arguments: &[("field_initializer", "field"), ("field_pattern", "name")],
            selves: &["self", "Self"],
            shadowing: true,
            ..grammar("rust", || tree_sitter_rust::LANGUAGE.into(), include_str!("queries/rust.scm"))
        },
        Grammar {
            names: &["identifier", "type_identifier", "field_identifier", "package_identifier"],
            members: &[("selector_expression", "operand", "field"), ("qualified_type", "package", "name")],
            calls: &[("call_expression", Some("function")), ("composite_literal", Some("type"))],
            transparent: &[
                "parenthesized_expression",
                "unary_expression",
                "index_expression",
                "type_assertion_expression",
            ],
            shadowing: true,
            ..grammar("go", || tree_sitter_go::LANGUAGE.into(), include_str!("queries/go.scm"))
        },
        Grammar {
            names: C_NAMES,
            members: C_MEMBERS,
            calls: &[("call_expression", Some("function"))],
            transparent: C_TRANSPARENT,
            flat_types: true,
            ..grammar("c", || tree_sitter_c::LANGUAGE.into(), include_str!("queries/c.scm"))
        },
        Grammar {
            names: C_NAMES,
            members: C_MEMBERS,
            calls: &[("call_expression", Some("function")), ("new_expression", Some("type"))],
            transparent: C_TRANSPARENT,
            selves: &["this"],
            implicit_members: true,
            ..grammar("cpp", || tree_sitter_cpp::LANGUAGE.into(), include_str!("queries/cpp.scm"))
        },
        Grammar {
            names: &["identifier", "type_identifier"],
            members: &[
                ("field_access", "object", "field"),
                ("method_invocation", "object", "name"),
                ("scoped_identifier", "scope", "name"),
            ],
            calls: &[("method_invocation", None), ("object_creation_expression", Some("type"))],
            transparent: &["parenthesized_expression", "array_access"],
            selves: &["this", "super"],
            implicit_members: true,
            ..grammar("java", || tree_sitter_java::LANGUAGE.into(), include_str!("queries/java.scm"))
        },
        Grammar {
            members: &[
                ("member_access_expression", "expression", "name"),
                ("qualified_name", "qualifier", "name"),
            ],
            calls: &[
                ("invocation_expression", Some("function")),
                ("object_creation_expression", Some("type")),
            ],
            transparent: &["parenthesized_expression", "await_expression"],
            selves: &["this", "base"],
            implicit_members: true,
            ..grammar("csharp", || tree_sitter_c_sharp::LANGUAGE.into(), include_str!("queries/csharp.scm"))
        },
        Grammar {
            names: &[
                "identifier",
                "constant",
                "instance_variable",
                "class_variable",
                "global_variable",
                "simple_symbol",
                "hash_key_symbol",
            ],
            members: &[("call", "receiver", "method"), ("scope_resolution", "scope", "name")],
            calls: &[("call", None)],
            transparent: &["parenthesized_statements"],
            selves: &["self"],
            implicit_members: true,
            ..grammar("ruby", || tree_sitter_ruby::LANGUAGE.into(), include_str!("queries/ruby.scm"))
        },
        Grammar {
            names: &["name", "variable_name"],
            members: &[
                ("member_call_expression", "object", "name"),
                ("nullsafe_member_call_expression", "object", "name"),
                ("member_access_expression", "object", "name"),
                ("nullsafe_member_access_expression", "object", "name"),
                ("scoped_call_expression", "scope", "name"),
                ("scoped_property_access_expression", "scope", "name"),
            ],
            calls: &[
                ("member_call_expression", None),
                ("scoped_call_expression", None),
                ("function_call_expression", Some("function")),
            ],
            transparent: &["parenthesized_expression", "clone_expression"],
            selves: &["$this", "self", "static", "parent"],
            ..grammar("php", || tree_sitter_php::LANGUAGE_PHP.into(), include_str!("queries/php.scm"))
        },
        Grammar {
            names: &["word", "variable_name", "command_name"],
            shadowing: true,
            ..grammar("shell", || tree_sitter_bash::LANGUAGE.into(), include_str!("queries/bash.scm"))
        },
    ]
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::resolution::extract::ROLES;

    #[test]
    fn tree_sitter_query_compiles_for_every_grammar() {
        for grammar in GRAMMARS.iter() {
            if let Err(error) = Query::new(&grammar.language(), grammar.source) {
                panic!("{}: {error}", grammar.key);
            }
        }
    }

    #[test]
    fn tree_sitter_definition_captures_have_known_roles() {
        for grammar in GRAMMARS.iter() {
            for name in grammar.query().capture_names().iter().filter_map(|name| name.strip_prefix("def.")) {
                assert!(ROLES.iter().any(|(known, _)| *known == name), "{}: {name}", grammar.key);
            }
        }
    }

    #[test]
    fn grammar_node_kinds_and_fields_exist() {
        for grammar in GRAMMARS.iter() {
            let language = grammar.language();
            let kind = |kind: &str| {
                // JavaScript and C share the tables of TypeScript and C++, whose grammars have more
                // kinds.
                let known =
                    language.id_for_node_kind(kind, true) != 0 || matches!(grammar.key, "javascript" | "c");
                assert!(known, "{}: {kind}", grammar.key);
            };
            let field = |field: &str| {
                let known =
                    language.field_id_for_name(field).is_some() || matches!(grammar.key, "javascript" | "c");
                assert!(known, "{}: {field}", grammar.key);
            };
            for (node, owner, name) in grammar.members {
                kind(node);
                field(owner);
                field(name);
            }
            grammar.calls.iter().for_each(|(node, callee)| {
                kind(node);
                callee.iter().for_each(|callee| field(callee));
            });
            grammar.transparent.iter().for_each(|node| kind(node));
            for (node, name) in grammar.unbound.iter().chain(grammar.named_arguments) {
                kind(node);
                field(name);
            }
        }
    }
}
