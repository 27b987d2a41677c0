//! Tests of the edit path on real file systems.
//!
//! They cover the preserved attributes, refusals, undo, and the effects of kills, full disks,
//! concurrent writers and exchanged folders.

mod back;
mod bench;
mod full;
mod kept;
mod kill;
mod race;
mod refused;
mod swap;
