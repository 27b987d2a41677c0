//! The state before a change: as texts over what is there now, or as a tree of its own.

use std::fmt::Debug;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::lsp::view::View;
use crate::tools::context::Context;

/// What was there before.
#[derive(Debug)]
pub(crate) struct Earlier {
    /// The earlier texts, over what is there now. No server can be shown that a file is not there while it is.
    pub view: View,
    /// The earlier files themselves, where the texts alone do not show all.
    pub tree: Option<Arc<dyn EarlierTree>>,
}

/// A tree of earlier files with servers of its own, made when it is first needed.
pub(crate) trait EarlierTree: Debug + Send + Sync {
    /// Where its files are looked at; `None` where they could not be written out.
    fn context(&self) -> BoxFuture<'_, Option<&Context>>;
}

impl Earlier {
    /// What `view` shows.
    pub(crate) fn shown_over(view: View) -> Self {
        Self { view, tree: None }
    }
}
