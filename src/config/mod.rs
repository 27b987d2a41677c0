//! Configuration: the catalogue of languages and servers, the settings, and the store of trust.
//!
//! Contents: [`Catalogue`] (`servers.toml`), [`Settings`] (`lsp-tools.toml`), the user's
//! [`Folders`], the [`TrustStore`], small files of our own ([`StateFolder`]), [`Config::load`],
//! which loads all of them for one project, and [`present_languages`]. May use: `text`,
//! `workspace`. Starts no process and speaks to no server.
//!
//! Data flow: a [`Layer`](layer::Layer) is one TOML text with its origin. Every layer is checked on
//! its own against the words of [`spec`], so that an error can name file, line and key. Then the
//! layers are merged key by key, later ones win, and the whole is read into the types of [`spec`].
//! The launch fields of an untrusted project are taken out of its layer before the merge, and named
//! in [`LoadedCatalogue::left_out`](catalogue::LoadedCatalogue::left_out).

mod access;
pub(crate) mod catalogue;
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
mod schema;
mod settings;
pub(crate) mod spec;
mod state;
mod trust;

pub use access::Profile;
pub(crate) use access::{AccessLayer, AgentSettings, HookSettings};
pub use catalogue::Catalogue;
pub(crate) use catalogue::build_file::BuildFileSearch;
pub(crate) use catalogue::command_files::CommandWords;
pub(crate) use catalogue::detect::{PresentLanguage, PrimaryLanguages, present_languages};
pub(crate) use catalogue::marker::{ConfigMarker, settings_of};
pub(crate) use catalogue::named_files::pins_among;
pub use catalogue::pin::FilePin;
pub(crate) use catalogue::pin::{MOST_PROGRAM_BYTES, PinError, PinnedFile};
pub(crate) use error::{ConfigError, ConfigProblem};
pub(crate) use expand::ExpandedServer;
pub(crate) use files::MAX_SETTINGS_FILE_BYTES;
pub use folders::Folders;
pub(crate) use index::interpreter as interpreter_named_by;
pub use launch::LaunchFields;
#[cfg(test)]
pub(crate) use layer::Layer;
pub(crate) use layer::{LayerOrigin, merge};
pub(crate) use load::{Config, ConfigOverrides};
pub(crate) use mounts::{Mount, MountOrigin, MountTransport, MountedTools, skeleton};
pub(crate) use settings::{
    BashSettings, CacheSharing, Deadlines, LibraryDocsSettings, LimitSettings, NetworkAccess, SandboxMode,
    ServerSettings, Settings, SharedAnswerSettings, TrustedWriter, is_writer_name,
};

pub(crate) use state::{HeldFile, StateError, StateFolder, StateName};
pub(crate) use trust::TrustStore;
pub(crate) use trust::{RecordedHooks, TrustError, TrustState};
