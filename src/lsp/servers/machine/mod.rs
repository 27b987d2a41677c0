//! The machine's share of language servers: one memory budget and one queue of starts over all
//! processes of a user.
//!
//! Contents: the ledger (`ledger`), in which each process with servers records their memory use and
//! its pending starts; the conclusions from it (`snapshot`), which every process computes for
//! itself, with the same result; the wait of a start for its turn (`turn`, `hold`); the limits
//! (`limits`). May use: `config`. It knows no session and ends none: the manager measures its
//! servers, and ends its own.
//!
//! Data flow: the manager writes its measurements with [`MachineShare::record_servers`] and reads
//! the whole as a [`MachineSnapshot`]. A start takes a [`StartTurn`], which is in the ledger from
//! its first wait until its server was measured. The files are [held](crate::config::HeldFile), so
//! that a dying process leaves the budget and the queue.

mod hold;
mod ledger;
mod limits;
mod snapshot;
mod turn;

pub(crate) use ledger::{MachineShare, now_ms, read_ledger};
pub(crate) use limits::MachineLimits;
pub(crate) use snapshot::{LedgerServer, MIN_REST, MachineSnapshot, PassedOver, turn_length};
pub(crate) use turn::StartTurn;
