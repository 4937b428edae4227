//! Gathering what may answer.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use memory_core::question::{Phrase, Question, Role};
use memory_core::rank::{Candidate, Statistics, saturation};
use memory_core::text::{Term, query_terms};
use memory_core::{Asked, MemoryId};
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use super::flushed::Flushed;
use super::found::Found;
use super::near::{Keys, Near};
use super::pending::{Pending, pending};
use super::pool::Pool;
use super::turns::Turns;
use super::wanted::{Part, Wanted, wanted};
use crate::index::filter::TextFilter;
use crate::index::handle::Handle;
use crate::index::schema::Meta;
use crate::index::text::Text;
use crate::index::trouble::Trouble;
use crate::index::update::row_id;
use crate::index::vectors::Vectors;

/// When no more match than this, all of them are weighed.
const ALL: u64 = 3_000;

/// When more do, a few of the best by their words alone are, and so many of those that are of the date, or by the person, that the question names.
const BEST_OF_NAMED: usize = 100;

/// Around so many of the best is looked at what was said before and after.
const WITH_NEIGHBOURS: usize = 60;

/// Conversations are looked up for so many of the best.
const LOOKED_UP: usize = 30;

/// Links are followed from so many of the best.
const FOLLOWED: usize = 10;

/// How far away a neighbour may be to be an answer itself.
const REACH: usize = 3;

/// What may answer, and what is known of it.
#[derive(Debug)]
pub(super) struct Gathered {
    /// What is asked for, in which the names of those who speak are asides.
    pub(super) question: Question,
    pub(super) found: Vec<Found>,
    /// What is ranked; in the order of what was found.
    pub(super) candidates: Vec<Candidate>,
    pub(super) wanted: Vec<Wanted>,
    pub(super) statistics: Statistics,
    /// How many match in all.
    pub(super) total: u64,
    /// Whether vectors were looked at.
    pub(super) has_vectors: bool,
    /// Whether all that match are among the candidates.
    pub(super) is_whole: bool,
}

/// Gathers what may answer: all of it, or the best `size` by their words where more match. The rows must be of one state, taken before the full text is opened.
pub(super) fn gather(
    rows: &Connection,
    text: &Text,
    vectors: Option<&Vectors>,
    epoch: i64,
    asked: &Asked<'_>,
    size: usize,
    now: DateTime<Utc>,
) -> Result<Gathered, Trouble> {
    let meta = Meta::read(rows)?;
    let (pending, keys) = pending(rows, asked.filter, now)?;
    let (searcher, generation) = text.searcher()?;
    if meta.epoch != epoch || generation < meta.generation {
        return Err(Trouble::Mismatch);
    }
    let mut flushed = Flushed::new(&searcher, text.fields, &keys)?;
    let wanted = wanted(&asked.question.words, &flushed, &pending)?;
    let most = wanted.iter().map(|own| own.documents).max().unwrap_or_default();
    let documents = meta.documents.max(most);
    let average = |part: Part| average(meta.lengths[part.number()], documents);
    let mut statistics = Statistics {
        documents,
        with_word: wanted.iter().map(|own| own.documents).collect(),
        average_lengths: [average(Part::Text), average(Part::Characters)],
        turns: Vec::new(),
    };
    let speakers = speakers(asked, &flushed, &pending)?;
    // Whoever names several people asks about none of them in particular.
    let named = if let [(_, only)] = speakers.as_slice() { Some(*only) } else { None };
    let question = without_names(asked.question, &speakers);
    let dates = dates(asked);
    // Who asks for a name or a date alone asks for whatever is of it.
    let is_only_name = asked.question.words.len() == 1;
    let handles: Vec<i64> =
        named.filter(|_| is_only_name).into_iter().chain(dates.iter().copied().filter(|_| asked.question.is_only_date)).collect();
    flushed.match_any(&wanted)?;
    flushed.match_handles(&handles)?;
    let excluded = narrow(&mut flushed, asked)?;
    let mut total = flushed.filter(&TextFilter::of(asked.filter, now))?;
    let matches = |document: &&Pending| {
        let own = Found::of(document, &wanted, named, &handles);
        own.passes && own.matches && excluded.allows(document)
    };
    let matching: Vec<&Pending> = pending.iter().filter(matches).collect();
    total += matching.len() as u64;
    let all_match = total <= ALL.max(size as u64);
    let (mut addresses, mut waiting) = (Vec::new(), Vec::new());
    if all_match {
        addresses = flushed.all();
        waiting.clone_from(&matching);
    } else {
        let pool = Pool::new(&flushed, (&pending, &matching), &wanted, documents, meta.lengths)?;
        let by_date = (!dates.is_empty()).then(|| (dates.clone(), BEST_OF_NAMED));
        let by_name = named.map(|named| (vec![named], BEST_OF_NAMED));
        for (handles, most) in [Some((Vec::new(), size)), by_date, by_name].into_iter().flatten() {
            let (flushed, pending) = pool.best(&handles, most)?;
            addresses.extend(flushed);
            waiting.extend(pending);
        }
        waiting.sort_by_key(|document| document.key);
        waiting.dedup_by_key(|document| document.key);
    }
    if asked.limit == 0 {
        addresses.clear();
    }
    let mut found = flushed.look_at(addresses, &wanted, named)?;
    found.extend(waiting.iter().map(|document| Found::of(document, &wanted, named, &handles)));
    let near = near(rows, vectors, asked, &flushed, &pending, &excluded)?;
    let known: HashSet<i64> = found.iter().map(|found| found.key).collect();
    let keys: Vec<i64> = near.iter().flat_map(Near::keys).filter(|key| !known.contains(key)).collect();
    let mut nearest = look_at(&keys, &flushed, &pending, &wanted, named)?;
    for found in nearest.iter_mut().filter(|found| !found.matches) {
        found.matches = near.as_ref().is_some_and(|near| near.is_answer(found.key));
        total += u64::from(found.matches);
    }
    found.extend(nearest);
    let words = |found: &Found| words(found, &statistics, &wanted, &question);
    let mut best: Vec<(f32, i64)> = found.iter().map(|found| (words(found), found.key)).collect();
    best.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    let best: Vec<i64> = best.into_iter().map(|(_, key)| key).collect();
    let turns = Turns::of(rows, asked.filter, &best[..best.len().min(LOOKED_UP)])?;
    statistics.turns = turns.whole.iter().map(|whole| whole.filter(|_| all_match)).collect();
    let known: HashSet<i64> = found.iter().map(|found| found.key).collect();
    let mut around: Vec<i64> =
        best.iter().take(WITH_NEIGHBOURS).flat_map(|key| turns.around(*key, REACH)).filter(|key| !known.contains(key)).collect();
    around.sort_unstable();
    around.dedup();
    let is_plain =
        asked.question.phrases.is_empty() && asked.question.without.is_empty() && asked.question.without_phrases.is_empty();
    let mut neighbours = look_at(&around, &flushed, &pending, &wanted, named)?;
    for neighbour in &mut neighbours {
        neighbour.matches = false;
        neighbour.passes &= is_plain;
    }
    found.extend(neighbours);
    found.sort_by_key(|found| found.key);
    let cosines = near.as_ref().map(|near| near.cosines(rows, &found)).transpose()?.unwrap_or_default();
    let mut candidates: Vec<Candidate> = found.iter().map(|found| found.candidate(&turns.seats, &cosines)).collect();
    join(rows, &found, &best[..best.len().min(FOLLOWED)], &mut candidates)?;
    Ok(Gathered { question, found, candidates, wanted, statistics, total, has_vectors: near.is_some(), is_whole: all_match })
}

/// Looks for what lies near the question, if it comes with a vector and there are any to compare it with.
fn near<'v>(
    rows: &Connection,
    vectors: Option<&'v Vectors>,
    asked: &Asked<'v>,
    flushed: &Flushed<'_>,
    pending: &[Pending],
    excluded: &Excluded<'_>,
) -> Result<Option<Near<'v>>, Trouble> {
    let Some((vectors, question)) = vectors.zip(asked.vector) else { return Ok(None) };
    let mut allowed = Keys::default();
    flushed.passing(&mut allowed)?;
    pending.iter().filter(|own| own.passes && excluded.allows(own)).for_each(|own| allowed.insert(own.key));
    Near::new(rows, vectors, question, &allowed).map(Some)
}

/// Gathers what there is to know of the documents with these keys, which come in order, wherever they are.
fn look_at(
    keys: &[i64],
    flushed: &Flushed<'_>,
    pending: &[Pending],
    wanted: &[Wanted],
    named: Option<i64>,
) -> Result<Vec<Found>, Trouble> {
    let mut found = flushed.look_at(flushed.with_keys(keys)?, wanted, named)?;
    let pending = pending.iter().filter(|document| keys.binary_search(&document.key).is_ok());
    found.extend(pending.map(|document| Found::of(document, wanted, named, &[])));
    Ok(found)
}

/// What must not stand in a document, and what must.
struct Excluded<'q> {
    asked: &'q Asked<'q>,
}

impl Excluded<'_> {
    fn allows(&self, document: &Pending) -> bool {
        let question = self.asked.question;
        let has = |term: &memory_core::text::Term| 0 < document.frequency(&term.text, Part::of(term));
        question.phrases.iter().flat_map(Phrase::terms).all(has) && !question.without.iter().any(has)
    }
}

/// Lets only those pass that have the words of every phrase and none that is excluded.
fn narrow<'q>(flushed: &mut Flushed<'_>, asked: &'q Asked<'q>) -> Result<Excluded<'q>, Trouble> {
    for term in asked.question.phrases.iter().flat_map(Phrase::terms) {
        flushed.require(&term.text, Part::of(term), true)?;
    }
    for term in &asked.question.without {
        flushed.require(&term.text, Part::of(term), false)?;
    }
    Ok(Excluded { asked })
}

/// Returns those whom the question names and who speak somewhere, with their handles.
fn speakers(asked: &Asked<'_>, flushed: &Flushed<'_>, pending: &[Pending]) -> Result<Vec<(String, i64)>, Trouble> {
    let mut speakers = Vec::new();
    for name in &asked.question.names {
        let bits = Handle::Speaker(name).bits();
        if flushed.has_handle(bits)? || pending.iter().any(|document| document.filters.contains(&bits)) {
            speakers.push((name.clone(), bits));
        }
    }
    Ok(speakers)
}

/// Makes asides of the names: who is named speaks, and is not spoken of.
fn without_names(question: &Question, speakers: &[(String, i64)]) -> Question {
    let names: Vec<Term> = speakers.iter().flat_map(|(name, _)| query_terms(name)).collect();
    let mut question = question.clone();
    for word in question.words.iter_mut().filter(|word| names.contains(&word.term)) {
        word.role = Role::Aside;
    }
    if question.words.iter().all(|word| word.role != Role::Content) {
        question.words.iter_mut().for_each(|word| word.role = Role::Content);
    }
    question
}

/// Returns the handles of the dates that the question names, by what narrows most.
fn dates(asked: &Asked<'_>) -> Vec<i64> {
    let Some(date) = &asked.question.date else { return Vec::new() };
    let months: Vec<i64> = date.months.iter().map(|month| Handle::Month(*month).bits()).collect();
    let years = date.years.iter().map(|year| Handle::Year(*year).bits());
    let weekdays = date.weekdays.iter().map(|day| Handle::Weekday(*day).bits());
    if !months.is_empty() {
        return months;
    }
    if date.years.is_empty() { weekdays.collect() } else { years.collect() }
}

/// Returns how much of the question a document matches itself.
fn words(found: &Found, statistics: &Statistics, wanted: &[Wanted], question: &Question) -> f32 {
    let contents = |index: usize| question.words.get(index).is_some_and(|word| word.role == Role::Content);
    let each = wanted.iter().enumerate().filter(|(index, _)| contents(*index)).map(|(index, wanted)| {
        let part = wanted.part.number();
        let worth = memory_core::rank::idf_share(statistics.documents, wanted.documents);
        worth * saturation(found.frequencies[index], found.lengths[part], statistics.average_lengths[part])
    });
    each.sum()
}

/// Joins candidates that are linked to each other.
fn join(rows: &Connection, found: &[Found], best: &[i64], candidates: &mut [Candidate]) -> Result<(), Trouble> {
    let numbers: HashMap<i64, usize> = found.iter().enumerate().map(|(number, found)| (found.key, number)).collect();
    for key in best {
        let number = numbers[key];
        if candidates[number].seat.is_some() {
            continue;
        }
        let id = rows
            .prepare_cached("SELECT id FROM documents WHERE key = ? AND id NOT NULL")?
            .query_row([key], |row| row_id(row, 0))
            .optional()?;
        let Some(id): Option<Uuid> = id else { continue };
        let mut select = rows.prepare_cached("SELECT document FROM handles WHERE bits = ? LIMIT 32")?;
        for other in select.query_map([Handle::Link(&MemoryId::from(id)).bits()], |row| row.get::<_, i64>(0))? {
            if let Some(other) = numbers.get(&other?).filter(|other| **other != number) {
                candidates[number].linked.push(*other);
            }
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "an average needs no more than seven digits")]
fn average(length: u64, documents: u64) -> f32 {
    length as f32 / documents.max(1) as f32
}
