//! Sizes of the two forms of an answer: the form for programs is little more than the text for
//! models.

use serde::Serialize;
use serde_json::{Value, json};

use super::answer_text;
use crate::analysis::answer::{
    Answer, DiagnosticItem, DiagnosticsOutput, HierarchyItem, HierarchyOutput, LocationsOutput, Resolved,
    ServerState, ServerStatus, SymbolItem, SymbolsOutput, Verdict,
};
use crate::analysis::items::place::Place;
use crate::lsp::model::Severity;
use crate::text::{Position, Range};

/// The highest ratio of bytes for programs to bytes for models, in lists of places.
const MAX_PLACES_RATIO: f64 = 1.2;
/// The highest ratio in lists whose items have more named fields than a place.
const MAX_ITEMS_RATIO: f64 = 1.51;
/// The most bytes for programs outside the list's items.
const MAX_FIXED_BYTES: usize = 300;

/// Uses in a real package (click 8.1.7): file, line, character, enclosing symbol, source.
const USES: [(&str, u32, u32, &str, &str); 12] = [
    ("click/__init__.py", 14, 18, "", "from .core import Parameter as Parameter"),
    ("click/_termui_impl.py", 24, 19, "", "from .utils import echo"),
    (
        "click/_termui_impl.py",
        235,
        16,
        "ProgressBar.render_progress",
        "                echo(self.label, file=self.file, color=self.color)",
    ),
    (
        "click/core.py",
        96,
        39,
        "augment_usage_errors",
        "    ctx: \"Context\", param: t.Optional[\"Parameter\"] = None",
    ),
    (
        "click/core.py",
        115,
        35,
        "iter_params_for_processing",
        "    declaration_order: t.Sequence[\"Parameter\"],",
    ),
    ("click/core.py", 1089, 16, "BaseCommand.main", "                echo(file=sys.stderr)"),
    ("click/core.py", 1119, 12, "BaseCommand.main", "            echo(_(\"Aborted!\"), file=sys.stderr)"),
    (
        "click/core.py",
        1254,
        50,
        "Command.get_params",
        "    def get_params(self, ctx: Context) -> t.List[\"Parameter\"]:",
    ),
    ("click/core.py", 1400, 12, "Command.parse_args", "            echo(ctx.get_help(), color=ctx.color)"),
    ("click/decorators.py", 13, 19, "", "from .utils import echo"),
    ("click/decorators.py", 515, 8, "version_option.callback", "        echo("),
    ("click/decorators.py", 549, 8, "help_option.callback", "        echo(ctx.get_help(), color=ctx.color)"),
];

fn range((line, from): (u32, u32), (last, to): (u32, u32)) -> Range {
    Range::new(Position::new(line, from), Position::new(last, to))
}

fn places() -> Vec<Place> {
    let place = |(path, line, from, enclosing, text): (&str, u32, u32, &str, &str)| {
        let word = text.chars().skip(from as usize).take_while(|one| one.is_alphanumeric()).count() as u32;
        Place {
            path: path.into(),
            range: range((line, from), (line, from + word)),
            text: Some(text.into()),
            enclosing: Some(enclosing.to_owned()).filter(|name| !name.is_empty()),
            why: None,
        }
    };
    USES.map(place).into()
}

fn symbol(place: Place) -> SymbolItem {
    SymbolItem {
        name: "get_params".into(),
        kind: "function".into(),
        detail: None,
        container: place.enclosing,
        path: Some(place.path),
        range: range((place.range.start.line, 8), (place.range.start.line, 18)),
        selection: None,
        text: place.text,
        children: Vec::new(),
    }
}

fn outlined(place: Place) -> SymbolItem {
    let found = symbol(place);
    let line = found.range.start.line;
    SymbolItem {
        selection: Some(found.range),
        range: range((line, 4), (line + 9, 17)),
        container: None,
        path: None,
        text: None,
        ..found
    }
}

fn caller(place: Place) -> HierarchyItem {
    HierarchyItem {
        name: "get_params".into(),
        kind: "function".into(),
        detail: Some("class Command (core.py)".into()),
        sites: vec![Position::new(place.range.start.line + 4, 12)],
        place,
        children: Vec::new(),
        cut: false,
    }
}

fn finding(place: Place) -> DiagnosticItem {
    DiagnosticItem {
        path: place.path,
        range: place.range,
        severity: Severity::Error,
        code: Some("reportArgumentType".into()),
        source: Some("Pyright".into()),
        server: "pyright".into(),
        message: "Argument of type \"TextIO | None\" cannot be assigned to parameter \"stream\" of type \"IO[Any]\" in function \"isatty\"".into(),
        enclosing: place.enclosing,
        related: Vec::new(),
    }
}

fn resolved() -> Option<Resolved> {
    let place = Place {
        path: "click/utils.py".into(),
        range: range((218, 4), (218, 8)),
        text: Some("def echo(".into()),
        enclosing: None,
        why: None,
    };
    Some(Resolved { place, symbol: "echo".into(), moved: true, searched: false })
}

/// A complete answer; `resolved` as for a request with only a name.
fn answer(output: impl Serialize, resolved: Option<Resolved>) -> Value {
    let status = ServerStatus {
        language: "python".into(),
        server: "pyright".into(),
        state: ServerState::Ready,
        detail: None,
        judge: None,
        install: None,
        hint: None,
        installer: None,
        waited_ms: 12,
    };
    serde_json::to_value(Answer::new(output, resolved, status, Verdict::Complete, Vec::new())).unwrap()
}

#[test]
fn form_for_programs_is_little_more_than_text_and_its_fixed_part_is_small() {
    let count = USES.len();
    let symbols = |make: fn(Place) -> SymbolItem| {
        let symbols = places().into_iter().map(make).collect();
        answer(SymbolsOutput { symbols, count, has_more: false }, None)
    };
    let calls = HierarchyOutput {
        direction: "incoming".into(),
        items: places().into_iter().map(caller).collect(),
        count,
    };
    let findings = DiagnosticsOutput {
        diagnostics: places().into_iter().map(finding).collect(),
        count,
        has_more: false,
        files: 4,
        unchecked: 0,
        incomplete: Vec::new(),
        looked_at: Vec::new(),
    };
    let uses = LocationsOutput { locations: places().into(), count, ..LocationsOutput::default() };
    for (what, list, max_ratio, answer) in [
        ("references", "locations", MAX_PLACES_RATIO, answer(uses, resolved())),
        ("symbols of a search", "symbols", MAX_ITEMS_RATIO, symbols(symbol)),
        ("symbols of a file", "symbols", MAX_ITEMS_RATIO, symbols(outlined)),
        ("calls", "items", MAX_ITEMS_RATIO, answer(calls, resolved())),
        ("diagnostics", "diagnostics", MAX_ITEMS_RATIO, answer(findings, None)),
    ] {
        let mut fixed = answer.clone();
        fixed[list] = json!([]);
        let (programs, models, fixed) =
            (answer.to_string().len(), answer_text(&answer).len(), fixed.to_string().len());
        let ratio = programs as f64 / models as f64;
        println!(
            "{what}: {programs} bytes for programs, {models} for models, ratio {ratio:.2}, fixed {fixed}"
        );
        assert!(ratio <= max_ratio, "{what}: {ratio:.3}\n{answer}\n{}", answer_text(&answer));
        assert!(fixed <= MAX_FIXED_BYTES, "{what}: {fixed} bytes beside the list");
    }
}
