//! Builds the context of a language model: the memories that match a prompt, within a budget of tokens.
//!
//! Standing instructions come first and use at most a quarter of the budget, or all of it at the start of a session. The notes that
//! are probably useful follow, each in its newest version, and then the messages of conversations that match. The
//! twenty best share the rest. If they do not all fit completely, each gets the same share, and of a longer text the
//! passage with most words of the prompt is shown. The result is data: the reader of the prompt decides which of it to
//! follow.

mod asked_time;
mod block;
mod usefulness;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::ops::{Range, RangeInclusive};
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeZone};

use crate::RankFeatureScore;
use crate::context::block::{ContextBlock, count_up_to};
pub use crate::context::usefulness::MIN_USEFULNESS;
use crate::context::usefulness::{RequestEvidence, select_useful};
use crate::conversation::is_courtesy;
use crate::earlier::find_replaced;
use crate::query_parser::{WordRole, expects_several_results, parse};
use crate::rank::{CollectionKind, RankFeature};
use crate::search::{find_replacement, search_sentence};
use crate::smart_search::{demote_near_duplicates, list_newest, listing_filter};
use crate::standing::{
    StandingKind, StandingMemory, StandingSelection, asks_for_play, select_standing,
    without_material,
};
use crate::text::{Term, token_count};
use crate::{
    Category, ContentHash, Filter, Hit, ListOrder, Memory, MemoryId, MemoryPage, PageRequest,
    Query, Ranking, RecalledId, Scope, Services, SpeakerRole, StoreError, StoredMemory,
};

/// The memories for a prompt, as text to insert before it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Context {
    /// The memories as fenced text; empty if there are none.
    pub text: String,
    /// The memories in the text: standing ones first, then the others, best first.
    pub memories: Vec<StoredMemory>,
    /// The number of standing instructions and preferences, which come first.
    pub standing: usize,
    /// The size of the text in tokens, see [`token_count`].
    pub tokens: usize,
    /// The number of further matches and standing memories that exceed the budget.
    pub left_out: usize,
    /// The reason why matches may be missing, if any.
    pub degraded: Option<String>,
    /// A message if the budget is too small for any memory.
    pub shortage: Option<String>,
    /// The scores of the memories that match the prompt.
    ranks: Vec<RecalledId>,
}

impl Context {
    /// Returns the memories in the text for the recall ledger: with their scores, and marked if they are standing.
    pub fn recalled(&self) -> Vec<RecalledId> {
        let recalled = self.memories.iter().enumerate().map(|(number, stored)| {
            let id = stored.memory.id.to_string();
            let ranked = self.ranks.iter().find(|ranked| ranked.id == id).cloned();
            let recalled = ranked.unwrap_or_else(|| RecalledId::unranked(id));
            if number < self.standing {
                recalled.standing()
            } else {
                recalled
            }
        });
        recalled.collect()
    }
}

/// The memories that a session has received. They are not repeated until they change.
#[derive(Debug, Default)]
pub struct ShownMemories(Mutex<HashSet<(MemoryId, ContentHash)>>);

impl FromIterator<(MemoryId, ContentHash)> for ShownMemories {
    fn from_iter<T: IntoIterator<Item = (MemoryId, ContentHash)>>(entries: T) -> Self {
        Self(Mutex::new(entries.into_iter().collect()))
    }
}

impl ShownMemories {
    /// Returns the received memories, each with the hash of its content at that time.
    pub fn entries(&self) -> Vec<(MemoryId, ContentHash)> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .copied()
            .collect()
    }

    fn contains(&self, stored: &StoredMemory) -> bool {
        self.has_text(stored, &stored.memory.content)
    }

    fn add(&self, stored: &StoredMemory) {
        self.add_text(stored, &stored.memory.content);
    }

    /// Returns whether the session has received `text`, which is the memory or an excerpt from it.
    fn has_text(&self, stored: &StoredMemory, text: &str) -> bool {
        let given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.contains(&(stored.memory.id, ContentHash::of(text)))
    }

    fn add_text(&self, stored: &StoredMemory, text: &str) {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.insert((stored.memory.id, ContentHash::of(text)));
    }
}

/// The minimum and maximum number of matches to consider.
const MATCH_LIMITS: RangeInclusive<usize> = 30..=200;

/// The approximate minimum size of a memory with its fence, in tokens.
const MIN_MEMORY_TOKENS: usize = 20;

/// Standing instructions and preferences use at most the budget divided by this number.
const STANDING_DIVISOR: usize = 4;

/// The number of best memories that share the budget.
///
/// Long texts are cut so that all of them fit.
const MAX_SHARERS: usize = 20;

/// The size in tokens, with the fence, below which no text is cut to make room for others.
const MIN_CUT_TOKENS: usize = 80;

/// The budget divided by this number is filled by relevance alone before other sessions are covered.
const RELEVANCE_DIVISOR: usize = 3;

/// Returns the standing instructions and the memories that are useful for `prompt`, in at most `budget` tokens, see [`token_count`].
///
/// Memories in `given` are left out, and the returned ones are added to it. For an empty prompt, which starts a session, the result holds
/// all standing instructions, then preferences, the person's profile, the decisions and lessons of the project of the caller, and
/// the newest memories. For any other prompt, instructions use at most a quarter of the budget, and the result may be empty: a note is
/// given only if it is probably useful, and not if a newer one replaces it.
///
/// Each memory is fenced, with its id, date and source. Text that resembles the fence is escaped.
///
/// # Errors
/// If the memories cannot be read. A prompt without matches is no error.
pub fn build_context<Tz: TimeZone>(
    services: &Services,
    prompt: &str,
    budget: usize,
    given: &ShownMemories,
    now: &DateTime<Tz>,
) -> Result<Context, StoreError> {
    gather(services, prompt, budget, given, now, true)
}

/// Returns what [`build_context()`] does without standing instructions, which the caller has received before.
///
/// # Errors
/// Those of [`build_context()`].
pub fn build_matching_context<Tz: TimeZone>(
    services: &Services,
    prompt: &str,
    budget: usize,
    given: &ShownMemories,
    now: &DateTime<Tz>,
) -> Result<Context, StoreError> {
    gather(services, prompt, budget, given, now, false)
}

fn gather<Tz: TimeZone>(
    services: &Services,
    prompt: &str,
    budget: usize,
    given: &ShownMemories,
    now: &DateTime<Tz>,
    with_standing: bool,
) -> Result<Context, StoreError> {
    services.store.refresh()?;
    let mut context = Context::default();
    let mut block = ContextBlock::new(budget);
    let StandingSelection {
        memories: standing,
        replaced,
    } = select_standing(services)?;
    let (instructions, preferences): (Vec<_>, Vec<_>) = standing
        .into_iter()
        .partition(|standing| standing.kind == StandingKind::Instruction);
    let is_start = prompt.trim().is_empty();
    let mut added = AddedStanding::default();
    let quarter = block.left() / STANDING_DIVISOR;
    if with_standing {
        let share = if is_start { block.left() } else { quarter };
        added.add(instructions, share, given, &mut block, &mut context);
    }
    if is_start {
        added.add(preferences, quarter, given, &mut block, &mut context);
    }
    let AddedStanding { whole, omitted } = added;
    let left = block.left();
    let mut found = find_matches(services, prompt, budget, now, &mut context)?;
    found.retain(|stored| !given.contains(stored) && !whole.contains(&stored.memory.id));
    // An instruction that a newer one replaces must not be shown as if it were in effect.
    let is_in_effect = |stored: &StoredMemory| {
        !replaced.contains_key(&stored.memory.id)
            || text_in_effect(stored, &replaced).contains(char::is_alphanumeric)
    };
    found.retain(is_in_effect);
    if expects_several_results(prompt) {
        let tokens = |stored: &StoredMemory| count_up_to(&stored.memory.content, MIN_CUT_TOKENS);
        found = cover_sessions(
            found,
            left / RELEVANCE_DIVISOR,
            &|stored| &stored.memory,
            &tokens,
        );
    }
    let size = |stored: &StoredMemory| {
        let fenced = block.fence_memory(stored, &text_in_effect(stored, &replaced), &[], left);
        fenced.map_or(0, |fenced| fenced.tokens())
    };
    let sizes = found.iter().take(MAX_SHARERS).map(size);
    let largest = fair_share(sizes.collect(), left).max(MIN_CUT_TOKENS);
    let terms = content_terms(prompt);
    let found_ids: HashSet<MemoryId> = found.iter().map(|stored| stored.memory.id).collect();
    context.left_out += omitted.difference(&found_ids).count();
    for stored in found {
        let fenced = block.fence_memory(
            &stored,
            &text_in_effect(&stored, &replaced),
            &terms,
            largest.min(block.left()),
        );
        if !fenced.is_some_and(|fenced| block.add(&fenced)) {
            context.left_out += 1;
            continue;
        }
        given.add(&stored);
        // Standing sentences of this memory may have been shown before the rest.
        if context
            .memories
            .iter()
            .all(|other| other.memory.id != stored.memory.id)
        {
            context.memories.push(stored);
        }
    }
    if block.is_empty() && 0 < context.left_out {
        context.shortage = Some(format!(
            "a budget of {budget} tokens is too small for {}",
            format_match_count(context.left_out)
        ));
    }
    let memories = &context.memories;
    context.ranks.retain(|ranked| {
        memories
            .iter()
            .any(|stored| stored.memory.id.to_string() == ranked.id)
    });
    context.text = block.into_text();
    context.tokens = token_count(&context.text);
    Ok(context)
}

/// Returns the standing instructions and preferences in the format of [`build_context()`].
///
/// The text has at most `budget` tokens, and is empty without such memories.
///
/// # Errors
/// If the memories cannot be read.
pub fn build_standing_context(services: &Services, budget: usize) -> Result<Context, StoreError> {
    services.store.refresh()?;
    let (mut block, mut context) = (ContextBlock::new(budget), Context::default());
    let standing = select_standing(services)?.memories;
    AddedStanding::default().add(
        standing,
        block.left(),
        &ShownMemories::default(),
        &mut block,
        &mut context,
    );
    context.text = block.into_text();
    context.tokens = token_count(&context.text);
    Ok(context)
}

/// The standing memories that were added to a block.
#[derive(Debug, Default)]
struct AddedStanding {
    /// The memories that were added as a whole.
    whole: HashSet<MemoryId>,
    /// The memories that exceed the budget.
    omitted: HashSet<MemoryId>,
}

impl AddedStanding {
    /// Adds standing memories, in at most `budget` tokens.
    fn add(
        &mut self,
        standing: Vec<StandingMemory>,
        budget: usize,
        given: &ShownMemories,
        block: &mut ContextBlock,
        context: &mut Context,
    ) {
        let reserved = block.left().saturating_sub(budget);
        for StandingMemory {
            stored,
            kind,
            text,
            is_whole,
        } in standing
        {
            if given.contains(&stored) || given.has_text(&stored, &text) {
                continue;
            }
            let attributes = format!(" standing=\"{kind}\"");
            let left = block.left().saturating_sub(reserved);
            let room = Some(left).filter(|left| MIN_MEMORY_TOKENS <= *left);
            let fenced =
                room.and_then(|left| block.fence_text(&stored, &attributes, &text, &[], left));
            let Some(fenced) = fenced.filter(|fenced| block.add(fenced)) else {
                self.omitted.insert(stored.memory.id);
                continue;
            };
            if is_whole && !fenced.is_cut {
                self.whole.insert(stored.memory.id);
                given.add(&stored);
            } else {
                // The rest of the memory may still match the prompt.
                given.add_text(&stored, &text);
            }
            context.memories.push(stored);
            context.standing += 1;
        }
    }
}

/// Returns the content of a memory without its replaced sentences.
fn text_in_effect<'m>(
    stored: &'m StoredMemory,
    replaced: &HashMap<MemoryId, Vec<Range<usize>>>,
) -> Cow<'m, str> {
    let content = &stored.memory.content;
    let Some(spans) = replaced.get(&stored.memory.id) else {
        return Cow::Borrowed(content);
    };
    let mut kept = String::with_capacity(content.len());
    let mut end = 0;
    for span in spans {
        kept.push_str(&content[end..span.start]);
        end = span.end;
    }
    kept.push_str(&content[end..]);
    Cow::Owned(kept)
}

/// Returns the largest share of `total` with which all `sizes`, each limited to the share, fit.
fn fair_share(mut sizes: Vec<usize>, total: usize) -> usize {
    sizes.sort_unstable();
    let (mut left, mut sharers) = (total, sizes.len());
    for size in sizes {
        if left / sharers < size {
            return left / sharers;
        }
        left -= size;
        sharers -= 1;
    }
    total
}

/// Returns the content words of a prompt.
pub(crate) fn content_terms(prompt: &str) -> Vec<Term> {
    let words = parse(prompt, &Filter::default()).question.words;
    words
        .into_iter()
        .filter(|word| word.role == WordRole::Content)
        .map(|word| word.term)
        .collect()
}

fn format_match_count(count: usize) -> String {
    if count == 1 {
        "the matching memory".to_owned()
    } else {
        format!("any of the {count} matching memories")
    }
}

/// Minimum relevance of a message of a conversation.
///
/// In 1,500 tokens, 91 % of the questions of a public set get a message with the answer, and 92 % without the minimum. Prompts
/// that concern none of the messages get 2 instead of 11 of them on average.
const MIN_RELEVANCE: f32 = 0.015;

/// Minimum cosine of a message of a conversation with a meaning near the prompt.
const MIN_COSINE: f32 = 0.3;

/// Returns whether a message shares a word with the prompt and is near in meaning, or is relevant and near in meaning, or relevant by its
/// words or those of its neighbours.
///
/// In a long prompt, each word weighs little, so a message that shares few of them has a low relevance.
fn is_near_enough(hit: &Hit) -> bool {
    let explanation = &hit.explanation;
    let has_part = |part: RankFeature| explanation.parts.iter().any(|own| own.part == part);
    let has_word = has_part(RankFeature::Words);
    let has_other_word = || {
        [
            RankFeature::Characters,
            RankFeature::Neighbours,
            RankFeature::Reply,
        ]
        .into_iter()
        .any(has_part)
    };
    let is_near = explanation.cosine.is_none_or(|cosine| MIN_COSINE <= cosine);
    let is_relevant = explanation.parts.is_empty() || MIN_RELEVANCE <= explanation.relevance;
    has_word && is_near || is_relevant && (has_word || is_near || has_other_word())
}

/// The maximum number of versions of a note that are followed to the newest one.
const MAX_VERSIONS: usize = 3;

/// Returns the matches for a prompt: the useful notes, each in its newest version, then the messages of conversations.
fn find_matches<Tz: TimeZone>(
    services: &Services,
    prompt: &str,
    budget: usize,
    now: &DateTime<Tz>,
    context: &mut Context,
) -> Result<Vec<StoredMemory>, StoreError> {
    if prompt.trim().is_empty() {
        return default_memories(services, context);
    }
    let question = &*without_material(prompt);
    if asks_for_play(question) || is_courtesy(question) {
        return Ok(Vec::new());
    }
    let most = (budget / MIN_MEMORY_TOKENS).clamp(*MATCH_LIMITS.start(), *MATCH_LIMITS.end());
    let is_about_memories = listing_filter(question, &Filter::default(), now).is_some();
    let mut find = |filter: &Filter, limit: usize| {
        let found = if let Some(narrow) = listing_filter(question, filter, now) {
            list_newest(services, &narrow, limit)
        } else {
            let query = Query {
                text: question.to_owned(),
                filter: filter.clone(),
                limit,
                ranking: Ranking::default(),
            };
            search_sentence(services, &query)
        };
        match found {
            Ok(found) => {
                context.degraded = context.degraded.take().or(found.degraded);
                Ok(demote_near_duplicates(found.hits, limit))
            }
            // A prompt without words matches no memory.
            Err(StoreError::Invalid { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    };
    let mut hits = find(&Filter::default(), most)?;
    // A match inside a word is useful to a person who searches, but to a model only if there is no other match.
    let drop_parts = |hits: &mut Vec<Hit>| {
        if hits.iter().any(|hit| !hit.explanation.is_part) {
            hits.retain(|hit| !hit.explanation.is_part);
        }
    };
    let mut own = Vec::new();
    if let Some(project) = &services.project {
        let filter = Filter {
            scope: Some(Scope::Project(project.clone())),
            ..Filter::default()
        };
        own = find(&filter, *MATCH_LIMITS.start())?;
    }
    drop_parts(&mut hits);
    drop_parts(&mut own);
    let (turns, notes): (Vec<Hit>, Vec<Hit>) =
        hits.into_iter().partition(|hit| hit.explanation.is_turn);
    let (own_turns, own_notes): (Vec<Hit>, Vec<Hit>) =
        own.into_iter().partition(|hit| hit.explanation.is_turn);
    let request = RequestEvidence::of(question, now);
    let mut candidates: Vec<Hit> = own_notes.into_iter().chain(notes).collect();
    if request.asks_for_time() {
        let filter = Filter {
            category: Some(Category::Date),
            ..Filter::default()
        };
        let dated = list_newest(services, &filter, *MATCH_LIMITS.end())?;
        context.degraded = context.degraded.take().or(dated.degraded);
        let without_words = RankFeatureScore {
            part: RankFeature::Words,
            value: 0.0,
            score: 0.0,
        };
        candidates.extend(dated.hits.into_iter().map(|mut hit| {
            hit.explanation.parts.push(without_words);
            hit
        }));
    }
    let useful = select_useful(
        services,
        candidates,
        &request,
        is_about_memories || expects_several_results(prompt),
    );
    let mut current: Vec<(f32, Hit)> = Vec::with_capacity(useful.len());
    for (usefulness, hit) in useful {
        let mut hit = hit;
        for _ in 0..MAX_VERSIONS {
            let Some(newer) = find_replacement(services, &hit.stored.memory)? else {
                break;
            };
            hit = newer;
        }
        if current
            .iter()
            .all(|(_, other)| other.stored.memory.id != hit.stored.memory.id)
        {
            current.push((usefulness, hit));
        }
    }
    let turns = share_with_project(
        turns.into_iter().filter(is_near_enough).collect(),
        own_turns.into_iter().filter(is_near_enough).collect(),
        &|hit: &Hit| hit.stored.memory.id,
    );
    let notes = current
        .into_iter()
        .map(|(usefulness, hit)| (recalled_note(&hit, usefulness), hit.stored));
    let turns = turns
        .into_iter()
        .map(|hit| (RecalledId::from(&hit), hit.stored));
    let (ranks, given) = notes.chain(turns).unzip();
    context.ranks = ranks;
    Ok(given)
}

/// Returns a note for the recall ledger. A store that explains no score tells nothing about its usefulness.
fn recalled_note(hit: &Hit, usefulness: f32) -> RecalledId {
    let recalled = RecalledId::from(hit);
    if hit.explanation.parts.is_empty() {
        recalled
    } else {
        recalled.useful(usefulness)
    }
}

/// The categories of the profile of the person.
const PROFILE: [Category; 4] = [
    Category::Soul,
    Category::Character,
    Category::Preferences,
    Category::Habits,
];

/// The categories of memories that guide later work.
const GUIDANCE: [Category; 2] = [Category::Decisions, Category::Lessons];

/// The number of memories of the profile that precede those of the project.
const PROFILE_FIRST: usize = 6;

/// The number of decisions and lessons of the project, and of its other memories, that precede all further ones.
const PROJECT_FIRST: [usize; 2] = [6, 3];

/// Returns the memories for an empty prompt.
///
/// The profile and preferences come first, then the decisions and lessons of the project, then the newest memories. The first
/// memories of each group precede the rest of the groups, so that no group displaces another one. Within each part, pinned
/// memories come first.
fn default_memories(
    services: &Services,
    context: &mut Context,
) -> Result<Vec<StoredMemory>, StoreError> {
    let mut profile = list_categories(services, &PROFILE, None, context)?;
    let project = services.project.clone().map(Scope::Project);
    let (mut guidance, mut others) = (Vec::new(), Vec::new());
    if let Some(project) = &project {
        guidance = list_categories(services, &GUIDANCE, Some(project), context)?;
        others = list_updated(
            services,
            &Filter {
                scope: Some(project.clone()),
                ..Filter::default()
            },
            context,
        )?;
    }
    let further = list_categories(services, &GUIDANCE, None, context)?;
    let newest = list_updated(services, &Filter::default(), context)?;
    let mut parts = Vec::new();
    for (group, first) in [
        (&mut profile, PROFILE_FIRST),
        (&mut guidance, PROJECT_FIRST[0]),
        (&mut others, PROJECT_FIRST[1]),
    ] {
        group.sort_by_key(|stored| !stored.memory.pinned);
        parts.push(group.drain(..first.min(group.len())).collect::<Vec<_>>());
    }
    let mut rest: Vec<StoredMemory> = profile
        .into_iter()
        .chain(guidance)
        .chain(others)
        .chain(further)
        .chain(newest)
        .collect();
    rest.sort_by_key(|stored| !stored.memory.pinned);
    let mut ids = HashSet::new();
    let is_new = |stored: &StoredMemory| {
        stored.memory.category != Category::Reminders && ids.insert(stored.memory.id)
    };
    let all: Vec<StoredMemory> = parts
        .into_iter()
        .flatten()
        .chain(rest)
        .filter(is_new)
        .collect();
    let notes: Vec<&Memory> = all.iter().map(|stored| &stored.memory).collect();
    let replaced = find_replaced(&notes);
    let current = all.into_iter().zip(replaced);
    Ok(current
        .filter_map(|(stored, newer)| newer.is_none().then_some(stored))
        .collect())
}

/// Returns the last updated memories of some categories, by category.
fn list_categories(
    services: &Services,
    categories: &[Category],
    scope: Option<&Scope>,
    context: &mut Context,
) -> Result<Vec<StoredMemory>, StoreError> {
    let mut all = Vec::new();
    for category in categories {
        let filter = Filter {
            category: Some(*category),
            scope: scope.cloned(),
            ..Filter::default()
        };
        all.extend(list_updated(services, &filter, context)?);
    }
    Ok(all)
}

/// Returns the last updated memories that pass a filter.
fn list_updated(
    services: &Services,
    filter: &Filter,
    context: &mut Context,
) -> Result<Vec<StoredMemory>, StoreError> {
    let slice = PageRequest {
        order: ListOrder::Updated,
        offset: 0,
        limit: Some(*MATCH_LIMITS.start()),
    };
    let MemoryPage {
        memories, degraded, ..
    } = services.store.list(filter, &slice, services.clock.now())?;
    context.degraded = context.degraded.take().or(degraded);
    Ok(memories)
}

/// Every such place in the matches for a prompt is for a match of the project, while there are any.
const PROJECT_SHARE: usize = 3;

/// Moves and adds the matches of the project so that they get a share of the places; the others keep their order.
fn share_with_project<T, K: Eq + Hash>(
    found: Vec<T>,
    project: Vec<T>,
    key: &dyn Fn(&T) -> K,
) -> Vec<T> {
    let ours: HashSet<K> = project.iter().map(key).collect();
    let mut shared = Vec::with_capacity(found.len() + project.len());
    let (mut waiting, mut found) = (VecDeque::from(project), found.into_iter().peekable());
    let mut without = 0;
    loop {
        let is_ours = found.peek().is_some_and(|next| ours.contains(&key(next)));
        if is_ours {
            // The same match is taken from the project's own list, which has the same order.
            found.next();
            if waiting.is_empty() {
                continue;
            }
        }
        let is_due = PROJECT_SHARE - 1 <= without && !waiting.is_empty();
        let next = if is_ours || is_due {
            waiting.pop_front()
        } else {
            found.next().or_else(|| waiting.pop_front())
        };
        let Some(next) = next else { return shared };
        without = if ours.contains(&key(&next)) {
            0
        } else {
            without + 1
        };
        shared.push(next);
    }
}

/// Returns the hits for `query` that fit into `budget` tokens together, where `count` returns the tokens of one hit.
///
/// The order stays by relevance, unless the query asks for several things: then a third of the budget goes by relevance, and the
/// best hit of each further session follows. A hit that does not fit is skipped.
pub fn fit_budget(
    hits: Vec<Hit>,
    query: &str,
    budget: usize,
    count: &dyn Fn(&Hit) -> usize,
) -> Vec<Hit> {
    let hits = if expects_several_results(query) {
        cover_sessions(
            hits,
            budget / RELEVANCE_DIVISOR,
            &|hit| &hit.stored.memory,
            count,
        )
    } else {
        hits
    };
    let mut left = budget;
    let mut fits = |hit: &Hit| {
        let tokens = count(hit);
        let fits = tokens <= left;
        left -= if fits { tokens } else { 0 };
        fits
    };
    hits.into_iter().filter(|hit| fits(hit)).collect()
}

/// Moves the best item of each session behind the first items, up to `tokens` tokens, which keep their places. The remaining items
/// follow in their order.
///
/// A session ends with a pause of more than [`CollectionKind::pause`] between the memories of a scope.
fn cover_sessions<T>(
    found: Vec<T>,
    tokens: usize,
    memory_of: &dyn Fn(&T) -> &Memory,
    count: &dyn Fn(&T) -> usize,
) -> Vec<T> {
    let memories: Vec<&Memory> = found.iter().map(memory_of).collect();
    let mut by_time: Vec<usize> = (0..found.len()).collect();
    by_time.sort_by_key(|number| {
        (
            memories[*number].scope.to_string(),
            memories[*number].created_at,
        )
    });
    let mut sessions = vec![0; found.len()];
    for pair in by_time.windows(2) {
        let (before, after) = (memories[pair[0]], memories[pair[1]]);
        let shape = CollectionKind::of(
            after
                .role
                .or_else(|| SpeakerRole::from_source(&after.source)),
            true,
        );
        let continues = before.scope == after.scope
            && after.created_at - before.created_at <= shape.session_pause();
        sessions[pair[1]] = sessions[pair[0]] + usize::from(!continues);
    }
    let mut covered = HashSet::new();
    let mut used = 0;
    let is_next = |(number, item): (usize, &T)| {
        let is_first = used < tokens;
        used += count(item);
        covered.insert(sessions[number]) || is_first
    };
    let next: Vec<bool> = found.iter().enumerate().map(is_next).collect();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for (item, is_next) in found.into_iter().zip(next) {
        if is_next {
            first.push(item);
        } else {
            rest.push(item);
        }
    }
    first.extend(rest);
    first
}

#[cfg(test)]
mod tests;
