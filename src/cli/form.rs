//! Forms of mounted servers, filled in field by field at the terminal.

use std::io;

use serde_json::{Map, Value};

use super::render::terminal::escape;
use crate::policy::approval::{FormAnswer, FormRequest};

/// The number of attempts for a field with invalid input.
const MAX_FORM_FIELD_ATTEMPTS: usize = 3;

/// One field of a form.
struct TerminalFormField<'a> {
    name: &'a str,
    schema: &'a Value,
    required: bool,
}

/// Lets the user fill in `form`. `put` shows a text and returns the typed line.
///
/// # Errors
/// The user cannot be asked.
pub(super) fn fill_form(
    form: &FormRequest,
    mut put: impl FnMut(&str) -> io::Result<String>,
) -> io::Result<FormAnswer> {
    let (from, tool, message) =
        (escape::line(&form.from), escape::line(&form.tool), escape::line(&form.message));
    let question =
        format!("\nThe MCP server `{from}`, working on {tool}, asks: {message}\nAnswer it? [y]es, [N]o: ");
    if !matches!(put(&question)?.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(FormAnswer::Declined);
    }
    let required = form.schema["required"].as_array().cloned().unwrap_or_default();
    let mut filled = Map::new();
    for (name, schema) in form.schema["properties"].as_object().into_iter().flatten() {
        let required = required.iter().any(|known| known == name);
        let field = TerminalFormField { name, schema, required };
        match field.ask_value(&mut put)? {
            Some(Value::Null) => {}
            Some(value) => {
                filled.insert(name.clone(), value);
            }
            None => return Ok(FormAnswer::Dismissed),
        }
    }
    Ok(FormAnswer::Filled(filled))
}

impl TerminalFormField<'_> {
    /// Asks for the value. Returns null if it is omitted, and `None` if no input was valid.
    fn ask_value(&self, put: &mut impl FnMut(&str) -> io::Result<String>) -> io::Result<Option<Value>> {
        let prompt = self.prompt();
        for _ in 0..MAX_FORM_FIELD_ATTEMPTS {
            if let Some(value) = self.read(put(&prompt)?.trim()) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    fn prompt(&self) -> String {
        let text_of = |key: &str| self.schema[key].as_str().map(|text| escape::line(text).into_owned());
        let mut prompt = text_of("title").unwrap_or_else(|| escape::line(self.name).into_owned());
        if let Some(description) = text_of("description") {
            prompt.push_str(&format!(" ({description})"));
        }
        let choices = self.choices();
        if !choices.is_empty() {
            let choices: Vec<_> = choices.iter().map(|choice| escape::line(choice)).collect();
            let several = if self.kind() == "array" { "several of " } else { "" };
            prompt.push_str(&format!(" [{several}{}]", choices.join(", ")));
        } else if self.kind() == "boolean" {
            prompt.push_str(" [yes, no]");
        }
        if let Some(default) = self.schema.get("default") {
            prompt.push_str(&format!(", else {}", escape::line(&default.to_string())));
        } else if !self.required {
            prompt.push_str(", may be left out");
        }
        prompt.push_str(": ");
        prompt
    }

    fn kind(&self) -> &str {
        self.schema["type"].as_str().unwrap_or("string")
    }

    /// Returns the allowed values of an enumeration.
    fn choices(&self) -> Vec<&str> {
        let of = if self.kind() == "array" { &self.schema["items"] } else { self.schema };
        let plain = of["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let titled = ["oneOf", "anyOf"].into_iter().filter_map(|key| of[key].as_array()).flatten();
        plain.chain(titled.filter_map(|choice| choice["const"].as_str())).collect()
    }

    /// Parses a line. Returns null for an omitted field, and `None` for invalid input.
    fn read(&self, line: &str) -> Option<Value> {
        if line.is_empty() {
            let default = self.schema.get("default").cloned();
            return default.or_else(|| (!self.required).then_some(Value::Null));
        }
        let choices = self.choices();
        let fits = |word: &str| choices.is_empty() || choices.contains(&word);
        match self.kind() {
            "boolean" => match line.to_lowercase().as_str() {
                "y" | "yes" | "true" => Some(Value::Bool(true)),
                "n" | "no" | "false" => Some(Value::Bool(false)),
                _ => None,
            },
            "integer" => line.parse::<i64>().ok().map(Value::from),
            "number" => line.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
            "array" => {
                let words: Vec<&str> = line.split(',').map(str::trim).collect();
                words.iter().all(|word| fits(word)).then(|| Value::from(words))
            }
            _ => fits(line).then(|| Value::from(line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(schema: Value, lines: &[&str]) -> (FormAnswer, String) {
        let form = FormRequest {
            from: "m".into(),
            tool: "m/say".into(),
            message: "Who?\u{1b}[2K".into(),
            schema,
            again: false,
        };
        let (mut lines, mut shown) = (lines.iter(), String::new());
        let answer = fill_form(&form, |text| {
            shown.push_str(text);
            lines.next().map(|line| format!("{line}\n")).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        });
        (answer.unwrap(), shown)
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["name"],
            "properties": {
                "age": {"type": "integer"},
                "kind": {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}], "default": "b"},
                "loud": {"type": "boolean"},
                "name": {"type": "string", "description": "yours"},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
            },
        })
    }

    #[test]
    fn form_field_of_every_type_is_prompted_until_valid() {
        let (answer, shown) = filled(schema(), &["y", "old", "7", "c", "", "yes", "", "Ada", "x, y"]);
        let expected = json!({"age": 7, "kind": "b", "loud": true, "name": "Ada", "tags": ["x", "y"]});
        assert_eq!(answer, FormAnswer::Filled(expected.as_object().unwrap().clone()));
        assert!(shown.contains("name (yours): ") && shown.contains("kind [a, b], else \"b\": "), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }

    #[test]
    fn form_without_yes_is_declined_and_invalid_input_dismisses() {
        assert_eq!(filled(schema(), &[""]).0, FormAnswer::Declined);
        assert_eq!(filled(schema(), &["n"]).0, FormAnswer::Declined);
        let (answer, _) = filled(schema(), &["y", "", "", "", "", "", ""]);
        assert_eq!(answer, FormAnswer::Dismissed);
    }
}
