//! The merge of SARIF logs from several parts of one check.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use thiserror::Error;

/// Reasons why a log cannot be merged.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum NoLog {
    /// The value is not a SARIF log.
    #[error("it is not a SARIF 2.1.0 log")]
    Other,
    /// A run has no tool.
    #[error("one of its runs names no tool")]
    NoTool,
}

/// The results of one server in all parts.
#[derive(Default)]
struct MergedSarifRun {
    first: Value,
    rules: BTreeSet<String>,
    results: Vec<Value>,
    invocations: Vec<Value>,
    /// The artifacts by location, since parts may have checked the same file.
    artifacts: BTreeMap<String, Value>,
}

/// Merges the logs into one: a run per server, with its results in the order of the logs.
///
/// # Errors
/// [`NoLog`], with the 0-based number of the invalid log.
pub(crate) fn merge_logs(logs: &[Value]) -> Result<Value, (usize, NoLog)> {
    let mut runs: BTreeMap<String, MergedSarifRun> = BTreeMap::new();
    for (index, log) in logs.iter().enumerate() {
        let found = log["runs"].as_array().filter(|_| log["version"] == "2.1.0");
        for run in found.ok_or((index, NoLog::Other))? {
            let name = run["tool"]["driver"]["name"].as_str().ok_or((index, NoLog::NoTool))?;
            runs.entry(name.to_owned()).or_default().add_run(run);
        }
    }
    // A part without diagnostics has a run under our own name, which is dropped beside runs with
    // some.
    if runs.len() > 1
        && runs.get("lsp-tools").is_some_and(|run| run.results.is_empty())
        && let Some(ours) = runs.remove("lsp-tools")
        && let Some(first) = runs.values_mut().next()
    {
        first.invocations.extend(ours.invocations);
        first.artifacts.extend(ours.artifacts);
    }
    Ok(json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": runs.into_values().map(MergedSarifRun::into_value).collect::<Vec<_>>(),
    }))
}

impl MergedSarifRun {
    fn add_run(&mut self, run: &Value) {
        if self.first.is_null() {
            self.first = run.clone();
        }
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let rules = list(&run["tool"]["driver"]["rules"]);
        self.rules.extend(rules.iter().filter_map(|rule| rule["id"].as_str()).map(str::to_owned));
        self.results.extend(list(&run["results"]));
        self.invocations.extend(list(&run["invocations"]));
        let artifacts = list(&run["artifacts"]).into_iter();
        self.artifacts.extend(artifacts.map(|artifact| (artifact["location"].to_string(), artifact)));
    }

    fn into_value(self) -> Value {
        let Self { first: mut run, rules, mut results, invocations, artifacts } = self;
        let index: BTreeMap<&str, usize> =
            rules.iter().enumerate().map(|(index, rule)| (rule.as_str(), index)).collect();
        for result in &mut results {
            if let Some(index) = result["ruleId"].as_str().and_then(|rule| index.get(rule)) {
                result["ruleIndex"] = json!(index);
            }
        }
        run["tool"]["driver"]["rules"] = rules.iter().map(|rule| json!({"id": rule})).collect();
        run["results"] = results.into();
        run["invocations"] = invocations.into();
        if !artifacts.is_empty() {
            run["artifacts"] = artifacts.into_values().collect();
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(server: &str, rules: &[&str]) -> Value {
        let results: Vec<Value> = rules
            .iter()
            .enumerate()
            .map(|(index, rule)| json!({"ruleId": rule, "ruleIndex": index, "message": {"text": rule}}))
            .collect();
        let rules: Vec<Value> = rules.iter().map(|rule| json!({"id": rule})).collect();
        json!({"version": "2.1.0", "runs": [{
            "tool": {"driver": {"name": server, "rules": rules}},
            "invocations": [{"executionSuccessful": true}],
            "artifacts": [{"location": {"uri": "both.py"}}, {"location": {"uri": format!("{}.py", results.len())}}],
            "results": results,
        }]})
    }

    #[test]
    fn merged_sarif_joins_runs_of_one_tool_and_reindexes_rules() {
        let logs = [log("pyright", &["b", "c"]), log("lsp-tools", &[]), log("pyright", &["a", "c"])];
        let merged = merge_logs(&logs).unwrap();
        let runs = merged["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 1, "{merged}");
        assert_eq!(runs[0]["tool"]["driver"]["rules"], json!([{"id": "a"}, {"id": "b"}, {"id": "c"}]));
        let indices: Vec<&Value> =
            runs[0]["results"].as_array().unwrap().iter().map(|result| &result["ruleIndex"]).collect();
        assert_eq!(indices, [1, 2, 0, 2]);
        assert_eq!(runs[0]["invocations"].as_array().map(Vec::len), Some(3));
        let files = json!([{"location": {"uri": "0.py"}}, {"location": {"uri": "2.py"}}, {"location": {"uri": "both.py"}}]);
        assert_eq!(runs[0]["artifacts"], files);
    }

    #[test]
    fn merge_of_invalid_sarif_names_the_faulty_log() {
        assert_eq!(merge_logs(&[log("a", &[]), json!({})]), Err((1, NoLog::Other)));
        assert_eq!(merge_logs(&[json!({"version": "2.1.0", "runs": [{}]})]), Err((0, NoLog::NoTool)));
    }
}
