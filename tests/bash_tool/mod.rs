//! The tools `bash`, `bash_output` and `bash_kill`: their contract, and what hostile commands get.

mod background;
mod caches;
mod contract;
mod endings;
mod floods;
mod killed;
mod links;
mod sandbox;
mod scene;
