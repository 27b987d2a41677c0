//! A runtime on a project, called as from a shell; and a web server with set responses.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use crate::support::{Project, TestWorkspace};

/// A workspace with the deadlines of its settings, at a shell.
pub fn open(project: &Project) -> TestWorkspace {
    project.opening().timeout(None).at_shell().open()
}

/// The user's settings of a project.
pub fn settings(project: &Project, text: &str) {
    std::fs::write(project.beside("config").join("lsp-tools.toml"), text).expect("settings");
}

/// A response of the web server: status, headers, body.
pub type Said = (u16, Vec<(String, String)>, Vec<u8>);

/// A web server on this machine. It ends with the test.
pub struct Web {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Web {
    pub fn new(answer: impl Fn(&str, SocketAddr) -> Said + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(&stream);
                let mut first = String::new();
                if reader.read_line(&mut first).is_err() {
                    continue;
                }
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    line.clear();
                }
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                told.lock().unwrap().push(path.clone());
                let (status, headers, body) = answer(&path, address);
                let mut head =
                    format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
                for (name, value) in headers {
                    head.push_str(&format!("{name}: {value}\r\n"));
                }
                // A client may close the connection early.
                let _ = (&stream).write_all(format!("{head}\r\n").as_bytes());
                let _ = (&stream).write_all(&body);
            }
        });
        Self { address, asked }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

pub fn page(kind: &str, body: impl Into<Vec<u8>>) -> Said {
    (200, vec![("content-type".to_owned(), kind.to_owned())], body.into())
}

pub fn redirect(to: &str) -> Said {
    (302, vec![("location".to_owned(), to.to_owned())], Vec::new())
}
