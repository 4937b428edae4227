//! The places of messages in their conversations, and the roles of their authors.
//!
//! The role of an author comes from `role` in the front matter, from the folder of the conversation, from a
//! source such as `User` or `Assistant`, or, without any of these, from the message lengths: in a conversation of
//! two, the speaker with a median length at least twice as long is the assistant. The order of messages is
//! `created_at`, then the order in which they were stored; the journal preserves it when the index is rebuilt.
//!
//! In a conversation scope, the memories are messages if they have several authors or a role; else each is a note. Among messages with
//! roles, a memory without one is a fact or a note.
//! Outside conversation scopes, memories count as a conversation if their sources take turns within minutes. If
//! one source is named like an assistant, the names of the sources give the roles there too. A session ends with
//! a pause of six hours between people, and of two hours with an assistant, which responds at once.

use std::collections::{BTreeMap, HashMap};

use chrono::TimeDelta;
use memory_core::rank::{CollectionKind, TurnPosition};
use memory_core::{Filter, Scope, SpeakerRole};
use rusqlite::{Connection, OptionalExtension, params};

use crate::index::error::IndexError;

/// Largest pause between messages of one conversation outside conversation scopes.
pub(super) const MAX_PAUSE: TimeDelta = TimeDelta::minutes(10);

/// A longer conversation is read only around its best messages.
const MAX_WHOLE: usize = 20_000;

/// Number of documents of the scopes that are read whole for one search outside a conversation.
const MAX_READ: usize = 3_000;

/// Number of messages read before and after each of them.
const WINDOW: usize = 12;

/// Distance in ordinals that stands for unread messages in between.
const UNREAD_GAP: usize = 1_000;

/// Number of the latest messages of a conversation that decide which speaker is the assistant.
const SAMPLE: usize = 200;

/// Smallest number of messages that each speaker must have among them.
const MIN_MESSAGES: usize = 3;

/// Smallest ratio of the median message lengths of assistant and person. Measured on public sets: 1.0 to 1.8 between two people,
/// 2.2 to 17.8 with an assistant.
const MIN_LENGTH_RATIO: f64 = 2.0;

/// The positions of messages in conversations.
#[derive(Debug, Default)]
pub(super) struct ConversationTurns {
    pub(super) seats: HashMap<i64, TurnPosition>,
    /// Roles of the authors, where the conversation determines them.
    pub(super) roles: HashMap<i64, SpeakerRole>,
    /// Keys of the messages of each conversation by ordinal.
    keys: Vec<BTreeMap<usize, i64>>,
    /// Number of messages of each conversation, if all of them were read.
    pub(super) whole: Vec<Option<u64>>,
}

/// Messages are ordered by creation time, then by key.
type TurnKey = (i64, i64);

impl ConversationTurns {
    /// Reads the conversation of the filter, or else the conversations of the documents with `keys`.
    ///
    /// In other scopes, documents are messages of a conversation if their sources take turns within a short time. If one of the
    /// speakers is named as an assistant is, their names give their roles; else the lengths of their messages do, if two of them take
    /// turns. `crowded` holds the sorted keys of documents with another document close in time; `has_roles` states whether a role
    /// is recorded for one of the documents that match.
    pub(super) fn of(
        connection: &Connection,
        filter: &Filter,
        keys: &[i64],
        crowded: &[i64],
        has_roles: bool,
    ) -> Result<Self, IndexError> {
        let mut turns = Self::default();
        if let Some(scope @ Scope::Conversation(_)) = &filter.scope {
            let scope = scope.to_string();
            if !has_roles && !has_several_sources(connection, &scope)? {
                return Ok(turns);
            }
            let all = all_turns(connection, &scope)?;
            if all.len() <= MAX_WHOLE {
                let count = all.len() as u64;
                let shape = turns.add_roles(connection, &scope)?;
                turns.add(&[all], Some(count), shape);
                return Ok(turns);
            }
        }
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM documents INDEXED BY turns WHERE {IS_CONVERSATION})"
        );
        let has_conversations = connection
            .prepare_cached(&sql)?
            .query_row((), |row| row.get::<_, bool>(0))?;
        let mut windows = BTreeMap::<String, Vec<Vec<TurnKey>>>::new();
        let mut talks = HashMap::<String, bool>::new();
        for key in keys {
            let is_crowded = crowded.binary_search(key).is_ok();
            if !has_conversations && !is_crowded {
                continue;
            }
            let sql = "SELECT scope, created_at FROM documents WHERE key = ?";
            let read =
                |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
            let Some((scope, created_at)) = connection
                .prepare_cached(sql)?
                .query_row([key], read)
                .optional()?
            else {
                continue;
            };
            let is_conversation = scope.starts_with(CONVERSATION);
            let may_be_talk = if let Some(known) = talks.get(&scope) {
                *known
            } else {
                let known =
                    (is_conversation && has_roles) || has_several_sources(connection, &scope)?;
                *talks.entry(scope.clone()).or_insert(known)
            };
            if may_be_talk && (is_conversation || is_crowded) {
                let window = turns_around(connection, &scope, (created_at, *key))?;
                windows.entry(scope).or_default().push(window);
            }
        }
        let mut unread = MAX_READ;
        for (scope, windows) in windows {
            let count = count_documents(connection, &scope)?;
            let mut runs = if count <= unread {
                unread -= count;
                vec![all_turns(connection, &scope)?]
            } else {
                merge_windows(windows)
            };
            if scope.starts_with(CONVERSATION) {
                let shape = turns.add_roles(connection, &scope)?;
                turns.add(&runs, None, shape);
                continue;
            }
            let (mut talks, mut shape) = (Vec::new(), CollectionKind::Talk);
            for run in runs.drain(..) {
                let messages = load_messages(connection, &scope, &run)?;
                let exchanged = select_exchanged(&messages);
                let roles = infer_roles(&exchanged);
                if !roles.is_empty() {
                    shape = CollectionKind::Assisted;
                    turns.roles.extend(roles);
                }
                talks.push(exchanged.iter().map(|message| message.turn_key()).collect());
            }
            talks.retain(|talk: &Vec<TurnKey>| !talk.is_empty());
            if !talks.is_empty() {
                turns.add(&talks, None, shape);
            }
        }
        Ok(turns)
    }

    /// Assigns the roles of person and assistant to the two speakers if the messages of one are much longer, and returns the shape of
    /// the conversation.
    fn add_roles(
        &mut self,
        connection: &Connection,
        scope: &str,
    ) -> Result<CollectionKind, IndexError> {
        let lengths = lengths_by_source(connection, scope)?;
        let Some([person, assistant]) = person_and_assistant(&lengths) else {
            return Ok(if has_assistant(lengths.keys()) {
                CollectionKind::Assisted
            } else {
                CollectionKind::Talk
            });
        };
        let mut select = connection
            .prepare_cached("SELECT key, source FROM documents INDEXED BY turns WHERE scope = ?")?;
        let mut rows = select.query([scope])?;
        while let Some(row) = rows.next()? {
            let source = row.get_ref(1)?.as_str().unwrap_or_default();
            if source == person {
                self.roles.insert(row.get(0)?, SpeakerRole::Person);
            } else if source == assistant {
                self.roles.insert(row.get(0)?, SpeakerRole::Assistant);
            }
        }
        Ok(CollectionKind::Assisted)
    }

    /// Returns the keys of the messages around one, up to `reach` positions away.
    pub(super) fn neighbours(&self, key: i64, reach: usize) -> Vec<i64> {
        let Some(seat) = self.seats.get(&key) else {
            return Vec::new();
        };
        let near = seat.ordinal.saturating_sub(reach)..=seat.ordinal + reach;
        self.keys[seat.conversation]
            .range(near)
            .map(|(_, key)| *key)
            .filter(|other| *other != key)
            .collect()
    }

    /// Adds a conversation as runs of messages with unread messages between the runs.
    fn add(&mut self, runs: &[Vec<TurnKey>], whole: Option<u64>, shape: CollectionKind) {
        let conversation = self.keys.len();
        let pause = shape.session_pause().num_nanoseconds().unwrap_or(i64::MAX);
        let (mut ordinal, mut session) = (0, 0);
        let mut keys = BTreeMap::new();
        for run in runs {
            let mut last = None;
            for (created_at, key) in run {
                if last.is_some_and(|last| pause < created_at - last) {
                    session += 1;
                }
                last = Some(*created_at);
                self.seats.insert(
                    *key,
                    TurnPosition {
                        conversation,
                        ordinal,
                        session,
                    },
                );
                keys.insert(ordinal, *key);
                ordinal += 1;
            }
            ordinal += UNREAD_GAP;
            session += 1;
        }
        self.keys.push(keys);
        self.whole.push(whole);
    }
}

const CONVERSATION: &str = "conversation:";

/// SQL condition for documents in a conversation scope.
const IS_CONVERSATION: &str = "scope >= 'conversation:' AND scope < 'conversation;'";

/// Returns whether documents of the scope have different sources.
fn has_several_sources(connection: &Connection, scope: &str) -> Result<bool, IndexError> {
    // As two queries, each is one step in the index.
    let sql = "SELECT (SELECT min(source) FROM documents INDEXED BY sources WHERE scope = ?1 AND source > '')
                    < (SELECT max(source) FROM documents INDEXED BY sources WHERE scope = ?1)";
    let is_less: Option<bool> = connection
        .prepare_cached(sql)?
        .query_row([scope], |row| row.get(0))?;
    Ok(is_less.unwrap_or(false))
}

fn all_turns(connection: &Connection, scope: &str) -> Result<Vec<TurnKey>, IndexError> {
    let sql = format!(
        "SELECT created_at, key FROM documents INDEXED BY turns WHERE scope = ? ORDER BY created_at, key LIMIT {}",
        MAX_WHOLE + 1
    );
    let mut select = connection.prepare_cached(&sql)?;
    Ok(select
        .query_map([scope], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?)
}

fn turns_around(
    connection: &Connection,
    scope: &str,
    (created_at, key): TurnKey,
) -> Result<Vec<TurnKey>, IndexError> {
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let sql = format!(
        "SELECT created_at, key FROM documents INDEXED BY turns WHERE scope = ? AND (created_at, key) < (?, ?) \
         ORDER BY created_at DESC, key DESC LIMIT {WINDOW}"
    );
    let mut before = connection.prepare_cached(&sql)?;
    let mut window: Vec<TurnKey> = before
        .query_map(params![scope, created_at, key], read)?
        .collect::<Result<_, _>>()?;
    window.reverse();
    let sql = format!(
        "SELECT created_at, key FROM documents INDEXED BY turns WHERE scope = ? AND (?, ?) <= (created_at, key) \
         ORDER BY created_at, key LIMIT {}",
        WINDOW + 1
    );
    let mut after = connection.prepare_cached(&sql)?;
    for turn in after.query_map(params![scope, created_at, key], read)? {
        window.push(turn?);
    }
    Ok(window)
}

/// A document of a run with a source.
#[derive(Debug)]
struct RunMessage {
    created_at: i64,
    key: i64,
    source: String,
    length: u32,
}

impl RunMessage {
    fn turn_key(&self) -> TurnKey {
        (self.created_at, self.key)
    }
}

/// Returns the documents of a run that have a source, in order.
fn load_messages(
    connection: &Connection,
    scope: &str,
    run: &[TurnKey],
) -> Result<Vec<RunMessage>, IndexError> {
    let (Some(first), Some(last)) = (run.first(), run.last()) else {
        return Ok(Vec::new());
    };
    let sql = "SELECT created_at, key, source, length FROM documents INDEXED BY turns \
               WHERE scope = ? AND created_at BETWEEN ? AND ? AND source != '' ORDER BY created_at, key";
    let mut select = connection.prepare_cached(sql)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(RunMessage {
            created_at: row.get(0)?,
            key: row.get(1)?,
            source: row.get(2)?,
            length: row.get(3)?,
        })
    };
    Ok(select
        .query_map(params![scope, first.0, last.0], read)?
        .collect::<Result<_, _>>()?)
}

/// Returns the roles of the authors of a run: by their names if one is that of an assistant, else by the lengths of their messages.
fn infer_roles(messages: &[&RunMessage]) -> Vec<(i64, SpeakerRole)> {
    if has_assistant(messages.iter().map(|message| &message.source)) {
        return messages
            .iter()
            .filter_map(|message| Some((message.key, SpeakerRole::from_source(&message.source)?)))
            .collect();
    }
    let mut lengths = HashMap::<&str, Vec<u32>>::new();
    for message in messages {
        let own = lengths.entry(&message.source).or_default();
        own.push(message.length);
    }
    let Some([person, assistant]) = person_and_assistant(&lengths) else {
        return Vec::new();
    };
    let role = |message: &&RunMessage| match message.source.as_str() {
        source if source == person => Some((message.key, SpeakerRole::Person)),
        source if source == assistant => Some((message.key, SpeakerRole::Assistant)),
        _ => None,
    };
    messages.iter().filter_map(role).collect()
}

/// Returns the messages of speakers who take turns: within [`MAX_PAUSE`], at least three quarters of the texts next to theirs are of
/// another source.
///
/// Programs that write notes at the same time write several in a row.
fn select_exchanged(messages: &[RunMessage]) -> Vec<&RunMessage> {
    /// The number of messages of a source with a neighbour, of their neighbours, and of those of another source.
    type Counts = [usize; 3];
    let pause = MAX_PAUSE.num_nanoseconds().unwrap_or(i64::MAX);
    let neighbours = |place: usize| {
        let message = &messages[place];
        [place.checked_sub(1), Some(place + 1)]
            .into_iter()
            .filter_map(|next| messages.get(next?))
            .filter(|next| next.created_at.abs_diff(message.created_at).cast_signed() <= pause)
    };
    let mut sources = BTreeMap::<&str, Counts>::new();
    for (place, message) in messages.iter().enumerate() {
        let all = neighbours(place).count();
        let others = neighbours(place).filter(|next| next.source != message.source);
        let [with, near, other] = sources.entry(&message.source).or_default();
        *with += usize::from(0 < all);
        *near += all;
        *other += others.count();
    }
    sources.retain(|_, [with, near, other]| MIN_MESSAGES <= *with && 3 * *near <= 4 * *other);
    if sources.len() < 2 {
        return Vec::new();
    }
    let is_exchanged = |place: &usize| {
        sources.contains_key(messages[*place].source.as_str())
            && neighbours(*place).next().is_some()
    };
    (0..messages.len())
        .filter(is_exchanged)
        .map(|place| &messages[place])
        .collect()
}

/// Returns whether a speaker has this name in one of the scopes `within` that are no conversations, or in any of them.
///
/// `name` is in lower case.
pub(super) fn is_speaker(
    connection: &Connection,
    name: &str,
    within: Option<&[Scope]>,
) -> Result<bool, IndexError> {
    let sql = "SELECT DISTINCT scope FROM counts WHERE scope < 'conversation:' OR 'conversation;' <= scope";
    let scopes: Vec<String> = connection
        .prepare_cached(sql)?
        .query_map((), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let is_seen = |scope: &&String| {
        within.is_none_or(|within| within.iter().any(|own| own.to_string() == **scope))
    };
    for scope in scopes.iter().filter(is_seen) {
        // The oldest and the newest text may stand apart from a talk.
        for place in ["min", "max"] {
            let sql = format!(
                "SELECT created_at, key FROM documents
                 WHERE key = (SELECT {place}(key) FROM documents INDEXED BY sources WHERE scope = ?1 AND source = ?2)"
            );
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let mut select = connection.prepare_cached(&sql)?;
            let Some(found) = select.query_row([scope.as_str(), name], read).optional()? else {
                break;
            };
            let run = turns_around(connection, scope, found)?;
            let messages = load_messages(connection, scope, &run)?;
            let is_named = |message: &&RunMessage| message.source == name;
            if select_exchanged(&messages).iter().any(is_named) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the number of documents of a scope.
fn count_documents(connection: &Connection, scope: &str) -> Result<usize, IndexError> {
    let sql = "SELECT coalesce(sum(documents), 0) FROM counts WHERE scope = ?";
    let count: i64 = connection
        .prepare_cached(sql)?
        .query_row([scope], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Returns whether one of the sources is the name of an assistant.
fn has_assistant<'s>(sources: impl IntoIterator<Item = &'s String>) -> bool {
    sources
        .into_iter()
        .any(|source| SpeakerRole::from_source(source) == Some(SpeakerRole::Assistant))
}

/// Returns the lengths of the latest messages of a conversation by source, in words and pairs of characters.
fn lengths_by_source(
    connection: &Connection,
    scope: &str,
) -> Result<HashMap<String, Vec<u32>>, IndexError> {
    let sql = format!(
        "SELECT source, length FROM documents INDEXED BY turns WHERE scope = ? ORDER BY created_at DESC, key DESC LIMIT {SAMPLE}"
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query([scope])?;
    let mut lengths = HashMap::<String, Vec<u32>>::new();
    while let Some(row) = rows.next()? {
        let source = row.get_ref(0)?.as_str().unwrap_or_default();
        let length = row.get(1)?;
        match lengths.get_mut(source) {
            Some(lengths) => lengths.push(length),
            None => drop(lengths.insert(source.to_owned(), vec![length])),
        }
    }
    Ok(lengths)
}

/// Returns the person and the assistant of a conversation, if the message lengths of the two speakers show which is which.
fn person_and_assistant<S: AsRef<str>>(lengths: &HashMap<S, Vec<u32>>) -> Option<[&str; 2]> {
    let total: usize = lengths.values().map(Vec::len).sum();
    let speakers = lengths
        .iter()
        .map(|(source, lengths)| (source.as_ref(), lengths));
    let mut speakers: Vec<(&str, &Vec<u32>)> =
        speakers.filter(|(source, _)| !source.is_empty()).collect();
    speakers.sort_by(|one, other| other.1.len().cmp(&one.1.len()).then(one.0.cmp(other.0)));
    let [first, second, rest @ ..] = speakers.as_slice() else {
        return None;
    };
    let both = first.1.len() + second.1.len();
    let is_talk_of_two = MIN_MESSAGES <= second.1.len()
        && (total - both) * 10 <= total
        && rest.iter().all(|(_, own)| own.len() <= second.1.len());
    if !is_talk_of_two
        || [first, second]
            .iter()
            .any(|(source, _)| SpeakerRole::from_source(source).is_some())
    {
        return None;
    }
    let median = |lengths: &Vec<u32>| {
        let mut lengths = lengths.clone();
        let middle = lengths.len() / 2;
        f64::from((*lengths.select_nth_unstable(middle).1).max(1))
    };
    let ratio = median(second.1) / median(first.1);
    if MIN_LENGTH_RATIO <= ratio {
        Some([first.0, second.0])
    } else if ratio <= 1.0 / MIN_LENGTH_RATIO {
        Some([second.0, first.0])
    } else {
        None
    }
}

/// Merges windows that overlap or touch.
fn merge_windows(mut windows: Vec<Vec<TurnKey>>) -> Vec<Vec<TurnKey>> {
    windows.retain(|window| !window.is_empty());
    windows.sort_unstable();
    let mut runs: Vec<Vec<TurnKey>> = Vec::new();
    for window in windows {
        match runs.last_mut() {
            Some(run) if run.last() >= window.first() => {
                let last = run.last().copied();
                run.extend(window.into_iter().filter(|turn| last < Some(*turn)));
            }
            _ => runs.push(window),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_overlap_are_one_run() {
        let window =
            |range: std::ops::Range<i64>| range.map(|turn| (turn, turn)).collect::<Vec<_>>();
        assert_eq!(
            merge_windows(vec![window(5..9), window(0..6), window(20..22)]),
            [window(0..9), window(20..22)]
        );
    }

    #[test]
    fn the_speaker_of_much_longer_messages_is_the_assistant() {
        let lengths = |of: &[(&str, u32)]| {
            let all = of
                .iter()
                .map(|(source, length)| ((*source).to_owned(), vec![*length; 5]));
            let all: HashMap<String, Vec<u32>> = all.collect();
            person_and_assistant(&all).map(|both| both.map(str::to_owned))
        };
        assert_eq!(
            lengths(&[("anna", 10), ("helper", 30)]),
            Some(["anna".to_owned(), "helper".to_owned()])
        );
        assert_eq!(
            lengths(&[("helper", 30), ("anna", 10)]),
            Some(["anna".to_owned(), "helper".to_owned()])
        );
        assert_eq!(lengths(&[("anna", 10), ("ben", 18)]), None);
        assert_eq!(lengths(&[("anna", 10), ("", 30)]), None);
        assert_eq!(lengths(&[("anna", 10), ("ben", 30), ("carl", 30)]), None);
    }

    #[test]
    fn the_lengths_count_only_where_two_speakers_take_turns_within_minutes() {
        const MINUTE: i64 = 60_000_000_000;
        // Each message: its minute, the first letter of its speaker, and its length.
        let roles = |run: &[(i64, char, u32)]| {
            let message = |(key, (minute, speaker, length)): (i64, &(i64, char, u32))| RunMessage {
                created_at: minute * MINUTE,
                key,
                source: speaker.to_string(),
                length: *length,
            };
            let messages: Vec<RunMessage> = (0..).zip(run).map(message).collect();
            let role = |(_, role): (i64, SpeakerRole)| role.as_str().as_bytes()[0] as char;
            infer_roles(&select_exchanged(&messages))
                .into_iter()
                .map(role)
                .collect::<String>()
        };
        let talk = |gap: i64| -> Vec<(i64, char, u32)> {
            (0..8)
                .map(|turn| {
                    if turn % 2 == 0 {
                        (turn * gap, 'J', 9)
                    } else {
                        (turn * gap, 'C', 80)
                    }
                })
                .collect()
        };
        assert_eq!(roles(&talk(1)), "papapapa");
        assert_eq!(roles(&talk(30)), "", "notes that were written hours apart");
        assert_eq!(
            roles(&talk(1)[..5]),
            "",
            "two messages of an assistant are too few"
        );
        let in_blocks: Vec<_> = (0..8)
            .map(|turn| {
                if turn < 4 {
                    (turn, 'J', 9)
                } else {
                    (turn, 'C', 80)
                }
            })
            .collect();
        assert_eq!(roles(&in_blocks), "", "notes of two programs");
        let alike: Vec<_> = (0..8)
            .map(|turn| (turn, if turn % 2 == 0 { 'J' } else { 'B' }, 20))
            .collect();
        assert_eq!(roles(&alike), "", "two people");
        let mut with_notes = talk(1);
        with_notes.extend([(100, 'J', 300), (200, 'J', 300), (300, 'J', 300)]);
        assert_eq!(
            roles(&with_notes),
            "papapapa",
            "longer notes of the same person hours later do not count"
        );
    }

    #[test]
    fn a_long_pause_begins_a_session() {
        let hour = 3_600_000_000_000;
        let mut turns = ConversationTurns::default();
        turns.add(
            &[vec![(0, 1), (hour, 2), (hour * 8, 3)], vec![(hour * 9, 7)]],
            Some(4),
            CollectionKind::Talk,
        );
        let seat = |key: i64| (turns.seats[&key].ordinal, turns.seats[&key].session);
        assert_eq!([seat(1), seat(2), seat(3)], [(0, 0), (1, 0), (2, 1)]);
        assert!(turns.seats[&7].session == 2 && 3 < turns.seats[&7].ordinal);
        assert_eq!(turns.neighbours(2, 3), [1, 3]);
    }

    #[test]
    fn a_session_with_an_assistant_ends_after_a_shorter_pause() {
        let hour = 3_600_000_000_000;
        let sessions = |shape: CollectionKind| {
            let mut turns = ConversationTurns::default();
            turns.add(&[vec![(0, 1), (hour * 3, 2)]], Some(2), shape);
            turns.seats[&2].session
        };
        assert_eq!(
            [CollectionKind::Talk, CollectionKind::Assisted].map(sessions),
            [0, 1]
        );
    }
}
