pub mod answer;
pub mod doctor;
pub mod error;
pub mod install;
pub mod servers;
pub mod target;
pub mod trust;
