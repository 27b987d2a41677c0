//! A custom tool beside the built-in ones: `cargo run --example own_tool -- 'some words to count'`.

use std::error::Error;

use lsp_tools::{Call, CallRequest, Caller, Card, Runtime, RuntimeOptions, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct CountArgs {
    /// The text whose words are counted.
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct CountOutput {
    words: usize,
}

struct CountWords;

impl Tool for CountWords {
    type Args = CountArgs;
    type Output = CountOutput;

    fn card(&self) -> Card {
        Card::reading("count_words", "Count words", "How many words a text has.")
    }

    async fn run(&self, _call: Call<'_>, args: CountArgs) -> Result<CountOutput, ToolError> {
        Ok(CountOutput { words: args.text.split_whitespace().count() })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut runtime = Runtime::open(RuntimeOptions { cwd: std::env::current_dir()?, ..Default::default() })?;
    runtime.add_tool(CountWords)?;

    let text = std::env::args().nth(1).unwrap_or_else(|| "three little words".to_owned());
    let caller = Caller::default();
    let request = CallRequest::new("count_words", json!({"text": text}), &caller);
    println!("{}", runtime.call(request).await.text_for_model());
    runtime.shutdown().await;
    Ok(())
}
