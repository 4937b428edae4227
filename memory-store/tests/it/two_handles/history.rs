//! Tests with two handles on sessions.

use std::collections::BTreeMap;
use std::sync::Arc;

use memory_core::instance::history::{
    Messages, RecordDraft, RecordFilter, SessionName, Window, append, delete, purge, read,
    sessions, undo,
};
use memory_core::testing::messages;
use memory_core::{Code, SecretPolicy};
use memory_store::history::HistoryFolder;
use proptest::collection::vec;
use proptest::prelude::*;

const SESSIONS: [&str; 2] = ["one", "深色"];
const ROLES: [&str; 2] = ["user", "assistant"];

#[derive(Debug, Clone)]
enum SessionHandleStep {
    Say(usize, usize, String),
    Purge(usize, usize),
    Delete(usize),
    Undo,
}

/// The records of a session: role and text.
type ModelRecords = Vec<(usize, String)>;

/// An operation that can be undone: the session, the records before it, and the number that it left.
type ModelOperation = (usize, ModelRecords, usize);

fn any_step() -> impl Strategy<Value = SessionHandleStep> {
    prop_oneof![
        6 => (0..2_usize, 0..2_usize, "[a-z深\n\"]{1,4}").prop_map(|(session, role, text)| SessionHandleStep::Say(session, role, text)),
        2 => (0..2_usize, 0..2_usize).prop_map(|(session, role)| SessionHandleStep::Purge(session, role)),
        1 => (0..2_usize).prop_map(SessionHandleStep::Delete),
        2 => Just(SessionHandleStep::Undo),
    ]
}

fn name(session: usize) -> SessionName {
    SESSIONS[session].parse().unwrap()
}

fn stored_records(messages: &Messages) -> BTreeMap<String, Vec<(String, String)>> {
    let said = |name: &SessionName| {
        let reading = read(messages, name, &RecordFilter::default(), Window::default()).unwrap();
        assert!(reading.damaged.is_empty(), "{:?}", reading.damaged);
        let text = |value: &serde_json::Value| value["content"].as_str().unwrap().to_owned();
        let record = |record: &memory_core::instance::history::SessionRecord| {
            (record.role().to_string(), text(&record.text().to_value()))
        };
        reading.records.iter().map(record).collect()
    };
    sessions(messages)
        .unwrap()
        .into_iter()
        .map(|summary| (summary.session.to_string(), said(&summary.session)))
        .collect()
}

/// Returns the content of the model as it is read; an empty session exists until it is deleted.
fn model_records(model: &BTreeMap<usize, ModelRecords>) -> BTreeMap<String, Vec<(String, String)>> {
    let said = |said: &ModelRecords| {
        said.iter()
            .map(|(role, text)| (ROLES[*role].to_owned(), text.clone()))
            .collect()
    };
    model
        .iter()
        .map(|(session, own)| (SESSIONS[*session].to_owned(), said(own)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(memory_core::testing::extent(48, 768)))]

    #[test]
    fn two_handles_on_sessions_hold_what_lists_hold(steps in vec((0..2_usize, any_step()), 1..24)) {
        let home = tempfile::tempdir().unwrap();
        let open = || Arc::new(HistoryFolder::new(home.path()));
        let (first, _) = messages(open());
        let handles = [first.clone(), Messages { store: open(), ..first }];
        let mut model = BTreeMap::<usize, ModelRecords>::new();
        let mut done = Vec::<ModelOperation>::new();
        for (handle, step) in steps {
            let messages = &handles[handle];
            match step {
                SessionHandleStep::Say(session, role, text) => {
                    let draft = RecordDraft::from_text(ROLES[role].parse().unwrap(), &text);
                    append(messages, &name(session), &draft, SecretPolicy::Refuse).unwrap();
                    model.entry(session).or_default().push((role, text));
                }
                SessionHandleStep::Purge(session, role) => {
                    let filter = RecordFilter { roles: vec![ROLES[role].parse().unwrap()], ..RecordFilter::default() };
                    let purged = purge(messages, &name(session), &filter).unwrap();
                    let Some(own) = model.get_mut(&session) else {
                        prop_assert_eq!((purged.purged, purged.kept), (0, 0));
                        continue;
                    };
                    let before = own.clone();
                    own.retain(|(own, _)| *own != role);
                    prop_assert_eq!((purged.purged, purged.kept), (before.len() - own.len(), own.len()));
                    if own.len() < before.len() {
                        done.push((session, before, own.len()));
                    }
                }
                SessionHandleStep::Delete(session) => {
                    let deleted = delete(messages, &name(session));
                    let Some(own) = model.remove(&session) else {
                        prop_assert!(deleted.is_err());
                        continue;
                    };
                    prop_assert_eq!(deleted.unwrap(), own.len());
                    done.push((session, own, 0));
                }
                SessionHandleStep::Undo => {
                    if let Some((session, before, left)) = done.pop() {
                        undo(messages, None).unwrap();
                        // Records appended since follow the restored ones.
                        model.entry(session).or_default().splice(..left, before);
                    } else {
                        prop_assert_eq!(undo(messages, None).unwrap_err().code(), Code::OperationNotFound);
                    }
                }
            }
            for messages in &handles {
                prop_assert_eq!(stored_records(messages), model_records(&model));
            }
        }
    }
}
