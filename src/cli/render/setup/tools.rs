//! Tables and details of tools.

use serde_json::{Map, Value};

use crate::cli::render::DisplayCapabilities;
use crate::cli::render::terminal::display::{BOLD, DIM, KIND, WARN};
use crate::cli::render::terminal::escape;
use crate::cli::render::terminal::table::{Cell, table};
use crate::policy::request::Effect;
use crate::tools::api::tool::ToolDefinition;

/// One line per tool.
pub(crate) fn list(definitions: &[ToolDefinition], display: &DisplayCapabilities) -> String {
    let rows: Vec<Vec<Cell>> = definitions
        .iter()
        .map(|definition| {
            let card = &definition.card;
            vec![
                Cell::new(escape::line(&card.name), BOLD),
                Cell::new(card.effect.as_str(), style(card.effect)),
                Cell::plain(escape::words(&card.title)),
            ]
        })
        .collect();
    table(&["TOOL", "EFFECT", "WHAT"], &rows, display)
}

/// Renders the description and parameters of one tool.
pub(crate) fn one(definition: &ToolDefinition, display: &DisplayCapabilities) -> String {
    let card = &definition.card;
    let mut out = format!(
        "{} ({}): {}\n\n{}\n",
        display.paint(BOLD, &escape::line(&card.name)),
        display.paint(style(card.effect), card.effect.as_str()),
        escape::words(&card.title),
        escape::block(&card.description),
    );
    let schema = definition.input.as_value();
    let properties = schema.get("properties").and_then(Value::as_object);
    let Some(properties) = properties.filter(|properties| !properties.is_empty()) else { return out };
    let required = schema.get("required").and_then(Value::as_array);
    let rows: Vec<Vec<Cell>> = properties
        .iter()
        .map(|(name, part)| {
            let needed = required.is_some_and(|names| names.iter().any(|known| known == name));
            let told = part.get("description").and_then(Value::as_str).unwrap_or_default();
            vec![
                Cell::new(escape::line(name), if needed { BOLD } else { anstyle::Style::new() }),
                Cell::new(kind(part), KIND),
                Cell::new(if needed { "required" } else { "" }, DIM),
                Cell::plain(escape::words(told)),
            ]
        })
        .collect();
    out.push('\n');
    out.push_str(&table(&[], &rows, display));
    out
}

/// Renders an answer as indented JSON.
pub(crate) fn pretty(value: &Value) -> String {
    format!("{}\n", escape::json(&format!("{value:#}")))
}

fn style(effect: Effect) -> anstyle::Style {
    match effect {
        Effect::Read => DIM,
        Effect::Edit | Effect::Execute | Effect::Network => WARN,
    }
}

fn kind(part: &Value) -> String {
    if let Some(words) = part.get("enum").and_then(Value::as_array) {
        return escape::words(&words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"));
    }
    let of = |part: &Value| part.get("type").and_then(Value::as_str).unwrap_or("any").to_owned();
    match part
        .get("items")
        .filter(|items| items.as_object().is_some_and(|items: &Map<_, _>| !items.is_empty()))
    {
        Some(items) => escape::words(&format!("{}[]", of(items))),
        None => escape::words(&of(part)),
    }
}
