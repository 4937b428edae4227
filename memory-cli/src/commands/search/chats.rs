//! The search of chats: conversations of the home, and sessions of the history.

use std::sync::Arc;

use memory_agent::json;
use memory_core::instance::history;
use memory_core::{HomeSection, Query, SearchResults, Services};

use super::print_snippet;
use crate::config::Settings;
use crate::datetime;
use crate::failure::Failure;
use crate::ingestion::{INDEXING_SESSIONS, open_history};
use crate::instances::{DEFAULT, has_default_history};
use crate::print::{Output, OutputForm, Palette, escape_line};

/// Maximum number of sessions shown after the memories.
const MAX_SESSIONS: usize = 3;

/// Returns the best messages of all chats. Those of sessions are found by their words alone.
pub(super) fn search(
    services: &Services,
    settings: &Arc<Settings>,
    query: &Query,
    output: &Output,
) -> Result<SearchResults, Failure> {
    let mut found = SearchResults::default();
    if settings
        .root
        .value
        .join(HomeSection::CONVERSATIONS)
        .is_dir()
    {
        let mut query = query.clone();
        query.filter.place = Some(HomeSection::Conversations);
        found = memory_core::search(services, &query)?;
    }
    let messages = open_history(DEFAULT, settings)?;
    let mut bar = output.progress_bar(INDEXING_SESSIONS);
    let mut show = |progress| bar.show(progress);
    let sessions = history::search(&messages, query, &mut show)?.unwrap_or_default();
    found.total += sessions.total;
    found.degraded = found.degraded.or(sessions.degraded);
    found.hits.extend(sessions.hits);
    found
        .hits
        .sort_by(|one, other| other.score.total_cmp(&one.score));
    found.hits.truncate(query.limit);
    Ok(found)
}

/// Returns the best message of each of the best sessions. An error becomes a warning, and the sessions are omitted.
///
/// The entries of conversations are among the memories of a search.
pub(super) fn find_best_sessions(
    settings: &Arc<Settings>,
    query: &Query,
    output: &mut Output,
) -> Result<Option<SearchResults>, Failure> {
    let mut bar = output.progress_bar(INDEXING_SESSIONS);
    let mut show = |progress| bar.show(progress);
    let found = has_default_history(settings).and_then(|exists| {
        if !exists {
            return Ok(SearchResults::default());
        }
        let messages = open_history(DEFAULT, settings)?;
        Ok(history::search_sessions(
            &messages,
            query,
            MAX_SESSIONS,
            &mut show,
        )?)
    });
    drop(bar);
    match found {
        Ok(found) => {
            Ok(Some(found).filter(|found| !found.hits.is_empty() || found.degraded.is_some()))
        }
        Err(error) => {
            output.warn_incomplete(&format!("cannot search the sessions: {error}"))?;
            Ok(None)
        }
    }
}

/// Prints messages of chats.
pub(super) fn print(found: &SearchResults, output: &mut Output) -> Result<(), Failure> {
    for hit in &found.hits {
        let chat = json::ChatHit::of(hit);
        match output.form() {
            OutputForm::Drawn(width) => {
                let palette = output.palette();
                let day = chat.at.map(|at| datetime::format_day(at, output.zone()));
                let facts: Vec<&str> = [chat.kind, chat.role]
                    .into_iter()
                    .chain(day.as_deref())
                    .collect();
                output.line(&format!(
                    "{}{}  {}",
                    chat.id
                        .map(|id| format!("{}  ", Palette::paint(palette.id, id.short())))
                        .unwrap_or_default(),
                    Palette::paint(palette.bold, escape_line(chat.name)),
                    Palette::paint(palette.dim, escape_line(&facts.join(" · "))),
                ))?;
                print_snippet(&hit.snippet, &hit.marks, width, output)?;
            }
            OutputForm::Json | OutputForm::Tabbed => {
                let id = chat
                    .id
                    .map_or_else(|| format!("session:{}", chat.name), |id| id.to_string());
                let score = format!("{:.3}", hit.score);
                output.fields(&[&id, &score, chat.role, &hit.snippet])?;
            }
        }
    }
    if let Some(why) = &found.degraded {
        output.warn_incomplete(why)?;
    }
    let shown = found.hits.len() as u64;
    if shown < found.total {
        output.note(&format!(
            "{shown} of {} matching messages of chats shown; `--kind chat --limit N` shows more",
            found.total
        ))?;
    }
    Ok(())
}
