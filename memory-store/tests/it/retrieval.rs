//! The quality of the search for Chinese memories, on a test set (see `chinese/README.md`).

use memory_core::{
    Draft, ExportedMemory, Filter, MemoryId, Query, Ranking, Scope, SecretPolicy, ShownMemories,
    build_context, import, search, write,
};
use memory_store::{FileStore, FileStoreOptions};
use serde_json::Value;

use crate::home::{TestHome, services};

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn exported(note: &Value) -> ExportedMemory {
    let mut draft = Draft::new(note["text"].as_str().unwrap());
    draft.title = note["title"].as_str().map(str::to_owned);
    draft.tags = note["tags"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    draft.created_at = Some(
        format!("{}T12:00:00Z", note["day"].as_str().unwrap())
            .parse()
            .unwrap(),
    );
    ExportedMemory {
        id: Some(MemoryId::for_path(note["id"].as_str().unwrap())),
        ..ExportedMemory::from(draft)
    }
}

#[test]
fn what_is_meant_in_chinese_is_among_the_first_five() {
    let home = TestHome::new();
    let services = services(FileStore::open(home.path(), FileStoreOptions::default()).unwrap());
    let notes = lines(include_str!("chinese/notes.jsonl"));
    let kept = notes.iter().map(|note| Ok((String::new(), exported(note))));
    assert_eq!(
        import(&services, kept, SecretPolicy::Refuse, &mut |_| ())
            .unwrap()
            .skipped,
        []
    );
    let questions = lines(include_str!("chinese/questions.jsonl"));
    let (mut sum, mut missed) = (0.0, Vec::new());
    for question in &questions {
        let text = question["text"].as_str().unwrap();
        let gold: Vec<MemoryId> = question["gold"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| MemoryId::for_path(id.as_str().unwrap()))
            .collect();
        let query = Query {
            text: text.into(),
            filter: Filter::default(),
            limit: 5,
            ranking: Ranking::default(),
        };
        let found = search(&services, &query).unwrap();
        let hits = found
            .hits
            .iter()
            .filter(|hit| gold.contains(&hit.stored.memory.id))
            .count();
        let recall = f64::from(u32::try_from(hits).unwrap())
            / f64::from(u32::try_from(gold.len().min(5)).unwrap());
        sum += recall;
        if recall < 1.0 {
            missed.push(format!("{text} {recall:.2}"));
        }
    }
    let recall = sum / f64::from(u32::try_from(questions.len()).unwrap());
    println!("recall@5 {recall:.3}");
    assert!(
        0.95 <= recall,
        "recall@5 is {recall:.3}; not all of: {missed:#?}"
    );
}

#[test]
fn a_context_contains_what_another_program_has_just_written() {
    let home = TestHome::new();
    let services = home.services();
    write(
        &services,
        Draft::new("The train to Oslo leaves at nine."),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let context = |prompt: &str| {
        build_context(
            &services,
            prompt,
            500,
            &ShownMemories::default(),
            &services.clock.now(),
        )
        .unwrap()
    };
    assert_eq!(context("the train to Oslo").standing, 0);
    std::fs::write(
        home.path().join("categories/inbox/units.md"),
        "Always answer in metric units.\n",
    )
    .unwrap();
    let first = context("the train to Oslo");
    assert!(
        first.standing == 1 && first.text.contains("Always answer in metric units."),
        "{}",
        first.text
    );
}

#[test]
fn what_was_said_next_answers_and_the_order_survives_the_index() {
    let home = TestHome::new();
    let services = services(FileStore::open(home.path(), FileStoreOptions::default()).unwrap());
    let turns = [
        ("Anna", "Good morning, did you sleep well?"),
        ("Ben", "Yes, thank you."),
        ("Anna", "Which tea do you like most for breakfast?"),
        ("Ben", "Oolong, without sugar."),
        (
            "Anna",
            "The tea for breakfast is in the kitchen, I like it.",
        ),
        ("Ben", "Thank you, see you later."),
    ];
    let talk = turns
        .iter()
        .map(|(speaker, text)| (*speaker, (*text).to_owned()));
    let smalltalk = (0..40).map(|number| {
        (
            "Ben",
            format!("And in room {number} there is nothing to see."),
        )
    });
    let kept = talk.chain(smalltalk).enumerate().map(|(number, (speaker, text))| {
        let mut exported = exported(&serde_json::json!({"id": format!("turn {number}"), "text": text, "day": "2026-05-07"}));
        exported.draft.source = speaker.to_owned();
        exported.draft.scope = Scope::Conversation("kitchen".into());
        Ok((String::new(), exported))
    });
    import(&services, kept, SecretPolicy::Refuse, &mut |_| ()).unwrap();
    let filter = Filter {
        scope: Some(Scope::Conversation("kitchen".into())),
        ..Filter::default()
    };
    let text = "Which tea does Ben like for breakfast?".to_owned();
    let query = Query {
        text,
        filter,
        limit: 10,
        ranking: Ranking::default(),
    };
    let answers = || {
        let found = search(&services, &query).unwrap();
        found
            .hits
            .into_iter()
            .map(|hit| (hit.stored.memory.content, hit.score.to_bits()))
            .collect::<Vec<_>>()
    };
    let before = answers();
    assert!(
        before
            .iter()
            .take(3)
            .any(|(text, _)| text.starts_with("Oolong")),
        "{before:#?}"
    );
    std::fs::remove_dir_all(home.path().join("index")).unwrap();
    assert_eq!(answers(), before);
}
