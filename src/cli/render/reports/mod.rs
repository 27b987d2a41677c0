//! Reports of checks in the formats of CI systems.

pub(crate) mod github;
pub(crate) mod gitlab;
pub(crate) mod junit;
pub(crate) mod report;
pub(crate) mod sarif;
