//! The domain of agent memory: its types, storage interfaces and use cases.
//!
//! This crate is the hub of the workspace. It contains the domain types, the traits that abstract the machine, the use
//! cases that every user interface calls, and the pure functions that make their decisions. Nothing here reads a disk or
//! the environment. [`Services`] injects the store, the clock and the source of ids; [`SystemClock`] and [`RandomIds`] are only
//! the defaults of [`Memories::builder`].
//!
//! | task | items |
//! |---|---|
//! | represent memories | [`Memory`], [`Phase`], [`Category`], [`Scope`] |
//! | write memories | [`write()`], [`update()`], [`revise()`], [`tag()`], [`link()`], [`ingest()`], [`import()`] |
//! | read and search memories | [`read()`], [`list()`], [`search()`], [`smart_search()`], [`backlinks()`] |
//! | count memories by attribute, and show how they are connected | [`facets()`], [`memory_map()`], [`neighbourhood()`] |
//! | review the activity of agents | [`OperationLogs`], [`sessions()`] |
//! | provide context for a language model | [`build_context()`], [`build_matching_context()`] |
//! | embed and rerank memories | [`embed()`], [`test_model()`], [`Embedder`], [`Reranking`] |
//! | record which memories agents received, and why | [`RecallLedger`], [`recalls()`], [`why()`], [`recall_statistics()`], [`unused_memories()`] |
//! | call a language model within a budget | [`ChatModel`], [`MeteredModel`], [`Meter`], [`usage()`], [`parse_json_answer()`] |
//! | parse dates and times in text | [`datetime::find_date()`], [`datetime::find_dates()`] |
//! | manage reminders | [`remind()`], [`reminders()`], [`notify()`], [`snooze()`], [`done()`] |
//! | delete and undo | [`delete()`], [`change_many()`], [`undo()`], [`restore()`] |
//! | store JSON under keys, and query it with jq | [`bank`], [`json`] |
//! | read front matter, and show Markdown as safe HTML | [`front_matter`], and `yaml` and `html`, which are features |
//! | store session history, or values under keys | [`instance`] |
//! | store topics, and an index of them for every prompt | [`topic`] |
//! | store conversations and the facts derived from them | [`conversation`] |
//! | store memories in main memory | [`MemStore`] |
//! | implement another store | [`MemoryStore`] and [`History`], and their suites in `testing` |

#![forbid(unsafe_code)]

#[doc(hidden)]
#[macro_use]
pub mod language;
#[macro_use]
mod text_type;

mod activity;
mod budget;
mod change;
mod chat;
mod clock;
mod code;
mod embedder;
mod error;
mod facets;
mod fence;
mod filter;
mod history;
mod inbox_ttl;
mod local_zone;
mod mem_store;
mod memory;
mod memory_history;
mod memory_map;
mod memory_summary;
mod meter;
mod model_test;
mod operation;
mod passages;
mod principal;
mod query;
mod recall_ledger;
mod recall_statistics;
mod reranking;
mod services;
mod source;
pub mod spelling;
mod store;
mod store_health;
mod supersede;
mod time_range;
mod tool;
mod view;

mod change_many;
mod commit;
mod context;
mod earlier;
mod embed;
mod import;
mod index_page;
mod ingest;
mod link;
mod log;
mod memories;
mod merge;
mod neighbourhood;
mod notify;
mod overview;
mod passage;
mod read;
mod recalls;
mod refinement_plan;
mod remind;
mod reminders;
mod review;
mod search;
mod smart_search;
mod tag;
mod undo;
mod update;
mod upgrade;
mod usage;
mod write;

pub mod bank;
pub mod conversation;
pub mod datetime;
pub mod front_matter;
#[cfg(feature = "html")]
pub mod html;
pub mod instance;
pub mod json;
pub mod query_parser;
pub mod rank;
pub mod secret;
pub mod standing;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod topic;
pub mod wikilink;
#[cfg(feature = "yaml")]
pub mod yaml;

pub use activity::{ActivitySummary, AgentSession, sessions};
pub use budget::{Budget, BudgetExceeded, BudgetLimit, BudgetStatus, LlmUsage, RemainingBudget};
pub use change::{
    Change, ChangeOutcome, ChangeSet, Duplicates, ExportedFile, FileVersion, HomeSection,
    StoredMemory,
};
pub use change_many::{BulkChange, BulkResult, change_many};
pub use chat::{
    ChatAnswer, ChatError, ChatFailure, ChatMessage, ChatModel, ChatRequest, ChatRole,
    JsonAnswerError, MeteredModel, Purpose, TokenUsage, parse_json_answer,
};
pub use clock::{Clock, IdSource, RandomIds, SystemClock};
pub use code::{Code, Fault};
pub use commit::{Refinement, RefinementUnit, RefusedUnit, SecretPolicy};
pub use context::{
    ClientContext, ClientMoment, Context, MIN_USEFULNESS, OmissionReason, OmittedMatch,
    ShownMemories, build_client_context, build_context, build_matching_context,
    build_standing_context, fit_budget,
};
pub use earlier::{may_replace_note, replaces_note};
pub use embed::{EmbedReport, TextVector, embed, embed_newest, embedded_text};
pub use embedder::{EmbedError, Embedder, Embedding, is_nonzero};
pub use error::{LockHolder, Problem, StoreError, UnsupportedDrive, io_hint};
pub use facets::{
    FacetCounter, FacetCounts, MAX_FACET_VALUES, facets, first_of_month, sort_facet,
    tags_and_parents,
};
pub use fence::escape_tags;
pub use filter::{Filter, Lifetime, ProposalFilter};
pub use history::{
    ChangedFiles, History, LARGE_OPERATION, OperationRecord, RecordedChange, RecordedFile,
    RevertedFiles, TrashedFile,
};
pub use import::{ExportedMemory, ImportError, ImportSummary, import, preview_import};
pub use inbox_ttl::InboxTtl;
pub use index_page::{INDEX_PAGE_HEAD, index_page, index_page_without};
pub use ingest::{
    FactError, FactExtractor, IngestError, IngestOptions, IngestReport, LinkCounts, MissingNote,
    Progress, SessionCounts, SkippedFile, ingest,
};
pub use link::{
    LinkReport, Unlinked, UnresolvedLink, backlinks, link, outgoing_links, resolve_links,
    resolve_links_both_ways, resolve_own_links, resolve_wikilink, unlink, wikilinks_between,
};
pub use local_zone::{LocalOffset, LocalTime, LocalZone};
pub use log::{LogEntry, LogError, OperationLogs, Subject, UndoneOperation};
pub use mem_store::MemStore;
pub use memories::{Memories, MemoriesBuilder};
pub use memory::{
    AgentName, Category, ContentHash, ContentHasher, Draft, MAX_INPUT_SIZE, MAX_MEMORY_SIZE,
    MEMORY_KEYS, Memory, MemoryId, OperationId, Origin, ParseError, Patch, Phase, Proposal,
    ProposalTarget, ProposedAction, Recurrence, Reminder, ReminderQuery, Scope, SpeakerRole, Tags,
};
pub use memory_history::{
    ChangeVersions, MemoryHistory, MemoryStep, change_versions, memory_at, memory_history,
};
pub use memory_map::{
    ConnectedMemory, Connections, MAX_MAP_MEMORIES, MapGroup, MapMemory, MapSubject, MemoryMap,
    memory_map,
};
pub use memory_summary::{CachedAnalysis, MemorySummary};
pub use merge::{MemoryMerge, MergeOptions, merge, plan_merge};
pub use meter::{Meter, MeterError, Reservation, Spending, SpendingEntry};
pub use model_test::{ModelTest, ModelVerdict, SearchQuality, test_model};
pub use neighbourhood::{
    GraphEdge, GraphNode, GraphSubject, MAX_NODES, Neighbourhood, NeighbourhoodCentre,
    neighbourhood,
};
pub use notify::{Notification, Notifier, NotifyError, NotifyReport, notify};
pub use operation::{
    Operation, Recorded, Undone, Verb, find_by_prefix, find_undoable, mark_undone,
    mark_undone_lazily,
};
pub use overview::{Overview, overview};
pub use passage::{PassageSelector, SelectedPassage, missing_words};
pub use passages::{MAX_PASSAGES, embedded_passages, passages};
pub use principal::{
    AccessLevel, PRINCIPAL_TOKEN_PREFIX, PrincipalAccess, PrincipalKind, PrincipalName,
    PrincipalSource, PrincipalTokens,
};
pub use query::{
    Hit, ListOrder, MatchCoverage, MemoryPage, PageRequest, Query, QueryVector, RankFeatureScore,
    Ranking, RerankScore, ScoreExplanation, SearchRequest, SearchResults, TermScore,
};
pub use read::{count_accesses, count_received, list, read};
pub use recall_ledger::{
    CollectedRecall, RecallCollector, RecallFilter, RecallInterface, RecallLedger, RecallRecord,
    RecalledId, record_recall,
};
pub use recall_statistics::{RecallStatistics, RecallTotal, first_of_week, recall_statistics};
pub use recalls::{
    MemoryRecalls, RecallList, UNUSED_AFTER, UnusedMemories, recalls, unused_memories, why,
};
pub use refinement_plan::{
    AppliedRefinement, ExpiringMemory, PlannedAction, PlannedRefinement, RefinementPlanner,
};
pub use remind::{
    DueTime, RemindReport, WrittenReminder, due, next_occurrence, parse_due_time, parse_reminder,
    recurrence_words, remind, remind_of_memory, reminder_id, reminder_memory, unused_times,
    write_reminder,
};
pub use reminders::{
    PENDING_PAGE_HEAD, ReminderFilter, done, end_series, pending, reminders, snooze,
};
pub use reranking::{RerankError, Reranker, Reranking};
pub use review::{
    AcceptOptions, AcceptResult, Acceptance, AcceptancePreview, LONG_WAIT, Neighbour,
    NeighbourFinder, NeighbourRelation, OperationSubject, ProposalEnd, ProposalSummary,
    ReviewPolicy, ReviewRule, ScopePattern, StaleProposals, SubmittedProposal, SubmittedProposals,
    WaitingProposal, WritePolicy, accept, edit_proposal, operation_subject, preview_acceptance,
    proposal, proposal_end, proposal_summary, proposals, reject,
};
pub use search::search;
pub use services::Services;
pub use smart_search::{SmartSearchResults, smart_search};
pub use source::{
    ExportedVersion, FormerFields, NoteItem, Source, SourceError, SourceItem, SourceSession,
    SourceSessionItem, StatedLinks,
};
pub use store::{MemoryStore, MemoryStoreExt, NameMatch, StoreResults};
pub use store_health::{DatabaseFigures, ReplicaStatus, StoreHealth};
pub use tag::tag;
pub use time_range::{
    MAX_TIME, MIN_TIME, add_time, parse_day, parse_day_as, parse_rfc3339, subtract_time, valid_time,
};
pub use tool::{AnswerDetail, Effect, Tool, ToolContext, ToolError};
pub use undo::{
    UndoObstacle, UndoReport, delete, find_full_text, find_trashed, is_in_trash, restore, undo,
    undo_last_change, undo_obstacle,
};
pub use update::{Revision, pin, revise, unpin, update};
pub use upgrade::{FiledReminder, upgrade, upgrade_to_reminder};
pub use usage::{PeriodUsage, Usage, usage};
pub use view::View;
pub use write::{MergedFields, WriteResult, write};

/// The crates whose types are part of public signatures.
pub use {chrono, serde_json, uuid};
