//! Conversations with a language model, and what is remembered of them: what was said, facts drawn from it, and a rolling summary.
//!
//! | you want to | look at |
//! |---|---|
//! | know what is kept | [`Entry`], [`EntryRole`], [`ConversationId`], [`Shelf`] |
//! | keep what is said, or facts | [`keep_turn()`], [`keep_turns()`], [`said()`], [`add()`] |
//! | keep once what is sent twice | [`Questions`] |
//! | know what a message calls to mind | [`recall()`], [`choose()`] |
//! | tell a language model of it | [`remembered_text()`], [`introduction()`] |
//! | believe a model's facts no more than one may | [`read_facts()`], [`read_decisions()`], [`plan_facts()`] |
//! | list conversations, or show one | [`list()`], [`show()`] |
//! | change or delete entries, and undo that | [`change()`], [`undo()`], [`restore()`], [`ConversationOperations`] |
//! | let go of the oldest | [`evicted()`] |
//! | see to it that no turn is forgotten | [`enqueue()`], [`enqueue_rest()`], [`Job`], [`JobQueue`] |
//! | keep conversations somewhere else | [`ConversationStore`], and its suite in `testing` |

mod add;
mod choose;
mod claim;
mod enqueue;
mod entry;
mod evict;
mod facts;
mod id;
mod indexed_text;
mod inject;
mod list;
mod operations;
mod questions;
mod queue;
mod recall;
mod reconcile;
mod services;
mod shelf;
mod speech_act;
mod store;
mod summary;
mod supersede;
mod wanted;

pub(crate) use claim::contradicts;
pub(crate) use speech_act::sentences;

pub use add::{add, keep_turn, keep_turns, said};
pub use choose::{Candidate, CandidateKind, RecallRules, Remembered, choose};
pub use enqueue::{enqueue, enqueue_rest};
pub use entry::{Entry, EntryId, EntryRole, MAX_CONTENT, SOURCE};
pub use evict::evicted;
pub use facts::{MAX_FACTS, ReadFacts, read_facts, read_facts_of_each};
pub use id::ConversationId;
pub use inject::{introduction, remembered_text};
pub use list::{ConversationContents, ConversationList, ConversationSummary, list, show};
pub use operations::{
    ConversationOperation, ConversationOperations, ConversationRecord, ConversationUndone, ConversationVerb, DeletedEntry,
    KeptConversations, change, last, mark_undone, restore, undo,
};
pub use questions::Questions;
pub use queue::{Job, JobQueue, JobState, PendingJob, TakenUp};
pub use recall::{Recalled, neighbours, recall, recall_beside};
pub use reconcile::{Decision, ExtractedFact, Misread, plan_facts, read_decisions};
pub use services::Conversations;
pub use shelf::Shelf;
pub use store::{ConversationStore, EntryChange, EntryVector};
pub use summary::{read_summary, summary_entry};
pub use wanted::{Wanted, WantedTerm};
