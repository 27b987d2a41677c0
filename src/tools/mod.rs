//! The tools by folder, and their framework.
//!
//! [`api`] is the framework. A tool is one file in [`files`], [`mod@edit`], [`language`],
//! [`shell`], [`agent`] or [`vcs`]: its arguments, its card and one call of `analysis` or
//! `workspace`. Other files in these folders are the private parts of the folder's tools. May use:
//! everything below, and no entry point.

pub(crate) mod agent;
pub(crate) mod api;
pub(crate) mod edit;
pub(crate) mod files;
pub(crate) mod language;
pub(crate) mod shell;
pub(crate) mod vcs;
