//! The conformance suite of [`MessageStore`].

use std::ops::Bound;
use std::sync::Arc;
use std::thread;

use chrono::{DateTime, TimeDelta, Utc};

use super::operations_suite::{
    an_import_of_several_sessions_is_undone_at_once, what_is_taken_out_of_a_session_comes_back,
};
use super::{CountingIds, FakeClock};
use crate::instance::InstanceError;
use crate::instance::history::{
    AppendedRecord, MessageStore, Messages, PurgeResult, RecordDraft, RecordFilter, RecordRole,
    SessionName, SessionReadResult, SessionRecord, Window, WindowEnd, append, delete, purge, read,
    sessions,
};
use crate::{Clock, Code, SecretPolicy};

/// Returns the sessions of `store`, with a deterministic clock and deterministic ids.
pub fn messages(store: Arc<dyn MessageStore>) -> (Messages, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::default());
    let ids = Arc::new(CountingIds::default());
    (
        Messages {
            store,
            clock: Arc::clone(&clock) as _,
            ids,
        },
        clock,
    )
}

/// Checks the contract of [`MessageStore`] on new and empty stores from `make`.
///
/// # Panics
/// If the contract is violated, with the violated rule.
pub fn message_suite(make: &dyn Fn() -> Arc<dyn MessageStore>) {
    let case = || MessageCase::new(make());
    check_rules!(
        case;
        what_is_appended_is_read_in_its_order,
        every_digit_and_key_is_kept,
        filters_and_windows_are_kept,
        sessions_are_told_apart,
        a_purge_takes_what_fits_and_nothing_else,
        what_is_deleted_is_gone_and_may_begin_again,
        what_is_refused_changes_nothing,
        credentials_are_redacted_unless_they_are_kept,
        long_sessions_are_read_from_both_ends,
        writers_at_once_keep_their_records_whole,
    );
}

/// Checks that a [`MessageStore`] records its deletions and undoes them.
///
/// # Panics
/// If the contract is violated, with the violated rule.
pub fn message_undo_suite(make: &dyn Fn() -> Arc<dyn MessageStore>) {
    let case = || messages(make()).0;
    check_rules!(case; what_is_taken_out_of_a_session_comes_back, an_import_of_several_sessions_is_undone_at_once);
}

struct MessageCase {
    messages: Messages,
    clock: Arc<FakeClock>,
}

fn name(text: &str) -> SessionName {
    text.parse().expect("a name")
}

fn role(text: &str) -> RecordRole {
    text.parse().expect("a role")
}

fn texts(reading: &SessionReadResult) -> Vec<String> {
    assert!(reading.damaged.is_empty(), "what was kept can be read");
    reading.records.iter().map(content).collect()
}

fn content(record: &SessionRecord) -> String {
    record.text().to_value()["content"]
        .as_str()
        .expect("a text")
        .to_owned()
}

fn code<T: std::fmt::Debug>(result: Result<T, InstanceError>) -> Code {
    result.expect_err("it is refused").code()
}

impl MessageCase {
    fn new(store: Arc<dyn MessageStore>) -> Self {
        let (messages, clock) = messages(store);
        Self { messages, clock }
    }

    fn say(&self, session: &str, who: &str, content: &str) -> DateTime<Utc> {
        let appended = append(
            &self.messages,
            &name(session),
            &RecordDraft::from_text(role(who), content),
            SecretPolicy::Refuse,
        )
        .expect("it is kept");
        assert_eq!(appended.set_aside, None, "nothing was cut off");
        appended.record.at().expect("it says when")
    }

    fn read(&self, session: &str, filter: &RecordFilter, window: Window) -> Vec<String> {
        texts(&read(&self.messages, &name(session), filter, window).expect("it is read"))
    }

    fn read_all(&self) -> SessionReadResult {
        let (all, window) = (RecordFilter::default(), Window::default());
        read(&self.messages, &name("s"), &all, window).expect("it is read")
    }

    fn append(&self, draft: &RecordDraft) -> Result<AppendedRecord, InstanceError> {
        append(&self.messages, &name("s"), draft, SecretPolicy::Refuse)
    }

    fn all(&self, session: &str) -> Vec<String> {
        self.read(session, &RecordFilter::default(), Window::default())
    }
}

fn what_is_appended_is_read_in_its_order(case: &MessageCase) {
    assert_eq!(
        case.all("s"),
        [""; 0],
        "a session that has not begun has no records"
    );
    for (who, content) in [
        ("system", "Be brief."),
        ("user", "深色\nmode?"),
        ("assistant", ""),
    ] {
        case.say("s", who, content);
    }
    assert_eq!(case.all("s"), ["Be brief.", "深色\nmode?", ""]);
    let reading = case.read_all();
    let roles: Vec<_> = reading
        .records
        .iter()
        .map(|record| record.role().as_str())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant"]);
    assert!(
        reading
            .records
            .iter()
            .all(|record| record.at() < Some(case.clock.now())),
        "each says when it was said"
    );
    let earlier = RecordDraft {
        at: DateTime::from_timestamp(1, 0),
        ..RecordDraft::from_text(role("user"), "earlier")
    };
    case.append(&earlier).expect("it is kept");
    assert_eq!(
        case.all("s").last().map(String::as_str),
        Some("earlier"),
        "the order is that of the appends"
    );
}

fn every_digit_and_key_is_kept(case: &MessageCase) {
    let draft = RecordDraft {
        content: Some(r#"[{"type":"text","text":"1e1000"}]"#.parse().expect("JSON")),
        tool_calls: Some(
            r#"[{"id":"c","name":"f","arguments":"{\"n\":0.10}"}]"#
                .parse()
                .expect("JSON"),
        ),
        tool_call_id: Some("c".into()),
        name: Some("f".into()),
        meta: Some(
            r#"{"z":1e1000,"a":100000000000000000001,"深":[0.10]}"#
                .parse()
                .expect("JSON"),
        ),
        ..RecordDraft::from_text(role("tool"), "")
    };
    let kept = case.append(&draft).expect("it is kept");
    let reading = case.read_all();
    assert_eq!(reading.records, [kept.record]);
    assert!(
        reading.records[0]
            .text()
            .as_str()
            .contains(r#""meta":{"z":1e1000,"a":100000000000000000001,"深":[0.10]}"#)
    );
}

fn filters_and_windows_are_kept(case: &MessageCase) {
    let said = ["u1", "a1", "u2", "s1", "u3", "a3", "s2"];
    let mut times = Vec::new();
    for content in said {
        let who = match &content[..1] {
            "u" => "user",
            "a" => "assistant",
            _ => "summary",
        };
        times.push(case.say("s", who, content));
    }
    let roles = |roles: &[&str]| RecordFilter {
        roles: roles.iter().map(|text| role(text)).collect(),
        ..RecordFilter::default()
    };
    let not = |roles: &[&str]| RecordFilter {
        not_roles: roles.iter().map(|text| role(text)).collect(),
        ..RecordFilter::default()
    };
    let window = |offset, limit, end| Window { offset, limit, end };
    let all = Window::default();
    assert_eq!(case.read("s", &roles(&["user"]), all), ["u1", "u2", "u3"]);
    assert_eq!(
        case.read("s", &roles(&["user", "summary"]), all),
        ["u1", "u2", "s1", "u3", "s2"]
    );
    assert_eq!(
        case.read("s", &not(&["summary", "assistant"]), all),
        ["u1", "u2", "u3"]
    );
    assert_eq!(
        case.read(
            "s",
            &RecordFilter {
                not_roles: vec![role("user")],
                ..roles(&["user"])
            },
            all
        ),
        [""; 0]
    );
    assert_eq!(
        case.read(
            "s",
            &roles(&["summary"]),
            window(0, Some(1), WindowEnd::Last)
        ),
        ["s2"],
        "the last summary"
    );
    assert_eq!(
        case.read("s", &not(&["summary"]), window(2, None, WindowEnd::First)),
        ["u2", "u3", "a3"],
        "an offset counts what fits"
    );
    assert_eq!(
        case.read(
            "s",
            &not(&["summary"]),
            window(1, Some(2), WindowEnd::First)
        ),
        ["a1", "u2"]
    );
    assert_eq!(
        case.read("s", &not(&["summary"]), window(1, Some(2), WindowEnd::Last)),
        ["u3", "a3"]
    );
    assert_eq!(
        case.read("s", &not(&["summary"]), window(4, Some(3), WindowEnd::Last)),
        ["a3"],
        "what the offset skips is not taken"
    );
    assert_eq!(
        case.read(
            "s",
            &RecordFilter::default(),
            window(0, Some(0), WindowEnd::Last)
        ),
        [""; 0]
    );
    assert_eq!(
        case.read(
            "s",
            &RecordFilter::default(),
            window(9, None, WindowEnd::First)
        ),
        [""; 0]
    );
    let between = |from, to| RecordFilter {
        from,
        to,
        ..RecordFilter::default()
    };
    let (third, fifth) = (times[2], times[4]);
    assert_eq!(
        case.read(
            "s",
            &between(Bound::Included(third), Bound::Included(fifth)),
            all
        ),
        ["u2", "s1", "u3"]
    );
    assert_eq!(
        case.read(
            "s",
            &between(Bound::Excluded(third), Bound::Excluded(fifth)),
            all
        ),
        ["s1"]
    );
    let late = RecordFilter {
        not_roles: vec![role("summary")],
        ..between(Bound::Included(third), Bound::Unbounded)
    };
    assert_eq!(
        case.read("s", &late, window(0, Some(2), WindowEnd::Last)),
        ["u3", "a3"]
    );
}

fn sessions_are_told_apart(case: &MessageCase) {
    let names = [
        "s",
        "S.1",
        "chat/2026",
        "深色",
        "a b",
        ".hidden",
        "..",
        "100%",
        "user@host:1",
        "-x",
    ];
    for session in names {
        case.say(session, "user", session);
    }
    let last = case.say("深色", "user", "again");
    for session in names {
        assert_eq!(case.all(session)[0], session, "each has its own records");
    }
    let listed = sessions(&case.messages).expect("a list");
    let mut sorted = names.map(str::to_owned);
    sorted.sort();
    assert_eq!(
        listed
            .iter()
            .map(|one| one.session.to_string())
            .collect::<Vec<_>>(),
        sorted,
        "by name"
    );
    let one = listed
        .iter()
        .find(|one| one.session.as_str() == "深色")
        .expect("it is listed");
    assert_eq!((one.records, one.last_at), (2, Some(last)));
}

fn a_purge_takes_what_fits_and_nothing_else(case: &MessageCase) {
    for number in 0..6 {
        case.say(
            "s",
            if number % 2 == 0 { "user" } else { "tool" },
            &number.to_string(),
        );
        case.say("other", "tool", "stays");
        case.clock.advance(TimeDelta::days(1));
    }
    let session = name("s");
    assert_eq!(
        code(purge(&case.messages, &session, &RecordFilter::default())),
        Code::InvalidInput,
        "a purge needs a filter"
    );
    assert_eq!(case.all("s").len(), 6);
    let old = RecordFilter {
        to: Bound::Excluded(case.clock.now() - TimeDelta::days(4)),
        ..RecordFilter::default()
    };
    let old_tools = RecordFilter {
        roles: vec![role("tool")],
        ..old
    };
    let purged = |filter: &RecordFilter| purge(&case.messages, &session, filter).expect("a purge");
    assert_eq!(purged(&old_tools), PurgeResult { purged: 1, kept: 5 });
    assert_eq!(case.all("s"), ["0", "2", "3", "4", "5"]);
    assert_eq!(
        purged(&old_tools),
        PurgeResult { purged: 0, kept: 5 },
        "again it finds nothing"
    );
    assert_eq!(
        purged(&RecordFilter {
            not_roles: vec![role("tool")],
            ..RecordFilter::default()
        }),
        PurgeResult { purged: 3, kept: 2 }
    );
    case.say("s", "user", "6");
    assert_eq!(case.all("s"), ["3", "5", "6"], "the session goes on");
    assert_eq!(case.all("other").len(), 6, "other sessions stay");
    let none = purge(
        &case.messages,
        &name("none"),
        &RecordFilter {
            roles: vec![role("tool")],
            ..RecordFilter::default()
        },
    );
    assert_eq!(
        none.expect("there is nothing to purge"),
        PurgeResult::default()
    );
    assert_eq!(
        sessions(&case.messages).expect("a list").len(),
        2,
        "a purge begins no session"
    );
}

fn what_is_deleted_is_gone_and_may_begin_again(case: &MessageCase) {
    case.say("s", "user", "1");
    case.say("s", "user", "2");
    assert_eq!(
        delete(&case.messages, &name("s")).expect("it is deleted"),
        2
    );
    assert_eq!(
        code(delete(&case.messages, &name("s"))),
        Code::SessionNotFound
    );
    assert_eq!(case.all("s"), [""; 0]);
    assert!(sessions(&case.messages).expect("a list").is_empty());
    case.say("s", "user", "3");
    assert_eq!(case.all("s"), ["3"]);
}

fn what_is_refused_changes_nothing(case: &MessageCase) {
    let nothing = RecordDraft {
        content: None,
        ..RecordDraft::from_text(role("user"), "")
    };
    assert_eq!(code(case.append(&nothing)), Code::InvalidInput);
    assert!(sessions(&case.messages).expect("a list").is_empty());
}

fn credentials_are_redacted_unless_they_are_kept(case: &MessageCase) {
    let secret = format!("my token is ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let draft = RecordDraft::from_text(role("user"), &secret);
    let add = |secrets| {
        append(&case.messages, &name("s"), &draft, secrets)
            .expect("it is stored")
            .redacted
    };
    assert_eq!(add(SecretPolicy::Refuse), ["GitHub token"]);
    assert_eq!(add(SecretPolicy::Keep), [""; 0]);
    let expected = ["my token is [redacted: GitHub token]", &secret];
    assert_eq!(case.all("s"), expected);
}

fn long_sessions_are_read_from_both_ends(case: &MessageCase) {
    let large = "x".repeat(1_000_000);
    for number in 0..300 {
        case.say(
            "s",
            if number % 100 == 0 { "summary" } else { "user" },
            &format!("{number} {}", "深".repeat(number)),
        );
    }
    case.say("s", "user", &large);
    case.say("s", "user", "end");
    let window = |offset, limit, end| Window {
        offset,
        limit: Some(limit),
        end,
    };
    let numbers = |filter: &RecordFilter, window| -> Vec<String> {
        case.read("s", filter, window)
            .iter()
            .map(|text| text.split(' ').next().unwrap_or_default().to_owned())
            .collect()
    };
    let all = RecordFilter::default();
    assert_eq!(
        case.read("s", &all, window(0, 2, WindowEnd::Last)),
        [large, "end".to_owned()]
    );
    assert_eq!(
        numbers(&all, window(0, 5, WindowEnd::Last))[..3],
        ["297", "298", "299"]
    );
    assert_eq!(
        numbers(&all, window(298, 3, WindowEnd::First)),
        ["298", "299", &"x".repeat(1_000_000)]
    );
    assert_eq!(numbers(&all, window(0, 400, WindowEnd::Last)).len(), 302);
    let summaries = RecordFilter {
        roles: vec![role("summary")],
        ..RecordFilter::default()
    };
    assert_eq!(
        numbers(&summaries, window(0, 2, WindowEnd::Last)),
        ["100", "200"]
    );
}

fn writers_at_once_keep_their_records_whole(case: &MessageCase) {
    thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                for number in 0..25 {
                    case.say(
                        "s",
                        "user",
                        &format!("{writer} {number} {}", "y".repeat(number * 97)),
                    );
                }
            });
        }
    });
    let all = case.all("s");
    assert_eq!(all.len(), 100, "none is lost");
    for writer in 0..4 {
        let own = all
            .iter()
            .filter_map(|text| text.strip_prefix(&format!("{writer} ")))
            .map(|rest| rest.split(' ').next());
        assert!(
            own.eq((0..25)
                .map(|number| Some(number.to_string()))
                .collect::<Vec<_>>()
                .iter()
                .map(Option::as_deref))
        );
    }
}
