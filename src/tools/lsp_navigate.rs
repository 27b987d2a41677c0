//! `lsp_definition`, `lsp_declaration`, `lsp_type_definition`, `lsp_implementation`, `lsp_references`: where a symbol is.

use super::answer::{Answer, LocationsOutput, Place};
use super::context::Context;
use super::error::ToolError;
use super::fallback;
use super::question::{Outcome, Question};
use super::target::Target;
use crate::lsp::model::{FileRef, Location};
use crate::lsp::operations::Navigation;

/// Answers where what stands at `target` is; at most `limit` locations (the settings' where there is none).
pub async fn run(
    context: &Context,
    navigation: Navigation,
    target: &Target,
    limit: Option<usize>,
) -> Result<Answer<LocationsOutput>, ToolError> {
    context.prepare(target).await?;
    let deadlines = &context.config.settings.deadlines;
    let usual =
        if navigation == Navigation::References { deadlines.references } else { deadlines.definition };
    let deadline = context.deadline(usual);
    let of_file = !matches!(navigation, Navigation::References | Navigation::Implementation);
    let question = Question { method: navigation.method(), of_file };
    let limit = limit.unwrap_or(context.config.settings.limits.answer_items);
    match context
        .question(target, question, deadline, |session, path, position| {
            Box::pin(session.navigate(navigation, path, position, deadline))
        })
        .await?
    {
        Outcome::Answered { value, place, status, verdict, notes } => {
            let output = output(context, value, limit, navigation);
            Ok(Answer::new(output, place.resolved, status, verdict, notes))
        }
        Outcome::Unanswered(unanswered) => fallback::locations(context, unanswered, navigation, limit).await,
    }
}

fn output(
    context: &Context,
    mut found: Vec<Location>,
    limit: usize,
    navigation: Navigation,
) -> LocationsOutput {
    if navigation == Navigation::References || found.len() > 1 {
        found.sort_by(|a, b| (&a.file, a.range).cmp(&(&b.file, b.range)));
    }
    let count = found.len();
    let locations: Vec<Place> =
        found.into_iter().take(limit).map(|location| place(context, location)).collect();
    LocationsOutput {
        location: locations.first().cloned(),
        has_more: count > locations.len(),
        count,
        locations,
    }
}

/// A location as answers give it.
pub fn place(context: &Context, location: Location) -> Place {
    let (path, uri) = names(context, &location.file);
    Place { path, uri, range: location.range, text: location.text, why: None }
}

/// A file's path as answers give it, and its URI.
pub fn names(context: &Context, file: &FileRef) -> (String, String) {
    match file {
        FileRef::Inside(path) => {
            (path.display(), crate::lsp::uri::from_path(&context.workspace.absolute(path)))
        }
        FileRef::Outside(path) => (path.display().to_string(), crate::lsp::uri::from_path(path)),
        FileRef::Virtual(uri) => (uri.clone(), uri.clone()),
    }
}
