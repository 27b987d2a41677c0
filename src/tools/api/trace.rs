//! The trace context of a call that belongs to a trace from elsewhere (W3C Trace Context and
//! Baggage). Entry points set it around a call, tools that call other servers pass it on, and the
//! audit log records it.

use std::future::Future;

/// The longest `tracestate`, in bytes.
const MAX_TRACESTATE_BYTES: usize = 512;
/// The longest `baggage`, in bytes.
const MAX_BAGGAGE_BYTES: usize = 8_192;

tokio::task_local! {
    static TRACE: TraceContext;
}

/// The position of a call in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TraceContext {
    /// `traceparent`: version, trace, parent and flags.
    pub traceparent: String,
    /// `tracestate`, if given.
    pub tracestate: Option<String>,
    /// `baggage`, if given.
    pub baggage: Option<String>,
}

impl TraceContext {
    /// A trace context; `None` if `traceparent` has another form (55 characters, hexadecimal except
    /// for three `-`). A state longer than its limit of 512 is dropped.
    pub(crate) fn new(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let form = traceparent.len() == 55
            && traceparent.bytes().enumerate().all(|(at, byte)| match at {
                2 | 35 | 52 => byte == b'-',
                _ => byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase(),
            });
        let tracestate = tracestate.filter(|state| is_plain(state, MAX_TRACESTATE_BYTES)).map(str::to_owned);
        form.then(|| Self { traceparent: traceparent.to_owned(), tracestate, baggage: None })
    }

    /// Adds `baggage`, unless it exceeds its limit of 8192 bytes.
    pub(crate) fn with_baggage(mut self, baggage: Option<&str>) -> Self {
        self.baggage = baggage.filter(|baggage| is_plain(baggage, MAX_BAGGAGE_BYTES)).map(str::to_owned);
        self
    }
}

/// Returns true if the text is valid in a header.
fn is_plain(text: &str, most: usize) -> bool {
    text.len() <= most && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

/// Runs `work` with `trace` as the current trace context.
pub(crate) async fn with_trace<T>(trace: Option<TraceContext>, work: impl Future<Output = T>) -> T {
    match trace {
        Some(trace) => TRACE.scope(trace, work).await,
        None => work.await,
    }
}

/// The trace context of the running call.
pub(crate) fn current() -> Option<TraceContext> {
    TRACE.try_with(Clone::clone).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn trace_context_is_task_local_and_malformed_traceparent_is_refused() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let trace =
            TraceContext::new(parent, Some("a=1")).map(|trace| trace.with_baggage(Some("user=7, plan=b")));
        assert_eq!(trace.as_ref().unwrap().baggage.as_deref(), Some("user=7, plan=b"));
        assert_eq!(with_trace(trace.clone(), async { current() }).await, trace);
        assert_eq!(current(), None);
        for bad in ["", "00-x", &parent.to_uppercase(), &parent.replace('-', "_")] {
            assert_eq!(TraceContext::new(bad, None), None, "{bad}");
        }
        for bad in ["a=1\r\nx: y", "a=\u{e9}", &"x".repeat(9_000)] {
            let trace = TraceContext::new(parent, Some(bad)).unwrap().with_baggage(Some(bad));
            assert_eq!((trace.tracestate, trace.baggage), (None, None), "{bad}");
        }
    }
}
