use std::fs;
use std::path::Path;

use memory_core::{
    Budget, ChatMessage, ChatRole, Code, LlmUsage, Meter, MeterError, Purpose, Reservation, usage,
};
use memory_store::SystemClock;
use serde_json::json;

use super::*;
use crate::config::Environment;

#[path = "../../../memory-agent/tests/it/model/server.rs"]
#[expect(
    dead_code,
    reason = "what may go wrong with a server is tested where it is asked"
)]
mod server;
use server::{ModelTestServer, Reply};

fn settings(home: &Path, llm: &str) -> Settings {
    fs::write(
        home.join("config.yaml"),
        format!("timezone: Asia/Shanghai\nllm:\n{llm}"),
    )
    .expect("a file");
    let environment = Environment {
        home: Some(home.to_owned()),
        root: Some(home.to_owned()),
        ..Environment::default()
    };
    Settings::load(None, &environment).expect("settings")
}

fn request() -> ChatRequest {
    let messages = vec![ChatMessage {
        role: ChatRole::User,
        content: "Is it?".into(),
    }];
    ChatRequest {
        purpose: Purpose::of("classify"),
        messages,
        max_tokens: 30,
    }
}

fn says(content: &str) -> Reply {
    let choices = json!([{"message": {"content": content}, "finish_reason": "stop"}]);
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 2});
    Reply::Answer(
        200,
        "Content-Type: application/json\r\n",
        json!({"choices": choices, "usage": usage}).to_string(),
    )
}

#[test]
fn the_model_of_the_settings_answers_keeps_to_its_budget_and_is_metered() {
    let home = tempfile::tempdir().expect("a folder");
    let server = ModelTestServer::start(vec![says("Yes."), says("No.")]);
    let llm = format!(
        "  base_url: {}\n  model: some-model\n  api_key: sk-012345\n  calls_a_day: 1\n",
        server.base_url()
    );
    let settings = settings(home.path(), &llm);
    let model = open_lazily(&settings, Arc::new(SystemClock)).expect("one is named");
    assert!(
        !home.path().join("usage").exists(),
        "it is opened when it is asked"
    );
    assert_eq!(model.answer(&request()).expect("it answers").text, "Yes.");
    let again = open_lazily(&settings, Arc::new(SystemClock)).expect("one is named");
    assert_eq!(
        again
            .answer(&request())
            .expect_err("the budget is that of all")
            .code(),
        Code::BudgetExhausted
    );
    let asked = server.requests();
    assert_eq!(
        (asked.len(), &asked[0].body["model"]),
        (1, &json!("some-model"))
    );
    assert!(
        asked[0]
            .headers
            .contains(&("authorization".into(), "Bearer sk-012345".into()))
    );
    let ledger = Ledger::open(home.path()).expect("it opens");
    let found = usage(&ledger, budget_day(&settings), Budget::default()).expect("it is read");
    // The total of several days is checked, because midnight may pass during the test.
    assert_eq!(
        found.lately.all,
        LlmUsage {
            calls: 1,
            prompt_tokens: 9,
            answer_tokens: 2
        }
    );
}

#[test]
fn a_model_that_is_named_in_part_is_none_that_can_be_asked() {
    let home = tempfile::tempdir().expect("a folder");
    let why = |llm: &str| {
        let model = open_lazily(&settings(home.path(), llm), Arc::new(SystemClock))
            .expect("somebody means one");
        let error = model.answer(&request()).expect_err("it is not whole");
        assert!(
            error.code() == Code::ConfigInvalid && error.hint().is_some(),
            "{error}"
        );
        error.to_string()
    };
    assert_eq!(
        why("  model: x\n"),
        "the language model cannot be used: llm.model is set, but llm.base_url is not"
    );
    assert_eq!(
        why("  base_url: http://localhost:9/v1\n"),
        "the language model cannot be used: llm.base_url is set, but llm.model is not"
    );
    let bad = why("  base_url: https://me:secret@host/v1\n  model: x\n");
    assert!(!bad.contains("secret"), "{bad}");
    assert!(
        open_lazily(
            &settings(home.path(), "  timeout: 5s\n"),
            Arc::new(SystemClock)
        )
        .is_none(),
        "nobody means one"
    );
}

#[test]
fn a_key_is_taken_from_the_variable_that_is_named_then_from_the_file() {
    let home = tempfile::tempdir().expect("a folder");
    let key = |llm: &str, variable: Option<&str>| {
        let lookup = |name: &str| variable.filter(|_| name == "SOME_KEY").map(str::to_owned);
        api_key(&settings(home.path(), llm).llm, &lookup)
    };
    let is = |text: &str| Some(text.parse::<ApiKey>().expect("it is a key"));
    let both = "  api_key: from-the-file\n  api_key_env: SOME_KEY\n";
    assert_eq!(
        key(both, Some("from-there")).expect("a key"),
        is("from-there")
    );
    assert_eq!(key(both, None).expect("a key"), is("from-the-file"));
    assert_eq!(
        key("  api_key: from-the-file\n", Some("from-there")).expect("a key"),
        is("from-the-file")
    );
    assert_eq!(
        key("  timeout: 5s\n", Some("from-there")).expect("none is needed"),
        None
    );
    let error = key("  api_key_env: SOME_KEY\n", None)
        .expect_err("it is not set")
        .to_string();
    assert_eq!(
        error,
        "the language model cannot be used: environment variable SOME_KEY is not set; it must contain the API key"
    );
    let error = key("  api_key_env: SOME_KEY\n", Some("two words"))
        .expect_err("it is none")
        .to_string();
    assert!(
        error.contains("environment variable SOME_KEY contains no valid API key")
            && !error.contains("two words"),
        "{error}"
    );
}

#[test]
fn the_budget_counts_what_was_recorded_beside_the_queue() {
    let (home, other) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    let roots = [home.path().join("home"), other.path().join("queue")];
    let day = NaiveDate::from_ymd_opt(2024, 5, 8).expect("a day");
    let budget = Budget {
        calls_a_day: Some(2),
        tokens_a_day: None,
    };
    let amount = LlmUsage {
        calls: 1,
        prompt_tokens: 5,
        answer_tokens: 2,
    };
    let facts = Reservation {
        day,
        purpose: Purpose::of("facts"),
        amount,
    };
    let spent = |ledger: &Ledger| {
        ledger
            .spending(day, day)
            .expect("it is read")
            .entries
            .into_iter()
            .map(|one| one.spent.calls)
            .sum()
    };
    let only = open_ledger(&roots).expect("it opens");
    assert!(
        roots[0].is_dir() && !roots[1].exists(),
        "the home is made, and nothing beside the queue"
    );
    only.reserve(&facts, &budget).expect("it is allowed");
    Ledger::open(&roots[1])
        .expect("it opens")
        .reserve(&facts, &budget)
        .expect("it is allowed");
    let both = open_ledger(&roots).expect("it opens");
    assert!(
        matches!(both.reserve(&facts, &budget), Err(MeterError::Exhausted(shortage)) if (shortage.a_day, shortage.left) == (2, 0))
    );
    let calls: [u64; 2] = [spent(&both), spent(&only)];
    assert_eq!(calls, [2, 1]);
    assert_eq!(
        both.spending(day, day).expect("it is read").entries.len(),
        1,
        "one entry for each day and purpose"
    );
}
