//! The rows of the report, as a table and as JSON.

use std::fs;
use std::path::Path;

use serde::Serialize;

/// One measured budget.
#[derive(Debug, Serialize)]
pub struct Row {
    pub bench: &'static str,
    /// The server or other measured subject.
    pub subject: String,
    /// The measured quantity.
    pub what: String,
    /// Our value.
    pub ours: f64,
    /// The raw client's value, if measured.
    pub raw: Option<f64>,
    /// The unit of both values.
    pub unit: &'static str,
    /// The judged difference or ratio, with its unit.
    pub judged: String,
    /// The budget as text; empty if the row is informational.
    pub budget: String,
    /// Whether the budget is met, if there is one.
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

/// Prints the table header.
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
