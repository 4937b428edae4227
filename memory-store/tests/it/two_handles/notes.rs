//! Tests with two handles on notes.

use std::collections::BTreeMap;
use std::sync::Arc;

use memory_core::{
    Code, Draft, Filter, History, ListOrder, MemoryStore, PageRequest, Patch, Query, Ranking,
    SecretPolicy, Services, Tags, delete, list, read, search, tag, undo, update, write,
};
use memory_store::{FileStore, FileStoreOptions};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::home::{TestHome, repeatable_services};

const WORDS: [&str; 4] = ["tea", "harbour", "深色", "모드"];

#[derive(Debug, Clone)]
enum NoteHandleStep {
    Write(usize, usize),
    Update(usize, usize),
    Tag(usize, usize),
    Delete(usize),
    /// Another program changes the file.
    Edit(usize, usize),
    Undo,
}

fn any_step() -> impl Strategy<Value = NoteHandleStep> {
    prop_oneof![
        4 => (0..WORDS.len(), 0..3_usize).prop_map(|(word, number)| NoteHandleStep::Write(word, number)),
        2 => (0..6_usize, 0..WORDS.len()).prop_map(|(which, word)| NoteHandleStep::Update(which, word)),
        1 => (0..6_usize, 0..WORDS.len()).prop_map(|(which, word)| NoteHandleStep::Tag(which, word)),
        2 => (0..6_usize).prop_map(NoteHandleStep::Delete),
        1 => (0..6_usize, 0..WORDS.len()).prop_map(|(which, word)| NoteHandleStep::Edit(which, word)),
        3 => Just(NoteHandleStep::Undo),
    ]
}

/// The text and the tags of each note, by id.
type NoteContents = BTreeMap<String, (String, Vec<String>)>;

fn stored_notes(services: &Services) -> NoteContents {
    let slice = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: None,
    };
    let page = list(services, &Filter::all(), &slice).unwrap();
    let note = |stored: memory_core::StoredMemory| {
        assert_eq!(stored.problem, None);
        (
            stored.memory.id.to_string(),
            (
                stored.memory.content,
                stored.memory.tags.as_slice().to_vec(),
            ),
        )
    };
    page.memories.into_iter().map(note).collect()
}

fn search_ids(services: &Services, word: &str) -> Vec<String> {
    let query = Query {
        text: word.to_owned(),
        filter: Filter::all(),
        limit: 100,
        ranking: Ranking::default(),
    };
    let mut ids: Vec<String> = search(services, &query)
        .unwrap()
        .hits
        .into_iter()
        .map(|hit| hit.stored.memory.id.to_string())
        .collect();
    ids.sort();
    ids
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(memory_core::testing::extent(16, 256)))]

    #[test]
    fn two_handles_on_notes_hold_what_a_map_holds(steps in vec((0..2_usize, any_step()), 1..16)) {
        let home = TestHome::new();
        let open = || FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
        let first = repeatable_services(open());
        let second = Arc::new(open());
        let handles = [
            first.clone(),
            Services { store: Arc::clone(&second) as Arc<dyn MemoryStore>, history: second as Arc<dyn History>, ..first },
        ];
        let mut model = NoteContents::new();
        let mut done = Vec::new();
        for (handle, step) in steps {
            let (services, before) = (&handles[handle], model.clone());
            let nth = |which: usize| before.keys().nth(which).cloned();
            match step {
                NoteHandleStep::Write(word, number) => {
                    let text = format!("{} number {number}", WORDS[word]);
                    let written = write(services, Draft::new(&text), SecretPolicy::Refuse).unwrap();
                    let is_kept = model.values().any(|(own, _)| *own == text);
                    prop_assert_eq!(written.created, !is_kept);
                    if is_kept {
                        prop_assert_eq!(&model[&written.id.to_string()].0, &text);
                    } else {
                        model.insert(written.id.to_string(), (text, Vec::new()));
                        done.push(before);
                    }
                }
                NoteHandleStep::Update(which, word) => {
                    let Some(id) = nth(which) else { continue };
                    // All texts are distinct, also after an update.
                    let text = format!("{} of {id}", WORDS[word]);
                    let patch = Patch { content: Some(text.clone()), ..Patch::default() };
                    update(services, &id, &patch, None, SecretPolicy::Refuse).unwrap();
                    let own = model.get_mut(&id).unwrap();
                    if own.0 != text {
                        own.0 = text;
                        done.push(before);
                    }
                }
                NoteHandleStep::Tag(which, word) => {
                    let Some(id) = nth(which) else { continue };
                    tag(services, &id, [WORDS[word]].iter().collect(), Tags::default()).unwrap();
                    let own = &mut model.get_mut(&id).unwrap().1;
                    if !own.iter().any(|own| own == WORDS[word]) {
                        own.push(WORDS[word].to_owned());
                        done.push(before);
                    }
                }
                NoteHandleStep::Delete(which) => {
                    let Some(id) = nth(which) else { continue };
                    delete(services, &id).unwrap();
                    model.remove(&id);
                    done.push(before);
                }
                NoteHandleStep::Edit(which, word) => {
                    let Some(id) = nth(which) else { continue };
                    let path = home.path().join(read(services, &id).unwrap().path);
                    let text = std::fs::read_to_string(&path).unwrap();
                    let own = &mut model.get_mut(&id).unwrap().0;
                    let next = format!("{own} and {}", WORDS[word]);
                    std::fs::write(&path, text.replace(own.as_str(), &next)).unwrap();
                    *own = next;
                    // Earlier operations must not be undone over the change of another program.
                    done.clear();
                }
                NoteHandleStep::Undo => match done.pop() {
                    Some(former) => {
                        undo(services, None).unwrap();
                        model = former;
                    }
                    None if model.is_empty() => {
                        let error = undo(services, None).unwrap_err();
                        prop_assert_eq!(error.code(), Code::OperationNotFound);
                    }
                    None => {}
                },
            }
            for services in &handles {
                prop_assert_eq!(&stored_notes(services), &model);
                for word in WORDS {
                    let having: Vec<String> =
                        model.iter().filter(|(_, (text, tags))| text.contains(word) || tags.iter().any(|tag| tag == word)).map(|(id, _)| id.clone()).collect();
                    prop_assert_eq!(search_ids(services, word), having, "{}", word);
                }
            }
        }
    }
}
