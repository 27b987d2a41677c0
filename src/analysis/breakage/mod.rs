//! The breakage of an edit: findings before and after, and files that the change reaches.
//!
//! The [`edited_text`]s of an edit show the changed declarations ([`declaration_changes`]). Their
//! users ([`impact`]), and the definitions that change with them ([`transitive_impact`]), are the
//! files to check. [`diagnostics_baseline`] checks them before and after; the difference is a
//! [`delta`] of [`delta_item`]s with a [`remedy`] each, and part of the [`edit_judgement`] that
//! every answer of an edit holds.

pub(crate) mod declaration_changes;
pub(crate) mod delta;
pub(crate) mod delta_item;
pub(crate) mod diagnostics_baseline;
pub(crate) mod edit_judgement;
pub(crate) mod edited_text;
pub(crate) mod impact;
pub(crate) mod remedy;
pub(crate) mod transitive_impact;
