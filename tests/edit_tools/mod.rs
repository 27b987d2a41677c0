//! Tools that change files: their answers, their results, and the reported errors.

mod breaks;
mod contract;
mod folders;
mod real;
mod together;
mod verdicts;
