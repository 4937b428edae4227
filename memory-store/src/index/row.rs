//! The index row of a document.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Datelike, Utc};
use memory_core::rank::TextProperties;
use memory_core::standing::{StandingKind, standing_kind};
use memory_core::{
    ContentHash, HomeSection, Memory, MemoryId, Reminder, Scope, SpeakerRole, Tags, embedded_text,
    tags_and_parents, text, wikilink,
};

use super::document_terms::DocumentTerms;
use super::lookup_key::{LookupKey, SHORTEST, hash_bytes, mix};
use crate::disk::{FileStat, racy_ns};
use crate::memory_file::MemoryFile;

/// End of validity of a document that never expires.
pub(super) const NEVER: i64 = i64::MAX;

/// The phase of a proposal in the index.
///
/// A proposal has no words, names, references or due time there, so that only its id, its stem and a filter for proposals
/// find it. The schema contains this value.
pub(super) const PROPOSAL: &str = "proposal";

/// End of validity of a superseded document, and of a proposal.
pub(super) const SUPERSEDED: i64 = i64::MIN;

/// The state of a reminder. The numbers are part of the format of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReminderState {
    /// Not shown yet; also the value of memories that are not reminders.
    Waiting = 0,
    /// Shown to the user.
    Shown = 1,
    /// Done.
    Done = 2,
}

impl ReminderState {
    fn of(reminder: &Reminder) -> Self {
        match (reminder.done_at, reminder.notified_at) {
            (Some(_), _) => Self::Done,
            (None, Some(_)) => Self::Shown,
            (None, None) => Self::Waiting,
        }
    }
}

/// Maximum length of a headline for sorting, in characters.
const MAX_HEADLINE_CHARS: usize = 64;

/// The index row of a document.
#[derive(Debug, Clone)]
pub(super) struct DocumentRow {
    pub(super) claimed: MemoryId,
    pub(super) path: String,
    pub(super) signature: FileStat,
    /// Whether every later change of the file would change the signature.
    pub(super) settled: bool,
    pub(super) stamp: ContentHash,
    pub(super) content_hash: ContentHash,
    /// The hash of the text that is passed to the embedding model.
    pub(super) embedded_hash: ContentHash,
    pub(super) phase: &'static str,
    pub(super) category: &'static str,
    pub(super) scope: String,
    pub(super) source: String,
    pub(super) created_at: i64,
    pub(super) updated_at: i64,
    pub(super) holds_until: i64,
    pub(super) version: u64,
    pub(super) access_count: u64,
    pub(super) headline: String,
    pub(super) damaged: bool,
    pub(super) words: DocumentTerms,
    /// The length of the text in weighted words, and in weighted single characters.
    pub(super) lengths: [u32; 2],
    /// The tags, and the tags above them.
    pub(super) tags: Tags,
    pub(super) handles: Vec<i64>,
    pub(super) filters: Vec<i64>,
    pub(super) facts: TextProperties,
    /// The due time of a reminder.
    pub(super) due: Option<i64>,
    pub(super) stage: ReminderState,
    pub(super) pinned: bool,
    pub(super) place: &'static str,
}

impl DocumentRow {
    /// Builds the row of a file that was read at `now_ns`.
    pub(super) fn of(loaded: &MemoryFile, now_ns: i64) -> Self {
        let memory = &loaded.stored.memory;
        let path = loaded.stored.path.clone();
        let place = HomeSection::of(&path);
        let standing = standing_kind(memory);
        let filters = filter_hashes(memory, place, standing);
        let is_proposal = memory.is_proposal();
        let words = if is_proposal {
            DocumentTerms::default()
        } else {
            DocumentTerms::of(memory)
        };
        Self {
            claimed: memory.id,
            signature: loaded.signature,
            settled: is_settled(&loaded.signature, now_ns),
            stamp: loaded.stored.stamp.0,
            content_hash: memory.content_hash(),
            embedded_hash: ContentHash::of(&embedded_text(memory)),
            phase: if is_proposal {
                PROPOSAL
            } else {
                memory.phase.as_str()
            },
            category: memory.category.as_str(),
            scope: memory.scope.to_string(),
            source: memory.source.to_lowercase(),
            created_at: nanoseconds(memory.created_at),
            updated_at: nanoseconds(memory.updated_at),
            holds_until: holds_until(memory),
            version: memory.version,
            access_count: memory.access_count,
            headline: text::fold(memory.headline())
                .chars()
                .take(MAX_HEADLINE_CHARS)
                .collect(),
            damaged: loaded.stored.problem.is_some(),
            lengths: [words.text.length(), words.characters.length()],
            words,
            tags: if is_proposal {
                Tags::default()
            } else {
                tags_and_parents(&memory.tags)
            },
            handles: lookup_hashes(memory, &path, standing),
            filters,
            facts: TextProperties {
                role: memory.speaker_role(),
                ..TextProperties::of(&memory.content)
            },
            due: memory
                .reminder
                .as_ref()
                .filter(|_| !is_proposal)
                .map(|reminder| nanoseconds(reminder.due)),
            stage: memory
                .reminder
                .as_ref()
                .map_or(ReminderState::Waiting, ReminderState::of),
            pinned: memory.pinned,
            place: place.as_str(),
            path,
        }
    }

    /// Returns a hash of all data that the full text depends on.
    pub(super) fn words_hash(&self) -> i64 {
        let mut state = hash_bytes(1, self.words.text.0.as_bytes());
        state = hash_bytes(state, self.words.characters.0.as_bytes());
        state = hash_bytes(state, self.words.spelled.0.as_bytes());
        let facts = self.facts.to_bits().cast_signed();
        for number in self
            .filters
            .iter()
            .chain([&self.created_at, &self.holds_until, &facts])
        {
            state = mix(state ^ number.cast_unsigned());
        }
        hash_bytes(state, self.claimed.to_string().as_bytes()).cast_signed()
    }
}

/// Returns a time in nanoseconds since 1970. Times beyond the range of about 292 years are clamped.
pub(super) fn nanoseconds(moment: DateTime<Utc>) -> i64 {
    let far = if moment.timestamp() < 0 {
        SUPERSEDED + 1
    } else {
        NEVER - 1
    };
    moment.timestamp_nanos_opt().unwrap_or(far)
}

/// Returns whether any change after `now_ns` results in other times than these.
///
/// File times advance in ticks: two changes within one tick have equal times. A tick is at most 10 ms, or one or two seconds on file
/// systems that store whole seconds only.
pub(super) fn is_settled(signature: &FileStat, now_ns: i64) -> bool {
    let changed = if signature.changed_ns == 0 {
        signature.modified_ns
    } else {
        signature.changed_ns
    };
    changed.saturating_add(racy_ns(changed, RACY_NS)) <= now_ns
}

/// Safety margin in nanoseconds, longer than a tick.
const RACY_NS: i64 = 50_000_000;

fn holds_until(memory: &Memory) -> i64 {
    if memory.is_proposal() {
        return SUPERSEDED;
    }
    match (&memory.superseded_by, memory.ends_at()) {
        (Some(_), _) => SUPERSEDED,
        (None, Some(end)) => nanoseconds(end),
        (None, None) => NEVER,
    }
}

/// Returns the hashes of the attributes for filters in the full text.
fn filter_hashes(memory: &Memory, place: HomeSection, standing: Option<StandingKind>) -> Vec<i64> {
    if memory.is_proposal() {
        return vec![
            LookupKey::Scope(&memory.scope).bits(),
            LookupKey::Ends.bits(),
            LookupKey::Proposal.bits(),
        ];
    }
    let mut bits = vec![
        LookupKey::Scope(&memory.scope).bits(),
        LookupKey::Phase(memory.phase).bits(),
        LookupKey::Category(memory.category).bits(),
        LookupKey::Place(place).bits(),
        LookupKey::Source(&memory.source).bits(),
    ];
    bits.extend(
        memory
            .speaker_role()
            .map(|role| LookupKey::Role(role).bits()),
    );
    bits.extend(speaker_hashes(memory));
    let day = memory.created_at.date_naive();
    bits.extend(
        [
            LookupKey::Year(day.year()),
            LookupKey::Month(day.month()),
            LookupKey::Weekday(day.weekday()),
        ]
        .map(|date| date.bits()),
    );
    bits.extend((holds_until(memory) != NEVER).then(|| LookupKey::Ends.bits()));
    bits.extend(standing_keys(standing));
    bits.extend(tag_hashes(memory));
    bits
}

/// Returns the hashes of the words in the name of the speaker.
fn speaker_hashes(memory: &Memory) -> BTreeSet<i64> {
    let name = match &memory.scope {
        // `User` and `Assistant` are roles: a query hardly refers to a speaker by these words.
        Scope::Conversation(_) if SpeakerRole::from_source(&memory.source).is_some() => "",
        Scope::Conversation(_) => memory.source.as_str(),
        Scope::Agent(name) => name,
        Scope::Global | Scope::Project(_) | Scope::Private(_) | Scope::Team(_) => "",
    };
    let words = name
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(|word| LookupKey::Speaker(word).bits()).collect()
}

/// Returns the hashes for the kind of the standing sentences.
fn standing_keys(standing: Option<StandingKind>) -> impl Iterator<Item = i64> {
    standing.into_iter().flat_map(|kind| {
        [
            LookupKey::Standing.bits(),
            LookupKey::StandingOf(kind).bits(),
        ]
    })
}

/// Returns the hashes of the tags and of their parent tags.
fn tag_hashes(memory: &Memory) -> BTreeSet<i64> {
    tags_and_parents(&memory.tags)
        .iter()
        .map(|tag| LookupKey::Tag(tag).bits())
        .collect()
}

/// Returns the hashes for lookups in SQLite.
fn lookup_hashes(memory: &Memory, path: &str, standing: Option<StandingKind>) -> Vec<i64> {
    let mut bits = BTreeSet::from([
        LookupKey::Claim(&memory.id).bits(),
        LookupKey::Stem(&stem(path).to_lowercase()).bits(),
    ]);
    if memory.is_proposal() {
        return bits.into_iter().collect();
    }
    bits.extend(tag_hashes(memory));
    bits.extend(standing_keys(standing));
    bits.extend(
        [memory.content_hash(), memory.words_hash()]
            .map(|hash| LookupKey::Content(&hash, &memory.scope).bits()),
    );
    bits.extend(
        memory
            .origin
            .iter()
            .chain(&memory.other_origins)
            .map(|origin| LookupKey::Origin(origin).bits()),
    );
    bits.extend(memory.links.iter().map(|link| LookupKey::Link(link).bits()));
    bits.extend(
        memory
            .reminder
            .as_ref()
            .and_then(|reminder| reminder.of)
            .map(|id| LookupKey::Reminds(&id).bits()),
    );
    bits.extend(
        memory
            .supersedes
            .iter()
            .map(|id| LookupKey::Former(&id.to_string()[..SHORTEST]).bits()),
    );
    for link in wikilink::parse(&memory.content) {
        bits.extend(
            wikilink::lookup_keys(&link.target)
                .iter()
                .map(|key| LookupKey::Wikilink(key).bits()),
        );
    }
    bits.extend(name_hashes(memory, path));
    bits.into_iter().collect()
}

/// Returns the hashes of the names for wikilinks. A name of several kinds counts as the strongest kind.
fn name_hashes(memory: &Memory, path: &str) -> Vec<i64> {
    let mut called = Memory {
        content: String::new(),
        title: None,
        aliases: Vec::new(),
        ..memory.clone()
    };
    let by_path = wikilink::memory_keys(&called, path);
    called.title = memory.title_or_heading().map(str::to_owned);
    let and_by_title = wikilink::memory_keys(&called, path);
    let all = wikilink::memory_keys(memory, path);
    let set = |keys: &[String]| keys.iter().cloned().collect::<HashSet<_>>();
    let (known_paths, known_titles) = (set(&by_path), set(&and_by_title));
    let titles = and_by_title
        .iter()
        .filter(|key| !known_paths.contains(*key));
    let aliases = all.iter().filter(|key| !known_titles.contains(*key));
    let paths = by_path.iter().map(|key| LookupKey::Path(key).bits());
    let titles = titles.map(|key| LookupKey::Title(key).bits());
    paths
        .chain(titles)
        .chain(aliases.map(|key| LookupKey::Alias(key).bits()))
        .collect()
}

/// Returns the name of a file without its extension.
pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.strip_suffix(".md").unwrap_or(name)
}
