//! The JSON of memories.

use memory_core::{
    InboxTtl, LinkReport, MemoryId, MemoryPage, OperationId, Origin, Problem, SpeakerRole,
    StoredMemory, Unlinked,
};
use serde::Serialize;
use serde_json::Value;

use super::{time, value};

#[derive(Serialize)]
pub(super) struct MemoryShape<'a> {
    id: String,
    content: &'a str,
    content_hash: String,
    phase: &'a str,
    category: &'a str,
    scope: String,
    tags: &'a [String],
    source: &'a str,
    created_at: String,
    updated_at: String,
    expires_at: Option<String>,
    access_count: u64,
    links: Vec<String>,
    version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    aliases: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    stated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_until: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    supersedes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summarised_by: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reminds: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notified_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snoozed_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<OriginShape<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_origins: Vec<OriginShape<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposed_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposed_action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposed_for: Option<String>,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ProblemShape<'a>>,
}

#[derive(Serialize)]
struct OriginShape<'a> {
    source: &'a str,
    root: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

#[derive(Serialize)]
struct ProblemShape<'a> {
    code: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    what: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

#[derive(Serialize)]
struct MemoriesShape<'a> {
    memories: Vec<MemoryShape<'a>>,
}

#[derive(Serialize)]
struct MemoryPageShape<'a> {
    memories: Vec<MemoryShape<'a>>,
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    degraded: Option<&'a str>,
}

/// Returns the JSON of a memory: all of its fields, and its path in the home.
///
/// `expires_at` is the expiry date of the memory, or the end of its time in the inbox; null if it never expires.
/// Present if not empty: `title`, `aliases`, `stated_at`, `valid_from`, `valid_until`, `supersedes`, `superseded_by`,
/// `summarised_by` (the operation that replaced the text by a summary), `origin` (`{source, root, path, hash?}`) and
/// `other_origins` (other files with the same text). `pinned` is present if true, and `problem` (`{code, path, line?,
/// what, hint?}`) if the file is damaged. A reminder has `due`, and if set `reminds` (the id of its memory),
/// `notified_at` and `done_at`; a recurring one has `repeats` (the words of its recurrence), and `snoozed_from` (the regular time
/// of its present occurrence) if that was snoozed. A proposal has `proposed_by`, `proposed_action` (`write`, `update` or `delete`) and, if it
/// changes another memory, `proposed_for`.
pub fn memory(stored: &StoredMemory, inbox_ttl: InboxTtl) -> Value {
    value(&MemoryShape::of(stored, inbox_ttl))
}

/// Returns the JSON of a memory for an export.
///
/// Like [`memory`], but `expires_at` is null unless the memory itself has an expiry date: an import stores it, and a
/// stored date would hide the memory from then on.
pub fn memory_for_export(stored: &StoredMemory) -> Value {
    value(&MemoryShape::of(stored, InboxTtl::UNLIMITED))
}

/// Returns the JSON of several memories: `{memories}`.
pub fn memories<'a>(all: impl IntoIterator<Item = &'a StoredMemory>, inbox_ttl: InboxTtl) -> Value {
    value(&MemoriesShape {
        memories: all
            .into_iter()
            .map(|stored| MemoryShape::of(stored, inbox_ttl))
            .collect(),
    })
}

/// Returns the JSON of a page of a list, with the total number: `{memories, total, degraded?}`.
pub fn page(page: &MemoryPage, inbox_ttl: InboxTtl) -> Value {
    let memories = page
        .memories
        .iter()
        .map(|stored| MemoryShape::of(stored, inbox_ttl))
        .collect();
    value(&MemoryPageShape {
        memories,
        total: page.total,
        degraded: page.degraded.as_deref(),
    })
}

impl<'a> MemoryShape<'a> {
    pub(super) fn of(stored: &'a StoredMemory, inbox_ttl: InboxTtl) -> Self {
        let memory = &stored.memory;
        let repeats = memory.recurrence();
        Self {
            id: memory.id.to_string(),
            content: &memory.content,
            content_hash: memory.content_hash().to_string(),
            phase: memory.phase.as_str(),
            category: memory.category.as_str(),
            scope: memory.scope.to_string(),
            tags: memory.tags.as_slice(),
            source: &memory.source,
            created_at: time::rfc3339(memory.created_at),
            updated_at: time::rfc3339(memory.updated_at),
            expires_at: inbox_ttl.expires_at(stored).map(time::rfc3339),
            access_count: memory.access_count,
            links: ids(&memory.links),
            version: memory.version,
            role: memory.role.map(SpeakerRole::as_str),
            title: memory.title.as_deref(),
            aliases: &memory.aliases,
            stated_at: memory.stated_at.map(time::rfc3339),
            valid_from: memory.valid_from.map(time::rfc3339),
            valid_until: memory.valid_until.map(time::rfc3339),
            supersedes: ids(&memory.supersedes),
            superseded_by: memory.superseded_by.map(|id| id.to_string()),
            summarised_by: memory.summarised_by.as_ref().map(OperationId::as_str),
            pinned: memory.pinned,
            due: memory
                .reminder
                .as_ref()
                .map(|reminder| time::rfc3339(reminder.due)),
            reminds: memory
                .reminder
                .as_ref()
                .and_then(|reminder| reminder.of)
                .map(|id| id.to_string()),
            notified_at: memory
                .reminder
                .as_ref()
                .and_then(|reminder| reminder.notified_at)
                .map(time::rfc3339),
            done_at: memory
                .reminder
                .as_ref()
                .and_then(|reminder| reminder.done_at)
                .map(time::rfc3339),
            repeats: repeats.map(|repeats| repeats.expression.as_str()),
            snoozed_from: repeats
                .and_then(|repeats| repeats.snoozed_from)
                .map(time::rfc3339),
            origin: memory.origin.as_ref().map(OriginShape::of),
            other_origins: memory.other_origins.iter().map(OriginShape::of).collect(),
            proposed_by: memory
                .proposal
                .as_ref()
                .map(|proposal| proposal.by.as_str()),
            proposed_action: memory
                .proposal
                .as_ref()
                .map(|proposal| proposal.action.as_str()),
            proposed_for: memory
                .proposal
                .as_ref()
                .and_then(|own| own.action.target())
                .map(|target| target.id.to_string()),
            path: &stored.path,
            problem: stored.problem.as_ref().map(ProblemShape::of),
        }
    }
}

impl<'a> OriginShape<'a> {
    fn of(origin: &'a Origin) -> Self {
        let Origin {
            source,
            root,
            path,
            hash,
        } = origin;
        Self {
            source,
            root,
            path,
            hash: hash.map(|hash| hash.to_string()),
        }
    }
}

impl<'a> ProblemShape<'a> {
    fn of(problem: &'a Problem) -> Self {
        let Problem {
            code,
            path,
            line,
            what,
            hint,
        } = problem;
        Self {
            code: code.as_str(),
            path,
            line: *line,
            what,
            hint: *hint,
        }
    }
}

fn ids(all: &[MemoryId]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

#[derive(Serialize)]
struct LinkReportShape<'a> {
    resolved: u64,
    unresolved: u64,
    updated: u64,
    unresolved_links: Vec<WikilinkShape<'a>>,
}

#[derive(Serialize)]
struct WikilinkShape<'a> {
    id: String,
    link: &'a str,
}

/// Returns the JSON of resolving all wikilinks.
///
/// `{resolved, unresolved, updated, unresolved_links: [{id, link}]}`; `updated` is a number of memories.
pub fn link_report(report: &LinkReport) -> Value {
    let LinkReport {
        resolved,
        unresolved,
        updated,
        unresolved_links,
    } = report;
    let links = unresolved_links.iter().map(|link| WikilinkShape {
        id: link.from.to_string(),
        link: &link.target,
    });
    value(&LinkReportShape {
        resolved: *resolved,
        unresolved: *unresolved,
        updated: *updated,
        unresolved_links: links.collect(),
    })
}

/// Returns the JSON of two unlinked memories: `{memories, wikilinks?: [{id, link}]}`.
///
/// `wikilinks` are those in the texts, which still link the two memories.
pub fn unlink_result(
    unlinked: &Unlinked,
    wikilinks: &[(MemoryId, String)],
    inbox_ttl: InboxTtl,
) -> Value {
    let mut shape = self::memories(&unlinked.memories, inbox_ttl);
    shape["changed"] = unlinked.changed.into();
    if !wikilinks.is_empty() {
        let links: Vec<_> = wikilinks
            .iter()
            .map(|(id, link)| WikilinkShape {
                id: id.to_string(),
                link,
            })
            .collect();
        shape["wikilinks"] = value(&links);
    }
    shape
}
