//! Checks in CI: the machine-readable formats as their readers parse them, and the scripts of
//! `deploy/ci` with GitHub's and GitLab's variables.

mod formats;
mod scripts;
