//! The sign-in of the user, by a device code in a browser.
//!
//! The server shows the code, waits until it was entered, and keeps the credentials. Only the code
//! and its address pass through this module; both are shown, and neither is kept or logged.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::client::CopilotClient;
use super::error::CopilotError;
use super::link::COPILOT_REQUEST_TIMEOUT;
use super::status::{CopilotServerStatus, SignInStatus};

/// The upper limit on a code's lifetime, even if the server reports a longer one.
const MAX_DEVICE_CODE_TTL: Duration = Duration::from_secs(1_800);
/// The lifetime of a code if the server reports none.
const DEFAULT_DEVICE_CODE_SECONDS: u64 = 900;

/// A code to enter in a browser.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeviceCode {
    /// The code.
    pub(crate) user_code: String,
    /// The address to enter it at.
    pub(crate) verification_uri: String,
    /// The lifetime in seconds.
    #[serde(default)]
    pub(crate) expires_in: Option<u64>,
}

impl std::fmt::Debug for DeviceCode {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("DeviceCode")
            .field("verification_uri", &self.verification_uri)
            .finish_non_exhaustive()
    }
}

impl CopilotClient {
    /// Starts the sign-in. Returns a code for the user, or `None` if a user is signed in already.
    ///
    /// # Errors
    /// No server is available, or it cannot provide a code.
    pub(crate) async fn begin_sign_in(&self) -> Result<Option<DeviceCode>, CopilotError> {
        let (link, _) = self.link().await?;
        let answer = link.request("signIn", &json!({}), COPILOT_REQUEST_TIMEOUT).await?;
        let malformed = |error: serde_json::Error| CopilotError::Malformed {
            method: "signIn".to_owned(),
            what: error.to_string(),
        };
        let checked = SignInStatus::deserialize(&answer).map_err(malformed)?;
        if checked.status == "PromptUserDeviceFlow" {
            return DeviceCode::deserialize(&answer).map(Some).map_err(malformed);
        }
        self.context.statuses.set_sign_in(checked);
        Ok(None)
    }

    /// Waits until the user has entered the code.
    ///
    /// # Errors
    /// The code is refused or has expired.
    pub(crate) async fn finish_sign_in(
        &self,
        code: &DeviceCode,
    ) -> Result<CopilotServerStatus, CopilotError> {
        let (link, _) = self.link().await?;
        let limit = Duration::from_secs(code.expires_in.unwrap_or(DEFAULT_DEVICE_CODE_SECONDS))
            .min(MAX_DEVICE_CODE_TTL);
        let answer = link.request("signInConfirm", &json!({}), limit).await?;
        let checked: SignInStatus = serde_json::from_value(answer).map_err(|error| {
            CopilotError::Malformed { method: "signInConfirm".to_owned(), what: error.to_string() }
        })?;
        self.context.statuses.set_sign_in(checked);
        Ok(self.context.statuses.current())
    }
}
