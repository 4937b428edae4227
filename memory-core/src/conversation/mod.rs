//! Conversations with a language model: turns, the facts extracted from them, and a rolling summary.
//!
//! | task | items |
//! |---|---|
//! | the data model | [`ConversationEntry`], [`EntryRole`], [`ConversationId`], [`ConversationIndex`] |
//! | store turns or facts | [`store_turn()`], [`store_turns()`], [`new_turn()`], [`add()`] |
//! | deduplicate repeated requests | [`RecentQuestions`] |
//! | recall memories for a message | [`recall()`], [`add_standing()`], [`select_memories()`] |
//! | format memories for a model | [`format_memories()`], [`message_prefix()`] |
//! | validate the facts of a model | [`parse_facts()`], [`parse_decisions()`], [`plan_facts()`] |
//! | list conversations, or show one | [`list()`], [`show()`] |
//! | change or delete entries, and undo | [`change()`], [`undo()`], [`restore()`], [`ConversationOperations`] |
//! | evict the oldest entries | [`plan_eviction()`] |
//! | queue turns for extraction | [`enqueue()`], [`enqueue_missing()`], [`Job`], [`JobQueue`] |
//! | implement another store | [`ConversationStore`], and its suite in `testing` |
//!
//! All decisions here are pure: the memories for a message, the prompts for a language model, the accepted parts
//! of its responses, and the effect of new facts on known ones. Relevance is between 0 and 1 on one scale, so
//! that a threshold has the same meaning in every conversation, with and without a model.
//!
//! If no model extracts facts, a turn of the user that states something is used as a fact. Facts rank among
//! facts, and only they determine how common a word is; requests and responses rank behind them. The claim of a
//! text determines which texts repeat it and which later one contradicts it. If a model replaces or deletes a
//! fact, the tombstone names its turn (`source_id`), which is then superseded. Entries that are about to be
//! returned are checked once more.

mod add;
mod claim;
mod entry;
mod facts;
mod id;
mod index;
mod indexed_text;
mod inject;
mod list;
mod operations;
mod questions;
mod queue;
mod recall;
mod recall_query;
mod reconcile;
mod selection;
mod speech_act;
mod standing;
mod store;
mod summary;

pub(crate) use claim::StatementClaims;
pub use claim::{contradicts, denies};

pub use add::{add, new_turn, plan_eviction, store_turn, store_turns};
pub use entry::{ConversationEntry, EntryId, EntryRole, EntryVector, MAX_CONTENT, SOURCE};
pub use facts::{AnswerParseError, MAX_FACTS, ParsedFacts, parse_facts, parse_facts_by_message};
pub use id::ConversationId;
pub use index::ConversationIndex;
pub use inject::{format_memories, message_prefix};
pub use list::{ConversationContents, ConversationList, ConversationSummary, list, show};
pub use operations::{
    ConversationLocation, ConversationOperations, ConversationRecord, ConversationSubject,
    ConversationUndoReport, DeletedEntry, change, last, restore, undo,
};
pub use questions::RecentQuestions;
pub use queue::{EnqueuedTurns, Job, JobQueue, JobState, PendingJob, enqueue, enqueue_missing};
pub use recall::{
    RecallResult, RecalledStanding, StandingOrigin, recall, recall_with_unwritten, similar_facts,
};
pub use recall_query::{RecallQuery, RecallTerm};
pub use reconcile::{ExtractedFact, FactDecision, parse_decisions, plan_facts};
pub use selection::{
    RecallCandidate, RecallMatchKind, RecallRules, RecalledMemory, select_memories,
};
pub(crate) use speech_act::framing_words;
pub use speech_act::is_courtesy;
pub use standing::{StandingRequest, add_standing};
pub use store::{ConversationStore, Conversations, EntryChange};
pub use summary::{check_summary, parse_summary, summary_entry};
