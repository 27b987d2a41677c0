//! A shared store in Redis.

use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, Client, ExistenceCheck, RedisError, SetExpiry, SetOptions};
use url::Url;

use super::error::{MAX_PACKED_BYTES, SharedStoreError};

/// The prefix of keys.
const KEY_PREFIX: &str = "lsp-tools:";
/// The time after which Redis removes a value, in seconds.
const EXPIRES_AFTER: u64 = 90 * 86_400;

/// A database of Redis.
#[derive(Debug)]
pub(super) struct RedisStore {
    client: Client,
    host: String,
}

impl RedisStore {
    /// The store that an address names: `redis://USER:PASSWORD@HOST:PORT/DATABASE`.
    pub(super) fn new(url: &Url) -> Result<Self, SharedStoreError> {
        let client = Client::open(url.as_str());
        let client = client.map_err(|error| SharedStoreError::unusable(&error.to_string()))?;
        Ok(Self { client, host: url.host_str().unwrap_or_default().to_owned() })
    }

    /// Reads a value; `None` if there is none.
    pub(super) async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, SharedStoreError> {
        let (mut connection, key) = (self.connect().await?, format!("{KEY_PREFIX}{name}"));
        // Redis sends a value whole.
        let size: usize = connection.strlen(&key).await.map_err(|error| self.failed(&error))?;
        if size > MAX_PACKED_BYTES {
            return Err(SharedStoreError::TooLarge { host: self.host.clone() });
        }
        connection.get(&key).await.map_err(|error| self.failed(&error))
    }

    /// Writes a value, unless there is one. Returns true if it was written.
    pub(super) async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<bool, SharedStoreError> {
        let (mut connection, key) = (self.connect().await?, format!("{KEY_PREFIX}{name}"));
        let options = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::EX(EXPIRES_AFTER));
        let answer: Option<String> =
            connection.set_options(&key, bytes, options).await.map_err(|error| self.failed(&error))?;
        Ok(answer.is_some())
    }

    async fn connect(&self) -> Result<MultiplexedConnection, SharedStoreError> {
        self.client.get_multiplexed_async_connection().await.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &RedisError) -> SharedStoreError {
        SharedStoreError::Failed { host: self.host.clone(), reason: error.to_string() }
    }
}
