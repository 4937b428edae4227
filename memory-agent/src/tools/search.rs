//! The tools that search memories.

use std::ops::RangeInclusive;

use memory_core::query_parser::{extract_filter, has_operators};
use memory_core::{
    AnswerDetail, Category, Effect, Filter, Query, Ranking, SearchResults, ToolContext, ToolError,
    fit_budget, missing_words,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::brief::{AnswerBudget, BriefList};
use super::built_in::BuiltInTool;
use super::cursor::parse_cursor;
use super::filter::{FilterInput, MAX_RESULTS};
use super::input::{invalid, local_now};
use crate::json::{self, add_field};

/// Searches memories by words.
pub(super) const MEMORY_SEARCH: BuiltInTool<SearchInput> = BuiltInTool {
    name: "memory_search",
    description: "Use it before you ask the user, and when a task may touch earlier decisions, preferences, \
 people or projects; to browse, use memory_list. Plain words work, with times and categories (\"decisions about the database last \
 week\"), and so do \"a phrase\", -without, begin*. Returns, best first, the passages that answer.",
    effect: Effect::Reads,
    execute: |context, input| {
        let filter = input.filter.to_filter(context)?;
        match context.detail {
            AnswerDetail::Full => search_full(context, &input, &filter),
            AnswerDetail::Brief => search_brief(context, &input, &filter),
        }
    },
};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct SearchInput {
    query: String,
    #[schemars(range(min = 1), extend("default" = USUAL))]
    limit: Option<usize>,
    /// tokens, 200-8000
    #[schemars(with = "Option<i64>")]
    budget: Option<usize>,
    cursor: Option<String>,
    #[serde(flatten)]
    filter: FilterInput,
}

/// Returns all fields of the hits.
fn search_full(
    context: &ToolContext,
    input: &SearchInput,
    filter: &Filter,
) -> Result<Value, ToolError> {
    let SearchInput {
        query,
        limit,
        budget,
        cursor,
        ..
    } = input;
    if budget.is_some_and(|budget| !FULL_BUDGETS.contains(&budget)) {
        let (least, most) = FULL_BUDGETS.into_inner();
        return Err(invalid(format!(
            "budget: not between {least} and {most} tokens"
        )));
    }
    let services = &context.services;
    let offset = parse_cursor(cursor.as_deref())?;
    let limit = limit.unwrap_or(if budget.is_some() {
        LIMIT_FOR_BUDGET
    } else {
        USUAL
    });
    let end = offset.saturating_add(limit.min(MAX_RESULTS));
    let fitting = |found: &mut SearchResults| {
        found.hits.drain(..offset.min(found.hits.len()));
        if let Some(budget) = *budget {
            let hits = std::mem::take(&mut found.hits);
            found.hits = fit_budget(hits, query, budget, &|hit| {
                json::hit_tokens(hit, services.inbox_ttl)
            });
        }
    };
    let mut answer =
        memory_core::smart_search(services, &query_of(query, filter, end), &local_now(context))?;
    fitting(&mut answer.found);
    context.recalled.add(Some(query), &answer.found.hits);
    if answer.filter == *filter {
        return Ok(json::search_results(
            &answer.found,
            false,
            services.inbox_ttl,
        ));
    }
    Ok(json::smart_search_results(&answer, services.inbox_ttl))
}

/// Returns the passages that answer the query.
fn search_brief(
    context: &ToolContext,
    input: &SearchInput,
    filter: &Filter,
) -> Result<Value, ToolError> {
    let SearchInput {
        query,
        limit,
        budget,
        cursor,
        ..
    } = input;
    let offset = parse_cursor(cursor.as_deref())?;
    let budget = AnswerBudget::new(*budget);
    let end = offset.saturating_add(limit.unwrap_or(budget.hits().max(USUAL)).min(MAX_RESULTS));
    let answer = memory_core::smart_search(
        &context.services,
        &query_of(query, filter, end),
        &local_now(context),
    )?;
    let mut shape = brief_results(
        context,
        &answer.found,
        (query, &answer.text),
        filter,
        offset,
        budget,
    );
    if answer.filter != *filter {
        shape["understood"] = json::understood(&answer);
    }
    if extract_filter(query, filter, &local_now(context))
        .filter
        .category
        == Some(Category::Reminders)
    {
        shape["next"] = "memory_reminders lists the reminders by their times".into();
    }
    Ok(shape)
}

/// Returns how many memories the query finds without the filter, if the filter excludes all of them.
fn hits_without_filter(context: &ToolContext, query: &str, filter: &Filter) -> Option<String> {
    if *filter
        == (Filter {
            lifetime: filter.lifetime,
            ..Filter::default()
        })
    {
        return None;
    }
    let all = Filter {
        lifetime: filter.lifetime,
        ..Filter::default()
    };
    let query = query_of(query, &all, 0);
    let answer = memory_core::smart_search(&context.services, &query, &local_now(context)).ok()?;
    let total = answer.found.total;
    (0 < total)
        .then(|| format!("without tags, category, scope and dates, memory_search finds {total}"))
}

/// Returns the brief answer with the hits of a query, of which `words` were searched.
fn brief_results(
    context: &ToolContext,
    found: &SearchResults,
    (query, words): (&str, &str),
    filter: &Filter,
    offset: usize,
    budget: AnswerBudget,
) -> Value {
    let items = BriefList::passages_of_hits(&found.hits[offset.min(found.hits.len())..], query);
    let degraded = found.degraded.as_deref();
    let list = BriefList {
        key: "hits",
        tool: "memory_search",
        query: Some(query),
        items,
        is_by_creation: false,
        offset,
        total: found.total,
        degraded,
    };
    let mut answer = list.to_json(context, budget);
    let missing = if has_operators(query) {
        Vec::new()
    } else {
        missing_words(words, &found.hits)
    };
    if !missing.is_empty() {
        answer["missing"] = missing.into();
    }
    add_field(&mut answer, "corrected", json::corrected(found));
    if found.total == 0
        && let Some(next) = hits_without_filter(context, query, filter)
    {
        answer["next"] = next.into();
    }
    answer
}

fn query_of(text: &str, filter: &Filter, limit: usize) -> Query {
    Query {
        text: text.to_owned(),
        filter: filter.clone(),
        limit,
        ranking: Ranking::default(),
    }
}

/// The budgets that a full answer accepts, in tokens.
const FULL_BUDGETS: RangeInclusive<usize> = 200..=100_000;

/// The number of hits that are considered for a budget if the caller sets no limit.
const LIMIT_FOR_BUDGET: usize = 100;

/// Default number of results.
const USUAL: usize = 10;

/// Searches memories by meaning.
pub(super) const MEMORY_SMART_SEARCH: BuiltInTool<SmartSearchInput> = BuiltInTool {
    name: "memory_smart_search",
    description: "Search in plain words, as in \"decisions about the database last week\": times and categories are recognized, \
 near-duplicates come last.",
    effect: Effect::Reads,
    execute: |context, SmartSearchInput { query, tags, limit }| {
        let filter = Filter {
            tags: tags.iter().collect(),
            ..Filter::default()
        };
        if context.detail == AnswerDetail::Brief {
            let input = SearchInput {
                query,
                limit,
                ..SearchInput::default()
            };
            return search_brief(context, &input, &filter);
        }
        let limit = limit.unwrap_or(USUAL).min(MAX_RESULTS);
        let answer = memory_core::smart_search(
            &context.services,
            &query_of(&query, &filter, limit),
            &local_now(context),
        )?;
        context.recalled.add(Some(&query), &answer.found.hits);
        Ok(json::smart_search_results(
            &answer,
            context.services.inbox_ttl,
        ))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SmartSearchInput {
    #[schemars(length(min = 1))]
    query: String,
    #[serde(default)]
    tags: Vec<String>,
    #[schemars(range(min = 1), extend("default" = USUAL))]
    limit: Option<usize>,
}
