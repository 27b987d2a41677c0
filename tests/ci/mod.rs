//! A check in CI: the formats that machines read, as their readers do, and the scripts of `deploy/ci` under the variables of GitHub and
//! GitLab.

mod formats;
mod scripts;
