//! The framework of tools: their trait, registry, schemas, arguments and results.
//!
//! [`tool`] has the trait and the card, [`built_in`] the list of tools for the [`registry`].
//! [`drop_in`] and [`source`] add tools from elsewhere, [`export`] writes lists for models.
//!
//! A call's arguments are renamed ([`argument_aliases`]) and checked by the [`schema`]; an
//! [`address`] or [`place_address`] names a place. The [`result`] has a form for programs and an
//! [`answer_text`] for models. [`tool_state`] lasts between calls: the [`edit_scheduler`] and
//! [`overlays`], among others.

pub(crate) mod address;
pub(crate) mod answer_text;
pub(crate) mod argument_aliases;
pub(crate) mod built_in;
pub(crate) mod drop_in;
pub(crate) mod edit_scheduler;
pub(crate) mod export;
pub(crate) mod hidden;
pub(crate) mod listed_schema;
pub(crate) mod only_paths;
pub(crate) mod overlays;
pub(crate) mod path_suggestion;
pub(crate) mod place_address;
pub(crate) mod registry;
pub(crate) mod result;
pub(crate) mod schema;
pub(crate) mod source;
pub(crate) mod timestamp;
pub(crate) mod tool;
pub(crate) mod tool_state;
pub(crate) mod trace;
