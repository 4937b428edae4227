//! What a person says and what the model answers, on the way to be kept.

use std::sync::Arc;
use std::time::Duration;

use memory_core::conversation::{ConversationId, EntryRole, Turn};
use tokio::time::timeout;

use super::desk::ChatProxy;
use super::request::Asked;
use super::scribe::{Kept, Said};

/// What a person says and what the model answers. What the person says is kept whatever becomes of the answer, also if whoever asked is
/// gone or nobody answers; and once it is over, whoever makes something of it is told.
#[derive(Debug)]
pub(super) struct Exchange {
    proxy: Arc<ChatProxy>,
    conversation: ConversationId,
    question: Option<Turn>,
    /// When that is kept.
    asked: Option<Kept>,
    has_ended: bool,
}

impl Exchange {
    pub(super) fn begin(proxy: &Arc<ChatProxy>, asked: &Asked) -> Self {
        let turn = |role, text: &str, is_under_way| Turn { role, text: text.to_owned(), is_under_way };
        let question = asked.latest.as_ref().map(|latest| turn(EntryRole::User, &latest.text, !latest.is_new));
        let conversation = asked.conversation.clone();
        Self { proxy: Arc::clone(proxy), conversation, question, asked: None, has_ended: false }
    }

    /// Has what the person said kept from now on, beside all else.
    pub(super) fn keep_question(&mut self) {
        if let Some(question) = self.question.take() {
            self.asked = Some(self.keep(vec![question], false));
        }
    }

    /// Ends with what the model said, if it said all. What is returned is done once all of it is kept or cannot be, or when that takes too
    /// long.
    pub(super) fn end(mut self, answer: Option<String>) -> impl Future<Output = ()> + Send + use<> {
        self.keep_question();
        self.has_ended = true;
        let answer = answer.map(|text| Turn { role: EntryRole::Assistant, text, is_under_way: false });
        let is_any = self.asked.is_some() || answer.is_some();
        // What is kept later is kept behind it.
        let kept = is_any.then(|| self.keep(answer.into_iter().collect(), true));
        within(self.proxy.rules.patience, kept)
    }

    fn keep(&self, turns: Vec<Turn>, is_over: bool) -> Kept {
        self.proxy.scribe.keep(Said { conversation: self.conversation.clone(), turns, is_over })
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.has_ended {
            self.keep_question();
            if self.asked.is_some() {
                drop(self.keep(Vec::new(), true));
            }
        }
    }
}

async fn within(patience: Duration, kept: Option<Kept>) {
    if let Some(kept) = kept {
        // What went wrong is told by whoever writes.
        let _ = timeout(patience, kept).await;
    }
}
