//! The commands that a project would run, shown before a decision on trust.

use crate::tools::language::trust::TrustOutput;

use crate::cli::render::DisplayCapabilities;
use crate::cli::render::terminal::display::{BOLD, GOOD, PLACE, WARN};
use crate::cli::render::terminal::escape;

/// Renders everything that needs trust with its value, its changes since the last decision, and the
/// current trust.
///
/// Values are shown whole, one line each, with unsafe characters escaped, so that nothing is
/// hidden.
pub(crate) fn render(output: &TrustOutput, display: &DisplayCapabilities) -> String {
    let workspace = display.paint(PLACE, &escape::line(&output.workspace));
    if output.items.is_empty() && output.changed.is_empty() {
        return format!("{workspace} names no programs to run: there is nothing to trust\n");
    }
    let mut out = match output.items.is_empty() {
        true => format!("{workspace} no longer names programs to run\n"),
        false => format!("{workspace} wants to run on this machine:\n\n"),
    };
    for item in &output.items {
        let name = display.paint(BOLD, &escape::line(&item.name));
        out.push_str(&format!("  {name}\n    {}\n", escape::line(&item.value)));
    }
    out.push('\n');
    if output.items.iter().any(|item| item.name.starts_with("the program ")) {
        out.push_str("A trusted program runs with your rights, as do the files it loads; only its own file is hashed.\n");
    }
    for change in &output.changed {
        out.push_str(&format!(
            "{} {}\n",
            display.paint(WARN, "changed since it was trusted:"),
            escape::line(change)
        ));
    }
    out.push_str(&if output.trusted {
        display.paint(GOOD, "trusted")
    } else {
        display.paint(WARN, "not trusted")
    });
    out.push('\n');
    out
}

/// States whether trust was withdrawn.
pub(crate) fn render_revoked(output: &TrustOutput, display: &DisplayCapabilities) -> String {
    let workspace = display.paint(PLACE, &escape::line(&output.workspace));
    let what = if output.revoked { "is no longer trusted" } else { "was not trusted" };
    format!("{workspace} {what}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::language::trust::TrustItem;

    #[test]
    fn trust_output_escapes_control_characters_in_values() {
        let output = TrustOutput {
            ok: true,
            workspace: "/w".into(),
            items: vec![TrustItem {
                name: "`server.pylsp.command` of `servers.toml`".into(),
                value: "[\"sh\", \"-c\", \"evil\r\x1b[2K\u{202e}\"]".into(),
            }],
            trusted: false,
            changed: vec!["`server.pylsp.command` of `servers.toml` was added".into()],
            revoked: false,
            declined: false,
            fingerprint: "f".into(),
        };
        let expected = "/w wants to run on this machine:\n\n  `server.pylsp.command` of `servers.toml`\n    \
                        [\"sh\", \"-c\", \"evil\\r\\u{1b}[2K\\u{202e}\"]\n\nchanged since it was trusted: \
                        `server.pylsp.command` of `servers.toml` was added\nnot trusted\n";
        assert_eq!(render(&output, &DisplayCapabilities::PLAIN), expected);
    }
}
