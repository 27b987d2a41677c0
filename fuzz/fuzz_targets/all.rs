//! All fuzz targets in one program; FUZZ_TARGET selects one.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use lsp_tools::fuzz_targets::{TARGETS, Target};

static CHOSEN: LazyLock<&'static Target> = LazyLock::new(|| {
    let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    let given = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let chosen = TARGETS.iter().find(|target| target.name == given);
    chosen.unwrap_or_else(|| panic!("FUZZ_TARGET is {given:?}; accepted: {}", names()))
});

fuzz_target!(|bytes: &[u8]| (CHOSEN.run)(bytes));
