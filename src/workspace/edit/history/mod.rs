//! Past transactions: their journal, rollback after a failure, and undo.

pub(crate) mod journal;
pub(crate) mod record;
pub(crate) mod retrace;
pub(crate) mod rollback;
pub(crate) mod undo;
