//! The servers of a workspace: found, installed, started, budgeted and ended.
//!
//! [`manager`] owns all sessions; [`machine`] shares the machine with other processes. [`locate`],
//! [`interpreters`] and [`server_choice`] find programs and choose among them; [`install`] and
//! [`install_advice`] provide them; [`health`] checks them. [`judge`] and [`python`] read the
//! versions and environments that projects pin. [`project`] determines the part of a project that a
//! server covers.

pub(crate) mod generated_file;
pub(crate) mod health;
pub(crate) mod install;
pub(crate) mod install_advice;
pub(crate) mod interpreters;
pub(crate) mod judge;
pub(crate) mod locate;
pub(crate) mod machine;
pub(crate) mod manager;
pub(crate) mod node_guard;
pub(crate) mod package_folders;
pub(crate) mod project;
pub(crate) mod python;
pub(crate) mod server_choice;
