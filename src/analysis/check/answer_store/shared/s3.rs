//! A shared store in a bucket of S3 or a compatible service, by signed addresses.
//!
//! Its address is `s3://BUCKET/PREFIX?region=REGION&endpoint=URL`; the keys are in the usual
//! variables, those for writing and for reading in the environments of different jobs.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PercentEncodingMode, SignableBody, SignableRequest, SignatureLocation, SigningSettings,
    UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use url::Url;

use super::error::SharedStoreError;
use super::http::HttpStore;

/// The time for which a signed address is valid.
const SIGNED_FOR: Duration = Duration::from_secs(60);
/// The variable with the name of the key.
const KEY_ID: &str = "AWS_ACCESS_KEY_ID";
/// The variable with the secret key.
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
/// The variable with the token of temporary keys.
const SESSION: &str = "AWS_SESSION_TOKEN";
/// The usual region.
const REGION: &str = "us-east-1";

/// A prefix of a bucket.
#[derive(Debug)]
pub(super) struct S3Store {
    region: String,
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
        let unusable = |reason: &str| SharedStoreError::unusable(&format!("`endpoint`: {reason}"));
        let mut folder = Url::parse(&endpoint).map_err(|error| unusable(&error.to_string()))?;
        let bucket = url.host_str().filter(|name| !name.is_empty());
        let bucket = bucket.ok_or_else(|| SharedStoreError::unusable("it names no bucket"))?;
        let below = url.path().split('/').filter(|name| !name.is_empty());
        let mut path = folder.path_segments_mut().map_err(|()| unusable("it has no path"))?;
        path.pop_if_empty().push(bucket).extend(below);
        drop(path);
        Ok(Self { region, http: HttpStore::new(folder)? })
    }

    /// Reads a value; `None` if there is none.
    pub(super) async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, SharedStoreError> {
        self.http.get(self.signed("GET", name)?, (KEY_ID, None)).await
    }

    /// Writes a value, unless there is one. Returns true if it was written.
    pub(super) async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<bool, SharedStoreError> {
        let addresses = (self.signed("HEAD", name)?, self.signed("PUT", name)?);
        self.http.put(addresses, bytes, (KEY_ID, None)).await
    }

    /// The address of a value, signed for a method of HTTP (AWS Signature Version 4).
    fn signed(&self, method: &str, name: &str) -> Result<Url, SharedStoreError> {
        sign_address(method, self.http.url_of(name), &self.region, credentials()?)
            .map_err(|error| SharedStoreError::unusable(&error.to_string()))
    }
}

fn sign_address(
    method: &str,
    mut url: Url,
    region: &str,
    credentials: Credentials,
) -> Result<Url, Box<dyn std::error::Error>> {
    let mut settings = SigningSettings::default();
    settings.signature_location = SignatureLocation::QueryParams;
    settings.expires_in = Some(SIGNED_FOR);
    // S3 takes paths as they are.
    settings.percent_encoding_mode = PercentEncodingMode::Single;
    settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
    let identity = credentials.into();
    let params = v4::SigningParams::builder().identity(&identity).region(region).name("s3");
    let params = params.time(SystemTime::now()).settings(settings).build()?.into();
    let body = SignableBody::UnsignedPayload;
    let request = SignableRequest::new(method, url.as_str(), std::iter::empty(), body)?;
    let (signing, _) = sign(request, &params)?.into_parts();
    url.query_pairs_mut().extend_pairs(signing.params());
    Ok(url)
}

fn credentials() -> Result<Credentials, SharedStoreError> {
    let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (Some(id), Some(secret)) = (value(KEY_ID), value(SECRET)) else {
        let what = format!("the shared store in S3 needs {KEY_ID} and {SECRET}");
        return Err(SharedStoreError::Address(what));
    };
    Ok(Credentials::new(id, secret, value(SESSION), None, "environment"))
}
