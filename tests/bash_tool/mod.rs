//! The tools `bash`, `bash_output` and `bash_kill`: their contract, and hostile commands.

mod background;
mod caches;
mod contract;
mod endings;
mod floods;
mod killed;
mod links;
mod sandbox;
mod scene;
