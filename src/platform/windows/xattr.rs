//! Extended attributes of files, of which none are preserved here.

use serde::{Deserialize, Serialize};

use super::files::{AsFd, Result};

/// One extended attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attribute {}

/// Returns none.
pub(crate) fn read_all(_: impl AsFd) -> Result<Vec<Attribute>> {
    Ok(Vec::new())
}

/// Sets none.
pub(crate) fn write_all(_: impl AsFd, _: &[Attribute]) -> Result<()> {
    Ok(())
}
