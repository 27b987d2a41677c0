//! Uses of a symbol by all servers and roots, compared with the text, and the doubts that remain.
//!
//! [`multi_server_query`] asks the server of the symbol, and then those of [`other_roots`] whose
//! files mention the name. Their [`mergeable_answer`]s become one. Occurrences in the text that no
//! server listed lower its verdict ([`text_doubts`]) or become an [`occurrence_note`];
//! [`conditional_uses`] has those in code that a server may not read.

pub(crate) mod conditional_uses;
pub(crate) mod mergeable_answer;
pub(crate) mod multi_server_query;
pub(crate) mod occurrence_note;
pub(crate) mod other_roots;
pub(crate) mod text_doubts;
