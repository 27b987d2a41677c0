//! The page that shows a user the daemon's activity: read-only, on loopback, protected by a token.
//!
//! - [`host`]: opens and closes it, and creates its tokens
//! - [`listener`]: connections and the checks of each request
//! - [`site`]: the files of the page, compiled in
//! - [`sampler`]: the shown data, sampled only while the page has a viewer
//! - [`parts`]: the construction of each part of the data
//! - [`stream`]: the parts as server-sent events
//! - [`setup`], [`response`]: the parameters, and the form of responses
//!
//! Data flow: `lsp-tools view` sends a [`PageRequest`](host::PageRequest) to the daemon over its
//! socket; the reply has the port and the token, and the token is nowhere else. A browser requests
//! `/TOKEN/…`; every request without the token is answered 401. The sampler reads the runtime every
//! few seconds and publishes JSON by parts; a stream sends the parts that changed.
//!
//! May use: `runtime` and below. The daemon's data is passed in ([`PageSetup`](setup::PageSetup)).
//! Prints nothing, and logs no address of a request, since the token is in it.

pub(crate) mod host;
mod listener;
mod parts;
mod response;
mod sampler;
pub(crate) mod setup;
mod site;
mod stream;
