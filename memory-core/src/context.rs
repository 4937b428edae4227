//! Builds the context of a language model: the memories that match a prompt, within a budget of tokens.
//!
//! Standing instructions come first and use at most a quarter of the budget, or all of it at the start of a session. The notes that
//! are probably useful follow, each in its newest version, and then the messages of conversations that match. The
//! twenty best share the rest. If they do not all fit completely, each gets the same share, and of a longer text the
//! passage with most words of the prompt is shown. The result is data: the reader of the prompt decides which of it to
//! follow.

mod asked_time;
mod block;
mod client_context;
mod prompt_matches;
mod session_coverage;
mod session_start;
mod usefulness;

pub use client_context::{ClientContext, ClientMoment, build_client_context};
pub use session_coverage::fit_budget;
pub use usefulness::MIN_USEFULNESS;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeZone};

use self::block::{ContextBlock, count_up_to};
use self::prompt_matches::find_matches;
use self::session_coverage::{RELEVANCE_DIVISOR, cover_sessions};
use crate::query_parser::{WordRole, expects_several_results, parse};
use crate::standing::{StandingKind, StandingMemory, StandingSelection, select_standing};
use crate::text::{Term, token_count};
use crate::{ContentHash, Filter, MemoryId, RecalledId, Services, StoreError, StoredMemory};

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
    /// The matches that are not in the text, those below the minimum usefulness first.
    pub omitted: Vec<OmittedMatch>,
    /// The scores of the memories that match the prompt.
    ranks: Vec<RecalledId>,
}

/// A memory that matches a prompt and is not in the context.
#[derive(Debug, Clone, PartialEq)]
pub struct OmittedMatch {
    /// The memory.
    pub stored: StoredMemory,
    /// Its scores.
    pub recalled: RecalledId,
    /// Why it was left out.
    pub reason: OmissionReason,
}

/// Why a match is not in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmissionReason {
    /// It is less probably useful than [`MIN_USEFULNESS`].
    Unlikely,
    /// As many notes as a prompt may have are more useful.
    TooMany,
    /// The session has received it before.
    AlreadyGiven,
    /// It exceeds the budget.
    Budget,
}

impl Context {
    fn omit(&mut self, stored: StoredMemory, reason: OmissionReason) {
        let id = stored.memory.id.to_string();
        let ranked = self.ranks.iter().find(|ranked| ranked.id == id).cloned();
        self.omitted.push(OmittedMatch {
            recalled: ranked.unwrap_or_else(|| RecalledId::unranked(id)),
            stored,
            reason,
        });
    }

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
    found.retain(|stored| {
        let is_given = given.contains(stored);
        if is_given && !whole.contains(&stored.memory.id) {
            context.omit(stored.clone(), OmissionReason::AlreadyGiven);
        }
        !is_given && !whole.contains(&stored.memory.id)
    });
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
            context.omit(stored, OmissionReason::Budget);
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
    let is_given = |id: &MemoryId| memories.iter().any(|stored| stored.memory.id == *id);
    context.ranks.retain(|ranked| {
        memories
            .iter()
            .any(|stored| stored.memory.id.to_string() == ranked.id)
    });
    context
        .omitted
        .retain(|own| !is_given(&own.stored.memory.id));
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

#[cfg(test)]
mod tests;
