//! The state before a change: as texts over the present state, or as a tree of its own.

use std::fmt::Debug;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::analysis::context::Context;
use crate::lsp::documents::view::View;

/// The state before a change.
#[derive(Debug)]
pub(crate) struct Earlier {
    /// The earlier texts, over the present state. No server can be shown that an existing file is
    /// missing.
    pub view: View,
    /// The earlier files themselves, if the texts alone do not show the whole state.
    pub tree: Option<Arc<dyn EarlierTree>>,
}

/// A tree of earlier files with servers of its own, created at the first use.
pub(crate) trait EarlierTree: Debug + Send + Sync {
    /// The context for checks of its files; `None` if they could not be written out.
    fn context(&self) -> BoxFuture<'_, Option<&Context>>;
}

impl Earlier {
    /// The state in `view`.
    pub(crate) fn shown_over(view: View) -> Self {
        Self { view, tree: None }
    }
}
