//! The inbox: proposals of agents, notes without a category, and the suggestions of a dream.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use memory_core::{
    AcceptOptions, Category, Code, ContentHash, FileVersion, Filter, HomeSection, ListOrder, PageRequest, Phase, PlannedAction,
    PlannedRefinement, ProposedAction, SecretPolicy, StaleProposals, StoredMemory, WaitingProposal, accept, edit_proposal, list,
    merge_proposal, proposals, reject, resolve_wikilink,
};

use crate::web::diff::render_diff;
use crate::web::error::{PageError, render};
use crate::web::fields::Fields;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::markdown::render_markdown;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

/// Number of items of a page.
const PAGE: usize = 30;

/// Maximum number of characters of a headline.
const MAX_HEADLINE: usize = 140;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/inbox", get(show))
        .route("/inbox/decide", post(decide))
        .route("/inbox/merge", post(merge))
        .route("/inbox/edit", post(edit))
        .route("/inbox/plan", get(show_plan).post(decide_plan))
}

/// The value of the field `item`: the id and the version of a memory, so that a decision applies to what the person saw.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ItemVersion {
    id: String,
    version: FileVersion,
}

impl ItemVersion {
    fn of(stored: &StoredMemory) -> String {
        format!("{}:{}", stored.memory.id, stored.stamp.0)
    }

    fn parse(text: &str) -> Result<Self, PageError> {
        let invalid = || PageError::invalid("the item of the inbox is invalid");
        let (id, version) = text.split_once(':').ok_or_else(invalid)?;
        let version = version.parse::<ContentHash>().map_err(|_| invalid())?;
        Ok(Self { id: id.to_owned(), version: FileVersion(version) })
    }
}

/// An item of the inbox.
struct InboxCard {
    /// The value of the field `item`.
    key: String,
    id: String,
    kind: &'static str,
    is_proposal: bool,
    /// Whether the proposal deletes a memory, so that it cannot be edited.
    is_deletion: bool,
    by: Option<Label>,
    time: TimeLabel,
    headline: Label,
    body: SafeHtml,
    scope: Label,
    tags: Vec<Label>,
    /// The memory that the proposal changes.
    target: Option<(String, Label)>,
    is_stale: bool,
    suggested: Option<Category>,
    content: String,
}

impl InboxCard {
    fn new(request: &WebRequest, stored: &StoredMemory, kind: &'static str, body: SafeHtml) -> Self {
        let memory = &stored.memory;
        Self {
            key: ItemVersion::of(stored),
            id: memory.id.to_string(),
            kind,
            is_proposal: memory.is_proposal(),
            is_deletion: false,
            by: memory
                .proposal
                .as_ref()
                .map(|proposal| proposal.by.as_str())
                .or(Some(memory.source.as_str()))
                .filter(|by| !by.is_empty())
                .map(Label::new),
            time: TimeLabel::exact(request.local(memory.created_at)),
            headline: Label::cut(memory.headline(), MAX_HEADLINE),
            body,
            scope: Label::new(&memory.scope.to_string()),
            tags: memory.tags.iter().map(|tag| Label::new(tag)).collect(),
            target: None,
            is_stale: false,
            suggested: Some(memory.category).filter(|category| *category != Category::Inbox),
            content: memory.content.clone(),
        }
    }

    fn of_proposal(request: &WebRequest, waiting: &WaitingProposal) -> Self {
        let own = waiting.stored.memory.content.as_str();
        let before = waiting.target.as_ref().map(|target| target.memory.content.as_str());
        let (kind, body) = match waiting.proposal.action {
            ProposedAction::Write => ("New memory", rendered(request, &waiting.stored)),
            ProposedAction::Update(_) => ("Change", render_diff(before.unwrap_or_default(), own)),
            ProposedAction::Delete(_) => ("Deletion", rendered(request, waiting.target.as_ref().unwrap_or(&waiting.stored))),
        };
        let link = |stored: &StoredMemory| {
            (format!("/memories/{}", stored.memory.id), Label::cut(stored.memory.headline(), MAX_HEADLINE))
        };
        Self {
            target: waiting.target.as_ref().map(link),
            is_stale: waiting.is_stale,
            is_deletion: matches!(waiting.proposal.action, ProposedAction::Delete(_)),
            ..Self::new(request, &waiting.stored, kind, body)
        }
    }
}

/// Returns the text of a memory as HTML; empty if the headline shows all of it.
fn rendered(request: &WebRequest, stored: &StoredMemory) -> SafeHtml {
    let (text, headline) = (stored.memory.content.trim(), stored.memory.headline());
    if text == headline && headline.chars().count() <= MAX_HEADLINE {
        return SafeHtml::default();
    }
    let find_path = |target: &str| {
        let id = resolve_wikilink(request.services.store.as_ref(), target, stored).ok()??;
        Some(format!("/memories/{id}"))
    };
    render_markdown(&stored.memory.content, &find_path)
}

#[derive(Template)]
#[template(path = "inbox.html")]
struct InboxPage {
    layout: Layout,
    proposals: u64,
    notes: u64,
    items: Vec<InboxCard>,
    categories: Vec<Category>,
    /// The number of selected items that the previous request did not change.
    failed: u64,
    pager: Pager,
}

/// The links to the previous and the next page of a list.
#[derive(Debug, Default)]
pub(super) struct Pager {
    pub(super) previous: Option<String>,
    pub(super) next: Option<String>,
    /// The items of this page, such as `31–60 of 90`.
    pub(super) range: String,
}

impl Pager {
    /// Returns the pager of a list with `total` items, of which `page` starts at 0.
    pub(super) fn new(request: &WebRequest, page: usize, size: usize, total: u64) -> Self {
        let path = |page: usize| {
            let number = if page == 0 { String::new() } else { (page + 1).to_string() };
            format!("{}?{}", request.path, request.query.with("page", &number))
        };
        let (first, last) = ((page * size) as u64 + 1, (((page + 1) * size) as u64).min(total));
        Self {
            previous: (0 < page).then(|| path(page - 1)),
            next: (last < total).then(|| path(page + 1)),
            range: if total == 0 { String::new() } else { format!("{first}–{last} of {total}") },
        }
    }

    /// Returns the number of the page in the query, from 0.
    pub(super) fn page(request: &WebRequest) -> usize {
        request.query.get("page").parse::<usize>().unwrap_or(1).clamp(1, 100_000) - 1
    }
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let waiting = proposals(&request.services)?;
            let filter = Filter { phase: Some(Phase::Inbox), place: Some(HomeSection::Notes), ..Filter::default() };
            let page = Pager::page(request);
            let start = page * PAGE;
            // Proposals come first, and both lists are one sequence of pages.
            let mut items: Vec<InboxCard> =
                waiting.iter().skip(start).take(PAGE).map(|waiting| InboxCard::of_proposal(request, waiting)).collect();
            let limit = PAGE - items.len();
            let offset = start.saturating_sub(waiting.len());
            let notes = list(&request.services, &filter, &PageRequest { order: ListOrder::Created, offset, limit: Some(limit) })?;
            items.extend(
                notes.memories.iter().map(|stored| InboxCard::new(request, stored, "Unfiled note", rendered(request, stored))),
            );
            let total = waiting.len() as u64 + notes.total;
            let page = InboxPage {
                layout: request.layout("Inbox"),
                proposals: waiting.len() as u64,
                notes: notes.total,
                items,
                categories: categories(),
                failed: request.query.get("failed").parse().unwrap_or_default(),
                pager: Pager::new(request, page, PAGE, total),
            };
            Ok(render(&page))
        })
        .await
}

/// Returns the categories that a memory can be filed under.
fn categories() -> Vec<Category> {
    Category::ALL.into_iter().filter(|category| *category != Category::Inbox).collect()
}

/// Accepts or rejects the fields `item`.
async fn decide(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let form = &request.form;
            let items = form.all("item").map(ItemVersion::parse).collect::<Result<Vec<_>, _>>()?;
            if items.is_empty() {
                return Err(PageError::invalid("no item is selected"));
            }
            let category = form.text("category").map(str::parse::<Category>).transpose()?;
            let stale = if form.get("stale") == "overwrite" { StaleProposals::Overwrite } else { StaleProposals::Refuse };
            let apply = |item: &ItemVersion| match form.get("action") {
                "accept" => {
                    let expected = Some(item.version);
                    let options = AcceptOptions { category, stale, secrets: SecretPolicy::Refuse, expected };
                    accept(&request.services, &item.id, options).map(drop).map_err(PageError::from)
                }
                "reject" => reject(&request.services, &item.id, Some(item.version)).map(drop).map_err(PageError::from),
                _ => Err(PageError::invalid("the action is neither accept nor reject")),
            };
            let mut failures = Vec::new();
            for item in &items {
                if let Err(error) = apply(item) {
                    failures.push(error);
                }
            }
            let next = form.text("next").unwrap_or("/inbox");
            // A failure of the only item is a page of its own, with the next step.
            if failures.len() == items.len() {
                return Err(failures.swap_remove(0));
            }
            Ok(request.redirect(&with_failures(next, failures.len())))
        })
        .await
}

/// Returns `next` with the number of items that were not changed.
fn with_failures(next: &str, failures: usize) -> String {
    let (path, query) = next.split_once('?').unwrap_or((next, ""));
    let number = if failures == 0 { String::new() } else { failures.to_string() };
    format!("{path}?{}", Fields::parse(query).with("failed", &number))
}

/// Merges a proposal or a note into another memory.
async fn merge(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let form = &request.form;
            let item = ItemVersion::parse(form.get("item"))?;
            let into = form.text("into").ok_or_else(|| PageError::invalid("no memory to merge into is given"))?;
            // The address of a memory is what a person has at hand.
            let into = into.rsplit('/').next().unwrap_or(into);
            merge_proposal(&request.services, &item.id, into, Some(item.version), SecretPolicy::Refuse)?;
            Ok(request.redirect(form.text("next").unwrap_or("/inbox")))
        })
        .await
}

/// Changes the text of a proposal.
async fn edit(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let form = &request.form;
            let item = ItemVersion::parse(form.get("item"))?;
            // Browsers send line breaks of forms as CR LF.
            let content = form.get("content").replace("\r\n", "\n");
            edit_proposal(&request.services, &item.id, &content, Some(item.version), SecretPolicy::Refuse)?;
            Ok(request.redirect(form.text("next").unwrap_or("/inbox")))
        })
        .await
}

/// A suggestion of a dream.
struct PlanRow {
    key: String,
    path: String,
    headline: Label,
    action: &'static str,
    detail: Label,
    duplicates: Vec<(String, Label)>,
    added: Vec<Label>,
}

impl PlanRow {
    fn new(request: &WebRequest, planned: &PlannedRefinement) -> Self {
        let at = |at: &chrono::DateTime<chrono::Utc>| request.local(*at).format("%Y-%m-%d %H:%M").to_string();
        let (action, detail, duplicates, added) = match &planned.action {
            PlannedAction::File { category, reason } => ("File", format!("under {category}, because {reason}"), &[][..], &[][..]),
            PlannedAction::Merge { duplicates, added } => {
                let detail = if added.is_empty() { "no text is added" } else { "text that only the duplicates have is added" };
                ("Merge", detail.to_owned(), duplicates.as_slice(), added.as_slice())
            }
            PlannedAction::Remove { reason } => ("Move to the trash", format!("because {reason}"), &[][..], &[][..]),
            PlannedAction::Remind { at: due, text } => ("Remind", format!("on {}: {text}", at(due)), &[][..], &[][..]),
            PlannedAction::CancelReminder { at: due, text } => {
                ("Cancel the reminder", format!("of {}: {text}", at(due)), &[][..], &[][..])
            }
        };
        Self {
            key: planned.key.clone(),
            path: format!("/memories/{}", planned.memory),
            headline: Label::cut(&planned.headline, MAX_HEADLINE),
            action,
            detail: Label::cut(&detail, 300),
            duplicates: duplicates
                .iter()
                .map(|(id, headline)| (format!("/memories/{id}"), Label::cut(headline, MAX_HEADLINE)))
                .collect(),
            added: added.iter().map(|text| Label::cut(text, 300)).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "inbox_plan.html")]
struct PlanPage {
    layout: Layout,
    rows: Vec<PlanRow>,
    more: usize,
    declined: usize,
    /// The number of accepted suggestions that the previous request did not apply.
    skipped: u64,
}

/// Maximum number of suggestions of a page.
const MAX_ROWS: usize = 100;

async fn show_plan(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let mut rows = request.web.config.host.planner(request.services.clone()).plan()?;
            let declined = request.web.declined();
            let all = rows.len();
            rows.retain(|row| !declined.contains(&row.key));
            let (declined, more) = (all - rows.len(), rows.len().saturating_sub(MAX_ROWS));
            let rows = rows.iter().take(MAX_ROWS).map(|row| PlanRow::new(request, row)).collect();
            let skipped = request.query.get("skipped").parse().unwrap_or_default();
            Ok(render(&PlanPage { layout: request.layout("Suggestions"), rows, more, declined, skipped }))
        })
        .await
}

/// Accepts or declines the suggestions of the fields `key`, or shows the declined ones again.
async fn decide_plan(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let keys: Vec<String> = request.form.all("key").map(str::to_owned).collect();
            let action = request.form.get("action");
            if keys.is_empty() && action != "restore" {
                return Err(PageError::invalid("no suggestion is selected"));
            }
            match action {
                "accept" => {
                    let result = request.web.config.host.planner(request.services.clone()).apply(&keys)?;
                    let path = if result.skipped == 0 {
                        "/inbox/plan".to_owned()
                    } else {
                        format!("/inbox/plan?skipped={}", result.skipped)
                    };
                    let operations: Vec<_> = result.operation.into_iter().collect();
                    if operations.is_empty() {
                        let hint = "reload the suggestions";
                        return Err(PageError::new(
                            Code::Conflict,
                            "the memories were changed since, and nothing was done",
                            hint,
                        ));
                    }
                    Ok(request.redirect_after(&path, &operations))
                }
                "decline" => {
                    request.web.declined().extend(keys);
                    Ok(request.redirect_after("/inbox/plan", &[]))
                }
                "restore" => {
                    request.web.declined().clear();
                    Ok(request.redirect_after("/inbox/plan", &[]))
                }
                _ => Err(PageError::invalid("the action is unknown")),
            }
        })
        .await
}
