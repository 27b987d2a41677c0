//! A question about a place, from its address to the answer of a server or of the text.

pub(crate) mod ambiguous_name;
pub(crate) mod early_start;
pub(crate) mod fallback;
pub(crate) mod project_setup;
pub(crate) mod question;
pub(crate) mod resolved_position;
pub(crate) mod retry_advice;
pub(crate) mod server_notes;
pub(crate) mod unanswered_question;
