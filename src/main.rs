//! The binary: parse the command line, open one door.

fn main() {}
