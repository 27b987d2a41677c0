//! The page on which a person sees what the daemon does: read-only, on loopback, for whoever has its token.
//!
//! - [`host`]: opens and closes it, and makes its tokens
//! - [`listener`]: connections and the checks of each request
//! - [`site`]: the files of the page, compiled in
//! - [`sampler`]: what is shown, gathered only while somebody looks
//! - [`parts`]: how each part of it is made
//! - [`stream`]: the same as server-sent events
//! - [`setup`], [`response`]: what is handed in, and the shape of answers
//!
//! How data passes: `lsp-tools view` asks the daemon over its socket ([`PageRequest`](host::PageRequest)); the answer has the port and the token,
//! and the token is nowhere else. A browser asks for `/TOKEN/…`; without the token every request is answered 401. The sampler looks at the
//! runtime every few seconds and publishes JSON by parts; a stream sends the parts that changed.
//!
//! May use: `runtime` and below. What it shows of the daemon is handed in ([`PageSetup`](setup::PageSetup)). Prints nothing, and logs no address
//! of a request, since the token is in it.

pub(crate) mod host;
mod listener;
mod parts;
mod response;
mod sampler;
pub(crate) mod setup;
mod site;
mod stream;
