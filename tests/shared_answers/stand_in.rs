//! An HTTP server that keeps values, and can answer in every wrong manner.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The way in which the stand-in answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Right,
    LoginPage,
    Status(u16),
    Redirect,
    /// Accepts connections, and answers nothing.
    Silent,
    /// Sends one byte now and then.
    Dripping,
    Oversized,
    /// Ends the connection in the middle of a value.
    Cut,
}

#[derive(Debug)]
pub struct StandIn {
    pub values: BTreeMap<String, Vec<u8>>,
    pub manner: Manner,
    /// The paths and tokens of requests.
    pub seen: Vec<(String, String, String)>,
}

/// An HTTP server with GET, HEAD and PUT, for stored values.
#[derive(Debug, Clone)]
pub struct Store {
    state: Arc<Mutex<StandIn>>,
    pub url: String,
}

impl Store {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/answers?team=a", listener.local_addr().expect("an address"));
        let state = StandIn { values: BTreeMap::new(), manner: Manner::Right, seen: Vec::new() };
        let store = Self { state: Arc::new(Mutex::new(state)), url };
        let served = store.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = served.clone();
                std::thread::spawn(move || served.serve(&stream));
            }
        });
        store
    }

    pub fn with<T>(&self, change: impl FnOnce(&mut StandIn) -> T) -> T {
        change(&mut self.state.lock().expect("the state"))
    }

    fn serve(&self, mut stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            (reader.read_line(&mut line).ok()? > 0).then_some(())?;
            match line.trim() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let header = |name: &str| {
            let found = lines.iter().filter_map(|line| line.split_once(": "));
            found
                .into_iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.to_owned())
        };
        let mut body = vec![0; header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
        let (method, rest) = lines.first()?.split_once(' ')?;
        let path = rest.split_once(' ')?.0.to_owned();
        let manner = self.with(|state| {
            state.seen.push((method.to_owned(), path.clone(), header("authorization").unwrap_or_default()));
            state.manner
        });
        let value = self.with(|state| state.values.get(&path).cloned());
        let (status, body) = match (manner, method) {
            (Manner::Silent, _) => {
                let _until_it_ends = reader.read(&mut [0]);
                return None;
            }
            (Manner::LoginPage, _) => (200, b"<html>Log in, please</html>".to_vec()),
            (Manner::Status(status), _) => (status, Vec::new()),
            (Manner::Redirect, _) => (302, Vec::new()),
            (Manner::Oversized, _) => (200, vec![b'x'; 17 << 20]),
            (_, "PUT") => {
                self.with(|state| state.values.insert(path, body));
                (201, Vec::new())
            }
            _ => value.map_or((404, Vec::new()), |value| (200, value)),
        };
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nLocation: {}\r\nConnection: close\r\n\r\n",
            self.url
        )
        .ok()?;
        match manner {
            Manner::Cut => stream.write_all(&body[..length / 2]).ok(),
            Manner::Dripping => body
                .iter()
                .try_for_each(|byte| {
                    stream.write_all(&[*byte])?;
                    std::thread::sleep(std::time::Duration::from_millis(100));
                    Ok::<(), std::io::Error>(())
                })
                .ok(),
            _ if method == "HEAD" => None,
            _ => stream.write_all(&body).ok(),
        }
    }
}
