//! Tracks one exchange: the message of the user and the response of the model, until they are stored.

use std::sync::Arc;

use memory_core::conversation::ConversationId;

use super::chat_proxy::ChatProxy;
use super::reply::ReplyOutcome;
use super::request::CompletionRequest;
use super::turn_writer::{PendingWrite, QueuedTurn, TurnEvent};
use crate::http::request_log::{RequestTrace, StoredTurns};

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
    pub(super) fn begin(
        proxy: &Arc<ChatProxy>,
        asked: &CompletionRequest,
        trace: Option<RequestTrace>,
    ) -> Self {
        let latest = asked.latest.as_ref().filter(|latest| latest.is_storable());
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
    pub(super) fn store_question(&mut self) {
        if let Some(question) = self.question.clone().filter(|_| !self.is_asked) {
            self.enqueue(TurnEvent::Asked {
                question,
                is_under_way: self.is_under_way,
            });
            self.is_asked = true;
        }
    }

    /// Ends the exchange with the outcome of the response.
    ///
    /// Returns the write that the end of the response has to wait for, if the writer is behind. An error does not wait,
    /// since the client sends its message again.
    pub(super) fn end(mut self, outcome: ReplyOutcome) -> Option<PendingWrite> {
        self.store_question();
        self.has_ended = true;
        let question = self.question.take();
        let what = match outcome {
            ReplyOutcome::Said(answer) => TurnEvent::Answered { question, answer },
            ReplyOutcome::Unheard(_) => TurnEvent::Answered {
                question,
                answer: String::new(),
            },
            ReplyOutcome::Failed => TurnEvent::Unanswered,
        };
        let is_answered = matches!(what, TurnEvent::Answered { .. });
        let says_something =
            matches!(&what, TurnEvent::Answered { answer, .. } if !answer.is_empty());
        let has_turns = self.is_asked || says_something;
        if has_turns {
            self.enqueue(what);
        }
        self.record_stored(says_something);
        if has_turns && is_answered {
            self.proxy.scribe.pending_write(self.proxy.rules.patience)
        } else {
            None
        }
    }

    /// Ends the exchange after the response headers were sent.
    ///
    /// A failure to store is reported with the next response.
    pub(super) fn end_late(self, outcome: ReplyOutcome) -> Option<PendingWrite> {
        if let ReplyOutcome::Unheard(why) = outcome {
            self.proxy.report_unstored(&self.conversation, why);
        }
        self.end(outcome)
    }

    /// Records the number of turns once they are on the disk or in the database. The request is logged after that.
    ///
    /// A message that an earlier request stored is not counted again.
    fn record_stored(&self, is_answered: bool) {
        if let Some(trace) = self.trace.clone() {
            let turns = usize::from(self.is_asked && !self.is_under_way) + usize::from(is_answered);
            let (proxy, conversation) = (Arc::clone(&self.proxy), self.conversation.clone());
            self.proxy.scribe.after_writes(move || {
                let has_failed = proxy.scribe.storage_error(&conversation).is_some();
                trace.record_stored(if has_failed {
                    StoredTurns::Failed
                } else {
                    StoredTurns::Turns(turns)
                });
            });
        }
    }

    fn enqueue(&self, what: TurnEvent) {
        self.proxy.scribe.enqueue(QueuedTurn {
            conversation: self.conversation.clone(),
            what,
        });
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.has_ended {
            self.store_question();
            if self.is_asked {
                self.enqueue(TurnEvent::Unanswered);
            }
            self.record_stored(false);
        }
    }
}
