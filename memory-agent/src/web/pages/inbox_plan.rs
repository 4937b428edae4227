//! The suggestions of a dream, which a person accepts or rejects one by one.

use std::collections::HashSet;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use memory_core::{Code, MemoryId, Phase, PlannedAction, PlannedRefinement, StoreError};

use super::inbox_item::{BulkForm, ItemHead, MAX_HEADLINE};
use super::today::existing;
use crate::web::cached_views::EXPIRING_DAYS;
use crate::web::error::{PageError, render};
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::{Layout, NOTHING_SELECTED, SUGGESTIONS_SKIPPED};
use crate::web::markdown::render_markdown;
use crate::web::request::{NOTICE, WebRequest, redirect_with_notice};
use crate::web::state::WebState;

/// The path of the page.
const PATH: &str = "/inbox/plan";

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route(PATH, get(show).post(decide))
}

/// A suggestion of a dream.
struct PlanRow {
    head: ItemHead,
    detail: Label,
    duplicates: Vec<(String, Label)>,
    added: Vec<Label>,
    /// The text of the memory after a merge.
    merged: Option<SafeHtml>,
}

/// Returns the paths and the headlines of the duplicates of a memory.
pub(super) fn duplicate_links(duplicates: &[(MemoryId, String)]) -> Vec<(String, Label)> {
    let link = |(id, headline): &(MemoryId, String)| {
        let headline = Label::cut(headline, MAX_HEADLINE);
        (format!("/memories/{id}"), headline)
    };
    duplicates.iter().map(link).collect()
}

impl PlanRow {
    fn new(request: &WebRequest, planned: &PlannedRefinement) -> Self {
        let at = |at: &chrono::DateTime<chrono::Utc>| {
            request.local(*at).format("%Y-%m-%d %H:%M").to_string()
        };
        let (action, detail, duplicates, added) = match &planned.action {
            PlannedAction::File { category, reason } => (
                "File",
                format!("under {category}, because {reason}"),
                &[][..],
                &[][..],
            ),
            PlannedAction::Merge {
                duplicates, added, ..
            } => {
                let detail = if added.is_empty() {
                    "no text is added"
                } else {
                    "text that only the duplicates have is added"
                };
                (
                    "Merge",
                    detail.to_owned(),
                    duplicates.as_slice(),
                    added.as_slice(),
                )
            }
            PlannedAction::Remove { reason } => (
                "Move to the trash",
                format!("because {reason}"),
                &[][..],
                &[][..],
            ),
            PlannedAction::Remind { at: due, text } => (
                "Remind",
                format!("on {}: {text}", at(due)),
                &[][..],
                &[][..],
            ),
            PlannedAction::CancelReminder { at: due, text } => (
                "Cancel the reminder",
                format!("of {}: {text}", at(due)),
                &[][..],
                &[][..],
            ),
        };
        Self {
            head: ItemHead {
                field: "key",
                key: planned.key.clone(),
                path: format!("/memories/{}", planned.memory),
                headline: Label::cut(&planned.headline, MAX_HEADLINE),
                kind: action,
                is_proposal: false,
                is_deletion: false,
                is_selected: request.query.get("select") == "all",
            },
            detail: Label::cut(&detail, 300),
            duplicates: duplicate_links(duplicates),
            added: added.iter().map(|text| Label::cut(text, 300)).collect(),
            merged: match &planned.action {
                PlannedAction::Merge { content, .. } => Some(render_markdown(content, &|_| None)),
                _ => None,
            },
        }
    }
}

#[derive(Template)]
#[template(path = "inbox_plan.html")]
struct PlanPage {
    layout: Layout,
    bulk: BulkForm,
    rows: Vec<PlanRow>,
    more: usize,
    rejected: usize,
    /// The memories that automatic work will remove: day, path, headline and reason.
    expiring: Vec<(String, String, Label, &'static str)>,
    more_expiring: usize,
    expiring_days: i64,
}

/// Maximum number of suggestions of a page.
const MAX_ROWS: usize = 100;

/// Maximum number of rejected suggestions that are remembered.
const MAX_REJECTED: usize = 2_000;

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let Some(work) = request.plan()? else {
                let subject = "Duplicates and categories are being looked for";
                return Ok(request.page_in_progress("Suggestions", subject));
            };
            let (plan, expiring) = (&work.refinements, &work.expiring);
            let rejected = rejected_keys(request);
            let is_shown = |row: &&PlannedRefinement| !rejected.contains(&row.key);
            let mut left = plan.iter().filter(is_shown);
            let shown = open_suggestions(request, &mut left, MAX_ROWS)?;
            let more = left.count();
            let page = PlanPage {
                expiring_days: EXPIRING_DAYS,
                more_expiring: expiring.len().saturating_sub(MAX_ROWS),
                expiring: expiring
                    .iter()
                    .take(MAX_ROWS)
                    .map(|own| {
                        (
                            request.local(own.at).format("%Y-%m-%d").to_string(),
                            format!("/memories/{}", own.id),
                            Label::cut(&own.headline, MAX_HEADLINE),
                            own.why,
                        )
                    })
                    .collect(),
                layout: request.layout("Suggestions"),
                bulk: BulkForm {
                    path: PATH,
                    label: "Selected suggestions",
                    categories: Vec::new(),
                    reject: "Reject selected",
                    has_keys: false,
                },
                rejected: plan.len() - plan.iter().filter(is_shown).count(),
                rows: shown.iter().map(|row| PlanRow::new(request, row)).collect(),
                more,
            };
            Ok(render(&page))
        })
        .await
}

/// Returns the first `limit` suggestions that still apply.
fn open_suggestions<'a>(
    request: &WebRequest,
    plan: &mut dyn Iterator<Item = &'a PlannedRefinement>,
    limit: usize,
) -> Result<Vec<&'a PlannedRefinement>, StoreError> {
    let mut shown = Vec::new();
    while shown.len() < limit
        && let Some(planned) = plan.next()
    {
        if is_open(request, planned)? {
            shown.push(planned);
        }
    }
    Ok(shown)
}

/// Returns whether the memories of a suggestion are still there. The plan may be older than a decision.
pub(super) fn is_open(
    request: &WebRequest,
    planned: &PlannedRefinement,
) -> Result<bool, StoreError> {
    let find = |id| existing(request.services.store.get(id));
    let Some(stored) = find(&planned.memory)? else {
        return Ok(false);
    };
    match &planned.action {
        PlannedAction::File { .. } => Ok(stored.memory.phase == Phase::Inbox),
        PlannedAction::Merge { duplicates, .. } => {
            for (id, _) in duplicates {
                if find(id)?.is_none() {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => Ok(true),
    }
}

/// Returns the keys of the suggestions that the person rejected.
pub(super) fn rejected_keys(request: &WebRequest) -> HashSet<String> {
    let keys = request.web.config.host.rejected_suggestions();
    keys.into_iter().collect()
}

/// Remembers that the person rejected the suggestions with these keys.
pub(super) fn reject_suggestions(request: &WebRequest, keys: &[String]) -> Result<(), PageError> {
    let host = &request.web.config.host;
    let mut rejected = host.rejected_suggestions();
    rejected.retain(|known| !keys.contains(known));
    rejected.extend_from_slice(keys);
    rejected.drain(..rejected.len().saturating_sub(MAX_REJECTED));
    host.store_rejected_suggestions(&rejected)?;
    Ok(())
}

/// Accepts or rejects the suggestions of the fields `key`, or shows the rejected ones again.
async fn decide(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let keys: Vec<String> = request.form.all("key").map(str::to_owned).collect();
            let (action, host) = (request.form.get("action"), &request.web.config.host);
            let next = request.form.text("next").unwrap_or(PATH);
            if keys.is_empty() && action != "restore" {
                return Ok(redirect_with_notice(next, NOTHING_SELECTED));
            }
            match action {
                "accept" => {
                    let result = host.planner(request.services.clone()).apply(&keys)?;
                    let path = if result.skipped == 0 {
                        next.to_owned()
                    } else {
                        format!("{PATH}?{NOTICE}={SUGGESTIONS_SKIPPED}")
                    };
                    let operations: Vec<_> = result.operation.into_iter().collect();
                    if operations.is_empty() {
                        let message = "the memories were changed since, and nothing was done";
                        return Err(PageError::new(
                            Code::Conflict,
                            message,
                            "reload the suggestions",
                        ));
                    }
                    Ok(request.redirect_after(&path, &operations))
                }
                "reject" => {
                    reject_suggestions(request, &keys)?;
                    Ok(request.redirect_after(next, &[]))
                }
                "restore" => {
                    host.store_rejected_suggestions(&[])?;
                    Ok(request.redirect_after(PATH, &[]))
                }
                _ => Err(PageError::invalid("the action is unknown")),
            }
        })
        .await
}
