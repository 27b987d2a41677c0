//! Tests of MCP on stdin and stdout across daemons: the host sees one session.
//!
//! The daemons run in this process and serve a minimal MCP, since the tests cover the pass-through
//! between the two ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::connector::Connector;
use super::folder::DaemonFolder;
use super::passthrough::{PassthroughEnd, pass_mcp};
use super::preamble::{DoorName, Preamble};
use super::server::{AcceptedConnection, Daemon, DaemonReservation, DoorHandler, DoorHandlers};
use crate::runtime::tests::stage::RuntimeStage;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const SOON: Duration = Duration::from_secs(60);

/// A scripted MCP server. It answers every request except `tools/call` of `slow`, and reports the
/// number of its initializations.
fn door(opened: Arc<AtomicUsize>) -> DoorHandler {
    Arc::new(move |mut visit: AcceptedConnection| {
        let opened = opened.clone();
        Box::pin(async move {
            let mut line = String::new();
            loop {
                line.clear();
                let read = tokio::select! {
                    read = visit.reader.read_line(&mut line) => read,
                    () = visit.closing.cancelled() => return,
                };
                if read.is_err() || line.is_empty() {
                    return;
                }
                let message: Value = serde_json::from_str(&line).expect("JSON");
                let method = message["method"].as_str().unwrap_or_default();
                let answer = match method {
                    "initialize" => json!({"number": opened.fetch_add(1, Ordering::SeqCst)}),
                    "tools/call" if message["params"]["name"] == "slow" => continue,
                    "" | "notifications/initialized" => continue,
                    _ => json!({"said": method, "session": visit.caller.session}),
                };
                let answer =
                    json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}).to_string() + "\n";
                if visit.writer.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
            }
        })
    })
}

struct Stage {
    place: RuntimeStage,
    opened: Arc<AtomicUsize>,
}

impl Stage {
    fn new() -> Self {
        Self { place: RuntimeStage::new(), opened: Arc::default() }
    }

    fn folder(&self) -> DaemonFolder {
        DaemonFolder::open(self.place.beside("state/run")).expect("a folder")
    }

    fn connector(&self) -> Connector {
        Connector::in_folder(self.folder(), &self.place.root(), &self.place.folders()).expect("a connector")
    }

    /// Starts a daemon in this process. Returns the token that stops it.
    fn daemon(&self) -> (CancellationToken, JoinHandle<()>) {
        let place = DaemonReservation::acquire(self.folder(), self.connector().identity().clone())
            .expect("the place");
        let runtime = self.place.open();
        let door = door(self.opened.clone());
        let doors =
            DoorHandlers { command: door.clone(), mcp: Some(door), lsp: None, view: None, tools: None };
        let daemon = Daemon::listen(place, runtime, doors).expect("a daemon");
        let stop = CancellationToken::new();
        let signalled = stop.clone();
        let task = tokio::spawn(async move {
            daemon.run(signalled.cancelled_owned()).await;
        });
        (stop, task)
    }

    async fn host(&self) -> Host {
        let connector = self.connector();
        let preamble = Preamble::new(DoorName::Mcp);
        let connection = connector.connect(&preamble).await.expect("a connection").expect("a daemon");
        let session = connection.welcome.session.clone();
        let (host, ours) = tokio::io::duplex(1 << 16);
        let (ours_in, ours_out) = tokio::io::split(ours);
        let (reader, writer) = tokio::io::split(host);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            pass_mcp(connector, preamble, connection, ours_in, ours_out, stopped).await.expect("no error")
        });
        Host { reader: BufReader::new(reader), writer, task, stop, session }
    }
}

struct Host {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    task: JoinHandle<PassthroughEnd>,
    stop: CancellationToken,
    session: String,
}

impl Host {
    async fn say(&mut self, message: Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.expect("a message");
    }

    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        tokio::time::timeout(SOON, self.reader.read_line(&mut line)).await.expect("in time").expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    async fn ask(&mut self, id: u64, method: &str) -> Value {
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": method})).await;
        self.hear().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_session_continues_with_next_daemon() {
    let stage = Stage::new();
    let (stop, daemon) = stage.daemon();
    let mut host = stage.host().await;
    assert_eq!(host.ask(0, "initialize").await["result"]["number"], json!(0));
    host.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    assert_eq!(host.ask(1, "tools/list").await["result"]["session"], json!(host.session));

    host.say(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "slow"}})).await;
    stop.cancel();
    daemon.await.expect("its end");
    let lost = host.hear().await;
    assert_eq!((lost["id"].clone(), lost["result"]["isError"].clone()), (json!(2), json!(true)), "{lost}");

    let (stop, daemon) = stage.daemon();
    let next = host.ask(3, "tools/list").await;
    assert_eq!(
        (next["id"].clone(), next["result"]["session"].clone()),
        (json!(3), json!(host.session)),
        "{next}"
    );
    assert_eq!(stage.opened.load(Ordering::SeqCst), 2, "it was initialized as well, and the host not told");
    stop.cancel();
    daemon.await.expect("its end");
    host.stop.cancel();
    assert_eq!(host.task.await.expect("its end"), PassthroughEnd::Stopped);
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_requests_without_any_daemon_get_an_error() {
    let stage = Stage::new();
    let (stop, daemon) = stage.daemon();
    let mut host = stage.host().await;
    assert!(host.ask(1, "tools/list").await["result"].is_object());
    stop.cancel();
    daemon.await.expect("its end");
    // The executable of this test cannot run as a daemon.
    for id in 2..4 {
        let told = host.ask(id, "tools/list").await;
        assert_eq!(told["id"], json!(id));
        assert!(
            told["error"]["message"].as_str().is_some_and(|why| why.contains("no other one can be started")),
            "{told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_host_closing_stdin_ends_passthrough_in_bounded_time() {
    let stage = Stage::new();
    let (stop, daemon) = stage.daemon();
    let mut host = stage.host().await;
    host.say(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "slow"}})).await;
    assert!(host.ask(3, "ping").await["result"].is_object());
    host.writer.shutdown().await.expect("the end");
    let begun = std::time::Instant::now();
    let ended = tokio::time::timeout(SOON, host.task).await.expect("in time").expect("its end");
    assert_eq!(ended, PassthroughEnd::ByHost);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    stop.cancel();
    daemon.await.expect("its end");
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_floods_in_both_directions_do_not_deadlock() {
    let stage = Stage::new();
    let (stop, daemon) = stage.daemon();
    let mut host = stage.host().await;
    let Host { reader, writer, .. } = &mut host;
    const MANY: u64 = 20_000;
    let say = async {
        let filler = "x".repeat(500);
        for id in 0..MANY {
            let message = json!({"jsonrpc": "2.0", "id": id, "method": "ping", "params": {"filler": filler}});
            writer.write_all(format!("{message}\n").as_bytes()).await.expect("a message");
        }
    };
    let hear = async {
        let mut line = String::new();
        for id in 0..MANY {
            line.clear();
            reader.read_line(&mut line).await.expect("a line");
            assert!(line.contains(&format!("\"id\":{id},")), "{line}");
        }
    };
    tokio::time::timeout(Duration::from_secs(60), async { tokio::join!(say, hear) }).await.expect("in time");
    stop.cancel();
    daemon.await.expect("its end");
}
