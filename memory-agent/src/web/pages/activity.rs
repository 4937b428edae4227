//! The activity: all operations with their author and an undo, and the year as a heat map.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use chrono::{Days, NaiveDate, TimeDelta};
use memory_core::{
    ActivitySummary, ChangeVersions, LocalZone, LogEntry, RecordedChange, Subject, Verb,
    change_versions, subtract_time,
};

use crate::web::changed_object::{ChangedMemory, past_tense};
use crate::web::charts::render_heat_map;
use crate::web::diff::{changed_attributes, render_diff};
use crate::web::error::{PageError, render};
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::operations::{OperationRow, is_agent};
use crate::web::pager::Pager;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;
use crate::web::undo_offer::UndoOffer;

/// Number of operations of a page.
const PAGE: usize = 50;

/// Number of days of the heat map.
const DAYS: Days = Days::new(364);

/// Number of days with operations that are links.
const ACTIVE_DAYS: usize = 14;

/// Maximum number of changes of one operation that are listed.
const MAX_CHANGES: usize = 200;

/// Maximum number of changes of one operation that are shown with their differences.
const MAX_DIFFERENCES: usize = 20;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/activity", get(show))
        .route("/activity/{operation}", get(show_operation))
}

#[derive(Template)]
#[template(path = "activity.html")]
struct ActivityPage {
    layout: Layout,
    operations: Vec<OperationRow>,
    pager: Pager,
    /// The authors of the last year, each with whether it is selected.
    authors: Vec<(Label, String, bool)>,
    verb: String,
    day: String,
    is_by_agents: bool,
    verbs: Vec<(&'static str, &'static str)>,
    is_filtered: bool,
    heat_map: SafeHtml,
    /// The last days with operations, each with their number.
    active_days: Vec<(NaiveDate, u64)>,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let today = request.local(request.services.clock.now()).date_naive();
            let zone = request.zone();
            let (by, verb, day) = (
                request.query.get("by"),
                request.query.get("verb"),
                request.query.get("day"),
            );
            let is_by_agents = request.query.get("agents") == "yes";
            let is_filtered = is_by_agents || [by, verb, day].iter().any(|field| !field.is_empty());
            let page = Pager::page(request);
            let (entries, total) = if is_filtered {
                let day = request.query.text("day").map(parse_day).transpose()?;
                let verb = request
                    .query
                    .text("verb")
                    .map(str::parse::<Verb>)
                    .transpose()?;
                let by = request.query.text("by");
                let is_selected = |by_whom: &str| {
                    by.is_none_or(|by| by_whom == by) && (!is_by_agents || is_agent(by_whom))
                };
                filtered(request, &zone, day, verb, &is_selected, page)?
            } else {
                // One more than the page shows whether there is a next page.
                let entries = request.with_logs(|logs| logs.list((page + 1) * PAGE + 1))?;
                let total = entries.len() as u64;
                (
                    entries.into_iter().skip(page * PAGE).take(PAGE).collect(),
                    total,
                )
            };
            let operations = entries
                .iter()
                .map(|entry| OperationRow::new(request, entry))
                .collect::<Result<_, _>>()?;
            let mut pager = Pager::new(request, page, PAGE, total);
            if !is_filtered {
                pager.range = format!("page {}", page + 1);
            }
            let is_first = page == 0 && !is_filtered;
            let first_day = today.checked_sub_days(DAYS).unwrap_or(today);
            let from = zone.start_of_day(first_day).with_timezone(&zone);
            let ActivitySummary { days, mut authors } =
                request.with_logs(|logs| logs.summarize(&from))?;
            if !by.is_empty() {
                authors.insert(by.to_owned());
            }
            let heat_map = if is_first {
                render_heat_map(&days, first_day, today, ["operation", "operations"])
            } else {
                SafeHtml::default()
            };
            let page = ActivityPage {
                layout: request.layout("Activity"),
                operations,
                pager,
                authors: authors
                    .into_iter()
                    .map(|name| (Label::cut(&name, 60), name.clone(), name == by))
                    .collect(),
                verb: verb.to_owned(),
                day: day.to_owned(),
                is_by_agents,
                verbs: Verb::ALL
                    .iter()
                    .map(|verb| (verb.as_str(), past_tense(*verb)))
                    .collect(),
                is_filtered,
                heat_map,
                active_days: days
                    .into_iter()
                    .rev()
                    .take(if is_first { ACTIVE_DAYS } else { 0 })
                    .collect(),
            };
            Ok(render(&page))
        })
        .await
}

fn parse_day(text: &str) -> Result<NaiveDate, PageError> {
    text.parse()
        .map_err(|_| PageError::invalid("the day is not a date such as 2026-05-31"))
}

/// Returns one page of the operations of a day, a kind or selected authors, and their number. Without a day, those of the last year.
fn filtered(
    request: &WebRequest,
    zone: &LocalZone,
    day: Option<NaiveDate>,
    verb: Option<Verb>,
    is_selected: &dyn Fn(&str) -> bool,
    page: usize,
) -> Result<(Vec<LogEntry>, u64), PageError> {
    let from = match day {
        Some(day) => zone.start_of_day(day),
        None => subtract_time(request.services.clock.now(), TimeDelta::days(365)),
    };
    let until = day
        .and_then(|day| day.checked_add_days(Days::new(1)))
        .map(|next| zone.start_of_day(next));
    let mut entries = request.with_logs(|logs| logs.since(from))?;
    entries.retain(|entry| {
        let operation = &entry.operation;
        until.is_none_or(|until| operation.at < until)
            && verb.is_none_or(|verb| operation.verb == verb)
            && is_selected(&operation.by)
    });
    let total = entries.len() as u64;
    Ok((
        entries.into_iter().skip(page * PAGE).take(PAGE).collect(),
        total,
    ))
}

#[derive(Template)]
#[template(path = "operation.html")]
struct OperationPage {
    layout: Layout,
    id: String,
    verb: &'static str,
    time: TimeLabel,
    by: Label,
    undone_by: Option<String>,
    undoes: Option<String>,
    undo: UndoOffer,
    object: Label,
    state: Option<&'static str>,
    path: Option<String>,
    changes: Vec<ChangeRow>,
    more: bool,
}

/// A change of one file.
struct ChangeRow {
    id: String,
    headline: Label,
    state: Option<&'static str>,
    change: &'static str,
    path: Label,
    reason: Option<Label>,
    attributes: Vec<(&'static str, Label, Label)>,
    diff: Option<SafeHtml>,
    /// The path in the trash of a memory that the operation deleted and that does not exist now.
    restorable: Option<String>,
}

impl ChangeRow {
    fn new(
        request: &WebRequest,
        entry: &LogEntry,
        change: &RecordedChange,
        has_diff: bool,
    ) -> Result<Self, PageError> {
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let path = after
            .or(before)
            .map(|file| file.path.as_str())
            .unwrap_or_default();
        let memory = ChangedMemory::of(request, entry, change)?;
        let versions = if has_diff {
            change_versions(&request.services, &entry.operation.id, change)?
        } else {
            ChangeVersions::default()
        };
        let text = |memory: &Option<memory_core::Memory>| {
            memory.as_ref().map(|memory| memory.content.clone())
        };
        let (old, new) = (text(&versions.before), text(&versions.after));
        // Without both versions, only the text of a created or deleted memory is a complete difference.
        let is_complete = (before.is_none() || old.is_some()) && (after.is_none() || new.is_some());
        let diff = Some((old.unwrap_or_default(), new.unwrap_or_default()))
            .filter(|(old, new)| is_complete && old != new);
        let both = versions.before.as_ref().zip(versions.after.as_ref());
        let trash = before
            .filter(|_| after.is_none() && memory.is_deleted)
            .and_then(|file| file.trash.clone());
        Ok(Self {
            id: change.id.to_string(),
            headline: Label::cut(&memory.headline, 140),
            state: memory.state,
            restorable: trash,
            attributes: both
                .map(|(before, after)| changed_attributes(before, after))
                .unwrap_or_default(),
            diff: diff.map(|(old, new)| render_diff(&old, &new)),
            change: match (before, after) {
                (None, Some(_)) => "created",
                (Some(before), Some(after)) if before.path != after.path => "changed and moved",
                (Some(_), Some(_)) => "changed",
                (Some(_), None) => "moved to the trash",
                (None, None) => "left as it was",
            },
            path: Label::new(path),
            reason: change.why.as_deref().map(Label::new),
        })
    }
}

async fn show_operation(Path(operation): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let entry = request.with_logs(|logs| logs.find(&operation))?;
            let row = OperationRow::new(request, &entry)?;
            let mut changes = Vec::new();
            let mut more = false;
            if let Subject::Notes(files) = &entry.subject {
                let count = usize::try_from(files.count).unwrap_or(usize::MAX);
                for change in request
                    .services
                    .history
                    .changes(&entry.operation.id)
                    .take(count)
                {
                    if MAX_CHANGES <= changes.len() {
                        more = true;
                        break;
                    }
                    changes.push(ChangeRow::new(
                        request,
                        &entry,
                        &change?,
                        changes.len() < MAX_DIFFERENCES,
                    )?);
                }
            }
            let page = OperationPage {
                layout: request.layout(row.verb),
                id: row.id,
                verb: row.verb,
                time: TimeLabel::exact(request.local(entry.operation.at)),
                by: row.by,
                undone_by: entry.undone_by.map(|id| id.to_string()),
                undoes: entry.undoes.map(|id| id.to_string()),
                undo: row.undo,
                object: row.object,
                state: row.state,
                path: row.path,
                changes,
                more,
            };
            Ok(render(&page))
        })
        .await
}
