//! Tracks the current write error of each conversation.

use std::collections::HashMap;

use memory_core::conversation::ConversationId;
use memory_core::text::format_error_chain;
use memory_core::{Code, StoreError, ToolError};

/// The conversations with a write error that is not resolved yet.
#[derive(Debug, Default)]
pub(super) struct UnresolvedErrors(HashMap<ConversationId, UnresolvedError>);

#[derive(Debug)]
struct UnresolvedError {
    what: &'static str,
    code: Code,
    message: String,
}

impl UnresolvedErrors {
    /// Records an error of a conversation and returns the message to report.
    ///
    /// Returns `None` if the same operation failed with the same code before: two messages of the same error may
    /// contain different file names.
    pub(super) fn record(&mut self, conversation: &ConversationId, what: &'static str, error: &StoreError) -> Option<String> {
        let code = error.code();
        let is_known = self.0.get(conversation).is_some_and(|own| (own.what, own.code) == (what, code));
        self.0.insert(conversation.clone(), UnresolvedError { what, code, message: format!("{what}: {error}") });
        (!is_known).then(|| format!("{what}: {}", format_error_chain(error)))
    }

    /// Clears the error of a conversation.
    pub(super) fn clear(&mut self, conversation: &ConversationId) {
        self.0.remove(conversation);
    }

    /// Returns the error of a conversation, if it has one.
    pub(super) fn of(&self, conversation: &ConversationId) -> Option<ToolError> {
        let trouble = self.0.get(conversation)?;
        Some(ToolError::new(trouble.code, trouble.message.clone(), None))
    }
}
