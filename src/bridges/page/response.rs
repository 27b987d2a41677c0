//! The form of the page's responses.

use std::convert::Infallible;

use http::Response;
use http::header::{self, HeaderValue};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Bytes;

/// A response of the page.
pub(super) type PageResponse = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Sets the content type.
pub(super) fn with_kind(mut answer: PageResponse, kind: &'static str) -> PageResponse {
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
