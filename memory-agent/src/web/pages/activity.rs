//! The activity: all operations with their author and an undo, the year as a heat map, growth, and the cost of language models.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeZone, Utc};
use memory_core::{
    Filter, HomeSection, LocalZone, LogEntry, PeriodUsage, Query, RecordedChange, StoreError, Subject, Usage, Verb, facets,
};

use super::inbox::Pager;
use crate::web::charts::{render_growth, render_heat_map};
use crate::web::error::{PageError, render};
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::operations::OperationRow;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;
use crate::web::undo::past_tense;

/// Number of operations of a page.
const PAGE: usize = 50;

/// Number of days of the heat map.
const DAYS: u64 = 365;

/// Number of days with operations that are links.
const ACTIVE_DAYS: usize = 14;

/// Maximum number of changes of one operation that are listed.
const MAX_CHANGES: usize = 200;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route("/activity", get(show)).route("/activity/{operation}", get(show_operation))
}

#[derive(Template)]
#[template(path = "activity.html")]
struct ActivityPage {
    layout: Layout,
    operations: Vec<OperationRow>,
    pager: Pager,
    by: String,
    verb: String,
    day: String,
    verbs: Vec<(&'static str, &'static str)>,
    is_filtered: bool,
    heat_map: SafeHtml,
    /// The last days with operations, each with their number.
    active_days: Vec<(NaiveDate, u64)>,
    growth: SafeHtml,
    cost: Option<ModelCost>,
}

/// The usage of language models.
struct ModelCost {
    rows: Vec<CostRow>,
    calls_left: String,
    tokens_left: String,
    unreadable: u64,
}

struct CostRow {
    period: String,
    calls: u64,
    prompt_tokens: u64,
    answer_tokens: u64,
}

impl ModelCost {
    fn new(usage: &Usage) -> Self {
        let row = |period: &str, usage: &PeriodUsage| CostRow {
            period: period.to_owned(),
            calls: usage.all.calls,
            prompt_tokens: usage.all.prompt_tokens,
            answer_tokens: usage.all.answer_tokens,
        };
        let mut rows = vec![row("Today", &usage.today), row("Last 30 days", &usage.lately)];
        rows.extend(usage.lately.purposes.iter().map(|(purpose, usage)| CostRow {
            period: format!("… for {}", purpose.as_str()),
            calls: usage.calls,
            prompt_tokens: usage.prompt_tokens,
            answer_tokens: usage.answer_tokens,
        }));
        let left = |left: Option<u64>| left.map_or_else(|| "unlimited".to_owned(), |left| left.to_string());
        Self { rows, calls_left: left(usage.left.calls), tokens_left: left(usage.left.tokens), unreadable: usage.unreadable }
    }
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let today = request.local(request.services.clock.now()).date_naive();
            let zone = request.zone();
            let (by, verb, day) = (request.query.get("by"), request.query.get("verb"), request.query.get("day"));
            let is_filtered = [by, verb, day].iter().any(|field| !field.is_empty());
            let page = Pager::page(request);
            let (entries, total) = if is_filtered {
                let day = request.query.text("day").map(parse_day).transpose()?;
                let verb = request.query.text("verb").map(str::parse::<Verb>).transpose()?;
                let by = request.query.text("by").map(str::to_owned);
                filtered(request, &zone, day, verb, by.as_deref(), page)?
            } else {
                // One more than the page shows whether there is a next page.
                let entries = request.with_logs(|logs| logs.list((page + 1) * PAGE + 1))?;
                let total = entries.len() as u64;
                (entries.into_iter().skip(page * PAGE).take(PAGE).collect(), total)
            };
            let operations = entries.iter().map(|entry| OperationRow::new(request, entry)).collect::<Result<_, _>>()?;
            let mut pager = Pager::new(request, page, PAGE, total);
            if !is_filtered {
                pager.range = format!("page {}", page + 1);
            }
            let is_first = page == 0 && !is_filtered;
            let (days, heat_map, growth) = if is_first { charts(request, &zone, today)? } else { Default::default() };
            let page = ActivityPage {
                layout: request.layout("Activity"),
                operations,
                pager,
                by: by.to_owned(),
                verb: verb.to_owned(),
                day: day.to_owned(),
                verbs: Verb::ALL.iter().map(|verb| (verb.as_str(), past_tense(*verb))).collect(),
                is_filtered,
                heat_map,
                active_days: days.into_iter().rev().take(ACTIVE_DAYS).collect(),
                growth,
                cost: if is_first { request.web.config.host.usage()?.as_ref().map(ModelCost::new) } else { None },
            };
            Ok(render(&page))
        })
        .await
}

fn parse_day(text: &str) -> Result<NaiveDate, PageError> {
    text.parse().map_err(|_| PageError::invalid("the day is not a date such as 2026-05-31"))
}

/// Returns the beginning of a day in a zone.
fn start_of_day(zone: &LocalZone, day: NaiveDate) -> DateTime<Utc> {
    let midnight = day.and_time(NaiveTime::MIN);
    zone.from_local_datetime(&midnight).earliest().map_or_else(|| midnight.and_utc(), |start| start.to_utc())
}

/// Returns one page of the operations of a day, a kind or an author, and their number. Without a day, those of the last year.
fn filtered(
    request: &WebRequest,
    zone: &LocalZone,
    day: Option<NaiveDate>,
    verb: Option<Verb>,
    by: Option<&str>,
    page: usize,
) -> Result<(Vec<LogEntry>, u64), PageError> {
    let from = match day {
        Some(day) => start_of_day(zone, day),
        None => request.services.clock.now() - Days::new(DAYS),
    };
    let until = day.and_then(|day| day.checked_add_days(Days::new(1))).map(|next| start_of_day(zone, next));
    let mut entries = request.with_logs(|logs| logs.since(from))?;
    entries.retain(|entry| {
        let operation = &entry.operation;
        until.is_none_or(|until| operation.at < until)
            && verb.is_none_or(|verb| operation.verb == verb)
            && by.is_none_or(|by| operation.by == by)
    });
    let total = entries.len() as u64;
    Ok((entries.into_iter().skip(page * PAGE).take(PAGE).collect(), total))
}

/// Returns the number of operations per day of the last year, their heat map, and the growth.
fn charts(
    request: &WebRequest,
    zone: &LocalZone,
    today: NaiveDate,
) -> Result<(BTreeMap<NaiveDate, u64>, SafeHtml, SafeHtml), PageError> {
    let first = today - Days::new(DAYS - 1);
    let from = start_of_day(zone, first).with_timezone(zone);
    let days = request.with_logs(|logs| logs.count_days(&from))?;
    let heat_map = render_heat_map(&days, first, today, ["operation", "operations"]);
    let notes = Filter { place: Some(HomeSection::Notes), ..Filter::all() };
    let mut months = facets(&request.services, &Query::new("").filter(notes))?.months;
    months.reverse();
    Ok((days, heat_map, render_growth(&months)))
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
    is_undo: bool,
    object: Label,
    path: Option<String>,
    changes: Vec<ChangeRow>,
    more: bool,
}

/// A change of one file.
struct ChangeRow {
    id: String,
    headline: Label,
    exists: bool,
    change: &'static str,
    path: Label,
    reason: Option<Label>,
}

impl ChangeRow {
    fn new(request: &WebRequest, change: &RecordedChange) -> Result<Self, PageError> {
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let path = after.or(before).map(|file| file.path.as_str()).unwrap_or_default();
        let headline = match request.services.store.get(&change.id) {
            Ok(stored) => Some(stored.memory.headline().to_owned()),
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            id: change.id.to_string(),
            exists: headline.is_some(),
            headline: Label::cut(&headline.unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path).to_owned()), 140),
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
            if let Subject::Notes(_) = entry.subject {
                for change in request.services.history.changes(&entry.operation.id) {
                    if MAX_CHANGES <= changes.len() {
                        more = true;
                        break;
                    }
                    changes.push(ChangeRow::new(request, &change?)?);
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
                is_undo: row.is_undo,
                object: row.object,
                path: row.path,
                changes,
                more,
            };
            Ok(render(&page))
        })
        .await
}
