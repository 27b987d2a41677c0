//! A check in CI: the machine-readable formats as their readers parse them, and the scripts of
//! `deploy/ci` with the variables of GitHub and GitLab.

mod formats;
mod scripts;
