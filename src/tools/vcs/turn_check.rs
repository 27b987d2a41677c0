//! The check of an agent's turn for hooks of hosts: a form of `lsp_changes` that models do not see.
//! Rules and the audit log apply to it, as to every call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lsp_changes::LspChanges;
use crate::analysis::breakage::diagnostics_baseline::{BreakageMode, EditJudge};
use crate::analysis::breakage::edit_judgement::EditJudgement;
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::analysis::trees::turn_edits::AgentTurn;
use crate::policy::request::CallSubjects;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;

/// The arguments of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TurnCheckArgs {
    /// The session of the agent.
    pub session: String,
    /// True at the end of the turn, false at its start.
    pub ends: bool,
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TurnCheckOutput {
    /// The judgement of the turn's edits; absent if there are none, or the start of the turn is
    /// unknown.
    pub judgement: Option<EditJudgement>,
}

/// The check.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnCheck;

impl Tool for TurnCheck {
    type Args = TurnCheckArgs;
    type Output = TurnCheckOutput;

    fn card(&self) -> Card {
        LspChanges.card()
    }

    fn subjects(&self, _context: &Context, _args: &TurnCheckArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![WorkspacePath::root()], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: TurnCheckArgs) -> Result<TurnCheckOutput, ToolError> {
        let turn = AgentTurn::of_session(call.context, &args.session);
        let none = TurnCheckOutput { judgement: None };
        if !args.ends {
            turn.begin().await?;
            return Ok(none);
        }
        let edits = turn.edits().await?.unwrap_or_default();
        if edits.is_empty() {
            return Ok(none);
        }
        let judge = EditJudge::Afterwards(BreakageMode::Wanted);
        let judgement = Box::pin(judge.judge(call.context, &edits, &call.context.view)).await;
        // Broken code is reported once for a turn, by one of several hooks.
        let is_reported = judgement.has_new_errors() && !turn.forget().await?;
        Ok(TurnCheckOutput { judgement: Some(judgement).filter(|_| !is_reported) })
    }
}
