//! The tools for notes, changes, skills and tasks: their answers, also to bad input.

pub mod changed_files;
mod evil_repository;
mod house;
mod memory;
mod skills;
mod tasks;
mod todo;
