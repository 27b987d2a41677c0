//! The page of one daemon: opened when somebody asks for it, closed when somebody says so or the daemon ends.

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

/// What is asked of the page, in one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "page", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum PageRequest {
    /// Open it, or give a new token for the one that is open; the former token is worth nothing then.
    Open {
        /// Processes of this machine that cannot be made out are let in.
        #[serde(default)]
        allow_unseen: bool,
    },
    /// Close it.
    Stop,
}

/// What is answered, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "page", rename_all = "lowercase")]
pub(crate) enum PageReply {
    /// It is open.
    Open {
        /// Its port on 127.0.0.1.
        port: u16,
        /// The token, for the terminal that asked and nobody else.
        token: String,
    },
    /// It is closed now.
    Stopped,
    /// There was none.
    Closed,
    /// It cannot be opened.
    Failed {
        /// Why.
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
    /// Cancelled when it is to be closed.
    end: CancellationToken,
    /// Ends when nobody listens any more.
    serving: tokio::task::JoinHandle<()>,
}

#[derive(Debug, Error)]
enum PageError {
    #[error("no port of 127.0.0.1 can be listened on: {0}")]
    Port(#[from] io::Error),
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl PageHost {
    /// Does what is asked.
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
                // It ends by itself, in a bounded time; its failure is its end as well.
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
            // Streams that the former token opened end.
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
