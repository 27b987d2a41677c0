//! The samples on which servers are tried: `samples.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

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

/// The reasons why a server is not expected to answer a request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Without {
    pub hover: Option<String>,
    pub definition: Option<String>,
    pub diagnostics: Option<String>,
}

/// The expected hover.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hover {
    /// `LINE:NAME`, 1-based.
    pub at: String,
    /// A part of its text.
    pub says: String,
}

/// The expected definition.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// `LINE:NAME`, 1-based.
    pub at: String,
    /// `FILE:LINE`, 1-based.
    pub leads: String,
}

/// An edit that introduces an error.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Wrong {
    /// The replaced text.
    pub in_place_of: String,
    /// The replacement.
    pub put: String,
    /// A part of the message or code of an expected diagnostic, ignoring case; empty for any
    /// diagnostic.
    pub says: String,
}

/// One server's sample.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The catalogue's key of the language.
    pub language: String,
    /// The queried file.
    pub file: String,
    pub without: Without,
    pub hover: Option<Hover>,
    pub definition: Option<Definition>,
    /// An edit that introduces an error.
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
    /// Writes the project into `root`.
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

    /// The text of the file without and with the error.
    pub fn texts(&self, wrong: &Wrong) -> anyhow::Result<(String, String)> {
        let right = self.files.get(&self.file).ok_or_else(|| anyhow::anyhow!("no text of {}", self.file))?;
        anyhow::ensure!(
            right.contains(&wrong.in_place_of),
            "{} does not contain {}",
            self.file,
            wrong.in_place_of
        );
        Ok((right.clone(), right.replacen(&wrong.in_place_of, &wrong.put, 1)))
    }
}
