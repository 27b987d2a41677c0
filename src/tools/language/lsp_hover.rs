//! `lsp_hover`: type, signature and documentation of a symbol.

use crate::analysis::answer::{Answer, HoverOutput};
use crate::analysis::ask::fallback;
use crate::analysis::ask::question::{LanguageQuestion, QuestionOutcome};
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::analysis::items::budget;
use crate::analysis::items::place::Places;
use crate::analysis::names::hidden_definitions::{HiddenDefinitions, WITHHELD_NOTE};
use crate::analysis::target::Target;
use crate::lsp::model::Hover;
use crate::policy::request::CallSubjects;
use crate::text::Buffer;
use crate::tools::api::address::Address;
use crate::tools::api::tool::{Call, Card, Tool};

/// The `lsp_hover` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspHover;

impl Tool for LspHover {
    type Args = Address;
    type Output = Answer<HoverOutput>;

    fn card(&self) -> Card {
        Card::reading("lsp_hover", "Type and documentation", DESCRIPTION)
            .with_rank(5)
            .overlaid()
            .in_lsp_profile()
    }

    fn subjects(&self, context: &Context, args: &Address) -> Result<CallSubjects, ToolError> {
        args.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: Address) -> Result<Answer<HoverOutput>, ToolError> {
        let answer = run(call.context, &args.target(call.context)?).await?;
        fallback::advised_answer(answer, |output| {
            !output.contents.is_empty() || !output.candidates.is_empty()
        })
    }
}

const DESCRIPTION: &str =
    "Type, signature and documentation of a symbol. For its source use `lsp_definition`.";

/// Returns the hover of the symbol at `target`.
pub(crate) async fn run(context: &Context, target: &Target) -> Result<Answer<HoverOutput>, ToolError> {
    context.install_for_target(target).await?;
    let deadline = context.server_deadline(context.config.settings.deadlines.hover);
    let question = LanguageQuestion { method: "textDocument/hover", of_file: true };
    let hidden = HiddenDefinitions::new(context);
    let outcome = context
        .question(target, question, deadline, |session, path, place| {
            let hidden = hidden.clone();
            Box::pin(async move {
                let answer = session.hover(path, place, deadline).await?;
                let names = |text: &Buffer| place.position_in(text).into_iter().collect();
                hidden.withhold(session, path, answer, names, deadline).await
            })
        })
        .await?;
    let is_empty = |value: &Option<Option<Hover>>| value.as_ref().is_some_and(Option::is_none);
    if let Some(for_text) = outcome.for_text(is_empty) {
        let by_text = fallback::hover(context, for_text).await?;
        if !by_text.output.contents.is_empty() {
            return Ok(by_text);
        }
    }
    match outcome {
        QuestionOutcome::Answered { value, place, session, status, verdict, mut notes, .. } => {
            let is_withheld = value.is_none();
            notes.extend(is_withheld.then(|| WITHHELD_NOTE.to_owned()));
            let (contents, range) = value.flatten().map_or((String::new(), None), |hover| {
                (budget::cut_page(context, hover.contents), hover.range)
            });
            let doubt = match contents.is_empty() && !is_withheld {
                true => context.silence_doubt(&session, &place, verdict).await,
                false => None,
            };
            let output = HoverOutput { contents, range, candidates: Places::default() };
            Ok(Answer::new(output, place.resolved, status, verdict, notes).with_doubt(doubt))
        }
        QuestionOutcome::Unanswered(unanswered) => fallback::hover(context, unanswered).await,
    }
}
