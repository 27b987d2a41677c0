pub mod connection;
pub mod model;
pub mod wire;
