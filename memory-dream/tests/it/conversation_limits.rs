//! Tests of extraction with a failing model and with an insufficient budget.

use std::fmt;
use std::sync::{Arc, Mutex};

use chrono::{FixedOffset, TimeDelta};
use memory_core::conversation::{
    ConversationId, Conversations, EntryId, EntryRole, JobQueue, JobState, enqueue, store_turn,
};
use memory_core::testing::{FakeClock, FakeConversations, FakeJobs, FakeMeter, conversations};
use memory_core::{
    Budget, BudgetStatus, ChatAnswer, ChatError, ChatFailure, ChatModel, ChatRequest, MeteredModel,
    TokenUsage,
};
use memory_dream::conversation::{Backoff, ProcessReport, ProcessRules, process_jobs};
use serde_json::{Value, json};

type Respond = dyn Fn(&ChatRequest) -> Result<String, ChatError> + Send + Sync;

/// A model that responds by a function and records its requests.
struct ScriptedModel {
    respond: Box<Respond>,
    asked: Arc<Mutex<Vec<ChatRequest>>>,
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Model")
    }
}

impl ChatModel for ScriptedModel {
    fn answer(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        self.asked.lock().unwrap().push(request.clone());
        (self.respond)(request).map(|text| ChatAnswer {
            text,
            tokens: TokenUsage {
                prompt: 10,
                answer: 10,
                estimated: false,
            },
        })
    }

    fn allowance(&self) -> Result<BudgetStatus, ChatError> {
        Ok(BudgetStatus::default())
    }
}

/// A worker with a controllable clock.
struct LimitsFixture {
    conversations: Conversations,
    queue: FakeJobs,
    clock: Arc<FakeClock>,
    asked: Arc<Mutex<Vec<ChatRequest>>>,
    backoff: Backoff,
}

impl LimitsFixture {
    fn new(
        budget: Budget,
        respond: impl Fn(&ChatRequest) -> Result<String, ChatError> + Send + Sync + 'static,
    ) -> Self {
        let (clock, asked) = (Arc::<FakeClock>::default(), Arc::default());
        let model = ScriptedModel {
            respond: Box::new(respond),
            asked: Arc::clone(&asked),
        };
        let zone = FixedOffset::east_opt(0).unwrap();
        let chat = MeteredModel {
            model,
            meter: Arc::<FakeMeter>::default(),
            clock: Arc::clone(&clock) as _,
            zone,
            budget,
        };
        let all = conversations(Arc::<FakeConversations>::default());
        let conversations = Conversations {
            chat: Some(Arc::new(chat)),
            clock: Arc::clone(&clock) as _,
            ..all
        };
        Self {
            conversations,
            queue: FakeJobs::default(),
            clock,
            asked,
            backoff: Backoff::default(),
        }
    }

    fn add_turn(&self, text: &str) {
        let turn = store_turn(
            &self.conversations,
            &ConversationId::default_conversation(),
            EntryRole::User,
            text,
        )
        .unwrap()
        .unwrap();
        enqueue(&self.queue, &turn).unwrap();
    }

    fn process(&mut self) -> ProcessReport {
        process_jobs(
            &self.conversations,
            &self.queue,
            &ProcessRules::default(),
            &mut self.backoff,
            &|| true,
        )
        .unwrap()
    }

    fn facts(&self) -> Vec<String> {
        let kept = self
            .conversations
            .store
            .read(&ConversationId::default_conversation())
            .unwrap();
        let facts = kept
            .entries()
            .into_iter()
            .filter(|entry| entry.role == EntryRole::Memory);
        facts.map(|entry| entry.content.clone()).collect()
    }

    /// Returns the purposes of the recorded requests, and clears the record.
    fn take_purposes(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
            .iter()
            .map(|request| request.purpose.to_string())
            .collect()
    }

    fn pending(&self) -> usize {
        self.queue.pending().unwrap().len()
    }
}

fn model_error() -> ChatFailure {
    ChatFailure {
        why: "it snows".into(),
        hint: None,
    }
}

fn call_budget(calls: u64) -> Budget {
    Budget {
        calls_a_day: Some(calls),
        tokens_a_day: None,
    }
}

/// A model that finds one fact in each message, and marks facts that were reconciled.
#[expect(clippy::unnecessary_wraps, reason = "it is a script of a fake model")]
fn answer_correctly(request: &ChatRequest) -> Result<String, ChatError> {
    let data = &request.messages[1].content;
    let data: Value = serde_json::from_str(data).unwrap_or_default();
    let fact = |text: &Value| format!("The user said {}.", text.as_str().unwrap());
    Ok(match (request.purpose.as_str(), data) {
        ("facts", Value::Array(list)) => {
            let each = list
                .iter()
                .map(|item| (item["id"].to_string(), json!([fact(&item["text"])])));
            Value::Object(each.collect()).to_string()
        }
        ("facts", text) => json!([fact(&text)]).to_string(),
        ("reconcile", data) => {
            let add = |text: &Value| json!({ "event": "ADD", "text": format!("{} (checked)", text.as_str().unwrap()) });
            Value::Array(data["new"].as_array().unwrap().iter().map(add).collect()).to_string()
        }
        (_, _) => "Said much.".into(),
    })
}

#[test]
fn a_model_that_fails_is_left_alone_for_longer_and_longer_and_each_turn_ends() {
    type Failure = fn() -> Result<String, ChatError>;
    let failures: [(&str, Failure); 4] = [
        ("prose", || Ok("I am not sure that there are any.".into())),
        ("slow", || Err(ChatError::Timeout(model_error()))),
        ("absent", || Err(ChatError::Unreachable(model_error()))),
        ("unreadable", || {
            Err(ChatError::Unreadable {
                trouble: model_error(),
                tokens: TokenUsage::default(),
            })
        }),
    ];
    for (name, failure) in failures {
        let mut case = LimitsFixture::new(Budget::default(), move |_| failure());
        let mut asked = Vec::new();
        for number in 0..200 {
            case.add_turn(&format!("message {number}"));
            case.process();
            case.clock.advance(TimeDelta::seconds(30));
            asked.push(case.take_purposes().len());
        }
        let (first, last) = (
            asked[..100].iter().sum::<usize>(),
            asked[100..].iter().sum::<usize>(),
        );
        assert!(
            asked.iter().all(|count| *count <= 2),
            "{name}: one attempt for this turn and one that waits at most: {asked:?}"
        );
        assert!(
            last <= first && first < 20,
            "{name}: {first} attempts, then {last}"
        );
        let hours = (0..500).find(|_| {
            case.clock.advance(TimeDelta::hours(1));
            case.process();
            case.pending() == 0
        });
        assert!(
            hours.is_some(),
            "{name}: {} turns wait for ever",
            case.pending()
        );
        assert!(case.facts().is_empty());
    }
}

#[test]
fn a_model_that_answers_again_is_asked_about_all_that_waits() {
    let is_up = Arc::new(Mutex::new(false));
    let up = Arc::clone(&is_up);
    let respond = move |request: &ChatRequest| {
        if *up.lock().unwrap() {
            answer_correctly(request)
        } else {
            Err(ChatError::Timeout(model_error()))
        }
    };
    let mut case = LimitsFixture::new(Budget::default(), respond);
    for number in 0..20 {
        case.add_turn(&format!("message {number}"));
        case.process();
    }
    *is_up.lock().unwrap() = true;
    assert_eq!(
        (case.process().waiting, case.facts().len()),
        (20, 0),
        "it is skipped"
    );
    case.take_purposes();
    case.clock.advance(TimeDelta::minutes(2));
    assert_eq!((case.process().waiting, case.facts().len()), (0, 20));
    assert!(
        case.take_purposes().len() <= 15,
        "what waited shares requests"
    );
}

#[test]
fn the_less_is_left_of_the_budget_the_more_turns_share_a_request_and_none_is_lost() {
    let mut case = LimitsFixture::new(call_budget(150), answer_correctly);
    // The messages are sent between 10:00 and 20:00.
    for number in 0..200 {
        case.add_turn(&format!("message {number}"));
        let processed = case.process();
        assert_eq!(processed.troubles, Vec::<String>::new(), "message {number}");
        case.clock.advance(TimeDelta::minutes(3));
    }
    let requests = std::mem::take(&mut *case.asked.lock().unwrap());
    assert!(requests.len() <= 150, "{}", requests.len());
    let shared = requests.iter().filter(|request| {
        request.purpose.as_str() == "facts" && request.messages[1].content.starts_with('[')
    });
    assert!(3 < shared.count());
    assert!(case.pending() <= 32, "{} turns wait", case.pending());
    case.clock.advance(TimeDelta::hours(8));
    case.process();
    assert_eq!((case.pending(), case.facts().len()), (0, 200));
    let unchecked = case
        .facts()
        .into_iter()
        .filter(|fact| !fact.ends_with("(checked)"))
        .count();
    assert_eq!(unchecked, 1, "all but the first fact of all are reconciled");
}

#[test]
fn facts_that_could_not_be_reconciled_wait_for_the_next_day() {
    let mut case = LimitsFixture::new(call_budget(3), answer_correctly);
    case.add_turn("message 1");
    case.process();
    assert_eq!(case.take_purposes(), ["facts", "summarise"]);
    case.add_turn("message 2");
    case.clock.advance(TimeDelta::hours(1));
    let processed = case.process();
    assert_eq!(
        (processed.waiting, case.take_purposes(), case.facts().len()),
        (1, vec!["facts".to_owned()], 1)
    );
    let why = "no request to the language model: the daily budget of 3 calls is exhausted; the turns wait for the next day";
    assert_eq!(processed.troubles, [why]);
    case.add_turn("message 3");
    let processed = case.process();
    assert_eq!(
        (processed.waiting, case.take_purposes().len()),
        (2, 0),
        "it is not tried again that day"
    );
    case.clock.advance(TimeDelta::hours(15));
    assert_eq!(case.process().done, 2);
    assert_eq!(case.take_purposes(), ["facts", "reconcile", "summarise"]);
    let facts = [
        "The user said message 1.",
        "The user said message 2. (checked)",
        "The user said message 3. (checked)",
    ];
    // The last two are stored at the same time, so their order is that of their random ids.
    let mut stored = case.facts();
    stored.sort();
    assert_eq!(stored, facts);
    assert_eq!(case.pending(), 0);
}

#[test]
fn changes_that_were_made_are_not_made_again_while_the_summary_waits() {
    let mut case = LimitsFixture::new(call_budget(1), answer_correctly);
    case.add_turn("message 1");
    case.process();
    assert_eq!((case.facts().len(), case.pending()), (1, 1));
    let place = ConversationId::default_conversation();
    let fact = case
        .conversations
        .store
        .read(&place)
        .unwrap()
        .entries()
        .pop()
        .unwrap();
    let made = case.queue.pending().unwrap().remove(0);
    assert!(
        matches!(&made.state, JobState::Decided { changes, facts } if changes.is_empty() && facts.len() == 1),
        "{made:?}"
    );
    case.clock.advance(TimeDelta::days(1));
    case.backoff = Backoff::default();
    case.process();
    assert_eq!(
        (case.take_purposes(), case.pending()),
        (vec!["facts".to_owned(), "summarise".to_owned()], 0)
    );
    assert_eq!(case.facts(), std::slice::from_ref(&fact.content));
}

#[test]
fn one_answer_that_cannot_be_read_ends_no_turn() {
    for wrong in ["I am not sure.", r#"[{"id": 0, "found": "tea"}]"#] {
        let is_first = std::sync::atomic::AtomicBool::new(true);
        let respond = move |request: &ChatRequest| {
            if is_first.swap(false, std::sync::atomic::Ordering::Relaxed) {
                Ok(wrong.to_owned())
            } else {
                answer_correctly(request)
            }
        };
        let mut case = LimitsFixture::new(Budget::default(), respond);
        case.add_turn("message 1");
        assert_eq!(
            (case.process().waiting, case.facts().len()),
            (1, 0),
            "{wrong}"
        );
        assert_eq!(
            (case.process().waiting, case.facts().len(), case.pending()),
            (0, 1, 0),
            "{wrong}"
        );
    }
}

#[test]
fn facts_are_stored_only_once_they_are_reconciled() {
    let is_up = Arc::new(Mutex::new(false));
    let up = Arc::clone(&is_up);
    let respond = move |request: &ChatRequest| match request.purpose.as_str() {
        "reconcile" if !*up.lock().unwrap() => Err(ChatError::Timeout(model_error())),
        _ => answer_correctly(request),
    };
    let mut case = LimitsFixture::new(Budget::default(), respond);
    for number in 1..=4 {
        case.add_turn(&format!("message {number}"));
        case.process();
    }
    assert_eq!(
        (case.facts(), case.pending()),
        (vec!["The user said message 1.".to_owned()], 3)
    );
    *is_up.lock().unwrap() = true;
    case.take_purposes();
    case.clock.advance(TimeDelta::minutes(2));
    let processed = case.process();
    assert_eq!(
        (processed.waiting, case.facts().len(), case.pending()),
        (0, 4, 0)
    );
    assert_eq!(
        case.facts()
            .iter()
            .filter(|fact| fact.ends_with("(checked)"))
            .count(),
        3,
        "{:?}",
        case.facts()
    );
    let extractions = case
        .take_purposes()
        .iter()
        .filter(|purpose| *purpose == "facts")
        .count();
    assert_eq!(
        extractions, 2,
        "the facts of the second message are not extracted again"
    );
}

#[test]
fn a_budget_of_one_call_a_day_suffices_in_the_long_run() {
    let mut case = LimitsFixture::new(call_budget(1), answer_correctly);
    case.add_turn("message 1");
    case.add_turn("message 2");
    let days = (0..20).find(|_| {
        case.process();
        assert!(case.take_purposes().len() <= 1);
        case.clock.advance(TimeDelta::days(1));
        case.pending() == 0
    });
    assert!(days.is_some());
    assert_eq!(
        case.facts(),
        [
            "The user said message 1.",
            "The user said message 2. (checked)"
        ]
    );
}

#[test]
fn an_answer_about_several_messages_that_cannot_be_read_is_asked_for_again_one_by_one() {
    let respond = |request: &ChatRequest| match serde_json::from_str(&request.messages[1].content) {
        Ok(Value::Array(_)) => Ok(r#"["The user said something."]"#.to_owned()),
        _ => answer_correctly(request),
    };
    let mut case = LimitsFixture::new(Budget::default(), respond);
    for number in 0..10 {
        case.add_turn(&format!("message {number}"));
    }
    assert_eq!(
        (case.process().waiting, case.facts().len(), case.pending()),
        (0, 10, 0)
    );
}

#[test]
fn three_facts_of_a_message_are_kept_whatever_the_model_answers() {
    let respond = |request: &ChatRequest| {
        let many = |what: &str| {
            (0..9)
                .map(|number| format!("{what} {number}"))
                .collect::<Vec<_>>()
        };
        let list = |what: &str| json!(many(what));
        Ok(
            match (
                request.purpose.as_str(),
                request.messages[1].content.starts_with('['),
            ) {
                ("facts", true) => {
                    let each = (0..9).map(|number| {
                        (
                            number.to_string(),
                            list(&format!("message {number} has the fact")),
                        )
                    });
                    Value::Object(each.collect()).to_string()
                }
                ("facts", false) => list("the first message has the fact").to_string(),
                ("reconcile", _) => {
                    let add = |text: String| json!({ "event": "ADD", "text": text });
                    let all = (0..9)
                        .flat_map(|number| many(&format!("message {number} has the other fact")))
                        .map(add);
                    Value::Array(all.collect()).to_string()
                }
                _ => "Much.".to_owned(),
            },
        )
    };
    let mut case = LimitsFixture::new(Budget::default(), respond);
    case.add_turn("many");
    case.process();
    assert_eq!(case.facts().len(), 3);
    for number in 0..9 {
        case.add_turn(&format!("many {number}"));
    }
    case.process();
    let kept = case
        .conversations
        .store
        .read(&ConversationId::default_conversation())
        .unwrap()
        .entries();
    let facts: Vec<_> = kept
        .iter()
        .filter(|entry| entry.role == EntryRole::Memory)
        .collect();
    let of = |turn: &EntryId| {
        facts
            .iter()
            .filter(|fact| fact.source_id.as_ref() == Some(turn))
            .count()
    };
    let turns = kept.iter().filter(|entry| entry.role == EntryRole::User);
    assert!(turns.clone().all(|turn| of(&turn.id) <= 3), "{facts:?}");
    assert_eq!(
        (
            turns.map(|turn| of(&turn.id)).sum::<usize>(),
            case.pending()
        ),
        (facts.len(), 0)
    );
    assert!(20 < facts.len());
}
