//! The conformance suite of [`BankStore`].

use chrono::TimeDelta;
use std::sync::Arc;

use super::{CountingIds, FakeClock, FakeFilter, FakeSchemas, check_rule};
use crate::bank::{
    Bank, BankEntry, BankError, BankLimits, BankName, BankQueryTarget, BankScope, BankSearchFields,
    BankStore, BankWriteCondition, BankWriteRequest, BankWriteResult, Banks, GcReason, Key,
    MissingBank, MissingKey, ScopeChoice, delete, delete_bank, export, gc, history, import, keys,
    list, query, read, read_bank, schema, search, set_schema, undo, update, write,
};
use crate::json::JsonText;
use crate::{Code, SecretPolicy, Verb};

/// Returns banks over `user` and `project`, with a deterministic clock and deterministic ids.
pub fn banks(
    user: Arc<dyn BankStore>,
    project: Option<Arc<dyn BankStore>>,
) -> (Banks, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::default());
    let banks = Banks {
        user,
        project,
        further: Vec::new(),
        new_project: None,
        filter: Arc::new(FakeFilter),
        schemas: Arc::new(FakeSchemas),
        limits: BankLimits::default(),
        clock: Arc::clone(&clock) as _,
        ids: Arc::new(CountingIds::default()),
        actor: "test".into(),
    };
    (banks, clock)
}

/// Checks the contract of [`BankStore`] on new and empty stores from `make`.
///
/// # Panics
/// If the contract is violated, with the violated rule.
pub fn bank_suite(make: &dyn Fn() -> Arc<dyn BankStore>) {
    let case = || {
        let (banks, clock) = banks(make(), None);
        BankCase { banks, clock }
    };
    check_rules!(
        case;
        what_is_written_is_read,
        conditions_are_kept,
        updates_count,
        what_expired_is_not_there,
        what_is_deleted_comes_back,
        an_undo_of_what_was_changed_since_is_refused,
        the_first_write_is_taken_back_with_its_bank,
        exports_are_imported,
        values_fit_the_schema,
        keys_and_values_are_found,
        credentials_are_refused,
    );
    check_rule("the_project_comes_first", || the_project_comes_first(make));
}

struct BankCase {
    banks: Banks,
    clock: Arc<FakeClock>,
}

const ANY: ScopeChoice = ScopeChoice::Detected;

fn name(text: &str) -> BankName {
    text.parse().expect("a name")
}

fn key(text: &str) -> Key {
    text.parse().expect("a key")
}

fn json(text: &str) -> JsonText {
    text.parse().expect("JSON")
}

fn code<T: std::fmt::Debug>(result: Result<T, BankError>) -> Code {
    result.expect_err("it is refused").code()
}

impl BankCase {
    fn request(bank: &str, at: &str, value: &str) -> BankWriteRequest {
        let (ttl, condition) = (None, BankWriteCondition::Any);
        BankWriteRequest {
            bank: name(bank),
            key: key(at),
            value: json(value),
            ttl,
            condition,
            scope: ANY,
            secrets: SecretPolicy::Refuse,
        }
    }

    fn write(&self, bank: &str, at: &str, value: &str) -> bool {
        write(&self.banks, &Self::request(bank, at, value))
            .expect("it is written")
            .created
    }

    fn value(&self, bank: &str, at: &str) -> Result<String, BankError> {
        read(&self.banks, &name(bank), &key(at), ANY).map(|reading| reading.entry.value.to_string())
    }

    /// Returns a value that is there.
    fn get(&self, bank: &str, at: &str) -> String {
        self.entry(bank, at).value.to_string()
    }

    fn entry(&self, bank: &str, at: &str) -> BankEntry {
        let found = read(&self.banks, &name(bank), &key(at), ANY);
        found.expect("it is there").entry
    }

    fn bank(&self, bank: &str) -> (BankScope, Bank) {
        read_bank(&self.banks, &name(bank), ANY).expect("it is there")
    }

    fn update(
        &self,
        bank: &str,
        at: &str,
        filter: &str,
        missing: MissingKey,
    ) -> Result<BankWriteResult, BankError> {
        let (bank, at, secrets) = (name(bank), key(at), SecretPolicy::Refuse);
        update(&self.banks, &bank, &at, filter, ANY, missing, secrets)
    }

    fn last(&self) -> String {
        let records = history(&self.banks).expect("a history");
        records
            .first()
            .expect("something was done")
            .1
            .operation
            .id
            .to_string()
    }
}

fn what_is_written_is_read(case: &BankCase) {
    assert_eq!(code(case.value("session", "a")), Code::BankNotFound);
    let text = r#"{"z":1e1000,"a":0.10,"b":[100000000000000000001,"深色"]}"#;
    assert!(case.write("session", "a", text), "a new key is created");
    let first = case.entry("session", "a");
    case.clock.advance(TimeDelta::minutes(1));
    assert_eq!(case.get("session", "a"), text, "digits and order are kept");
    assert!(!case.write("session", "a", "2"), "a known key is updated");
    assert!(case.write("session", "b", "null"));
    let second = case.entry("session", "a");
    assert_eq!(
        second.created_at, first.created_at,
        "an update keeps when it was created"
    );
    assert!(
        first.updated_at < second.updated_at,
        "an update tells when it was"
    );
    assert_eq!(code(case.value("session", "c")), Code::KeyNotFound);
    let (_, whole) = case.bank("session");
    let order: Vec<_> = whole.entries.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(order, ["a", "b"], "keys keep their order");
    let put_out = query(
        &case.banks,
        &name("session"),
        BankQueryTarget::Key(&key("a")),
        ".+1",
        ANY,
    )
    .expect("a filter");
    assert_eq!(put_out.results, [json("3")]);
    assert_eq!(
        code(query(
            &case.banks,
            &name("session"),
            BankQueryTarget::Bank,
            "nonsense",
            ANY
        )),
        Code::FilterError
    );
    let listings = list(&case.banks, ANY).expect("a list");
    assert_eq!(listings.len(), 1);
    assert_eq!(
        listings[0].state.as_ref().expect("it can be read").0,
        2,
        "keys are counted"
    );
}

fn conditions_are_kept(case: &BankCase) {
    let with = |condition, value| BankWriteRequest {
        condition,
        ..BankCase::request("session", "a", value)
    };
    assert_eq!(
        code(write(&case.banks, &with(BankWriteCondition::Present, "1"))),
        Code::BankNotFound
    );
    write(&case.banks, &with(BankWriteCondition::Absent, "1")).expect("it is absent");
    let other = BankWriteRequest {
        key: key("other"),
        ..with(BankWriteCondition::Present, "1")
    };
    assert_eq!(code(write(&case.banks, &other)), Code::KeyNotFound);
    assert_eq!(
        code(write(&case.banks, &with(BankWriteCondition::Absent, "2"))),
        Code::KeyExists
    );
    write(&case.banks, &with(BankWriteCondition::Present, "3")).expect("it is present");
    assert_eq!(case.get("session", "a"), "3");
    let seen = case.entry("session", "a").updated_at;
    let missing = BankWriteRequest {
        key: key("other"),
        ..with(BankWriteCondition::WrittenAt(seen), "4")
    };
    assert_eq!(code(write(&case.banks, &missing)), Code::KeyNotFound);
    write(&case.banks, &with(BankWriteCondition::WrittenAt(seen), "4")).expect("it is unchanged");
    assert_eq!(
        code(write(
            &case.banks,
            &with(BankWriteCondition::WrittenAt(seen), "5")
        )),
        Code::Conflict
    );
    assert_eq!(case.get("session", "a"), "4");
    let large = format!("\"{}\"", "x".repeat(1024 * 1024 - 2));
    case.write("session", "large", &large);
    let larger = BankWriteRequest {
        value: json(&large.replacen('x', "xx", 1)),
        ..BankCase::request("session", "large", "1")
    };
    assert_eq!(code(write(&case.banks, &larger)), Code::LimitExceeded);
    assert_eq!(
        case.get("session", "large"),
        large,
        "what is refused changes nothing"
    );
}

fn updates_count(case: &BankCase) {
    let step = |missing| case.update("stats", "visits", ".+1", missing);
    assert_eq!(code(step(MissingKey::Refuse)), Code::BankNotFound);
    assert!(step(MissingKey::Create).expect("it is created").created);
    assert!(!step(MissingKey::Refuse).expect("it is there").created);
    assert_eq!(case.get("stats", "visits"), "2");
    let none = case.update("stats", "visits", "empty", MissingKey::Refuse);
    assert_eq!(code(none), Code::FilterError);
    assert_eq!(
        case.get("stats", "visits"),
        "2",
        "a filter that fails changes nothing"
    );
}

fn what_expired_is_not_there(case: &BankCase) {
    write(
        &case.banks,
        &BankWriteRequest {
            ttl: Some(60),
            ..BankCase::request("cache", "token", "1")
        },
    )
    .expect("it is written");
    case.write("cache", "other", "1");
    case.clock.advance(TimeDelta::seconds(30));
    assert_eq!(case.get("cache", "token"), "1");
    case.clock.advance(TimeDelta::seconds(60));
    assert_eq!(code(case.value("cache", "token")), Code::TtlExpired);
    let step = case.update("cache", "token", ".+1", MissingKey::Refuse);
    assert_eq!(code(step), Code::TtlExpired);
    assert_eq!(
        keys(&case.banks, &name("cache"), ANY)
            .expect("keys")
            .entries
            .len(),
        1,
        "it is in no list"
    );
    assert_eq!(
        search(&case.banks, "token", BankSearchFields::Values, ANY)
            .expect("a search")
            .matches
            .len(),
        0,
        "it is not found"
    );
    let (told, _) = gc(&case.banks, ANY, None, true).expect("a dry run");
    assert_eq!(
        told.iter()
            .map(|one| (one.key.as_str(), one.why))
            .collect::<Vec<_>>(),
        [("token", GcReason::Expired)]
    );
    assert_eq!(
        code(case.value("cache", "token")),
        Code::TtlExpired,
        "a dry run changes nothing"
    );
    assert_eq!(
        gc(&case.banks, ANY, None, false).expect("a collection").0,
        told
    );
    assert_eq!(code(case.value("cache", "token")), Code::KeyNotFound);
    case.clock.advance(TimeDelta::days(31));
    case.write("cache", "new", "1");
    let (old, _) = gc(&case.banks, ANY, Some(TimeDelta::days(30)), false).expect("a collection");
    assert_eq!(
        old.iter()
            .map(|one| (one.key.as_str(), one.why))
            .collect::<Vec<_>>(),
        [("other", GcReason::Old)]
    );
    assert!(
        case.write("cache", "token", "2"),
        "what is gone can be created"
    );
}

fn what_is_deleted_comes_back(case: &BankCase) {
    for (at, value) in [("a", "1"), ("b", "2"), ("c", "3")] {
        case.write("session", at, value);
    }
    assert_eq!(
        code(delete(&case.banks, &name("session"), &key("d"), ANY)),
        Code::KeyNotFound
    );
    delete(&case.banks, &name("session"), &key("b"), ANY).expect("it is deleted");
    assert_eq!(code(case.value("session", "b")), Code::KeyNotFound);
    let deletion = case.last();
    let undone = undo(&case.banks, &deletion[..6]).expect("it is taken back");
    assert_eq!(
        (
            undone.record.operation.verb,
            undone.record.subject.keys.as_slice()
        ),
        (Verb::Delete, ["b".to_owned()].as_slice())
    );
    assert_eq!(case.get("session", "b"), "2");
    assert_eq!(code(undo(&case.banks, &deletion)), Code::InvalidInput);
    assert_eq!(
        code(undo(&case.banks, "ffff00000000")),
        Code::OperationNotFound
    );
    undo(&case.banks, undone.undo.as_str()).expect("an undo is taken back");
    assert_eq!(code(case.value("session", "b")), Code::KeyNotFound);
    let mut records = history(&case.banks).expect("a history").into_iter();
    let (_, next) = records
        .find(|(_, record)| record.is_open())
        .expect("something was done");
    assert_eq!(
        next.operation.id.to_string(),
        deletion,
        "what was done again is the first to be taken back again"
    );
    undo(&case.banks, &deletion).expect("it is taken back again");
    assert_eq!(case.get("session", "b"), "2");
    delete(&case.banks, &name("session"), &key("b"), ANY).expect("it is deleted");

    delete_bank(&case.banks, &name("session"), ANY).expect("it is deleted");
    assert_eq!(code(case.value("session", "a")), Code::BankNotFound);
    assert_eq!(
        code(delete_bank(&case.banks, &name("session"), ANY)),
        Code::BankNotFound
    );
    undo(&case.banks, &case.last()).expect("it is taken back");
    assert_eq!(case.get("session", "c"), "3");
}

fn an_undo_of_what_was_changed_since_is_refused(case: &BankCase) {
    case.write("session", "a", "1");
    case.write("session", "a", "2");
    let second = case.last();
    case.write("session", "other", "1");
    case.write("session", "a", "3");
    assert_eq!(code(undo(&case.banks, &second)), Code::Conflict);
    undo(&case.banks, &case.last()).expect("the last is taken back");
    undo(&case.banks, &second).expect("then it is as it was left");
    assert_eq!(case.get("session", "a"), "1");
    assert_eq!(case.get("session", "other"), "1", "other keys stay");
}

fn the_first_write_is_taken_back_with_its_bank(case: &BankCase) {
    case.write("session", "a", "1");
    undo(&case.banks, &case.last()).expect("it is taken back");
    assert!(list(&case.banks, ANY).expect("a list").is_empty());
}

fn exports_are_imported(case: &BankCase) {
    case.write("session", "a", r#"{"n":1e1000}"#);
    case.write("session", "b", "2");
    let (_, text) = export(&case.banks, &name("session"), ANY).expect("an export");
    let (_, mut whole) = case.bank("session");
    assert!(text.contains("1e1000"));
    whole.name = name("copy");
    let report = import(&case.banks, &whole, ANY, SecretPolicy::Refuse).expect("an import");
    assert_eq!(
        (report.created, report.updated, report.unchanged),
        (2, 0, 0)
    );
    let (_, copy) = case.bank("copy");
    assert_eq!(
        copy.entries, whole.entries,
        "values and times are taken in as they are"
    );
    case.write("copy", "b", "3");
    case.write("copy", "c", "4");
    let report = import(&case.banks, &whole, ANY, SecretPolicy::Refuse).expect("an import");
    assert_eq!(
        (report.created, report.updated, report.unchanged),
        (0, 1, 1)
    );
    assert_eq!(
        case.get("copy", "c"),
        "4",
        "what the export does not have stays"
    );
}

fn values_fit_the_schema(case: &BankCase) {
    case.write("names", "a", "\"Anna\"");
    let (strings, seven) = (json(r#"{"type":"string"}"#), json("7"));
    let set = |schema| {
        set_schema(
            &case.banks,
            &name("names"),
            schema,
            ANY,
            MissingBank::Refuse,
        )
    };
    assert_eq!(code(set(Some(&seven))), Code::InvalidSchema);
    set(Some(&strings)).expect("a schema");
    assert_eq!(
        schema(&case.banks, &name("names"), ANY)
            .expect("it is there")
            .1,
        Some(strings.clone())
    );
    assert_eq!(
        code(write(&case.banks, &BankCase::request("names", "b", "7"))),
        Code::SchemaViolation
    );
    let step = case.update("names", "b", ".+1", MissingKey::Create);
    assert_eq!(code(step), Code::SchemaViolation);
    undo(&case.banks, &case.last()).expect("it is taken back");
    case.write("names", "b", "7");
    assert_eq!(code(set(Some(&strings))), Code::SchemaViolation);
    assert_eq!(
        code(set_schema(
            &case.banks,
            &name("none"),
            None,
            ANY,
            MissingBank::Refuse
        )),
        Code::BankNotFound
    );
}

fn keys_and_values_are_found(case: &BankCase) {
    case.write(
        "session",
        "context",
        r#"{"topic":"refactoring","files":["main.go"]}"#,
    );
    case.write("other", "contents", r#"{"theme":"\u6df1\u8272"}"#);
    let found = |pattern: &str, searched| {
        let found = search(&case.banks, pattern, searched, ANY).expect("a search");
        found
            .matches
            .iter()
            .map(|one| format!("{}/{}", one.bank, one.key))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found("^cont", BankSearchFields::Keys),
        ["other/contents", "session/context"]
    );
    assert_eq!(found("refactor.*main", BankSearchFields::Keys), [""; 0]);
    assert_eq!(
        found("refactor.*main", BankSearchFields::Values),
        ["session/context"]
    );
    assert_eq!(found("深色", BankSearchFields::Values), ["other/contents"]);
    assert_eq!(
        code(search(&case.banks, "(", BankSearchFields::Keys, ANY)),
        Code::InvalidInput
    );
}

fn credentials_are_refused(case: &BankCase) {
    let secret = format!(
        "{{\"token\":\"ghp_{}\"}}",
        "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    );
    let request = BankCase::request("cache", "token", &secret);
    assert_eq!(code(write(&case.banks, &request)), Code::SecretFound);
    let token = format!("ghp_{}", "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8");
    case.write("plain", "a", "1");
    let (_, mut incoming) = case.bank("plain");
    for (named, bank) in [
        (BankCase::request(&token, "token", "1"), None),
        (BankCase::request("cache", &token, "1"), Some("cache")),
    ] {
        let check = |refused: BankError| {
            assert_eq!(
                (refused.code(), refused.bank.as_deref()),
                (Code::SecretFound, bank),
                "a credential is never repeated"
            );
            assert_eq!((refused.key, refused.scope), (None, Some(BankScope::User)));
        };
        check(write(&case.banks, &named).expect_err("it is refused"));
        let refused = update(
            &case.banks,
            &named.bank,
            &named.key,
            "1",
            ANY,
            MissingKey::Create,
            SecretPolicy::Refuse,
        );
        check(refused.expect_err("it is refused"));
        (incoming.name, incoming.entries[0].0) = (named.bank, named.key);
        check(
            import(&case.banks, &incoming, ANY, SecretPolicy::Refuse).expect_err("it is refused"),
        );
    }
    let escaped = BankCase::request("cache", "token", &secret.replace("ghp_", "\\u0067hp_"));
    assert_eq!(
        code(write(&case.banks, &escaped)),
        Code::SecretFound,
        "however it is spelled"
    );
    write(
        &case.banks,
        &BankWriteRequest {
            secrets: SecretPolicy::Keep,
            ..request
        },
    )
    .expect("whoever says so keeps it");
}

fn the_project_comes_first(make: &dyn Fn() -> Arc<dyn BankStore>) {
    let (banks, clock) = banks(make(), Some(make()));
    let case = BankCase { banks, clock };
    let user = ScopeChoice::Only(BankScope::User);
    write(
        &case.banks,
        &BankWriteRequest {
            scope: user,
            ..BankCase::request("session", "mine", "1")
        },
    )
    .expect("it is written");
    assert_eq!(
        case.get("session", "mine"),
        "1",
        "what the project has not is the user's"
    );
    case.write("session", "mine", "2");
    assert_eq!(
        case.get("session", "mine"),
        "2",
        "what both have is the project's"
    );
    let theirs = read(&case.banks, &name("session"), &key("mine"), user).expect("it is there");
    assert_eq!(
        theirs.entry.value,
        json("1"),
        "what is written is the project's alone"
    );
    assert_eq!(list(&case.banks, ANY).expect("a list").len(), 2);
    delete(&case.banks, &name("session"), &key("mine"), ANY).expect("it is deleted");
    assert_eq!(
        case.get("session", "mine"),
        "1",
        "what is deleted is the project's first"
    );
}
