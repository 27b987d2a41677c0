//! Re-exports for the integration tests and benches, beside the public names of `lib.rs`. No other code may rely on it.
//!
//! The modules are those of the crate, with as much of each as a test uses.

pub mod bridges {
    pub use crate::bridges::open_with;
    pub mod copilot {
        pub mod aliases {
            pub use crate::bridges::copilot::aliases::{
                AliasAnswer, AliasCallOptions, AliasClass, all, call, choice,
            };
        }
        pub mod server {
            pub use crate::bridges::copilot::server::{
                CallState, CopilotClient, CopilotError, CopilotEvent, CopilotEventSink, CopilotOptions,
                ResultFormat, TurnOutcome, TurnRequest,
            };
        }
    }
    pub mod daemon {
        pub mod connector {
            pub use crate::bridges::daemon::connector::Connector;
        }
        pub mod folder {
            pub use crate::bridges::daemon::folder::DaemonFolder;
        }
        pub mod passthrough {
            pub use crate::bridges::daemon::passthrough::{PassthroughEnd, pass_mcp};
        }
        pub mod preamble {
            pub use crate::bridges::daemon::preamble::{DoorName, LONGEST, Preamble, read_line};
        }
        pub mod server {
            pub use crate::bridges::daemon::server::{
                AcceptedConnection, Daemon, DaemonReservation, DoorHandler, DoorHandlers,
            };
        }
    }
    pub mod editor {
        pub use crate::bridges::editor::{EditorOptions, serve};
    }
    pub mod mcp {
        pub mod server {
            pub use crate::bridges::mcp::server::{McpConversation, ServerOptions, serve, serve_wrapped};
            pub mod http {
                pub use crate::bridges::mcp::server::http::{HttpOptions, Listener, serve, serve_wrapped};
                pub mod token {
                    pub use crate::rpc::http_entry::token::BearerToken;
                }
            }
        }
    }
}
pub mod cli {
    pub mod args {
        pub use crate::cli::args::Cli;
    }
    pub mod render {
        pub use crate::cli::render::DisplayCapabilities;
        pub mod markdown {
            pub use crate::cli::render::markdown::render;
        }
    }
}
pub mod config {
    pub use crate::config::{Catalogue, Config, ConfigOverrides, FilePin, LaunchFields, Profile, TrustStore};
    pub mod spec {
        pub use crate::config::spec::{ServerSpec, UntrustedLaunch};
    }
}
pub mod hints {
    pub use crate::hints::{DEADLINE, HintSubject, ResolutionStage, definition, definition_up_to};
}
pub mod lsp {
    pub mod health {
        pub use crate::lsp::health::{prerequisite_findings, version};
    }
    pub mod install {
        pub use crate::lsp::install::{InstallError, InstallProgress, InstalledServer, Installer};
    }
    pub mod locate {
        pub use crate::lsp::locate::{LocatedProgram, ProgramOrigin, prefix_folders};
    }
    pub mod model {
        pub use crate::lsp::model::{FileRef, Location, Severity};
    }
    pub mod progress {
        pub use crate::lsp::progress::ProgressEvent;
    }
    pub mod uri {
        pub use crate::lsp::uri::{file_ref, from_path, to_path};
    }
    pub mod view {
        pub use crate::lsp::view::View;
    }
}
pub mod policy {
    pub mod approval {
        pub use crate::policy::approval::LeaveGiven;
    }
    pub mod caller {
        pub use crate::policy::caller::CallerAccess;
    }
    pub mod command {
        pub use crate::policy::command::{CommandPattern, allowed_by, forbids};
    }
    pub mod hooks {
        pub use crate::policy::hooks::Hooks;
        pub mod files {
            pub use crate::policy::hooks::files::HookFile;
        }
    }
    pub mod name {
        pub use crate::policy::name::matches;
    }
    pub mod path {
        pub use crate::policy::path::{PathCaseSensitivity, PathPattern};
    }
    pub mod request {
        pub use crate::policy::request::{CallSubjects, Effect, PolicyVerdict};
    }
    pub mod rules {
        pub use crate::policy::rules::Policy;
    }
    pub mod shell {
        pub use crate::policy::shell::Script;
    }
    pub mod shell_words {
        pub use crate::policy::shell_words::ShellWord;
    }
}
pub mod process {
    pub use crate::process::{
        Exit, FinishedProgram, SUPERVISE, ServerProcess, Spawn, SpawnError, Spawner, run,
    };
    pub mod sandbox {
        pub use crate::process::sandbox::{status, supports_pid_namespace};
    }
}
pub mod rpc {
    pub use crate::rpc::{Peer, PeerHandler, PeerResponse, RequestRefusal};
}
pub mod runtime {
    pub mod tool_backend {
        pub use crate::runtime::tool_backend::LocalBackend;
    }
    pub mod live {
        pub use crate::runtime::live::LiveRuntime;
    }
    pub mod overlays {
        pub use crate::runtime::overlays::Overlays;
    }
}
pub mod text {
    pub use crate::text::{
        Buffer, Encoding, Identifier, LineMap, TextChange, build_glob_set, cut_markdown, identifiers_on_line,
        read_glob,
    };
    pub mod patch {
        pub use crate::text::patch::{
            AppliedFilePatch, ApplyError, ApplyOptions, FileMode, FilePatch, FilePatchOperation, LineKind,
            MismatchReason, Patch, PatchForm, PatchPath, apply, apply_all, parse,
        };
    }
}
pub mod tools {
    pub mod answer {
        pub use crate::tools::answer::{
            DiagnosticItem, DiagnosticsOutput, HoverOutput, LocationsOutput, ServerStatus,
        };
    }
    pub mod place {
        pub use crate::tools::place::Place;
    }
    pub mod chat {
        pub use crate::tools::chat::NAMES;
        pub mod chat_tool {
            pub use crate::tools::chat::chat_tool::{ChatError, ChatTool};
        }
        pub mod session {
            pub use crate::tools::chat::session::{
                ChatRequest, ChatSession, ChatSessionFinder, ChatSource, WorkspaceChats,
            };
        }
    }
    pub mod explore {
        pub mod output {
            pub use crate::tools::explore::output::{ExploreItem, ExploreOutput};
        }
    }
    pub mod export {
        pub use crate::tools::export::{ToolListFormat, export};
    }
    pub mod install {
        pub use crate::tools::install_outcome::InstallState;
    }
    pub mod lsp_hierarchy {
        pub use crate::tools::lsp_hierarchy::{CallDirection, TypeDirection};
    }
    pub mod notebook {
        pub use crate::tools::notebook::as_text;
    }
    pub mod retry_advice {
        pub use crate::tools::retry_advice::RetryAdvice;
    }
    pub mod servers {
        pub use crate::tools::servers::{ServerRow, ServerRunState};
    }
    pub mod skills {
        pub mod frontmatter {
            pub use crate::tools::skills::frontmatter::Frontmatter;
        }
    }
    pub mod source {
        pub use crate::tools::source::MountedState;
    }
    pub mod tool {
        pub use crate::tools::tool::ToolDefinition;
    }
    pub mod trust {
        pub use crate::tools::trust::TrustOutput;
    }
    pub mod web {
        pub mod guard {
            pub use crate::tools::web::guard::is_public;
        }
    }
}
pub mod workspace {
    pub use crate::workspace::{
        CaseMode, ChangeFeed, ChangeKind, EntryKind, GlobOrder, GlobQuery, GrepPattern, GrepQuery,
        GrepResult, GrepWanted, ListQuery, ReadError, Selection, WalkLimits, WorkDeadline, Workspace,
        WorkspacePath,
    };
    pub mod edit {
        pub use crate::workspace::edit::{
            ChangedEntryKind, ConflictFinding, ContentHash, EditError, EditId, EditLimits, EditOptions,
            EditPlan, FileOperation, LineEnds, PathPrecondition, TransactionManager,
        };
    }
}
