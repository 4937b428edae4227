//! Requests that create items for tests.

use memory_core::bank::{BankWriteCondition, ScopeChoice};
use memory_core::topic::TopicKind;
use memory_core::{SecretPolicy, bank, topic};

/// Returns a request that writes an entry of a bank.
pub(crate) fn bank_entry_request(bank: &str, key: &str, value: &str) -> bank::BankWriteRequest {
    bank::BankWriteRequest {
        bank: bank.parse().expect("a name"),
        key: key.parse().expect("a key"),
        value: value.parse().expect("JSON"),
        ttl: None,
        condition: BankWriteCondition::Any,
        scope: ScopeChoice::Detected,
        secrets: SecretPolicy::Refuse,
    }
}

/// Returns a request that writes a topic.
pub(crate) fn topic_request(name: &str, content: &str) -> topic::TopicWriteRequest {
    topic::TopicWriteRequest {
        name: name.parse().expect("a name"),
        title: None,
        description: Some("x".into()),
        kind: Some(TopicKind::Project),
        content: Some(content.into()),
        secrets: SecretPolicy::Refuse,
    }
}
