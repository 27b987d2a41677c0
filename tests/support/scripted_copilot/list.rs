//! The list of tools, checked and answered like the real server.

use serde_json::{Value, json};

use crate::Scenario;

pub struct List {
    clients: Vec<Value>,
}

impl List {
    pub fn new() -> Self {
        Self { clients: Vec::new() }
    }

    pub fn register(&mut self, scenario: &Scenario, params: &Value) -> Result<Value, (i64, String)> {
        let tools = params["tools"].as_array().cloned().unwrap_or_default();
        let refused = |lines: &[String]| {
            (-32602, format!("Schema validation failed with the following errors:\n{}", lines.join("\n")))
        };
        if scenario.refuses_all && !tools.is_empty() {
            return Err(refused(&[]));
        }
        let mut lines = Vec::new();
        for (at, tool) in tools.iter().enumerate() {
            lines.extend(faults(tool).into_iter().map(|fault| format!("- /tools/{at}/{fault}")));
            if scenario.refuses.iter().any(|name| tool["name"] == name.as_str()) {
                lines.push(format!("- /tools/{at}/inputSchema/properties: not to my taste"));
            }
        }
        if !lines.is_empty() {
            return Err(refused(&lines));
        }
        for tool in tools {
            self.clients.retain(|known| known["name"] != tool["name"]);
            self.clients.push(tool);
        }
        Ok(scenario.list.clone().unwrap_or_else(|| self.listed(scenario)))
    }

    pub fn unregister(&mut self, params: &Value) -> Value {
        let ids = params["toolIds"].as_array().cloned().unwrap_or_default();
        let id =
            |tool: &Value| json!(format!("copilot-editor.{}", tool["name"].as_str().unwrap_or_default()));
        self.clients.retain(|tool| !ids.contains(&id(tool)));
        json!(self.clients.len())
    }

    fn listed(&self, scenario: &Scenario) -> Value {
        let usual = ["list_dir", "read_file", "file_search", "grep_search", "validate_cves"];
        let mut own = scenario.own.clone().unwrap_or_else(|| usual.map(str::to_owned).to_vec());
        let has = |name: &str| self.clients.iter().any(|tool| tool["name"] == name);
        let (inserts, creates) = (has("insert_edit_into_file"), has("create_file"));
        let unlocked = [
            ("insert_edit_into_file", inserts),
            ("replace_string_in_file", inserts),
            ("create_file", creates),
            ("apply_patch", inserts && creates),
        ];
        own.extend(unlocked.iter().filter(|(_, is)| *is).map(|(name, _)| (*name).to_owned()));
        let hidden = |tool: &Value| {
            let hides = scenario.hides.iter().any(|name| tool["name"] == name.as_str());
            hides || tool["name"] == "insert_edit_into_file" || tool["name"] == "create_file"
        };
        let ours = self.clients.iter().filter(|tool| !hidden(tool));
        let ours = ours.map(|tool| entry("copilot-editor", "client", &tool["name"]));
        let shadowed =
            |name: &String| self.clients.iter().any(|tool| !hidden(tool) && tool["name"] == name.as_str());
        let own =
            own.iter().filter(|name| !shadowed(name)).map(|name| entry("copilot", "shared", &json!(name)));
        ours.chain(own).collect()
    }
}

fn entry(provider: &str, kind: &str, name: &Value) -> Value {
    let id = format!("{provider}.{}", name.as_str().unwrap_or_default());
    json!({"id": id, "type": kind, "name": name, "nameForModel": name, "status": "enabled", "configurationKey": name})
}

fn faults(tool: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for key in ["name", "description"] {
        if !tool[key].is_string() {
            faults.push(format!("{key}: Expected string"));
        }
    }
    let Some(schema) = tool.get("inputSchema") else { return faults };
    if !schema["type"].is_string() {
        faults.push("inputSchema/type: Expected string".to_owned());
    }
    if !schema["required"].is_array() {
        faults.push("inputSchema/required: Expected required property".to_owned());
    }
    let Some(properties) = schema["properties"].as_object() else {
        faults.push("inputSchema/properties: Expected object".to_owned());
        return faults;
    };
    for (name, property) in properties {
        for key in ["type", "description"] {
            if !property[key].is_string() {
                faults.push(format!("inputSchema/properties/{name}/{key}: Expected string"));
            }
        }
    }
    faults
}
