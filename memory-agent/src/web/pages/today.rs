//! The start page.
//!
//! Purpose: in one minute a day, a person sees what agents did and decides what only a person can decide.
//! The first thing they see is what agents asked, learned and changed since the last visit, then what waits, most urgent first.
//! Actions by frequency: accept or reject a proposal, complete a reminder, decide between two memories, merge duplicates, keep a memory
//! that expires, confirm or delete one old memory. Each decision is one key: `a` for the first button of an item, `r` for the second.
//! Sections without content are left out, and beside each item one sentence names the evidence.
//! An empty home starts here with three buttons: write, import, connect an assistant.

use std::fmt;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Utc};
use memory_core::{
    Code, Filter, HomeSection, ListOrder, MemoryStoreExt, PageRequest, Patch, Phase, PlannedAction,
    ProposalFilter, ProposedAction, ReminderFilter, SecretPolicy, StoreError, StoredMemory,
    UNUSED_AFTER, WaitingProposal, count_accesses, delete, list, preview_acceptance, proposal,
    reminders, subtract_time, update,
};

use super::agent_summary::AgentSummary;
use super::inbox_item::{ItemVersion, MAX_HEADLINE, filing_category};
use super::inbox_plan::{duplicate_links, is_open, reject_suggestions, rejected_keys};
use crate::web::cached_views::{EXPIRING_DAYS, PlannedWork};
use crate::web::card::MemoryCard;
use crate::web::conflict::{COMPARED, MemoryConflict, conflict_key};
use crate::web::diff::render_diff;
use crate::web::error::{PageError, render};
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

/// The path of the page.
const PATH: &str = "/today";

/// Number of items of a section.
const MAX_ITEMS: usize = 3;

/// Time between two requests after which the second one is another visit.
const VISIT_GAP: TimeDelta = TimeDelta::minutes(30);

/// Time that the page covers before the first visit.
const FIRST_SPAN: TimeDelta = TimeDelta::days(7);

/// Maximum time that the page covers.
const MAX_SPAN: TimeDelta = TimeDelta::days(30);

/// Number of old memories of which the least used one is shown on a day.
const OLD_CANDIDATES: usize = 12;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route(PATH, get(show))
        .route("/today/conflict", post(decide_conflict))
        .route("/today/old", post(decide_old))
}

/// What the page remembers of earlier visits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct VisitState {
    /// The time of the last request of the previous visit.
    previous: Option<DateTime<Utc>>,
    /// The time of the last request.
    last: Option<DateTime<Utc>>,
    /// The last day on which the person decided on the old memory.
    decided: Option<NaiveDate>,
}

impl VisitState {
    /// Parses a text that [`fmt::Display`] wrote. Lines that are not understood are left out.
    fn parse(text: &str) -> Self {
        let value = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        };
        Self {
            previous: value("previous").and_then(|text| text.parse().ok()),
            last: value("last").and_then(|text| text.parse().ok()),
            decided: value("decided").and_then(|text| text.parse().ok()),
        }
    }

    /// Returns the state after a request at `now`.
    fn visited(self, now: DateTime<Utc>) -> Self {
        let is_new_visit = self.last.is_some_and(|last| VISIT_GAP < now - last);
        Self {
            previous: if is_new_visit {
                self.last
            } else {
                self.previous
            },
            last: Some(now),
            ..self
        }
    }

    fn load(request: &WebRequest) -> Self {
        Self::parse(&request.web.config.host.start_page_state())
    }

    /// Stores the state. Without it, the page only covers another time.
    fn store(&self, request: &WebRequest) {
        let _ = request
            .web
            .config
            .host
            .store_start_page_state(&self.to_string());
    }
}

impl fmt::Display for VisitState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, time) in [("previous", self.previous), ("last", self.last)] {
            if let Some(time) = time {
                writeln!(formatter, "{name} {}", time.to_rfc3339())?;
            }
        }
        match self.decided {
            Some(day) => writeln!(formatter, "decided {day}"),
            None => Ok(()),
        }
    }
}

#[derive(Template)]
#[template(path = "today.html")]
struct TodayPage {
    layout: Layout,
    /// Whether the home has no memory.
    is_empty: bool,
    /// The number of memories, as text.
    count: String,
    /// The time of the previous visit; `None` if it is unknown or long ago.
    since: Option<TimeLabel>,
    /// The number of days that the page covers without a previous visit.
    days: i64,
    agents: Vec<AgentSummary>,
    proposals: Vec<ProposalRow>,
    waiting: u64,
    due: Vec<DueRow>,
    due_count: u64,
    conflicts: Vec<ConflictRow>,
    conflict_count: usize,
    /// Number of memories that were compared with the others.
    compared: usize,
    duplicates: Vec<DuplicateRow>,
    duplicate_count: usize,
    expiring: Vec<ExpiringRow>,
    expiring_count: usize,
    expiring_days: i64,
    /// The old memory of the day.
    old: Option<MemoryCard>,
    /// Whether the review is made for the first time.
    is_reviewing: bool,
}

/// A proposal of an agent.
struct ProposalRow {
    item: String,
    card: MemoryCard,
    by: Label,
    /// What the agent proposes: `to add`, `to change` or `to delete`.
    action: &'static str,
    /// The memory that it changes or deletes.
    target: Option<(String, Label)>,
    diff: Option<SafeHtml>,
    /// The category of a new memory.
    category: Option<&'static str>,
    /// Whether the memory that it changes was changed or deleted since.
    is_stale: bool,
}

impl ProposalRow {
    fn new(request: &WebRequest, waiting: &WaitingProposal) -> Result<Self, PageError> {
        let own = &waiting.stored.memory;
        let planner = request.web.config.host.planner(request.services.clone());
        let (action, category) = match waiting.proposal.action {
            ProposedAction::Write => (
                "to add",
                Some(filing_category(planner.as_ref(), own).as_str()),
            ),
            ProposedAction::Update(_) => ("to change", None),
            ProposedAction::Delete(_) => ("to delete", None),
        };
        let diff = preview_acceptance(&request.services, waiting)?
            .filter(|preview| preview.before.content != preview.after.content)
            .map(|preview| render_diff(&preview.before.content, &preview.after.content));
        Ok(Self {
            item: ItemVersion::of(&waiting.stored),
            card: MemoryCard::new(request, &waiting.stored),
            by: Label::cut(&waiting.proposal.by, 60),
            action,
            target: waiting.target.as_ref().map(|target| {
                (
                    format!("/memories/{}", target.memory.id),
                    Label::cut(target.memory.headline(), MAX_HEADLINE),
                )
            }),
            diff,
            category,
            is_stale: waiting.is_stale,
        })
    }
}

/// A reminder that is due.
struct DueRow {
    id: String,
    card: MemoryCard,
    due: TimeLabel,
}

/// Two memories that cannot both hold.
struct ConflictRow {
    key: String,
    newer: MemoryCard,
    older: MemoryCard,
    is_update: bool,
}

/// A memory and its duplicates.
struct DuplicateRow {
    key: String,
    path: String,
    headline: Label,
    duplicates: Vec<(String, Label)>,
    is_text_added: bool,
}

/// A memory that automatic work will remove.
struct ExpiringRow {
    path: String,
    headline: Label,
    day: NaiveDate,
    why: &'static str,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| Ok(render(&today_page(request)?)))
        .await
}

fn today_page(request: &WebRequest) -> Result<TodayPage, PageError> {
    let now = request.services.clock.now();
    let mut state = VisitState::load(request);
    if !request.is_update {
        state = state.visited(now);
        state.store(request);
    }
    let earliest = subtract_time(now, MAX_SPAN);
    let since = state.previous.filter(|previous| earliest <= *previous);
    let span = match state.previous {
        Some(_) => MAX_SPAN,
        None => FIRST_SPAN,
    };
    let from = since.unwrap_or_else(|| subtract_time(now, span));
    let all = count(request, &Filter::all())?;
    let (proposals, waiting) = proposal_rows(request)?;
    let due = reminders(&request.services, ReminderFilter::Due, Some(MAX_ITEMS))?;
    let (plan, conflicts) = (request.plan()?, request.conflicts()?);
    let today = request.local(now).date_naive();
    let mut page = TodayPage {
        layout: request.layout("Today"),
        is_empty: all == 0 && waiting == 0,
        count: if all == 1 {
            "1 memory".to_owned()
        } else {
            format!("{all} memories")
        },
        since: since.map(|since| TimeLabel::exact(request.local(since))),
        days: span.num_days(),
        agents: AgentSummary::list(request, from)?,
        proposals,
        waiting,
        due: due
            .memories
            .iter()
            .filter_map(|stored| {
                Some(DueRow {
                    id: stored.memory.id.to_string(),
                    card: MemoryCard::new(request, stored),
                    due: TimeLabel::exact(request.local(stored.memory.reminder.as_ref()?.due)),
                })
            })
            .collect(),
        due_count: due.total,
        conflicts: Vec::new(),
        conflict_count: 0,
        compared: COMPARED,
        duplicates: Vec::new(),
        duplicate_count: 0,
        expiring: Vec::new(),
        expiring_count: 0,
        expiring_days: EXPIRING_DAYS,
        old: None,
        is_reviewing: 0 < all && (plan.is_none() || conflicts.is_none()),
    };
    if state.decided != Some(today) {
        page.old = old_memory(request, now, today)?.map(|old| MemoryCard::new(request, &old));
    }
    page.add_conflicts(request, conflicts.as_deref().map_or(&[], Vec::as_slice))?;
    if let Some(plan) = plan {
        page.add_plan(request, &plan)?;
    }
    Ok(page)
}

impl TodayPage {
    /// Adds the contradictions that are still there.
    fn add_conflicts(
        &mut self,
        request: &WebRequest,
        conflicts: &[MemoryConflict],
    ) -> Result<(), PageError> {
        let rejected = rejected_keys(request);
        for conflict in conflicts {
            if rejected.contains(&conflict.key) {
                continue;
            }
            let Some((newer, older)) = conflicting(request, conflict)? else {
                continue;
            };
            self.conflict_count += 1;
            if self.conflicts.len() < MAX_ITEMS {
                self.conflicts.push(ConflictRow {
                    key: conflict.key.clone(),
                    newer: MemoryCard::new(request, &newer),
                    older: MemoryCard::new(request, &older),
                    is_update: conflict.is_update,
                });
            }
        }
        Ok(())
    }

    /// Adds the parts of the plan that still apply to the memories.
    fn add_plan(&mut self, request: &WebRequest, plan: &PlannedWork) -> Result<(), PageError> {
        let rejected = rejected_keys(request);
        for planned in &plan.refinements {
            let PlannedAction::Merge {
                duplicates, added, ..
            } = &planned.action
            else {
                continue;
            };
            if rejected.contains(&planned.key) {
                continue;
            }
            let is_listed = self.duplicates.len() < MAX_ITEMS;
            if is_listed && !is_open(request, planned)? {
                continue;
            }
            self.duplicate_count += 1;
            if !is_listed {
                continue;
            }
            self.duplicates.push(DuplicateRow {
                key: planned.key.clone(),
                path: format!("/memories/{}", planned.memory),
                headline: Label::cut(&planned.headline, MAX_HEADLINE),
                duplicates: duplicate_links(duplicates),
                is_text_added: !added.is_empty(),
            });
        }
        self.expiring_count = plan.expiring.len();
        for own in &plan.expiring {
            let Some(stored) = existing(request.services.store.get(&own.id))? else {
                self.expiring_count -= 1;
                continue;
            };
            if stored.memory.pinned {
                self.expiring_count -= 1;
                continue;
            }
            self.expiring.push(ExpiringRow {
                path: format!("/memories/{}", own.id),
                headline: Label::cut(&own.headline, MAX_HEADLINE),
                day: request.local(own.at).date_naive(),
                why: own.why,
            });
            if MAX_ITEMS <= self.expiring.len() {
                break;
            }
        }
        Ok(())
    }

    /// Returns whether nothing waits for a decision.
    fn is_done(&self) -> bool {
        self.waiting == 0
            && self.due.is_empty()
            && self.conflicts.is_empty()
            && self.duplicates.is_empty()
            && self.expiring.is_empty()
            && self.old.is_none()
    }
}

pub(super) fn existing(
    read: Result<StoredMemory, StoreError>,
) -> Result<Option<StoredMemory>, StoreError> {
    match read {
        Ok(stored) => Ok(Some(stored)),
        Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn count(request: &WebRequest, filter: &Filter) -> Result<u64, StoreError> {
    Ok(slice(request, filter, 0, 0)?.total)
}

/// Returns the memories that pass `filter`, newest first, from `offset`.
fn slice(
    request: &WebRequest,
    filter: &Filter,
    offset: usize,
    limit: usize,
) -> Result<memory_core::MemoryPage, StoreError> {
    let slice = PageRequest {
        order: ListOrder::Created,
        offset,
        limit: Some(limit),
    };
    list(&request.services, filter, &slice)
}

/// Returns the oldest proposals, and the number of all.
fn proposal_rows(request: &WebRequest) -> Result<(Vec<ProposalRow>, u64), PageError> {
    let filter = Filter {
        proposals: ProposalFilter::Only,
        ..Filter::default()
    };
    let slice = PageRequest {
        order: ListOrder::Oldest,
        offset: 0,
        limit: Some(MAX_ITEMS),
    };
    let oldest = list(&request.services, &filter, &slice)?;
    let mut rows = Vec::new();
    for stored in oldest
        .memories
        .iter()
        .filter(|stored| stored.problem.is_none())
    {
        // It may have been decided on since.
        let waiting = match proposal(&request.services, &stored.memory.id.to_string()) {
            Ok(waiting) => waiting,
            Err(StoreError::NotFound { .. } | StoreError::Invalid { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        rows.push(ProposalRow::new(request, &waiting)?);
    }
    Ok((rows, oldest.total))
}

/// Returns the memories of a conflict, the newer one first; `None` if one of them was changed, superseded or deleted since.
fn conflicting(
    request: &WebRequest,
    conflict: &MemoryConflict,
) -> Result<Option<(StoredMemory, StoredMemory)>, StoreError> {
    let store = &request.services.store;
    let pair = existing(store.get(&conflict.newer))?.zip(existing(store.get(&conflict.older))?);
    Ok(pair.filter(|(newer, older)| {
        newer.memory.superseded_by.is_none()
            && older.memory.superseded_by.is_none()
            && conflict_key(&newer.memory, &older.memory) == conflict.key
    }))
}

/// Returns an old memory that was used little. It is the same all day, and another one on the next day.
fn old_memory(
    request: &WebRequest,
    now: DateTime<Utc>,
    today: NaiveDate,
) -> Result<Option<StoredMemory>, StoreError> {
    let filter = Filter {
        phase: Some(Phase::Organized),
        place: Some(HomeSection::Notes),
        until: Some(subtract_time(now, UNUSED_AFTER)),
        ..Filter::default()
    };
    let total = usize::try_from(count(request, &filter)?).unwrap_or(usize::MAX);
    if total == 0 {
        return Ok(None);
    }
    let day = usize::try_from(today.num_days_from_ce()).unwrap_or_default();
    // One day after the other, all of them are candidates.
    let offset = day % total.div_ceil(OLD_CANDIDATES) * OLD_CANDIDATES;
    let candidates = slice(request, &filter, offset, OLD_CANDIDATES)?.memories;
    Ok(candidates
        .into_iter()
        .filter(|own| !own.memory.pinned && own.memory.reminder.is_none() && own.problem.is_none())
        .min_by_key(|own| (own.memory.access_count, own.memory.created_at)))
}

/// Keeps one of two conflicting memories, which then supersedes the other one, or both.
async fn decide_conflict(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let form = &request.form;
            let (services, key) = (&request.services, form.get("key"));
            let newer = services.store.get_by(form.get("newer"))?;
            let older = services.store.get_by(form.get("older"))?;
            // Otherwise two memories could supersede each other, and no one would see either.
            let is_superseded = [&newer, &older]
                .iter()
                .any(|stored| stored.memory.superseded_by.is_some());
            if is_superseded || conflict_key(&newer.memory, &older.memory) != key {
                return Err(PageError::new(
                    Code::Conflict,
                    "one of the two memories was changed since, and nothing was done",
                    "go back to Today and decide on their present texts",
                ));
            }
            let (kept, replaced) = match form.get("action") {
                "newer" => (&newer, &older),
                "older" => (&older, &newer),
                "both" => {
                    reject_suggestions(request, &[key.to_owned()])?;
                    return Ok(request.redirect_after(PATH, &[]));
                }
                _ => return Err(PageError::invalid("the action is unknown")),
            };
            let patch = Patch {
                superseded_by: Some(Some(kept.memory.id)),
                ..Patch::default()
            };
            let id = replaced.memory.id.to_string();
            update(
                services,
                &id,
                &patch,
                Some(replaced.stamp),
                SecretPolicy::Keep,
            )?;
            Ok(request.redirect(PATH))
        })
        .await
}

/// Confirms or deletes the old memory of the day, or leaves it for another day.
async fn decide_old(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let id = request.form.get("id");
            match request.form.get("action") {
                "keep" => {
                    let stored = request.services.store.get_by(id)?;
                    count_accesses(&request.services, &[&stored.memory]);
                }
                "delete" => {
                    delete(&request.services, id)?;
                }
                "later" => {}
                _ => return Err(PageError::invalid("the action is unknown")),
            }
            let today = request.local(request.services.clock.now()).date_naive();
            VisitState {
                decided: Some(today),
                ..VisitState::load(request)
            }
            .store(request);
            Ok(request.redirect(PATH))
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_of_half_an_hour_begins_another_visit() {
        let at = |minutes: i64| DateTime::<Utc>::UNIX_EPOCH + TimeDelta::minutes(minutes);
        let first = VisitState::default().visited(at(0));
        assert_eq!(first.previous, None);
        let same = first.visited(at(30));
        assert_eq!((same.previous, same.last), (None, Some(at(30))));
        let next = same.visited(at(61));
        assert_eq!((next.previous, next.last), (Some(at(30)), Some(at(61))));
        let decided = VisitState {
            decided: NaiveDate::from_ymd_opt(2026, 5, 31),
            ..next
        };
        assert_eq!(VisitState::parse(&decided.to_string()), decided);
        assert_eq!(VisitState::parse("last x\nother"), VisitState::default());
    }
}
