//! Parts of the rendering for terminals: capabilities, escapes, tables, trees, Markdown, JSON.

pub(crate) mod display;
pub(crate) mod escape;
pub(crate) mod frames;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod source;
pub(crate) mod table;
pub(crate) mod tree;
