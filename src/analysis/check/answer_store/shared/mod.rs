//! The shared store: any HTTP server with GET and PUT, S3, or Redis.
//!
//! Values are signed entries by 64 hexadecimal digits. A store is not trusted: what it returns is
//! bounded in size and time, and its signature is verified. It is read with one token and written
//! with another.

use std::time::Duration;

use url::Url;

use super::entry::ReportEntry;
use super::signature::{WriterKey, shared_name, verified};
use crate::config::SharedAnswerSettings;
use crate::text::PartsHash;

pub(crate) mod error;
mod http;
#[cfg(feature = "stores")]
mod redis;
#[cfg(feature = "stores")]
mod s3;

use self::error::{MAX_PACKED_BYTES, SharedStoreError};
use self::http::HttpStore;

/// The longest time of one request that the user waits for.
pub(in crate::analysis::check) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The variable with the token for reading.
const READ_TOKEN: &str = "LSP_TOOLS_STORE_READ_TOKEN";
/// The variable with the token for writing.
const WRITE_TOKEN: &str = "LSP_TOOLS_STORE_WRITE_TOKEN";

/// A shared store.
#[derive(Debug)]
pub(in crate::analysis::check) struct SharedStore {
    address: StoreAddress,
    host: String,
}

#[derive(Debug)]
enum StoreAddress {
    Http(HttpStore),
    #[cfg(feature = "stores")]
    S3(s3::S3Store),
    #[cfg(feature = "stores")]
    Redis(redis::RedisStore),
}

impl SharedStore {
    /// The store of the settings; `None` if they name none.
    ///
    /// # Errors
    /// Its address cannot be used.
    pub(in crate::analysis::check) fn of(
        settings: &SharedAnswerSettings,
    ) -> Result<Option<Self>, SharedStoreError> {
        let Some(text) = &settings.url else { return Ok(None) };
        let url = Url::parse(text).map_err(|error| SharedStoreError::Address(error.to_string()))?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let address = match url.scheme() {
            "http" | "https" => StoreAddress::Http(HttpStore::new(url)?),
            #[cfg(feature = "stores")]
            "s3" => StoreAddress::S3(s3::S3Store::new(&url)?),
            #[cfg(feature = "stores")]
            "redis" => StoreAddress::Redis(redis::RedisStore::new(&url)?),
            scheme => {
                let what = format!("this build of lsp-tools cannot use shared stores with `{scheme}:`");
                return Err(SharedStoreError::Address(what));
            }
        };
        Ok(Some(Self { address, host }))
    }

    /// Reads the entry that one of the trusted writers wrote for `key`, the first of them, within
    /// `limit`.
    ///
    /// # Errors
    /// The store fails or is late, or what it has is not signed by a trusted writer.
    pub(in crate::analysis::check) async fn read(
        &self,
        settings: &SharedAnswerSettings,
        key: &PartsHash,
        limit: Duration,
    ) -> Result<Option<ReportEntry>, SharedStoreError> {
        let read = async {
            let mut unsigned = None;
            for writer in settings.trusted_writers() {
                let Some(bytes) = self.get(&shared_name(key, &writer.key)).await? else { continue };
                match verified(key, &writer, &bytes) {
                    Some(entry) => return Ok(Some(entry)),
                    None => unsigned = Some(writer.name),
                }
            }
            let host = self.host.clone();
            unsigned.map_or(Ok(None), |writer| Err(SharedStoreError::Unsigned { host, writer }))
        };
        self.within(limit, read).await
    }

    /// Writes the entry for `key`, unless there is one of the same writer. Returns true if it was
    /// written.
    ///
    /// # Errors
    /// The store fails, refuses, or is late.
    pub(in crate::analysis::check) async fn write(
        &self,
        writer: &WriterKey,
        key: &PartsHash,
        entry: &ReportEntry,
    ) -> Result<bool, SharedStoreError> {
        let name = shared_name(key, writer.public());
        let Some(bytes) = writer.sign(key, entry).filter(|bytes| bytes.len() <= MAX_PACKED_BYTES) else {
            return Err(SharedStoreError::TooLarge { host: self.host.clone() });
        };
        let write = async {
            match &self.address {
                StoreAddress::Http(store) => {
                    let url = store.url_of(&name);
                    store.put((url.clone(), url), bytes, token(WRITE_TOKEN)).await
                }
                #[cfg(feature = "stores")]
                StoreAddress::S3(store) => store.put(&name, bytes).await,
                #[cfg(feature = "stores")]
                StoreAddress::Redis(store) => store.put(&name, bytes).await,
            }
        };
        self.within(REQUEST_TIMEOUT, write).await
    }

    async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, SharedStoreError> {
        match &self.address {
            StoreAddress::Http(store) => store.get(store.url_of(name), token(READ_TOKEN)).await,
            #[cfg(feature = "stores")]
            StoreAddress::S3(store) => store.get(name).await,
            #[cfg(feature = "stores")]
            StoreAddress::Redis(store) => store.get(name).await,
        }
    }

    async fn within<T>(
        &self,
        limit: Duration,
        request: impl Future<Output = Result<T, SharedStoreError>>,
    ) -> Result<T, SharedStoreError> {
        let answer = tokio::time::timeout(limit, request).await;
        answer.unwrap_or_else(|_| Err(SharedStoreError::Late { host: self.host.clone(), limit }))
    }
}

fn token(variable: &'static str) -> (&'static str, Option<String>) {
    (variable, std::env::var(variable).ok().filter(|token| !token.is_empty()))
}
