//! The reminders as a list and as a month, with done and snooze.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use chrono::{Datelike, Months, NaiveDate};
use memory_core::{
    Draft, DueTime, Reminder, ReminderFilter, SecretPolicy, StoreError, StoredMemory, done,
    end_series, parse_day, parse_due_time, remind, reminders, snooze,
};

use crate::tools::without_commands;
use crate::web::charts::{CalendarItem, render_month};
use crate::web::error::{PageError, render};
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

/// Maximum number of reminders of a list.
const MAX_LISTED: usize = 200;

/// Maximum number of reminders that a calendar reads.
const MAX_READ: usize = 5_000;

/// Maximum number of characters of a headline.
const MAX_HEADLINE: usize = 140;

/// The times of the snooze menu, as words that [`parse_due_time`] reads, each with its title.
const SNOOZES: [(&str, &str); 4] = [
    ("in 1 hour", "In an hour"),
    ("tomorrow at 9am", "Tomorrow"),
    ("in 3 days", "In three days"),
    ("in 1 week", "In a week"),
];

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/reminders", get(show).post(create))
        .route("/reminders/done", post(complete))
        .route("/reminders/snooze", post(postpone))
}

/// A reminder as a row.
struct ReminderRow {
    id: String,
    headline: Label,
    due: TimeLabel,
    /// `overdue`, `open` or `done`.
    state: &'static str,
    repeats: Option<Label>,
    of: Option<String>,
}

impl ReminderRow {
    fn new(request: &WebRequest, stored: &StoredMemory, reminder: &Reminder) -> Self {
        let now = request.services.clock.now();
        Self {
            id: stored.memory.id.to_string(),
            headline: Label::cut(stored.memory.headline(), MAX_HEADLINE),
            due: TimeLabel::exact(request.local(reminder.due)),
            state: match (reminder.is_open(), reminder.is_due(now)) {
                (false, _) => "done",
                (true, true) => "overdue",
                (true, false) => "open",
            },
            repeats: reminder
                .repeats
                .as_ref()
                .map(|repeats| Label::cut(&repeats.expression, MAX_HEADLINE)),
            of: reminder.of.map(|id| id.to_string()),
        }
    }
}

#[derive(Template)]
#[template(path = "reminders.html")]
struct RemindersPage {
    layout: Layout,
    rows: Vec<ReminderRow>,
    total: u64,
    show: &'static str,
    day: Option<NaiveDate>,
    month: String,
    calendar: SafeHtml,
    previous: String,
    next: String,
    snoozes: [(&'static str, &'static str); 4],
    degraded: Option<String>,
    /// The text of a new reminder, which another page prepared.
    text: String,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let now = request.services.clock.now();
            let today = request.local(now).date_naive();
            let (filter, show) = match request.query.get("show") {
                "all" => (ReminderFilter::All, "all"),
                "due" => (ReminderFilter::Due, "due"),
                _ => (ReminderFilter::Open, "open"),
            };
            let parse = |text: &str| {
                parse_day(text)
                    .ok_or_else(|| PageError::invalid("the day is not a date such as 2026-05-31"))
            };
            let day = request.query.text("day").map(parse).transpose()?;
            let month = request
                .query
                .text("month")
                .map(|month| parse(&format!("{month}-01")))
                .transpose()?;
            let month = month.or(day).unwrap_or(today);
            let month = month.with_day(1).unwrap_or(month);
            let all = reminders(
                &request.services,
                if day.is_some() {
                    ReminderFilter::All
                } else {
                    filter
                },
                Some(MAX_READ),
            )?;
            let with_due = || {
                all.memories
                    .iter()
                    .filter_map(|stored| Some((stored, stored.memory.reminder.as_ref()?)))
            };
            let items: Vec<CalendarItem> = with_due()
                .map(|(stored, reminder)| {
                    let due = request.local(reminder.due);
                    CalendarItem {
                        day: due.date_naive(),
                        time: due.format("%H:%M").to_string(),
                        label: Label::cut(stored.memory.headline(), 40),
                        path: format!("/memories/{}", stored.memory.id),
                        is_overdue: reminder.is_due(now),
                    }
                })
                .collect();
            let is_on_day = |reminder: &Reminder| {
                day.is_none_or(|day| request.local(reminder.due).date_naive() == day)
            };
            let rows: Vec<ReminderRow> = with_due()
                .filter(|(_, reminder)| is_on_day(reminder))
                .take(MAX_LISTED)
                .map(|(stored, reminder)| ReminderRow::new(request, stored, reminder))
                .collect();
            let path = |month: Option<NaiveDate>| {
                let month = month
                    .map(|month| month.format("%Y-%m").to_string())
                    .unwrap_or_default();
                format!("/reminders?{}", request.query.with("month", &month))
            };
            let page = RemindersPage {
                layout: request.layout("Reminders"),
                total: if day.is_some() {
                    rows.len() as u64
                } else {
                    all.total
                },
                rows,
                show,
                day,
                month: month.format("%B %Y").to_string(),
                calendar: render_month(month, today, &items),
                previous: path(month.checked_sub_months(Months::new(1))),
                next: path(month.checked_add_months(Months::new(1))),
                snoozes: SNOOZES,
                degraded: all.degraded.as_deref().and_then(without_commands),
                text: request.query.get("text").to_owned(),
            };
            Ok(render(&page))
        })
        .await
}

/// Creates a reminder of the fields `text` and, if the text names no time, `when`.
async fn create(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let text = request
                .form
                .text("text")
                .ok_or_else(|| PageError::of_field("text", "the text of the reminder is empty"))?;
            let at = request
                .form
                .text("when")
                .map(|when| parse_when(request, when))
                .transpose()
                .map_err(|error| error.in_field("when"))?;
            let draft = Draft::new(text).scope(request.services.default_scope());
            remind(
                &request.services,
                draft,
                at,
                &request.zone(),
                SecretPolicy::Refuse,
            )
            .map_err(|error| match error {
                StoreError::NoTime => {
                    PageError::of_field("when", "the text names no time; choose one here")
                }
                StoreError::Over { .. } => {
                    PageError::of_field("when", "this time is past; choose a later one")
                }
                error => error.into(),
            })?;
            Ok(request.redirect(request.form.text("next").unwrap_or("/reminders")))
        })
        .await
}

/// Completes the reminder of the field `id`, and all its occurrences if there is a field `series`.
async fn complete(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let id = request.form.get("id");
            if request.form.text("series").is_some() {
                end_series(&request.services, id)?;
            } else {
                done(&request.services, id, &request.zone())?;
            }
            Ok(request.redirect(request.form.text("next").unwrap_or("/reminders")))
        })
        .await
}

async fn postpone(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let when = request.form.text("custom").or(request.form.text("until"));
            let when =
                when.ok_or_else(|| PageError::of_field("custom", "choose a day and a time"))?;
            let until = parse_when(request, when).map_err(|error| error.in_field("custom"))?;
            snooze(&request.services, request.form.get("id"), until)?;
            Ok(request.redirect(request.form.text("next").unwrap_or("/reminders")))
        })
        .await
}

/// Parses a time: words such as `tomorrow at 9am`, or the value of a field for date and time.
fn parse_when(request: &WebRequest, text: &str) -> Result<DueTime, PageError> {
    let now = request.services.clock.now().with_timezone(&request.zone());
    // The field has a `T` between date and time, and no zone.
    let text = text.replacen(
        'T',
        " ",
        usize::from(text.len() == "2026-05-31T09:00".len()),
    );
    Ok(parse_due_time(&text, &now)?)
}
