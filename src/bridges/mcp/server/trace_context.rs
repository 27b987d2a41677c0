//! The trace context of a client's call (SEP-414).
//!
//! The client gives it as `traceparent`, `tracestate` and `baggage` in `_meta`, or in the headers
//! of an HTTP request.

use http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::tools::api::trace::TraceContext;

/// Returns the trace context of the request, if it has one.
pub(super) fn trace_context(context: &RequestContext<RoleServer>) -> Option<TraceContext> {
    let meta = &context.meta;
    if let Some(parent) = meta.get_traceparent() {
        let trace = TraceContext::new(parent, meta.get_tracestate())?;
        return Some(trace.with_baggage(meta.get_baggage()));
    }
    let headers = &context.extensions.get::<Parts>()?.headers;
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let trace = TraceContext::new(header("traceparent")?, header("tracestate"))?;
    Some(trace.with_baggage(header("baggage")))
}
