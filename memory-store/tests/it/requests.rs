//! Requests that create items for tests.

use memory_core::bank::{Condition, ScopeChoice};
use memory_core::topic::TopicKind;
use memory_core::{Secrets, bank, topic};

/// Returns a request that writes an entry of a bank.
pub(crate) fn bank_entry(bank: &str, key: &str, value: &str) -> bank::WriteRequest {
    bank::WriteRequest {
        bank: bank.parse().expect("a name"),
        key: key.parse().expect("a key"),
        value: value.parse().expect("JSON"),
        ttl: None,
        condition: Condition::Any,
        scope: ScopeChoice::Detected,
        secrets: Secrets::Refuse,
    }
}

/// Returns a request that writes a topic.
pub(crate) fn a_topic(name: &str, content: &str) -> topic::WriteRequest {
    topic::WriteRequest {
        name: name.parse().expect("a name"),
        title: None,
        description: Some("x".into()),
        kind: Some(TopicKind::Project),
        content: Some(content.into()),
        secrets: Secrets::Refuse,
    }
}
