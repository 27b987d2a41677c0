//! `lsp_completion`: completions at a position.

use crate::analysis::answer::{Answer, CompletionItem, CompletionsOutput, Verdict};
use crate::analysis::ask::fallback;
use crate::analysis::ask::question::{LanguageQuestion, QuestionOutcome};
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::analysis::items::budget;
use crate::analysis::items::budget::ListBudget;
use crate::analysis::names::hidden_definitions::{HiddenDefinitions, WITHHELD_NOTE, names_at};
use crate::analysis::target::Target;
use crate::lsp::session::request::PlaceInText;
use crate::policy::request::CallSubjects;
use crate::tools::api::address::Address;
use crate::tools::api::tool::{Call, Card, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arguments of `lsp_completion`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CompletionArgs {
    /// The position.
    #[serde(flatten)]
    pub address: Address,
    /// Default: 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

const DEFAULT_COMPLETION_LIMIT: usize = 20;

/// The `lsp_completion` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspCompletion;

impl Tool for LspCompletion {
    type Args = CompletionArgs;
    type Output = Answer<CompletionsOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_completion",
            "Completion",
            "Completions at a position: members, names in scope, likeliest first. To find a symbol use `lsp_symbols`. \
             Example: {\"path\": \"shop/pay.py\", \"line\": 4, \"character\": 16}.",
        )
        .with_rank(25)
        .overlaid().beyond_core()
    }

    fn subjects(&self, context: &Context, args: &CompletionArgs) -> Result<CallSubjects, ToolError> {
        args.address.subjects(context)
    }

    async fn run(
        &self,
        call: Call<'_>,
        args: CompletionArgs,
    ) -> Result<Answer<CompletionsOutput>, ToolError> {
        run(
            call.context,
            &args.address.target(call.context)?,
            Some(args.limit.unwrap_or(DEFAULT_COMPLETION_LIMIT)),
        )
        .await
    }
}

/// Returns the completions at `target`, best first, at most `limit` items. The position is used
/// exactly as given.
pub(crate) async fn run(
    context: &Context,
    target: &Target,
    limit: Option<usize>,
) -> Result<Answer<CompletionsOutput>, ToolError> {
    context.install_for_target(target).await?;
    let deadline = context.deadline(context.config.settings.deadlines.completion);
    let question = LanguageQuestion { method: "textDocument/completion", of_file: true };
    let (exact, hidden) = (target.exact_position(), HiddenDefinitions::new(context));
    let limit = limit.unwrap_or(context.config.settings.limits.answer_items);
    match context
        .question(target, question, deadline, |session, path, place| {
            let hidden = hidden.clone();
            Box::pin(async move {
                let place = exact.as_ref().map_or(place, |exact| exact as &dyn PlaceInText);
                let answer = session.completions(path, place, limit, deadline).await?;
                hidden.withhold(session, path, answer, |text| names_at(text, place), deadline).await
            })
        })
        .await?
    {
        QuestionOutcome::Answered { value, status, mut verdict, mut notes, .. } => {
            notes.extend(value.is_none().then(|| WITHHELD_NOTE.to_owned()));
            let found = value.unwrap_or_default();
            if let Some(work) = found.unfinished_work.as_ref().filter(|_| verdict == Verdict::Complete) {
                verdict = Verdict::Partial;
                notes.push(format!("there may be more: {}", work.sentence(&status.server)));
            }
            let items = found.items.into_iter().map(|one| CompletionItem {
                label: budget::name(one.label),
                kind: one.kind.map(str::to_owned),
                detail: one.detail.map(budget::name),
                documentation: one.documentation.map(budget::documentation),
                insert: one.insert.map(budget::insertion),
                deprecated: one.deprecated,
            });
            let items = ListBudget::for_list(context, limit).fill(items, limit);
            let has_more = found.incomplete || found.count > items.len();
            let output = CompletionsOutput { count: found.count, has_more, items };
            Ok(Answer::new(output, None, status, verdict, notes))
        }
        QuestionOutcome::Unanswered(unanswered) => Err(fallback::refusal_error(&unanswered.status)),
    }
}
