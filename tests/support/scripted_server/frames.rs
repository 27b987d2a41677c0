//! LSP's base protocol (3.17, *Base Protocol*), right and wrong.

use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::Value;

/// The framing of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    #[default]
    Good,
    LowerCase,
    LfOnly,
    NoSpace,
    ExtraHeader,
    LengthTooLong,
    LengthTooShort,
    LengthNegative,
    LengthHuge,
    LengthNotANumber,
    LengthMissing,
    InvalidUtf8,
    NotJson,
    Half,
}

/// `message` as bytes on the wire, in the given style.
pub fn encode(message: &Value, style: Style) -> Vec<u8> {
    let mut body = message.to_string().into_bytes();
    match style {
        // The first letter of the first string becomes a byte that no UTF-8 text has.
        Style::InvalidUtf8 => {
            if let Some(at) = body.iter().rposition(|byte| byte.is_ascii_alphabetic()) {
                body[at] = 0xff;
            }
        }
        Style::NotJson => body = b"{\"jsonrpc\": \"2.0\", oops".to_vec(),
        _ => {}
    }
    let length = body.len();
    let header = match style {
        Style::LowerCase => format!("content-length: {length}\r\n\r\n"),
        Style::LfOnly => format!("Content-Length: {length}\n\n"),
        Style::NoSpace => format!("Content-Length:{length}\r\n\r\n"),
        Style::ExtraHeader => format!(
            "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nX-Other: 1\r\nContent-Length: {length}\r\n\r\n"
        ),
        Style::LengthTooLong => format!("Content-Length: {}\r\n\r\n", length + 10),
        Style::LengthTooShort => format!("Content-Length: {}\r\n\r\n", length.saturating_sub(5)),
        Style::LengthNegative => format!("Content-Length: -{length}\r\n\r\n"),
        Style::LengthHuge => "Content-Length: 10737418240\r\n\r\n".to_owned(),
        Style::LengthNotANumber => "Content-Length: many\r\n\r\n".to_owned(),
        Style::LengthMissing => "Content-Type: application/vscode-jsonrpc\r\n\r\n".to_owned(),
        Style::Good | Style::InvalidUtf8 | Style::NotJson | Style::Half => {
            format!("Content-Length: {length}\r\n\r\n")
        }
    };
    if style == Style::Half {
        body.truncate(length / 2);
    }
    [header.into_bytes(), body].concat()
}

/// Writes `bytes` unchanged, at once.
pub fn write(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes)?;
    out.flush()
}

/// Reads the body of the next message; `None` at the end of the stream.
///
/// The client under test must frame correctly, so any other input is an error.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix("\r\n") else {
            return Err(bad(format!("header line without CRLF: {line:?}")));
        };
        if line.is_empty() {
            break;
        }
        match line.split_once(": ") {
            Some(("Content-Length", number)) => {
                length = Some(number.parse::<usize>().map_err(|error| bad(format!("{line:?}: {error}")))?);
            }
            Some(_) => {}
            None => return Err(bad(format!("not a header: {line:?}"))),
        }
    }
    let length = length.ok_or_else(|| bad("no Content-Length".to_owned()))?;
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(body))
}

fn bad(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
