//! The breakage of an edit: findings before and after, and files that the change reaches.

pub(crate) mod declaration_changes;
pub(crate) mod delta;
pub(crate) mod delta_item;
pub(crate) mod diagnostics_baseline;
pub(crate) mod edit_judgement;
pub(crate) mod edited_text;
pub(crate) mod impact;
pub(crate) mod remedy;
pub(crate) mod transitive_impact;
