//! The rows of the report, as a table and as JSON.

use std::fs;
use std::path::Path;

use serde::Serialize;

/// One measured budget.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The bench.
    pub bench: &'static str,
    /// The server, or what else was measured.
    pub subject: String,
    /// What the figures are about.
    pub what: String,
    /// Ours.
    pub ours: f64,
    /// The raw client's, where there is one.
    pub raw: Option<f64>,
    /// Unit of the two.
    pub unit: &'static str,
    /// What the budget is about: a difference or a ratio, with its unit.
    pub judged: String,
    /// The budget in words; empty where the row only informs.
    pub budget: String,
    /// Whether it is met, where there is one.
    pub met: Option<bool>,
}

/// Prints one row.
pub fn print(row: &Row) {
    let raw = row.raw.map_or_else(|| "–".to_owned(), |raw| format!("{raw:.2}"));
    let met = match row.met {
        Some(true) => "met",
        Some(false) => "NOT MET",
        None => "",
    };
    println!(
        "{:<9}{:<28}{:<34}{:>11.2}{:>11} {:<3} {:<24}{:<22}{met}",
        row.bench, row.subject, row.what, row.ours, raw, row.unit, row.judged, row.budget
    );
}

/// Prints the head of the table.
pub fn print_head() {
    println!(
        "{:<9}{:<28}{:<34}{:>11}{:>11} {:<3} {:<24}{:<22}",
        "bench", "subject", "what", "ours", "raw", "", "difference or ratio", "budget"
    );
}

/// Writes all rows to `path`.
pub fn write(path: &Path, rows: &[Row]) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, serde_json::to_string_pretty(rows)?)?;
    Ok(())
}
