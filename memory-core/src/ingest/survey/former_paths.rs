//! Recognizing the memories of changed notes whose paths depend on other notes and on their texts.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::{MemoryRelation, Survey};
use crate::ingest::findings::for_each_finding;
use crate::ingest::fingerprint::{NoteFingerprint, draft_text_hash};
use crate::text::WordOverlaps;
use crate::{Draft, Filter, Memory, MemoryId, Origin, Services, Source, SourceItem, StoreError};

/// Maximum number of pairs of a note and a memory with similar paths. Notes beyond them are new.
const MAX_PAIRS: usize = 100_000;

/// Number of digits of the hash in a path.
const HASH_DIGITS: usize = 8;

/// A new note whose memory may have another path.
#[derive(Debug)]
pub(super) struct ChangedNote {
    number: usize,
    /// The paths that the note may have had, without a hash, from the least to the most exact.
    paths: Vec<String>,
    /// The number of its file among those with equal names.
    file: Option<String>,
}

impl ChangedNote {
    /// Returns the note with the index `number`, if it has `former_paths`.
    pub(super) fn of(number: usize, mut former_paths: Vec<String>) -> Option<Self> {
        let file =
            HashedPath::parse(&former_paths.pop()?).and_then(|path| path.file.map(str::to_owned));
        Some(Self {
            number,
            paths: former_paths,
            file,
        })
    }
}

/// Minimum share of common words of two texts of one note.
const MIN_SIMILARITY: f32 = 0.3;

/// Returns whether a memory was ingested from the note of `draft`, which has a path that other notes may have too.
///
/// The note has the same title, a similar text, or the text that it had at its last ingestion.
pub(super) fn is_same_note(draft: &Draft, memory: &Memory) -> bool {
    let hash = memory.origin.as_ref().and_then(|origin| origin.hash);
    let known = hash.map(|hash| NoteFingerprint::from_hash(&hash).text);
    draft.title.is_some() && draft.title == memory.title
        || known == Some(draft_text_hash(draft))
        || MIN_SIMILARITY <= WordOverlaps::of(&[&draft.content, &memory.content]).similarity(0, 1)
}

/// A memory that no note belongs to.
struct LeftMemory {
    memory: Memory,
    /// Its path without a hash.
    path: String,
    file: Option<String>,
}

/// A note and a memory with similar paths, by their indexes.
struct PathPair {
    note: usize,
    memory: usize,
    /// The place of the path of the memory among those of the note; a later one is more exact.
    exactness: usize,
    similarity: f32,
    /// Number of equal bytes at both ends of the texts.
    common_ends: usize,
}

impl PathPair {
    /// Compares two pairs; the better one comes first.
    fn compare(&self, other: &Self) -> Ordering {
        let order = other
            .exactness
            .cmp(&self.exactness)
            .then_with(|| other.similarity.total_cmp(&self.similarity));
        let order = order.then_with(|| other.common_ends.cmp(&self.common_ends));
        order.then_with(|| (self.note, self.memory).cmp(&(other.note, other.memory)))
    }
}

/// A path that ends in the hash of a text, and possibly in the number of a file and of equal notes.
struct HashedPath<'a> {
    path: &'a str,
    file: Option<&'a str>,
}

impl<'a> HashedPath<'a> {
    fn parse(path: &'a str) -> Option<Self> {
        let is_number =
            |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let numbered = path
            .strip_suffix(')')
            .and_then(|path| path.rsplit_once(" ("));
        let path = numbered
            .filter(|(_, number)| is_number(number))
            .map_or(path, |(path, _)| path);
        let (path, hash) = path.rsplit_once(' ')?;
        let (hash, file) = hash
            .split_once('-')
            .map_or((hash, None), |(hash, file)| (hash, Some(file)));
        let is_hash =
            hash.len() == HASH_DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_hash && file.is_none_or(is_number)).then_some(Self { path, file })
    }
}

impl Survey {
    /// Assigns the memories that no note belongs to, to new notes with similar paths.
    pub(super) fn match_former_paths(
        &mut self,
        services: &Services,
        source: &dyn Source,
    ) -> Result<(), StoreError> {
        let mut notes = std::mem::take(&mut self.changed_notes);
        notes.retain(|note| self.notes[note.number].kept == MemoryRelation::Not);
        let mut memories = self.left_memories(services, &notes)?;
        self.continue_memories(&same_files(&notes, &memories), &notes, &memories);
        notes.retain(|note| self.notes[note.number].kept == MemoryRelation::Not);
        memories.retain(|left| !self.taken.contains_key(&left.memory.id));
        let mut pairs = similar_paths(&notes, &memories);
        let is_loose = |pair: &PathPair| pair.exactness + 1 < notes[pair.note].paths.len();
        let is_distinct = |part: fn(&PathPair) -> usize| {
            pairs.iter().map(part).collect::<HashSet<_>>().len() == pairs.len()
        };
        // Texts distinguish notes of a path that is not the most exact one, and several notes or memories with similar paths.
        if pairs.iter().any(is_loose)
            || !is_distinct(|pair| pair.note)
            || !is_distinct(|pair| pair.memory)
        {
            let drafts = self.drafts(services, source, &notes)?;
            pairs.retain(|pair| {
                !is_loose(pair) || is_same_note(&drafts[pair.note], &memories[pair.memory].memory)
            });
            compare_texts(&drafts, &memories, &mut pairs);
        }
        pairs.sort_by(PathPair::compare);
        let pairs: Vec<_> = pairs.iter().map(|pair| (pair.note, pair.memory)).collect();
        self.continue_memories(&pairs, &notes, &memories);
        Ok(())
    }

    /// Assigns the memory of each pair to its note, unless an earlier pair contains one of them.
    fn continue_memories(
        &mut self,
        pairs: &[(usize, usize)],
        notes: &[ChangedNote],
        memories: &[LeftMemory],
    ) {
        for (note, memory) in pairs {
            let (number, id) = (notes[*note].number, memories[*memory].memory.id);
            if self.notes[number].kept == MemoryRelation::Not && !self.taken.contains_key(&id) {
                self.taken.insert(id, number);
                let note = &mut self.notes[number];
                (note.id, note.kept) = (id, MemoryRelation::AsItself);
            }
        }
    }

    /// Returns the memories with a path of one of `notes` that no note belongs to, ordered by path.
    fn left_memories(
        &self,
        services: &Services,
        notes: &[ChangedNote],
    ) -> Result<Vec<LeftMemory>, StoreError> {
        let known: HashSet<&str> = notes
            .iter()
            .flat_map(|note| &note.paths)
            .map(String::as_str)
            .collect();
        let Some(place) = self.place.as_ref().filter(|_| !known.is_empty()) else {
            return Ok(Vec::new());
        };
        let owned: HashSet<MemoryId> = self.notes.iter().map(|note| note.id).collect();
        let mut left = Vec::new();
        let filter = Filter {
            source: Some(place.source.clone()),
            ..Filter::all()
        };
        for stored in services.store.memories(&filter, services.clock.now()) {
            let memory = match stored {
                Ok(stored) => stored.memory,
                Err(StoreError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            };
            let is_sibling =
                |origin: &Origin| (&origin.source, &origin.root) == (&place.source, &place.root);
            let is_left =
                memory.origin.as_ref().is_some_and(is_sibling) && !owned.contains(&memory.id);
            if !is_left || !Self::is_accepted(services, &memory)? {
                continue;
            }
            let Some(whole) = memory.origin.as_ref().map(|origin| origin.path.clone()) else {
                continue;
            };
            let hashed = HashedPath::parse(&whole).filter(|_| !known.contains(whole.as_str()));
            let (path, file) =
                hashed.map_or((whole.as_str(), None), |hashed| (hashed.path, hashed.file));
            if known.contains(path) {
                let (path, file) = (path.to_owned(), file.map(str::to_owned));
                left.push((whole, LeftMemory { memory, path, file }));
            }
        }
        left.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(left.into_iter().map(|(_, memory)| memory).collect())
    }

    /// Reads notes again, since a survey contains no texts.
    fn drafts(
        &self,
        services: &Services,
        source: &dyn Source,
        notes: &[ChangedNote],
    ) -> Result<Vec<Draft>, StoreError> {
        let mut drafts = vec![Draft::new(""); notes.len()];
        let places: HashMap<usize, usize> = notes
            .iter()
            .enumerate()
            .map(|(place, note)| (note.number, place))
            .collect();
        let think = |finding| {
            let SourceItem::Note(note) = finding else {
                return None;
            };
            let (_, number) = self.find(&note.draft.origin.as_ref()?.path)?;
            Some((*places.get(&number)?, note.draft))
        };
        for_each_finding(source, &services.own_scope(), &think, &mut |found| {
            if let Some((place, draft)) = found {
                drafts[place] = draft;
            }
            Ok(())
        })?;
        Ok(drafts)
    }
}

/// Returns the notes and memories of the same files.
fn same_files(notes: &[ChangedNote], memories: &[LeftMemory]) -> Vec<(usize, usize)> {
    let mut of_file = HashMap::new();
    for (index, memory) in memories.iter().enumerate() {
        if let Some(file) = &memory.file {
            of_file.entry((&memory.path, file)).or_insert(index);
        }
    }
    let memory_of = |note: &ChangedNote| {
        of_file
            .get(&(note.paths.last()?, note.file.as_ref()?))
            .copied()
    };
    notes
        .iter()
        .enumerate()
        .filter_map(|(index, note)| Some((index, memory_of(note)?)))
        .collect()
}

/// Returns the notes and memories with similar paths.
fn similar_paths(notes: &[ChangedNote], memories: &[LeftMemory]) -> Vec<PathPair> {
    let mut at_path = HashMap::<&str, Vec<usize>>::new();
    for (index, memory) in memories.iter().enumerate() {
        at_path.entry(&memory.path).or_default().push(index);
    }
    let pairs = notes
        .iter()
        .enumerate()
        .flat_map(|(note, ChangedNote { paths, .. })| {
            let found = paths
                .iter()
                .enumerate()
                .filter_map(|(exactness, path)| Some((exactness, at_path.get(path.as_str())?)));
            found.flat_map(move |(exactness, memories)| {
                memories.iter().map(move |memory| PathPair {
                    note,
                    memory: *memory,
                    exactness,
                    similarity: 0.0,
                    common_ends: 0,
                })
            })
        });
    pairs.take(MAX_PAIRS).collect()
}

fn compare_texts(drafts: &[Draft], memories: &[LeftMemory], pairs: &mut [PathPair]) {
    let memories = memories.iter().map(|left| left.memory.content.as_str());
    let all: Vec<&str> = drafts
        .iter()
        .map(|draft| draft.content.as_str())
        .chain(memories)
        .collect();
    let overlaps = WordOverlaps::of(&all);
    for pair in pairs {
        let memory = drafts.len() + pair.memory;
        pair.similarity = overlaps.similarity(pair.note, memory);
        pair.common_ends = common_ends(all[pair.note], all[memory]);
    }
}

/// Returns the number of bytes that two texts have in common at their start and at their end.
fn common_ends(one: &str, other: &str) -> usize {
    let start = one
        .bytes()
        .zip(other.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    let (one, other) = (&one.as_bytes()[start..], &other.as_bytes()[start..]);
    start
        + one
            .iter()
            .rev()
            .zip(other.iter().rev())
            .take_while(|(one, other)| one == other)
            .count()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::HashedPath;
    use crate::testing::{FakeSource, services};
    use crate::{
        Draft, Filter, IngestOptions, MemStore, NoteItem, Origin, Scope, Services, SourceItem,
        ingest,
    };

    /// Ingests notes with a path, former paths and a text. Returns the numbers of new and updated memories.
    fn run(services: &Services, notes: &[(&str, &[&str], &str)]) -> (u64, u64) {
        let note = |(path, former_paths, text): &(&str, &[&str], &str)| {
            let origin = Origin {
                source: "test".into(),
                root: "/test".into(),
                path: (*path).into(),
                hash: None,
            };
            let draft = Draft {
                source: "test".into(),
                origin: Some(origin),
                ..Draft::new(text)
            };
            let former_paths = former_paths.iter().map(|path| (*path).to_owned()).collect();
            SourceItem::Note(Box::new(NoteItem {
                former_paths,
                ..NoteItem::new(draft)
            }))
        };
        let source = FakeSource::with_items(notes.iter().map(note).collect());
        let report = ingest(services, &source, &IngestOptions::default(), &mut |_| {})
            .expect("the fake store does not fail");
        (report.new, report.updated)
    }

    fn texts(services: &Services) -> Vec<String> {
        let all = services
            .store
            .memories(&Filter::all(), services.clock.now());
        let mut texts: Vec<_> = all
            .map(|stored| stored.expect("it can be read").memory.content)
            .collect();
        texts.sort();
        texts
    }

    #[test]
    fn changed_notes_continue_the_memories_of_their_files() {
        let home = services(Arc::new(MemStore::default()));
        let [x, y] = ["1 T 0000000a-0", "1 T 0000000b-1"];
        assert_eq!(
            run(
                &home,
                &[(x, &["1", "1 T", x], "x"), (y, &["1", "1 T", y], "y")]
            ),
            (2, 0)
        );
        let origin = Origin {
            source: "test".into(),
            root: "/test".into(),
            path: x.into(),
            hash: None,
        };
        let first = home.store.by_origin(&origin, &Scope::Global);
        let first = first.expect("it can be read").expect("a memory").memory.id;
        // Each text is like the former one of the other file.
        let [x, y] = ["1 T 0000000c-0", "1 T 0000000d-1"];
        assert_eq!(
            run(
                &home,
                &[
                    (x, &["1", "1 T", x], "y two"),
                    (y, &["1", "1 T", y], "x two")
                ]
            ),
            (0, 2)
        );
        assert_eq!(
            home.store.get(&first).expect("a memory").memory.content,
            "y two"
        );
        assert_eq!(texts(&home), ["x two", "y two"]);
    }

    #[test]
    fn the_most_similar_note_continues_a_memory_and_the_others_are_new() {
        let home = services(Arc::new(MemStore::default()));
        assert_eq!(
            run(
                &home,
                &[("n/1 T", &["n/1 T", "n/1 T 0000000a"], "alpha tea")]
            ),
            (1, 0)
        );
        let changed: &[(&str, &[&str], &str)] = &[
            (
                "n/1 T 0000000b",
                &["n/1 T", "n/1 T 0000000b"],
                "another note",
            ),
            (
                "n/1 T 0000000c",
                &["n/1 T", "n/1 T 0000000c"],
                "alpha tea is edited",
            ),
        ];
        assert_eq!(run(&home, changed), (1, 1));
        assert_eq!(texts(&home), ["alpha tea is edited", "another note"]);
        assert_eq!(run(&home, changed), (0, 0));
        // Texts without a common word are compared by letter.
        let changed: &[(&str, &[&str], &str)] = &[
            (
                "n/1 T 0000000d",
                &["n/1 T", "n/1 T 0000000d"],
                "anothernote",
            ),
            ("n/1 T 0000000e", &["n/1 T", "n/1 T 0000000e"], "alphatea"),
        ];
        assert_eq!(run(&home, changed), (0, 2));
        assert_eq!(
            run(
                &home,
                &[("n/1 T", &["n/1 T", "n/1 T 0000000f"], "anothernote!")]
            ),
            (0, 1)
        );
        assert_eq!(texts(&home), ["alphatea", "anothernote!"]);
    }

    #[test]
    fn a_note_with_another_name_does_not_continue_a_memory() {
        let home = services(Arc::new(MemStore::default()));
        assert_eq!(
            run(
                &home,
                &[
                    ("1 A", &["1", "1 A", "1 A 0000000a-0"], "a"),
                    ("1 B", &["1", "1 B", "1 B 0000000b-0"], "b")
                ]
            ),
            (2, 0)
        );
        assert_eq!(
            run(
                &home,
                &[
                    ("1 A", &["1", "1 A", "1 A 0000000a-0"], "a"),
                    ("1 C", &["1", "1 C", "1 C 0000000b-0"], "c")
                ]
            ),
            (1, 0)
        );
        assert_eq!(texts(&home), ["a", "b", "c"]);
    }

    #[test]
    fn a_note_with_the_vague_path_of_another_one_is_another_note() {
        let home = services(Arc::new(MemStore::default()));
        let cake: &[(&str, &[&str], &str)] =
            &[("1", &["1", "1 Cake", "1 Cake 0000000a-0"], "flour and eggs")];
        let car: &[(&str, &[&str], &str)] = &[(
            "1",
            &["1", "1 Car", "1 Car 0000000b-0"],
            "repair the brakes",
        )];
        assert_eq!(run(&home, cake), (1, 0));
        for _ in 0..2 {
            run(&home, car);
            assert_eq!(run(&home, cake), (0, 0));
            assert_eq!(run(&home, car), (0, 0));
            assert_eq!(texts(&home), ["flour and eggs", "repair the brakes"]);
        }
        let both: &[(&str, &[&str], &str)] = &[
            (
                "1 Cake",
                &["1", "1 Cake", "1 Cake 0000000c-0"],
                "flour and two eggs",
            ),
            (
                "1 Car",
                &["1", "1 Car", "1 Car 0000000b-0"],
                "repair the brakes",
            ),
        ];
        assert_eq!(run(&home, both), (0, 2));
        assert_eq!(texts(&home), ["flour and two eggs", "repair the brakes"]);
        run(&home, car);
        run(&home, cake);
        assert_eq!(texts(&home), ["flour and eggs", "repair the brakes"]);
    }

    #[test]
    fn a_hash_is_recognized_at_the_end_of_a_path() {
        let parse = |path| HashedPath::parse(path).map(|path| (path.path, path.file));
        assert_eq!(parse("1 T 0a1b2c3d"), Some(("1 T", None)));
        assert_eq!(
            parse("1 T (2) 0a1b2c3d-12 (3)"),
            Some(("1 T (2)", Some("12")))
        );
        for path in [
            "1 T",
            "1 T (2)",
            "1 T 0a1b2c3",
            "1 T 0a1b2c3d-",
            "1 T 0a1b2c3d-x",
            "0a1b2c3d",
        ] {
            assert_eq!(parse(path), None, "{path}");
        }
    }
}
