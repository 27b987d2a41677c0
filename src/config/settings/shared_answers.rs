//! `[shared-answers]`: a store of answers that several machines share, and the writers whose
//! entries are used. Only the user's own settings count: an entry of a writer is believed like a
//! server.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

/// The schemes of addresses of shared stores.
const SCHEMES: [&str; 4] = ["http", "https", "redis", "s3"];

/// A store of answers that several machines share. These settings count only in the user's own
/// file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct SharedAnswerSettings {
    /// The address of the store: `https://…` for a server with GET and PUT,
    /// `s3://BUCKET/PREFIX?region=REGION&endpoint=URL`, or `redis://HOST:PORT/DATABASE`. This key
    /// counts only in the user's own file.
    pub(crate) url: Option<String>,
    /// The writers whose entries are used, `NAME=PUBLIC-KEY` as `store key` prints it. This key
    /// counts only in the user's own file.
    pub(crate) writers: Vec<String>,
}

/// A writer whose entries are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustedWriter {
    /// The name, shown with answers.
    pub(crate) name: String,
    /// The public key (Ed25519).
    pub(crate) key: [u8; 32],
}

impl TrustedWriter {
    fn parse(text: &str) -> Option<Self> {
        let (name, key) = text.split_once('=')?;
        let key = BASE64_STANDARD.decode(key).ok()?.try_into().ok()?;
        is_writer_name(name).then(|| Self { name: name.to_owned(), key })
    }
}

/// Returns true for the name of a writer: 1 to 64 letters, digits, `-`, `_`, `.` and `/`.
pub(crate) fn is_writer_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    (1..=64).contains(&name.len()) && name.chars().all(fits)
}

impl SharedAnswerSettings {
    /// The writers whose entries are used.
    pub(crate) fn trusted_writers(&self) -> impl Iterator<Item = TrustedWriter> {
        self.writers.iter().filter_map(|writer| TrustedWriter::parse(writer))
    }

    /// The faults of values, each with the key and the value.
    pub(super) fn faults(&self) -> impl Iterator<Item = (&'static str, &String, String)> {
        let url = self.url.iter().filter_map(|url| Some(("url", url, url_fault(url)?)));
        let is_wrong = |writer: &&String| TrustedWriter::parse(writer).is_none();
        let writers = self.writers.iter().filter(is_wrong).map(|writer| {
            // A secret key may have been given in its place.
            let fault = "`shared-answers.writers` has an entry of another form; give NAME=PUBLIC-KEY as `lsp-tools store key NAME` prints it";
            ("writers", writer, fault.to_owned())
        });
        url.chain(writers)
    }
}

/// The fault of an address, which may contain a password.
fn url_fault(url: &str) -> Option<String> {
    let parsed = Url::parse(url).ok().filter(|url| SCHEMES.contains(&url.scheme()) && url.has_host());
    let wanted = "`shared-answers.url` is no address of a shared store; give one with `https:`, `http:`, `s3:` or `redis:`";
    parsed.is_none().then(|| wanted.to_owned())
}
