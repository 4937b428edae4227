//! Tests with two handles on topics.

use std::collections::BTreeMap;
use std::sync::Arc;

use memory_core::SecretPolicy;
use memory_core::testing::topics;
use memory_core::topic::{
    TopicKind, TopicWriteRequest, Topics, delete, last, list, read, undo, update, view, write,
};
use memory_store::topic::TopicFolder;
use proptest::collection::vec;
use proptest::prelude::*;

const NAMES: [&str; 3] = ["a", "b-c", "深色"];

#[derive(Debug, Clone)]
enum TopicHandleStep {
    Write(usize, String),
    Update(usize, String),
    Delete(usize),
    Undo,
}

fn any_step() -> impl Strategy<Value = TopicHandleStep> {
    prop_oneof![
        4 => (0..NAMES.len(), "[a-z深]{1,4}").prop_map(|(name, text)| TopicHandleStep::Write(name, text)),
        2 => (0..NAMES.len(), "[a-z]{1,3}").prop_map(|(name, text)| TopicHandleStep::Update(name, text)),
        2 => (0..NAMES.len()).prop_map(TopicHandleStep::Delete),
        2 => Just(TopicHandleStep::Undo),
    ]
}

/// Returns the text of each topic without its front matter.
fn stored_topics(topics: &Topics) -> BTreeMap<String, String> {
    let names: Vec<String> = list(topics)
        .unwrap()
        .topics
        .iter()
        .map(|topic| topic.name.stem().to_owned())
        .collect();
    let text = |name: &str| {
        read(topics, name)
            .unwrap()
            .text
            .rsplit("---\n")
            .next()
            .unwrap()
            .trim()
            .to_owned()
    };
    names
        .into_iter()
        .map(|name| (name.clone(), text(&name)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(memory_core::testing::extent(32, 512)))]

    #[test]
    fn two_handles_on_topics_hold_what_a_map_holds(steps in vec((0..2_usize, any_step()), 1..20)) {
        let home = tempfile::tempdir().unwrap();
        let open = || Arc::new(TopicFolder::new(home.path()));
        let (first, _) = topics(open());
        let handles = [first.clone(), Topics { store: open(), ..first }];
        let mut model = BTreeMap::<String, String>::new();
        let mut done = Vec::new();
        for (handle, step) in steps {
            let (topics, before) = (&handles[handle], model.clone());
            match step {
                TopicHandleStep::Write(name, text) => {
                    let request = TopicWriteRequest {
                        name: NAMES[name].parse().unwrap(),
                        title: None,
                        description: Some("x".into()),
                        kind: Some(TopicKind::Project),
                        content: Some(format!("[{text}]")),
                        secrets: SecretPolicy::Refuse,
                    };
                    write(topics, &request).unwrap();
                    if model.insert(NAMES[name].to_owned(), format!("[{text}]")).as_deref() != Some(&format!("[{text}]")) {
                        done.push(before);
                    }
                }
                TopicHandleStep::Update(name, text) => {
                    let updated = update(topics, NAMES[name], "]", &format!("{text}]"), SecretPolicy::Refuse);
                    let own = model.get_mut(NAMES[name]);
                    prop_assert_eq!(updated.is_ok(), own.is_some(), "{:?}", updated);
                    if let Some(own) = own {
                        *own = own.replace(']', &format!("{text}]"));
                        done.push(before);
                    }
                }
                TopicHandleStep::Delete(name) => {
                    let is_gone = delete(topics, NAMES[name]).is_ok();
                    prop_assert_eq!(is_gone, model.remove(NAMES[name]).is_some());
                    done.extend(is_gone.then_some(before));
                }
                TopicHandleStep::Undo => {
                    let record = last(topics).unwrap();
                    prop_assert_eq!(record.is_some(), !done.is_empty(), "{:?}", record);
                    if let (Some(record), Some(former)) = (record, done.pop()) {
                        undo(topics, record.operation.id.as_str()).unwrap();
                        model = former;
                    }
                }
            }
            for topics in &handles {
                prop_assert_eq!(&stored_topics(topics), &model);
                let index = view(topics).unwrap();
                for name in NAMES {
                    prop_assert_eq!(index.contains(&format!("({name}.md)")), model.contains_key(name), "{}", index);
                }
            }
        }
    }
}
