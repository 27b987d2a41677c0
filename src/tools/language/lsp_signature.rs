//! `lsp_signature`: the signatures that fit a call at a position.

use crate::analysis::answer::{Answer, SignatureItem, SignaturesOutput};
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

/// The `lsp_signature` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspSignature;

impl Tool for LspSignature {
    type Args = Address;
    type Output = Answer<SignaturesOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_signature",
            "Signature help",
            "Signatures that fit the call at a position inside its parentheses. For a function by its name use `lsp_hover`. \
             Example: {\"path\": \"shop/pay.py\", \"line\": 4, \"character\": 20}.",
        )
        .with_rank(24)
        .overlaid().beyond_core()
    }

    fn subjects(&self, context: &Context, args: &Address) -> Result<CallSubjects, ToolError> {
        args.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: Address) -> Result<Answer<SignaturesOutput>, ToolError> {
        run(call.context, &args.target(call.context)?).await
    }
}

/// Returns the signatures that fit the call around `target`. The position is used as given, because
/// no name follows an opening parenthesis or a comma.
pub(crate) async fn run(context: &Context, target: &Target) -> Result<Answer<SignaturesOutput>, ToolError> {
    context.install_for_target(target).await?;
    let deadline = context.server_deadline(context.config.settings.deadlines.signature);
    let question = LanguageQuestion { method: "textDocument/signatureHelp", of_file: true };
    let (exact, hidden) = (target.exact_position(), HiddenDefinitions::new(context));
    match context
        .question(target, question, deadline, |session, path, place| {
            let hidden = hidden.clone();
            Box::pin(async move {
                let place = exact.as_ref().map_or(place, |exact| exact as &dyn PlaceInText);
                let answer = session.signatures(path, place, deadline).await?;
                hidden.withhold(session, path, answer, |text| names_at(text, place), deadline).await
            })
        })
        .await?
    {
        QuestionOutcome::Answered { value, status, verdict, mut notes, .. } => {
            notes.extend(value.is_none().then(|| WITHHELD_NOTE.to_owned()));
            let value = value.unwrap_or_default();
            let all = value.len();
            let signatures = value.into_iter().map(|one| SignatureItem {
                label: budget::name(one.label),
                documentation: one.documentation.map(budget::documentation),
                parameters: one.parameters.into_iter().map(budget::name).collect(),
                active_parameter: one.active_parameter,
                active: one.active,
            });
            let mut budget = ListBudget::for_list(context, context.config.settings.limits.answer_items);
            // The signature that the server marks as active is always kept.
            let signatures: Vec<SignatureItem> =
                signatures.filter(|one| budget.try_take(one) || one.active).collect();
            if signatures.len() < all {
                notes.push(format!("{} more signatures are omitted", all - signatures.len()));
            }
            Ok(Answer::new(SignaturesOutput { signatures }, None, status, verdict, notes))
        }
        QuestionOutcome::Unanswered(unanswered) => Err(fallback::refusal_error(&unanswered.status)),
    }
}
