//! Where a call stands in a trace that began elsewhere (W3C Trace Context): doors set it around a call, and tools that ask
//! other servers pass it on.

use std::future::Future;

tokio::task_local! {
    static TRACE: Trace;
}

/// The place in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// `traceparent`: version, trace, parent and flags.
    pub traceparent: String,
    /// `tracestate`, where there is one.
    pub tracestate: Option<String>,
}

impl Trace {
    /// A place, where `traceparent` has the form of one (55 characters, hexadecimal but for three `-`) and the state is no
    /// longer than its limit of 512.
    pub fn new(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let form = traceparent.len() == 55
            && traceparent.bytes().enumerate().all(|(at, byte)| match at {
                2 | 35 | 52 => byte == b'-',
                _ => byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase(),
            });
        let state = tracestate
            .filter(|state| state.len() <= 512 && state.bytes().all(|byte| byte.is_ascii_graphic()));
        form.then(|| Self { traceparent: traceparent.to_owned(), tracestate: state.map(str::to_owned) })
    }
}

/// `work`, which stands at `trace`.
pub async fn within<T>(trace: Option<Trace>, work: impl Future<Output = T>) -> T {
    match trace {
        Some(trace) => TRACE.scope(trace, work).await,
        None => work.await,
    }
}

/// Where the call that runs now stands.
pub fn current() -> Option<Trace> {
    TRACE.try_with(Clone::clone).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_knows_its_place_and_no_other_does() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let trace = Trace::new(parent, Some("a=1"));
        assert_eq!(within(trace.clone(), async { current() }).await, trace);
        assert_eq!(current(), None);
        for bad in ["", "00-x", &parent.to_uppercase(), &parent.replace('-', "_")] {
            assert_eq!(Trace::new(bad, None), None, "{bad}");
        }
    }
}
