//! Tools that change files: what they answer, what they leave, what they say that they broke.

#[path = "../support/mod.rs"]
mod support;

mod breaks;
mod contract;
mod real;
mod together;
