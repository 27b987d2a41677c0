pub mod answer;
pub mod error;
