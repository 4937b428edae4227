//! The list of memories: search, facets and saved searches.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use chrono::{DateTime, Months, NaiveDate, NaiveTime, Utc};
use memory_core::query_parser::{QueryWord, parse};
use memory_core::{
    BulkChange, Category, Code, FacetCounts, Filter, Hit, HomeSection, Lifetime, ListOrder, MatchCoverage, MemoryId, PageRequest,
    Patch, Phase, Query, Ranking, Scope, SearchResults, Services, Tags, change_many, facets, list, search,
};

use super::memory::parse_tags;
use crate::web::card::MemoryCard;
use crate::web::error::{PageError, render};
use crate::web::fields::Fields;
use crate::web::html::Label;
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::saved_searches::{self, SavedSearch};
use crate::web::state::WebState;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/memories", get(show))
        .route("/memories/change", post(change_selected))
        .route("/memories/searches", post(save_search))
        .route("/memories/searches/delete", post(delete_search))
}

/// Fields of the query that are no part of a search.
const TRANSIENT_FIELDS: [&str; 3] = ["page", "done", "skipped"];

/// Number of memories on a page.
const PAGE_SIZE: usize = 25;

/// Maximum number of a page of search results. Ranking more results takes too long.
const MAX_SEARCH_PAGE: usize = 40;

/// Maximum number of matches with fewer words that are listed.
const MAX_LESS_LIKELY: usize = 10;

/// Number of values of a facet that are shown at first; the rest is folded.
const SHOWN_VALUES: usize = 8;

/// Maximum number of values of a facet.
const MAX_VALUES: usize = 30;

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
    facets: Vec<Facet>,
    searches: Vec<SearchLink>,
    previous: Option<String>,
    next: Option<String>,
    page: usize,
    pages: usize,
}

/// An active filter, with the path of the page without it.
struct FilterChip {
    name: &'static str,
    value: Label,
    path: String,
}

/// The values of one attribute, with the number of memories of each.
struct Facet {
    title: &'static str,
    values: Vec<FacetValue>,
    more: Vec<FacetValue>,
}

struct FacetValue {
    label: Label,
    count: u64,
    path: String,
    is_active: bool,
}

struct SearchLink {
    name: Label,
    key: String,
    path: String,
    is_active: bool,
}

async fn show(request: WebRequest) -> Response {
    request.respond(|request| Ok(render(&memories_page(request)?))).await
}

fn memories_page(request: &WebRequest) -> Result<MemoriesPage, PageError> {
    let fields = &request.query;
    let text = fields.get("q").trim().to_owned();
    let (filter, mut problems) = parse_filter(fields);
    let page = fields.get("page").parse::<usize>().unwrap_or(1).max(1);
    let parsed = parse(&text, &filter);
    let counts = facets(&request.services, &Query::new(&text).filter(filter.clone()))?;
    let is_search = !parsed.question.words.is_empty();
    let found = if is_search {
        let matches = SearchedMatches { text: &text, filter: &filter, words: &parsed.question.words };
        matches.find(request, page.min(MAX_SEARCH_PAGE), counts.counted)?
    } else {
        // Only filters: the newest first.
        problems.extend(parsed.misread);
        let slice = PageRequest { order: ListOrder::Created, offset: (page - 1) * PAGE_SIZE, limit: Some(PAGE_SIZE) };
        let found = list(&request.services, &parsed.filter, &slice)?;
        FoundCards {
            count: count_memories(found.total),
            cards: found.memories.iter().map(|stored| MemoryCard::new(request, stored).with_actions()).collect(),
            total: found.total,
            less_likely: Vec::new(),
            less_likely_count: 0,
            degraded: found.degraded,
        }
    };
    problems.extend(found.degraded);
    if let Some(skipped) = fields.text("skipped").and_then(|skipped| skipped.parse::<usize>().ok()) {
        let are = if skipped == 1 { "memory was" } else { "memories were" };
        problems.push(format!("{skipped} selected {are} not changed: deleted by another program, or with a damaged file"));
    }
    let total = found.total;
    let pages = usize::try_from(total).unwrap_or(usize::MAX).div_ceil(PAGE_SIZE).max(1);
    let pages = if is_search { pages.min(MAX_SEARCH_PAGE) } else { pages };
    let page_path = |number: usize| path_with(fields, "page", &if number == 1 { String::new() } else { number.to_string() });
    let query = fields.without(&TRANSIENT_FIELDS);
    Ok(MemoriesPage {
        layout: Layout {
            query: text.clone(),
            filters: fields.except(&["q", "page", "done", "skipped"]),
            ..request.layout("Memories")
        },
        count: found.count,
        is_filtered: !query.is_empty(),
        suggested_name: suggested_name(fields),
        categories: Category::ALL.into_iter().filter(|category| *category != Category::Reminders).collect(),
        notice: Some(problems.join("; ")).filter(|notice| !notice.is_empty()),
        chips: filter_chips(fields),
        cards: found.cards,
        less_likely: found.less_likely,
        less_likely_count: found.less_likely_count,
        facets: build_facets(fields, counts),
        searches: saved_searches(request, &query)?,
        previous: (1 < page).then(|| page_path(page - 1)),
        next: (page < pages).then(|| page_path(page + 1)),
        page: page.min(pages),
        pages,
        query,
    })
}

/// The memories of a page of the list.
struct FoundCards {
    /// The number of memories in all, as text.
    count: String,
    cards: Vec<MemoryCard>,
    total: u64,
    less_likely: Vec<MemoryCard>,
    less_likely_count: u64,
    degraded: Option<String>,
}

/// A search, whose best matches are listed and whose other matches are folded.
struct SearchedMatches<'s> {
    text: &'s str,
    filter: &'s Filter,
    words: &'s [QueryWord],
}

impl SearchedMatches<'_> {
    /// Returns a page of the best matches by words, of which there are `best`, and the first of the other matches below the first
    /// page. If no memory contains a word, the other matches are the page.
    fn find(&self, request: &WebRequest, page: usize, best: u64) -> Result<FoundCards, PageError> {
        let has_best = 0 < best;
        let coverage = if has_best { MatchCoverage::Best } else { MatchCoverage::Any };
        let found = self.search(&request.services, coverage, page * PAGE_SIZE)?;
        let cards = |hits: &[Hit]| hits.iter().map(|hit| MemoryCard::of_hit(request, hit, self.words).with_actions()).collect();
        let shown = found.hits.get((page - 1) * PAGE_SIZE..).unwrap_or_default();
        let mut all = FoundCards {
            count: if has_best { count_matches(found.total) } else { count_similar(found.total) },
            cards: cards(shown),
            total: found.total,
            less_likely: Vec::new(),
            less_likely_count: 0,
            degraded: found.degraded,
        };
        if has_best && page == 1 {
            // These are not worth the time of a reranking model.
            let services = Services { reranking: None, ..request.services.clone() };
            let rest = self.search(&services, MatchCoverage::Rest, MAX_LESS_LIKELY)?;
            all.less_likely = cards(&rest.hits);
            all.less_likely_count = rest.total;
        }
        Ok(all)
    }

    fn search(&self, services: &Services, coverage: MatchCoverage, limit: usize) -> Result<SearchResults, PageError> {
        // Every match is listed, however low a reranking model scores it, so that the total is that of the facets.
        let ranking = Ranking { coverage, threshold: Some(0.0), ..Ranking::default() };
        Ok(search(services, &Query::new(self.text).filter(self.filter.clone()).ranking(ranking).limit(limit))?)
    }
}

fn count_memories(total: u64) -> String {
    match total {
        0 => "No memories".to_owned(),
        1 => "1 memory".to_owned(),
        total => format!("{total} memories, newest first"),
    }
}

fn count_matches(total: u64) -> String {
    match total {
        1 => "1 match".to_owned(),
        total => format!("{total} matches, best first"),
    }
}

/// Describes the number of matches if none contains a word of the query.
fn count_similar(total: u64) -> String {
    match total {
        0 => "No matches".to_owned(),
        1 => "No memory contains the words; 1 is similar".to_owned(),
        total => format!("No memory contains the words; {total} are similar, best first"),
    }
}

/// Returns the filter of the fields, and why fields were ignored.
fn parse_filter(fields: &Fields) -> (Filter, Vec<String>) {
    let mut ignored = Vec::new();
    let category = parse_field::<Category>(fields, "category", &mut ignored);
    let scope = parse_field::<Scope>(fields, "scope", &mut ignored);
    let phase = parse_field::<Phase>(fields, "phase", &mut ignored);
    let month = fields.text("month").map(|month| (month, parse_month(month)));
    if let Some((text, None)) = month {
        ignored.push(format!("the month {text:?} is ignored; write it as 2026-05"));
    }
    let (from, until) = month.and_then(|(_, period)| period).unzip();
    let is_everything = fields.text("all").is_some();
    let filter = Filter {
        category,
        scope,
        phase,
        from,
        until,
        source: fields.text("source").map(str::to_owned),
        tags: fields.all("tag").filter(|tag| !tag.trim().is_empty()).collect::<Tags>(),
        place: Some(HomeSection::Notes).filter(|_| fields.text("entries").is_none()),
        lifetime: if is_everything { Lifetime::All } else { Lifetime::Current },
        ..Filter::default()
    };
    (filter, ignored)
}

fn parse_field<T: std::str::FromStr<Err = memory_core::ParseError>>(
    fields: &Fields,
    name: &str,
    ignored: &mut Vec<String>,
) -> Option<T> {
    match fields.text(name)?.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            ignored.push(format!("{name} is ignored: {error}"));
            None
        }
    }
}

/// Returns the start and the end of a month such as `2026-05`, in UTC as the facets count them.
fn parse_month(text: &str) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let first = NaiveDate::parse_from_str(&format!("{text}-01"), "%Y-%m-%d").ok()?;
    let start = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
    Some((start(first), start(first.checked_add_months(Months::new(1))?)))
}

/// The fields that are filters, with their names for people.
const FILTERS: [(&str, &str); 6] =
    [("category", "Category"), ("tag", "Tag"), ("scope", "Scope"), ("source", "Source"), ("month", "Month"), ("phase", "Phase")];

fn filter_chips(fields: &Fields) -> Vec<FilterChip> {
    let mut chips = Vec::new();
    for (field, name) in FILTERS {
        for value in fields.all(field).filter(|value| !value.trim().is_empty()) {
            let path = to_path(&fields.without_value(field, value));
            chips.push(FilterChip { name, value: Label::cut(value, 60), path });
        }
    }
    if fields.text("all").is_some() {
        chips.push(FilterChip {
            name: "Shown",
            value: Label::new("also expired and superseded"),
            path: path_with(fields, "all", ""),
        });
    }
    chips
}

fn build_facets(fields: &Fields, counts: FacetCounts) -> Vec<Facet> {
    let FacetCounts { categories, scopes, sources, tags, months, counted: _ } = counts;
    let single = |title, field: &'static str, values: Vec<(String, String, u64)>| {
        let active = fields.get(field).to_owned();
        let value = |(value, text, count): (String, String, u64)| {
            let is_active = active.eq_ignore_ascii_case(&value);
            let path = path_with(fields, field, if is_active { "" } else { &value });
            FacetValue { label: Label::cut(&text, 40), count, path, is_active }
        };
        Facet::new(title, values.into_iter().map(value))
    };
    let same = |value: String, count: u64| (value.clone(), value, count);
    let tag_value = |(tag, count): (String, u64)| {
        let is_active = fields.all("tag").any(|own| Tags::key(own) == Tags::key(&tag));
        let path = if is_active { fields.without_value("tag", &tag) } else { fields.with_added("tag", &tag) };
        FacetValue { label: Label::cut(&tag, 40), count, path: to_path(&path), is_active }
    };
    let month = |(month, count): (NaiveDate, u64)| (month.format("%Y-%m").to_string(), month.format("%B %Y").to_string(), count);
    let all = [
        single(
            "Category",
            "category",
            categories.into_iter().map(|(category, count)| same(category.to_string(), count)).collect(),
        ),
        Facet::new("Tag", tags.into_iter().map(tag_value)),
        single("Scope", "scope", scopes.into_iter().map(|(scope, count)| same(scope.to_string(), count)).collect()),
        single("Source", "source", sources.into_iter().map(|(source, count)| same(source, count)).collect()),
        single("Month", "month", months.into_iter().map(month).collect()),
    ];
    all.into_iter().filter(|facet| !facet.values.is_empty()).collect()
}

impl Facet {
    fn new(title: &'static str, values: impl Iterator<Item = FacetValue>) -> Self {
        let mut values: Vec<FacetValue> = values.take(MAX_VALUES).collect();
        let more = values.split_off(values.len().min(SHOWN_VALUES));
        Self { title, values, more }
    }
}

fn saved_searches(request: &WebRequest, query: &str) -> Result<Vec<SearchLink>, PageError> {
    let link = |SavedSearch { name, query: saved }: SavedSearch| SearchLink {
        is_active: saved == query,
        path: to_path(&saved),
        name: Label::cut(&name, 60),
        key: name,
    };
    Ok(saved_searches::list(&request.banks())?.into_iter().map(link).collect())
}

/// Returns a name for the search of these fields, such as `dark mode, people`.
fn suggested_name(fields: &Fields) -> String {
    let values = ["q", "category", "tag", "scope", "source", "month"].into_iter().flat_map(|field| fields.all(field));
    let values: Vec<&str> = values.map(str::trim).filter(|value| !value.is_empty()).collect();
    memory_core::text::to_one_line(&values.join(", "), 60)
}

fn path_with(fields: &Fields, name: &str, value: &str) -> String {
    let query = Fields::parse(&fields.without(&TRANSIENT_FIELDS)).with(name, value);
    to_path(&query)
}

fn to_path(query: &str) -> String {
    if query.is_empty() { "/memories".to_owned() } else { format!("/memories?{query}") }
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
            let result = change_many(&request.services, &ids, &parse_change(form)?)?;
            let (path, query) = form.get("next").split_once('?').unwrap_or((form.get("next"), ""));
            let skipped = if result.skipped == 0 { String::new() } else { result.skipped.to_string() };
            let next = format!("{path}?{}", Fields::parse(query).with("skipped", &skipped));
            Ok(if result.changed == 0 { request.redirect_after(&next, &[]) } else { request.redirect(&next) })
        })
        .await
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
            Patch { add_tags, ..Patch::default() }
        }
        "move" => Patch { category: Some(form.get("category").parse()?), ..Patch::default() },
        "pin" => Patch { pinned: Some(true), ..Patch::default() },
        _ => return Err(PageError::invalid("the action is unknown")),
    };
    Ok(BulkChange::Update(Box::new(patch)))
}

async fn save_search(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let name = request.form.text("name").ok_or_else(|| PageError::invalid("the search has no name"))?.to_owned();
            let query = Fields::parse(request.form.get("query")).without(&TRANSIENT_FIELDS);
            saved_searches::save(&request.banks(), &SavedSearch { name, query: query.clone() })?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_a_filter_and_invalid_ones_are_reported() {
        let (filter, ignored) = parse_filter(&Fields::parse("category=people&tag=a&tag=b&scope=agent:x&month=2026-12"));
        assert_eq!((filter.category, filter.scope), (Some(Category::People), Some(Scope::Agent("x".into()))));
        assert_eq!(filter.tags.as_slice(), ["a", "b"]);
        assert_eq!(filter.until.map(|until| until.to_rfc3339()).as_deref(), Some("2027-01-01T00:00:00+00:00"));
        assert!(ignored.is_empty());
        let (filter, ignored) = parse_filter(&Fields::parse("category=nothing&month=May"));
        assert_eq!((filter.category, filter.from, ignored.len()), (None, None, 2));
    }

    #[test]
    fn a_chip_removes_one_value_and_a_facet_adds_one() {
        let fields = Fields::parse("q=tea&tag=a&tag=b&page=3");
        let paths: Vec<_> = filter_chips(&fields).into_iter().map(|chip| chip.path).collect();
        assert_eq!(paths, ["/memories?q=tea&tag=b", "/memories?q=tea&tag=a"]);
        let counts = FacetCounts { tags: vec![("A".into(), 2), ("c".into(), 1)], ..FacetCounts::default() };
        let facets = build_facets(&fields, counts);
        let values: Vec<_> = facets[0].values.iter().map(|value| (value.path.as_str(), value.is_active)).collect();
        assert_eq!(values, [("/memories?q=tea&tag=b", true), ("/memories?q=tea&tag=a&tag=b&tag=c", false)]);
    }
}
