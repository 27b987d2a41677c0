//! Uses of a symbol by all servers and roots, compared with the text, and the doubts that remain.

pub(crate) mod conditional_uses;
pub(crate) mod doubt;
pub(crate) mod mergeable_answer;
pub(crate) mod multi_server_query;

pub(crate) mod occurrence_note;
pub(crate) mod other_roots;
