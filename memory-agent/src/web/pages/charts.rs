//! The charts: whether memories are used, by whom, and what will be lost.
//!
//! - Purpose: to see over months how the memory grows, what assistants receive of it, and what nobody needs.
//! - First: the number of memories, with the calls and tokens of each assistant by week.
//! - Actions by frequency: open a memory that was never received or that expires soon, open the sessions of an assistant, read the
//!   numbers of a chart as a table.
//!
//! The numbers depend on the change mark and on the day, and are cached.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use chrono::{NaiveDate, TimeDelta};
use memory_core::{
    ExpiringMemory, Filter, HomeSection, LocalZone, Memory, MemoryId, PeriodUsage, Query,
    RecallStatistics, RecallTotal, StoreError, UnusedMemories, Usage, facets, first_of_week,
    recall_statistics, unused_memories,
};

use crate::web::charts::{BarSeries, render_bars, render_growth};
use crate::web::error::{PageError, render};
use crate::web::fields::encode_pairs;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

/// Number of weeks of what assistants received, with the current one.
const WEEKS: i64 = 26;

/// Number of weeks for which expiring memories are listed, with the current one.
const EXPIRING_WEEKS: i64 = 13;

/// Maximum number of assistants that have their own bars.
const MAX_AGENTS: usize = 4;

/// Maximum number of memories in a list.
const LISTED: usize = 10;

/// Maximum number of characters of a headline.
const MAX_HEADLINE: usize = 100;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route("/charts", get(show))
}

/// The numbers of the charts.
#[derive(Debug)]
pub(in crate::web) struct ChartNumbers {
    /// The new memories of each month.
    months: Vec<(NaiveDate, u64)>,
    /// What assistants received in the last [`WEEKS`].
    received: RecallStatistics,
    /// The memories that were received most often, with the number.
    most_received: Vec<(Memory, u64)>,
    unused: UnusedMemories,
    /// The memories that expire within [`EXPIRING_WEEKS`].
    expiring: Vec<ExpiringMemory>,
}

impl ChartNumbers {
    fn read(web: &WebState, week: NaiveDate) -> Result<Self, PageError> {
        let (services, ledger) = (&web.config.services, web.config.recalls.as_ref());
        let notes = Filter {
            place: Some(HomeSection::Notes),
            ..Filter::all()
        };
        let mut months = facets(services, &Query::new("").filter(notes))?.months;
        months.reverse();
        let zone = LocalZone::new(Arc::clone(&web.config.local_time));
        let first = weeks_around(week, 1 - WEEKS..1).first().copied();
        let from = zone
            .start_of_day(first.unwrap_or(week))
            .with_timezone(&zone);
        // Some of the memories are deleted.
        let received = recall_statistics(ledger, &from, 3 * LISTED)?;
        let mut most_received = Vec::new();
        for (id, count) in &received.memories {
            let Ok(id) = id.parse::<MemoryId>() else {
                continue;
            };
            match services.store.get(&id) {
                Ok(stored) => most_received.push((stored.memory, *count)),
                Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        most_received.truncate(LISTED);
        let planner = web.config.host.planner(services.clone());
        Ok(Self {
            months,
            received,
            most_received,
            unused: unused_memories(services, ledger, LISTED)?,
            expiring: planner.expiring(TimeDelta::weeks(EXPIRING_WEEKS))?,
        })
    }
}

/// A number by week and assistant: as bars and as a table.
struct WeekChart {
    id: &'static str,
    title: &'static str,
    bars: SafeHtml,
    /// The assistants: their position among the colours, their name, and the path of their sessions.
    agents: Vec<(usize, Label, Option<String>)>,
    /// The weeks with any number, the last one first, and their numbers by assistant.
    rows: Vec<(NaiveDate, Vec<u64>)>,
}

impl WeekChart {
    fn new(
        id: &'static str,
        title: &'static str,
        unit: [&str; 2],
        weeks: &[NaiveDate],
        agents: &[Option<String>],
        number: impl Fn(NaiveDate, Option<&str>) -> u64,
    ) -> Self {
        let series: Vec<BarSeries> = agents
            .iter()
            .map(|agent| BarSeries {
                name: agent_name(agent.as_deref()).to_owned(),
                values: weeks
                    .iter()
                    .map(|week| number(*week, agent.as_deref()))
                    .collect(),
            })
            .collect();
        let sessions = |agent: &str| format!("/sessions?{}", encode_pairs([("agent", agent)]));
        let name = |(position, agent): (usize, &Option<String>)| {
            let path = agent.as_deref().filter(|agent| !agent.is_empty());
            let label = Label::cut(agent_name(agent.as_deref()), 40);
            (position, label, path.map(sessions))
        };
        let row = |position: usize| {
            let numbers: Vec<u64> = series.iter().map(|own| own.values[position]).collect();
            (weeks[position], numbers)
        };
        Self {
            id,
            title,
            bars: render_bars(id, unit, weeks, &series),
            agents: agents.iter().enumerate().map(name).collect(),
            rows: (0..weeks.len())
                .rev()
                .map(row)
                .filter(|(_, numbers)| numbers.iter().any(|number| 0 < *number))
                .collect(),
        }
    }
}

/// Returns the first days of the weeks at these distances from `week`.
fn weeks_around(week: NaiveDate, distances: Range<i64>) -> Vec<NaiveDate> {
    distances
        .filter_map(|distance| week.checked_add_signed(TimeDelta::weeks(distance)))
        .collect()
}

/// Returns the name of an assistant; `None` stands for those without their own bars.
fn agent_name(agent: Option<&str>) -> &str {
    match agent {
        None => "others",
        Some("") => "unknown",
        Some(agent) => agent,
    }
}

/// A memory in a list.
struct ListedMemory {
    path: String,
    headline: Label,
}

impl ListedMemory {
    fn new(id: &MemoryId, headline: &str) -> Self {
        Self {
            path: format!("/memories/{id}"),
            headline: Label::cut(headline, MAX_HEADLINE),
        }
    }
}

/// The memories that no assistant received.
struct UnusedList {
    count: u64,
    oldest: Vec<(ListedMemory, TimeLabel)>,
}

#[derive(Template)]
#[template(path = "charts.html")]
struct ChartsPage {
    layout: Layout,
    growth: SafeHtml,
    received: Vec<WeekChart>,
    most_received: Vec<(ListedMemory, u64)>,
    /// `None` if recalls are recorded for too short a time.
    unused: Option<UnusedList>,
    expiring_bars: SafeHtml,
    expiring: Vec<(ListedMemory, TimeLabel, &'static str)>,
    expiring_count: usize,
    weeks: i64,
    expiring_weeks: i64,
    cost: Option<ModelCost>,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let now = request.local(request.services.clock.now());
            let (today, week) = (now.date_naive(), first_of_week(now.date_naive()));
            let mark = request.web.config.host.change_mark();
            let read = move |web: &WebState| ChartNumbers::read(web, week);
            let Some(numbers) = request
                .web
                .slow_view(|web| &web.charts, &today, &mark, read)?
            else {
                return Ok(request.page_in_progress("Charts", "The numbers are being counted"));
            };
            let unused = match &numbers.unused {
                UnusedMemories::Unknown(_) => None,
                UnusedMemories::Known { count, oldest } => {
                    let row = |memory: &Memory| {
                        let time = TimeLabel::new(request.local(memory.created_at), now);
                        (ListedMemory::new(&memory.id, memory.headline()), time)
                    };
                    Some(UnusedList {
                        count: *count,
                        oldest: oldest.iter().map(|stored| row(&stored.memory)).collect(),
                    })
                }
            };
            let expiring = numbers.expiring.iter().take(LISTED).map(|own| {
                let time = TimeLabel::new(request.local(own.at), now);
                (ListedMemory::new(&own.id, &own.headline), time, own.why)
            });
            let page = ChartsPage {
                layout: request.layout("Charts"),
                growth: render_growth(&numbers.months),
                received: received_charts(&numbers.received, week),
                most_received: numbers
                    .most_received
                    .iter()
                    .map(|(memory, count)| {
                        (ListedMemory::new(&memory.id, memory.headline()), *count)
                    })
                    .collect(),
                unused,
                expiring_bars: expiring_bars(request, &numbers.expiring, week),
                expiring: expiring.collect(),
                expiring_count: numbers.expiring.len(),
                weeks: WEEKS,
                expiring_weeks: EXPIRING_WEEKS,
                cost: request
                    .web
                    .config
                    .host
                    .usage()?
                    .as_ref()
                    .map(ModelCost::new),
            };
            Ok(render(&page))
        })
        .await
}

/// Returns the charts of recalls and of tokens until the current week. Nothing was received if there are none.
fn received_charts(received: &RecallStatistics, week: NaiveDate) -> Vec<WeekChart> {
    let mut totals = BTreeMap::<&str, u64>::new();
    for (agent, total) in received.weeks.values().flatten() {
        *totals.entry(agent).or_default() += total.recalls;
    }
    let mut agents: Vec<(&str, u64)> = totals.into_iter().collect();
    agents.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut shown: Vec<Option<String>> = agents
        .iter()
        .take(MAX_AGENTS)
        .map(|(agent, _)| Some((*agent).to_owned()))
        .collect();
    if MAX_AGENTS < agents.len() {
        shown.push(None);
    }
    if shown.is_empty() {
        return Vec::new();
    }
    let weeks = weeks_around(week, 1 - WEEKS..1);
    let is_shown = |agent: &str| shown.iter().flatten().any(|own| own == agent);
    let sum = |week: NaiveDate, agent: Option<&str>, number: fn(&RecallTotal) -> u64| {
        let all = received.weeks.get(&week).into_iter().flatten();
        let own = all.filter(|(name, _)| match agent {
            Some(agent) => *name == agent,
            None => !is_shown(name),
        });
        own.map(|(_, total)| number(total)).sum()
    };
    vec![
        WeekChart::new(
            "recalls",
            "Calls by assistant",
            ["call", "calls"],
            &weeks,
            &shown,
            |week, agent| sum(week, agent, |total| total.recalls),
        ),
        WeekChart::new(
            "tokens",
            "Tokens by assistant",
            ["token", "tokens"],
            &weeks,
            &shown,
            |week, agent| sum(week, agent, |total| total.tokens),
        ),
    ]
}

/// Returns the chart of the memories that expire from the current week on.
fn expiring_bars(request: &WebRequest, expiring: &[ExpiringMemory], week: NaiveDate) -> SafeHtml {
    if expiring.is_empty() {
        return SafeHtml::default();
    }
    // The first and the last week of the period are incomplete.
    let weeks = weeks_around(week, 0..EXPIRING_WEEKS + 1);
    let mut values = vec![0; weeks.len()];
    for own in expiring {
        let day = request.local(own.at).date_naive();
        // What is overdue is removed in the current week.
        let place = weeks.partition_point(|week| *week <= day).saturating_sub(1);
        if let Some(value) = values.get_mut(place) {
            *value += 1;
        }
    }
    let series = BarSeries {
        name: String::new(),
        values,
    };
    render_bars("expiring", ["memory", "memories"], &weeks, &[series])
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
        let mut rows = vec![
            row("Today", &usage.today),
            row("Last 30 days", &usage.lately),
        ];
        rows.extend(
            usage
                .lately
                .purposes
                .iter()
                .map(|(purpose, usage)| CostRow {
                    period: format!("… for {}", purpose.as_str()),
                    calls: usage.calls,
                    prompt_tokens: usage.prompt_tokens,
                    answer_tokens: usage.answer_tokens,
                }),
        );
        let left = |left: Option<u64>| {
            left.map_or_else(|| "unlimited".to_owned(), |left| left.to_string())
        };
        Self {
            rows,
            calls_left: left(usage.left.calls),
            tokens_left: left(usage.left.tokens),
            unreadable: usage.unreadable,
        }
    }
}
