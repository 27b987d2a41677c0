//! How far to rely on an answer, in lines for stderr.

use crate::text::LineColumn;
use crate::tools::answer::{Answer, Resolved, ServerState, ServerStatus, Verdict};
use crate::tools::error::ToolError;

use super::doctor::duration;
use super::look::{BAD, DIM, WARN};
use super::{Look, escape};

/// Longer details are cut here; the whole of them is in the JSON answer and in the log.
const LONGEST_DETAIL: usize = 300;

/// What is to be known beside the answer: what it was taken to be about, why it is not complete, the server's notes.
pub fn lines<T>(answer: &Answer<T>, look: &Look) -> Vec<String> {
    let mut lines: Vec<String> = answer.resolved.iter().filter_map(|about| resolved(about, look)).collect();
    lines.extend(reliance(answer, look));
    let notes = answer.notes.iter();
    lines.extend(notes.map(|note| format!("{} {}", look.paint(DIM, "note:"), escape::words(note))));
    lines
}

/// A failed call: what was wrong, and what to do.
pub fn error(error: &ToolError, look: &Look) -> Vec<String> {
    let mut lines = vec![format!("{} {}", look.paint(BAD, "error:"), escape::words(&error.error))];
    lines.extend(
        error.hint.iter().map(|hint| format!("{} {}", look.paint(DIM, " hint:"), escape::words(hint))),
    );
    lines
}

fn resolved(about: &Resolved, look: &Look) -> Option<String> {
    if !about.moved {
        return None;
    }
    let at = LineColumn::from(about.range.start);
    let (symbol, path) = (escape::words(&about.symbol), escape::line(&about.path));
    let text = escape::words(&about.text);
    Some(look.paint(DIM, &format!("about `{symbol}` at {path}:{at}: {text}")))
}

fn reliance<T>(answer: &Answer<T>, look: &Look) -> Vec<String> {
    let so = match answer.verdict {
        Verdict::Complete => return Vec::new(),
        Verdict::Partial => "there may be more",
        Verdict::NoData => "nothing is known, which is not the same as nothing there",
        Verdict::Hints => "what follows is text search",
    };
    let main = [&answer.server_status];
    let mut blamed: Vec<&ServerStatus> = answer
        .servers
        .iter()
        .filter(|status| status.state != ServerState::Ready || status.detail.is_some())
        .collect();
    if blamed.is_empty() || answer.verdict == Verdict::Hints {
        blamed = main.to_vec();
    }
    let warning = look.paint(WARN, "warning:");
    blamed.into_iter().map(|status| format!("{warning} {}; {so}{}", why(status), advice(status))).collect()
}

fn advice(status: &ServerStatus) -> String {
    match &status.install {
        Some(command) => format!(". Install it with: {}", escape::words(command)),
        None => String::new(),
    }
}

fn why(status: &ServerStatus) -> String {
    let server = escape::words(&status.server);
    let waited = duration(status.waited_ms);
    let detail = status.detail.as_deref().map(cut);
    let with_detail = |text: String| match &detail {
        // A detail that speaks of the server is the whole sentence already.
        Some(detail) if !server.is_empty() && detail.starts_with(&server) => detail.clone(),
        Some(detail) => format!("{text} ({detail})"),
        None => text,
    };
    with_detail(match status.state {
        // It answered, and knows what its answer lacks.
        ServerState::Ready if detail.is_some() => return format!("{server}: {}", detail.unwrap_or_default()),
        ServerState::Ready => format!("{server} had no answer"),
        ServerState::Indexing => format!("{server} is still indexing"),
        ServerState::Starting => format!("{server} was still starting after {waited}"),
        ServerState::Missing if server.is_empty() => {
            format!("no server is known for the language \"{}\"", escape::words(&status.language))
        }
        ServerState::Missing => format!("{server} is not installed"),
        ServerState::Crashed => format!("{server} failed"),
        ServerState::Timeout => format!("no answer from {server} within {waited}"),
        ServerState::Disabled => format!("{server} may not be started"),
        ServerState::Unsupported => format!("{server} does not offer this"),
    })
}

fn cut(detail: &str) -> String {
    let detail = escape::words(detail);
    match detail.char_indices().nth(LONGEST_DETAIL) {
        Some((end, _)) => format!("{}…", &detail[..end]),
        None => detail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Position, Range};

    fn status(server: &str, state: ServerState) -> ServerStatus {
        ServerStatus {
            language: "python".into(),
            server: server.into(),
            state,
            detail: None,
            install: None,
            waited_ms: 10_000,
        }
    }

    fn answer(verdict: Verdict, server_status: ServerStatus) -> Answer<()> {
        let (resolved, servers, notes) = (None, Vec::new(), Vec::new());
        Answer { ok: true, output: (), resolved, server_status, servers, verdict, notes }
    }

    fn shown(answer: &Answer<()>) -> Vec<String> {
        lines(answer, &Look::PLAIN)
    }

    #[test]
    fn every_reason_is_a_line() {
        use ServerState::{Crashed, Disabled, Indexing, Missing, Starting, Timeout, Unsupported};
        let search = "what follows is text search";
        let cases = [
            (Verdict::Hints, "pylsp", Timeout, format!("no answer from pylsp within 10 s; {search}")),
            (
                Verdict::Hints,
                "",
                Missing,
                format!("no server is known for the language \"python\"; {search}"),
            ),
            (Verdict::Hints, "pylsp", Starting, format!("pylsp was still starting after 10 s; {search}")),
            (Verdict::Hints, "pylsp", Disabled, format!("pylsp may not be started; {search}")),
            (Verdict::Hints, "pylsp", Unsupported, format!("pylsp does not offer this; {search}")),
            (Verdict::Partial, "pylsp", Indexing, "pylsp is still indexing; there may be more".into()),
            (
                Verdict::NoData,
                "pylsp",
                Crashed,
                "pylsp failed; nothing is known, which is not the same as nothing there".into(),
            ),
        ];
        for (verdict, server, state, expected) in cases {
            assert_eq!(shown(&answer(verdict, status(server, state))), [format!("warning: {expected}")]);
        }
    }

    #[test]
    fn a_missing_server_comes_with_its_command() {
        let mut missing = status("pylsp", ServerState::Missing);
        missing.install = Some("pip install python-lsp-server".into());
        let expected = "warning: pylsp is not installed; what follows is text search. Install it with: \
                        pip install python-lsp-server";
        assert_eq!(shown(&answer(Verdict::Hints, missing)), [expected]);
    }

    #[test]
    fn a_detail_is_added_or_is_the_sentence() {
        let mut failed = status("pylsp", ServerState::Crashed);
        for (detail, expected) in [
            ("exit status 1:\n no module", "pylsp failed (exit status 1: no module)"),
            ("pylsp ended with exit status 1", "pylsp ended with exit status 1"),
        ] {
            failed.detail = Some(detail.into());
            let expected = format!("warning: {expected}; what follows is text search");
            assert_eq!(shown(&answer(Verdict::Hints, failed.clone())), [expected]);
        }
    }

    #[test]
    fn of_several_servers_the_silent_one_is_named() {
        let mut partial = answer(Verdict::Partial, status("pyright", ServerState::Ready));
        partial.servers = vec![status("pyright", ServerState::Ready), status("ruff", ServerState::Timeout)];
        assert_eq!(shown(&partial), ["warning: no answer from ruff within 10 s; there may be more"]);
    }

    #[test]
    fn a_complete_answer_says_only_what_was_moved() {
        let mut complete = answer(Verdict::Complete, status("pylsp", ServerState::Ready));
        assert_eq!(shown(&complete), [""; 0]);
        complete.resolved = Some(Resolved {
            path: "a.py".into(),
            symbol: "greet".into(),
            range: Range::new(Position::new(2, 4), Position::new(2, 9)),
            text: "def greet(name):\x1b[2J".into(),
            moved: true,
        });
        assert_eq!(shown(&complete), ["about `greet` at a.py:3:5: def greet(name):\\u{1b}[2J"]);
    }
}
