//! The page of one daemon: opened on request, closed on request or when the daemon ends.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::listener::{self, PageAccess};
use super::sampler::PageSampler;
use super::setup::PageSetup;
use crate::rpc::http_entry::token::{BearerToken, TokenError};

/// A request about the page, as one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "page", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum PageRequest {
    /// Opens the page. If it is open already, replaces its token; the former token becomes invalid.
    Open {
        /// Accepts connections from local processes that cannot be identified.
        #[serde(default)]
        allow_unseen: bool,
    },
    /// Closes the page.
    Stop,
}

/// The response, as one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "page", rename_all = "lowercase")]
pub(crate) enum PageReply {
    /// The page is open.
    Open {
        /// The port on 127.0.0.1.
        port: u16,
        /// The token, which only the requesting terminal receives.
        token: String,
    },
    /// The page has been closed.
    Stopped,
    /// The page was not open.
    Closed,
    /// The page cannot be opened.
    Failed {
        /// The reason.
        error: String,
    },
}

/// The page of this process, open or not.
#[derive(Default)]
pub(crate) struct PageHost {
    open: tokio::sync::Mutex<Option<OpenPage>>,
}

struct OpenPage {
    port: u16,
    access: Arc<Mutex<PageAccess>>,
    /// Cancelled to close the page.
    end: CancellationToken,
    /// Ends when the listener has stopped.
    serving: tokio::task::JoinHandle<()>,
}

#[derive(Debug, Error)]
enum PageError {
    #[error("cannot listen on any port of 127.0.0.1: {0}")]
    Port(#[from] io::Error),
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl PageHost {
    /// Carries out a request.
    pub(crate) async fn answer(&self, request: PageRequest, setup: PageSetup) -> PageReply {
        match request {
            PageRequest::Open { allow_unseen } => match self.open(allow_unseen, setup).await {
                Ok((port, token)) => PageReply::Open { port, token },
                Err(error) => PageReply::Failed { error: error.to_string() },
            },
            PageRequest::Stop => {
                let Some(page) = self.open.lock().await.take().filter(|page| !page.serving.is_finished())
                else {
                    return PageReply::Closed;
                };
                page.end.cancel();
                // The task ends by itself in bounded time; a panic counts as its end as well.
                let _ended = page.serving.await;
                tracing::info!("the page is closed");
                PageReply::Stopped
            }
        }
    }

    async fn open(&self, allow_unseen: bool, setup: PageSetup) -> Result<(u16, String), PageError> {
        let token = BearerToken::random()?;
        let text = token.text().to_owned();
        let mut open = self.open.lock().await;
        if let Some(page) = open.as_ref().filter(|page| !page.serving.is_finished()) {
            let access = PageAccess::new(token, allow_unseen, &page.end);
            // Ends the streams opened with the former token.
            std::mem::replace(&mut *page.access.lock(), access).end();
            tracing::info!("the page has a new token");
            return Ok((page.port, text));
        }
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let address = listener.local_addr()?;
        let end = setup.closing.child_token();
        let access = Arc::new(Mutex::new(PageAccess::new(token, allow_unseen, &end)));
        let tasks = setup.tasks.clone();
        let sampler = PageSampler::new(setup, end.clone());
        let serving =
            tasks.spawn(listener::serve(listener, address, Arc::clone(&access), sampler, end.clone()));
        *open = Some(OpenPage { port: address.port(), access, end, serving });
        tracing::info!(port = address.port(), "the page is open");
        Ok((address.port(), text))
    }
}
