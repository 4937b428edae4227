//! The domain of agent memory: its types, storage interfaces and use cases.
//!
//! This crate is the hub of the workspace. It contains the domain types, the traits that abstract the machine, the use
//! cases that every user interface calls, and the pure functions that make their decisions. Nothing here reads a disk,
//! a clock, a random number or the environment; [`Services`] injects them.
//!
//! | task | items |
//! |---|---|
//! | represent memories | [`Memory`], [`Phase`], [`Category`], [`Scope`] |
//! | write memories | [`write()`], [`update()`], [`revise()`], [`tag()`], [`link()`], [`ingest()`], [`import()`] |
//! | read and search memories | [`read()`], [`list()`], [`search()`], [`smart_search()`], [`backlinks()`] |
//! | provide context for a language model | [`context()`] |
//! | embed and rerank memories | [`embed()`], [`test_model()`], [`Embedder`], [`Embeddings`], [`Reranking`] |
//! | call a language model within a budget | [`ChatModel`], [`Metered`], [`Meter`], [`usage()`], [`json_answer()`] |
//! | parse dates and times in text | [`when::when()`], [`when::readings()`] |
//! | manage reminders | [`remind()`], [`reminders()`], [`notify()`], [`snooze()`], [`done()`] |
//! | delete and undo | [`delete()`], [`undo()`], [`restore()`] |
//! | store JSON under keys, and query it with jq | [`bank`], [`json`] |
//! | store session history, or values under keys | [`instance`] |
//! | store topics, and an index of them for every prompt | [`topic`] |
//! | store conversations and the facts derived from them | [`conversation`] |
//! | implement another store | [`MemoryStore`], and its suite in `testing` |

#![forbid(unsafe_code)]

mod budget;
mod change;
mod chat;
mod clock;
mod code;
mod embedder;
mod embeddings;
mod error;
mod fence;
mod filter;
mod history;
mod inbox_ttl;
mod local_zone;
mod memory;
mod meter;
mod model_test;
mod notifier;
mod outline;
mod place;
mod query;
mod reranker;
mod reranking;
mod services;
mod source;
mod store;
mod tool;
mod view;

mod backlinks;
mod commit;
mod context;
mod delete;
mod due;
mod embed;
mod import;
mod index_page;
mod ingest;
mod link;
mod list;
mod log;
mod notify;
mod overview;
mod pending;
mod pin;
mod read;
mod refine;
mod remind;
mod reminders;
mod revise;
mod search;
mod smart_search;
mod snooze;
mod tag;
mod undo;
mod update;
mod upgrade;
mod usage;
mod write;

pub mod bank;
pub mod conversation;
pub mod instance;
pub mod json;
pub mod question;
pub mod rank;
pub mod secret;
pub mod standing;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod topic;
pub mod when;
pub mod wikilink;

pub use backlinks::backlinks;
pub use budget::{Allowance, Budget, Left, Limit, Shortage, Spent};
pub use change::{Change, Duplicates, ExportedFile, Operation, OperationId, Outcome, Stamp, Verb};
pub use chat::{
    Answer, ChatError, ChatModel, ChatModelExt, ChatRequest, Message, Metered, NoJson, Purpose, Role, Tokens, Trouble,
    json_answer,
};
pub use clock::{Clock, IdSource};
pub use code::{Code, Fault};
pub use commit::{Refused, Secrets};
pub use context::{Context, Given, context, fit_budget, standing_context};
pub use delete::delete;
pub use due::{Due, due};
pub use embed::{EmbedReport, embed};
pub use embedder::{EmbedError, Embedder, Embedding, has_direction};
pub use embeddings::{Embeddings, TextVector, embedded_text};
pub use error::{Problem, StoreError};
pub use filter::{Filter, Lifetime};
pub use history::{History, Record, RecordedChange, RecordedFile, Trashed};
pub use import::{Exported, ImportError, Imported, import};
pub use inbox_ttl::InboxTtl;
pub use index_page::{INDEX_PAGE_HEAD, index_page, index_page_without};
pub use ingest::{IngestReport, LinkCounts, Progress, Skipped, ingest};
pub use link::{
    LinksResolved, UnresolvedLink, link, resolve_links, resolve_links_in, resolve_links_of, unlink, wikilinks_between,
};
pub use list::list;
pub use local_zone::{LocalOffset, LocalTime, LocalZone};
pub use log::{LogError, Logged, TakenBack, log, take_back};
pub use memory::{
    AgentName, Category, ContentHash, ContentHasher, Draft, Memory, MemoryId, Origin, ParseError, Patch, Phase, Reminder,
    Reminders, Scope, SpeakerRole, Tags,
};
pub use meter::{Meter, MeterError, Reservation, Spending, SpentOn};
pub use model_test::{Findings, ModelTest, ModelVerdict, test_model};
pub use notifier::{Notification, Notifier, NotifyError};
pub use notify::{Notified, notify};
pub use outline::{Impression, Outline, Outlines};
pub use overview::overview;
pub use pending::pending;
pub use pin::{pin, unpin};
pub use place::Place;
pub use query::{
    Asked, Explanation, Found, Hit, Order, Page, PartScore, Query, QuestionVector, Ranking, RerankScore, Slice, TermScore,
};
pub use read::read;
pub use refine::{Refinement, Unit};
pub use remind::{Reminded, WrittenReminder, remind, remind_of, reminder_id, reminder_in, reminder_of, write_reminder};
pub use reminders::{ReminderFilter, reminders};
pub use reranker::{RerankError, Reranker};
pub use reranking::Reranking;
pub use revise::{Revision, revise};
pub use search::search;
pub use services::Services;
pub use smart_search::{SmartFound, smart_search};
pub use snooze::{done, snooze};
pub use source::{Finding, Source, SourceError};
pub use store::{Called, MemoryStore, MemoryStoreExt, Names, Stored};
pub use tag::tag;
pub use tool::{Effect, Tool, ToolContext, ToolError};
pub use undo::{Undone, restore, undo, whole_text};
pub use update::update;
pub use upgrade::{FiledReminder, upgrade, upgrade_to_reminder};
pub use usage::{Costs, Usage, usage};
pub use view::View;
pub use write::{Merged, Written, write};
