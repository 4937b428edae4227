//! The conformance suite of [`KeyValueStore`].

use std::sync::Arc;
use std::thread;

use super::operations_suite::what_a_value_was_comes_back;
use super::{CountingIds, FakeClock};
use crate::instance::InstanceError;
use crate::instance::kv::{KeyValueStore, KeyValues, ValueKey, delete, get, list, replace, set};
use crate::{Code, SecretPolicy};

/// Returns the values of `store`, with a deterministic clock and deterministic ids.
pub fn values(store: Arc<dyn KeyValueStore>) -> KeyValues {
    KeyValues {
        store,
        clock: Arc::new(FakeClock::default()),
        ids: Arc::new(CountingIds::default()),
    }
}

/// Checks the contract of [`KeyValueStore`] on new and empty stores from `make`.
///
/// # Panics
/// If the contract is violated, with the violated rule.
pub fn key_value_suite(make: &dyn Fn() -> Arc<dyn KeyValueStore>) {
    let case = || KeyValueCase {
        values: values(make()),
    };
    check_rules!(
        case;
        what_is_set_is_got,
        prefixes_are_namespaces_or_beginnings,
        what_is_deleted_is_not_set,
        a_value_is_replaced_only_if_it_is_the_expected_one,
        of_concurrent_replacements_of_a_value_one_succeeds,
        a_key_is_no_namespace,
        what_is_refused_changes_nothing,
        whoever_gets_a_value_gets_it_whole,
    );
}

/// Checks that a [`KeyValueStore`] records its operations and undoes them.
///
/// # Panics
/// If the contract is violated, with the violated rule.
pub fn key_value_undo_suite(make: &dyn Fn() -> Arc<dyn KeyValueStore>) {
    let case = || values(make());
    check_rules!(case; what_a_value_was_comes_back);
}

struct KeyValueCase {
    values: KeyValues,
}

fn key(text: &str) -> ValueKey {
    text.parse().expect("a key")
}

fn code<T: std::fmt::Debug>(result: Result<T, InstanceError>) -> Code {
    result.expect_err("it is refused").code()
}

impl KeyValueCase {
    fn set(&self, at: &str, value: &str) -> bool {
        set(&self.values, &key(at), value, SecretPolicy::Refuse).expect("it is set")
    }

    fn get(&self, at: &str) -> Result<String, InstanceError> {
        get(&self.values, &key(at)).map(|value| value.text)
    }

    fn list(&self, prefix: &str) -> Vec<String> {
        let prefix = prefix.parse().expect("a prefix");
        list(&self.values, &prefix)
            .expect("a list")
            .into_iter()
            .map(|one| one.key.to_string())
            .collect()
    }
}

fn what_is_set_is_got(case: &KeyValueCase) {
    assert_eq!(code(case.get("a")), Code::KeyNotFound);
    for value in [
        "1",
        "",
        "深色\n\0\r\n",
        "{\"n\":1e1000}",
        &"x".repeat(1_000_000),
    ] {
        case.set("a", value);
        assert_eq!(case.get("a").expect("it is set"), value);
    }
    assert!(
        case.set("chat-2026-05-17/draft-reply", "1"),
        "a key that was not set is new"
    );
    assert!(
        !case.set("chat-2026-05-17/draft-reply", "2"),
        "a key that was set is not"
    );
    assert_eq!(
        case.get("chat-2026-05-17/draft-reply").expect("it is set"),
        "2"
    );
    let first = get(&case.values, &key("a")).expect("it is set").updated_at;
    assert!(
        first
            <= get(&case.values, &key("chat-2026-05-17/draft-reply"))
                .expect("it is set")
                .updated_at
    );
}

fn prefixes_are_namespaces_or_beginnings(case: &KeyValueCase) {
    assert_eq!(case.list(""), [""; 0]);
    for at in [
        "chat/b",
        "chat/a/x",
        "chatter",
        "a",
        "chat/a.b",
        "chat/.hidden",
        "chat-1",
    ] {
        case.set(at, "12");
    }
    assert_eq!(
        case.list(""),
        [
            "a",
            "chat-1",
            "chat/.hidden",
            "chat/a.b",
            "chat/a/x",
            "chat/b",
            "chatter"
        ],
        "sorted by bytes"
    );
    assert_eq!(
        case.list("chat/"),
        ["chat/.hidden", "chat/a.b", "chat/a/x", "chat/b"]
    );
    assert_eq!(
        case.list("chat"),
        [
            "chat-1",
            "chat/.hidden",
            "chat/a.b",
            "chat/a/x",
            "chat/b",
            "chatter"
        ]
    );
    assert_eq!(case.list("chat/a"), ["chat/a.b", "chat/a/x"]);
    assert_eq!(case.list("chat/a/"), ["chat/a/x"]);
    assert_eq!(case.list("a"), ["a"]);
    assert_eq!(case.list("a/"), [""; 0]);
    assert_eq!(case.list("none/"), [""; 0]);
    let prefix = "a".parse().expect("a prefix");
    assert_eq!(
        list(&case.values, &prefix).expect("a list")[0].size_bytes,
        2
    );
}

fn a_value_is_replaced_only_if_it_is_the_expected_one(case: &KeyValueCase) {
    let replace_at = |at: &str, expected: Option<&str>, value: &str| {
        replace(
            &case.values,
            &key(at),
            expected,
            value,
            SecretPolicy::Refuse,
        )
        .map_err(|error| error.code())
    };
    let replace = |expected: Option<&str>, value: &str| replace_at("a", expected, value);
    assert_eq!(
        replace(Some("1"), "2"),
        Err(Code::Conflict),
        "the key is not set"
    );
    assert_eq!(code(case.get("a")), Code::KeyNotFound);
    assert_eq!(replace(None, "1"), Ok(()));
    assert_eq!(replace(None, "2"), Err(Code::Conflict));
    assert_eq!(replace(Some("0"), "2"), Err(Code::Conflict));
    assert_eq!(case.get("a").expect("it is set"), "1");
    assert_eq!(replace(Some("1"), "2"), Ok(()));
    assert_eq!(replace(Some("2"), "2"), Ok(()), "the same value");
    assert_eq!(case.get("a").expect("it is set"), "2");
    assert_eq!(replace_at("a/b", None, "1"), Err(Code::KeyExists));
}

fn of_concurrent_replacements_of_a_value_one_succeeds(case: &KeyValueCase) {
    case.set("a", "old");
    let replaced: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|number| {
                let work = move || {
                    replace(
                        &case.values,
                        &key("a"),
                        Some("old"),
                        &format!("new {number}"),
                        SecretPolicy::Refuse,
                    )
                    .is_ok()
                };
                scope.spawn(work)
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| usize::from(thread.join().expect("no panic")))
            .sum()
    });
    assert_eq!(replaced, 1);
}

fn what_is_deleted_is_not_set(case: &KeyValueCase) {
    case.set("a/b/c", "1");
    case.set("a/d", "1");
    assert_eq!(
        code(delete(&case.values, &key("a/b"))),
        Code::KeyNotFound,
        "a namespace is no key"
    );
    delete(&case.values, &key("a/b/c")).expect("it is deleted");
    assert_eq!(code(delete(&case.values, &key("a/b/c"))), Code::KeyNotFound);
    assert_eq!(code(case.get("a/b/c")), Code::KeyNotFound);
    assert_eq!(case.list(""), ["a/d"]);
    assert!(
        case.set("a/b", "2"),
        "a namespace without keys is not there"
    );
    assert_eq!(case.get("a/b").expect("it is set"), "2");
}

fn a_key_is_no_namespace(case: &KeyValueCase) {
    case.set("a/b", "1");
    let refused = |at: &str| code(set(&case.values, &key(at), "2", SecretPolicy::Refuse));
    assert_eq!(
        (refused("a"), refused("a/b/c"), refused("a/b/c/d")),
        (Code::KeyExists, Code::KeyExists, Code::KeyExists)
    );
    assert_eq!(
        (code(case.get("a")), code(case.get("a/b/c"))),
        (Code::KeyNotFound, Code::KeyNotFound)
    );
    assert_eq!(case.get("a/b").expect("it is set"), "1");
    assert_eq!(case.list(""), ["a/b"]);
}

fn what_is_refused_changes_nothing(case: &KeyValueCase) {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    assert_eq!(
        code(set(
            &case.values,
            &key("token"),
            &secret,
            SecretPolicy::Refuse
        )),
        Code::SecretFound
    );
    assert_eq!(
        code(set(&case.values, &key(&secret), "1", SecretPolicy::Refuse)),
        Code::SecretFound
    );
    let large = "x".repeat(crate::instance::kv::MAX_VALUE + 1);
    assert_eq!(
        code(set(
            &case.values,
            &key("large"),
            &large,
            SecretPolicy::Refuse
        )),
        Code::LimitExceeded
    );
    assert_eq!(case.list(""), [""; 0]);
    set(&case.values, &key("token"), &secret, SecretPolicy::Keep)
        .expect("whoever says so keeps it");
    assert_eq!(case.get("token").expect("it is set"), secret);
}

fn whoever_gets_a_value_gets_it_whole(case: &KeyValueCase) {
    let value = |digit: u32| digit.to_string().repeat(100_000);
    case.set("a", &value(0));
    thread::scope(|scope| {
        for digit in 0..3 {
            scope.spawn(move || {
                (0..10).for_each(|_| assert!(!case.set("a", &value(digit)), "it was set before"));
            });
        }
        for _ in 0..30 {
            let got = case.get("a").expect("it is set");
            assert!((0..3).any(|digit| got == value(digit)), "a value is whole");
        }
    });
}
