//! The list of memories: search, facets and saved searches.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use memory_core::instance::history;
use memory_core::query_parser::{ExtractedFilter, extract_bounds, parse};
use memory_core::spelling::CorrectedQuery;
use memory_core::text::counted;
use memory_core::{
    BulkChange, Category, Code, Filter, Hit, ListOrder, MatchCoverage, MemoryId, PageRequest,
    Patch, Query, Ranking, SearchResults, Services, change_many, facets, list, missing_words,
    search,
};

use super::instances::{open_messages, session_path};
use super::memory::parse_tags;
use super::memory_filter::{
    Facet, FilterChip, TRANSIENT_FIELDS, add_filters_to_tags, build_facets, filter_chips,
    parse_filter, suggested_name, to_path,
};
use super::merge::merge_path;
use crate::json::ChatHit;
use crate::tools::without_commands;
use crate::web::card::MemoryCard;
use crate::web::error::{PageError, render};
use crate::web::fields::Fields;
use crate::web::html::Label;
use crate::web::layout::Layout;
use crate::web::pager::{Pager, SORT, SortMenu};
use crate::web::request::WebRequest;
use crate::web::saved_searches::{self, SavedSearch};
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/memories", get(show))
        .route("/memories/change", post(change_selected))
        .route("/memories/searches", post(save_search))
        .route("/memories/searches/delete", post(delete_search))
}

/// Number of memories on a page.
const PAGE_SIZE: usize = 25;

/// Maximum number of a page of search results. Ranking more results takes too long.
const MAX_SEARCH_PAGE: usize = 40;

/// Number of best matches below which the matches with fewer words are shown at first.
const FEW_MATCHES: u64 = 5;

/// Maximum number of matches with fewer words that are listed.
const MAX_LESS_LIKELY: usize = 10;

/// The orders of a list without a query, the default first.
const ORDERS: [(ListOrder, &str, &str); 5] = [
    (ListOrder::Created, "newest", "newest first"),
    (ListOrder::Oldest, "oldest", "oldest first"),
    (ListOrder::Updated, "changed", "last changed"),
    (ListOrder::Accessed, "used", "most used"),
    (ListOrder::Title, "title", "title"),
];

/// Number of the first orders for which the store has an index.
const INDEXED: usize = 2;

/// Maximum number of memories that are sorted by another order, which takes about 2 µs for each.
const MAX_SORTED: u64 = 20_000;

#[derive(Template)]
#[template(path = "memories.html")]
struct MemoriesPage {
    layout: Layout,
    /// The number of memories, as text.
    count: String,
    /// Whether a query or a filter is active.
    is_filtered: bool,
    /// The query string, for saving the search.
    query: String,
    /// A name for the search.
    suggested_name: String,
    /// The categories into which the selected memories can be moved.
    categories: Vec<Category>,
    notice: Option<String>,
    chips: Vec<FilterChip>,
    cards: Vec<MemoryCard>,
    /// The best of the matches with fewer words of the query.
    less_likely: Vec<MemoryCard>,
    /// The number of those matches.
    less_likely_count: u64,
    /// Whether they are shown at first, because few memories have all words.
    is_less_likely_open: bool,
    /// The best messages of sessions.
    sessions: Vec<FoundSession>,
    facets: Vec<Facet>,
    searches: Vec<SearchLink>,
    pager: Pager,
    /// The orders of the list; a search has its own.
    sort: Option<SortMenu>,
}

/// The best message of a session.
struct FoundSession {
    path: String,
    name: Label,
    role: Label,
    time: Option<TimeLabel>,
    text: Label,
}

struct SearchLink {
    name: Label,
    key: String,
    path: String,
    is_active: bool,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| Ok(render(&memories_page(request)?)))
        .await
}

fn memories_page(request: &WebRequest) -> Result<MemoriesPage, PageError> {
    let fields = &request.query;
    let text = fields.get("q").trim().to_owned();
    let (filter, mut problems) = parse_filter(fields);
    let ExtractedFilter {
        text: words,
        filter,
        ..
    } = extract_bounds(&text, &filter, &request.zone());
    let page = Pager::page(request) + 1;
    let parsed = parse(&words, &filter);
    let counts = facets(
        &request.services,
        &Query::new(&words).filter(filter.clone()),
    )?;
    let is_search = !parsed.question.words.is_empty();
    let orders = if counts.counted <= MAX_SORTED {
        &ORDERS[..]
    } else {
        &ORDERS[..INDEXED]
    };
    let names: Vec<_> = orders
        .iter()
        .map(|(_, value, name)| (*value, *name))
        .collect();
    let (sort, order) = SortMenu::new(request, &names);
    let mut found = if is_search {
        let matches = SearchedMatches {
            text: &words,
            filter: &filter,
        };
        matches.find(request, page.min(MAX_SEARCH_PAGE), counts.counted)?
    } else {
        problems.extend(parsed.misread);
        let slice = PageRequest {
            order: ORDERS[order].0,
            offset: (page - 1) * PAGE_SIZE,
            limit: Some(PAGE_SIZE),
        };
        let found = list(&request.services, &parsed.filter, &slice)?;
        FoundCards {
            count: count_memories(found.total),
            cards: found
                .memories
                .iter()
                .map(|stored| MemoryCard::new(request, stored).with_actions())
                .collect(),
            total: found.total,
            less_likely: Vec::new(),
            less_likely_count: 0,
            notices: found.degraded.into_iter().collect(),
        }
    };
    add_filters_to_tags(&mut found.cards, fields);
    add_filters_to_tags(&mut found.less_likely, fields);
    problems.extend(found.notices);
    if let Some(skipped) = fields
        .text("skipped")
        .and_then(|skipped| skipped.parse::<usize>().ok())
    {
        let are = if skipped == 1 {
            "memory was"
        } else {
            "memories were"
        };
        problems.push(format!("{skipped} selected {are} not changed: deleted by another program, or with a damaged file"));
    }
    let is_plain = is_search && page == 1 && fields.without(&["q"]).is_empty();
    let sessions = if is_plain {
        find_sessions(request, &words, &filter, &mut problems).unwrap_or_else(|error| {
            problems.push(format!(
                "the sessions cannot be searched: {}",
                error.error.message
            ));
            Vec::new()
        })
    } else {
        Vec::new()
    };
    let total = found.total;
    let listed = if is_search {
        total.min((MAX_SEARCH_PAGE * PAGE_SIZE) as u64)
    } else {
        total
    };
    let query = Fields::parse(&fields.without(&TRANSIENT_FIELDS)).without(&[SORT]);
    Ok(MemoriesPage {
        layout: Layout {
            query: text.clone(),
            filters: fields.except(&["q", "page", "done", "skipped"]),
            ..request.layout("Memories")
        },
        count: found.count,
        is_filtered: !query.is_empty(),
        suggested_name: suggested_name(fields),
        categories: Category::ALL
            .into_iter()
            .filter(|category| *category != Category::Reminders)
            .collect(),
        notice: without_commands(&problems.join("; ")).filter(|notice| !notice.is_empty()),
        chips: filter_chips(fields),
        cards: found.cards,
        is_less_likely_open: total < FEW_MATCHES,
        less_likely: found.less_likely,
        less_likely_count: found.less_likely_count,
        sessions,
        facets: build_facets(fields, counts),
        searches: saved_searches(request, &query)?,
        pager: Pager::new(request, page - 1, PAGE_SIZE, listed),
        sort: (!is_search && 1 < total).then_some(sort),
        query,
    })
}

/// Maximum number of sessions that are shown.
const MAX_SESSIONS: usize = 3;

/// Returns the best messages of the sessions of the default history.
fn find_sessions(
    request: &WebRequest,
    text: &str,
    filter: &Filter,
    problems: &mut Vec<String>,
) -> Result<Vec<FoundSession>, PageError> {
    let place = ("history".to_owned(), "default".to_owned());
    let messages = open_messages(request, &place)?;
    let query = Query::new(text).filter(Filter {
        from: filter.from,
        until: filter.until,
        ..Filter::default()
    });
    let found = history::search_sessions(&messages, &query, MAX_SESSIONS, &mut |_| ())?;
    problems.extend(found.degraded);
    let matches = found.hits.iter().map(|hit| {
        let chat = ChatHit::of(hit);
        FoundSession {
            path: session_path(&place, chat.name),
            name: Label::cut(chat.name, 140),
            role: Label::new(chat.role),
            time: chat.at.map(|at| TimeLabel::exact(request.local(at))),
            text: Label::marked(&hit.snippet, &hit.marks),
        }
    });
    Ok(matches.collect())
}

/// The memories of a page of the list.
struct FoundCards {
    /// The number of memories in all, as text.
    count: String,
    cards: Vec<MemoryCard>,
    total: u64,
    less_likely: Vec<MemoryCard>,
    less_likely_count: u64,
    notices: Vec<String>,
}

/// A search, whose best matches are listed and whose other matches are folded.
struct SearchedMatches<'s> {
    text: &'s str,
    filter: &'s Filter,
}

impl SearchedMatches<'_> {
    /// Returns a page of the best matches by words, of which there are `best`, and the first of the other matches below the first
    /// page. If no memory contains a word, the other matches are the page.
    fn find(&self, request: &WebRequest, page: usize, best: u64) -> Result<FoundCards, PageError> {
        let has_best = 0 < best;
        let coverage = if has_best {
            MatchCoverage::Best
        } else {
            MatchCoverage::Any
        };
        let found = self.search(&request.services, coverage, page * PAGE_SIZE)?;
        let corrected = found.corrected.as_ref();
        let text = corrected
            .filter(|own| own.is_searched)
            .map_or(self.text, |own| &own.text);
        let words = parse(text, self.filter).question.words;
        let cards = |hits: &[Hit]| {
            hits.iter()
                .map(|hit| MemoryCard::of_hit(request, hit, &words).with_actions())
                .collect()
        };
        let mut notices: Vec<String> = corrected
            .map(CorrectedQuery::describe)
            .into_iter()
            .collect();
        notices.extend(found.degraded);
        let shown = found.hits.get((page - 1) * PAGE_SIZE..).unwrap_or_default();
        let mut all = FoundCards {
            count: if has_best {
                count_matches(found.total)
            } else {
                count_similar(found.total)
            },
            cards: cards(shown),
            total: found.total,
            less_likely: Vec::new(),
            less_likely_count: 0,
            notices,
        };
        let mut listed = found.hits.clone();
        if has_best && page == 1 {
            // These are not worth the time of a reranking model.
            let services = Services {
                reranking: None,
                ..request.services.clone()
            };
            let rest = self.search(&services, MatchCoverage::Rest, MAX_LESS_LIKELY)?;
            all.less_likely = cards(&rest.hits);
            all.less_likely_count = rest.total;
            listed.extend(rest.hits);
        }
        let missing = missing_words(text, &listed);
        if !missing.is_empty() {
            let missing: Vec<String> = missing.iter().map(|word| format!("“{word}”")).collect();
            all.notices.push(format!(
                "none of these memories contains {}",
                missing.join(", ")
            ));
        }
        Ok(all)
    }

    fn search(
        &self,
        services: &Services,
        coverage: MatchCoverage,
        limit: usize,
    ) -> Result<SearchResults, PageError> {
        // Every match is listed, however low a reranking model scores it, so that the total is that of the facets.
        let ranking = Ranking {
            coverage,
            threshold: Some(0.0),
            ..Ranking::default()
        };
        Ok(search(
            services,
            &Query::new(self.text)
                .filter(self.filter.clone())
                .ranking(ranking)
                .limit(limit),
        )?)
    }
}

fn count_memories(total: u64) -> String {
    match total {
        0 => "No memories".to_owned(),
        total => counted(total, "memory"),
    }
}

fn count_matches(total: u64) -> String {
    let order = if 1 < total { ", best first" } else { "" };
    counted(total, "match") + order
}

/// Describes the number of matches if none contains a word of the query as a whole word.
fn count_similar(total: u64) -> String {
    match total {
        0 => "No matches".to_owned(),
        1 => "1 similar memory".to_owned(),
        total => format!("{total} similar memories, best first"),
    }
}

fn saved_searches(request: &WebRequest, query: &str) -> Result<Vec<SearchLink>, PageError> {
    let link = |SavedSearch { name, query: saved }: SavedSearch| SearchLink {
        is_active: saved == query,
        path: to_path(&saved),
        name: Label::cut(&name, 60),
        key: name,
    };
    Ok(saved_searches::list(&request.banks())?
        .into_iter()
        .map(link)
        .collect())
}

/// Applies the field `action` to the memories of the fields `id`.
async fn change_selected(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let form = &request.form;
            let ids = form.all("id").map(str::parse).collect::<Result<Vec<MemoryId>, _>>()?;
            if ids.is_empty() {
                let hint = "select memories with the check boxes beside their titles, then choose an action";
                return Err(PageError::new(Code::InvalidInput, "no memory is selected", hint));
            }
            if form.get("action") == "merge" {
                return preview_merge(request, &ids);
            }
            let result = change_many(&request.services, &ids, &parse_change(form)?)?;
            let (path, query) = form.get("next").split_once('?').unwrap_or((form.get("next"), ""));
            let skipped = if result.skipped == 0 { String::new() } else { result.skipped.to_string() };
            let next = format!("{path}?{}", Fields::parse(query).with("skipped", &skipped));
            Ok(if result.changed == 0 { request.redirect_after(&next, &[]) } else { request.redirect(&next) })
        })
        .await
}

/// Redirects to the preview of the merge of the newer one of two memories into the older one.
fn preview_merge(request: &WebRequest, ids: &[MemoryId]) -> Result<Response, PageError> {
    let [one, other] = ids else {
        let hint = "select the two memories with the check boxes beside their titles";
        return Err(PageError::new(
            Code::InvalidInput,
            "a merge needs exactly two memories",
            hint,
        ));
    };
    let mut both = [
        request.services.store.get(one)?,
        request.services.store.get(other)?,
    ];
    both.sort_by_key(|stored| stored.memory.created_at);
    let [older, newer] = &both;
    Ok(request.redirect_after(
        &merge_path(newer, &older.memory, request.form.get("next")),
        &[],
    ))
}

fn parse_change(form: &Fields) -> Result<BulkChange, PageError> {
    let patch = match form.get("action") {
        "delete" => return Ok(BulkChange::Delete),
        "tag" => {
            let add_tags = parse_tags(form.get("tag"));
            if add_tags.is_empty() {
                let hint = "write the tag into the field beside the button";
                return Err(PageError::new(Code::InvalidInput, "no tag is given", hint));
            }
            Patch {
                add_tags,
                ..Patch::default()
            }
        }
        "move" => Patch {
            category: Some(form.get("category").parse()?),
            ..Patch::default()
        },
        "pin" => Patch {
            pinned: Some(true),
            ..Patch::default()
        },
        _ => return Err(PageError::invalid("the action is unknown")),
    };
    Ok(BulkChange::Update(Box::new(patch)))
}

async fn save_search(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let name = request
                .form
                .text("name")
                .ok_or_else(|| PageError::invalid("the search has no name"))?
                .to_owned();
            let query = Fields::parse(request.form.get("query")).without(&TRANSIENT_FIELDS);
            saved_searches::save(
                &request.banks(),
                &SavedSearch {
                    name,
                    query: query.clone(),
                },
            )?;
            Ok(request.redirect(&to_path(&query)))
        })
        .await
}

async fn delete_search(request: WebRequest) -> Response {
    request
        .respond(|request| {
            match saved_searches::delete(&request.banks(), request.form.get("name")) {
                // Another page has deleted it.
                Err(error) if error.error.code == Code::KeyNotFound => {}
                done => done?,
            }
            Ok(request.redirect(request.form.get("next")))
        })
        .await
}
