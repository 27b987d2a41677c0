//! A question about a place, from its address to the answer of a server or of the text.
//!
//! [`question`] resolves a target to a place ([`resolved_position`], [`ambiguous_name`]), asks the
//! server that navigates there, and judges the answer. If no server answers, the outcome is an
//! [`unanswered_question`], which [`fallback`] answers from the text with install advice.
//!
//! [`server_notes`] describes the servers of a language, [`project_setup`] missing set-up, and
//! [`retry_advice`] the caller's options after an early answer. [`early_start`] starts servers
//! ahead of the first question.

pub(crate) mod ambiguous_name;
pub(crate) mod early_start;
pub(crate) mod fallback;
mod named_place;
pub(crate) mod project_setup;
pub(crate) mod question;
pub(crate) mod resolved_position;
pub(crate) mod retry_advice;
pub(crate) mod server_notes;
pub(crate) mod unanswered_question;
