//! The command `schema`.

use super::Reply;
use crate::cli::args::{SettingsFileName, SettingsSchemaArgs};
use crate::cli::exit::CliExitStatus;
use crate::config::{Catalogue, Settings};

/// Prints the JSON Schema of a settings file.
pub(super) fn run(arguments: &SettingsSchemaArgs) -> Reply {
    let schema = match arguments.file {
        SettingsFileName::Settings => Settings::json_schema(),
        SettingsFileName::Servers => Catalogue::json_schema(),
    };
    Reply { out: format!("{schema:#}\n"), lines: Vec::new(), status: CliExitStatus::Answered }
}
