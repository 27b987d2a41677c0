//! Re-exports for the integration tests and benches, beside the public names of `lib.rs`. No other
//! code may rely on it.
//!
//! Each layer has a module with the items that tests use. Type names are unique in the crate. A
//! function whose name is unclear without its module is renamed here.

pub mod analysis {
    pub use crate::analysis::{
        ask::retry_advice::RetryAdvice, install_outcome::InstallState, items::place::Place,
    };
}
pub mod bridges {
    pub use crate::bridges::{
        copilot::{
            aliases::{
                AliasAnswer, AliasCallOptions, AliasClass, all as all_aliases, call as call_alias,
                choice as alias_choice,
            },
            server::{
                CallState, CopilotClient, CopilotError, CopilotEvent, CopilotEventSink, CopilotOptions,
                ResultFormat, TurnOutcome, TurnRequest,
            },
        },
        editor::{EditorOptions, serve as serve_editor},
        mcp::server::{
            McpConversation, ServerOptions,
            http::{HttpOptions, Listener, serve_wrapped as serve_http_wrapped},
            serve_wrapped as serve_mcp_wrapped,
        },
        open_with,
    };
}
pub mod cli {
    pub use crate::cli::args::Cli;
}
pub mod config {
    pub use crate::config::{
        Catalogue, FilePin, LaunchFields, Profile,
        spec::{ServerSpec, UntrustedLaunch},
    };
}
pub mod syntax {
    pub use crate::syntax::{DEADLINE, HintSubject, ResolutionStage, definition, definition_up_to};
}
pub mod lsp {
    pub use crate::lsp::{
        documents::view::View,
        model::{FileRef, Location, Severity},
        servers::{
            health::{prerequisite_findings, version as server_version},
            install::{InstallError, InstallProgress, InstalledServer, Installer},
            locate::{LocatedProgram, ProgramOrigin, prefix_folders},
        },
        session::progress::ProgressEvent,
    };
}
pub mod policy {
    pub use crate::policy::{
        approval::LeaveGiven,
        caller::CallerAccess,
        request::{CallSubjects, Effect, PolicyVerdict},
    };
}
pub mod process {
    pub use crate::process::{
        Exit, FinishedProgram, ServerProcess, Spawn, SpawnError, Spawner, run,
        sandbox::{status as sandbox_status, supports_pid_namespace},
    };
}
pub mod runtime {
    pub use crate::runtime::{live::LiveRuntime, overlays::Overlays, tool_backend::LocalBackend};
}
pub mod text {
    pub use crate::text::{Buffer, Identifier, LineMap, TextChange, identifiers_on_line};
}
pub mod tools {
    pub use crate::tools::{
        api::{
            export::{ToolListFormat, export as export_tools},
            tool::ToolDefinition,
        },
        language::{
            explore::output::{ExploreItem, ExploreOutput},
            lsp_hierarchy::{CallDirection, TypeDirection},
            servers::{ServerRow, ServerRunState},
            trust::TrustOutput,
        },
    };
}
pub mod workspace {
    pub use crate::workspace::{
        CaseMode, GrepPattern, GrepQuery, GrepResult, GrepWanted, Selection, WalkLimits, WorkDeadline,
        Workspace, WorkspacePath,
    };
}
