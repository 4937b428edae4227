//! The inbox: proposals of agents and notes without a category.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use memory_core::{
    AcceptOptions, Category, FileVersion, Filter, HomeSection, ListOrder, MemoryStoreExt,
    PageRequest, Patch, Phase, ProposedAction, RefinementPlanner, SecretPolicy, StaleProposals,
    accept, edit_proposal, list, proposals, reject, update,
};

use super::inbox_item::{BulkForm, InboxCard, ItemVersion, filing_categories, find_suggestion};
use crate::web::error::{PageError, render};
use crate::web::fields::Fields;
use crate::web::layout::{Layout, NOTHING_SELECTED};
use crate::web::pager::Pager;
use crate::web::request::{WebRequest, redirect_with_notice};
use crate::web::state::WebState;

/// Number of items of a page.
const PAGE: usize = 20;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/inbox", get(show))
        .route("/inbox/decide", post(decide))
        .route("/inbox/edit", post(edit))
}

#[derive(Template)]
#[template(path = "inbox.html")]
struct InboxPage {
    layout: Layout,
    proposals: u64,
    notes: u64,
    bulk: BulkForm,
    /// The address to which the forms return.
    next: String,
    items: Vec<InboxCard>,
    /// The number of selected items that the previous request did not change.
    failed: u64,
    /// The number of selected items that the previous request left, because nothing suggests a category.
    left: u64,
    pager: Pager,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let waiting = proposals(&request.services)?;
            let planner = request.web.config.host.planner(request.services.clone());
            let filter = Filter {
                phase: Some(Phase::Inbox),
                place: Some(HomeSection::Notes),
                ..Filter::default()
            };
            let page = Pager::page(request);
            let start = page * PAGE;
            // Proposals come first, and both lists are one sequence of pages.
            let shown = waiting.iter().skip(start).take(PAGE);
            let mut items = shown
                .map(|waiting| InboxCard::of_proposal(request, planner.as_ref(), waiting))
                .collect::<Result<Vec<_>, _>>()?;
            let limit = PAGE - items.len();
            let offset = start.saturating_sub(waiting.len());
            let notes = list(
                &request.services,
                &filter,
                &PageRequest {
                    order: ListOrder::Created,
                    offset,
                    limit: Some(limit),
                },
            )?;
            for stored in &notes.memories {
                items.push(InboxCard::of_note(request, planner.as_ref(), stored)?);
            }
            let total = waiting.len() as u64 + notes.total;
            let layout = request.layout("Inbox");
            let page = InboxPage {
                next: layout.here.clone(),
                layout,
                proposals: waiting.len() as u64,
                notes: notes.total,
                bulk: BulkForm {
                    path: "/inbox/decide",
                    label: "Selected items",
                    categories: filing_categories().collect(),
                    reject: "Reject or delete selected",
                    has_keys: true,
                },
                items,
                failed: request.query.get("failed").parse().unwrap_or_default(),
                left: request.query.get("left").parse().unwrap_or_default(),
                pager: Pager::new(request, page, PAGE, total),
            };
            Ok(render(&page))
        })
        .await
}

/// Accepts or rejects the fields `item`. An accepted item supersedes the memory of the field `replaces`.
///
/// Without a `category`, each new item is filed under the one of the field `category:ID`, under its suggested one, or left.
async fn decide(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let form = &request.form;
            let items = form
                .all("item")
                .map(ItemVersion::parse)
                .collect::<Result<Vec<_>, _>>()?;
            let next = form.text("next").unwrap_or("/inbox");
            if items.is_empty() {
                return Ok(redirect_with_notice(next, NOTHING_SELECTED));
            }
            let category = form
                .text("category")
                .map(str::parse::<Category>)
                .transpose()?;
            let stale = if form.get("stale") == "overwrite" {
                StaleProposals::Overwrite
            } else {
                StaleProposals::Refuse
            };
            let planner = request.web.config.host.planner(request.services.clone());
            // Returns whether the item was decided on.
            let apply = |item: &ItemVersion| match form.get("action") {
                "accept" => {
                    let own = form
                        .text(&format!("category:{}", item.id))
                        .map(str::parse::<Category>)
                        .transpose()?;
                    let category = match (
                        category.or(own),
                        suggest_filing(request, planner.as_ref(), item)?,
                    ) {
                        (Some(category), _) | (None, CategorySuggestion::Known(category)) => {
                            Some(category)
                        }
                        (None, CategorySuggestion::Unchanged) => None,
                        (None, CategorySuggestion::Unknown) => return Ok(false),
                    };
                    // Without the memory to replace, nothing is accepted.
                    let replaced = form
                        .text("replaces")
                        .map(|id| request.services.store.get_by(id))
                        .transpose()?;
                    let expected = Some(save_edit(request, item)?);
                    let options = AcceptOptions {
                        category,
                        stale,
                        secrets: SecretPolicy::Refuse,
                        expected,
                    };
                    let accepted = accept(&request.services, &item.id, options)?;
                    if let Some(replaced) = replaced {
                        let patch = Patch {
                            superseded_by: Some(Some(accepted.id)),
                            ..Patch::default()
                        };
                        update(
                            &request.services,
                            &replaced.memory.id.to_string(),
                            &patch,
                            None,
                            SecretPolicy::Keep,
                        )?;
                    }
                    Ok(true)
                }
                "reject" => reject(&request.services, &item.id, Some(item.version))
                    .map(|_| true)
                    .map_err(PageError::from),
                _ => Err(PageError::invalid(
                    "the action is neither accept nor reject",
                )),
            };
            let (mut failures, mut left) = (Vec::new(), 0);
            for item in &items {
                match apply(item) {
                    Ok(true) => {}
                    Ok(false) => left += 1,
                    Err(error) => failures.push(error),
                }
            }
            // A failure of the only item is a page of its own, with the next step.
            if failures.len() == items.len() {
                return Err(failures.swap_remove(0));
            }
            Ok(request.redirect(&with_counts(next, failures.len(), left)))
        })
        .await
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
            let item = ItemVersion::parse(form.get("item"))?;
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
