//! `task`: a piece of work for another agent, a program that the settings name.
//!
//! The runner (`[agents.NAME] runner`) is started in the workspace's root. On its standard input it
//! gets one JSON object:
//!
//! ```json
//! {"agent": "researcher", "objective": "…", "tools": ["read", "lsp_*"],
//!  "workspace": "/…", "session": "…", "depth": 1}
//! ```
//!
//! `tools` are the names of the permitted tools, or `null` for all tools of its caller. It prints
//! its summary as text, or as `{"summary": "…"}`, or `{"error": "…"}`. Each line of its standard
//! error is logged as an event. If it calls tools of this workspace, it does so in the named
//! session, as the agent in `LSP_TOOLS_AGENT`: the chain of agents from the first to itself
//! (`lead/researcher`), so that delegation never widens an agent's rights.

mod run;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::AgentSettings;
use crate::policy::request::{CallSubjects, Effect};
use crate::text::shell_word;
use crate::text::{build_glob_set, read_glob, suggestion};
use crate::tools::api::tool::{Call, Caller, Card, Tool};

/// The environment variable with the chain of agents from the first to the one that runs.
pub(crate) const AGENT: &str = "LSP_TOOLS_AGENT";
/// The environment variable with its session.
pub(crate) const SESSION: &str = "LSP_TOOLS_SESSION";
/// The deepest chain of delegations.
const MAX_DELEGATION_DEPTH: usize = 3;
/// The maximum number of concurrent tasks of one process.
const MAX_RUNNING_TASKS: usize = 8;
/// The longest objective, in bytes.
const OBJECTIVE_BYTES: usize = 64 << 10;

/// The arguments of `task`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct TaskArgs {
    /// Agent name from the settings.
    pub agent: String,
    /// The whole task; the agent sees nothing else.
    pub objective: String,
}

/// The output of `task`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TaskOutput {
    /// The agent.
    pub agent: String,
    /// The agent's summary.
    pub summary: String,
    /// True if the end of a longer summary was omitted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// The `task` tool.
#[derive(Debug, Clone)]
pub(crate) struct TaskTool {
    /// The chain of agents on whose behalf this process runs.
    base: Option<String>,
    running: Arc<Semaphore>,
    started: Arc<AtomicU64>,
}

impl TaskTool {
    /// The tool for a process that may itself have been started for a task.
    pub(crate) fn from_environment() -> Self {
        Self::on_behalf_of(std::env::var(AGENT).ok().filter(|agents| !agents.is_empty()))
    }

    /// The tool for a process that runs on behalf of `agents`: the chain from the first to the
    /// last, separated by `/`.
    pub(crate) fn on_behalf_of(agents: Option<String>) -> Self {
        Self { base: agents, running: Arc::new(Semaphore::new(MAX_RUNNING_TASKS)), started: Arc::default() }
    }

    /// The order for the program to start.
    fn build_order(
        &self,
        context: &Context,
        caller: &Caller,
        args: &TaskArgs,
    ) -> Result<TaskOrder, ToolError> {
        if args.objective.trim().is_empty() || args.objective.len() > OBJECTIVE_BYTES {
            let what = format!(
                "task: `objective` has {} bytes, accepted: 1 to {OBJECTIVE_BYTES}, not only spaces",
                args.objective.len()
            );
            return Err(ToolError::new(ErrorCode::InvalidArgs, what));
        }
        let agents = context.config.settings.agents();
        let agent = find_agent(context, &args.agent)?;
        let above = caller.agent.as_ref().or(self.base.as_ref());
        let mut chain: Vec<&str> = above.map(|above| above.split('/').collect()).unwrap_or_default();
        let scopes: Vec<&[String]> =
            chain.iter().filter_map(|name| agents.get(*name)?.tools.as_deref()).collect();
        let tools = intersect_tools(&scopes, agent.tools.as_deref());
        chain.push(&args.agent);
        if chain.len() > MAX_DELEGATION_DEPTH {
            let what = format!(
                "tasks can be delegated at most {MAX_DELEGATION_DEPTH} times; {} would be one more",
                chain.join("/")
            );
            return Err(
                ToolError::new(ErrorCode::Denied, what).with_hint("complete it without another agent")
            );
        }
        let runner = agent.runner.as_deref().filter(|runner| !runner.is_empty()).ok_or_else(|| {
            let error =
                ToolError::new(ErrorCode::Unsupported, format!("the agent {:?} has no runner", args.agent));
            error.with_hint(format!(
                "put `runner = [\"PROGRAM\", …]` under [agents.{}] in lsp-tools.toml",
                args.agent
            ))
        })?;
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        Ok(TaskOrder {
            agent: args.agent.clone(),
            objective: args.objective.clone(),
            runner: runner.to_vec(),
            tools,
            session: format!("{}.{}-{number}", caller.session, std::process::id()),
            depth: chain.len(),
            chain: chain.join("/"),
        })
    }
}

/// A validated task.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TaskOrder {
    agent: String,
    objective: String,
    /// The program and its arguments.
    runner: Vec<String>,
    /// Names of tools, which may end in `*`; `None` for all.
    tools: Option<Vec<String>>,
    /// The agent's own session.
    session: String,
    /// The number of delegations, including this one.
    depth: usize,
    /// The chain of agents from the first to this one.
    chain: String,
}

impl Tool for TaskTool {
    type Args = TaskArgs;
    type Output = TaskOutput;

    fn card(&self) -> Card {
        let description = "Delegates a task to another agent and answers its summary; for an unknown name, the known agents. Not for what a few calls answer.";
        Card::new("task", "Task for another agent", description, Effect::Execute).long()
    }

    fn subjects(&self, context: &Context, args: &TaskArgs) -> Result<CallSubjects, ToolError> {
        let agent = find_agent(context, &args.agent)?;
        let words = agent.runner.iter().flatten().map(|word| shell_word(word)).collect::<Vec<_>>();
        let commands = if words.is_empty() { Vec::new() } else { vec![words.join(" ")] };
        Ok(CallSubjects { commands, ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: TaskArgs) -> Result<TaskOutput, ToolError> {
        let order = self.build_order(call.context, call.caller, &args)?;
        let Ok(_running) = self.running.try_acquire() else {
            let what = format!("{MAX_RUNNING_TASKS} tasks are running, the limit");
            return Err(ToolError::new(ErrorCode::Denied, what).with_hint("wait for one of them"));
        };
        run::run(call.context, &order).await
    }
}

fn find_agent(context: &Context, name: &str) -> Result<AgentSettings, ToolError> {
    let agents = context.config.settings.agents();
    agents.get(name).cloned().ok_or_else(|| {
        let what = format!("there is no agent {name:?}");
        if agents.is_empty() {
            let error = ToolError::new(ErrorCode::NotFound, what);
            return error.with_hint("define agents in lsp-tools.toml as [agents.NAME] with a `runner`");
        }
        let all = agents.iter().map(|(name, agent)| match &agent.description {
            Some(description) => format!("{name} ({description})"),
            None => name.clone(),
        });
        let near = suggestion(name, &agents.keys().map(String::as_str).collect::<Vec<_>>());
        ToolError::new(ErrorCode::NotFound, format!("{what}{near}"))
            .with_hint(format!("agents: {}", all.collect::<Vec<_>>().join(", ")))
    })
}

/// The tools of `own` that are in all `scopes`; without `own`, those of the last scope that are in
/// all others. A name that ends in `*` stays only if each scope covers all of it.
fn intersect_tools(scopes: &[&[String]], own: Option<&[String]>) -> Option<Vec<String>> {
    let mut lists = scopes.iter().copied().chain(own).rev();
    let narrowest = lists.next()?;
    let wider: Vec<&[String]> = lists.collect();
    let has = |scope: &[String], name: &str| {
        let globs = scope.iter().filter_map(|pattern| read_glob(pattern, |_| ()).ok());
        globs.filter_map(|glob| build_glob_set([glob]).ok()).any(|glob| glob.is_match(name))
    };
    let kept = narrowest.iter().filter(|name| wider.iter().all(|scope| has(scope, name)));
    Some(kept.cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn subagent_tools_are_narrowed_to_those_of_the_caller() {
        let (wide, narrow) = (names(&["lsp_*", "read", "task"]), names(&["lsp_hover", "task"]));
        let own = names(&["lsp_hover", "lsp_*", "bash", "read"]);
        assert_eq!(intersect_tools(&[], None), None);
        assert_eq!(intersect_tools(&[], Some(&own)), Some(own.clone()));
        assert_eq!(intersect_tools(&[&wide], None), Some(wide.clone()));
        assert_eq!(intersect_tools(&[&wide], Some(&own)), Some(names(&["lsp_hover", "lsp_*", "read"])));
        assert_eq!(intersect_tools(&[&wide, &narrow], Some(&own)), Some(names(&["lsp_hover"])));
        assert_eq!(intersect_tools(&[&narrow, &wide], None), Some(names(&["task"])));
    }
}
