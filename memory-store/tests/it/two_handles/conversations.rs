//! Tests with two handles on conversations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationStore, EntryChange, EntryId, EntryRole,
};
use memory_core::secret::Checked;
use memory_core::testing::{CountingIds, FakeClock};
use memory_core::{Clock, IdSource};
use memory_store::conversation::ConversationFolder;
use proptest::collection::vec;
use proptest::prelude::*;

/// The folder of the second name is `a_b`, which is also the third name.
const CONVERSATIONS: [&str; 3] = ["default", "a/b", "a_b"];
const ROLES: [EntryRole; 3] = [EntryRole::User, EntryRole::Assistant, EntryRole::Memory];

#[derive(Debug, Clone)]
enum ConversationHandleStep {
    Add(usize, Vec<(usize, String)>),
    Replace(usize, usize),
    Again(usize),
}

fn any_step() -> impl Strategy<Value = ConversationHandleStep> {
    prop_oneof![
        4 => (0..3_usize, vec((0..ROLES.len(), "[a-z深\n-]{1,5}x"), 1..3)).prop_map(|(own, said)| ConversationHandleStep::Add(own, said)),
        2 => (0..3_usize, 0..8_usize).prop_map(|(own, which)| ConversationHandleStep::Replace(own, which)),
        1 => (0..3_usize).prop_map(ConversationHandleStep::Again),
    ]
}

#[derive(Debug, Default)]
struct ConversationModel {
    entries: BTreeMap<EntryId, ConversationEntry>,
    deleted: BTreeSet<EntryId>,
    last: Vec<EntryChange>,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(memory_core::testing::extent(32, 512)))]

    #[test]
    fn two_handles_on_conversations_hold_what_maps_hold(steps in vec((0..2_usize, any_step()), 1..16)) {
        let home = tempfile::tempdir().unwrap();
        let handles = [0, 1].map(|_| Arc::new(ConversationFolder::new(home.path())));
        let (clock, ids) = (FakeClock::default(), CountingIds::default());
        let names = CONVERSATIONS.map(|name| name.parse::<ConversationId>().unwrap());
        let mut models = [(); 3].map(|()| ConversationModel::default());
        let entry = |own: usize, role: EntryRole, text: &str| {
            ConversationEntry::new(EntryId::from(ids.memory_id()), &names[own], role, text, clock.now())
        };
        for (handle, step) in steps {
            let (own, changes) = match step {
                ConversationHandleStep::Add(own, said) => {
                    let add = |(role, text): &(usize, String)| EntryChange::Add(entry(own, ROLES[*role], text));
                    (own, said.iter().map(add).collect())
                }
                ConversationHandleStep::Replace(own, which) => {
                    let Some(id) = models[own].entries.keys().nth(which).cloned() else { continue };
                    let next = entry(own, EntryRole::Memory, "what took its place");
                    let delete = EntryChange::Delete { id, replaced_by: Some(next.id.clone()) };
                    (own, vec![EntryChange::Add(next), delete])
                }
                // A caller that does not know the outcome repeats the changes.
                ConversationHandleStep::Again(own) => (own, models[own].last.clone()),
            };
            handles[handle].commit(&names[own], Checked::allowed(&changes)).unwrap();
            let model = &mut models[own];
            for change in &changes {
                match change {
                    EntryChange::Add(entry) if !model.deleted.contains(&entry.id) => {
                        model.entries.insert(entry.id.clone(), entry.clone());
                    }
                    EntryChange::Delete { id, .. } if model.entries.remove(id).is_some() => {
                        model.deleted.insert(id.clone());
                    }
                    _ => {}
                }
            }
            model.last = changes;
            for handle in &handles {
                for (name, model) in names.iter().zip(&models) {
                    let shelf = handle.read(name).unwrap();
                    prop_assert_eq!(shelf.problems().count(), 0);
                    let read: BTreeMap<EntryId, ConversationEntry> =
                        shelf.entries().iter().map(|entry| (entry.id.clone(), ConversationEntry::clone(entry))).collect();
                    prop_assert_eq!(&read, &model.entries);
                    let deleted: BTreeSet<EntryId> = handle.deleted(name).unwrap().into_iter().map(|entry| entry.id).collect();
                    prop_assert_eq!(&deleted, &model.deleted);
                }
                let kept: BTreeSet<ConversationId> = handle.conversations().unwrap().into_iter().collect();
                let held = names.iter().zip(&models).filter(|(_, model)| !model.entries.is_empty());
                prop_assert_eq!(kept, held.map(|(name, _)| name.clone()).collect());
            }
        }
    }
}
