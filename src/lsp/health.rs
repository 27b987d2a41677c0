use super::locate::Located; use crate::config::spec::Server;
pub struct Finding { pub message: String, pub install: String }
pub async fn version(_: &Located) -> Option<String> { None }
pub async fn findings(_: &str, _: &Server, _: &Located) -> Vec<Finding> { vec![] }
