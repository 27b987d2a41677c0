//! The outcome of installations.

use crate::analysis::install_outcome::{InstallItem, InstallOutput, InstallState};

use super::doctor::duration;
use crate::cli::render::DisplayCapabilities;
use crate::cli::render::terminal::display::{BAD, BOLD, DIM, GOOD, PLACE, WARN};
use crate::cli::render::terminal::escape;

/// One line per server, and below it the reason of a failure or the manual step.
pub(crate) fn render(output: &InstallOutput, display: &DisplayCapabilities) -> String {
    output.items.iter().map(|item| lines(item, display)).collect()
}

fn lines(item: &InstallItem, display: &DisplayCapabilities) -> String {
    let (word, style) = match item.state {
        InstallState::Installed => ("installed", GOOD),
        InstallState::AlreadyInstalled => ("already there", GOOD),
        InstallState::Downloaded => ("downloaded", GOOD),
        InstallState::Failed => ("failed", BAD),
        InstallState::Manual => ("by hand", WARN),
    };
    let mut out =
        format!("{} {}", display.paint(BOLD, &escape::words(&item.server)), display.paint(style, word));
    if matches!(item.state, InstallState::Installed | InstallState::Downloaded) {
        out.push_str(&display.paint(DIM, &format!(" in {}", duration(item.took_ms))));
    }
    if !item.packages.is_empty() {
        let packages: Vec<String> = item.packages.iter().map(|package| escape::words(package)).collect();
        out.push_str(&format!(": {}", packages.join(", ")));
    }
    out.push('\n');
    if let Some(program) = &item.program {
        out.push_str(&format!("    {}\n", display.paint(PLACE, &escape::words(program))));
    }
    for note in &item.notes {
        out.push_str(&format!("    {}\n", escape::words(note)));
    }
    if let Some(detail) = &item.detail {
        out.extend(escape::block(detail).lines().map(|line| format!("    {}\n", line.trim_end())));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn install_output_states_the_outcome_of_every_server() {
        let item = |server: &str, state, detail: Option<&str>| InstallItem {
            server: server.into(),
            state,
            packages: vec!["p==1".into()],
            program: (state == InstallState::Installed).then(|| "/data/p/bin/p".into()),
            detail: detail.map(Into::into),
            notes: Vec::from_iter((server == "pylsp").then(|| "used for python".to_owned())),
            took_ms: 12_400,
        };
        let items = vec![
            item("pylsp", InstallState::Installed, None),
            item("ruff", InstallState::AlreadyInstalled, None),
            item("x", InstallState::Failed, Some("pip said:\n  \x1b[31mno\n")),
        ];
        let expected = "pylsp installed in 12.4 s: p==1\n    /data/p/bin/p\n    used for python\nruff already there: p==1\n\
                        x failed: p==1\n    pip said:\n      \\u{1b}[31mno\n";
        assert_eq!(render(&InstallOutput { ok: true, items }, &DisplayCapabilities::PLAIN), expected);
    }
}
