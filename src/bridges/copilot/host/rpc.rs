//! JSON-RPC 2.0 with the command line: our questions and their answers, its questions and its notifications.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::error::HostError;
use super::frames;
use super::program::Running;

/// Messages that may wait to be written.
const OUTGOING: usize = 1_000;
/// Messages that may wait to be looked at; a session's first ones come while its opening is waited for.
const INCOMING: usize = 10_000;

/// The way to the command line. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Rpc {
    out: mpsc::Sender<Value>,
    open: Arc<Mutex<Open>>,
}

/// A result, or the code and the words of a refusal.
type Answer = Result<Value, (i64, String)>;

/// Our questions that are not answered.
#[derive(Debug, Default)]
struct Open {
    last: u64,
    /// `None` once nobody answers any more.
    waiting: Option<HashMap<u64, oneshot::Sender<Answer>>>,
}

/// What comes unasked.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A notification.
    Told { method: String, params: Value },
    /// A question that has to be answered under this id.
    Asked { id: Value, method: String, params: Value },
    /// It is over, and why.
    Ended(HostError),
}

/// A conversation: two tasks, which end with it.
#[derive(Debug)]
pub(super) struct Conversation {
    rpc: Rpc,
    incoming: mpsc::Receiver<Incoming>,
    _tasks: JoinSet<()>,
}

impl Conversation {
    /// With a command line that was started.
    pub(super) fn open(running: &mut Running) -> Result<Self, HostError> {
        let ended = || HostError::Ended { last: Vec::new() };
        let (stdin, stdout) = running.pipes().ok_or_else(ended)?;
        Ok(Self::over(stdout, stdin))
    }

    /// Over any two streams.
    pub(super) fn over(
        from: impl AsyncRead + Unpin + Send + 'static,
        to: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Self {
        let (out, outgoing) = mpsc::channel(OUTGOING);
        let (sender, incoming) = mpsc::channel(INCOMING);
        let open = Arc::new(Mutex::new(Open { last: 0, waiting: Some(HashMap::new()) }));
        let rpc = Rpc { out, open };
        let mut tasks = JoinSet::new();
        tasks.spawn(write(to, outgoing));
        tasks.spawn(listen(from, sender, rpc.clone()));
        Self { rpc, incoming, _tasks: tasks }
    }

    /// The way to the other side.
    pub(super) fn rpc(&self) -> Rpc {
        self.rpc.clone()
    }

    /// What comes next. Cancel safe.
    pub(super) async fn next(&mut self) -> Incoming {
        let next = self.incoming.recv().await;
        next.unwrap_or_else(|| Incoming::Ended(HostError::Ended { last: Vec::new() }))
    }

    /// Asks for an end; questions that come meanwhile get no answer of weight.
    pub(super) async fn closing(
        &mut self,
        method: &'static str,
        params: Value,
        within: Duration,
    ) -> Result<(), HostError> {
        let rpc = self.rpc();
        let asked = rpc.ask(method, params, within);
        tokio::pin!(asked);
        loop {
            tokio::select! {
                answer = &mut asked => return answer.map(drop),
                next = self.next() => match next {
                    Incoming::Asked { id, .. } => rpc.answer(&id, Ok(json!({"output": null}))).await,
                    Incoming::Told { .. } => {}
                    Incoming::Ended(error) => return Err(error),
                },
            }
        }
    }
}

impl Rpc {
    /// Asks, and waits for the answer.
    pub(super) async fn ask(
        &self,
        method: &'static str,
        params: Value,
        within: Duration,
    ) -> Result<Value, HostError> {
        let ended = || HostError::Ended { last: Vec::new() };
        let (sender, answer) = oneshot::channel();
        let id = {
            let mut open = self.open.lock();
            open.last += 1;
            let id = open.last;
            open.waiting.as_mut().ok_or_else(ended)?.insert(id, sender);
            id
        };
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let exchange = async {
            self.out.send(message).await.map_err(|_| ended())?;
            answer.await.map_err(|_| ended())
        };
        match tokio::time::timeout(within, exchange).await {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err((code, message)))) => Err(HostError::Refused { method, code, message }),
            Ok(Err(error)) => Err(error),
            Err(_) => {
                self.forget(id);
                Err(HostError::Silent { method, within })
            }
        }
    }

    /// Answers a question of the other side.
    pub(super) async fn answer(&self, id: &Value, answer: Result<Value, (i64, &str)>) {
        let message = match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, message)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        };
        // Who has ended waits for no answer.
        let _unheard = self.out.send(message).await;
    }

    fn forget(&self, id: u64) {
        let mut open = self.open.lock();
        if let Some(waiting) = &mut open.waiting {
            waiting.remove(&id);
        }
    }

    fn answered(&self, id: u64, answer: Answer) {
        let mut open = self.open.lock();
        let asker = open.waiting.as_mut().and_then(|waiting| waiting.remove(&id));
        match asker {
            // Whoever asked may have gone.
            Some(asker) => drop(asker.send(answer)),
            None => tracing::debug!(id, "an answer that nobody waits for"),
        }
    }

    fn closed(&self) {
        self.open.lock().waiting = None;
    }
}

async fn write(mut to: impl AsyncWrite + Unpin, mut outgoing: mpsc::Receiver<Value>) {
    while let Some(message) = outgoing.recv().await {
        let frame = frames::frame(&message);
        if to.write_all(&frame).await.is_err() || to.flush().await.is_err() {
            return;
        }
    }
}

async fn listen(from: impl AsyncRead + Unpin, incoming: mpsc::Sender<Incoming>, rpc: Rpc) {
    let mut reader = BufReader::new(from);
    let end = loop {
        let message = match frames::read(&mut reader).await {
            Ok(Some(message)) => message,
            Ok(None) => break HostError::Ended { last: Vec::new() },
            Err(what) => break HostError::Garbage(what),
        };
        let next = match sorted(message, &rpc) {
            Ok(Some(next)) => next,
            Ok(None) => continue,
            Err(what) => break HostError::Garbage(what),
        };
        if incoming.send(next).await.is_err() {
            break HostError::Ended { last: Vec::new() };
        }
    };
    rpc.closed();
    // Who listened may have gone.
    let _unheard = incoming.send(Incoming::Ended(end)).await;
}

/// What a message is; an answer goes to whoever asked.
fn sorted(mut message: Value, rpc: &Rpc) -> Result<Option<Incoming>, String> {
    let id = message.get("id").filter(|id| !id.is_null()).cloned();
    let params = message.get_mut("params").map(Value::take).unwrap_or_default();
    if let Some(method) = message.get("method").and_then(Value::as_str) {
        let method = method.to_owned();
        return Ok(Some(match id {
            Some(id) => Incoming::Asked { id, method, params },
            None => Incoming::Told { method, params },
        }));
    }
    let Some(id) = id.as_ref().and_then(Value::as_u64) else {
        return Err("neither a method nor the id of a question".to_owned());
    };
    let answer = match message.get("error").filter(|error| !error.is_null()) {
        Some(error) => {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
            let text = error.get("message").and_then(Value::as_str).unwrap_or("it gave no reason");
            Err((code, text.to_owned()))
        }
        None => Ok(message.get_mut("result").map(Value::take).unwrap_or_default()),
    };
    rpc.answered(id, answer);
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{DuplexStream, duplex, split};

    fn pair()
    -> (Conversation, BufReader<tokio::io::ReadHalf<DuplexStream>>, tokio::io::WriteHalf<DuplexStream>) {
        let (ours, theirs) = duplex(1 << 16);
        let (from, to) = split(ours);
        let (their_from, their_to) = split(theirs);
        (Conversation::over(from, to), BufReader::new(their_from), their_to)
    }

    async fn say(to: &mut (impl AsyncWrite + Unpin), message: Value) {
        to.write_all(&frames::frame(&message)).await.unwrap();
    }

    #[tokio::test]
    async fn answers_find_their_questions_in_any_order() {
        let (conversation, mut from, mut to) = pair();
        let rpc = conversation.rpc();
        let within = Duration::from_secs(10);
        let other = async {
            let first = frames::read(&mut from).await.unwrap().unwrap();
            let second = frames::read(&mut from).await.unwrap().unwrap();
            say(&mut to, json!({"id": 99, "result": "nobody's"})).await;
            say(&mut to, json!({"id": second["id"], "error": {"code": -1, "message": "no"}})).await;
            say(&mut to, json!({"id": first["id"], "result": first["method"]})).await;
        };
        let (first, second, ()) =
            tokio::join!(rpc.ask("one", json!({}), within), rpc.ask("two", json!({}), within), other);
        assert_eq!(first.unwrap(), json!("one"));
        assert!(matches!(second, Err(HostError::Refused { method: "two", code: -1, .. })));
    }

    #[tokio::test]
    async fn an_end_is_told_to_everybody_who_waits() {
        let (mut conversation, mut from, mut to) = pair();
        let rpc = conversation.rpc();
        say(&mut to, json!({"method": "m", "params": {"a": 1}})).await;
        say(&mut to, json!({"id": "x", "method": "q"})).await;
        assert!(matches!(conversation.next().await, Incoming::Told { params, .. } if params["a"] == 1));
        assert!(matches!(conversation.next().await, Incoming::Asked { id, .. } if id == "x"));
        rpc.answer(&json!("x"), Err((-32601, "no such method"))).await;
        assert_eq!(frames::read(&mut from).await.unwrap().unwrap()["error"]["code"], -32601);
        let asked = rpc.ask("m", json!({}), Duration::from_secs(10));
        let gone = async {
            frames::read(&mut from).await.unwrap().unwrap();
            drop((from, to));
        };
        let (asked, ()) = tokio::join!(asked, gone);
        assert!(matches!(asked, Err(HostError::Ended { .. })));
        assert!(matches!(conversation.next().await, Incoming::Ended(HostError::Ended { .. })));
        assert!(matches!(rpc.ask("m", json!({}), CLOSED).await, Err(HostError::Ended { .. })));
    }

    const CLOSED: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn silence_has_an_end() {
        let (conversation, _from, _to) = pair();
        let asked = conversation.rpc().ask("m", json!({}), Duration::from_secs(3)).await;
        assert!(matches!(asked, Err(HostError::Silent { method: "m", .. })));
    }
}
