//! The doctor's report: the health of each server, with remedies.

use crate::lsp::servers::install_advice;
use crate::tools::language::doctor::{DoctorFinding, DoctorOutput, DoctorServer};

use crate::cli::render::DisplayCapabilities;
use crate::cli::render::terminal::display::{BAD, BOLD, DIM, GOOD, PLACE, WARN, count};
use crate::cli::render::terminal::escape;

/// One paragraph per server, then the findings of no particular server, then the conclusion.
pub(crate) fn render(output: &DoctorOutput, display: &DisplayCapabilities) -> String {
    let mut out = String::new();
    for server in &output.servers {
        out.push_str(&server_lines(server, display));
        out.push('\n');
    }
    for finding in &output.findings {
        out.push_str(&finding_lines(finding, "", display));
    }
    out.extend(output.notes.iter().map(|note| format!("{}\n", escape::words(note))));
    if !output.findings.is_empty() || !output.notes.is_empty() {
        out.push('\n');
    }
    out.push_str(&format!("{}\n", display.paint(DIM, &escape::words(&output.commands))));
    for gap in output.commands_may.iter().chain(&output.system_gaps) {
        out.push_str(&format!("{}\n", display.paint(DIM, &format!("- {}", escape::words(gap)))));
    }
    out.push_str(&conclusion(output, display));
    out
}

fn server_lines(server: &DoctorServer, display: &DisplayCapabilities) -> String {
    let mark = if server.is_healthy() {
        display.paint(GOOD, "ok")
    } else if server.is_dispensable() {
        display.paint(DIM, "--")
    } else if server.found.is_some() {
        display.paint(WARN, "!!")
    } else {
        display.paint(BAD, "--")
    };
    let languages = display.paint(BOLD, &escape::words(&server.languages.join(", ")));
    let files = display.paint(DIM, &format!("({})", count(server.files, "file")));
    let mut out = format!("{mark} {languages} {files}  {}", escape::words(&server.server));
    if let Some(version) = &server.version {
        out.push_str(&format!(" {}", escape::words(version)));
    }
    out.push('\n');
    match &server.found {
        Some(program) => {
            let origin = server.origin.as_deref().map(|origin| format!(" ({})", escape::words(origin)));
            let program = display.paint(PLACE, &escape::words(program));
            out.push_str(&format!("   {program}{}\n", origin.unwrap_or_default()));
        }
        None if server.secondary => {
            out.push_str(&format!(
                "   {}\n",
                display.paint(DIM, "not installed; the project uses other languages")
            ));
        }
        None => out.push_str(&format!("   {}\n", display.paint(BAD, "not installed"))),
    }
    if let Some(install) = &server.install {
        out.push_str(&fix_line(
            &install_advice::commands(install, server.installer.as_ref()),
            "   ",
            display,
        ));
    }
    for finding in &server.findings {
        out.push_str(&finding_lines(finding, "   ", display));
    }
    match &server.probe {
        Some(probe) => {
            let outcome = if probe.answered {
                display.paint(GOOD, "answered")
            } else {
                display.paint(BAD, "no answer")
            };
            let (query, detail) = (escape::words(&probe.query), escape::words(&probe.detail));
            let took = display.paint(DIM, &format!("({})", duration(probe.took_ms)));
            out.push_str(&format!("   {query}: {outcome} {took}  {detail}\n"));
        }
        None if server.found.is_some() => out.push_str("   it could not be queried\n"),
        None => {}
    }
    out
}

fn finding_lines(finding: &DoctorFinding, indent: &str, display: &DisplayCapabilities) -> String {
    let mut out = format!("{indent}{} {}\n", display.paint(WARN, "!"), escape::words(&finding.message));
    if let Some(fix) = &finding.fix {
        out.push_str(&fix_line(fix, indent, display));
    }
    out
}

fn fix_line(command: &str, indent: &str, display: &DisplayCapabilities) -> String {
    format!("{indent}  run: {}\n", display.paint(BOLD, &escape::words(command)))
}

fn conclusion(output: &DoctorOutput, display: &DisplayCapabilities) -> String {
    if output.servers.is_empty() && output.findings.is_empty() {
        return "no file of a known language in this workspace\n".to_owned();
    }
    if output.well {
        return format!("{}\n", display.paint(GOOD, "all is well"));
    }
    let needed = output.servers.iter().filter(|server| !server.is_dispensable());
    let unwell = needed.clone().filter(|server| !server.is_healthy()).count();
    let mut parts = Vec::new();
    if unwell > 0 {
        let verb = if unwell == 1 { "needs" } else { "need" };
        parts.push(format!("{unwell} of {} {verb} attention", count(needed.clone().count(), "server")));
    }
    if !output.findings.is_empty() {
        parts.push(count(output.findings.len(), "other finding"));
    }
    let mut out = format!("{}\n", display.paint(BAD, &parts.join(", ")));
    let missing = needed.filter(|server| server.found.is_none());
    let missing: Vec<String> = missing.map(|server| format!("\"{}\"", server.server)).collect();
    if !missing.is_empty() {
        let setting = format!("disabled = [{}]", missing.join(", "));
        out.push_str(&format!("to ignore missing servers, in .lsp-tools/lsp-tools.toml: {setting}\n"));
    }
    out
}

/// Formats a duration: `340 ms`, `1.2 s`.
pub(crate) fn duration(milliseconds: u64) -> String {
    if milliseconds < 1_000 {
        return format!("{milliseconds} ms");
    }
    let seconds = milliseconds as f64 / 1_000.0;
    if milliseconds.is_multiple_of(1_000) { format!("{seconds:.0} s") } else { format!("{seconds:.1} s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::language::doctor::DoctorProbe;

    fn well() -> DoctorServer {
        DoctorServer {
            languages: vec!["python".into()],
            files: 12,
            secondary: false,
            server: "pylsp".into(),
            found: Some("/usr/bin/pylsp".into()),
            origin: Some("PATH".into()),
            version: Some("1.15.0".into()),
            findings: Vec::new(),
            probe: Some(DoctorProbe {
                query: "hover app.py:1:5".into(),
                answered: true,
                detail: "def greet".into(),
                took_ms: 1_240,
            }),
            install: None,
            installer: None,
        }
    }

    #[test]
    fn doctor_output_lists_healthy_and_faulty_servers() {
        let mut hollow = well();
        hollow.languages = vec!["bash".into(), "zsh".into()];
        hollow.findings = vec![DoctorFinding {
            message: "no shellcheck".into(),
            fix: Some("apt install shellcheck".into()),
        }];
        let missing = DoctorServer {
            languages: vec!["go".into()],
            files: 1,
            secondary: false,
            server: "gopls".into(),
            found: None,
            origin: None,
            version: None,
            findings: Vec::new(),
            probe: None,
            install: Some("go install gopls".into()),
            installer: Some("lsp-tools install go".into()),
        };
        let dispensable = DoctorServer { server: "css".into(), secondary: true, ..missing.clone() };
        let servers = vec![well(), hollow, missing, dispensable];
        let output = DoctorOutput::new("/w".into(), servers, Vec::new(), "confined".into());
        let expected = "\
ok python (12 files)  pylsp 1.15.0
   /usr/bin/pylsp (PATH)
   hover app.py:1:5: answered (1.2 s)  def greet

!! bash, zsh (12 files)  pylsp 1.15.0
   /usr/bin/pylsp (PATH)
   ! no shellcheck
     run: apt install shellcheck
   hover app.py:1:5: answered (1.2 s)  def greet

-- go (1 file)  gopls
   not installed
     run: go install gopls (or: lsp-tools install go)

-- go (1 file)  css
   not installed; the project uses other languages
     run: go install gopls (or: lsp-tools install go)

confined
2 of 3 servers need attention
to ignore missing servers, in .lsp-tools/lsp-tools.toml: disabled = [\"gopls\"]
";
        assert_eq!(render(&output, &DisplayCapabilities::PLAIN), expected);
    }

    #[test]
    fn doctor_output_is_well_only_when_every_probe_answered() {
        let shown = render(
            &DoctorOutput::new("/w".into(), vec![well()], Vec::new(), "confined".into()),
            &DisplayCapabilities::PLAIN,
        );
        assert!(shown.ends_with("\nall is well\n"), "{shown}");
        let mut silent = well();
        silent.probe = None;
        let shown = render(
            &DoctorOutput::new("/w".into(), vec![silent], Vec::new(), "confined".into()),
            &DisplayCapabilities::PLAIN,
        );
        assert!(shown.ends_with("1 of 1 server needs attention\n"), "{shown}");
    }
}
