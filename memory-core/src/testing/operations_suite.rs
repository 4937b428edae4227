//! The conformance suite for the undo of messages and values.

use chrono::{DateTime, Datelike, Months, TimeDelta, Utc};

use crate::instance::history::{self, Messages, RecordDraft, RecordFilter, SessionName, Window};
use crate::instance::kv::{self, KeyValues, ValueKey};
use crate::instance::{InstanceError, InstanceRecord};
use crate::secret::Checked;
use crate::{Clock, Code, Operation, SecretPolicy, Verb};

fn code<T: std::fmt::Debug>(result: Result<T, InstanceError>) -> Code {
    result.expect_err("it is refused").code()
}

fn describe_records(records: &[InstanceRecord]) -> Vec<String> {
    let word = |record: &InstanceRecord| {
        let state = match (&record.undoes, &record.undone_by) {
            (_, Some(_)) => ", taken back",
            (Some(_), None) => ", takes back",
            (None, None) => "",
        };
        format!(
            "{} {} {}{state}",
            record.operation.verb.as_str(),
            record.subject.name,
            record.subject.count
        )
    };
    records.iter().map(word).collect()
}

struct SessionFixture<'a>(&'a Messages);

impl SessionFixture<'_> {
    fn name() -> SessionName {
        "s".parse().expect("a name")
    }

    fn say(&self, role: &str, contents: &[&str]) {
        for content in contents {
            let draft = RecordDraft::from_text(role.parse().expect("a role"), content);
            history::append(self.0, &Self::name(), &draft, SecretPolicy::Refuse)
                .expect("it is kept");
        }
    }

    fn purge(&self, role: &str) {
        let filter = RecordFilter {
            roles: vec![role.parse().expect("a role")],
            ..RecordFilter::default()
        };
        history::purge(self.0, &Self::name(), &filter).expect("a purge");
    }

    fn all(&self) -> String {
        let reading = history::read(
            self.0,
            &Self::name(),
            &RecordFilter::default(),
            Window::default(),
        )
        .expect("it is read");
        assert!(reading.damaged.is_empty(), "what was kept can be read");
        let content = |record: &history::SessionRecord| {
            record.text().to_value()["content"]
                .as_str()
                .map(str::to_owned)
        };
        reading
            .records
            .iter()
            .map(|record| content(record).expect("a text"))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn describe_operations(&self) -> Vec<String> {
        describe_records(&history::operations(self.0, usize::MAX).expect("what was done"))
    }
}

pub(super) fn what_is_taken_out_of_a_session_comes_back(messages: &Messages) {
    let s = SessionFixture(messages);
    assert_eq!(
        code(history::undo(messages, None)),
        Code::OperationNotFound,
        "nothing was done yet"
    );
    s.say("user", &["1"]);
    s.say("tool", &["2"]);
    s.say("user", &["3"]);
    assert_eq!(
        s.describe_operations(),
        [""; 0],
        "what is appended takes nothing away"
    );
    s.purge("tool");
    s.say("user", &["4"]);
    let undone = history::undo(messages, None).expect("the purge is taken back");
    assert_eq!(
        (undone.record.operation.verb, undone.record.subject.count),
        (Verb::Purge, 1)
    );
    assert_eq!(
        s.all(),
        "1 2 3 4",
        "what was said since stays, behind what came back"
    );
    assert_eq!(
        s.describe_operations(),
        ["undo s 1, takes back", "purge s 1, taken back"]
    );
    assert_eq!(
        code(history::undo(
            messages,
            Some(undone.record.operation.id.as_str())
        )),
        Code::InvalidInput,
        "it is back already"
    );
    s.say("tool", &["5"]);
    history::undo(messages, Some(undone.undo.as_str())).expect("it is purged again");
    assert_eq!(s.all(), "1 3 4 5", "what was said since stays");
    assert_eq!(s.describe_operations().len(), 3);
    assert_eq!(history::operations(messages, 1).expect("the last").len(), 1);
    s.purge("nobody");
    assert_eq!(
        s.describe_operations().len(),
        3,
        "a purge that found nothing is not told"
    );

    assert_eq!(
        history::delete(messages, &SessionFixture::name()).expect("it is deleted"),
        4
    );
    s.say("user", &["6"]);
    let undone = history::undo(messages, None).expect("the session comes back");
    assert_eq!(
        (undone.record.operation.verb, undone.record.subject.count),
        (Verb::Delete, 4)
    );
    assert_eq!(s.all(), "1 3 4 5 6", "before what it began with anew");
    history::undo(messages, Some(undone.undo.as_str())).expect("it is deleted again");
    assert_eq!(s.all(), "6");
    history::delete(messages, &SessionFixture::name()).expect("it is deleted");
    let undone = history::undo(messages, None).expect("it comes back");
    assert_eq!(s.all(), "6");
    history::undo(messages, Some(undone.undo.as_str())).expect("it is deleted again");
    assert_eq!(
        history::sessions(messages).expect("a list").len(),
        0,
        "nothing is left of it"
    );
    s.say("user", &["7"]);
    assert_eq!(s.all(), "7");

    assert_eq!(
        code(history::undo(messages, Some("ffffffffffff"))),
        Code::OperationNotFound
    );
    assert_eq!(
        code(history::undo(messages, Some("0"))),
        Code::OperationNotFound,
        "that is too little of a name"
    );
    let month = end_of_month(messages.clock.as_ref());
    messages
        .store
        .purge_trash(month - TimeDelta::seconds(1))
        .expect("the month is not over");
    assert_ne!(s.describe_operations(), [""; 0]);
    messages
        .store
        .purge_trash(month)
        .expect("the month is over");
    assert_eq!(
        (s.describe_operations(), s.all()),
        (Vec::new(), "7".to_owned())
    );
    assert_eq!(
        code(history::undo(messages, Some(undone.undo.as_str()))),
        Code::OperationNotFound,
        "it is gone for good"
    );
}

/// A store that does not support imports is not checked.
pub(super) fn an_import_of_several_sessions_is_undone_at_once(messages: &Messages) {
    let case = SessionFixture(messages);
    case.say("user", &["before"]);
    let operation = Operation::new(
        Verb::Ingest,
        "",
        messages.clock.as_ref(),
        messages.ids.as_ref(),
    );
    let import = |session: &str, texts: &[&str]| {
        let draft = |text: &&str| RecordDraft::from_text("user".parse().expect("a role"), text);
        let records: Vec<_> = texts
            .iter()
            .map(|text| history::SessionRecord::imported(&draft(text)).expect("a record"))
            .collect();
        messages.store.replace(
            &session.parse().expect("a name"),
            Checked::allowed(records.as_slice()),
            &operation,
        )
    };
    if import("first", &["1", "2"]).is_err_and(|error| error.code() == Code::InvalidInput) {
        return;
    }
    import(SessionFixture::name().as_str(), &["3"]).expect("an existing session is replaced");
    import("third", &["4", "5", "6"]).expect("a session is created");
    assert_eq!(case.all(), "3");
    let listed = history::operations(messages, 10).expect("a list");
    assert_eq!(
        (
            listed.len(),
            listed[0].subject.count,
            listed[0].subject.more
        ),
        (1, 6, 2),
        "it is one operation: {listed:?}"
    );
    let undone = history::undo(messages, None).expect("it can be undone");
    assert_eq!(
        (undone.record.subject.count, undone.record.subject.more),
        (6, 2)
    );
    let names = || {
        history::sessions(messages)
            .expect("a list")
            .into_iter()
            .map(|own| own.session.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (case.all().as_str(), names()),
        ("before", vec![SessionFixture::name().to_string()])
    );
    assert_eq!(
        code(history::undo(messages, Some(operation.id.as_str()))),
        Code::InvalidInput,
        "it is already undone"
    );
    history::undo(messages, Some(undone.undo.as_str())).expect("the undo can be undone");
    assert_eq!((case.all().as_str(), names().len()), ("3", 3));
    case.say("user", &["after"]);
    history::undo(messages, Some(operation.id.as_str()))
        .expect("an appended record does not prevent it");
    assert_eq!(case.all(), "before after");
}

/// Returns the start of the next month.
fn end_of_month(clock: &dyn Clock) -> DateTime<Utc> {
    let first = clock
        .now()
        .date_naive()
        .with_day(1)
        .expect("every month has one");
    let next = first
        .checked_add_months(Months::new(1))
        .expect("there is a next month");
    next.and_hms_opt(0, 0, 0).expect("midnight").and_utc()
}

pub(super) fn what_a_value_was_comes_back(values: &KeyValues) {
    let key = |text: &str| -> ValueKey { text.parse().expect("a key") };
    let put = |at: &str, value: &str| {
        kv::set(values, &key(at), value, SecretPolicy::Refuse).expect("it is set")
    };
    let got = |at: &str| kv::get(values, &key(at)).map(|value| value.text);
    let done = || describe_records(&kv::operations(values, usize::MAX).expect("what was done"));
    let back = |reference: Option<&str>| kv::undo(values, reference);
    assert_eq!(
        code(back(None)),
        Code::OperationNotFound,
        "nothing was done yet"
    );
    put("c", "1");
    put("a/b", "1");
    put("a/b", "1");
    assert_eq!(
        done(),
        ["set a/b 1", "set c 1"],
        "what is set as it is changes nothing"
    );
    let long = "深".repeat(100_000);
    put("a/b", &long);
    put("a/b", "3");
    let undone = back(None).expect("the last set is taken back");
    assert_eq!(
        (
            undone.record.operation.verb,
            undone.record.subject.name.as_str()
        ),
        (Verb::Set, "a/b")
    );
    assert_eq!(got("a/b").expect("it is set"), long);
    back(None).expect("and the one before");
    assert_eq!(got("a/b").expect("it is set"), "1");
    let again = ["undo a/b 1, takes back"; 2]
        .into_iter()
        .chain(["set a/b 1, taken back"; 2]);
    assert_eq!(
        done(),
        again.chain(["set a/b 1", "set c 1"]).collect::<Vec<_>>()
    );
    assert_eq!(
        code(back(Some(undone.record.operation.id.as_str()))),
        Code::InvalidInput,
        "it was taken back already"
    );
    assert_eq!(
        code(back(Some(undone.undo.as_str()))),
        Code::Conflict,
        "what it left is no longer there"
    );

    kv::delete(values, &key("a/b")).expect("it is deleted");
    let undone = back(None).expect("it comes back");
    assert_eq!(
        (
            undone.record.operation.verb,
            got("a/b").expect("it is set").as_str()
        ),
        (Verb::Delete, "1")
    );
    let again = back(Some(undone.undo.as_str())).expect("it is deleted again");
    assert_eq!(code(got("a/b")), Code::KeyNotFound);
    put("a/b", "4");
    assert_eq!(
        code(back(Some(again.undo.as_str()))),
        Code::Conflict,
        "another value is there now"
    );
    assert_eq!(got("a/b").expect("it is set"), "4");
    kv::delete(values, &key("a/b")).expect("it is deleted");
    let deleted = kv::operations(values, 1)
        .expect("the last")
        .remove(0)
        .operation
        .id;
    put("a", "5");
    assert_eq!(
        code(back(Some(deleted.as_str()))),
        Code::Conflict,
        "its place is another key's"
    );
    assert_eq!(
        (
            got("a").expect("it is set").as_str(),
            kv::list(values, &"".parse().expect("all"))
                .expect("a list")
                .len()
        ),
        ("5", 2)
    );
    put("d/e", "7");
    let undone = back(None).expect("what was set where nothing was is taken back");
    assert_eq!(
        (undone.record.subject.name.as_str(), code(got("d/e"))),
        ("d/e", Code::KeyNotFound)
    );
    back(Some(undone.undo.as_str())).expect("it is set again");
    assert_eq!(got("d/e").expect("it is set"), "7");
    kv::delete(values, &key("a")).expect("it is deleted");
    let last = kv::operations(values, 1).expect("the last").remove(0);
    assert_eq!(
        (
            last.operation.verb,
            last.subject.name.as_str(),
            last.undone_by
        ),
        (Verb::Delete, "a", None)
    );

    let month = end_of_month(values.clock.as_ref());
    values
        .store
        .purge_trash(month - TimeDelta::seconds(1))
        .expect("the month is not over");
    assert_ne!(done(), [""; 0]);
    values.store.purge_trash(month).expect("the month is over");
    assert_eq!(done(), [""; 0]);
    assert_eq!(
        code(kv::undo(values, Some(last.operation.id.as_str()))),
        Code::OperationNotFound,
        "it is gone for good"
    );
    assert_eq!(got("c").expect("it is set"), "1");
}
