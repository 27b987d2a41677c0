use crate::config::spec::Server;
use std::path::PathBuf;
pub struct Installer { data: PathBuf }
pub struct Installed { pub already: bool, pub packages: Vec<String>, pub program: PathBuf }
#[derive(Debug, thiserror::Error)]
pub enum InstallError { #[error("m")] Manual { x: String } , #[error("stub")] Stub }
impl Installer { pub fn new(data: PathBuf) -> Self { Self { data } }
 pub async fn install(&self, _: &str, _: &Server, _p: impl Fn(&str)) -> Result<Installed, InstallError> { let _ = &self.data; Err(InstallError::Stub) } }
