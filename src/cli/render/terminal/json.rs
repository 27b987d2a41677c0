//! Answers as one JSON object.

use serde::Serialize;

use super::escape;
use crate::cli::render::DisplayCapabilities;

/// Renders `answer` as JSON with a line break: indented on a terminal, one line otherwise.
/// Characters that a terminal would interpret are escaped; the value stays the same.
pub(crate) fn render<T: Serialize>(
    answer: &T,
    display: &DisplayCapabilities,
) -> Result<String, serde_json::Error> {
    let json =
        if display.terminal { serde_json::to_string_pretty(answer) } else { serde_json::to_string(answer) }?;
    Ok(format!("{}\n", escape::json(&json)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::error::{ErrorCode, ToolError};

    #[test]
    fn json_output_of_tool_error_is_an_escaped_object() {
        let error = ToolError::new(ErrorCode::NotFound, "no such file: \u{9b}a").with_hint("look");
        let expected =
            "{\"ok\":false,\"code\":\"not_found\",\"error\":\"no such file: \\u009ba\",\"hint\":\"look\"}\n";
        assert_eq!(render(&error, &DisplayCapabilities::PLAIN).ok().as_deref(), Some(expected));
        let terminal = DisplayCapabilities { terminal: true, ..DisplayCapabilities::PLAIN };
        assert!(render(&error, &terminal).is_ok_and(|text| text.starts_with("{\n  \"ok\": false,\n")));
    }
}
