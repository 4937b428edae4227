//! What a person says and what the model answers, on the way to be kept.

use std::sync::Arc;

use memory_core::conversation::{ConversationId, EntryRole, Turn};

use super::desk::ChatProxy;
use super::request::Asked;
use super::scribe::Said;

/// What a person says and what the model answers. What the person says is kept whatever becomes of the answer, also if whoever asked is
/// gone or nobody answers; and once it is over, whoever makes something of it is told.
#[derive(Debug)]
pub(super) struct Exchange {
    proxy: Arc<ChatProxy>,
    conversation: ConversationId,
    question: Option<Turn>,
    /// Whether that was given to be kept.
    is_asked: bool,
    has_ended: bool,
}

impl Exchange {
    pub(super) fn begin(proxy: &Arc<ChatProxy>, asked: &Asked) -> Self {
        let turn = |role, text: &str, is_under_way| Turn { role, text: text.to_owned(), is_under_way };
        let question = asked.latest.as_ref().map(|latest| turn(EntryRole::User, &latest.text, !latest.is_new));
        let conversation = asked.conversation.clone();
        Self { proxy: Arc::clone(proxy), conversation, question, is_asked: false, has_ended: false }
    }

    /// Has what the person said kept from now on, beside all else.
    pub(super) fn keep_question(&mut self) {
        if let Some(question) = self.question.take() {
            self.keep(vec![question], false);
            self.is_asked = true;
        }
    }

    /// Ends with what the model said, if it said all. Nobody waits until it is kept.
    pub(super) fn end(mut self, answer: Option<String>) {
        self.keep_question();
        self.has_ended = true;
        let answer = answer.map(|text| Turn { role: EntryRole::Assistant, text, is_under_way: false });
        if self.is_asked || answer.is_some() {
            // What is kept later is kept behind it.
            self.keep(answer.into_iter().collect(), true);
        }
    }

    fn keep(&self, turns: Vec<Turn>, is_over: bool) {
        self.proxy.scribe.keep(Said { conversation: self.conversation.clone(), turns, is_over });
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.has_ended {
            self.keep_question();
            if self.is_asked {
                self.keep(Vec::new(), true);
            }
        }
    }
}
