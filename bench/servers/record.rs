//! The results of the last trials, in `bench/results/servers.toml`, from which the server table in
//! docs/languages.md is generated.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::trial::{Cell, Row};

/// The first lines of the file.
const HEAD: &str = "# Written by `just servers --record`: what each server did on its sample, by key. A reason is given if it was\n# unexpected (`no: …`) or not tried (`-`).\n\n";
/// The maximum length of a reason, in characters.
const MAX_REASON_CHARS: usize = 100;

/// The result of a server's last trial.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    /// The packages and their versions; empty if they are not pinned.
    version: String,
    date: String,
    hover: String,
    definition: String,
    diagnostics: String,
}

/// Adds the rows of installed servers to the file.
pub fn record(rows: &[Row], date: &str) -> anyhow::Result<()> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("bench/results/servers.toml");
    let known = fs::read_to_string(&path)?;
    let mut records: BTreeMap<String, Record> = toml::from_str(&known)?;
    for row in rows.iter().filter(|row| !matches!(row.installed, Cell::Wrong { .. })) {
        let known = records.get(&row.server).map(|record| record.version.clone());
        let record = Record {
            // The packages of a server that was already installed are unknown.
            version: Some(row.version.clone())
                .filter(|version| !version.is_empty())
                .or(known)
                .unwrap_or_default(),
            date: date.to_owned(),
            hover: outcome(&row.hover),
            definition: outcome(&row.definition),
            diagnostics: outcome(&row.diagnostics),
        };
        records.insert(row.server.clone(), record);
    }
    fs::write(path, format!("{HEAD}{}", toml::to_string(&records)?))?;
    Ok(())
}

fn outcome(cell: &Cell) -> String {
    match cell {
        Cell::Right { .. } => "yes".to_owned(),
        Cell::Skipped { .. } => "-".to_owned(),
        Cell::Wrong { why, .. } => format!("no: {}", why.chars().take(MAX_REASON_CHARS).collect::<String>()),
    }
}
