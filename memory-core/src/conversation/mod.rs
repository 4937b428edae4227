//! Conversations with a language model: turns, the facts extracted from them, and a rolling summary.
//!
//! | task | items |
//! |---|---|
//! | the data model | [`Entry`], [`EntryRole`], [`ConversationId`], [`Shelf`] |
//! | store turns or facts | [`keep_turn()`], [`keep_turns()`], [`said()`], [`add()`] |
//! | deduplicate repeated requests | [`Questions`] |
//! | recall memories for a message | [`recall()`], [`choose()`] |
//! | format memories for a model | [`remembered_text()`], [`introduction()`] |
//! | validate the facts of a model | [`read_facts()`], [`read_decisions()`], [`plan_facts()`] |
//! | list conversations, or show one | [`list()`], [`show()`] |
//! | change or delete entries, and undo | [`change()`], [`undo()`], [`restore()`], [`ConversationOperations`] |
//! | evict the oldest entries | [`evicted()`] |
//! | queue turns for extraction | [`enqueue()`], [`enqueue_rest()`], [`Job`], [`JobQueue`] |
//! | implement another store | [`ConversationStore`], and its suite in `testing` |

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
