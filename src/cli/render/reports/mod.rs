//! Reports of checks in the formats of CI systems.
//!
//! [`report`] collects the findings and files of any check; each format is a function of it.

pub(crate) mod github;
pub(crate) mod gitlab;
pub(crate) mod junit;
pub(crate) mod report;
pub(crate) mod sarif;
