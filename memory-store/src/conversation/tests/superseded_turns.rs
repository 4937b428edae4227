//! Tests of turns that are superseded because a fact from them was deleted, by any program.

use memory_core::conversation::{EntryId, store_turn};
use memory_core::secret::Checked;

use super::*;

struct SupersededTurn {
    home: tempfile::TempDir,
    conversations: Conversations,
    turn: EntryId,
    /// The file of the fact from the turn, and its tombstone in both layouts.
    fact: PathBuf,
    tombstones: [PathBuf; 2],
}

impl SupersededTurn {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let conversations = open(home.path());
        let turn = store_turn(
            &conversations,
            &id("default"),
            EntryRole::User,
            "I love pizza",
        )
        .unwrap()
        .unwrap();
        // The fact has the time of its turn, and an id that sorts before every id of a turn.
        let entry = ConversationEntry::new(
            "-".parse().unwrap(),
            &id("default"),
            EntryRole::Memory,
            "The user loves pizza.",
            turn.created_at,
        );
        let fact = ConversationEntry {
            source_id: Some(turn.id.clone()),
            ..entry
        };
        conversations
            .store
            .commit(
                &id("default"),
                Checked::allowed(&[EntryChange::Add(fact.clone())]),
            )
            .unwrap();
        let path = file_of(home.path(), &fact);
        let name = path.file_name().unwrap();
        let place = |folder: &str| {
            home.path()
                .join("entries")
                .join(folder)
                .join("facts")
                .join(name)
        };
        let tombstones = [place("default/deleted"), place("deleted/default")];
        Self {
            turn: turn.id,
            fact: path,
            tombstones,
            conversations,
            home,
        }
    }

    /// Returns whether the turn is superseded, for a running process and for one that has just started.
    fn is_superseded(&self) -> bool {
        let of = |conversations: &Conversations| {
            conversations
                .store
                .read(&id("default"))
                .unwrap()
                .is_superseded(&self.turn)
        };
        let [old, new] = [of(&self.conversations), of(&open(self.home.path()))];
        assert_eq!(old, new);
        old
    }

    fn delete(&self) {
        let change = EntryChange::Delete {
            id: "-".parse().unwrap(),
            replaced_by: None,
        };
        open(self.home.path())
            .store
            .commit(&id("default"), Checked::allowed(&[change]))
            .unwrap();
    }
}

#[test]
fn a_fact_that_another_process_deletes_and_restores_is_seen() {
    let case = SupersededTurn::new();
    assert!(!case.is_superseded());
    case.delete();
    assert!(case.is_superseded());
    fs::rename(&case.tombstones[0], &case.fact).unwrap();
    // A change within a tick of the clock is detected a second later; this time is not within a tick.
    let folder = fs::File::open(case.tombstones[0].parent().unwrap()).unwrap();
    folder
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    assert!(!case.is_superseded());
}

#[test]
fn a_tombstone_in_the_place_of_others_counts_as_well() {
    let case = SupersededTurn::new();
    fs::create_dir_all(case.tombstones[1].parent().unwrap()).unwrap();
    fs::rename(&case.fact, &case.tombstones[1]).unwrap();
    assert!(case.is_superseded());
}

#[test]
fn a_tombstone_without_a_source_or_a_sense_supersedes_nothing() {
    let case = SupersededTurn::new();
    case.delete();
    let text = fs::read_to_string(&case.tombstones[0]).unwrap();
    let without: String = text
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("source_id"))
        .collect();
    fs::write(&case.tombstones[0], without).unwrap();
    fs::write(
        case.tombstones[0].with_file_name("9999-odd.md"),
        "---\nid: [\n---\n",
    )
    .unwrap();
    let shelf = open(case.home.path()).store.read(&id("default")).unwrap();
    assert!(!shelf.is_superseded(&case.turn));
    assert_eq!(shelf.problems().count(), 0);
}
