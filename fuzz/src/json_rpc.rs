//! Fuzzes lines on the socket: each has at most one response, which is JSON-RPC.

use memory_agent::exact_json;
use memory_agent::rpc::RpcConnection;
use memory_core::View;
use serde_json::Value;

use crate::fixtures::agent;

/// Sends lines to the socket of an agent.
pub fn json_rpc(bytes: &[u8]) {
    let agent = agent();
    let mut speech = RpcConnection::begin(&agent, View::default());
    for line in bytes.split(|byte| *byte == b'\n') {
        let asked = exact_json::from_slice(line).ok();
        let Some(work) = speech.parse_line(line) else {
            assert!(line.trim_ascii().is_empty(), "only blanks ask for nothing");
            continue;
        };
        let Some(answer) = work.execute() else {
            assert!(asked.is_some(), "what is no JSON is told");
            continue;
        };
        assert!(!answer.contains('\n'), "an answer is one line");
        match (
            exact_json::from_slice(answer.as_bytes()).expect("an answer is JSON"),
            asked,
        ) {
            (Value::Array(answers), Some(Value::Array(asked))) => {
                assert!(!answers.is_empty() && answers.len() <= asked.len());
                for answer in &answers {
                    assert_response(answer, None);
                }
            }
            // Numbers come back digit by digit; what cannot be an id is answered with `null`.
            (answer, Some(asked)) => assert_response(
                &answer,
                asked
                    .get("id")
                    .filter(|id| id.is_string() || id.is_number() || id.is_null()),
            ),
            // The id of an unreadable request may be readable.
            (answer, None) => assert_response(&answer, None),
        }
    }
}

fn assert_response(answer: &Value, id: Option<&Value>) {
    assert_eq!(answer["jsonrpc"], "2.0");
    assert!(
        answer.get("result").is_some() != answer.get("error").is_some(),
        "{answer}"
    );
    assert!(answer.get("id").is_some());
    if let Some(error) = answer.get("error") {
        assert!(
            error["code"].is_i64()
                && error["message"].is_string()
                && error["data"]["code"].is_string(),
            "{answer}"
        );
    }
    if let Some(id) = id {
        assert_eq!(&answer["id"], id);
    }
}
