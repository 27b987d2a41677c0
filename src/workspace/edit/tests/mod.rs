//! The one edit path, on real file systems: what survives an edit, what is refused, the way back, and what no kill, no full
//! disk, no other writer and no swapped folder may do.

mod back;
mod bench;
mod full;
mod kept;
mod kill;
mod race;
mod refused;
mod swap;
