//! The stored reports of checks: in a folder of the user, and in a store that several machines
//! share.
//!
//! [`entry`] is what is stored, [`folder`] the user's own store. Entries of the [`shared`] store
//! have a [`signature`] of their writer, and only those of trusted writers are read. Entries are
//! data: nothing in them is run, and unreadable ones count as absent.

pub(super) mod entry;
pub(crate) mod folder;
pub(crate) mod shared;
pub(crate) mod signature;
