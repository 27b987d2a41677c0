//! The shape of every answer of the page.

use std::convert::Infallible;

use http::Response;
use http::header::{self, HeaderValue};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Bytes;

/// What is answered.
pub(super) type PageResponse = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// The same with its type.
pub(super) fn with_kind(mut answer: PageResponse, kind: &'static str) -> PageResponse {
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
