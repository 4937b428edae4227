//! The `memory search` command.

mod chats;

use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use memory_agent::json::{self, add_field};
use memory_core::query_parser::extract_bounds;
use memory_core::rank::RankFeature;
use memory_core::topic::{TopicError, TopicHit, Topics};
use memory_core::{
    Filter, Hit, Lifetime, Query, Ranking, RerankScore, ScoreExplanation, SearchResults, StoreError,
};

use crate::app::App;
use crate::args::{FilterArgs, max_count, share_parser};
use crate::datetime;
use crate::embedding;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{Output, OutputForm, Palette, escape_line, memories, wrap_lines};
use crate::reranking;

/// Search memories, best match first
///
/// Memories with any of the words match; a question works too. "a phrase" is required if any memory contains it, -word
/// excludes, begin* matches words with that prefix. tag:, scope:, category:, source:, from: and to: (2026, 2026-05 or
/// 2026-05-07) filter. A word of three or more letters is also found within other words, like `sql` in PostgreSQL, ranked
/// after whole words; a word of two letters only if it is the whole query, and a single letter or digit never.
///
/// Without such operators, memories of a time or category in the query come first ("decisions about tea last week"); a query
/// without a subject ("what did I note last week") lists them alone.
///
/// In a text of 15 or more words outside quotation marks, a "phrase" is plain text.
///
/// Topics of the project, and sessions of the history, are searched as well, unless a filter is set; they follow the memories. The
/// best message of each of three sessions is shown; `--kind chat` shows more.
///
/// JSON: {hits: [{memory: MEMORY, score, snippet, explain?}], total, degraded?, corrected?: {query, words, searched}, understood?: {query, category?, from?, until?}, topics?: {hits: [{topic: TOPIC, score, snippet}], total}, chats?: {hits: [{chat, id?, ts?, role, score, snippet}], total}}
///
/// In a pipe: id (or topic:FILE, session:NAME), score, title or first line (or role), and the text around the match.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Query; every script is searchable, down to a single character
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Include expired and superseded memories
    #[arg(long)]
    all: bool,
    /// Maximum number of hits; 0 means all
    #[arg(long, default_value_t = 10, value_name = "N")]
    limit: usize,
    /// Weight of recency, from 0 to 1
    #[arg(long, default_value_t = Ranking::default().recency, value_name = "W", value_parser = share_parser())]
    recency: f32,
    /// Weight of relevance against diversity, from 0 to 1; 1 allows repetition
    #[arg(long, default_value_t = Ranking::default().diversity, value_name = "LAMBDA", value_parser = share_parser())]
    diversity: f32,
    /// Minimum relevance, from 0 to 1 [default: 0; reranking.threshold with a reranking model]
    #[arg(long, value_name = "RELEVANCE", value_parser = share_parser())]
    threshold: Option<f32>,
    /// Explain each score
    #[arg(long)]
    explain: bool,
    /// Search by words only, not by meaning
    #[arg(long)]
    words: bool,
    /// What to search
    #[arg(long, value_enum, default_value = "all")]
    kind: SearchKindArg,
    /// Folder of the topics [default: .memory of the project]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// The kinds of documents to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SearchKindArg {
    /// Memories, topics and sessions
    All,
    /// Memories
    Note,
    /// Topics
    Topic,
    /// Messages and facts of conversations, and messages of sessions
    Chat,
}

impl SearchArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open_with_topics(self.dir.as_deref())?;
        let now = home.now();
        let Home {
            mut services,
            settings,
            ..
        } = home;
        services.embedder = (!self.words)
            .then(|| embedding::open_via_daemon(&settings))
            .flatten();
        services.reranking = reranking::open_lazily(&settings.reranking);
        let lifetime = if self.all {
            Lifetime::All
        } else {
            Lifetime::Current
        };
        let limit = max_count(self.limit);
        let ranking = Ranking {
            recency: self.recency,
            diversity: self.diversity,
            threshold: self.threshold,
            ..Ranking::default()
        };
        let filter = self.filter.filter(lifetime, &now)?;
        let bounded = extract_bounds(&self.query.join(" "), &filter, &now.timezone());
        let query = Query {
            text: bounded.text,
            filter: bounded.filter,
            limit,
            ranking,
        };
        let is_unrestricted = query.filter == unrestricted_filter(lifetime);
        let topics = services.topics.take().filter(|_| {
            matches!(self.kind, SearchKindArg::All | SearchKindArg::Topic) && is_unrestricted
        });
        let topics = find_topics(
            topics.as_ref(),
            &query.text,
            limit,
            self.kind != SearchKindArg::Topic,
            &mut app.output,
        )?;
        let chats = match self.kind {
            SearchKindArg::All if is_unrestricted => {
                chats::find_best_sessions(&settings, &query, &mut app.output)?
            }
            SearchKindArg::Chat => Some(chats::search(&services, &settings, &query, &app.output)?),
            SearchKindArg::All | SearchKindArg::Note | SearchKindArg::Topic => None,
        };
        let answer = match self.kind {
            SearchKindArg::Topic | SearchKindArg::Chat => None,
            SearchKindArg::All | SearchKindArg::Note => {
                app.output.start_waiting("searching");
                Some(memory_core::smart_search(&services, &query, &now)?)
            }
        };
        let added = answer
            .as_ref()
            .and_then(|answer| answer.describe_added(&query.filter, &now.timezone()));
        let narrowed = answer.as_ref().filter(|_| added.is_some());
        let understood = narrowed.map(json::understood);
        let found = answer.map_or_else(SearchResults::default, |answer| answer.found);
        let shown: Vec<_> = found.hits.iter().map(|hit| &hit.stored.memory).collect();
        memory_core::count_accesses(&services, &shown);
        if app.output.is_json() {
            let mut answer = json::search_results(&found, self.explain, services.inbox_ttl);
            add_field(&mut answer, "understood", understood);
            if let Some((hits, total)) = &topics {
                answer["topics"] = json::topic::search_results(hits, *total);
            }
            add_field(
                &mut answer,
                "chats",
                chats.as_ref().map(json::chat_search_results),
            );
            return app.output.json(&answer);
        }
        for hit in &found.hits {
            match app.output.form() {
                OutputForm::Drawn(width) => self.print_hit(hit, width, &mut app.output)?,
                OutputForm::Json | OutputForm::Tabbed => self.print_tabbed(hit, &mut app.output)?,
            }
        }
        let has_others = topics.as_ref().is_some_and(|(hits, _)| !hits.is_empty())
            || chats.as_ref().is_some_and(|found| !found.hits.is_empty());
        topics
            .iter()
            .try_for_each(|topics| print_topics(topics, &mut app.output))?;
        chats
            .iter()
            .try_for_each(|found| chats::print(found, &mut app.output))?;
        if let Some(added) = added {
            app.output.note(&format!("understood as {added}"))?;
        }
        print_totals(&found, has_others, &mut app.output)
    }

    fn print_hit(&self, hit: &Hit, width: u16, output: &mut Output) -> Result<(), Failure> {
        let (memory, palette) = (&hit.stored.memory, output.palette());
        let day = datetime::format_day(memory.created_at, output.zone());
        let mut facts = vec![
            memories::category_text(memory),
            day,
            memories::tags_text(memory),
        ];
        facts.extend(
            hit.explanation
                .replaced_by
                .map(|id| format!("replaced by {}", id.short())),
        );
        facts.retain(|fact| !fact.is_empty());
        let heading = format!(
            "{}  {}  {}",
            Palette::paint(palette.id, memory.id.short()),
            Palette::paint(palette.bold, escape_line(memory.headline())),
            Palette::paint(palette.dim, escape_line(&facts.join(" · "))),
        );
        output.hanging_line(&heading, text_columns(width).0)?;
        print_snippet(&hit.snippet, &hit.marks, width, output)?;
        if !self.explain {
            return Ok(());
        }
        let (indent, width) = text_columns(width);
        let reasons = explanation_text(hit);
        let reasons = escape_line(&reasons);
        for line in wrap_lines(&reasons, width) {
            output.line(&format!(
                "{:indent$}{}",
                "",
                Palette::paint(palette.dim, &reasons[line])
            ))?;
        }
        Ok(())
    }

    fn print_tabbed(&self, hit: &Hit, output: &mut Output) -> Result<(), Failure> {
        let (memory, score) = (&hit.stored.memory, format!("{:.3}", hit.score));
        let id = memory.id.to_string();
        let mut fields = vec![id.as_str(), &score, memory.headline(), &hit.snippet];
        let reasons = self.explain.then(|| explanation_text(hit));
        fields.extend(reasons.as_deref());
        output.fields(&fields)
    }
}

/// Returns the filter without any restriction except the lifetime.
fn unrestricted_filter(lifetime: Lifetime) -> Filter {
    Filter {
        lifetime,
        ..Filter::default()
    }
}

fn print_totals(
    found: &SearchResults,
    has_others: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    if let Some(why) = &found.degraded {
        output.warn_incomplete(why)?;
    }
    if let Some(corrected) = &found.corrected {
        output.note(&corrected.describe())?;
    }
    let shown = found.hits.len() as u64;
    if found.total == 0 && !has_others {
        output.note("no matches found")?;
    } else if shown < found.total {
        output.note(&format!(
            "{shown} of {} matches shown; use --limit for more",
            found.total
        ))?;
    }
    Ok(())
}

/// Indentation of the text below a heading, in columns: the width of a short id and the gap after it.
const INDENT: usize = 10;

/// Minimum width in columns for that indentation; narrower terminals get 2 columns.
const MIN_INDENTED_WIDTH: u16 = 40;

/// Returns the snippet with visible control characters, and the ranges of the matches in it.
fn escape_snippet(snippet: &str, found: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let (mut text, mut marks) = (String::new(), Vec::new());
    let mut end = 0;
    for mark in found {
        let (Some(before), Some(found)) = (snippet.get(end..mark.start), snippet.get(mark.clone()))
        else {
            continue;
        };
        text.push_str(&escape_line(before));
        let start = text.len();
        text.push_str(&escape_line(found));
        marks.push(start..text.len());
        end = mark.end;
    }
    text.push_str(&escape_line(snippet.get(end..).unwrap_or_default()));
    (text, marks)
}

/// Returns one line of `text` with the ranges in `marks` highlighted.
fn highlight_line(
    text: &str,
    line: Range<usize>,
    marks: &[Range<usize>],
    palette: Palette,
) -> String {
    let mut shown = String::new();
    let mut end = line.start;
    for mark in marks {
        let (start, after) = (mark.start.max(end), mark.end.min(line.end));
        if start < after {
            shown.push_str(&text[end..start]);
            shown.push_str(&Palette::paint(palette.mark, &text[start..after]));
            end = after;
        }
    }
    shown.push_str(&text[end..line.end]);
    shown
}

fn explanation_text(hit: &Hit) -> String {
    let ScoreExplanation {
        parts,
        relevance,
        rerank,
        cosine,
        recency,
        terms,
        length,
        average_length,
        documents,
        is_part: _,
        is_turn: _,
        replaced_by: _,
    } = &hit.explanation;
    let parts = parts
        .iter()
        .map(|part| match (part.part, cosine) {
            (RankFeature::Vector, Some(cosine)) => memories::meaning_text(part.score, *cosine),
            _ => format!("{} {:.2}", part.part.as_str(), part.score),
        })
        .collect::<Vec<_>>()
        .join(" + ");
    let terms = terms.iter().map(|term| {
        let (frequency, with) = (term.frequency, term.documents);
        format!(
            "{} {:.2} ({frequency}× here, in {with} of {documents})",
            term.term, term.score
        )
    });
    let terms = terms.collect::<Vec<_>>().join(", ");
    let reread = rerank.map(|RerankScore { score, before }| {
        format!(" by the reranking model ({score:.2}), {before:.3} before")
    });
    let (score, reread) = (hit.score, reread.unwrap_or_default());
    format!(
        "score {score:.3}: relevance {relevance:.3}{reread} from {parts}; recency {recency:.2}; {terms}; {length} words here, {average_length:.1} on average"
    )
}

/// The topics of the page, and the total number of matches.
type FoundTopics = (Vec<TopicHit>, usize);

/// Searches the topics, if there are any. An error becomes a warning, and the topics are omitted.
fn find_topics(
    topics: Option<&Topics>,
    question: &str,
    limit: usize,
    with_memories: bool,
    output: &mut Output,
) -> Result<Option<FoundTopics>, Failure> {
    let Some(topics) = topics else {
        return Ok(None);
    };
    match memory_core::topic::search(topics, question, limit) {
        Ok(found) => Ok(Some(found)),
        // The search of the memories reports the same error.
        Err(TopicError::Store(error))
            if with_memories && matches!(*error, StoreError::Invalid { .. }) =>
        {
            Ok(None)
        }
        Err(error) => {
            output.warn_incomplete(&format!("cannot search the topics: {error}"))?;
            Ok(None)
        }
    }
}

/// Prints the topics.
fn print_topics((hits, total): &FoundTopics, output: &mut Output) -> Result<(), Failure> {
    for hit in hits {
        match output.form() {
            OutputForm::Drawn(width) => print_topic(hit, width, output)?,
            OutputForm::Json | OutputForm::Tabbed => {
                let score = format!("{:.3}", hit.score);
                output.fields(&[
                    &format!("topic:{}", hit.topic.name),
                    &score,
                    &hit.topic.title,
                    &hit.snippet.text,
                ])?;
            }
        }
    }
    if hits.len() < *total {
        output.note(&format!(
            "{} of {total} matching topics shown; use --limit for more",
            hits.len()
        ))?;
    }
    Ok(())
}

fn print_topic(hit: &TopicHit, width: u16, output: &mut Output) -> Result<(), Failure> {
    let (topic, palette) = (&hit.topic, output.palette());
    output.line(&format!(
        "{}  {}  {}",
        Palette::paint(palette.id, escape_line(topic.name.as_str())),
        Palette::paint(palette.bold, escape_line(&topic.title)),
        Palette::paint(palette.dim, format!("topic · {}", topic.kind)),
    ))?;
    print_snippet(&hit.snippet.text, &hit.snippet.marks, width, output)
}

/// Returns the indentation of the text below a heading, and the columns for the text.
fn text_columns(width: u16) -> (usize, usize) {
    let indent = if width < MIN_INDENTED_WIDTH {
        2
    } else {
        INDENT
    };
    (indent, usize::from(width).saturating_sub(indent))
}

fn print_snippet(
    snippet: &str,
    marks: &[Range<usize>],
    width: u16,
    output: &mut Output,
) -> Result<(), Failure> {
    let (indent, width) = text_columns(width);
    let palette = output.palette();
    let (snippet, marks) = escape_snippet(snippet, marks);
    for line in wrap_lines(&snippet, width) {
        output.line(&format!(
            "{:indent$}{}",
            "",
            highlight_line(&snippet, line, &marks, palette)
        ))?;
    }
    Ok(())
}
