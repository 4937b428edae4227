//! The inbox: proposals of agents, and apart from them notes without a category.
//!
//! Purpose: to decide on what agents propose, quickly and without regret. First comes the oldest proposal with its whole text, its author and
//! the memory that it changes; a sentence that speaks to agents is marked, and repeated proposals are one item. Actions by frequency: accept,
//! reject, undo, edit, merge, and all proposals of an agent at once. The similar memories of an item are searched when a person looks at it.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use memory_core::{
    AcceptOptions, Category, Code, FileVersion, Filter, HomeSection, ListOrder, MemoryStoreExt,
    PageRequest, Patch, Phase, ProposedAction, RefinementPlanner, SecretPolicy, StaleProposals,
    StoreError, StoredMemory, accept, delete, edit_proposal, list, proposal, reject, update,
};

use super::inbox_item::{
    BulkForm, InboxCard, ItemHead, ItemVersion, SIMILAR_PATH, filing_categories, find_suggestion,
};
use crate::web::background::RefusedItem;
use crate::web::cached_views::InboxCounts;
use crate::web::cached_views::count_inbox;
use crate::web::error::{PageError, render};
use crate::web::fields::{Fields, encode_pairs};
use crate::web::html::Label;
use crate::web::layout::{ITEM_DECIDED, Layout, NOTHING_SELECTED};
use crate::web::pager::Pager;
use crate::web::request::{WebRequest, redirect_with_notice, with_query};
use crate::web::state::WebState;

/// Number of items of a page.
const PAGE: usize = 20;

/// Maximum number of proposals that are compared to find repeated ones.
const MAX_COMPARED: usize = 500;

/// Maximum number of proposals of an agent that are accepted at once.
const MAX_OF_AGENT: usize = 200;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/inbox", get(show))
        .route(SIMILAR_PATH, get(show_similar))
        .route("/inbox/all", get(show_all_of_agent))
        .route("/inbox/decide", post(decide))
        .route("/inbox/edit", post(edit))
}

#[derive(Template)]
#[template(path = "inbox.html")]
struct InboxPage {
    layout: Layout,
    counts: InboxCounts,
    /// Whether the notes are listed, and not the proposals.
    has_notes: bool,
    bulk: BulkForm,
    /// The address to which the forms return.
    next: String,
    /// The address of this page with all items selected.
    select_all: String,
    items: Vec<InboxCard>,
    /// The agents with several proposals: name, path of all of them, and their number.
    agents: Vec<(Label, String, usize)>,
    /// The number of selected items that the previous request did not change.
    failed: u64,
    /// The number of selected items that the previous request left, because nothing suggests a category.
    left: u64,
    pager: Pager,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let here = request
                .query
                .without(&["select", "failed", "left", "done", "notice"]);
            let layout = Layout {
                here: with_query(&request.path, &here),
                ..request.layout("Inbox")
            };
            let counts = count_inbox(request)?;
            let has_notes = match request.query.get("list") {
                "notes" => true,
                "proposals" => false,
                _ => counts.proposals == 0 && 0 < counts.notes,
            };
            let page = Pager::page(request);
            let (mut agents, total, mut items);
            if has_notes {
                (total, items) = note_cards(request, page)?;
                agents = Vec::new();
            } else {
                let waiting = waiting_proposals(request)?;
                agents = several_by_agent(&waiting);
                (total, items) = proposal_cards(request, &waiting, page)?;
            }
            agents.truncate(PAGE);
            if items.is_empty() && 0 < page {
                // The items of the last page were decided on.
                let first = with_query(&request.path, &request.query.without(&["page"]));
                return Ok(Redirect::to(&first).into_response());
            }
            let is_selected = request.query.get("select") == "all";
            for item in &mut items {
                item.head.is_selected = is_selected;
            }
            let page = InboxPage {
                next: layout.here.clone(),
                select_all: with_query(&request.path, &Fields::parse(&here).with("select", "all")),
                layout,
                counts,
                has_notes,
                bulk: bulk_form(),
                items,
                agents,
                failed: request.query.get("failed").parse().unwrap_or_default(),
                left: request.query.get("left").parse().unwrap_or_default(),
                pager: Pager::new(request, page, PAGE, total),
            };
            Ok(render(&page))
        })
        .await
}

fn bulk_form() -> BulkForm {
    BulkForm {
        path: "/inbox/decide",
        label: "Selected items",
        categories: filing_categories().collect(),
        reject: "Reject or delete selected",
        has_keys: true,
    }
}

/// Returns the number of unfiled notes, and the cards of a page of them, newest first.
fn note_cards(request: &WebRequest, page: usize) -> Result<(u64, Vec<InboxCard>), PageError> {
    let filter = Filter {
        phase: Some(Phase::Inbox),
        place: Some(HomeSection::Notes),
        ..Filter::default()
    };
    let slice = PageRequest {
        order: ListOrder::Created,
        offset: page * PAGE,
        limit: Some(PAGE),
    };
    let planner = request.web.config.host.planner(request.services.clone());
    let notes = list(&request.services, &filter, &slice)?;
    let cards = notes
        .memories
        .iter()
        .map(|stored| InboxCard::of_note(request, planner.as_ref(), stored));
    Ok((notes.total, cards.collect()))
}

/// Returns all proposals, oldest first.
fn waiting_proposals(request: &WebRequest) -> Result<Vec<StoredMemory>, StoreError> {
    let slice = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: None,
    };
    let mut waiting = list(&request.services, &Filter::proposals(), &slice)?.memories;
    waiting.sort_by_key(|stored| (stored.memory.created_at, stored.memory.id));
    Ok(waiting)
}

/// Returns the agents with more than one proposal: name, path of all of them, and their number.
fn several_by_agent(waiting: &[StoredMemory]) -> Vec<(Label, String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for stored in waiting {
        *counts.entry(proposer(stored)).or_default() += 1;
    }
    counts
        .into_iter()
        .filter(|(by, count)| !by.is_empty() && 1 < *count)
        .map(|(by, count)| {
            let path = format!("/inbox/all?{}", encode_pairs([("by", by)]));
            (Label::new(by), path, count)
        })
        .collect()
}

/// Returns the agent of a proposal; empty for other memories.
fn proposer(stored: &StoredMemory) -> &str {
    let proposal = stored.memory.proposal.as_ref();
    proposal.map_or("", |proposal| proposal.by.as_str())
}

/// Returns the number of items that the proposals are, and the cards of a page of them.
fn proposal_cards(
    request: &WebRequest,
    waiting: &[StoredMemory],
    page: usize,
) -> Result<(u64, Vec<InboxCard>), PageError> {
    let planner = request.web.config.host.planner(request.services.clone());
    let mut repeats = find_repeats(planner.as_ref(), waiting);
    let is_repeat: Vec<usize> = repeats.values().flatten().copied().collect();
    let firsts: Vec<usize> = (0..waiting.len())
        .filter(|at| !is_repeat.contains(at))
        .collect();
    let mut cards = Vec::with_capacity(PAGE);
    for at in firsts.iter().skip(page * PAGE).take(PAGE) {
        let id = waiting[*at].memory.id.to_string();
        let own = match proposal(&request.services, &id) {
            Ok(own) => own,
            // It was decided on since the list was read.
            Err(StoreError::NotFound { .. } | StoreError::Invalid { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let mut card = InboxCard::of_proposal(request, planner.as_ref(), &own)?;
        for repeat in repeats.remove(at).unwrap_or_default() {
            card.add_repeat(&waiting[repeat], proposer(&waiting[repeat]));
        }
        cards.push(card);
    }
    Ok((firsts.len() as u64, cards))
}

/// Returns the proposals of new memories that others repeat for the same readers, with the latter, as positions.
fn find_repeats(
    planner: &dyn RefinementPlanner,
    waiting: &[StoredMemory],
) -> BTreeMap<usize, Vec<usize>> {
    let is_new = |stored: &StoredMemory| {
        let proposal = stored.memory.proposal.as_ref();
        proposal.is_some_and(|proposal| proposal.action == ProposedAction::Write)
    };
    let new: Vec<usize> = (0..waiting.len())
        .filter(|at| is_new(&waiting[*at]))
        .take(MAX_COMPARED)
        .collect();
    let texts: Vec<&str> = new
        .iter()
        .map(|at| waiting[*at].memory.content.as_str())
        .collect();
    let mut repeats = BTreeMap::new();
    for group in planner.group_repeats(&texts) {
        let mut members = group.into_iter().map(|number| new[number]);
        let Some(first) = members.next() else {
            continue;
        };
        let scope = &waiting[first].memory.scope;
        let same: Vec<usize> = members
            .filter(|at| waiting[*at].memory.scope == *scope)
            .collect();
        repeats.insert(first, same);
    }
    repeats
}

#[derive(Template)]
#[template(path = "inbox_similar.html")]
struct SimilarItemsPage {
    layout: Layout,
    next: String,
    item: InboxCard,
}

/// Shows one item with the memories that are similar to it.
async fn show_similar(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let planner = request.web.config.host.planner(request.services.clone());
            let stored = match request.services.store.get_by(request.query.get("item")) {
                Err(StoreError::NotFound { .. }) => {
                    return Ok(redirect_with_notice("/inbox", ITEM_DECIDED));
                }
                found => found?,
            };
            let card = if stored.memory.is_proposal() {
                let own = proposal(&request.services, &stored.memory.id.to_string())?;
                InboxCard::of_proposal(request, planner.as_ref(), &own)?
            } else if stored.memory.phase == Phase::Inbox {
                InboxCard::of_note(request, planner.as_ref(), &stored)
            } else {
                return Ok(redirect_with_notice("/inbox", ITEM_DECIDED));
            };
            Ok(render(&SimilarItemsPage {
                layout: request.layout("Similar memories"),
                next: "/inbox".to_owned(),
                item: card.with_neighbours(request, &stored.memory)?,
            }))
        })
        .await
}

#[derive(Template)]
#[template(path = "inbox_all.html")]
struct AllOfAgentPage {
    layout: Layout,
    by: Label,
    bulk: BulkForm,
    /// The items, each with the sentence that speaks to agents.
    rows: Vec<(ItemHead, Option<Label>)>,
    /// The number of proposals that the page does not list.
    more: usize,
}

/// Lists all proposals of the agent in the field `by`, selected, so that a person decides on what they have seen.
async fn show_all_of_agent(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let by = request.query.get("by");
            let mut waiting = waiting_proposals(request)?;
            waiting.retain(|stored| proposer(stored) == by);
            let more = waiting.len().saturating_sub(MAX_OF_AGENT);
            waiting.truncate(MAX_OF_AGENT);
            let layout = request.layout("All proposals of an agent");
            Ok(render(&AllOfAgentPage {
                layout: Layout {
                    here: "/inbox".to_owned(),
                    ..layout
                },
                by: Label::new(by),
                bulk: BulkForm {
                    has_keys: false,
                    reject: "Reject selected",
                    ..bulk_form()
                },
                rows: waiting.iter().map(InboxCard::row).collect(),
                more,
            }))
        })
        .await
}

/// Accepts or rejects the fields `item`. An accepted item supersedes the memory of the field `replaces`.
///
/// Without a `category`, each new item is filed under the one of the field `category:ID`, under its suggested one, or left. A field `item`
/// with several proposals decides on the first one; the others, which repeat it, are deleted or rejected with it.
async fn decide(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let form = &request.form;
            let items = form
                .all("item")
                .map(ItemVersion::parse_group)
                .collect::<Result<Vec<_>, _>>()?;
            let next = form.text("next").unwrap_or("/inbox");
            if items.is_empty() {
                return Ok(redirect_with_notice(next, NOTHING_SELECTED));
            }
            let planner = request.web.config.host.planner(request.services.clone());
            let (mut failures, mut left) = (Vec::new(), 0);
            let mut refused = Vec::new();
            for (key, group) in form.all("item").zip(&items) {
                let reason = match decide_on(request, planner.as_ref(), group) {
                    Ok(true) => continue,
                    Ok(false) => {
                        left += 1;
                        "nothing suggests a category for it; choose one".to_owned()
                    }
                    Err(error) => {
                        let reason = describe_refusal(&error);
                        failures.push(error);
                        reason
                    }
                };
                let (key, reason) = (key.to_owned(), Label::new(&reason));
                refused.push(RefusedItem { key, reason });
            }
            if request.is_in_background() {
                return Ok(request.reply(next, &request.operations()(), refused));
            }
            // A failure of the only item is a page of its own, with the next step.
            if failures.len() == items.len() {
                return Err(failures.swap_remove(0));
            }
            Ok(request.redirect(&with_counts(next, failures.len(), left)))
        })
        .await
}

/// Returns why an item was not changed, to a person who still sees it.
fn describe_refusal(error: &PageError) -> String {
    match error.error.code {
        Code::MemoryNotFound => "it no longer waits in the inbox".to_owned(),
        Code::Conflict => "it, or the memory that it changes, was changed since".to_owned(),
        _ => error.error.message.clone(),
    }
}

/// Decides on the first item of a group and on those that repeat it. Returns false if no category is known.
fn decide_on(
    request: &WebRequest,
    planner: &dyn RefinementPlanner,
    group: &[ItemVersion],
) -> Result<bool, PageError> {
    let (form, services) = (&request.form, &request.services);
    let [item, repeats @ ..] = group else {
        return Err(PageError::invalid("the item of the inbox is invalid"));
    };
    match form.get("action") {
        "accept" => {
            let chosen = form
                .text("category")
                .or_else(|| form.text(&format!("category:{}", item.id)));
            let chosen = chosen.map(str::parse::<Category>).transpose()?;
            let category = match (chosen, suggest_filing(request, planner, item)?) {
                (Some(category), _) | (None, CategorySuggestion::Known(category)) => Some(category),
                (None, CategorySuggestion::Unchanged) => None,
                (None, CategorySuggestion::Unknown) => return Ok(false),
            };
            accept_item(request, item, category)?;
            // A repeated proposal that cannot be deleted, because it was changed since, is listed again.
            for repeat in repeats {
                if services
                    .store
                    .get_by(&repeat.id)
                    .is_ok_and(|stored| stored.stamp == repeat.version)
                {
                    delete(services, &repeat.id).ok();
                }
            }
        }
        "reject" => {
            reject(services, &item.id, Some(item.version))?;
            for repeat in repeats {
                reject(services, &repeat.id, Some(repeat.version)).ok();
            }
        }
        _ => {
            return Err(PageError::invalid(
                "the action is neither accept nor reject",
            ));
        }
    }
    Ok(true)
}

/// Accepts an item under a category, with the edited text of the form, and supersedes the memory of the field `replaces`.
fn accept_item(
    request: &WebRequest,
    item: &ItemVersion,
    category: Option<Category>,
) -> Result<(), PageError> {
    let (form, services) = (&request.form, &request.services);
    // Without the memory to replace, nothing is accepted.
    let replaced = form
        .text("replaces")
        .map(|id| services.store.get_by(id))
        .transpose()?;
    let options = AcceptOptions {
        category,
        stale: if form.get("stale") == "overwrite" {
            StaleProposals::Overwrite
        } else {
            StaleProposals::Refuse
        },
        secrets: SecretPolicy::Refuse,
        expected: Some(save_edit(request, item)?),
    };
    let accepted = accept(services, &item.id, options)?;
    if let Some(replaced) = replaced {
        let patch = Patch {
            superseded_by: Some(Some(accepted.id)),
            ..Patch::default()
        };
        let id = replaced.memory.id.to_string();
        update(services, &id, &patch, None, SecretPolicy::Keep)?;
    }
    Ok(())
}

/// Saves the text of the form as that of the proposal if it differs, and returns the version to accept.
fn save_edit(request: &WebRequest, item: &ItemVersion) -> Result<FileVersion, PageError> {
    let Some(content) = request.form.text("content").map(lines_of_form) else {
        return Ok(item.version);
    };
    let stored = request.services.store.get_by(&item.id)?;
    let is_edited =
        stored.memory.proposal.is_some() && stored.memory.content.trim_end() != content.trim_end();
    if !is_edited {
        return Ok(item.version);
    }
    edit_proposal(
        &request.services,
        &item.id,
        &content,
        Some(item.version),
        SecretPolicy::Refuse,
    )?;
    Ok(request.services.store.get_by(&item.id)?.stamp)
}

/// Returns a text of a form with the line breaks of files. Browsers send CR LF.
pub(super) fn lines_of_form(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The category under which an item is filed if the person chooses none.
enum CategorySuggestion {
    Known(Category),
    /// Nothing suggests a category.
    Unknown,
    /// The proposal changes or deletes a memory, which has a category.
    Unchanged,
}

fn suggest_filing(
    request: &WebRequest,
    planner: &dyn RefinementPlanner,
    item: &ItemVersion,
) -> Result<CategorySuggestion, PageError> {
    let memory = request.services.store.get_by(&item.id)?.memory;
    let is_new = memory
        .proposal
        .as_ref()
        .is_none_or(|proposal| proposal.action == ProposedAction::Write);
    Ok(match find_suggestion(planner, &memory) {
        _ if !is_new => CategorySuggestion::Unchanged,
        Some(category) => CategorySuggestion::Known(category),
        None => CategorySuggestion::Unknown,
    })
}

/// Returns `next` with the numbers of items that were not changed: those that failed, and those without a suggestion.
fn with_counts(next: &str, failed: usize, left: usize) -> String {
    let (path, query) = next.split_once('?').unwrap_or((next, ""));
    let number = |count: usize| {
        if count == 0 {
            String::new()
        } else {
            count.to_string()
        }
    };
    let query = Fields::parse(query).with("failed", &number(failed));
    format!(
        "{path}?{}",
        Fields::parse(&query).with("left", &number(left))
    )
}

/// Changes the text of a proposal.
async fn edit(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let form = &request.form;
            let item = ItemVersion::parse_group(form.get("item"))?.swap_remove(0);
            let content = lines_of_form(form.get("content"));
            edit_proposal(
                &request.services,
                &item.id,
                &content,
                Some(item.version),
                SecretPolicy::Refuse,
            )?;
            Ok(request.redirect(form.text("next").unwrap_or("/inbox")))
        })
        .await
}
