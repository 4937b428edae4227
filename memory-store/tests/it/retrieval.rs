//! How well memories in Chinese are found, on a test set of our own (see `chinese/README.md`).

use memory_core::{Draft, Exported, Filter, MemoryId, Query, Ranking, Secrets, import, search};
use memory_store::{FileStore, Options};
use serde_json::Value;

use crate::home::{Home, services};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn exported(note: &Value) -> Exported {
    let mut draft = Draft::new(note["text"].as_str().unwrap());
    draft.title = note["title"].as_str().map(str::to_owned);
    draft.tags = note["tags"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    draft.created_at = Some(format!("{}T12:00:00Z", note["day"].as_str().unwrap()).parse().unwrap());
    Exported {
        id: Some(MemoryId::of_path(note["id"].as_str().unwrap())),
        draft,
        updated_at: None,
        access_count: 0,
        links: Vec::new(),
        version: None,
        supersedes: Vec::new(),
        superseded_by: None,
    }
}

#[test]
fn what_is_meant_in_chinese_is_among_the_first_five() {
    let home = Home::new();
    let services = services(FileStore::open(home.path(), Options::default()).unwrap());
    let notes = lines(include_str!("chinese/notes.jsonl"));
    let kept = notes.iter().map(|note| Ok((String::new(), exported(note))));
    assert_eq!(import(&services, kept, Secrets::Refuse, &mut |_| ()).unwrap().skipped, []);
    let questions = lines(include_str!("chinese/questions.jsonl"));
    let (mut sum, mut missed) = (0.0, Vec::new());
    for question in &questions {
        let text = question["text"].as_str().unwrap();
        let gold: Vec<MemoryId> =
            question["gold"].as_array().unwrap().iter().map(|id| MemoryId::of_path(id.as_str().unwrap())).collect();
        let query = Query { text: text.into(), filter: Filter::default(), limit: 5, ranking: Ranking::default() };
        let found = search(&services, &query).unwrap();
        let hits = found.hits.iter().filter(|hit| gold.contains(&hit.stored.memory.id)).count();
        let recall = f64::from(u32::try_from(hits).unwrap()) / f64::from(u32::try_from(gold.len().min(5)).unwrap());
        sum += recall;
        if recall < 1.0 {
            missed.push(format!("{text} {recall:.2}"));
        }
    }
    let recall = sum / f64::from(u32::try_from(questions.len()).unwrap());
    println!("recall@5 {recall:.3}");
    assert!(0.95 <= recall, "recall@5 is {recall:.3}; not all of: {missed:#?}");
}
