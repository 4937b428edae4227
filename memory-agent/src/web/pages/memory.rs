//! One memory: text, attributes, links, history and recalls, and the forms that change it.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{get, post};
use memory_core::html::visible_text;
use memory_core::{
    Acceptance, Category, Memory, MemoryHistory, MemoryId, MemoryStep, MemoryStoreExt, Patch,
    Phase, ProposalEnd, SecretPolicy, StoreError, StoredMemory, Tags, Verb, backlinks, delete,
    memory_history, operation_subject, outgoing_links, pin, proposal, proposal_end, read,
    resolve_wikilink, restore, tag, unpin, update, why,
};

use super::inbox_item::InboxCard;
use super::memory_parts::{FactValue, RecallView, StepView, facts, more_facts, step_views};
use super::merge::choice_path;
use crate::web::card::{MemoryCard, TagLink, memory_path, title};
use crate::web::error::{PageError, render};
use crate::web::fields::encode;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::markdown::render_markdown;
use crate::web::request::WebRequest;
use crate::web::state::WebState;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/memories/{id}", get(show))
        .route("/memories/{id}/tags", post(change_tags))
        .route("/memories/{id}/category", post(change_category))
        .route("/memories/{id}/pin", post(change_pin))
        .route("/memories/{id}/expire", post(expire_now))
        .route("/memories/{id}/delete", post(delete_memory))
        .route("/memories/{id}/restore", post(restore_version))
}

/// Number of changes and of recalls on the page.
const MAX_STEPS: usize = 20;

/// Number of linked memories in each direction.
const MAX_LINKS: usize = 30;

#[derive(Template)]
#[template(path = "memory.html")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
struct MemoryDetailsPage {
    layout: Layout,
    path: String,
    /// The list to return to.
    list: String,
    id: String,
    title: Label,
    text: SafeHtml,
    /// The text as it is in the file.
    source_text: SafeHtml,
    /// What a person must know before they rely on the memory, each with a linked memory, if any.
    notices: Vec<(String, Option<MemoryCard>)>,
    is_deleted: bool,
    /// How the proposal ended, if the memory in the trash is one.
    end: Option<ProposalEnd>,
    is_pinned: bool,
    is_editable: bool,
    category: &'static str,
    is_in_inbox: bool,
    categories: Vec<Category>,
    tags: Vec<TagLink>,
    /// The attributes: name, explanation, which may be empty, and value.
    facts: Vec<(&'static str, &'static str, FactValue)>,
    /// Technical facts, and the fields of other programs in the file.
    more_facts: Vec<(Label, FactValue)>,
    links: Vec<MemoryCard>,
    backlinks: Vec<MemoryCard>,
    steps: Vec<StepView>,
    has_more_steps: bool,
    recalls: Vec<RecallView>,
    /// The number of recalls, as text.
    recall_count: String,
    /// The path of the choice of a memory to merge this one into, if it can be merged.
    merge: Option<String>,
    /// The controls to decide on a proposal, if it is one.
    decision: Option<InboxCard>,
    /// The version in the trash that restores a deleted memory.
    restorable: Option<String>,
}

async fn show(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| Ok(render(&memory_page(request, &id)?)))
        .await
}

fn memory_page(request: &WebRequest, reference: &str) -> Result<MemoryDetailsPage, PageError> {
    let services = &request.services;
    match read(services, reference) {
        Ok(stored) => existing_page(request, &stored),
        Err(error @ StoreError::NotFound { .. }) => match reference.parse::<MemoryId>() {
            Ok(id) => deleted_page(request, &id)?.ok_or_else(|| error.into()),
            Err(_) => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

fn existing_page(
    request: &WebRequest,
    stored: &StoredMemory,
) -> Result<MemoryDetailsPage, PageError> {
    let (services, memory) = (&request.services, &stored.memory);
    let history = memory_history(services, &memory.id, step_limit(request))?;
    let linked = outgoing_links(services, stored)?;
    let referring = backlinks(services, &memory.id.to_string())?;
    let cards = |memories: &[StoredMemory]| {
        memories
            .iter()
            .take(MAX_LINKS)
            .map(|stored| MemoryCard::new(request, stored))
            .collect()
    };
    let find_path = |target: &str| {
        let id = resolve_wikilink(services.store.as_ref(), target, stored).ok()??;
        Some(format!("/memories/{id}"))
    };
    let mut page = MemoryDetailsPage::new(
        request,
        memory,
        render_markdown(&memory.content, &find_path),
        &history,
    )?;
    page.notices = notices(request, stored)?;
    page.facts = facts(request, stored);
    page.more_facts = more_facts(stored);
    page.links = cards(&linked);
    page.backlinks = cards(&referring);
    page.is_editable = stored.problem.is_none() && !memory.is_proposal();
    page.merge = page.is_editable.then(|| choice_path(stored, &page.path));
    if memory.is_proposal() && stored.problem.is_none() {
        let planner = request.web.config.host.planner(services.clone());
        let waiting = proposal(services, &memory.id.to_string())?;
        let card = InboxCard::of_proposal(request, planner.as_ref(), &waiting)?
            .with_neighbours(request, memory)?;
        // The page shows the text of a new memory itself.
        let body = if card.target.is_some() {
            card.body
        } else {
            SafeHtml::default()
        };
        page.decision = Some(InboxCard { body, ..card });
    }
    Ok(page)
}

/// Returns the page of a deleted memory; `None` if nothing is known about it.
fn deleted_page(
    request: &WebRequest,
    id: &MemoryId,
) -> Result<Option<MemoryDetailsPage>, PageError> {
    let history = memory_history(&request.services, id, step_limit(request))?;
    let last = history
        .steps
        .iter()
        .find(|step| step.is_deletion && step.undone_by.is_none());
    let Some(last) = last else { return Ok(None) };
    let Some((memory, trash)) = last.before.clone().zip(last.trash.clone()) else {
        return Ok(None);
    };
    let mut page = MemoryDetailsPage::new(
        request,
        &memory,
        render_markdown(&memory.content, &|_| None),
        &history,
    )?;
    page.is_deleted = true;
    if let Some(other) = merged_into(request, id, last)? {
        page.notices.push((
            "Its text was merged into this memory:".to_owned(),
            Some(other),
        ));
    }
    page.end = proposal_end(&request.services, id)?;
    // An accepted proposal had its effect, which an undo of the acceptance reverts.
    page.restorable = Some(trash).filter(|_| page.end != Some(ProposalEnd::Accepted));
    Ok(Some(page))
}

/// Returns the memory that received the text of a deleted memory, if its last change was a merge.
fn merged_into(
    request: &WebRequest,
    id: &MemoryId,
    last: &MemoryStep,
) -> Result<Option<MemoryCard>, PageError> {
    let services = &request.services;
    if !matches!(last.operation.verb, Verb::Merge | Verb::Accept) {
        return Ok(None);
    }
    let changes = services
        .history
        .changes(&last.operation.id)
        .collect::<Result<Vec<_>, _>>()?;
    if operation_subject(services, last.operation.verb, &changes).acceptance
        != Some(Acceptance::Merged)
    {
        return Ok(None);
    }
    let Some(other) = changes
        .iter()
        .rfind(|change| change.after.is_some() && change.id != *id)
    else {
        return Ok(None);
    };
    match services.store.get(&other.id) {
        Ok(stored) => Ok(Some(MemoryCard::new(request, &stored))),
        Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn step_limit(request: &WebRequest) -> usize {
    if request.query.get("history") == "all" {
        usize::MAX - 1
    } else {
        MAX_STEPS
    }
}

impl MemoryDetailsPage {
    /// Returns the page without the parts that only an existing memory has.
    fn new(
        request: &WebRequest,
        memory: &Memory,
        text: SafeHtml,
        history: &MemoryHistory,
    ) -> Result<Self, PageError> {
        let id = memory.id.to_string();
        let recalls = why(
            &request.services,
            request.web.config.recalls.as_ref(),
            &id,
            MAX_STEPS,
        )?
        .list;
        Ok(Self {
            layout: request.layout(&visible_text(memory.headline())),
            path: memory_path(memory),
            list: request
                .list
                .clone()
                .unwrap_or_else(|| "/memories".to_owned()),
            title: title(memory),
            text,
            source_text: SafeHtml::from_text(&memory.content),
            notices: Vec::new(),
            is_deleted: false,
            end: None,
            is_pinned: memory.pinned,
            is_editable: false,
            category: memory.category.as_str(),
            is_in_inbox: memory.phase == Phase::Inbox,
            categories: Category::ALL
                .into_iter()
                .filter(|category| *category != Category::Reminders)
                .collect(),
            tags: memory.tags.iter().map(|tag| TagLink::new(tag)).collect(),
            facts: Vec::new(),
            more_facts: Vec::new(),
            links: Vec::new(),
            backlinks: Vec::new(),
            has_more_steps: history.has_more,
            steps: step_views(request, history),
            recall_count: recall_count(recalls.total, recalls.recalls.len()),
            recalls: recalls
                .recalls
                .iter()
                .map(|recall| {
                    let given = history
                        .replaced_version_at(recall.at)
                        .filter(|given| given.content != memory.content);
                    RecallView::new(request, recall, &id, given)
                })
                .collect(),
            merge: None,
            decision: None,
            restorable: None,
            id,
        })
    }

    /// Returns whether this is a proposal that changes or deletes a memory. Its differences replace the text.
    fn is_change_or_deletion(&self) -> bool {
        self.decision
            .as_ref()
            .is_some_and(|decision| decision.target.is_some())
    }

    /// Returns whether this option of the category form is the current one.
    fn is_current_category(&self, category: Category) -> bool {
        if self.is_in_inbox {
            category == Category::Inbox
        } else {
            category.as_str() == self.category
        }
    }
}

fn recall_count(total: u64, shown: usize) -> String {
    match total {
        1 => "Once".to_owned(),
        total if total == shown as u64 => format!("{total} times"),
        total => format!("{total} times; the last {shown}"),
    }
}

fn notices(
    request: &WebRequest,
    stored: &StoredMemory,
) -> Result<Vec<(String, Option<MemoryCard>)>, PageError> {
    let (memory, mut notices) = (&stored.memory, Vec::new());
    if let Some(problem) = &stored.problem {
        notices.push((
            format!("The file is damaged, so the memory cannot be changed here: {problem}"),
            None,
        ));
    }
    if let Some(newer) = &memory.superseded_by {
        let newer = match request.services.store.get(newer) {
            Ok(newer) => Some(MemoryCard::new(request, &newer)),
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => None,
            Err(error) => return Err(error.into()),
        };
        notices.push((
            "Agents no longer receive this memory, because another one supersedes it.".to_owned(),
            newer,
        ));
    } else if memory.has_ended(request.services.clock.now()) {
        notices.push((
            "Agents no longer receive this memory, because it has expired.".to_owned(),
            None,
        ));
    }
    if memory.summarised_by.is_some() {
        notices.push((
            "The text is a summary; the history has the full text.".to_owned(),
            None,
        ));
    }
    Ok(notices)
}

async fn change_tags(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let (add, remove) = (
                parse_tags(request.form.get("add")),
                request.form.all("remove").collect::<Tags>(),
            );
            let before = request.services.store.get_by(&id)?;
            let stored = tag(&request.services, &id, add, remove)?;
            Ok(redirect_to(request, &before, &stored))
        })
        .await
}

/// Parses tags that are separated by commas or line breaks.
pub(super) fn parse_tags(text: &str) -> Tags {
    text.split([',', '\n'])
        .map(|tag| tag.trim().trim_start_matches('#'))
        .filter(|tag| !tag.is_empty())
        .collect()
}

async fn change_category(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let patch = Patch {
                category: Some(request.form.get("category").parse()?),
                ..Patch::default()
            };
            let before = request.services.store.get_by(&id)?;
            let stored = update(&request.services, &id, &patch, None, SecretPolicy::Keep)?;
            Ok(redirect_to(request, &before, &stored))
        })
        .await
}

async fn change_pin(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let before = request.services.store.get_by(&id)?;
            let change = if request.form.get("pinned") == "yes" {
                pin
            } else {
                unpin
            };
            let stored = change(&request.services, &id)?;
            Ok(redirect_to(request, &before, &stored))
        })
        .await
}

/// Ends a memory: agents no longer receive it, and it remains readable.
async fn expire_now(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let patch = Patch {
                expires_at: Some(Some(request.services.clock.now())),
                ..Patch::default()
            };
            let before = request.services.store.get_by(&id)?;
            let stored = update(&request.services, &id, &patch, None, SecretPolicy::Keep)?;
            Ok(redirect_to(request, &before, &stored))
        })
        .await
}

/// Redirects to the page of a memory or to `next`, and offers to undo the change if there was one.
pub(super) fn redirect_to(
    request: &WebRequest,
    before: &StoredMemory,
    after: &StoredMemory,
) -> Response {
    let path = request
        .form
        .text("next")
        .map_or_else(|| memory_path(&after.memory), str::to_owned);
    if before.stamp == after.stamp {
        request.redirect_after(&path, &[])
    } else {
        request.redirect(&path)
    }
}

async fn delete_memory(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            delete(&request.services, &id)?;
            let next = request.form.text("next").unwrap_or("/memories");
            Ok(request.redirect(next))
        })
        .await
}

async fn restore_version(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let trash = request
                .form
                .text("trash")
                .ok_or_else(|| PageError::invalid("no version is given"))?;
            restore(&request.services, trash)?;
            let page = format!("/memories/{}", encode(&id));
            Ok(request.redirect(request.form.text("next").unwrap_or(&page)))
        })
        .await
}
