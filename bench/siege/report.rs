//! The rows of the report: attempts and violations of each attack.

use std::fs;
use std::path::Path;

use serde::Serialize;

/// One kind of attack.
#[derive(Debug, Serialize)]
pub struct Row {
    pub attack: &'static str,
    /// The attempts, as text.
    pub tried: String,
    /// The number of steps of the attack.
    pub steps: usize,
    /// The kinds of violations, with their counts.
    pub faults: Vec<(&'static str, usize)>,
}

impl Row {
    pub fn new(
        attack: &'static str,
        tried: String,
        steps: usize,
        faults: impl IntoIterator<Item = (&'static str, usize)>,
    ) -> Self {
        Self { attack, tried, steps, faults: faults.into_iter().collect() }
    }

    /// Whether a guarantee was violated, or the attack did not run.
    pub fn is_broken(&self) -> bool {
        self.steps == 0 || self.faults.iter().any(|(_, count)| *count > 0)
    }
}

/// Prints one row.
pub fn print(row: &Row) {
    let faults: Vec<String> = row.faults.iter().map(|(what, count)| format!("{count} {what}")).collect();
    let verdict = if row.is_broken() { "BROKEN" } else { "held" };
    println!("{}: {}: {}: {verdict}", row.attack, row.tried, faults.join(", "));
}

/// Writes all rows to `target/bench/siege.json`.
pub fn write(rows: &[Row]) -> anyhow::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench/siege.json");
    fs::create_dir_all(path.with_file_name(""))?;
    Ok(fs::write(path, serde_json::to_vec_pretty(rows)?)?)
}
