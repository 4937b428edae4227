use chrono::{FixedOffset, NaiveDate, TimeDelta};

use super::*;
use crate::testing::{FakeChat, FakeClock, FakeMeter};
use crate::{ChatFailure, ChatMessage, ChatRole, Code, Purpose, RemainingBudget, TokenUsage};

const CLASSIFY: Purpose = Purpose::of("classify");

fn request(content: &str) -> ChatRequest {
    ChatRequest {
        purpose: CLASSIFY,
        messages: vec![ChatMessage {
            role: ChatRole::User,
            content: content.into(),
        }],
        max_tokens: 50,
    }
}

fn metered(model: FakeChat, budget: Budget) -> MeteredModel<FakeChat, FixedOffset> {
    let zone = FixedOffset::east_opt(8 * 3600).expect("it is an offset");
    MeteredModel {
        model,
        meter: Arc::new(FakeMeter::default()),
        clock: Arc::new(FakeClock::default()),
        zone,
        budget,
    }
}

/// Returns the usage on a day of May 2026.
fn spent(metered: &MeteredModel<FakeChat, FixedOffset>, day: u32) -> LlmUsage {
    let day = NaiveDate::from_ymd_opt(2026, 5, day).expect("it is a day");
    let spending = metered.meter.spending(day, day).expect("it is read");
    spending
        .entries
        .iter()
        .fold(LlmUsage::default(), |sum, entry| sum + entry.spent)
}

fn tokens(prompt: u64, answer: u64) -> TokenUsage {
    TokenUsage {
        prompt,
        answer,
        estimated: false,
    }
}

fn trouble() -> ChatFailure {
    ChatFailure {
        why: "it snows".into(),
        hint: None,
    }
}

#[test]
fn what_an_answer_took_is_written_down() {
    let model = FakeChat::default();
    model.will_answer("yes", tokens(20, 5));
    let metered = metered(model, Budget::default());
    assert_eq!(
        metered.answer(&request("is it?")).expect("it answers").text,
        "yes"
    );
    assert_eq!(
        spent(&metered, 7),
        LlmUsage {
            calls: 1,
            prompt_tokens: 20,
            answer_tokens: 5
        }
    );
}

#[test]
fn nothing_is_asked_that_may_cost_more_than_is_left() {
    // The estimate is 2 tokens for the text, 8 for the message frame, and 50 for the response.
    let budget = Budget {
        calls_a_day: Some(3),
        tokens_a_day: Some(110),
    };
    let model = FakeChat::default();
    model.will_answer("one", tokens(20, 30));
    model.will_answer("two", tokens(1, 0));
    let metered = metered(model, budget);
    metered
        .answer(&request("again?"))
        .expect("there are 110 left");
    metered
        .answer(&request("again?"))
        .expect("there are 60 left");
    let error = metered
        .answer(&request("again?"))
        .expect_err("there are 59 left");
    assert_eq!(error.code(), Code::BudgetExhausted);
    assert_eq!(
        error.to_string(),
        "daily budget of 110 tokens exhausted: the call needs up to 60, 59 are left"
    );
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("llm.tokens_a_day"))
    );
    assert_eq!(metered.model.requests().len(), 2);
    assert_eq!(
        spent(&metered, 7),
        LlmUsage {
            calls: 2,
            prompt_tokens: 21,
            answer_tokens: 30
        }
    );
}

#[test]
fn the_next_day_begins_where_the_zone_says() {
    let clock = Arc::new(FakeClock::default());
    let model = FakeChat::with_answers(&["one", "two"]);
    let metered = MeteredModel {
        clock: clock.clone(),
        ..metered(
            model,
            Budget {
                calls_a_day: Some(1),
                tokens_a_day: None,
            },
        )
    };
    metered
        .answer(&request("it is 18:00 in the zone"))
        .expect("it is the first");
    clock.advance(TimeDelta::hours(5));
    metered
        .answer(&request("it is 23:00 there"))
        .expect_err("it is the second");
    clock.advance(TimeDelta::hours(1));
    metered
        .answer(&request("it is midnight there, and 16:00 in UTC"))
        .expect("it is another day");
    assert_eq!((spent(&metered, 7).calls, spent(&metered, 8).calls), (1, 1));
}

#[test]
fn a_failure_costs_what_it_may_have_cost() {
    let reserved = LlmUsage {
        calls: 1,
        prompt_tokens: 10,
        answer_tokens: 50,
    };
    let nothing = LlmUsage::default();
    let some = LlmUsage {
        calls: 1,
        prompt_tokens: 10,
        answer_tokens: 4,
    };
    for (error, cost) in [
        (ChatError::Unusable(trouble()), nothing),
        (ChatError::Unreachable(trouble()), nothing),
        (ChatError::Lost(trouble()), reserved),
        (ChatError::Timeout(trouble()), reserved),
        (
            ChatError::Refused {
                trouble: trouble(),
                tokens: tokens(0, 0),
            },
            LlmUsage {
                calls: 1,
                ..nothing
            },
        ),
        (
            ChatError::Unreadable {
                trouble: trouble(),
                tokens: tokens(10, 4),
            },
            some,
        ),
    ] {
        let (model, code) = (FakeChat::default(), error.code());
        model.will_fail(error);
        let metered = metered(model, Budget::default());
        assert_eq!(
            metered
                .answer(&request("again?"))
                .expect_err("it fails")
                .code(),
            code
        );
        assert_eq!(spent(&metered, 7), cost, "{code}");
    }
}

#[test]
fn what_is_left_is_that_of_the_day() {
    let budget = Budget {
        calls_a_day: Some(3),
        tokens_a_day: None,
    };
    let metered = metered(FakeChat::with_answers(&["yes"]), budget);
    metered.answer(&request("is it?")).expect("it answers");
    let allowance = metered.allowance().expect("it is read");
    assert_eq!(
        (allowance.budget, allowance.left),
        (
            budget,
            RemainingBudget {
                calls: Some(2),
                tokens: None
            }
        )
    );
}

#[test]
fn where_nothing_can_be_written_down_nothing_is_asked() {
    let meter = Arc::new(FakeMeter::default());
    meter.will_fail();
    let metered = MeteredModel {
        meter,
        ..metered(FakeChat::with_answers(&["yes"]), Budget::default())
    };
    let error = metered
        .answer(&request("is it?"))
        .expect_err("it cannot be kept");
    assert_eq!(
        (error.code(), metered.model.requests().len()),
        (Code::Io, 0)
    );
    assert_eq!(
        error.to_string(),
        "the language model was not called, because its usage cannot be recorded"
    );
}
