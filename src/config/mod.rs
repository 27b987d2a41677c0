//! What is known before anything runs: the catalogue of languages and servers, the settings, and whom to trust.
//!
//! What lives here: [`Catalogue`] (`servers.toml`), [`Settings`] (`lsp-tools.toml`), the user's [`Folders`], the [`Trust`]
//! store, small files of our own ([`StateFolder`]), [`Config::load`], which brings all together for one project, and
//! [`present_languages`].
//! May use: `text`, `workspace`. Starts no process and speaks to no server.
//!
//! How data passes: a [`Layer`] is one TOML text with its origin. Every layer is checked on its own against the words of
//! [`spec`], so that an error can name file, line and key; then the layers are merged key by key, later ones win, and the
//! whole is read into the types of [`spec`]. What an untrusted project says about running programs is taken out of its
//! layer before the merge, and named in [`Loaded::left_out`].

mod access;
mod build_file;
mod catalogue;
mod command_files;
mod detect;
mod error;
mod expand;
mod file_sign;
mod files;
mod folders;
mod index;
mod launch;
mod layer;
mod load;
mod mounts;
mod named_files;
mod pin;
mod schema;
mod settings;
pub mod sign;
pub mod spec;
mod state;
mod trust;
mod words;

pub use access::{Access, AccessLayer, Agent, Hook, HookLists, Permissions, Profile};
pub use build_file::BuildFileSearch;
pub use catalogue::{Catalogue, Loaded};
pub use command_files::{CommandWords, files_named};
pub use detect::{Presence, PresentLanguage, present_languages};
pub use error::{ConfigError, Problem};
pub use expand::Expanded;
pub use files::MOST_BYTES as MOST_SETTINGS_BYTES;
pub use folders::{Folders, FoldersError};
pub use launch::LaunchFields;
pub use layer::{Layer, Origin, merge};
pub use load::{Config, Flags};
pub use mounts::{Mount, MountOrigin, MountTransport, MountedTools, Mounts, skeleton};
pub use named_files::pins_among;
pub use pin::{MOST_PROGRAM_BYTES, Pin, PinError, PinnedFile};
pub use settings::{
    AuditSettings, BashSettings, Caches, ChatSettings, DaemonSettings, Deadlines, FetchSettings,
    LibraryDocsSettings, Limits, LogSettings, Network, Sandbox, ServerSettings, Settings, SkillSettings,
};
pub use sign::Sign;
pub use state::{Locked, StateError, StateFolder, StateName};
pub use trust::{Trust, TrustError, TrustState, Trusted};
