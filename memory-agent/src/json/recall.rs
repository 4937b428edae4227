//! The JSON of the recall ledger.

use std::collections::BTreeMap;

use memory_core::{MemoryRecalls, RecallList, RecallRecord, RecalledId, UnusedMemories};
use serde_json::{Map, Value, json};

use super::search::shortest_decimal;
use super::{add_field, time};

/// Returns the JSON of recalls, newest first: `{recalls, total, since?, enabled}`.
///
/// A recall is `{at, agent?, session?, project?, interface, tool, query?, memories, tokens}`, and `memories` is a list of `{id,
/// score?, parts?, title?}`; `parts` are the contributions to the score by name, and `title` is present if `titles` has it.
/// `since` is the time since which all recalls are recorded, and `enabled` is whether recalls are recorded at present.
pub fn recalls(list: &RecallList, titles: &BTreeMap<String, String>, is_enabled: bool) -> Value {
    let recalls: Vec<Value> = list
        .recalls
        .iter()
        .map(|recall| {
            let mut shape = recall_shape(recall);
            let memory = |memory: &RecalledId| {
                let mut shape =
                    Map::from_iter([("id".to_owned(), Value::from(memory.id.as_str()))]);
                add_score(&mut shape, memory);
                if let Some(title) = titles.get(&memory.id) {
                    shape.insert("title".into(), title.as_str().into());
                }
                Value::Object(shape)
            };
            shape.insert(
                "memories".into(),
                recall.memories.iter().map(memory).collect(),
            );
            Value::Object(shape)
        })
        .collect();
    list_shape(list, &recalls, is_enabled)
}

/// Returns the JSON of the recalls of one memory, newest first: `{id, title?, path?, deleted?, recalls, total, since?, enabled}`.
///
/// A recall is `{at, agent?, session?, project?, interface, tool, query?, rank, of, score?, parts?, tokens}`: the memory was at
/// place `rank`, from 1, of `of` memories. `path` is the previous path if `deleted` is true; a deleted memory that is no longer in
/// the trash has none. For the others see [`recalls`].
pub fn why(memory: &MemoryRecalls, is_enabled: bool) -> Value {
    let recalls = memory.list.recalls.iter().map(|recall| {
        let mut shape = recall_shape(recall);
        if let Some((rank, own)) = memory_rank(recall, &memory.id) {
            shape.insert("rank".into(), rank.into());
            shape.insert("of".into(), recall.memories.len().into());
            add_score(&mut shape, own);
        }
        Value::Object(shape)
    });
    let mut shape = json!({ "id": memory.id });
    if let Some(stored) = &memory.stored {
        shape["title"] = stored.memory.headline().into();
        shape["path"] = stored.path.as_str().into();
    } else {
        shape["deleted"] = true.into();
        add_field(&mut shape, "path", memory.deleted_path.as_deref());
    }
    let list = list_shape(&memory.list, &recalls.collect::<Vec<_>>(), is_enabled);
    if let (Value::Object(shape), Value::Object(list)) = (&mut shape, list) {
        shape.extend(list);
    }
    shape
}

/// Returns the JSON of unused memories: `{count, oldest: [{id, title, created_at}…]}`, or `{since?}` if the ledger is too young.
pub fn unused(unused: &UnusedMemories) -> Value {
    match unused {
        UnusedMemories::Unknown(None) => json!({}),
        UnusedMemories::Unknown(Some(since)) => json!({ "since": time::rfc3339(*since) }),
        UnusedMemories::Known { count, oldest } => {
            let oldest = oldest.iter().map(|stored| {
                let memory = &stored.memory;
                json!({ "id": memory.id.to_string(), "title": memory.headline(), "created_at": time::rfc3339(memory.created_at) })
            });
            json!({ "count": count, "oldest": oldest.collect::<Vec<_>>() })
        }
    }
}

/// Returns the place of a memory in a recall, starting at 1, and its scores.
pub fn memory_rank<'r>(recall: &'r RecallRecord, id: &str) -> Option<(usize, &'r RecalledId)> {
    recall
        .memories
        .iter()
        .enumerate()
        .find(|(_, memory)| memory.id == id)
        .map(|(at, memory)| (at + 1, memory))
}

fn recall_shape(recall: &RecallRecord) -> Map<String, Value> {
    let RecallRecord {
        at,
        agent,
        session,
        project,
        interface,
        tool,
        query,
        tokens,
        ..
    } = recall;
    let agent = Some(agent).filter(|agent| !agent.is_empty());
    let text = |text: Option<&String>| text.map(|text| Value::from(text.as_str()));
    let fields = [
        ("at", Some(time::rfc3339(*at).into())),
        ("agent", text(agent)),
        ("session", text(session.as_ref())),
        ("project", text(project.as_ref())),
        ("interface", text(Some(interface))),
        ("tool", text(Some(tool))),
        ("query", text(query.as_ref())),
        ("tokens", Some((*tokens).into())),
    ];
    fields
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

fn add_score(shape: &mut Map<String, Value>, memory: &RecalledId) {
    if let Some(score) = memory.score {
        shape.insert("score".into(), shortest_decimal(score).into());
    }
    if !memory.parts.is_empty() {
        let parts = memory
            .parts
            .iter()
            .map(|(name, score)| (name.clone(), shortest_decimal(*score).into()));
        shape.insert("parts".into(), Value::Object(parts.collect()));
    }
}

fn list_shape(list: &RecallList, recalls: &[Value], is_enabled: bool) -> Value {
    let mut shape = json!({ "recalls": recalls, "total": list.total });
    add_field(&mut shape, "since", list.since.map(time::rfc3339));
    shape["enabled"] = is_enabled.into();
    shape
}
