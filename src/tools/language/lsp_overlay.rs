//! `lsp_overlay`: unsaved texts behind a handle, for callers that ask about text which is not on
//! disk.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::CallSubjects;
use crate::tools::api::overlays::{OVERLAY_IDLE_TTL, OverlayError};
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;

/// The arguments of `lsp_overlay`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct OverlayArgs {
    /// The file.
    pub path: Option<String>,
    /// The unsaved text.
    pub text: Option<String>,
    /// Handle from an earlier answer.
    pub overlay: Option<String>,
}

/// The output of `lsp_overlay`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct OverlayOutput {
    /// The handle; absent if the overlay was dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlay: Option<String>,
    /// The files with unsaved texts in this overlay.
    pub files: Vec<String>,
    /// The number of unused seconds after which the overlay expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_s: Option<u64>,
}

/// The `lsp_overlay` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspOverlay;

impl Tool for LspOverlay {
    type Args = OverlayArgs;
    type Output = OverlayOutput;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_overlay",
            "Unsaved text",
            "Stores an unsaved `text` of a file under a handle: only calls with it as `overlay` see that text. With `path` but no `text` the file is as on disk again; without `path` all is dropped. Expires after 30 unused minutes. Not for files on disk, which are always current. Example: {\"path\": \"shop/cart.py\", \"text\": \"x = 1\\n\"}.",
        ).beyond_core()
    }

    fn subjects(&self, context: &Context, args: &OverlayArgs) -> Result<CallSubjects, ToolError> {
        let paths = args.path.iter().map(|path| context.path(Path::new(path)));
        Ok(CallSubjects { paths: paths.collect::<Result<_, _>>()?, ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: OverlayArgs) -> Result<OverlayOutput, ToolError> {
        let overlays = &call.state.overlays;
        let path = args.path.map(|path| call.context.path(Path::new(&path))).transpose()?;
        let handle = match (args.overlay, path, args.text) {
            (overlay, Some(path), Some(text)) => {
                check_text_size(call.context, &path, &text)?;
                overlays.put_text(overlay.as_deref(), path, text.into()).map_err(overlay_error)?
            }
            (Some(overlay), Some(path), None) => {
                overlays.remove(&overlay, &path).map_err(overlay_error)?;
                overlay
            }
            (Some(overlay), None, None) => {
                overlays.remove_handle(&overlay).map_err(overlay_error)?;
                return Ok(OverlayOutput { overlay: None, files: Vec::new(), kept_s: None });
            }
            _ => {
                let what = "lsp_overlay: give `path` and `text` to set a text, `overlay` and `path` to remove it, or `overlay` only to drop all";
                return Err(ToolError::new(ErrorCode::InvalidArgs, what));
            }
        };
        let view = overlays.view(&handle).map_err(overlay_error)?;
        let files = view.paths().map(WorkspacePath::display).collect();
        Ok(OverlayOutput { overlay: Some(handle), files, kept_s: Some(OVERLAY_IDLE_TTL.as_secs()) })
    }
}

/// Rejects a text that is too large to be sent to a server as a file.
fn check_text_size(context: &Context, path: &WorkspacePath, text: &str) -> Result<(), ToolError> {
    let most = context.config.settings.limits.max_file_bytes;
    if text.len() as u64 <= most {
        return Ok(());
    }
    let what =
        format!("the text of {} has {} bytes, more than the {most} allowed", path.display(), text.len());
    Err(ToolError::new(ErrorCode::TooLarge, what))
}

/// The tool error for an overlay that cannot be stored or found.
pub(crate) fn overlay_error(error: OverlayError) -> ToolError {
    let (code, hint) = match error {
        OverlayError::Unknown(_) => {
            (ErrorCode::NotFound, "`lsp_overlay` with `path` and `text` makes a new one")
        }
        OverlayError::Files => (ErrorCode::TooLarge, "remove files that are saved, or begin another overlay"),
        OverlayError::Large { .. } => (ErrorCode::TooLarge, "drop unneeded overlays"),
        OverlayError::NoRandom(_) => (ErrorCode::Internal, "try again"),
    };
    ToolError::new(code, error.to_string()).with_hint(hint)
}
