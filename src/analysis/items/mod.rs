//! Parts of answers: places, symbols and findings, within a budget of bytes.

pub(crate) mod answer_places;
pub(crate) mod budget;
pub(crate) mod diagnostic_item;
pub(crate) mod named_places;
pub(crate) mod place;
pub(crate) mod short_range;
pub(crate) mod symbol_item;
