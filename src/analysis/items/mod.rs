//! Parts of answers: places, symbols and findings, within a budget of bytes.
//!
//! [`answer_places`] converts a server's locations to [`place`]s; [`symbol_item`] and
//! [`diagnostic_item`] have the other items, [`short_range`] the written form of ranges, and
//! [`named_places`] places in the sentences of notes. [`budget`] limits the size of servers'
//! contributions.

pub(crate) mod answer_places;
pub(crate) mod budget;
pub(crate) mod diagnostic_item;
pub(crate) mod named_places;
pub(crate) mod place;
pub(crate) mod short_range;
pub(crate) mod symbol_item;
