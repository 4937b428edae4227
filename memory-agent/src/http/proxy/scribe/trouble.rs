//! Why something could not be kept.

use std::collections::HashMap;

use memory_core::conversation::ConversationId;
use memory_core::text::with_causes;
use memory_core::{Code, StoreError, ToolError};

/// What is wrong in each conversation, as long as it is.
#[derive(Debug, Default)]
pub(super) struct Troubles(HashMap<ConversationId, Trouble>);

#[derive(Debug)]
struct Trouble {
    what: &'static str,
    code: Code,
    message: String,
}

impl Troubles {
    /// Takes note of what could not be done in a conversation. Returns how to tell it, unless the same was told of it last: two messages of
    /// the same thing may name other files.
    pub(super) fn begin(&mut self, conversation: &ConversationId, what: &'static str, error: &StoreError) -> Option<String> {
        let code = error.code();
        let is_known = self.0.get(conversation).is_some_and(|own| (own.what, own.code) == (what, code));
        self.0.insert(conversation.clone(), Trouble { what, code, message: format!("{what}: {error}") });
        (!is_known).then(|| format!("{what}: {}", with_causes(error)))
    }

    /// Takes note that all was done.
    pub(super) fn end(&mut self, conversation: &ConversationId) {
        self.0.remove(conversation);
    }

    /// Returns what is wrong in a conversation, if something is.
    pub(super) fn of(&self, conversation: &ConversationId) -> Option<ToolError> {
        let trouble = self.0.get(conversation)?;
        Some(ToolError::new(trouble.code, trouble.message.clone(), None))
    }
}
