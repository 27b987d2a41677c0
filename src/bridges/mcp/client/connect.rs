//! One connection to a mounted server: its process or address, the handshake of either era, and its
//! list of tools.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rmcp::model::{PaginatedRequestParams, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient, RunningService,
    ServiceError,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use super::chain;
use super::context::MountContext;
use super::definitions::comparable_definition;
use super::elicitation::ElicitationRouter;
use super::handler::{MountClientHandler, ProgressRouter};
use super::http;
use super::line_limit::LineLimit;
use super::pins::Era;
use super::unauthorized::Challenge;
use crate::config::{FilePin, Mount, MountTransport, pins_among};
use crate::process::{ProgramPath, ServerProcess, Spawn, is_program};
use crate::tools::api::hidden::escape_hidden;

/// The size limit of a server's line, in bytes.
const MAX_MOUNT_LINE_BYTES: usize = 8 << 20;
/// The limit on tools of one server.
const MAX_MOUNTED_TOOLS: usize = 500;
const MAX_TOOL_LIST_PAGES: usize = 50;
/// The time limit for the first response, after which the server counts as one of the first era.
const MOUNT_PROBE_TIMEOUT: Duration = Duration::from_secs(9);
/// The time for a server to exit after the end of its input.
const MOUNT_EXIT_GRACE_PERIOD: Duration = Duration::from_millis(500);

/// Reasons why no connection exists.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoConnection {
    /// The program does not exist.
    #[error("its program `{0}` was not found or is not executable")]
    NoProgram(String),
    /// The settings are invalid.
    #[error("{0}")]
    Settings(String),
    /// The program or one of its files is not trusted in its current state.
    #[error(
        "`{0}` belongs to the project and is not trusted in its current state; review it with: lsp-tools trust"
    )]
    Untrusted(String),
    /// The process did not start, or the handshake failed.
    #[error("{0}")]
    Failed(String),
    /// The server would be started by itself.
    #[error("it mounts itself, directly or through others, and would start endlessly")]
    Loop,
    /// The server requires authorization.
    #[error("it requires authorization, which the `headers` of its settings do not provide")]
    Unauthorized(Challenge),
    /// The time limit has passed.
    #[error("it did not answer within {} ms", .0.as_millis())]
    Silent(Duration),
}

/// A connection after its handshake.
#[derive(Debug)]
pub(super) struct MountConnection {
    service: RunningService<RoleClient, MountClientHandler>,
    process: Option<ServerProcess>,
    too_long: Arc<AtomicBool>,
    /// Routes progress to callers.
    pub(super) progress: ProgressRouter,
    /// Routes elicitations to approvers.
    pub(super) elicitations: ElicitationRouter,
    /// The number of change notifications for the list of tools.
    pub(super) changed: Arc<AtomicU64>,
    pub(super) era: Era,
    /// The server's name for itself.
    pub(super) server: Option<String>,
    /// The revision of the protocol.
    pub(super) protocol: String,
    /// The duration from the start to the end of the handshake.
    pub(super) began_in: Duration,
}

impl MountConnection {
    /// Connects to the server of `mount`, and starts it if it is a program. The caller limits the
    /// time.
    pub(super) async fn open(
        mount: &Mount,
        context: &MountContext,
        era: Option<Era>,
    ) -> Result<Self, NoConnection> {
        let began = Instant::now();
        let opened = match era {
            // A server of the first era may never answer an unknown request, and must still have
            // time for its handshake.
            None => {
                timeout(MOUNT_PROBE_TIMEOUT.min(mount.timeout / 3), Self::connect_once(mount, context, None))
                    .await
            }
            era => Ok(Self::connect_once(mount, context, era).await),
        };
        let opened = opened.unwrap_or_else(|_| Err(NoConnection::Failed("it does not answer".to_owned())));
        let opened = match (opened, era) {
            // Some servers of the first era exit at an unknown request, and some have been
            // upgraded to the second era since the last connection.
            (Err(NoConnection::Failed(_)), None) => {
                Self::connect_once(mount, context, Some(Era::Legacy)).await
            }
            (Err(NoConnection::Failed(_)), Some(Era::Legacy)) => {
                Self::connect_once(mount, context, None).await
            }
            (opened, _) => opened,
        };
        opened.map(|connection| Self { began_in: began.elapsed(), ..connection })
    }

    async fn connect_once(
        mount: &Mount,
        context: &MountContext,
        era: Option<Era>,
    ) -> Result<Self, NoConnection> {
        let (waiting, asking) = (ProgressRouter::default(), ElicitationRouter::default());
        let changed = Arc::new(AtomicU64::new(0));
        let handler = MountClientHandler {
            name: mount.name.clone(),
            root: Url::from_directory_path(context.root()).ok(),
            progress: waiting.clone(),
            elicitations: asking.clone(),
            changed: Arc::clone(&changed),
        };
        let lifecycle = match era {
            Some(Era::Legacy) => ClientLifecycleMode::Initialize,
            Some(Era::Modern) | None => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
        };
        let too_long = Arc::new(AtomicBool::new(false));
        let mut process = None;
        let begun = match &mount.transport {
            MountTransport::Stdio { .. } => {
                let mut started = start(mount, context).await?;
                let (Some(stdin), Some(stdout)) = (started.take_stdin(), started.take_stdout()) else {
                    return Err(NoConnection::Failed("its pipes are gone".to_owned()));
                };
                let reader = LineLimit::new(stdout, MAX_MOUNT_LINE_BYTES, Arc::clone(&too_long));
                let transport = AsyncRwTransport::new_client(reader, stdin);
                let begun = handler.serve_with_lifecycle(transport, lifecycle).await;
                process = Some(started);
                begun
            }
            MountTransport::Http { url, headers, .. } => {
                let transport =
                    http::transport(url, headers, context.allowed_hosts()).map_err(NoConnection::Settings)?;
                handler.serve_with_lifecycle(transport, lifecycle).await
            }
        };
        let service = match begun {
            Ok(service) => service,
            Err(error) => return Err(start_failure(&error, process, &too_long).await),
        };
        let about = service.peer().peer_info();
        let protocol = about.as_ref().map(|about| about.protocol_version.clone()).unwrap_or_default();
        let era = if protocol.has_initialize() { Era::Legacy } else { Era::Modern };
        let server = about.as_ref().and_then(|about| about.server_info.as_ref());
        let server = server.map(|server| {
            escape_hidden(&format!("{} {}", server.name, server.version)).chars().take(100).collect()
        });
        let (protocol, began_in) = (protocol.as_str().to_owned(), Duration::ZERO);
        Ok(Self {
            service,
            process,
            too_long,
            progress: waiting,
            elicitations: asking,
            changed,
            era,
            server,
            protocol,
            began_in,
        })
    }

    /// Sends requests to the server.
    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// The roots of the workspace for the server.
    pub(super) fn roots(&self) -> Value {
        serde_json::to_value(self.service.service().roots()).unwrap_or_default()
    }

    /// Returns true if requests can no longer be sent.
    pub(super) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// The server's process id.
    pub(super) fn pid(&self) -> Option<u32> {
        self.process.as_ref().and_then(ServerProcess::pid)
    }

    /// Returns the reason for the server's end. Only if [`is_closed`](Self::is_closed).
    pub(super) async fn exit_report(&self) -> String {
        exit_report(self.process.as_ref(), &self.too_long).await
    }

    /// Lists the tools by the server's names, in comparable form.
    pub(super) async fn list(&self) -> Result<BTreeMap<String, Value>, ServiceError> {
        let (mut tools, mut cursor) = (BTreeMap::new(), None);
        for _ in 0..MAX_TOOL_LIST_PAGES {
            let params =
                cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let page = self.peer().list_tools(params).await?;
            for tool in page.tools {
                if tools.len() == MAX_MOUNTED_TOOLS {
                    tracing::warn!(
                        "a mounted server lists more than {MAX_MOUNTED_TOOLS} tools; the others are not offered"
                    );
                    return Ok(tools);
                }
                tools.insert(tool.name.to_string(), comparable_definition(&tool));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    /// Closes the connection and ends the process.
    pub(super) async fn close(&self) {
        self.service.cancellation_token().cancel();
        if let Some(process) = &self.process {
            process.terminate(MOUNT_EXIT_GRACE_PERIOD).await;
        }
    }
}

async fn start_failure(
    error: &ClientInitializeError,
    process: Option<ServerProcess>,
    too_long: &AtomicBool,
) -> NoConnection {
    let cause: &(dyn std::error::Error + 'static) = match error {
        ClientInitializeError::TransportError { error, .. } => error.error.as_ref(),
        error => error,
    };
    if let Some(challenge) = Challenge::from_error(cause) {
        return NoConnection::Unauthorized(challenge);
    }
    let reason = match error {
        // The name of the transport's type does not help the user.
        ClientInitializeError::TransportError { error, .. } => error_chain(error.error.as_ref()),
        error => error_chain(error),
    };
    let Some(process) = process else { return NoConnection::Failed(reason) };
    let closed = matches!(
        error,
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }
    );
    let words = match closed || too_long.load(Ordering::SeqCst) {
        true => exit_report(Some(&process), too_long).await,
        false => reason,
    };
    process.terminate(Duration::ZERO).await;
    NoConnection::Failed(words)
}

/// Formats an error with its causes for display.
pub(super) fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        next = match cause.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            // Its text repeats the inner error, which is not its source.
            Some(StreamableHttpError::Client(inner)) => Some(inner),
            _ => {
                let text = cause.to_string();
                if !parts.iter().any(|known| known.contains(&text)) {
                    parts.push(text);
                }
                cause.source()
            }
        };
    }
    escape_hidden(&parts.join(": ")).chars().take(400).collect()
}

async fn exit_report(process: Option<&ServerProcess>, too_long: &AtomicBool) -> String {
    if too_long.load(Ordering::SeqCst) {
        return format!("it wrote a line of more than {MAX_MOUNT_LINE_BYTES} bytes");
    }
    let Some(process) = process else { return "its connection was lost".to_owned() };
    let Ok(exit) = timeout(MOUNT_EXIT_GRACE_PERIOD, process.wait()).await else {
        return "it closed its output but is still running".to_owned();
    };
    let tail = process.stderr_tail();
    let tail = &tail[tail.len().saturating_sub(3)..];
    match tail.is_empty() {
        true => format!("it ended with {exit}"),
        false => format!("it ended with {exit}; its last output: {}", tail.join(" | ")),
    }
}

async fn start(mount: &Mount, context: &MountContext) -> Result<ServerProcess, NoConnection> {
    let MountTransport::Stdio { args, env, .. } = &mount.transport else {
        return Err(NoConnection::Settings("it has no program".to_owned()));
    };
    let ((program, pins), cwd) = (program(mount, context)?, working_folder(mount, context)?);
    let chain = context.chain().with(mount, context.root()).ok_or(NoConnection::Loop)?;
    let spawn = Spawn {
        name: format!("mcp {}", mount.name),
        program,
        args: args.iter().map(OsString::from).collect(),
        env: [ProgramPath::of_user(context.workspace()).variable()]
            .into_iter()
            .chain(env.iter().map(|(name, value)| (name.into(), value.into())))
            .chain([(chain::VARIABLE.into(), chain.into())])
            .collect(),
        cwd,
        pins,
    };
    context.spawner().spawn(spawn).await.map_err(|error| {
        tracing::warn!(server = mount.name, "{error}");
        NoConnection::Failed("its program failed to start; the reason is in the log".to_owned())
    })
}

/// Returns the working folder of the server of `mount`.
pub(super) fn working_folder(mount: &Mount, context: &MountContext) -> Result<PathBuf, NoConnection> {
    let MountTransport::Stdio { cwd, .. } = &mount.transport else { return Ok(context.root().to_owned()) };
    let folder = cwd.as_ref().map_or_else(|| context.root().to_owned(), |cwd| context.root().join(cwd));
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(NoConnection::Settings(format!("its `cwd` `{}` is not a folder", folder.display()))),
    }
}

/// Returns the program of `mount`, with the pins of those of its files that belong to the project.
/// Returns an error if one of them is not trusted in its current state.
pub(super) fn program(
    mount: &Mount,
    context: &MountContext,
) -> Result<(PathBuf, Vec<FilePin>), NoConnection> {
    let MountTransport::Stdio { command, args, .. } = &mount.transport else {
        return Err(NoConnection::Settings("it has no program".to_owned()));
    };
    let base = working_folder(mount, context)?;
    let is_path = command.contains('/');
    let pin = |path: &Path| context.trust().pin(context.root(), path).ok()?.ok();
    let words = args.iter().chain(is_path.then_some(command)).map(String::as_str);
    let mut pins =
        pins_among(command, words, &[context.root(), &base], context.workspace(), context.trust(), pin)
            .map_err(NoConnection::Untrusted)?;
    let missing = || NoConnection::NoProgram(command.clone());
    if is_path {
        let path = context.root().join(command);
        if !is_program(&path) {
            return Err(missing());
        }
        // Even if the file did not exist a moment ago.
        if context.workspace().workspace_path(&path).is_some() {
            pins.push(pin(&path).ok_or_else(|| NoConnection::Untrusted(command.clone()))?);
        }
        return Ok((path, pins));
    }
    ProgramPath::of_user(context.workspace()).find(command).ok_or_else(missing).map(|program| (program, pins))
}
