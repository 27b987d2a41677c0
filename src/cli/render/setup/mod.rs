//! Rendering of installation, settings, servers, hosts and doors.

pub(crate) mod copilot;
pub(crate) mod daemon;
pub(crate) mod doctor;
pub(crate) mod hosts;
pub(crate) mod install;
pub(crate) mod install_list;
pub(crate) mod mounted;
pub(crate) mod servers;
pub(crate) mod session;
pub(crate) mod tools;
pub(crate) mod trust;
