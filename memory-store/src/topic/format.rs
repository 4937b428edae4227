//! What a topic looks like as a file.

use chrono::NaiveDate;
use memory_core::topic::{Topic, TopicDraft, TopicKind, TopicName};

use crate::markdown::{Front, with_values};

/// Returns the topic that a file is, of which `text` is all or the beginning.
pub(super) fn topic(name: TopicName, text: &str, size: u64, fault: Option<String>) -> Topic {
    let front = Front::of(text);
    // Bytes that are no text are no words either.
    let is_word = |value: &&str| !value.is_empty() && !value.contains(char::REPLACEMENT_CHARACTER);
    let value = |key: &str| front.value(key).map(str::trim).filter(is_word);
    let said_kind = value("type").or_else(|| value("metadata.type")).map(str::to_owned);
    Topic {
        title: value("name").unwrap_or(name.stem()).to_owned(),
        description: value("description").unwrap_or(name.stem()).to_owned(),
        kind: said_kind.as_deref().map_or(TopicKind::Other, TopicKind::of_file),
        said_kind,
        updated: value("updated").and_then(day),
        size,
        problem: fault.or(front.problem),
        name,
    }
}

/// Returns the day that a text begins with.
fn day(text: &str) -> Option<NaiveDate> {
    text.get(..10)?.parse().ok()
}

/// Returns the text of a file that says what `draft` says, and was changed on `today`.
///
/// # Errors
/// Why that cannot be done without harm to what else `former` says of itself.
pub(super) fn written(former: &str, draft: &TopicDraft, today: NaiveDate) -> Result<String, String> {
    let today = today.to_string();
    let mut values = vec![("name", draft.title.as_str()), ("description", draft.description.as_str())];
    values.extend(draft.kind.map(|kind| ("type", kind.as_str())));
    values.push(("updated", &today));
    with_values(former, &values, draft.content.as_deref())
}

/// Returns a text that says it was changed on `today`, where it says that at all.
pub(super) fn redated(text: String, today: NaiveDate) -> String {
    let is_dated = Front::of(&text).value("updated").is_some_and(|value| day(value).is_some_and(|day| day != today));
    // A date that cannot be changed without harm to the rest stays as it is.
    let changed = is_dated.then(|| with_values(&text, &[("updated", &today.to_string())], None).ok()).flatten();
    changed.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn today() -> NaiveDate {
        "2026-03-25".parse().unwrap()
    }

    fn draft(content: &str) -> TopicDraft {
        TopicDraft {
            title: "User Preferences".into(),
            description: "Editor settings and communication style".into(),
            kind: Some(TopicKind::User),
            content: Some(content.into()),
        }
    }

    #[test]
    fn a_new_topic_is_a_file_with_four_keys() {
        insta::assert_snapshot!(written("", &draft("- Prefers concise answers\n- Uses vim keybindings"), today()).unwrap(), @"
        ---
        name: User Preferences
        description: Editor settings and communication style
        type: user
        updated: 2026-03-25
        ---

        - Prefers concise answers
        - Uses vim keybindings
        ");
    }

    #[test]
    fn what_a_file_does_not_say_follows_from_its_name() {
        let read = |text: &str| topic("a_b.md".parse().unwrap(), text, 0, None);
        let plain = read("no front matter\n");
        assert_eq!((plain.title.as_str(), plain.description.as_str(), plain.kind), ("a_b", "a_b", TopicKind::Other));
        let other = read("---\ntype: decision\nupdated: 2026-03-25T10:00:00Z\nname: ' '\n---\n");
        assert_eq!((other.kind, other.said_kind.as_deref(), other.updated), (TopicKind::Other, Some("decision"), Some(today())));
        assert_eq!(other.title, "a_b");
        assert!(read("---\nname: x\n").problem.is_some());
    }

    #[test]
    fn only_a_date_that_is_there_is_changed() {
        let dated = "---\nname: a\nupdated: 2020-01-01 # then\n---\nupdated: 2020-01-01\n";
        assert_eq!(redated(dated.into(), today()), dated.replacen("2020-01-01", "2026-03-25", 1));
        for text in ["no front matter\n", "---\nname: a\n---\n", "---\nupdated: soon\n---\n"] {
            assert_eq!(redated(text.into(), today()), text);
        }
    }
}
