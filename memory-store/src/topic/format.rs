//! The file format of topics.

use chrono::NaiveDate;
use memory_core::topic::{Topic, TopicDraft, TopicError, TopicKind, TopicName, TopicText};

use crate::markdown::{PlainFrontMatter, body, set_values};

/// The key under which some programs store the type.
const NESTED_TYPE: &str = "metadata.type";

/// Parses the topic of a file. `text` is the whole text or its start.
pub(super) fn parse_topic(name: TopicName, text: &str, size: u64, fault: Option<String>) -> Topic {
    let front = PlainFrontMatter::of(text);
    // Values with bytes that are not UTF-8 are ignored.
    let is_word = |value: &&str| !value.is_empty() && !value.contains(char::REPLACEMENT_CHARACTER);
    let value = |key: &str| front.value(key).map(str::trim).filter(is_word);
    let said_kind = value("type")
        .or_else(|| value(NESTED_TYPE))
        .map(str::to_owned);
    Topic {
        title: value("name").unwrap_or(name.stem()).to_owned(),
        description: value("description").unwrap_or(name.stem()).to_owned(),
        kind: said_kind
            .as_deref()
            .map_or(TopicKind::Other, TopicKind::from_file_value),
        said_kind,
        updated: value("updated").and_then(parse_day),
        size,
        problem: fault.or(front.problem),
        is_unreadable: false,
        name,
    }
}

/// Parses the date at the start of a text.
fn parse_day(text: &str) -> Option<NaiveDate> {
    text.get(..10)?.parse().ok()
}

/// Returns the text of a file with the values of `draft`, updated on `today`.
///
/// `former` is the current text. Values that it already contains are not rewritten. A complete draft replaces a file
/// with a header that cannot be parsed or that contains only keys of a draft.
///
/// # Errors
/// [`TopicError::UnreadableHeader`] if the change would damage other values in the header of `former`.
pub(super) fn apply_draft(
    former: Option<&TopicText>,
    draft: &TopicDraft,
    today: NaiveDate,
) -> Result<String, TopicError> {
    // Bytes in the header that are not UTF-8 would be written as something else.
    let is_lossy =
        |text: &str| text[..text.len() - body(text).len()].contains(char::REPLACEMENT_CHARACTER);
    let is_unreadable = former.is_some_and(|former| {
        PlainFrontMatter::of(&former.text).problem.is_some() || is_lossy(&former.text)
    });
    let written = match (edit_text(former, draft, today), former) {
        (Ok(text), _) if !(is_unreadable && draft.is_whole()) => Ok(text),
        (Err(why), Some(former))
            if !draft.is_whole() || !PlainFrontMatter::is_replaceable(&former.text, &OWN_KEYS) =>
        {
            Err(why)
        }
        _ => edit_text(None, draft, today),
    };
    let name = || former.map_or_else(|| draft.title.clone(), |former| former.path.to_string());
    written.map_err(|what| TopicError::UnreadableHeader { name: name(), what })
}

/// The keys that a draft sets.
const OWN_KEYS: [&str; 4] = ["name", "description", "type", "updated"];

/// Returns the text of `former` with the values of `draft`; the lines of other keys are preserved.
fn edit_text(
    former: Option<&TopicText>,
    draft: &TopicDraft,
    today: NaiveDate,
) -> Result<String, String> {
    let mut values = vec![
        ("name", draft.title.as_str()),
        ("description", draft.description.as_str()),
    ];
    let text = former
        .map(|former| former.text.as_str())
        .unwrap_or_default();
    if let Some(topic) = former.and_then(|former| former.topic.as_ref()) {
        values.retain(|value| {
            ![
                ("name", topic.title.as_str()),
                ("description", topic.description.as_str()),
            ]
            .contains(value)
        });
    }
    let today = today.to_string();
    let with = |keys: &[&'static str]| {
        let mut values = values.clone();
        values.extend(
            draft
                .kind
                .into_iter()
                .flat_map(|kind| keys.iter().map(move |key| (*key, kind.as_str()))),
        );
        if set_values(text, &values, draft.content.as_deref())? == text {
            return Ok(text.to_owned());
        }
        values.push(("updated", &today));
        set_values(text, &values, draft.content.as_deref())
    };
    let front = PlainFrontMatter::of(text);
    match (front.value("type"), front.value(NESTED_TYPE)) {
        (_, None) => with(&["type"]),
        // If the type is in two places, both are changed if possible.
        (Some(_), Some(_)) => with(&["type", NESTED_TYPE]).or_else(|_| with(&["type"])),
        (None, Some(_)) => with(&[NESTED_TYPE]).or_else(|_| with(&["type"])),
    }
}

/// Returns an error if a change of the text makes its header unreadable or its type invalid.
pub(super) fn check_revision(former: &TopicText, next: &str) -> Result<(), TopicError> {
    let Some(before) = &former.topic else {
        return Ok(());
    };
    let after = parse_topic(before.name.clone(), next, 0, None);
    if let (None, Some(problem)) = (&before.problem, &after.problem) {
        let hint = Some("the front matter must remain keys and values between two lines of ---");
        return Err(TopicError::Invalid {
            why: format!(
                "after this change {} cannot be parsed as a topic: {problem}",
                before.name
            ),
            hint,
        });
    }
    if before.said_kind != after.said_kind && after.kind == TopicKind::Other {
        return Err(TopicError::InvalidType {
            given: after.said_kind.unwrap_or_default(),
        });
    }
    Ok(())
}

/// Returns a text with its `updated` date set to `today`, if it has one.
pub(super) fn set_updated_date(text: String, today: NaiveDate) -> String {
    let is_dated = PlainFrontMatter::of(&text)
        .value("updated")
        .is_some_and(|value| parse_day(value).is_some_and(|day| day != today));
    // A date that cannot be changed without damage to the rest is left unchanged.
    let changed = is_dated
        .then(|| set_values(&text, &[("updated", &today.to_string())], None).ok())
        .flatten();
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
        insta::assert_snapshot!(apply_draft(None, &draft("- Prefers concise answers\n- Uses vim keybindings"), today()).unwrap(), @"
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
        let read = |text: &str| parse_topic("a_b.md".parse().unwrap(), text, 0, None);
        let plain = read("no front matter\n");
        assert_eq!(
            (plain.title.as_str(), plain.description.as_str(), plain.kind),
            ("a_b", "a_b", TopicKind::Other)
        );
        let other = read("---\ntype: decision\nupdated: 2026-03-25T10:00:00Z\nname: ' '\n---\n");
        assert_eq!(
            (other.kind, other.said_kind.as_deref(), other.updated),
            (TopicKind::Other, Some("decision"), Some(today()))
        );
        assert_eq!(other.title, "a_b");
        assert!(read("---\nname: x\n").problem.is_some());
    }

    #[test]
    fn what_is_said_already_stays_as_it_is_written() {
        let text = "---\nname: \"A\"\ndescription: >-\n  two\n  lines\nmetadata:\n  # theirs\n  type: project # why\n  owner: Anna\n---\nx\n";
        let name: TopicName = "a.md".parse().unwrap();
        let former = TopicText {
            path: name.path().clone(),
            text: text.into(),
            topic: Some(parse_topic(name, text, 0, None)),
        };
        let draft = TopicDraft {
            title: "A".into(),
            description: "two lines".into(),
            kind: Some(TopicKind::Project),
            content: None,
        };
        assert_eq!(
            apply_draft(Some(&former), &draft, today()).unwrap(),
            text,
            "nothing has to be done"
        );
        let next = apply_draft(
            Some(&former),
            &TopicDraft {
                kind: Some(TopicKind::User),
                ..draft
            },
            today(),
        )
        .unwrap();
        assert_eq!(
            next,
            text.replace("type: project", "type: user")
                .replace("  owner: Anna\n", "  owner: Anna\nupdated: 2026-03-25\n")
        );
    }

    #[test]
    fn only_a_date_that_is_there_is_changed() {
        let dated = "---\nname: a\nupdated: 2020-01-01 # then\n---\nupdated: 2020-01-01\n";
        assert_eq!(
            set_updated_date(dated.into(), today()),
            dated.replacen("2020-01-01", "2026-03-25", 1)
        );
        for text in [
            "no front matter\n",
            "---\nname: a\n---\n",
            "---\nupdated: soon\n---\n",
        ] {
            assert_eq!(set_updated_date(text.into(), today()), text);
        }
    }
}
