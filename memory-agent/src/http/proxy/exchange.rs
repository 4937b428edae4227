//! What a person says and what the model answers, on the way to be kept.

use std::sync::Arc;

use memory_core::conversation::ConversationId;

use super::desk::ChatProxy;
use super::reply::Outcome;
use super::request::Asked;
use super::scribe::{PendingWrite, Said, What};
use crate::http::request_log::{RequestTrace, Stored};

/// What a person says and what the model answers. What the person says is kept whatever becomes of the answer, also if whoever asked is
/// gone or nobody answers; and once it is over, whoever makes something of it is told.
#[derive(Debug)]
pub(super) struct Exchange {
    proxy: Arc<ChatProxy>,
    conversation: ConversationId,
    question: Option<Arc<str>>,
    is_under_way: bool,
    /// Whether the question was given to be kept.
    is_asked: bool,
    has_ended: bool,
    trace: Option<RequestTrace>,
}

impl Exchange {
    pub(super) fn begin(proxy: &Arc<ChatProxy>, asked: &Asked, trace: Option<RequestTrace>) -> Self {
        let latest = asked.latest.as_ref().filter(|latest| latest.can_be_kept());
        Self {
            proxy: Arc::clone(proxy),
            conversation: asked.conversation.clone(),
            question: latest.map(|latest| Arc::from(latest.text.as_str())),
            is_under_way: latest.is_some_and(|latest| !latest.is_new),
            is_asked: false,
            has_ended: false,
            trace,
        }
    }

    /// Has what the person said kept from now on, beside all else.
    pub(super) fn keep_question(&mut self) {
        if let Some(question) = self.question.clone().filter(|_| !self.is_asked) {
            self.keep(What::Asked { question, is_under_way: self.is_under_way });
            self.is_asked = true;
        }
    }

    /// Ends with what became of the answer. Returns what the end of the answer has to wait for, if the writer is behind; an error does not
    /// wait, since the client sends its question again.
    pub(super) fn end(mut self, outcome: Outcome) -> Option<PendingWrite> {
        self.keep_question();
        self.has_ended = true;
        let question = self.question.take();
        let what = match outcome {
            Outcome::Said(answer) => What::Answered { question, answer },
            Outcome::Unheard(_) => What::Answered { question, answer: String::new() },
            Outcome::Failed => What::Unanswered,
        };
        let is_answered = matches!(what, What::Answered { .. });
        let says_something = matches!(&what, What::Answered { answer, .. } if !answer.is_empty());
        let has_turns = self.is_asked || says_something;
        if has_turns {
            self.keep(what);
        }
        self.note_stored(says_something);
        if has_turns && is_answered { self.proxy.scribe.pending_write(self.proxy.rules.patience) } else { None }
    }

    /// Ends with what became of an answer whose head is gone, so that only the next one can say that it is not kept.
    pub(super) fn end_late(self, outcome: Outcome) -> Option<PendingWrite> {
        if let Outcome::Unheard(why) = outcome {
            self.proxy.unheard(&self.conversation, why);
        }
        self.end(outcome)
    }

    /// Notes how many turns were handed over to be stored; one that was stored before, on the way to its answer, does not count again.
    fn note_stored(&self, is_answered: bool) {
        if let Some(trace) = &self.trace {
            let turns = usize::from(self.is_asked && !self.is_under_way) + usize::from(is_answered);
            let has_failed = self.proxy.scribe.trouble(&self.conversation).is_some();
            trace.stored(if has_failed { Stored::Failed } else { Stored::Turns(turns) });
        }
    }

    fn keep(&self, what: What) {
        self.proxy.scribe.keep(Said { conversation: self.conversation.clone(), what });
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.has_ended {
            self.keep_question();
            if self.is_asked {
                self.keep(What::Unanswered);
            }
            self.note_stored(false);
        }
    }
}
