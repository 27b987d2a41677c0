//! The names of semantic token types and modifiers (LSP 3.17, *Semantic Tokens*).

/// The types of tokens that are announced to editors (LSP 3.17, *SemanticTokenTypes*).
pub(crate) const TOKEN_TYPES: [&str; 23] = [
    "namespace",
    "type",
    "class",
    "enum",
    "interface",
    "struct",
    "typeParameter",
    "parameter",
    "variable",
    "property",
    "enumMember",
    "event",
    "function",
    "method",
    "macro",
    "keyword",
    "modifier",
    "comment",
    "string",
    "number",
    "regexp",
    "operator",
    "decorator",
];

/// The modifiers of tokens (LSP 3.17, *SemanticTokenModifiers*).
pub(crate) const TOKEN_MODIFIERS: [&str; 10] = [
    "declaration",
    "definition",
    "readonly",
    "static",
    "deprecated",
    "abstract",
    "async",
    "modification",
    "documentation",
    "defaultLibrary",
];
