//! Skills: folders with instructions for models. A skill is a `SKILL.md` with front matter
//! ([`frontmatter`]) or a `skill.json` with prompts and definitions of tools ([`manifest`]), or
//! both.
//!
//! The folders ([`sources`]) are scanned in order, and one skill of each name is kept
//! ([`catalogue`]). The text of a skill is loaded on request ([`load`]). A skill is text, and so
//! are the definitions of tools in it. Definitions with a command ([`tools`]) become tools
//! by the same rules as dropped-in tools.
//!
//! A skill of the workspace comes from the authors of the repository, and models follow it. So it
//! is neither listed nor loaded before the user trusts exactly its text (`lsp-tools trust`), and it
//! never replaces one of the user's own.

pub(crate) mod catalogue;
pub(crate) mod frontmatter;
pub(crate) mod load;
pub(crate) mod manifest;
pub(crate) mod sources;
pub(crate) mod tools;
