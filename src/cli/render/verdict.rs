//! Verdicts and failures, in lines for stderr.

use crate::analysis::answer::{Answer, Resolved, ServerState, ServerStatus, Verdict};
use crate::analysis::error::ToolError;
use crate::text::{LineColumn, truncate_chars};

use super::DisplayCapabilities;
use super::files::distinct;
use super::setup::doctor::duration;
use super::terminal::display::{BAD, DIM, WARN};
use super::terminal::escape;

/// The length limit of details. The full text is in the JSON answer and in the log.
const MAX_VERDICT_DETAIL_CHARS: usize = 300;

/// Renders the notes beside an answer: the assumed subject, the reason for incompleteness, the
/// server's notes.
pub(crate) fn lines<T>(answer: &Answer<T>, display: &DisplayCapabilities) -> Vec<String> {
    let mut lines: Vec<String> =
        answer.resolved.iter().filter_map(|about| resolved_note(about, display)).collect();
    lines.extend(reliance_lines(answer, display));
    lines.extend(
        distinct(&answer.notes)
            .map(|note| format!("{} {}", display.paint(DIM, "note:"), escape::words(note))),
    );
    lines
}

/// Renders a failed call: the error and the hint.
pub(crate) fn error(error: &ToolError, display: &DisplayCapabilities) -> Vec<String> {
    let mut lines = vec![format!("{} {}", display.paint(BAD, "error:"), escape::words(&error.error))];
    lines.extend(
        error.hint.iter().map(|hint| format!("{} {}", display.paint(DIM, " hint:"), escape::words(hint))),
    );
    lines
}

fn resolved_note(about: &Resolved, display: &DisplayCapabilities) -> Option<String> {
    if !about.moved {
        return None;
    }
    let at = LineColumn::from(about.place.range.start);
    let (symbol, path) = (escape::words(&about.symbol), escape::line(&about.place.path));
    let text = escape::words(about.place.text.as_deref().unwrap_or_default());
    Some(display.paint(DIM, &format!("about `{symbol}` at {path}:{at}: {text}")))
}

fn reliance_lines<T>(answer: &Answer<T>, display: &DisplayCapabilities) -> Vec<String> {
    let so = match answer.verdict {
        Verdict::Complete => return Vec::new(),
        Verdict::Partial => "results may be incomplete",
        Verdict::NoData => "no results are known; this does not mean there are none",
        Verdict::Hints => "the results come from text search",
    };
    let main = [&answer.server_status];
    let mut blamed: Vec<&ServerStatus> = answer
        .servers
        .iter()
        .filter(|status| status.state != ServerState::Ready || status.detail.is_some())
        .collect();
    let absent = blamed.iter().all(|status| status.state == ServerState::Missing);
    if blamed.is_empty() || answer.verdict == Verdict::Hints && !absent {
        blamed = main.to_vec();
    }
    let warning = display.paint(WARN, "warning:");
    let reasons = reasons(&blamed).into_iter();
    let mut lines: Vec<String> = reasons.map(|reason| format!("{warning} {reason}; {so}")).collect();
    let mut hints: Vec<&String> = blamed.iter().filter_map(|status| status.hint.as_ref()).collect();
    hints.dedup();
    lines
        .extend(hints.iter().map(|hint| format!("{} {}", display.paint(DIM, " hint:"), escape::words(hint))));
    lines
}

/// Returns one sentence per server, and one for all that are not installed. The commands that
/// install them were shown at the start.
fn reasons(blamed: &[&ServerStatus]) -> Vec<String> {
    let plain = |status: &&&ServerStatus| {
        status.state == ServerState::Missing
            && !status.server.is_empty()
            && status.absence_sentence().ends_with("not installed")
    };
    let mut absent: Vec<&str> = blamed.iter().filter(plain).map(|status| status.server.as_str()).collect();
    absent.sort_unstable();
    absent.dedup();
    let mut reasons = Vec::new();
    if let [first @ .., last] = absent.as_slice() {
        let (names, are) = match first {
            [] => ((*last).to_owned(), "is"),
            first => (format!("{} and {last}", first.join(", ")), "are"),
        };
        reasons.push(format!("{} {are} not installed", escape::words(&names)));
    }
    for sentence in blamed.iter().filter(|status| !plain(status)).map(|status| status_sentence(status)) {
        // Two languages may have the same server.
        if !reasons.contains(&sentence) {
            reasons.push(sentence);
        }
    }
    reasons
}

fn status_sentence(status: &ServerStatus) -> String {
    let server = escape::words(&status.server);
    let waited = duration(status.waited_ms);
    let detail = status.detail.as_deref().map(cut);
    let with_detail = |text: String| match &detail {
        // A detail that starts with the server's name is already a complete sentence.
        Some(detail) if !server.is_empty() && detail.starts_with(&server) => detail.clone(),
        Some(detail) => format!("{text} ({detail})"),
        None => text,
    };
    with_detail(match status.state {
        // The server answered, and reported the gaps of its answer.
        ServerState::Ready if detail.is_some() => return format!("{server}: {}", detail.unwrap_or_default()),
        ServerState::Ready if server.is_empty() => "no server was asked".to_owned(),
        ServerState::Ready => format!("{server} returned no answer"),
        ServerState::Indexing => format!("{server} is still indexing"),
        ServerState::Starting => format!("{server} was still starting after {waited}"),
        ServerState::Missing | ServerState::Unsupported if server.is_empty() => {
            return match &status.detail {
                Some(detail) => escape::words(detail),
                None => {
                    format!("no server is known for the language \"{}\"", escape::words(&status.language))
                }
            };
        }
        ServerState::Missing => return escape::words(&status.absence_sentence()),
        ServerState::Crashed | ServerState::Failed => format!("{server} failed"),
        ServerState::Timeout => format!("no answer from {server} within {waited}"),
        ServerState::Disabled => format!("{server} is not allowed to start"),
        ServerState::Unsupported => format!("{server} does not support this"),
    })
}

fn cut(detail: &str) -> String {
    truncate_chars(&escape::words(detail), MAX_VERDICT_DETAIL_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::items::place::Place;
    use crate::text::{Position, Range};

    fn status(server: &str, state: ServerState) -> ServerStatus {
        ServerStatus {
            language: "python".into(),
            server: server.into(),
            state,
            detail: None,
            judge: None,
            install: None,
            hint: None,
            installer: None,
            waited_ms: 10_000,
        }
    }

    fn answer(verdict: Verdict, server_status: ServerStatus) -> Answer<()> {
        let (resolved, servers, notes) = (None, Vec::new(), Vec::new());
        Answer { ok: true, output: (), resolved, server_status, servers, verdict, notes }
    }

    fn shown(answer: &Answer<()>) -> Vec<String> {
        lines(answer, &DisplayCapabilities::PLAIN)
    }

    #[test]
    fn verdict_of_every_server_state_has_one_line() {
        use ServerState::{Crashed, Disabled, Indexing, Missing, Starting, Timeout, Unsupported};
        let search = "the results come from text search";
        let cases = [
            (Verdict::Hints, "pylsp", Timeout, format!("no answer from pylsp within 10 s; {search}")),
            (
                Verdict::Hints,
                "",
                Missing,
                format!("no server is known for the language \"python\"; {search}"),
            ),
            (Verdict::Hints, "pylsp", Starting, format!("pylsp was still starting after 10 s; {search}")),
            (Verdict::Hints, "pylsp", Disabled, format!("pylsp is not allowed to start; {search}")),
            (Verdict::Hints, "pylsp", Unsupported, format!("pylsp does not support this; {search}")),
            (
                Verdict::Partial,
                "pylsp",
                Indexing,
                "pylsp is still indexing; results may be incomplete".into(),
            ),
            (
                Verdict::NoData,
                "pylsp",
                Crashed,
                "pylsp failed; no results are known; this does not mean there are none".into(),
            ),
        ];
        for (verdict, server, state, expected) in cases {
            assert_eq!(shown(&answer(verdict, status(server, state))), [format!("warning: {expected}")]);
        }
    }

    #[test]
    fn missing_servers_are_one_warning_naming_missing_trust() {
        let mut missing = status("pylsp", ServerState::Missing);
        missing.install = Some("pip install python-lsp-server".into());
        missing.detail = Some("`pylsp` is not on PATH nor installed by `lsp-tools install`".into());
        let expected = "warning: pylsp is not installed; the results come from text search";
        assert_eq!(shown(&answer(Verdict::Hints, missing.clone())), [expected]);
        missing.detail = Some("`pylsp` is not trusted (lsp-tools trust)".into());
        let expected = "warning: pylsp is not installed (`pylsp` is not trusted (lsp-tools trust)); the results come from text search";
        assert_eq!(shown(&answer(Verdict::Hints, missing)), [expected]);
        let mut partial = answer(Verdict::Partial, status("pylsp", ServerState::Ready));
        partial.servers = ["marksman", "html", "css"].map(|key| status(key, ServerState::Missing)).to_vec();
        assert_eq!(
            shown(&partial),
            ["warning: css, html and marksman are not installed; results may be incomplete"]
        );
    }

    #[test]
    fn indexing_server_warning_comes_with_a_hint() {
        let mut busy = status("pylsp", ServerState::Indexing);
        busy.detail = Some("pylsp is indexing: 3/4 (75 %), 12 s so far".into());
        busy.hint = Some("ask again".into());
        let expected = [
            "warning: pylsp is indexing: 3/4 (75 %), 12 s so far; results may be incomplete",
            " hint: ask again",
        ];
        assert_eq!(shown(&answer(Verdict::Partial, busy)), expected);
    }

    #[test]
    fn server_failure_detail_is_appended_or_replaces_the_warning() {
        let mut failed = status("pylsp", ServerState::Crashed);
        for (detail, expected) in [
            ("exit status 1:\n no module", "pylsp failed (exit status 1: no module)"),
            ("pylsp ended with exit status 1", "pylsp ended with exit status 1"),
        ] {
            failed.detail = Some(detail.into());
            let expected = format!("warning: {expected}; the results come from text search");
            assert_eq!(shown(&answer(Verdict::Hints, failed.clone())), [expected]);
        }
    }

    #[test]
    fn warning_for_partial_answer_names_the_silent_server() {
        let mut partial = answer(Verdict::Partial, status("pyright", ServerState::Ready));
        partial.servers = vec![status("pyright", ServerState::Ready), status("ruff", ServerState::Timeout)];
        assert_eq!(shown(&partial), ["warning: no answer from ruff within 10 s; results may be incomplete"]);
    }

    #[test]
    fn complete_answer_reports_only_the_resolved_symbol() {
        let mut complete = answer(Verdict::Complete, status("pylsp", ServerState::Ready));
        assert_eq!(shown(&complete), [""; 0]);
        complete.resolved = Some(Resolved {
            place: Place {
                path: "a.py".into(),
                range: Range::new(Position::new(2, 4), Position::new(2, 9)),
                text: Some("def greet(name):\x1b[2J".into()),
                enclosing: None,
                why: None,
            },
            symbol: "greet".into(),
            moved: true,
            searched: false,
        });
        assert_eq!(shown(&complete), ["about `greet` at a.py:3:5: def greet(name):\\u{1b}[2J"]);
    }
}
