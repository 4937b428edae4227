//! The tools as agents see them: lists, results, hooks and events.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Datelike, FixedOffset, Utc};
use memory_agent::event::Event;
use memory_agent::hook::{Hook, HookEvent, HookOutcome, HookPoint};
use memory_agent::{Agent, HookList, Session, batch, tools};
use memory_core::testing::{CountingIds, FakeClock, services};
use memory_core::text::token_count;
use memory_core::{AnswerDetail, Clock, Code, MemStore, Services, View};
use serde_json::{Value, json};

fn agent(hooks: HookList) -> Arc<Agent> {
    Agent::builder(services(Arc::new(MemStore::default())))
        .hooks(hooks)
        .build()
        .expect("no name is taken twice")
}

fn session_for(agent: &Arc<Agent>, name: &str) -> Session {
    Session::begin(
        agent,
        &View {
            agent: name.parse().ok(),
            project: None,
            ..View::default()
        },
    )
}

fn call(session: &Session, tool: &str, parameters: Value) -> Value {
    session
        .call(tool, parameters)
        .unwrap_or_else(|error| panic!("{tool}: {error}"))
}

#[test]
fn the_usual_listing_is_short() {
    let agent = agent(HookList::new());
    let listed: Vec<Value> = agent
        .listed_tools()
        .map(|tool| json!({ "name": tool.name(), "description": tool.description(), "inputSchema": tool.parameters() }))
        .collect();
    let names: Vec<&str> = agent.listed_tools().map(memory_core::Tool::name).collect();
    assert_eq!(names, tools::DEFAULT);
    // The topic tools are only included if they are selected.
    assert_eq!(agent.callable_tools().count(), tools::all().len() - 6);
    let tokens = token_count(&json!({ "tools": listed }).to_string());
    assert!(tokens < 1_450, "{tokens} tokens");
}

#[test]
fn days_in_a_query_are_those_of_the_season_of_the_day() {
    let store = Arc::new(MemStore::default());
    let ids = Arc::new(CountingIds::default());
    let session_at = |now: &str| {
        let now: DateTime<Utc> = now.parse().expect("a time");
        let clock = FakeClock::default();
        clock.advance(now - clock.now());
        let services = Services {
            clock: Arc::new(clock),
            ids: Arc::clone(&ids) as _,
            ..services(Arc::clone(&store))
        };
        let agent = Agent::builder(services)
            .local_time(Arc::new(|at: DateTime<Utc>| {
                let hours = if (4..=10).contains(&at.month()) { 2 } else { 1 };
                at.with_timezone(&FixedOffset::east_opt(hours * 3600).expect("an offset"))
            }))
            .build()
            .expect("no name is taken twice");
        session_for(&agent, "claude")
    };
    for written in ["2026-06-30T22:30:00Z", "2026-07-01T22:30:00Z"] {
        call(
            &session_at(written),
            "memory_write",
            json!({ "content": format!("the kettle of {written}") }),
        );
    }
    let winter = session_at("2026-11-29T12:00:00Z").with_detail(AnswerDetail::Brief);
    let full = session_at("2026-11-29T12:00:00Z");
    for (query, total) in [
        ("kettle from:2026-07-01 to:2026-07-01", 1),
        ("kettle to:2026-06-30", 0),
    ] {
        for session in [&winter, &full] {
            let found = call(session, "memory_search", json!({ "query": query }));
            assert_eq!(found["total"], total, "{query}: {found}");
        }
    }
    // The day in a sentence comes first and excludes no other.
    for (query, first) in [
        ("kettle on July 1", "2026-06-30T22:30"),
        ("kettle on July 2", "2026-07-01T22:30"),
    ] {
        let found = call(&winter, "memory_search", json!({ "query": query }));
        let text = found["hits"][0]["text"].as_str().expect("a text");
        assert!(text.contains(first) && found["total"] == 2, "{found}");
    }
}

#[test]
fn a_brief_list_continues_behind_the_last_shown_memory_after_deletions() {
    let session = session_for(&agent(HookList::new()), "claude").with_detail(AnswerDetail::Brief);
    // The clock of the test gives all memories one creation time, as an import may.
    for number in 0..7 {
        call(
            &session,
            "memory_write",
            json!({ "content": format!("note {number}") }),
        );
    }
    let texts = |answer: &Value| -> Vec<String> {
        let memories = answer["memories"].as_array().expect("a list").iter();
        memories
            .map(|memory| memory["text"].as_str().expect("a text").to_owned())
            .collect()
    };
    let (mut seen, mut parameters) = (Vec::new(), json!({ "limit": 2 }));
    loop {
        let page = call(&session, "memory_list", parameters.clone());
        seen.extend(texts(&page));
        for memory in page["memories"].as_array().expect("a list") {
            call(&session, "memory_delete", json!({ "id": memory["id"] }));
        }
        let Some(cursor) = page.get("cursor") else {
            break;
        };
        parameters["cursor"] = cursor.clone();
    }
    seen.sort();
    assert_eq!(
        seen,
        (0..7)
            .map(|number| format!("note {number}"))
            .collect::<Vec<_>>()
    );
}

#[test]
fn the_last_change_of_a_memory_is_undone_and_later_changes_of_others_stay() {
    let agent = agent(HookList::new());
    let session = session_for(&agent, "claude").with_detail(AnswerDetail::Brief);
    let id = call(
        &session,
        "memory_write",
        json!({ "content": "The kettle is in the kitchen" }),
    )["id"]
        .clone();
    call(
        &session,
        "memory_update",
        json!({ "id": id, "old": "kitchen", "new": "hall" }),
    );
    call(&session, "memory_delete", json!({ "id": id }));
    let other = call(
        &session,
        "memory_write",
        json!({ "content": "Tea is at nine" }),
    )["id"]
        .clone();
    let read = |id: &Value| call(&session, "memory_read", json!({ "id": id }))["text"].clone();
    let refused = session
        .call("memory_read", json!({ "id": id }))
        .expect_err("it is deleted");
    assert_eq!(
        refused
            .hint
            .as_deref()
            .map(|hint| hint.contains("memory_undo with this id restores it")),
        Some(true)
    );
    assert_eq!(
        call(&session, "memory_undo", json!({ "id": id }))["undone"],
        "delete"
    );
    assert_eq!(
        (read(&id), read(&other)),
        (json!("The kettle is in the hall"), json!("Tea is at nine"))
    );
    assert_eq!(
        call(&session, "memory_undo", json!({ "id": id }))["undone"],
        "update"
    );
    assert_eq!(read(&id), "The kettle is in the kitchen");
    let stranger = session_for(&agent, "codex");
    let refused = stranger
        .call("memory_undo", json!({ "id": id }))
        .expect_err("the operations are not its own");
    assert_eq!(refused.code, Code::OperationNotFound);
}

#[test]
fn an_update_changes_fields_and_the_text_in_one_operation() {
    let session = session_for(&agent(HookList::new()), "claude").with_detail(AnswerDetail::Brief);
    let id = call(
        &session,
        "memory_write",
        json!({ "content": "We deploy on Monday" }),
    )["id"]
        .clone();
    let changes = json!({ "id": id, "old": "Monday", "new": "Tuesday", "category": "Decision", "pinned": true });
    let updated = call(&session, "memory_update", changes);
    assert_eq!(
        (&updated["category"], &updated["pinned"], &updated["was"]),
        (&json!("decisions"), &json!(true), &json!("Monday"))
    );
    call(&session, "memory_undo", json!({}));
    let read = call(&session, "memory_read", json!({ "id": id }));
    assert_eq!(
        (&read["text"], read.get("category"), read.get("pinned")),
        (&json!("We deploy on Monday"), None, None)
    );
    for wrong in [
        json!({}),
        json!({ "old": "a" }),
        json!({ "old": "a", "new": "b", "content": "c" }),
    ] {
        let mut parameters = wrong.clone();
        parameters["id"] = id.clone();
        assert_eq!(
            session
                .call("memory_update", parameters)
                .expect_err("refused")
                .code,
            Code::InvalidInput,
            "{wrong}"
        );
    }
}

#[test]
fn a_search_with_a_budget_leaves_out_hits_that_exceed_it() {
    let session = session_for(&agent(HookList::new()), "claude");
    for number in 0..20 {
        call(
            &session,
            "memory_write",
            json!({ "content": format!("tea number {number}, {}", "leaf ".repeat(40)) }),
        );
    }
    let search = |budget: u32| {
        call(
            &session,
            "memory_search",
            json!({ "query": "tea", "budget": budget }),
        )
    };
    let (small, large) = (search(1_000), search(100_000));
    assert_eq!(
        (large["hits"].as_array().map(Vec::len), &large["total"]),
        (Some(20), &json!(20))
    );
    assert_eq!(small["total"], 20);
    assert_eq!(
        small["hits"][0]["memory"]["id"],
        large["hits"][0]["memory"]["id"]
    );
    assert!(token_count(&small["hits"].to_string()) <= 1_000);
}

#[test]
fn schemas_are_what_programs_rely_on() {
    let lines = tools::all().into_iter().map(|tool| {
        format!(
            "{} {:?}\n  {}",
            tool.name(),
            tool.effect(),
            tool.parameters()
        )
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    memory_write Adds
      {"type":"object","additionalProperties":false,"properties":{"content":{"type":"string"},"title":{"type":"string"},"category":{"type":"string","description":"soul: identity, values; character: traits, style; date: schedules; knowledge: technical facts; feedback: suggestions; lessons: gotchas; habits: routines; inbox, the default: unsorted, expires","enum":["soul","character","people","project","date","knowledge","feedback","preferences","decisions","lessons","habits","skills","inbox","reminders"]},"tags":{"type":"array","items":{"type":"string"}},"scope":{"type":"string","description":"global (default), project (only there) or agent"},"source":{"type":"string"},"expires":{"type":"string","description":"date"},"pinned":{"type":"boolean","description":"never expires"},"supersedes":{"type":"array","items":{"type":"string"},"description":"ids of memories that are no longer true"}},"required":["content"]}
    memory_read Reads
      {"type":"object","additionalProperties":false,"properties":{"id":{"type":"string"},"budget":{"type":"integer","description":"tokens, 200-8000"},"cursor":{"type":"string"}},"required":["id"]}
    memory_delete Changes
      {"type":"object","additionalProperties":false,"properties":{"id":{"type":"string"}},"required":["id"]}
    memory_list Reads
      {"type":"object","additionalProperties":false,"properties":{"limit":{"type":"integer","minimum":1,"default":20},"budget":{"type":"integer","description":"tokens, 200-8000"},"cursor":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"category":{"type":"string","description":"as in memory_write"},"scope":{"type":"string","description":"global, project or agent"},"phase":{"type":"string","description":"inbox: new, unsorted","enum":["inbox","organized"]},"source":{"type":"string","description":"program that wrote it"},"from":{"type":"string","description":"YYYY-MM-DD"},"to":{"type":"string"}}}
    memory_search Reads
      {"type":"object","additionalProperties":false,"properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"default":10},"budget":{"type":"integer","description":"tokens, 200-8000"},"cursor":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"category":{"type":"string","description":"as in memory_write"},"scope":{"type":"string","description":"global, project or agent"},"phase":{"type":"string","description":"inbox: new, unsorted","enum":["inbox","organized"]},"source":{"type":"string","description":"program that wrote it"},"from":{"type":"string","description":"YYYY-MM-DD"},"to":{"type":"string"}},"required":["query"]}
    memory_tag Changes
      {"type":"object","additionalProperties":false,"properties":{"id":{"type":"string"},"add":{"type":"array","items":{"type":"string"}},"remove":{"type":"array","items":{"type":"string"}}},"required":["id"]}
    memory_smart_search Reads
      {"type":"object","additionalProperties":false,"properties":{"query":{"type":"string","minLength":1},"tags":{"type":"array","items":{"type":"string"}},"limit":{"type":"integer","minimum":1,"default":10}},"required":["query"]}
    memory_update Changes
      {"type":"object","additionalProperties":false,"properties":{"id":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"},"content":{"type":"string"},"category":{"type":"string"},"scope":{"type":"string"},"pinned":{"type":"boolean"},"title":{"type":"string"},"tags":{"type":"array","items":{"type":"string"},"description":"all tags"},"supersedes":{"type":"array","items":{"type":"string"},"description":"ids of memories that are no longer true"},"expires":{"type":"string","description":"or never"},"version":{"type":"integer","description":"as read, to detect other changes"}},"required":["id"]}
    memory_remind Adds
      {"type":"object","additionalProperties":false,"properties":{"content":{"type":"string","description":"call Anna tomorrow at 3pm"},"at":{"type":"string","description":"time, if content names none"},"id":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"scope":{"type":"string"}}}
    memory_reminders Reads
      {"type":"object","additionalProperties":false,"properties":{"which":{"type":"string","enum":["open","due","all"],"default":"open"},"limit":{"type":"integer","minimum":1,"default":20},"cursor":{"type":"string"}}}
    memory_done Changes
      {"type":"object","additionalProperties":false,"properties":{"id":{"type":"string"},"series":{"type":"boolean","description":"end a recurring reminder"}},"required":["id"]}
    memory_context Reads
      {"type":"object","additionalProperties":false,"properties":{"query":{"type":"string"},"budget":{"type":"integer","minimum":1,"description":"maximum number of tokens","maximum":100000,"default":2000}}}
    memory_link Changes
      {"type":"object","additionalProperties":false,"properties":{"id":{"type":"string"},"target":{"type":"string"}},"required":["id","target"]}
    memory_backlinks Reads
      {"type":"object","additionalProperties":false,"properties":{"id":{"type":"string"},"budget":{"type":"integer","description":"tokens, 200-8000"},"cursor":{"type":"string"}},"required":["id"]}
    memory_undo Changes
      {"type":"object","additionalProperties":false,"properties":{"id":{"type":"string"}}}
    bank_read Reads
      {"type":"object","additionalProperties":false,"properties":{"bank":{"type":"string","description":"Memory bank name"},"key":{"type":"string","description":"Key to read (optional, reads all if omitted)"},"scope":{"type":"string","enum":["user","project"]},"default":{"description":"Default value if key not found"}},"required":["bank"]}
    bank_write Changes
      {"type":"object","additionalProperties":false,"properties":{"bank":{"type":"string"},"key":{"type":"string"},"value":{"description":"Value to store (any JSON)"},"scope":{"type":"string","enum":["user","project"]},"ttl":{"type":"integer","minimum":0,"description":"TTL in seconds"}},"required":["bank","key","value"]}
    bank_update Changes
      {"type":"object","additionalProperties":false,"properties":{"bank":{"type":"string"},"key":{"type":"string"},"filter":{"type":"string","description":"jq filter to apply"},"scope":{"type":"string","enum":["user","project"]}},"required":["bank","key","filter"]}
    bank_delete Changes
      {"type":"object","additionalProperties":false,"properties":{"bank":{"type":"string"},"key":{"type":"string","description":"Key to delete (omit to delete entire bank)"},"scope":{"type":"string","enum":["user","project"]}},"required":["bank"]}
    bank_list Reads
      {"type":"object","additionalProperties":false,"properties":{"bank":{"type":"string","description":"Bank to list keys from (omit to list banks)"},"scope":{"type":"string","enum":["user","project","all"]}}}
    bank_query Reads
      {"type":"object","additionalProperties":false,"properties":{"bank":{"type":"string"},"key":{"type":"string"},"filter":{"type":"string","description":"jq filter expression"},"scope":{"type":"string","enum":["user","project"]}},"required":["bank","filter"]}
    bank_search Reads
      {"type":"object","additionalProperties":false,"properties":{"pattern":{"type":"string","description":"Search pattern (regex)"},"search_values":{"type":"boolean","description":"Search in values too"},"scope":{"type":"string","enum":["user","project","all"]}},"required":["pattern"]}
    topic_view Reads
      {"type":"object","additionalProperties":false,"properties":{"target":{"type":"string","enum":["index","files"],"default":"index"}}}
    topic_read Reads
      {"type":"object","additionalProperties":false,"properties":{"filename":{"type":"string","minLength":1}},"required":["filename"]}
    topic_write Changes
      {"type":"object","additionalProperties":false,"properties":{"filename":{"type":"string","description":"such as user_prefs.md","minLength":1},"name":{"type":"string","description":"title of the topic","minLength":1},"description":{"type":"string","description":"one line for the index","minLength":1},"memory_type":{"type":"string","enum":["user","feedback","project","reference"]},"content":{"type":"string","description":"Markdown, without front matter"}},"required":["filename","name","description","memory_type","content"]}
    topic_update Changes
      {"type":"object","additionalProperties":false,"properties":{"filename":{"type":"string","minLength":1},"old_text":{"type":"string","minLength":1},"new_text":{"type":"string"}},"required":["filename","old_text","new_text"]}
    topic_delete Changes
      {"type":"object","additionalProperties":false,"properties":{"filename":{"type":"string","minLength":1}},"required":["filename"]}
    memory Changes
      {"type":"object","additionalProperties":false,"properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","delete","rename"]},"path":{"type":"string","description":"all commands but rename: /memories, or a file or folder below it"},"view_range":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2,"description":"view: the first and last line, from 1; -1 is the end"},"file_text":{"type":"string","description":"create: the content of the file"},"old_str":{"type":"string","description":"str_replace: text that occurs exactly once in the file"},"new_str":{"type":"string","description":"str_replace: the replacement"},"insert_line":{"type":"integer","description":"insert: number of the line after which the text is inserted; 0 is the start"},"insert_text":{"type":"string","description":"insert: the text to insert"},"old_path":{"type":"string","description":"rename: the current path"},"new_path":{"type":"string","description":"rename: the new path"}},"required":["command"]}
    "#);
}

#[test]
fn each_tool_does_what_it_says() {
    let agent = agent(HookList::new());
    let session = session_for(&agent, "claude");
    let tea = call(
        &session,
        "memory_write",
        json!({ "content": "Anna drinks green tea", "tags": ["tea"], "category": "people" }),
    );
    let cup = call(
        &session,
        "memory_write",
        json!({ "content": "The blue cup is Anna's" }),
    );
    let (tea, cup) = (
        tea["id"].as_str().expect("an id"),
        cup["id"].as_str().expect("an id"),
    );
    let read = call(&session, "memory_read", json!({ "id": tea }));
    assert_eq!(
        (&read["content"], &read["source"]),
        (&json!("Anna drinks green tea"), &json!("claude"))
    );
    assert_eq!(
        call(&session, "memory_list", json!({ "category": "people" }))["total"],
        1
    );
    assert_eq!(
        call(
            &session,
            "memory_search",
            json!({ "query": "green", "tags": ["tea"] })
        )["hits"][0]["memory"]["id"],
        tea
    );
    let smart = call(
        &session,
        "memory_smart_search",
        json!({ "query": "what does Anna drink since 2020" }),
    );
    assert_eq!(
        (&smart["total"], &smart["understood"]["query"]),
        (&json!(2), &json!("what does Anna drink"))
    );
    assert_eq!(
        call(
            &session,
            "memory_tag",
            json!({ "id": tea, "add": ["drink"] })
        )["tags"],
        json!(["tea", "drink"])
    );
    let revised = call(
        &session,
        "memory_update",
        json!({ "id": tea, "old": "green", "new": "black", "version": 2 }),
    );
    assert_eq!(
        (&revised["content"], &revised["version"]),
        (&json!("Anna drinks black tea"), &json!(3))
    );
    let error = session.call(
        "memory_update",
        json!({ "id": tea, "old": "black", "new": "white", "version": 2 }),
    );
    assert_eq!(error.expect_err("it is of version 3").code, Code::Conflict);
    call(
        &session,
        "memory_link",
        json!({ "source": tea, "target": cup }),
    );
    assert_eq!(
        call(&session, "memory_backlinks", json!({ "id": cup }))["memories"][0]["id"],
        tea
    );
    let context = call(&session, "memory_context", json!({ "query": "Anna" }));
    assert!(
        context["context"]
            .as_str()
            .expect("a text")
            .contains("Anna drinks black tea"),
        "{context}"
    );
    assert_eq!(
        call(&session, "memory_context", json!({ "query": "Anna" }))["memories"],
        json!([]),
        "it was given already"
    );
    call(&session, "memory_delete", json!({ "id": cup }));
    assert_eq!(
        session
            .call("memory_read", json!({ "id": cup }))
            .expect_err("it is missing")
            .code,
        Code::MemoryNotFound
    );
    assert_eq!(
        call(&session, "memory_undo", json!({}))["undone"]["verb"],
        "delete"
    );
    assert_eq!(
        call(&session, "memory_read", json!({ "id": cup }))["content"],
        "The blue cup is Anna's"
    );
}

#[test]
fn reminders_are_made_listed_and_done() {
    let agent = agent(HookList::new());
    let session = session_for(&agent, "claude");
    let made = call(
        &session,
        "memory_remind",
        json!({ "text": "call Anna tomorrow at 3pm", "tags": ["phone"] }),
    );
    assert!(
        made["created"] == true
            && made["due"]
                .as_str()
                .is_some_and(|due| due.contains("T15:00")),
        "{made}"
    );
    let at = call(
        &session,
        "memory_remind",
        json!({ "text": "给安娜打电话", "at": "2099-01-02T10:00:00+08:00" }),
    );
    assert_eq!(at["due"], "2099-01-02T02:00:00Z");
    let note = call(
        &session,
        "memory_write",
        json!({ "content": "Bob moves to Lisbon" }),
    );
    let of = call(
        &session,
        "memory_remind",
        json!({ "of": note["id"], "at": "明天下午三点" }),
    );
    let listed = call(&session, "memory_reminders", json!({}));
    assert_eq!(
        (&listed["total"], &listed["memories"][0]["source"]),
        (&json!(3), &json!("claude"))
    );
    assert!(call(&session, "memory_done", json!({ "id": of["id"] }))["done_at"].is_string());
    assert_eq!(call(&session, "memory_reminders", json!({}))["total"], 2);
    assert_eq!(
        call(&session, "memory_reminders", json!({ "which": "all" }))["total"],
        3
    );
    assert_eq!(
        call(&session, "memory_reminders", json!({ "which": "due" }))["total"],
        0
    );
    for (wrong, code) in [
        (json!({ "text": "call Anna" }), Code::InvalidInput),
        (json!({ "text": "call Anna yesterday" }), Code::InvalidInput),
        (json!({}), Code::InvalidInput),
        (
            json!({ "text": "call Anna tomorrow", "of": note["id"] }),
            Code::InvalidInput,
        ),
        (
            json!({ "of": note["id"], "at": "tomorrow", "scope": "agent:claude" }),
            Code::InvalidInput,
        ),
        (
            json!({ "of": "ffffffff", "at": "tomorrow" }),
            Code::MemoryNotFound,
        ),
    ] {
        assert_eq!(
            session
                .call("memory_remind", wrong.clone())
                .expect_err("no reminder")
                .code,
            code,
            "{wrong}"
        );
    }
    assert_eq!(
        session
            .call("memory_done", json!({ "id": note["id"] }))
            .expect_err("no reminder")
            .code,
        Code::InvalidInput
    );
}

#[test]
fn a_text_of_the_category_of_reminders_becomes_one_or_says_why_not() {
    let agent = agent(HookList::new());
    let session = session_for(&agent, "claude");
    let write = |text: &str| {
        call(
            &session,
            "memory_write",
            json!({ "content": text, "category": "reminders" }),
        )
    };
    for text in [
        "pay rent tomorrow",
        "明天下午三点交房租",
        "pay rent every Friday at 9am",
    ] {
        let answer = write(text);
        assert!(
            answer["due"].is_string() && answer.get("warning").is_none(),
            "{answer}"
        );
    }
    let answer = write("pay rent");
    assert_eq!(answer["created"], true);
    assert_eq!(
        answer["warning"],
        "the text contains no time, so this is not a reminder; memory_remind with `id` and `at` turns it into a reminder"
    );
    assert_eq!(call(&session, "memory_reminders", json!({}))["total"], 3);
}

#[test]
fn no_tool_tells_one_agent_of_anothers_memory() {
    let agent = agent(HookList::new());
    let (claude, codex) = (session_for(&agent, "claude"), session_for(&agent, "codex"));
    let written = call(
        &claude,
        "memory_write",
        json!({ "content": "hidden tea", "scope": "agent:claude" }),
    );
    let id = written["id"].clone();
    let asked = [
        ("memory_read", json!({ "id": id })),
        ("memory_delete", json!({ "id": id })),
        ("memory_tag", json!({ "id": id, "add": ["x"] })),
        (
            "memory_update",
            json!({ "id": id, "old": "hidden", "new": "shown" }),
        ),
        ("memory_link", json!({ "source": id, "target": id })),
        ("memory_backlinks", json!({ "id": id })),
        ("memory_done", json!({ "id": id })),
        ("memory_remind", json!({ "of": id, "at": "tomorrow" })),
    ];
    for (tool, parameters) in asked {
        assert_eq!(
            codex.call(tool, parameters).expect_err(tool).code,
            Code::MemoryNotFound,
            "{tool}"
        );
    }
    for (tool, parameters) in [
        ("memory_list", json!({})),
        ("memory_list", json!({ "scope": "agent:claude" })),
        ("memory_search", json!({ "query": "hidden" })),
        ("memory_smart_search", json!({ "query": "hidden" })),
    ] {
        assert_eq!(call(&codex, tool, parameters)["total"], 0, "{tool}");
    }
    assert_eq!(
        call(&codex, "memory_context", json!({ "query": "hidden tea" }))["context"],
        ""
    );
    let refused = codex
        .call(
            "memory_write",
            json!({ "content": "x", "scope": "agent:claude" }),
        )
        .expect_err("not its own");
    assert_eq!(refused.code, Code::ScopeRefused);
    assert_eq!(
        codex
            .call("memory_undo", json!({}))
            .expect_err("it did nothing")
            .code,
        Code::OperationNotFound
    );
    assert_eq!(
        call(&claude, "memory_read", json!({ "id": id }))["content"],
        "hidden tea"
    );
}

#[test]
fn what_is_asked_wrongly_is_refused_with_the_field_that_is_wrong() {
    let agent = agent(HookList::new());
    let session = session_for(&agent, "claude");
    let refused = |tool: &str, parameters: Value| {
        let error = session.call(tool, parameters).expect_err(tool);
        format!("{} {}", error.code, error.message)
    };
    assert_eq!(
        refused("memory_fly", json!({})),
        "TOOL_NOT_FOUND no tool is named memory_fly"
    );
    assert_eq!(
        refused("memory_write", json!({})),
        "INVALID_INPUT the field content is missing"
    );
    assert_eq!(
        refused("memory_write", json!({ "content": "a", "colour": 1 })),
        "INVALID_INPUT unknown field colour"
    );
    assert_eq!(
        refused("memory_search", json!({ "query": 7 })),
        "INVALID_INPUT query: 7 is not of type \"string\""
    );
    assert_eq!(
        refused("memory_search", json!(["tea"])),
        "INVALID_INPUT [\"tea\"] is not of type \"object\""
    );
    assert_eq!(
        refused("memory_list", json!({ "from": "soon" })),
        "INVALID_INPUT from: \"soon\" is not a time"
    );
    let key = concat!("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a");
    assert!(refused("memory_write", json!({ "content": key })).starts_with("SECRET_FOUND"));
}

/// A hook that calls a function.
#[derive(Debug)]
struct FunctionHook(fn(&HookEvent) -> Result<HookOutcome, String>);

impl Hook for FunctionHook {
    fn name(&self) -> String {
        "told".into()
    }

    fn run(&self, occasion: &HookEvent) -> Result<HookOutcome, String> {
        (self.0)(occasion)
    }
}

fn agent_with_hook(
    point: HookPoint,
    answer: fn(&HookEvent) -> Result<HookOutcome, String>,
) -> Arc<Agent> {
    agent(vec![(point, Arc::new(FunctionHook(answer)))])
}

#[test]
fn a_hook_may_block_a_call_or_change_what_goes_in_and_out() {
    let blocks = agent_with_hook(HookPoint::BeforeToolCall, |_| {
        Ok(HookOutcome::Block("not on Sundays".into()))
    });
    let error = session_for(&blocks, "a")
        .call("memory_list", json!({}))
        .expect_err("it is blocked");
    assert_eq!(
        (error.code, error.message.as_str()),
        (
            Code::CallBlocked,
            "the hook told blocked the call: not on Sundays"
        )
    );
    let changes = agent_with_hook(HookPoint::BeforeToolCall, |_| {
        Ok(HookOutcome::Parameters(json!({ "content": "changed" })))
    });
    let session = session_for(&changes, "a");
    let id = call(&session, "memory_write", json!({ "content": "given" }))["id"].clone();
    assert_eq!(
        changes
            .services()
            .store
            .get(&id.as_str().unwrap().parse().unwrap())
            .unwrap()
            .memory
            .content,
        "changed"
    );
    let hides = agent_with_hook(HookPoint::AfterToolCall, |_| {
        Ok(HookOutcome::Result(json!("nothing to see")))
    });
    assert_eq!(
        call(&session_for(&hides, "a"), "memory_list", json!({})),
        "nothing to see"
    );
}

#[test]
fn a_hook_that_panics_fails_its_call_alone() {
    let agent = agent_with_hook(HookPoint::BeforeToolCall, |occasion| match occasion {
        HookEvent::Before(call) if call.tool == "memory_list" => panic!("as it says"),
        _ => Ok(HookOutcome::Go),
    });
    let session = session_for(&agent, "a");
    assert_eq!(
        session
            .call("memory_list", json!({}))
            .expect_err("it panics")
            .code,
        Code::HookFailed
    );
    assert_eq!(
        call(&session, "memory_search", json!({ "query": "tea" }))["total"],
        0
    );
}

#[test]
fn whoever_listens_hears_what_happens() {
    let agent = agent(HookList::new());
    let heard: Receiver<Arc<Event>> = agent.subscribe();
    let session = session_for(&agent, "claude");
    call(&session, "memory_list", json!({}));
    session
        .call("memory_read", json!({ "id": "none" }))
        .expect_err("there is none");
    drop(session);
    drop(agent);
    let names: Vec<String> = heard
        .iter()
        .map(|event| format!("{} {}", event.name(), event.agent))
        .collect();
    let claude = [
        "agent_start",
        "tool_start",
        "tool_end",
        "tool_start",
        "error",
        "agent_end",
    ];
    assert_eq!(names, claude.map(|name| format!("{name} claude")));
}

/// A hook that forwards the names of events.
#[derive(Debug)]
struct ForwardingHook(Mutex<std::sync::mpsc::Sender<&'static str>>);

impl Hook for ForwardingHook {
    fn name(&self) -> String {
        "passes".into()
    }

    fn run(&self, occasion: &HookEvent) -> Result<HookOutcome, String> {
        if let HookEvent::Event(event) = occasion {
            self.0
                .lock()
                .expect("nobody panics here")
                .send(event.name())
                .expect("somebody listens");
        }
        Ok(HookOutcome::Go)
    }
}

#[test]
fn hooks_hear_of_events_to_the_last() {
    let (sender, heard) = channel();
    let agent = agent(vec![(
        HookPoint::OnEvent,
        Arc::new(ForwardingHook(Mutex::new(sender))),
    )]);
    call(&session_for(&agent, "claude"), "memory_list", json!({}));
    drop(agent);
    assert_eq!(
        heard.try_iter().collect::<Vec<_>>(),
        ["agent_start", "tool_start", "tool_end", "agent_end"]
    );
}

#[test]
fn calls_on_the_standard_input_are_read_in_all_their_forms() {
    let agent = agent(HookList::new());
    let session = session_for(&agent, "claude");
    let answer = |call: Value| batch::run_call(&session, call);
    for parameters in ["params", "arguments", "parameters"] {
        let (answer, is_done) =
            answer(json!({ "id": 7, "name": "memory_search", parameters: { "query": "tea" } }));
        assert_eq!(
            (is_done, answer),
            (
                true,
                json!({ "id": 7, "name": "memory_search", "result": { "hits": [], "total": 0 } })
            )
        );
    }
    for wrong in [
        json!(1),
        json!({ "name": 2 }),
        json!({ "name": "memory_list", "param": {} }),
        json!({ "name": "x" }),
    ] {
        let (answer, is_done) = answer(wrong);
        assert!(!is_done && answer["error"]["code"].is_string(), "{answer}");
    }
    let wish = batch::BatchRequest::parse(json!({ "prompt": "tea", "calls": [] })).expect("a wish");
    assert!(matches!(wish, batch::BatchRequest::Prompt { prompt, .. } if prompt == "tea"));
    for wrong in [
        json!("tea"),
        json!({ "prompt": 1 }),
        json!({ "prompt": "tea", "budget": -1 }),
        json!({ "prompt": "", "x": 1 }),
    ] {
        assert_eq!(
            batch::BatchRequest::parse(wrong).expect_err("no wish").code,
            Code::InvalidInput
        );
    }
}
