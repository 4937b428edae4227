//! Golden tests of JSON shapes: a change here is a change of the public format.

use chrono::{DateTime, TimeDelta, Utc};
use insta::assert_snapshot;
use memory_agent::json;
use memory_core::datetime::find_date;
use memory_core::rank::RankFeature;
use memory_core::{
    Budget, Category, ChangeOutcome, ChangedFiles, Code, ContentHash, Draft, FileVersion, Hit,
    InboxTtl, IngestReport, LinkCounts, LlmUsage, LogEntry, MemoryId, MemoryPage, MergedFields,
    MissingNote, NotifyError, NotifyReport, Operation, Origin, PeriodUsage, Phase, Problem,
    Purpose, RankFeatureScore, RecordedChange, RecordedFile, RemainingBudget, RemindReport,
    Reminder, RerankScore, ScoreExplanation, SearchResults, SessionCounts, SkippedFile,
    SpeakerRole, StoredMemory, Subject, TermScore, TrashedFile, Undone, Usage, Verb, WriteResult,
};
use serde_json::Value;

const ID: &str = "550e8400-e29b-41d4-a716-446655440000";
const OTHER: &str = "7f8d9e00-0000-4000-8000-000000000001";

fn moment(text: &str) -> DateTime<Utc> {
    text.parse().expect("a moment")
}

fn id(text: &str) -> MemoryId {
    text.parse().expect("an id")
}

fn stored() -> StoredMemory {
    let mut draft = Draft::new("user prefers dark mode");
    draft.category = Some(Category::Preferences);
    draft.tags = ["preference", "ui"].iter().collect();
    draft.source = "claude".into();
    let mut memory = draft.into_memory(id(ID), moment("2026-05-07T10:00:00Z"));
    memory.links.push(id(OTHER));
    memory.access_count = 3;
    let path = "categories/preferences/user-prefers-dark-mode-550e8400.md".to_owned();
    StoredMemory {
        memory,
        path,
        stamp: FileVersion(ContentHash::of("")),
        problem: None,
        other_fields: Vec::new(),
    }
}

fn full() -> StoredMemory {
    let mut stored = stored();
    let memory = &mut stored.memory;
    memory.title = Some("Dark mode".into());
    memory.aliases = vec!["theme".into()];
    memory.expires_at = Some(moment("2027-01-01T00:00:00Z"));
    memory.valid_from = Some(moment("2026-05-07T10:00:00.123456789Z"));
    memory.pinned = true;
    let due = moment("2026-06-01T09:00:00Z");
    memory.reminder = Some(Reminder {
        of: Some(memory.id),
        notified_at: Some(due),
        done_at: Some(due),
        ..Reminder::new(due)
    });
    memory.valid_until = Some(moment("2026-12-31T00:00:00Z"));
    memory.supersedes = vec![id(OTHER)];
    memory.superseded_by = Some(id(OTHER));
    let hash = Some(ContentHash::of("x"));
    memory.origin = Some(Origin {
        source: "obsidian".into(),
        root: "/v".into(),
        path: "a.md".into(),
        hash,
    });
    let (path, what) = (stored.path.clone(), "the tag list is not closed".to_owned());
    stored.problem = Some(Problem {
        code: Code::FileDamaged,
        path,
        line: Some(4),
        what,
        hint: Some("close it"),
    });
    stored
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("a value")
}

#[test]
fn a_memory_has_the_fields_of_the_specification() {
    assert_snapshot!(pretty(&json::memory(&stored(), InboxTtl::default())), @r#"
    {
      "id": "550e8400-e29b-41d4-a716-446655440000",
      "content": "user prefers dark mode",
      "content_hash": "058e6f30768bdcc4b10c6310b0b3084eaee94c6ba986b8bfef1df175b2af2058",
      "phase": "organized",
      "category": "preferences",
      "scope": "global",
      "tags": [
        "preference",
        "ui"
      ],
      "source": "claude",
      "created_at": "2026-05-07T10:00:00Z",
      "updated_at": "2026-05-07T10:00:00Z",
      "expires_at": null,
      "access_count": 3,
      "links": [
        "7f8d9e00-0000-4000-8000-000000000001"
      ],
      "version": 1,
      "path": "categories/preferences/user-prefers-dark-mode-550e8400.md"
    }
    "#);
}

#[test]
fn a_memory_says_the_rest_when_there_is_something_to_say() {
    assert_snapshot!(pretty(&json::memory(&full(), InboxTtl::default())), @r#"
    {
      "id": "550e8400-e29b-41d4-a716-446655440000",
      "content": "user prefers dark mode",
      "content_hash": "058e6f30768bdcc4b10c6310b0b3084eaee94c6ba986b8bfef1df175b2af2058",
      "phase": "organized",
      "category": "preferences",
      "scope": "global",
      "tags": [
        "preference",
        "ui"
      ],
      "source": "claude",
      "created_at": "2026-05-07T10:00:00Z",
      "updated_at": "2026-05-07T10:00:00Z",
      "expires_at": "2027-01-01T00:00:00Z",
      "access_count": 3,
      "links": [
        "7f8d9e00-0000-4000-8000-000000000001"
      ],
      "version": 1,
      "title": "Dark mode",
      "aliases": [
        "theme"
      ],
      "valid_from": "2026-05-07T10:00:00.123456789Z",
      "valid_until": "2026-12-31T00:00:00Z",
      "supersedes": [
        "7f8d9e00-0000-4000-8000-000000000001"
      ],
      "superseded_by": "7f8d9e00-0000-4000-8000-000000000001",
      "pinned": true,
      "due": "2026-06-01T09:00:00Z",
      "reminds": "550e8400-e29b-41d4-a716-446655440000",
      "notified_at": "2026-06-01T09:00:00Z",
      "done_at": "2026-06-01T09:00:00Z",
      "origin": {
        "source": "obsidian",
        "root": "/v",
        "path": "a.md",
        "hash": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
      },
      "path": "categories/preferences/user-prefers-dark-mode-550e8400.md",
      "problem": {
        "code": "FILE_DAMAGED",
        "path": "categories/preferences/user-prefers-dark-mode-550e8400.md",
        "line": 4,
        "what": "the tag list is not closed",
        "hint": "close it"
      }
    }
    "#);
}

#[test]
fn lists_name_their_memories() {
    let page = MemoryPage {
        memories: Vec::new(),
        total: 7,
        degraded: None,
    };
    assert_snapshot!(json::page(&page, InboxTtl::default()), @r#"{"memories":[],"total":7}"#);
    assert_snapshot!(json::memories(&[], InboxTtl::default()), @r#"{"memories":[]}"#);
}

#[test]
fn a_receipt_says_whether_something_new_was_kept() {
    let written = WriteResult {
        id: id(ID),
        path: "categories/inbox/a-550e8400.md".into(),
        created: true,
        expires_at: Some(moment("2026-05-14T10:00:00Z")),
        merged: MergedFields::default(),
        ignored: vec![],
        superseded: vec![],
    };
    assert_snapshot!(json::write_result(&written, &[]), @r#"{"id":"550e8400-e29b-41d4-a716-446655440000","path":"categories/inbox/a-550e8400.md","created":true,"expires_at":"2026-05-14T10:00:00Z"}"#);
    assert_snapshot!(json::delete_result(&stored()), @r#"{"id":"550e8400-e29b-41d4-a716-446655440000","path":"categories/preferences/user-prefers-dark-mode-550e8400.md"}"#);
}

#[test]
fn an_answer_explains_itself_only_when_asked() {
    let terms = vec![TermScore {
        term: "dark".into(),
        frequency: 1,
        documents: 4,
        idf: 2.1,
        score: 1.3,
    }];
    let parts = vec![RankFeatureScore {
        part: RankFeature::Words,
        value: 0.5,
        score: 1.25,
    }];
    let explanation = ScoreExplanation {
        parts,
        relevance: 0.75,
        is_part: false,
        is_turn: false,
        replaced_by: None,
        rerank: Some(RerankScore {
            score: 1.1,
            before: 0.25,
        }),
        cosine: Some(0.5),
        recency: 0.5,
        terms,
        length: 4,
        average_length: 20.5,
        documents: 9,
    };
    let hit = Hit {
        stored: stored(),
        score: 1.3,
        snippet: "user prefers dark mode".into(),
        marks: std::iter::once(13..17).collect(),
        explanation,
    };
    let found = SearchResults {
        hits: vec![hit],
        total: 1,
        ..SearchResults::default()
    };
    let mut plain = json::search_results(&found, false, InboxTtl::default());
    plain["hits"][0]["memory"] = Value::Null;
    assert_snapshot!(plain, @r#"{"hits":[{"memory":null,"score":1.3,"snippet":"user prefers dark mode"}],"total":1}"#);
    let degraded = SearchResults {
        degraded: Some("the index is being rebuilt".into()),
        ..found
    };
    let mut explained = json::search_results(&degraded, true, InboxTtl::default());
    explained["hits"][0]["memory"] = Value::Null;
    assert_snapshot!(explained, @r#"{"hits":[{"memory":null,"score":1.3,"snippet":"user prefers dark mode","explain":{"relevance":0.75,"rerank":{"score":1.1,"before":0.25},"cosine":0.5,"recency":0.5,"parts":[{"part":"words","value":0.5,"score":1.25}],"terms":[{"term":"dark","frequency":1,"documents":4,"idf":2.1,"score":1.3}],"length":4,"average_length":20.5,"documents":9}}],"total":1,"degraded":"the index is being rebuilt"}"#);
}

#[test]
fn a_report_of_taking_in_counts_notes_tags_and_links() {
    let skipped = |path: &str| {
        vec![SkippedFile {
            path: path.into(),
            reason: "it is not a string".into(),
        }]
    };
    let links = LinkCounts {
        stored: 4,
        resolved: 5,
        unresolved: 2,
        only_by_alias: 1,
        only_by_title: 0,
    };
    let missing = MissingNote {
        id: memory_core::MemoryId::for_path("c.md"),
        title: Some("Tea".into()),
        path: "c.md".into(),
        is_edited: false,
    };
    let report = IngestReport {
        new: 3,
        updated: 1,
        unchanged: 9,
        skipped: skipped("a.md"),
        warnings: skipped("b.md"),
        tags: 4,
        links,
        sessions: SessionCounts {
            new: 2,
            updated: 1,
            unchanged: 0,
            records: 40,
        },
        facts: 3,
        missing: vec![missing],
        deleted: 0,
    };
    assert_snapshot!(json::ingest_report("obsidian", &report), @r#"{"source":"obsidian","new":3,"updated":1,"unchanged":9,"skipped":[{"path":"a.md","reason":"it is not a string"}],"warnings":[{"path":"b.md","reason":"it is not a string"}],"tags":4,"links":{"resolved":5,"unresolved":2,"only_by_alias":1,"only_by_title":0,"stored":4},"sessions":{"new":2,"updated":1,"unchanged":0,"records":40},"facts":3,"missing":[{"id":"ad4fe2fe-d0fa-5c47-86c0-df224833b644","path":"c.md","title":"Tea","edited":false}],"deleted":0}"#);
}

#[test]
fn history_names_operations_files_and_the_trash() {
    let operation = |digits: u64| memory_core::OperationId::from_random(digits);
    let hash = ContentHash::of("x");
    let file = |path: &str, trash: Option<&str>| RecordedFile {
        path: path.into(),
        hash,
        trash: trash.map(Into::into),
    };
    let record = LogEntry {
        operation: Operation {
            id: operation(10),
            verb: Verb::Delete,
            by: "cli".into(),
            at: moment("2026-05-07T10:00:00Z"),
        },
        subject: Subject::Notes(ChangedFiles {
            count: 1,
            by_other: false,
        }),
        undoes: None,
        undone_by: Some(operation(11)),
    };
    assert_snapshot!(json::operations(std::slice::from_ref(&record)), @r#"{"operations":[{"operation":"00000000000a","at":"2026-05-07T10:00:00Z","verb":"delete","by":"cli","undone_by":"00000000000b","files":1}]}"#);
    let change = RecordedChange {
        id: id(ID),
        before: Some(file("a.md", Some("trash/a.md"))),
        after: None,
        why: Some("expired".into()),
    };
    assert_snapshot!(json::record(&record, &[change]), @r#"{"operation":"00000000000a","at":"2026-05-07T10:00:00Z","verb":"delete","by":"cli","undone_by":"00000000000b","files":1,"changes":[{"id":"550e8400-e29b-41d4-a716-446655440000","before":{"path":"a.md","hash":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881","trash":"trash/a.md"},"why":"expired"}]}"#);
    assert_snapshot!(json::undo_result(&Undone::new(record, operation(11))), @r#"{"operation":"00000000000b","undone":{"operation":"00000000000a","at":"2026-05-07T10:00:00Z","verb":"delete","by":"cli","undone_by":"00000000000b","files":1}}"#);
    let trashed = TrashedFile {
        id: id(ID),
        path: "a.md".into(),
        trash: "trash/2026-05/00000000000a/a.md".into(),
        operation: Operation {
            id: operation(10),
            verb: Verb::Delete,
            by: "cli".into(),
            at: moment("2026-05-07T10:00:00Z"),
        },
        size: 120,
    };
    assert_snapshot!(json::trashed_file(&trashed), @r#"{"id":"550e8400-e29b-41d4-a716-446655440000","path":"a.md","trash":"trash/2026-05/00000000000a/a.md","operation":"00000000000a","verb":"delete","by":"cli","at":"2026-05-07T10:00:00Z","size":120}"#);
    let outcome = ChangeOutcome::Kept {
        id: id(ID),
        path: "a.md".into(),
    };
    assert_snapshot!(json::restored_file(&trashed, &outcome), @r#"{"id":"550e8400-e29b-41d4-a716-446655440000","path":"a.md","trash":"trash/2026-05/00000000000a/a.md"}"#);
    assert_snapshot!(json::purge_result(1, 120), @r#"{"files":1,"bytes":120}"#);
}

#[test]
fn a_memory_of_the_inbox_shows_the_end_of_its_time_there_and_its_export_does_not() {
    let mut stored = stored();
    let of_a_day = InboxTtl(TimeDelta::days(1));
    assert_eq!(
        json::memory(&stored, of_a_day)["expires_at"],
        Value::Null,
        "it is organized"
    );
    stored.memory.phase = Phase::Inbox;
    assert_eq!(
        json::memory(&stored, of_a_day)["expires_at"],
        "2026-05-08T10:00:00Z"
    );
    assert_eq!(
        json::memories([&stored], of_a_day)["memories"][0]["expires_at"],
        "2026-05-08T10:00:00Z"
    );
    let page = MemoryPage {
        memories: vec![stored.clone()],
        total: 1,
        degraded: None,
    };
    assert_eq!(
        json::page(&page, of_a_day)["memories"][0]["expires_at"],
        "2026-05-08T10:00:00Z"
    );
    assert_eq!(json::memory_for_export(&stored)["expires_at"], Value::Null);
    stored.problem = full().problem;
    assert_eq!(
        json::memory(&stored, of_a_day)["expires_at"],
        Value::Null,
        "a damaged file is never changed"
    );
    let own = full();
    assert_eq!(
        json::memory_for_export(&own)["expires_at"],
        "2027-01-01T00:00:00Z"
    );
}

#[test]
fn an_export_is_read_back_as_it_was_written() {
    let stored = full();
    let exported =
        json::parse_exported(&json::memory_for_export(&stored).to_string()).expect("a memory");
    let draft = exported.draft;
    let memory = stored.memory;
    assert_eq!(exported.id, Some(memory.id));
    assert_eq!(
        (draft.content, draft.title, draft.aliases),
        (memory.content, memory.title, memory.aliases)
    );
    assert_eq!(
        (draft.category, draft.phase, draft.scope),
        (Some(memory.category), Some(memory.phase), memory.scope)
    );
    assert_eq!(
        (draft.tags, draft.source, draft.origin),
        (memory.tags, memory.source, memory.origin)
    );
    assert_eq!(
        (draft.created_at, exported.updated_at),
        (Some(memory.created_at), Some(memory.updated_at))
    );
    assert_eq!(
        (draft.valid_from, draft.valid_until),
        (memory.valid_from, memory.valid_until)
    );
    assert_eq!(
        (draft.pinned, draft.reminder),
        (memory.pinned, memory.reminder)
    );
    assert_eq!(
        (draft.expires_at, exported.version),
        (memory.expires_at, Some(memory.version))
    );
    assert_eq!(
        (exported.access_count, exported.links),
        (memory.access_count, memory.links)
    );
    assert_eq!(
        (exported.supersedes, exported.superseded_by),
        (memory.supersedes, memory.superseded_by)
    );
}

#[test]
fn a_memory_with_no_more_than_a_title_is_one() {
    let exported = json::parse_exported(r#"{"content":"","title":"Tea"}"#).expect("a memory");
    assert_eq!(
        (
            exported.draft.content.as_str(),
            exported.draft.title.as_deref()
        ),
        ("", Some("Tea"))
    );
    assert_eq!(
        json::parse_exported(r#"{"content":null,"title":"Tea"}"#),
        Err("it has no content".into())
    );
}

#[test]
fn an_unknown_role_of_an_export_is_that_of_a_program() {
    let role = |role: &str| {
        json::parse_exported(&format!(r#"{{"content":"x","role":{role}}}"#))
            .expect("a memory")
            .draft
            .role
    };
    assert_eq!(
        ["\"user\"", "\"Person\"", "\"human\""].map(role),
        [Some(SpeakerRole::Person); 3]
    );
    assert_eq!(
        ["\"system\"", "\"developer\"", "\"ChatGPT\""].map(role),
        [Some(SpeakerRole::Assistant); 3]
    );
    let machines = [
        "\"tool_result\"",
        "\"function_call\"",
        "\"ipython\"",
        "\"engineer\"",
        "7",
        "{}",
    ];
    assert_eq!(machines.map(role), [Some(SpeakerRole::Tool); 6]);
    assert_eq!(["null", "\"\""].map(role), [None; 2]);
}

#[test]
fn an_export_of_the_older_program_is_read_as_well() {
    let line = r#"{"ID":"550e8400-e29b-41d4-a716-446655440000","Content":"tea","ContentHash":"x","Phase":"inbox",
        "Category":"inbox","Scope":"agent:claude","Tags":null,"Source":"","CreatedAt":"2026-05-07T12:00:00+02:00",
        "UpdatedAt":"0001-01-01T00:00:00Z","ExpiresAt":null,"AccessCount":2,"Links":["note-1"],"Version":1,"Unknown":{}}"#;
    let exported = json::parse_exported(line).expect("a memory");
    assert_eq!(exported.id, Some(id(ID)));
    assert_eq!(exported.draft.scope.to_string(), "agent:claude");
    assert_eq!(
        exported.draft.created_at,
        Some(moment("2026-05-07T10:00:00Z"))
    );
    assert_eq!(exported.updated_at, None);
    assert_eq!(exported.access_count, 2);
    let named = json::parse_exported(r#"{"id":"note-1","content":"x"}"#).expect("a memory");
    assert_eq!(exported.links, [named.id.expect("an id")]);
}

#[test]
fn what_is_no_memory_says_why() {
    let reason = |line: &str| json::parse_exported(line).expect_err("no memory");
    assert_snapshot!(reason("[1]"), @"it is not a JSON object");
    assert_snapshot!(reason("{"), @"it is not JSON: EOF while parsing an object at line 1 column 1");
    assert_snapshot!(reason(r#"{"id":"x"}"#), @"it has no content");
    assert_snapshot!(reason(r#"{"content":7}"#), @"content is a number, not a text");
    assert_snapshot!(reason(r#"{"content":"x","created_at":"yesterday"}"#), @r#"created_at: "yesterday" is not a time in RFC 3339 format"#);
    assert_snapshot!(reason(r#"{"content":"x","version":-1}"#), @"version is -1, not an integer of at least 0");
    assert_snapshot!(reason(r#"{"content":"x","category":"weather"}"#), @r#"category: "weather" is not a category (soul, character, people, project, date, knowledge, feedback, preferences, decisions, lessons, habits, skills, inbox or reminders)"#);
}

#[test]
fn usage_is_told_by_day_and_purpose() {
    let day = |text: &str| text.parse().expect("a day");
    let spent = LlmUsage {
        calls: 2,
        prompt_tokens: 300,
        answer_tokens: 40,
    };
    let purposes = vec![(Purpose::of("classify"), spent)];
    let today = PeriodUsage {
        from: day("2026-05-07"),
        to: day("2026-05-07"),
        all: spent,
        purposes,
    };
    let lately = PeriodUsage {
        from: day("2026-04-08"),
        ..today.clone()
    };
    let budget = Budget {
        calls_a_day: None,
        tokens_a_day: Some(1_000),
    };
    let usage = Usage {
        budget,
        left: RemainingBudget {
            calls: None,
            tokens: Some(660),
        },
        today,
        lately,
        unreadable: 0,
    };
    let costs = |from: &str| {
        format!(
            r#"{{"from":"{from}","to":"2026-05-07","calls":2,"prompt_tokens":300,"answer_tokens":40,"tokens":340,"purposes":[{{"purpose":"classify","calls":2,"prompt_tokens":300,"answer_tokens":40,"tokens":340}}]}}"#
        )
    };
    let (today, lately) = (costs("2026-05-07"), costs("2026-04-08"));
    let amounts = r#""budget":{"calls":null,"tokens":1000},"left":{"calls":null,"tokens":660}"#;
    assert_eq!(
        json::usage(&usage, 4).to_string(),
        format!(r#"{{{amounts},"today":{today},"lately":{lately},"unreadable":0,"waiting":4}}"#)
    );
}

#[test]
fn reminders_tell_when_they_are_due_and_what_became_of_them() {
    let due = moment("2026-06-01T09:00:00Z");
    let mut stored = full();
    stored.memory = Draft {
        reminder: Some(Reminder::new(due)),
        ..Draft::new("call Anna")
    }
    .into_memory(id(ID), due);
    let reminded = RemindReport {
        stored: stored.clone(),
        created: true,
        assumed: Some("No time of the day is said.".into()),
        merged: MergedFields::default(),
        ignored: vec![],
    };
    assert_snapshot!(json::reminder(&reminded), @r#"{"id":"550e8400-e29b-41d4-a716-446655440000","path":"categories/preferences/user-prefers-dark-mode-550e8400.md","created":true,"due":"2026-06-01T09:00:00Z","assumed":"No time of the day is said."}"#);
    let failed = Some(NotifyError {
        why: "nobody looks".into(),
    });
    let notified = NotifyReport {
        failed,
        waiting: 2,
        ..NotifyReport::default()
    };
    assert_snapshot!(json::notification(&notified, "file", Some("there is no desktop"), false), @r#"{"shown":[],"waiting":2,"method":"file","instead":"there is no desktop","failed":"nobody looks","pending":false}"#);
    let notified = NotifyReport {
        shown: vec![stored],
        ..NotifyReport::default()
    };
    assert_eq!(
        json::notification(&notified, "file", None, true)["shown"][0]["due"],
        "2026-06-01T09:00:00Z"
    );
}

#[test]
fn a_reading_is_told_with_the_same_keys_whether_there_is_one_or_not() {
    let now = moment("2026-06-01T09:00:00Z");
    assert_snapshot!(json::time_expression(find_date("tea tomorrow at 5pm", &now).as_ref(), &[], None), @r#"{"text":"tomorrow at 5pm","at":"2026-06-02T17:00:00Z","span":[4,19],"kind":"datetime","relation":"future","repeats":false,"vague":false}"#);
    assert_snapshot!(json::time_expression(None, &[], None), @r#"{"text":null,"at":null,"span":null,"kind":null,"relation":null,"repeats":false,"vague":false}"#);
}
