//! The `memory why` command.

use std::collections::BTreeMap;

use clap::Args;
use memory_agent::json;
use memory_core::{
    MIN_USEFULNESS, MemoryStoreExt, RecallFilter, RecallList, RecallRecord, RecalledId, StoreError,
    recalls, why,
};

use crate::app::App;
use crate::args::{max_count, resolve_bounds};
use crate::datetime::{self, NamedPeriod};
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{
    Output, OutputForm, Palette, Table, TableColumn, escape_line, memories, wrap_lines,
};

/// Show what agents received lately, or why they received a memory
///
/// Recalls are recorded for tools, resources, prompts, hooks and the chat proxy, not for your own commands. The keys below
/// `recalls` in config.yaml disable or limit the record.
///
/// With an ID, each line is one recall of that memory: the agent, its session and project, the interface and tool, the query, the
/// place of the memory among those of the recall, its score, and the parts of the score. It also works for deleted memories.
///
/// JSON: {recalls: [{at, agent?, session?, project?, interface, tool, query?, memories: [{id, score?, parts?, title?}],
/// tokens}], total, since?, enabled}; memories have titles with --session; with an ID {id, title?, path?, deleted?, recalls: [{at, agent?, session?, project?, interface, tool, query?, rank, of, score?,
/// parts?: {NAME: SCORE…}, tokens}], total, since?, enabled}; `since` is the time since which all recalls are recorded
///
/// In a pipe: time, agent, session, interface and tool, number of memories, tokens, query; with --session one line per
/// memory: time, agent, interface and tool, query, id, score, title; with an ID time, agent, session, project, interface and
/// tool, place, score, parts, query.
#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// Id or file name of the memory
    #[arg(conflicts_with_all = ["session", "agent", "from", "to"])]
    id: Option<String>,
    #[command(flatten)]
    recalls: RecallsArgs,
}

/// The options that select recalls.
#[derive(Debug, Args)]
struct RecallsArgs {
    /// Select a session and show its memories with their titles; the first characters of its id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Select an agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Select recalls from this day on: YYYY-MM-DD, a time, or words such as "last monday"
    #[arg(long, value_name = "WHEN")]
    from: Option<NamedPeriod>,
    /// Select recalls up to this day
    #[arg(long, value_name = "WHEN")]
    to: Option<NamedPeriod>,
    /// Maximum number of recalls; 0 means no limit
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,
}

/// The cell of an unknown value.
const NO_VALUE: &str = "-";

impl WhyArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let Some(id) = &self.id else {
            return self.recalls.run(app);
        };
        let home = app.open()?;
        let memory = why(
            &home.services,
            &home.recalls(),
            id,
            max_count(self.recalls.limit),
        )?;
        let is_enabled = home.settings.recalls.enabled.value;
        if app.output.is_json() {
            return app.output.json(&json::why(&memory, is_enabled));
        }
        for recall in &memory.list.recalls {
            let Some((rank, own)) = json::memory_rank(recall, &memory.id) else {
                continue;
            };
            match app.output.form() {
                OutputForm::Drawn(width) => {
                    print_recall(recall, rank, own, width, &mut app.output)?;
                }
                OutputForm::Json | OutputForm::Tabbed => app.output.fields(&[
                    &app.output.time(recall.at),
                    or_none(Some(&recall.agent)),
                    or_none(recall.session.as_ref()),
                    or_none(recall.project.as_ref()),
                    &interface_text(recall),
                    &format!("{rank}/{}", recall.memories.len()),
                    &score_text(own),
                    &parts_text(own),
                    or_none(recall.query.as_ref()),
                ])?,
            }
        }
        print_notes(
            &memory.list,
            is_enabled,
            "no agent received this memory",
            app,
        )
    }
}

/// Indentation of the lines below the first line of a recall, in columns.
const INDENT: usize = 2;

/// Prints a recall of one memory for a terminal: who received it, then the query, the score and the session.
fn print_recall(
    recall: &RecallRecord,
    rank: usize,
    own: &RecalledId,
    width: u16,
    output: &mut Output,
) -> Result<(), Failure> {
    let palette = output.palette();
    output.line(&format!(
        "{}  {}  {}",
        datetime::format_minute(recall.at, output.zone()),
        Palette::paint(palette.bold, escape_line(or_none(Some(&recall.agent)))),
        Palette::paint(
            palette.dim,
            escape_line(&format!(
                "{} · {rank} of {}",
                interface_text(recall),
                recall.memories.len()
            ))
        ),
    ))?;
    let parts = match (own.score, own.parts.is_empty()) {
        (None, true) => None,
        (None, false) => Some(parts_text(own)),
        (Some(_), true) => Some(format!("score {}", score_text(own))),
        (Some(_), false) => Some(format!("score {}: {}", score_text(own), parts_text(own))),
    };
    let place = [("session", &recall.session), ("project", &recall.project)];
    let place = place
        .into_iter()
        .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} {value}")));
    let place = Some(place.collect::<Vec<_>>().join(" · ")).filter(|place| !place.is_empty());
    let plain = Palette::default().dim;
    for (text, style) in [
        (&recall.query, plain),
        (&parts, palette.dim),
        (&place, palette.dim),
    ] {
        let Some(text) = text else { continue };
        let text = escape_line(text);
        for line in wrap_lines(&text, usize::from(width).saturating_sub(INDENT)) {
            output.line(&format!(
                "{:INDENT$}{}",
                "",
                Palette::paint(style, &text[line])
            ))?;
        }
    }
    Ok(())
}

impl RecallsArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let [from, to] = resolve_bounds(self.from.as_ref(), self.to.as_ref(), &home.now())?;
        let filter = RecallFilter {
            memory: None,
            agent: self.agent.clone(),
            session: self.session.clone(),
            from,
            to,
        };
        let list = recalls(&home.recalls(), &filter, max_count(self.limit))?;
        let titles = if self.session.is_some() {
            find_titles(&home, &list.recalls)?
        } else {
            BTreeMap::new()
        };
        let is_enabled = home.settings.recalls.enabled.value;
        if app.output.is_json() {
            return app.output.json(&json::recalls(&list, &titles, is_enabled));
        }
        let table = if self.session.is_some() {
            session_table(&list, &titles, &app.output)
        } else {
            recalls_table(&list, &app.output)
        };
        app.output.table(&table)?;
        print_notes(&list, is_enabled, "no matching recalls", app)
    }
}

fn recalls_table(list: &RecallList, output: &Output) -> Table {
    let mut columns = vec![
        TableColumn::Whole("when"),
        TableColumn::Text("agent"),
        TableColumn::Whole("session"),
    ];
    // A terminal has no space for the interface.
    columns.extend((!output.is_drawn()).then_some(TableColumn::Text("by")));
    columns.extend([
        TableColumn::Number("count"),
        TableColumn::Number("tokens"),
        TableColumn::Text("query"),
    ]);
    let mut table = Table::truncated(columns);
    for recall in &list.recalls {
        let (when, by) = (output.time(recall.at), interface_text(recall));
        let mut row = vec![
            when.as_str(),
            or_none(Some(&recall.agent)),
            output.short_id(or_none(recall.session.as_ref())),
        ];
        row.extend((!output.is_drawn()).then_some(by.as_str()));
        let (count, tokens) = (recall.memories.len().to_string(), recall.tokens.to_string());
        row.extend([count.as_str(), &tokens, or_none(recall.query.as_ref())]);
        table.push(row);
    }
    table
}

fn session_table(list: &RecallList, titles: &BTreeMap<String, String>, output: &Output) -> Table {
    let mut columns = vec![TableColumn::Whole("when")];
    // The agent of a session is the same in all lines.
    columns.extend(
        [TableColumn::Text("agent"), TableColumn::Text("by")]
            .into_iter()
            .filter(|_| !output.is_drawn()),
    );
    columns.extend([
        TableColumn::Text("query"),
        TableColumn::Whole("id"),
        TableColumn::Number("score"),
        TableColumn::Text("title"),
    ]);
    let mut table = Table::truncated(columns);
    for recall in &list.recalls {
        let (when, by) = (output.time(recall.at), interface_text(recall));
        for memory in &recall.memories {
            let mut row = vec![when.as_str()];
            row.extend(
                [or_none(Some(&recall.agent)), by.as_str()]
                    .into_iter()
                    .filter(|_| !output.is_drawn()),
            );
            let score = score_text(memory);
            let title = titles.get(&memory.id).map_or("(not found)", String::as_str);
            row.extend([
                or_none(recall.query.as_ref()),
                output.short_id(&memory.id),
                &score,
                title,
            ]);
            table.push(row);
        }
    }
    table
}

/// Returns the titles of the memories that still exist, by id.
fn find_titles(home: &Home, recalls: &[RecallRecord]) -> Result<BTreeMap<String, String>, Failure> {
    let mut titles = BTreeMap::new();
    home.services.store.refresh()?;
    for id in recalls
        .iter()
        .flat_map(|recall| &recall.memories)
        .map(|memory| &memory.id)
    {
        if titles.contains_key(id) {
            continue;
        }
        match home.services.store.get_by(id) {
            Ok(stored) => drop(titles.insert(id.clone(), stored.memory.headline().to_owned())),
            Err(StoreError::NotFound { .. } | StoreError::Ambiguous { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(titles)
}

/// Prints how many recalls are left out, and what the ledger covers if there is none.
fn print_notes(
    list: &RecallList,
    is_enabled: bool,
    nothing: &str,
    app: &mut App,
) -> Result<(), Failure> {
    let shown = list.recalls.len() as u64;
    if shown < list.total {
        app.output.note(&format!(
            "{shown} of {} recalls shown; use --limit 0 for all",
            list.total
        ))?;
    }
    if list.total == 0 {
        let since = match list.since {
            Some(since) => format!(
                "{nothing} since {}, when the record begins",
                datetime::format_minute(since, app.output.zone())
            ),
            None => "no recalls are recorded yet; they start with the next session of an assistant that `memory install` connected".to_owned(),
        };
        app.output.note(&since)?;
    }
    if !is_enabled {
        app.output
            .note("recalls are not recorded: recalls.enabled is false")?;
    }
    Ok(())
}

fn or_none(text: Option<&String>) -> &str {
    text.map(String::as_str)
        .filter(|text| !text.is_empty())
        .unwrap_or(NO_VALUE)
}

fn interface_text(recall: &RecallRecord) -> String {
    format!("{} {}", recall.interface, recall.tool)
}

fn score_text(memory: &RecalledId) -> String {
    memory
        .score
        .map_or_else(|| NO_VALUE.to_owned(), |score| format!("{score:.3}"))
}

fn parts_text(memory: &RecalledId) -> String {
    let cosine = RecalledId::cosine(&memory.parts).unwrap_or_default();
    let (useful, others): (Vec<_>, Vec<_>) = memory
        .parts
        .iter()
        .filter(|(name, _)| name != RecalledId::COSINE)
        .partition(|(name, _)| name == RecalledId::USEFULNESS);
    let shown = useful.into_iter().chain(others);
    let parts = shown.map(|(name, score)| match name.as_str() {
        "standing" => name.clone(),
        "vector" => memories::meaning_text(*score, cosine),
        RecalledId::USEFULNESS => format!("useful {score:.2} (at least {MIN_USEFULNESS:.2})"),
        _ => format!("{name} {score:.2}"),
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        NO_VALUE.to_owned()
    } else {
        parts.join(", ")
    }
}
