//! Arguments that nobody should give.

use std::time::{Duration, Instant};

use lsp_tools::runtime::Runtime;
use lsp_tools::tools::tool::Caller;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::support::Project;
use crate::support::agent::call_in;
use crate::with_settings;

/// How many calls each tool gets, of each kind.
const CALLS: usize = 40;

/// What a call may take, on a slow machine.
const TIME: Duration = Duration::from_secs(30);

fn word() -> impl Strategy<Value = String> {
    let odd = [
        "",
        ".",
        "..",
        "a.txt",
        "b.py",
        "sub",
        "sub/../a.txt",
        "/",
        "/etc/passwd",
        "\0",
        "\u{202e}",
        "a\u{301}",
        "*",
        "**/*",
        "(",
        "[",
        "a{99999}",
        "e1",
        "--help",
        "@@ -1 +1 @@\n-one\n+x\n",
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+ONE\n",
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+x\n*** End Patch",
        "one",
        "\r\n",
        "\u{feff}",
        "true",
        "list",
        "save",
        "read",
        "delete",
        "9999999999999999999999",
        "~",
        "file:///etc",
        "pending",
        "in_progress",
    ];
    prop_oneof![3 => proptest::sample::select(odd.to_vec()).prop_map(str::to_owned), 1 => ".{0,40}", 1 => "[a-z./*]{0,12}"]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => word().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        2 => (0..9_i64).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn anything() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn draw<T>(runner: &mut TestRunner, strategy: &impl Strategy<Value = T>) -> T
where
    T: std::fmt::Debug,
{
    strategy.new_tree(runner).expect("a value").current()
}

/// A value that `schema` may well accept; now and then another.
fn fitting(runner: &mut TestRunner, whole: &Value, schema: &Value, depth: usize) -> Value {
    let dice = draw(runner, &(0..100_u32));
    if dice < 7 || depth > 5 {
        return draw(runner, &scalar());
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        return fitting(runner, whole, &whole["$defs"][name], depth + 1);
    }
    for key in ["enum", "anyOf", "oneOf"] {
        if let Some(choices) = schema[key].as_array().filter(|choices| !choices.is_empty()) {
            let choice = &choices[dice as usize % choices.len()];
            return if key == "enum" { choice.clone() } else { fitting(runner, whole, choice, depth + 1) };
        }
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or_default();
    match kind {
        "object" => {
            let none = Map::new();
            let properties = schema["properties"].as_object().unwrap_or(&none);
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let mut object = Map::new();
            for (name, property) in properties {
                let needed = required.iter().any(|known| known == name);
                if draw(runner, &(0..100_u32)) < if needed { 96 } else { 45 } {
                    object.insert(name.clone(), fitting(runner, whole, property, depth + 1));
                }
            }
            Value::Object(object)
        }
        "array" => {
            let count = dice as usize % 4;
            (0..count).map(|_| fitting(runner, whole, &schema["items"], depth + 1)).collect()
        }
        "string" => draw(runner, &word()).into(),
        "integer" => draw(runner, &prop_oneof![3 => -2..50_i64, 1 => any::<i64>()]).into(),
        "boolean" => (dice % 2 == 0).into(),
        _ => draw(runner, &anything()),
    }
}

fn project() -> (Project, Runtime) {
    let project = Project::new([
        ("a.txt", "one\ntwo\nthree\n"),
        ("b.py", "def f(x):\n    return x\n\nf(1)\n"),
        ("sub/c.rs", "fn main() {}\n"),
        ("empty", ""),
        ("bin.dat", "a\0b"),
    ]);
    let settings = "[permissions]\ndeny = ['effect:execute', 'effect:network', 'get_library_docs', 'resolve_library_id']\n\
                    [deadlines]\ntool = 20000\n";
    let runtime = with_settings(&project, settings);
    (project, runtime)
}

async fn must_answer(runtime: &Runtime, tool: &str, arguments: Value) {
    let shown = arguments.to_string();
    let begun = Instant::now();
    let result = call_in(runtime, None, tool, arguments).await;
    assert!(begun.elapsed() < TIME, "{tool} {shown}: {:?}", begun.elapsed());
    assert_eq!(result.value["ok"].as_bool(), Some(result.ok()), "{tool} {shown}: {}", result.value);
    if !result.ok() {
        assert!(
            result.value["code"].is_string() && result.value["error"].is_string(),
            "{tool} {shown}: {}",
            result.value
        );
        assert_ne!(result.value["code"], "internal", "{tool} {shown}: {} {:?}", result.value, result.error);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_answers_whatever_it_is_given() {
    let (project, runtime) = project();
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let definitions = runtime.definitions(&Caller::default());
    assert!(definitions.len() > 25, "{}", definitions.len());
    for definition in &definitions {
        let name = &*definition.card.name;
        let schema = definition.input.as_value();
        for round in 0..CALLS {
            if round % 10 == 0 {
                project.write("a.txt", "one\ntwo\nthree\n");
                project.write("b.py", "def f(x):\n    return x\n\nf(1)\n");
            }
            let arguments = fitting(&mut runner, schema, schema, 0);
            must_answer(&runtime, name, arguments).await;
            must_answer(&runtime, name, draw(&mut runner, &anything())).await;
        }
    }
    for name in ["", "nosuch", "re\0ad", "READ", "read ", "lsp_*", "../read"] {
        let result = call_in(&runtime, None, name, json!({})).await;
        assert_eq!(result.value["code"], "unknown_tool", "{name:?}: {}", result.value);
    }
}
