//! The declaration whose name is at a position: its container, and whether it is the definition.

use std::time::Instant;

use super::grammar::Grammar;
use super::resolution::definition::{DefinitionRole, SourceDefinition};
use super::resolution::source::ParsedSource;
use crate::text::Position;
use crate::workspace::WorkspacePath;

/// The specifiers of C and C++ that declare a type, and define it if they have a body.
const TYPE_SPECIFIERS: [&str; 4] =
    ["class_specifier", "struct_specifier", "union_specifier", "enum_specifier"];

/// A declaration in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredName {
    /// The names of the namespaces and modules around it, the outermost first.
    pub namespaces: Vec<String>,
    /// The names of the types and functions around it, the outermost first.
    pub containers: Vec<String>,
    /// True for a namespace or a module.
    pub is_namespace: bool,
    /// True for a declaration without a body: a prototype, an `extern` variable, an incomplete
    /// type.
    pub is_only_declared: bool,
}

/// Returns true if a symbol of a file in `language` may be declared in another file, such as a
/// header.
pub(crate) fn has_headers(language: &str) -> bool {
    matches!(language, "c" | "cpp")
}

/// The place of a declaration.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DeclarationPlace {
    /// The declared name.
    Name(Position),
    /// The position of a symbol in a server's list: the name, or the start of the declaration, which
    /// may be a decorator or a modifier.
    Listed(Position),
}

/// Returns the declaration of `name` (unqualified) at `place` in `text`, which is or would be the
/// file `path` of `language`. `None` if no such name is declared there, or the language has no
/// grammar here.
pub(crate) fn declared_at(
    language: &str,
    path: &WorkspacePath,
    text: &str,
    name: &str,
    place: DeclarationPlace,
    deadline: Instant,
) -> Option<DeclaredName> {
    let grammar = Grammar::for_language(language, path.extension())?;
    let source = ParsedSource::new(path.clone(), grammar, text.to_owned(), deadline).ok()?;
    let (DeclarationPlace::Name(position) | DeclarationPlace::Listed(position)) = place;
    let byte = source.buffer().byte_offset(position);
    let find = |fits: &dyn Fn(&SourceDefinition) -> bool| {
        let mut all = source.definitions_named(name).map(|index| &source.definitions[index]);
        all.find(|definition| {
            let is_brought_in =
                matches!(definition.role, DefinitionRole::Import(_) | DefinitionRole::Extension);
            !is_brought_in && fits(definition)
        })
    };
    if let Some(own) = find(&|definition| source.range(&definition.selection).touches(position)) {
        return Some(declared_name(&source, own));
    }
    if is_type_without_body(&source, byte, name) {
        let (namespaces, containers) = (Vec::new(), Vec::new());
        return Some(DeclaredName { namespaces, containers, is_namespace: false, is_only_declared: true });
    }
    let begun = find(&|definition| {
        let around = definition.parent.map(|parent| &source.definitions[parent].span);
        definition.selection.start >= byte && around.is_none_or(|around| around.contains(&byte))
    });
    begun.filter(|_| matches!(place, DeclarationPlace::Listed(_))).map(|begun| declared_name(&source, begun))
}

fn declared_name(source: &ParsedSource, definition: &SourceDefinition) -> DeclaredName {
    let mut around = Vec::new();
    let mut next = definition.parent;
    while let Some(parent) = next.map(|parent| &source.definitions[parent]) {
        around.push(parent);
        next = parent.parent;
    }
    around.reverse();
    let (namespaces, within): (Vec<_>, Vec<_>) =
        around.into_iter().partition(|around| around.role == DefinitionRole::Module);
    let names = |all: Vec<&SourceDefinition>| all.into_iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    let mut containers = names(within);
    // Members that are defined outside of their type: `Cart::total` in C++, methods in Go.
    if let Some(owner) = definition.container.as_ref().filter(|owner| containers.last() != Some(owner)) {
        containers.push(owner.clone());
    }
    DeclaredName {
        namespaces: names(namespaces),
        containers,
        is_namespace: definition.role == DefinitionRole::Module,
        is_only_declared: is_only_declared(source, definition),
    }
}

fn is_only_declared(source: &ParsedSource, definition: &SourceDefinition) -> bool {
    if definition.role == DefinitionRole::Prototype {
        return true;
    }
    match source.node(&definition.span).map(|node| node.kind()) {
        // A method in the body of its class.
        Some("field_declaration") => definition.role.is_callable(),
        Some("declaration") => {
            definition.value_span.is_none() && source.slice(&definition.span).starts_with("extern ")
        }
        _ => false,
    }
}

/// Returns true if `name` at `byte` is a type that is declared there without its body (`struct
/// Cart;`).
fn is_type_without_body(source: &ParsedSource, byte: usize, name: &str) -> bool {
    let Some(leaf) = source.node(&(byte..byte + 1)).filter(|leaf| source.text_of(*leaf) == name) else {
        return false;
    };
    leaf.parent().is_some_and(|specifier| {
        TYPE_SPECIFIERS.contains(&specifier.kind())
            && specifier.child_by_field_name("body").is_none()
            && specifier.next_sibling().is_some_and(|next| next.kind() == ";")
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::text::{Buffer, identifiers_on_line};

    /// The declaration of the first `name` on the line that contains `mark`.
    fn at(file: &str, text: &str, mark: &str, name: &str) -> Option<DeclaredName> {
        let workspace = crate::workspace::Workspace::open(&std::env::temp_dir()).unwrap();
        let path = workspace.path(Path::new(file)).unwrap();
        let language = match path.extension().unwrap() {
            "rs" => "rust",
            "go" => "go",
            "h" | "c" => "c",
            _ => "cpp",
        };
        let line = u32::try_from(text.lines().position(|line| line.contains(mark)).unwrap()).unwrap();
        let found =
            identifiers_on_line(&Buffer::new(text), line).into_iter().find(|found| found.name == name);
        let deadline = Instant::now() + Duration::from_secs(60);
        declared_at(language, &path, text, name, DeclarationPlace::Name(found.unwrap().range.start), deadline)
    }

    #[test]
    fn use_before_a_namesake_is_no_declaration_except_of_a_symbol_that_begins_there() {
        let text = "int pay() { return total(1); }\nstatic int total(int a) { return a; }\n";
        assert_eq!(at("a.c", text, "return total", "total"), None);
        let workspace = crate::workspace::Workspace::open(&std::env::temp_dir()).unwrap();
        let path = workspace.path(Path::new("a.c")).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let listed = DeclarationPlace::Listed(Position::new(1, 0));
        assert!(declared_at("c", &path, text, "total", listed, deadline).is_some());
    }

    #[test]
    fn prototypes_externs_and_types_without_body_are_only_declared() {
        let text = "struct Cart;\nextern int rate;\nint total(int a);\nint *all(void);\n\
                    int rate = 1;\nint total(int a) { return a; }\nstruct Cart { int sum; };\n";
        for (mark, name, expected) in [
            ("struct Cart;", "Cart", Some(true)),
            ("extern", "rate", Some(true)),
            ("total(int a);", "total", Some(true)),
            ("all(void)", "all", Some(true)),
            ("rate = 1", "rate", Some(false)),
            ("return", "total", Some(false)),
            ("Cart {", "Cart", Some(false)),
            ("return", "a", Some(false)),
        ] {
            let found = at("m.c", text, mark, name).map(|found| found.is_only_declared);
            assert_eq!(found, expected, "{name} in {mark}");
        }
        assert_eq!(at("m.c", "int total(int a) {\n  return other(a);\n}\n", "other", "other"), None);
    }

    #[test]
    fn member_defined_outside_of_its_type_lies_in_it() {
        let text =
            "namespace shop {\nclass Cart {\n  int total();\n};\n}\nint shop::Cart::total() { return 1; }\n";
        let declared = at("m.cc", text, "int total();", "total").unwrap();
        assert_eq!((declared.namespaces, declared.containers), (vec!["shop".into()], vec!["Cart".into()]));
        assert!(declared.is_only_declared);
        let defined = at("m.cc", text, "return 1", "total").unwrap();
        assert_eq!((defined.containers, defined.is_only_declared), (vec!["Cart".into()], false));
        assert!(at("m.cc", text, "namespace", "shop").unwrap().is_namespace);
        let method = at("m.go", "package m\n\nfunc (c *Cart) Total() int { return 1 }\n", "Total", "Total");
        assert_eq!(method.unwrap().containers, ["Cart"]);
    }

    #[test]
    fn block_that_extends_a_type_declares_nothing_and_is_around_its_members() {
        let text =
            "struct Cart;\n\nimpl Cart {\n    fn total(&self) {}\n}\n\nmod tests {\n    fn total() {}\n}\n";
        assert_eq!(at("m.rs", text, "impl", "Cart"), None);
        assert_eq!(at("m.rs", text, "&self", "total").unwrap().containers, ["Cart"]);
        let nested = at("m.rs", text, "total() {}", "total").unwrap();
        assert_eq!((nested.namespaces, nested.containers.len()), (vec!["tests".into()], 0));
    }
}
