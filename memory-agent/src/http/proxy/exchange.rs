//! Tracks one exchange: the message of the user and the response of the model, until they are stored.

use std::sync::Arc;

use memory_core::conversation::ConversationId;

use super::desk::ChatProxy;
use super::reply::Outcome;
use super::request::Asked;
use super::scribe::{PendingWrite, Said, What};
use crate::http::request_log::{RequestTrace, Stored};

/// A message of the user and the response of the model.
///
/// The message is stored whatever happens to the response, also if the client disconnects or the upstream server does
/// not respond. When the exchange is over, fact extraction is notified.
#[derive(Debug)]
pub(super) struct Exchange {
    proxy: Arc<ChatProxy>,
    conversation: ConversationId,
    question: Option<Arc<str>>,
    is_under_way: bool,
    /// Whether the message of the user was handed to the writer.
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

    /// Hands the message of the user to the writer, which stores it in the background.
    pub(super) fn keep_question(&mut self) {
        if let Some(question) = self.question.clone().filter(|_| !self.is_asked) {
            self.keep(What::Asked { question, is_under_way: self.is_under_way });
            self.is_asked = true;
        }
    }

    /// Ends the exchange with the outcome of the response.
    ///
    /// Returns the write that the end of the response has to wait for, if the writer is behind. An error does not wait,
    /// since the client sends its message again.
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

    /// Ends the exchange after the response headers were sent.
    ///
    /// A failure to store is reported with the next response.
    pub(super) fn end_late(self, outcome: Outcome) -> Option<PendingWrite> {
        if let Outcome::Unheard(why) = outcome {
            self.proxy.unheard(&self.conversation, why);
        }
        self.end(outcome)
    }

    /// Records the number of turns handed to the writer.
    ///
    /// A message that an earlier request stored is not counted again.
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
