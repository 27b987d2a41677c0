//! JSON-RPC batches, which a server of MCP 2025-03-26 must accept: the answers to the requests of
//! one are sent together.

use std::collections::HashSet;

use rmcp::model::{JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use serde::Serialize;

/// The content of one output line.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum PipeOutput {
    /// A message.
    One(Box<ServerJsonRpcMessage>),
    /// The answers to a batch.
    Batch(Vec<ServerJsonRpcMessage>),
}

/// The batches with incomplete answers.
#[derive(Debug, Default)]
pub(super) struct OpenBatches(Vec<OpenBatch>);

#[derive(Debug)]
struct OpenBatch {
    waiting: HashSet<RequestId>,
    answers: Vec<ServerJsonRpcMessage>,
}

impl OpenBatches {
    /// Adds a batch with its pending requests and existing answers. Returns its output if it is
    /// complete.
    pub(super) fn open(
        &mut self,
        waiting: HashSet<RequestId>,
        answers: Vec<ServerJsonRpcMessage>,
    ) -> Option<PipeOutput> {
        if waiting.is_empty() {
            return (!answers.is_empty()).then_some(PipeOutput::Batch(answers));
        }
        self.0.push(OpenBatch { waiting, answers });
        None
    }

    /// Returns the output for `message`: the message itself, or all answers of its batch if it
    /// completes the batch.
    pub(super) fn output_for(&mut self, message: ServerJsonRpcMessage) -> Option<PipeOutput> {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        match id.filter(|id| self.0.iter().any(|batch| batch.waiting.contains(id))) {
            Some(id) => self.settle(&id, Some(message)),
            None => Some(PipeOutput::One(Box::new(message))),
        }
    }

    /// Removes the cancelled request `id` from its batch. Returns the batch's output if that
    /// completes it.
    pub(super) fn cancel(&mut self, id: &RequestId) -> Option<PipeOutput> {
        self.settle(id, None)
    }

    fn settle(&mut self, id: &RequestId, answer: Option<ServerJsonRpcMessage>) -> Option<PipeOutput> {
        let at = self.0.iter().position(|batch| batch.waiting.contains(id))?;
        let batch = &mut self.0[at];
        batch.waiting.remove(id);
        batch.answers.extend(answer);
        if !batch.waiting.is_empty() {
            return None;
        }
        let OpenBatch { answers, .. } = self.0.swap_remove(at);
        (!answers.is_empty()).then_some(PipeOutput::Batch(answers))
    }
}
