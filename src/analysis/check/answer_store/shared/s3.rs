//! A shared store in a bucket of S3 or a compatible service, by signed addresses.
//!
//! Its address is `s3://BUCKET/PREFIX?region=REGION&endpoint=URL`; the keys are in the usual
//! variables, those for writing and for reading in the environments of different jobs.

use std::time::Duration;

use rusty_s3::{Bucket, Credentials, S3Action, UrlStyle};
use url::Url;

use super::error::SharedStoreError;
use super::http::HttpStore;

/// The time for which a signed address is valid.
const SIGNED_FOR: Duration = Duration::from_secs(60);
/// The variable with the name of the key, in errors.
const KEY_ID: &str = "AWS_ACCESS_KEY_ID";
/// The usual region.
const REGION: &str = "us-east-1";

/// A prefix of a bucket.
#[derive(Debug)]
pub(super) struct S3Store {
    bucket: Bucket,
    prefix: String,
    http: HttpStore,
}

impl S3Store {
    /// The store that an address names.
    pub(super) fn new(url: &Url) -> Result<Self, SharedStoreError> {
        let value = |key: &str| {
            let mut values = url.query_pairs().filter(|(name, value)| name == key && !value.is_empty());
            values.next().map(|(_, value)| value.into_owned())
        };
        let region = value("region").unwrap_or_else(|| REGION.to_owned());
        let endpoint = value("endpoint").unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let unusable = |reason: String| {
            SharedStoreError::Address(format!("the address of the shared store cannot be used: {reason}"))
        };
        let endpoint = Url::parse(&endpoint).map_err(|error| unusable(format!("`endpoint`: {error}")))?;
        let name = url.host_str().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| unusable("it names no bucket".to_owned()))?.to_owned();
        let http = HttpStore::new(endpoint.clone())?;
        let bucket = Bucket::new(endpoint, UrlStyle::Path, name, region);
        let bucket = bucket.map_err(|error| unusable(error.to_string()))?;
        let prefix = url.path().trim_matches('/').to_owned();
        Ok(Self { bucket, prefix, http })
    }

    /// Reads a value; `None` if there is none.
    pub(super) async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, SharedStoreError> {
        let (credentials, path) = (credentials()?, self.path(name));
        let url = self.bucket.get_object(Some(&credentials), &path).sign(SIGNED_FOR);
        self.http.get(url, (KEY_ID, None)).await
    }

    /// Writes a value, unless there is one. Returns true if it was written.
    pub(super) async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<bool, SharedStoreError> {
        let (credentials, path) = (credentials()?, self.path(name));
        let head = self.bucket.head_object(Some(&credentials), &path).sign(SIGNED_FOR);
        let put = self.bucket.put_object(Some(&credentials), &path).sign(SIGNED_FOR);
        self.http.put((head, put), bytes, (KEY_ID, None)).await
    }

    fn path(&self, name: &str) -> String {
        match self.prefix.as_str() {
            "" => name.to_owned(),
            prefix => format!("{prefix}/{name}"),
        }
    }
}

fn credentials() -> Result<Credentials, SharedStoreError> {
    Credentials::from_env().ok_or_else(|| {
        let what = format!("the shared store in S3 needs {KEY_ID} and AWS_SECRET_ACCESS_KEY");
        SharedStoreError::Address(what)
    })
}
