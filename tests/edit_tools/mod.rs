//! Tools that change files: what they answer, what they leave, what they say that they broke.

mod breaks;
mod contract;
mod folders;
mod real;
mod together;
mod verdicts;
