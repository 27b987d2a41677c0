//! Skills: folders with instructions for models. A skill is a `SKILL.md` with a head ([`frontmatter`]) or a `skill.json` with
//! prompts and definitions of tools ([`manifest`]), or both.
//!
//! How data passes: the folders in their order ([`sources`]) → every skill in them, those of one name settled ([`catalogue`]) →
//! the text of one ([`load`]). A skill is text, and so are the definitions of tools in it; those that name a command ([`tools`]) become
//! tools as those do that are dropped into a folder, by the same rules.
//!
//! A skill of the workspace is material of whoever wrote the repository, and it is meant to be followed. So it is neither
//! listed nor loaded before its owner has said yes to exactly its text (`lsp-tools trust`), and it never takes the place
//! of one of the user's own.

pub(crate) mod catalogue;
pub(crate) mod frontmatter;
pub(crate) mod load;
pub(crate) mod manifest;
pub(crate) mod sources;
pub(crate) mod tools;
