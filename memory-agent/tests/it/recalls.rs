//! The recall ledger records what each interface gives to agents, and never fails a call.

use std::sync::Arc;

use memory_agent::rpc::{RpcConnection, RpcWork};
use memory_agent::{Agent, Session, SessionOrigin};
use memory_core::testing::{FakeRecallLedger, services};
use memory_core::{MemStore, RecallInterface, RecallRecord, View};
use serde_json::{Value, json};

/// Returns an agent with a ledger, and the ids of two memories.
pub(crate) fn agent_with_ledger() -> (Arc<Agent>, Arc<FakeRecallLedger>, [String; 2]) {
    let ledger = Arc::new(FakeRecallLedger::default());
    let agent = Agent::builder(services(Arc::new(MemStore::default())))
        .recall_ledger(Some(ledger.clone()))
        .build();
    let agent = agent.expect("no name is taken twice");
    let person = Session::for_person(&agent);
    let write = |content: &str, category: &str| {
        let written = person
            .call(
                "memory_write",
                json!({ "content": content, "category": category }),
            )
            .expect("it is written");
        written["id"].as_str().expect("an id").to_owned()
    };
    let ids = [
        write("The user drinks green tea", "habits"),
        write("We deploy on Fridays", "decisions"),
    ];
    (agent, ledger, ids)
}

fn session(agent: &Arc<Agent>) -> Session {
    let view = View {
        agent: "codex".parse().ok(),
        project: Some("harbour".into()),
        ..View::default()
    };
    Session::begin(agent, &view).with_origin(SessionOrigin::request(
        RecallInterface::Http,
        Some("s1".into()),
    ))
}

fn ids(recall: &RecallRecord) -> Vec<&str> {
    recall
        .memories
        .iter()
        .map(|memory| memory.id.as_str())
        .collect()
}

#[test]
fn each_tool_that_returns_memories_records_them() {
    let (agent, ledger, [tea, friday]) = agent_with_ledger();
    let session = session(&agent);
    let reminder = session
        .call(
            "memory_remind",
            json!({ "text": "buy tea", "at": "2030-01-01" }),
        )
        .expect("it is written");
    let reminder = reminder["id"].as_str().expect("an id").to_owned();
    session
        .call("memory_link", json!({ "source": tea, "target": friday }))
        .expect("they are linked");
    assert_eq!(
        ids(&ledger.records()[0]),
        [&tea, &friday],
        "the result has both texts"
    );
    for (tool, parameters, query, expected) in [
        (
            "memory_search",
            json!({ "query": "green" }),
            Some("green"),
            vec![&tea],
        ),
        (
            "memory_smart_search",
            json!({ "query": "on which day do we deploy?" }),
            Some("on which day do we deploy?"),
            vec![&friday],
        ),
        (
            "memory_list",
            json!({ "category": "decisions" }),
            None,
            vec![&friday],
        ),
        ("memory_read", json!({ "id": tea }), None, vec![&tea]),
        (
            "memory_context",
            json!({ "query": "when do we deploy?" }),
            Some("when do we deploy?"),
            vec![&friday],
        ),
        (
            "memory_backlinks",
            json!({ "id": tea }),
            None,
            vec![&friday],
        ),
        ("memory_reminders", json!({}), None, vec![&reminder]),
    ] {
        session.call(tool, parameters).expect("it is answered");
        let records = ledger.records();
        let last = records.last().expect("a record");
        assert_eq!((last.tool.as_str(), last.query.as_deref()), (tool, query));
        assert_eq!(ids(last), expected, "{tool}");
        assert_eq!(
            (
                last.agent.as_str(),
                last.project.as_deref(),
                last.session.as_deref()
            ),
            ("codex", Some("harbour"), Some("s1"))
        );
        assert!(last.interface == "http" && 0 < last.tokens, "{last:?}");
    }
    let records = ledger.records();
    let (search, read) = (&records[1].memories[0], &records[4].memories[0]);
    assert!(search.score.is_some_and(|score| 0.0 < score), "{search:?}");
    assert_eq!((read.score, read.parts.len()), (None, 0));
    assert_eq!(
        records.len(),
        8,
        "other tools and empty answers are not recorded"
    );
    session
        .call("memory_search", json!({ "query": "nothing of this" }))
        .expect("it is answered");
    session
        .call("memory_read", json!({ "id": "none" }))
        .expect_err("it does not exist");
    assert_eq!(ledger.records().len(), 8);
}

#[test]
fn nothing_is_recorded_for_the_person_and_a_broken_ledger_fails_no_call() {
    let (agent, ledger, _) = agent_with_ledger();
    Session::for_person(&agent)
        .call("memory_list", json!({}))
        .expect("it is answered");
    assert_eq!(ledger.records(), []);
    ledger.will_fail();
    let session = session(&agent);
    assert_eq!(
        session
            .call("memory_list", json!({}))
            .expect("it is answered")["total"],
        2
    );
    assert!(
        !session
            .inject_context("green tea", 500)
            .expect("it is answered")
            .memories
            .is_empty()
    );
    assert_eq!(ledger.records(), []);
}

#[test]
fn a_connection_has_one_session_until_it_is_opened_anew() {
    let (agent, ledger, _) = agent_with_ledger();
    let mut connection =
        RpcConnection::begin(&agent, View::default()).with_interface(RecallInterface::Socket);
    let mut ask = |line: Value| {
        connection
            .parse_line(line.to_string().as_bytes())
            .and_then(RpcWork::execute)
            .expect("an answer")
    };
    let list = json!({ "id": 1, "method": "memory_list" });
    ask(list.clone());
    ask(list.clone());
    ask(
        json!({ "id": 2, "method": "session/open", "params": { "agent": "claude", "project": "harbour" } }),
    );
    ask(list);
    let records = ledger.records();
    let sessions: Vec<&str> = records
        .iter()
        .filter_map(|record| record.session.as_deref())
        .collect();
    assert!(
        sessions.len() == 3 && sessions[0] == sessions[1] && sessions[1] != sessions[2],
        "{sessions:?}"
    );
    let agents: Vec<_> = records
        .iter()
        .map(|record| (record.agent.as_str(), record.interface.as_str()))
        .collect();
    assert_eq!(
        agents,
        [("", "socket"), ("", "socket"), ("claude", "socket")]
    );
}

#[test]
fn a_context_records_scores_and_marks_standing_memories() {
    let (agent, ledger, [_, friday]) = agent_with_ledger();
    let person = Session::for_person(&agent);
    let written = person.call(
        "memory_write",
        json!({ "content": "Always answer in metric units", "category": "preferences" }),
    );
    let standing = written.expect("it is written")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let session = session(&agent);
    let context = session
        .inject_context("when do we deploy?", 500)
        .expect("it is answered");
    let records = ledger.records();
    let recalled = &records[0].memories;
    assert_eq!(
        (ids(&records[0]), records[0].tool.as_str()),
        (vec![standing.as_str(), &friday], "prompt")
    );
    assert_eq!(recalled[0].parts[0], ("standing".to_owned(), 1.0));
    assert!(
        recalled[1].score.is_some_and(|score| 0.0 < score) && recalled[1].parts.is_empty(),
        "{recalled:?}"
    );
    assert_eq!(records[0].tokens, context.tokens as u64);
    session
        .inject_context("when do we deploy?", 500)
        .expect("it is answered");
    assert_eq!(ledger.records().len(), 1, "nothing was given again");
}
