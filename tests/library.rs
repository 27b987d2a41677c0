//! The guarantees for embedders besides the answers themselves.

use lsp_tools::internals::tools::{CallDirection, TypeDirection};
use lsp_tools::{Runtime, Target, TrustRequest};

/// Callers spawn questions on a multi-threaded runtime. Compiling is the test.
#[test]
fn runtime_futures_are_all_send() {
    fn is_send<T: Send>(_: &T) {}
    let _compiled = |runtime: &Runtime, target: &Target| {
        is_send(&runtime.hover(target.clone()));
        is_send(&runtime.definition(target.clone()));
        is_send(&runtime.references(target.clone(), 1));
        is_send(&runtime.symbols(target.clone(), 1));
        is_send(&runtime.calls(target.clone(), CallDirection::Incoming, 1));
        is_send(&runtime.types(target.clone(), TypeDirection::Subtypes, 1));
        is_send(&runtime.signature(target.clone()));
        is_send(&runtime.completion(target.clone(), 1));
        is_send(&runtime.diagnose(Vec::new(), None, 1));
        is_send(&runtime.servers());
        is_send(&runtime.doctor());
        is_send(&runtime.install(Vec::new()));
        is_send(&runtime.trust(TrustRequest::Show));
        is_send(&runtime.shutdown());
    };
}
