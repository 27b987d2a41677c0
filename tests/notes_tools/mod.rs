//! The tools that keep notes, tell what changed, load skills and hand out tasks: what each answers, also to bad input.

pub mod changed_files;
mod evil_repository;
mod house;
mod memory;
mod skills;
mod tasks;
mod todo;
