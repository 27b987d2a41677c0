//! One initialized server over a [`Peer`](crate::rpc::Peer), and the requests to it.
//!
//! [`live_session`] is the session and [`state`] its state. [`ask`] sends a request with the text
//! that it is about; [`operations`] and [`hierarchy`] are the kinds of requests; [`decode`] and
//! [`bounded_answer`] read the answers. [`readiness`] judges whether the server has read the
//! project, [`reload`] notifies it of changed inputs, and [`server_handler`] answers its own
//! requests.

pub(crate) mod ask;
pub(crate) mod bounded_answer;
pub(crate) mod capabilities;
pub(crate) mod decode;
pub(crate) mod first_answers;
pub(crate) mod hierarchy;
pub(crate) mod incomplete_answers;
pub(crate) mod latency;
pub(crate) mod live_session;
pub(crate) mod operations;
pub(crate) mod progress;
pub(crate) mod readiness;
pub(crate) mod reload;
pub(crate) mod request;
pub(crate) mod semantic_tokens;
pub(crate) mod server_cache;
pub(crate) mod server_handler;
pub(crate) mod state;
pub(crate) mod user_messages;
