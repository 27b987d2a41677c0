//! What each server is tried on: `samples.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// All of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Samples {
    project: BTreeMap<String, Project>,
    server: BTreeMap<String, Server>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Project {
    language: String,
    file: String,
    hover: Option<Hover>,
    definition: Option<Definition>,
    wrong: Option<Wrong>,
    files: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    project: String,
    #[serde(default)]
    without: Without,
    hover: Option<Hover>,
    definition: Option<Definition>,
    wrong: Option<Wrong>,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// What is not expected of a server, and why.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Without {
    /// No hover.
    pub hover: Option<String>,
    /// No definition.
    pub definition: Option<String>,
    /// No diagnostics.
    pub diagnostics: Option<String>,
}

/// What hover must say.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hover {
    /// `LINE:NAME`, 1-based.
    pub at: String,
    /// What its text holds.
    pub says: String,
}

/// Where a definition must lead.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// `LINE:NAME`, 1-based.
    pub at: String,
    /// `FILE:LINE`, 1-based.
    pub leads: String,
}

/// An edit that makes the file wrong.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Wrong {
    /// What is replaced.
    pub in_place_of: String,
    /// By what.
    pub put: String,
    /// What some diagnostic then holds in its message or code, whatever the case; empty for any diagnostic.
    pub says: String,
}

/// One server's sample, ready to be written.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The catalogue's key of the language.
    pub language: String,
    /// The file that is asked about.
    pub file: String,
    /// What is not expected.
    pub without: Without,
    /// What hover must say.
    pub hover: Option<Hover>,
    /// Where a definition must lead.
    pub definition: Option<Definition>,
    /// An edit that makes the file wrong.
    pub wrong: Option<Wrong>,
    files: BTreeMap<String, String>,
}

impl Samples {
    /// Reads `samples.toml`.
    pub fn read() -> anyhow::Result<Self> {
        let samples: Self = toml::from_str(include_str!("samples.toml"))?;
        for (key, server) in &samples.server {
            anyhow::ensure!(samples.project.contains_key(&server.project), "{key} names no known project");
        }
        Ok(samples)
    }

    /// The sample of a server.
    pub fn of(&self, server: &str) -> Option<Sample> {
        let server = self.server.get(server)?;
        let project = self.project.get(&server.project)?;
        let mut files = project.files.clone();
        files.extend(server.files.clone());
        Some(Sample {
            language: project.language.clone(),
            file: project.file.clone(),
            without: server.without.clone(),
            hover: server.hover.clone().or_else(|| project.hover.clone()),
            definition: server.definition.clone().or_else(|| project.definition.clone()),
            wrong: server.wrong.clone().or_else(|| project.wrong.clone()),
            files,
        })
    }
}

impl Sample {
    /// Writes the project below `root`.
    pub fn write(&self, root: &Path) -> anyhow::Result<()> {
        for (path, text) in &self.files {
            let path = root.join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// The text of the file as it is right, and as it is wrong.
    pub fn texts(&self, wrong: &Wrong) -> anyhow::Result<(String, String)> {
        let right = self.files.get(&self.file).ok_or_else(|| anyhow::anyhow!("no text of {}", self.file))?;
        anyhow::ensure!(
            right.contains(&wrong.in_place_of),
            "{} does not hold {}",
            self.file,
            wrong.in_place_of
        );
        Ok((right.clone(), right.replacen(&wrong.in_place_of, &wrong.put, 1)))
    }
}
