//! A shared store on an HTTP server: GET and HEAD to read, PUT to write, with bearer tokens.

use reqwest::header::IF_NONE_MATCH;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use url::Url;

use super::error::{MAX_PACKED_BYTES, SharedStoreError};
use crate::rpc::http_client::http_client;

/// A token with the variable that has it.
pub(super) type StoreToken = (&'static str, Option<String>);

/// A folder of an HTTP server.
#[derive(Debug)]
pub(super) struct HttpStore {
    url: Url,
    client: Client,
}

impl HttpStore {
    /// The store below `url`, whose query is part of every request.
    pub(super) fn new(url: Url) -> Result<Self, SharedStoreError> {
        let client = http_client().build().map_err(|error| SharedStoreError::unusable(&error.to_string()))?;
        Ok(Self { url, client })
    }

    /// The address of an entry.
    pub(super) fn url_of(&self, name: &str) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push(name);
        }
        url
    }

    /// Reads a value; `None` if there is none.
    pub(super) async fn get(&self, url: Url, token: StoreToken) -> Result<Option<Vec<u8>>, SharedStoreError> {
        let mut response = self.send(self.client.get(url), &token).await?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Ok(None),
            status => return Err(self.refused(status, token.0)),
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(&error))? {
            if bytes.len() + chunk.len() > MAX_PACKED_BYTES {
                return Err(SharedStoreError::TooLarge { host: self.host() });
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some(bytes))
    }

    /// Writes a value, unless there is one at the addresses for `HEAD` and `PUT`. Returns true if it
    /// was written.
    pub(super) async fn put(
        &self,
        (head, put): (Url, Url),
        bytes: Vec<u8>,
        token: StoreToken,
    ) -> Result<bool, SharedStoreError> {
        // Many servers ignore the condition of the request that writes.
        if self.send(self.client.head(head), &token).await?.status().is_success() {
            return Ok(false);
        }
        let request = self.client.put(put).header(IF_NONE_MATCH, "*").body(bytes);
        let status = self.send(request, &token).await?.status();
        match status {
            StatusCode::PRECONDITION_FAILED | StatusCode::CONFLICT => Ok(false),
            status if status.is_success() => Ok(true),
            status => Err(self.refused(status, token.0)),
        }
    }

    async fn send(&self, request: RequestBuilder, token: &StoreToken) -> Result<Response, SharedStoreError> {
        let request = match &token.1 {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        request.send().await.map_err(|error| self.failed(&error))
    }

    fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }

    fn refused(&self, status: StatusCode, token: &'static str) -> SharedStoreError {
        let (host, code) = (self.host(), status.as_u16());
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                SharedStoreError::Refused { host, status: code, token }
            }
            _ => SharedStoreError::Status { host, status: code },
        }
    }

    /// The causes of `error`, without the address, which may have a secret.
    fn failed(&self, error: &reqwest::Error) -> SharedStoreError {
        let mut cause: &dyn std::error::Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        SharedStoreError::Failed { host: self.host(), reason: cause.to_string() }
    }
}
