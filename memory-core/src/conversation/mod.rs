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
//! | let go of the oldest | [`evicted()`] |
//! | see to it that no turn is forgotten | [`enqueue()`], [`enqueue_rest()`], [`Job`], [`JobQueue`] |
//! | keep conversations somewhere else | [`ConversationStore`], and its suite in `testing` |

mod add;
mod choose;
mod enqueue;
mod entry;
mod evict;
mod facts;
mod id;
mod inject;
mod questions;
mod queue;
mod recall;
mod reconcile;
mod services;
mod shelf;
mod store;
mod summary;
mod wanted;

pub use add::{add, keep_turn, keep_turns, said};
pub use choose::{Candidate, RecallRules, Remembered, choose};
pub use enqueue::{enqueue, enqueue_rest};
pub use entry::{Entry, EntryId, EntryRole, MAX_CONTENT, SOURCE};
pub use evict::evicted;
pub use facts::{ReadFacts, read_facts};
pub use id::ConversationId;
pub use inject::{introduction, remembered_text};
pub use questions::Questions;
pub use queue::{Job, JobQueue, JobState, PendingJob, TakenUp};
pub use recall::{Recalled, neighbours, recall, recall_beside};
pub use reconcile::{Decision, Misread, added_facts, plan_facts, read_decisions};
pub use services::Conversations;
pub use shelf::Shelf;
pub use store::{ConversationStore, EntryChange, EntryVector};
pub use summary::{read_summary, summary_entry};
pub use wanted::Wanted;
