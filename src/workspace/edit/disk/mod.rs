//! Steps on the disk: inspection, execution and locks, beneath open handles of folders.

pub(crate) mod apply;
pub(crate) mod atomic;
pub(crate) mod folders;
pub(crate) mod inspect;
pub(crate) mod leftover;
pub(crate) mod locate;
pub(crate) mod lock;
pub(crate) mod trees;
