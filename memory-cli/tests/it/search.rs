//! Tests of `memory list`, `memory search` and `memory link list`.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// Returns a home with three memories that have fixed times.
fn home_with_three_memories() -> Sandbox {
    let sandbox = Sandbox::new();
    let export = [
        r#"{"id":"00000001-0000-4000-8000-000000000000","content":"The cache keeps timetables for five minutes","title":"Timetable cache","category":"decisions","tags":["harbour"],"created_at":"2020-01-01T10:00:00Z","source":"claude"}"#,
        r#"{"id":"00000002-0000-4000-8000-000000000000","content":"早上先泡茶，再看时刻表","category":"habits","tags":["习惯/早上"],"created_at":"2020-01-02T10:00:00Z"}"#,
        r#"{"id":"00000003-0000-4000-8000-000000000000","content":"old cache advice","created_at":"2020-01-03T10:00:00Z","expires_at":"2020-02-01T00:00:00Z"}"#,
    ];
    sandbox.run_with_input(&export.join("\n"), &["import"]);
    sandbox
}

#[test]
fn a_list_is_newest_first() {
    let sandbox = home_with_three_memories();
    assert_snapshot!(sandbox.run(&["list"]), @"
    [id1]	organized	habits	global	2020-01-02T10:00:00Z	习惯/早上	早上先泡茶，再看时刻表
    [id2]	organized	decisions	global	2020-01-01T10:00:00Z	harbour	Timetable cache
    ");
    assert_snapshot!(sandbox.run(&["list", "--all", "--sort", "title", "--limit", "1", "--offset", "1"]), @"
    [id2]	organized	decisions	global	2020-01-01T10:00:00Z	harbour	Timetable cache
    --- stderr
    1 of 3 shown; use --offset 2 for the next page, --limit 0 for all
    ");
}

#[test]
fn a_list_says_what_is_left_and_never_what_is_not() {
    let sandbox = home_with_three_memories();
    let said = |flags: &[&str]| {
        let shown = sandbox.run(&[&["list", "--all"], flags].concat());
        shown
            .lines()
            .skip_while(|line| *line != "--- stderr")
            .skip(1)
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_snapshot!(said(&["--limit", "2"]), @"2 of 3 shown; use --offset 2 for the next page, --limit 0 for all");
    assert_snapshot!(said(&["--limit", "2", "--offset", "2"]), @"the last 1 of 3 shown");
    assert_snapshot!(said(&["--limit", "0", "--offset", "1"]), @"the last 2 of 3 shown");
    assert_snapshot!(said(&["--offset", "3"]), @"none of 3 shown: --offset 3 skips all");
    assert_snapshot!(said(&[]), @"");
}

#[test]
fn a_list_for_programs_has_memories_and_their_number() {
    assert_snapshot!(home_with_three_memories().run(&["list", "--json", "--limit", "1"]), @r#"{"memories":[{"id":"[id1]","content":"早上先泡茶，再看时刻表","content_hash":"[hash]","phase":"organized","category":"habits","scope":"global","tags":["习惯/早上"],"source":"","created_at":"2020-01-02T10:00:00Z","updated_at":"[time]","expires_at":null,"access_count":0,"links":[],"version":1,"path":"categories/habits/早上先泡茶-再看时刻表-[id1].md"}],"total":2}"#);
    assert_snapshot!(Sandbox::new().run(&["list", "--json"]), @r#"{"memories":[],"total":0}"#);
}

#[test]
fn filters_narrow_a_list() {
    let sandbox = home_with_three_memories();
    let ids = |flags: &[&str]| {
        let answer = sandbox.run_json(&[&["list", "--all"], flags].concat());
        let ids = answer["memories"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|memory| memory["id"].as_str().expect("an id")[7..8].to_owned());
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(&["--from", "2020-01-02", "--to", "2020-01-02"]), "2");
    assert_eq!(ids(&["--to", "2020-01-02"]), "2 1");
    assert_eq!(ids(&["--tags", "习惯"]), "2");
    assert_eq!(ids(&["--category", "DECISIONS"]), "1");
    assert_eq!(ids(&["--phase", "inbox"]), "3");
    assert_eq!(ids(&["--source", "Claude", "--scope", "global"]), "1");
    assert_eq!(ids(&["--scope", "agent:x"]), "");
}

#[test]
fn an_empty_list_says_so_beside_the_answer() {
    assert_snapshot!(Sandbox::new().run(&["list"]), @"
    --- stderr
    no matching memories
    ");
    assert_snapshot!(Sandbox::new().run(&["list", "--quiet"]), @"");
}

#[test]
fn a_search_shows_what_it_found() {
    let sandbox = home_with_three_memories();
    assert_snapshot!(sandbox.run(&["search", "cache"]), @"[id1]	[n]	Timetable cache	The cache keeps timetables for five minutes");
    assert_snapshot!(sandbox.run(&["search", "茶"]), @"[id2]	[n]	早上先泡茶，再看时刻表	早上先泡茶，再看时刻表");
    assert_snapshot!(sandbox.run(&["search", "nothing", "of", "that"]), @"
    --- stderr
    no matches found
    ");
}

#[test]
fn a_search_for_programs_has_hits_and_their_number() {
    let sandbox = home_with_three_memories();
    assert_snapshot!(sandbox.run(&["search", "cache", "--json"]), @r#"{"hits":[{"memory":{"id":"[id1]","content":"The cache keeps timetables for five minutes","content_hash":"[hash]","phase":"organized","category":"decisions","scope":"global","tags":["harbour"],"source":"claude","created_at":"2020-01-01T10:00:00Z","updated_at":"[time]","expires_at":null,"access_count":0,"links":[],"version":1,"title":"Timetable cache","path":"categories/decisions/timetable-cache-[id1].md"},"score":[n],"snippet":"The cache keeps timetables for five minutes"}],"total":1}"#);
    assert_snapshot!(sandbox.run(&["search", "nothing", "--json"]), @r#"{"hits":[],"total":0}"#);
}

#[test]
fn a_search_can_explain_itself() {
    let answer = home_with_three_memories().run_json(&["search", "cache", "--explain", "--all"]);
    let explained = &answer["hits"][0]["explain"];
    assert_eq!(explained["terms"][0]["term"], "cach");
    assert_eq!(explained["documents"], 3);
}

#[test]
fn backlinks_name_the_memories_that_lead_to_one() {
    let sandbox = home_with_three_memories();
    sandbox.write("See [[timetable cache|the cache]].", &[]);
    assert_snapshot!(sandbox.run(&["backlinks", "00000001"]), @"[id1]	inbox	inbox	global	[time]		See [[timetable cache|the cache]].");
    assert_snapshot!(sandbox.run(&["backlinks", "00000002"]), @"
    --- stderr
    no memory links to it
    ");
    assert_snapshot!(sandbox.run(&["backlinks", "00000002", "--json"]), @r#"{"memories":[]}"#);
}

#[test]
fn no_limit_shows_every_hit() {
    let sandbox = Sandbox::new();
    for number in 0..12 {
        sandbox.write(&format!("tea number {number}"), &[]);
    }
    let hits = |flags: &[&str]| {
        sandbox.run_json(&[&["search", "tea"], flags].concat())["hits"]
            .as_array()
            .map(Vec::len)
    };
    assert_eq!((hits(&[]), hits(&["--limit", "0"])), (Some(10), Some(12)));
}

#[test]
fn quotation_marks_narrow_only_where_some_memory_has_the_phrase() {
    let sandbox = home_with_three_memories();
    let found = |question: &str| {
        let answer = sandbox.run_json(&["search", question]);
        (
            answer["total"].as_u64(),
            answer["degraded"].as_str().map(str::to_owned),
        )
    };
    assert_eq!(found("\"five minutes\""), (Some(1), None));
    let reason = "no memory contains the quoted phrase; searched for its words instead";
    assert_eq!(
        found("\"minutes five\" 泡茶"),
        (Some(2), Some(reason.to_owned()))
    );
    assert_eq!(found("\"green submarine\""), (Some(0), None));
}

#[test]
fn chats_follow_the_memories() {
    let sandbox = home_with_three_memories();
    let append = |session: &str, role: &str, content: &str| {
        let given = format!(
            r#"{{"session":"{session}","role":"{role}","content":"{content}","ts":"2020-03-01T10:00:00Z"}}"#
        );
        sandbox.run(&["instance", "run", "history", "append", "--input", &given]);
    };
    append("trip", "user", "Which cache of the ferry app is empty?");
    append("trip", "assistant", "The cache of the ferry timetables.");
    append("work", "user", "Empty the ferry cache.");
    sandbox.run(&["conversations", "add", "The ferry app has a cache."]);
    assert_snapshot!(sandbox.run(&["search", "ferry", "cache"]), @"
    [id1]	[n]	The ferry app has a cache.	The ferry app has a cache.
    [id2]	[n]	Timetable cache	The cache keeps timetables for five minutes
    session:work	[n]	user	Empty the ferry cache.
    session:trip	[n]	user	Which cache of the ferry app is empty?
    --- stderr
    2 of 3 matching messages of chats shown; `--kind chat --limit N` shows more
    ");
    assert_snapshot!(sandbox.run(&["search", "ferry", "--kind", "chat", "--limit", "1"]), @"
    [id1]	[n]	fact	The ferry app has a cache.
    --- stderr
    1 of 4 matching messages of chats shown; `--kind chat --limit N` shows more
    ");
    assert_snapshot!(sandbox.run(&["search", "ferry", "cache", "--kind", "note"]), @"
    [id1]	[n]	The ferry app has a cache.	The ferry app has a cache.
    [id2]	[n]	Timetable cache	The cache keeps timetables for five minutes
    ");
    assert_snapshot!(sandbox.run(&["search", "ferry", "cache", "--tags", "harbour"]), @"[id2]	[n]	Timetable cache	The cache keeps timetables for five minutes");
    assert_snapshot!(sandbox.run(&["search", "timetables", "--kind", "chat", "--json"]), @r#"{"hits":[],"total":0,"chats":{"hits":[{"chat":"session:trip","ts":"2020-03-01T10:00:00Z","role":"assistant","score":[n],"snippet":"The cache of the ferry timetables."}],"total":1}}"#);
    sandbox.file(
        ".memory/history/old.jsonl",
        "{\"role\":\"user\",\"content\":\"a lighthouse\"}\n",
    );
    assert_snapshot!(sandbox.run(&["search", "lighthouse", "--kind", "chat", "--json"]), @r#"{"hits":[],"total":0,"chats":{"hits":[{"chat":"session:old","role":"user","score":[n],"snippet":"a lighthouse"}],"total":1}}"#);
}
