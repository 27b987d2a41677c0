pub mod model;
pub mod progress;
