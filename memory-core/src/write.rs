//! Writing new memories.

use chrono::{DateTime, Utc};

use crate::commit::{commit, refuse_nul, retry_conflicts};
use crate::search::find_replacement;
use crate::secret::Checked;
use crate::standing::{is_by_person, is_standing, select_standing};
use crate::supersede::add_superseded;
use crate::{
    Category, Change, ChangeOutcome, Draft, Duplicates, Memory, MemoryId, Patch, Phase, Scope,
    SecretPolicy, Services, SpeakerRole, StoreError, StoredMemory, Tags, Verb,
};

/// The result of writing a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteResult {
    /// The memory that contains the text.
    pub id: MemoryId,
    /// The path below the home.
    pub path: String,
    /// Whether the memory is new; otherwise the text or its words already existed in the same scope.
    pub created: bool,
    /// The time at which the memory expires, see [`crate::InboxTtl::expires_at`].
    pub expires_at: Option<DateTime<Utc>>,
    /// The fields that the existing memory received from the draft.
    pub merged: MergedFields,
    /// The fields of the draft that were ignored because the existing memory has other values.
    pub ignored: Vec<&'static str>,
    /// The memories that it supersedes because of the draft.
    pub superseded: Vec<MemoryId>,
}

/// The fields that a memory received from a draft with the same text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergedFields {
    /// The new tags.
    pub tags: Vec<String>,
    /// The category to which the memory moved, if it was in the inbox.
    pub category: Option<Category>,
    /// The title, if the memory had no title.
    pub title: Option<String>,
    /// Whether the memory became pinned.
    pub pinned: bool,
    /// The role of the author, if a person wrote the text again.
    pub role: Option<SpeakerRole>,
    /// The time of the draft, if it puts a memory into effect again that had expired or was replaced.
    pub stated_at: Option<DateTime<Utc>>,
}

impl MergedFields {
    /// Returns whether the memory received no field.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Stores `draft` as a memory, or merges it into the memory with the same text or words (see [`Memory::words_hash`]) in the same scope.
///
/// An existing memory receives the tags, the category if it is in the inbox, the title if it has no title, the pin, and
/// the role of a person, whose own words count more than the same words of a program. A memory that has expired, that
/// another one supersedes, or whose standing instruction or preference a newer one replaced, is in effect again, unless
/// it is a reminder, was ingested or cannot be parsed, or the draft is older. Its other fields remain unchanged, and the
/// result lists those that differ.
///
/// # Errors
/// [`StoreError::Invalid`] if the text is empty, [`StoreError::Secret`] if it contains a credential, and other errors
/// of the store.
#[expect(clippy::needless_pass_by_value, reason = "a draft becomes the memory")]
pub fn write(
    services: &Services,
    draft: Draft,
    secrets: SecretPolicy,
) -> Result<WriteResult, StoreError> {
    if draft.content.trim().is_empty() {
        return Err(StoreError::Invalid {
            why: "the text of the memory is empty".into(),
        });
    }
    retry_conflicts(|| write_once(services, &draft, secrets))
}

/// Writes a draft, unless another writer changes one of the memories that it supersedes.
fn write_once(
    services: &Services,
    draft: &Draft,
    secrets: SecretPolicy,
) -> Result<WriteResult, StoreError> {
    let mut set = services.change_set(Verb::Write);
    let memory = draft
        .clone()
        .into_memory(services.ids.memory_id(), set.operation.at);
    let expires_at = services.inbox_ttl.memory_expiry(&memory);
    let superseded = memory.supersedes.clone();
    set.changes.push(Change::Create {
        memory: Box::new(memory.clone()),
        front_matter: String::new(),
    });
    for hash in [memory.content_hash(), memory.words_hash()] {
        if let Some(id) = services.store.by_content(&hash, &memory.scope)?.first()
            && let Ok(equal) = services.store.get(id)
        {
            let set = Checked::new(&set, [], secrets)?.into_inner();
            refuse_nul(set)?;
            return merge_duplicate(services, draft, *id, &equal.path);
        }
    }
    add_superseded(services, &memory, &superseded, &mut set)?;
    // A memory that is not created cannot supersede others.
    if superseded.is_empty() {
        set.duplicates = Duplicates::Skip;
    }
    match commit(services, &set, secrets)?.into_iter().next() {
        Some(ChangeOutcome::Kept { id, path } | ChangeOutcome::Removed { id, path }) => {
            // A proposal does not expire, and supersedes nothing before it is accepted.
            let is_proposal = services.proposals.contains(&id);
            let expires_at = expires_at.filter(|_| !is_proposal);
            let superseded = if is_proposal { Vec::new() } else { superseded };
            Ok(WriteResult {
                id,
                path,
                created: true,
                expires_at,
                merged: MergedFields::default(),
                ignored: Vec::new(),
                superseded,
            })
        }
        Some(ChangeOutcome::Duplicate { id, path }) => merge_duplicate(services, draft, id, &path),
        None => unreachable!("a store returns one outcome for each change"),
    }
}

/// Merges `draft` into the memory with the same text.
fn merge_duplicate(
    services: &Services,
    draft: &Draft,
    id: MemoryId,
    known_path: &str,
) -> Result<WriteResult, StoreError> {
    let attempt = || {
        let stored = match services.store.get(&id) {
            Ok(stored) => stored,
            // The memory was deleted concurrently.
            Err(StoreError::NotFound { .. }) => {
                let path = known_path.into();
                let (merged, ignored) = (MergedFields::default(), Vec::new());
                return Ok(WriteResult {
                    id,
                    path,
                    created: false,
                    expires_at: None,
                    merged,
                    ignored,
                    superseded: Vec::new(),
                });
            }
            Err(error) => return Err(error),
        };
        let (mut merged, mut ignored) = plan_merge(draft, &stored, &services.actor);
        let mut set = services.change_set(Verb::Write);
        let written = draft.clone().into_memory(id, set.operation.at);
        // Only the words of the person count, and an ingested text stays that of its source.
        if stored.problem.is_none()
            && stored.memory.origin.is_none()
            && is_by_person(&written)
            && is_standing(&written)
        {
            let is_conversation = matches!(stored.memory.scope, Scope::Conversation(_));
            if !is_by_person(&stored.memory) && !is_conversation {
                merged.role = Some(SpeakerRole::Person);
            }
            let is_replaced = select_standing(services)?.replaced.contains_key(&id);
            merged.stated_at = is_replaced.then_some(written.created_at);
        }
        let memory = &stored.memory;
        let has_passed =
            |end: Option<DateTime<Utc>>| end.is_some_and(|end| end <= set.operation.at);
        let (has_expired, is_outdated) = (
            has_passed(memory.expires_at),
            has_passed(memory.valid_until),
        );
        let is_out_of_effect = has_expired || is_outdated || memory.superseded_by.is_some();
        let can_return =
            stored.problem.is_none() && memory.origin.is_none() && memory.reminder.is_none();
        // A draft with an earlier time, such as one of an import, does not know the present state.
        let is_later = memory.last_stated_at() < written.created_at
            && memory
                .ends_at()
                .is_none_or(|end| end <= written.created_at || set.operation.at < end);
        if can_return
            && is_later
            && (is_out_of_effect || find_replacement(services, memory)?.is_some())
        {
            merged.stated_at = Some(written.created_at);
            ignored.retain(|name| *name != "expires_at" || !has_expired);
        }
        let is_back = merged.stated_at.is_some();
        let patch = Patch {
            add_tags: merged.tags.iter().collect(),
            category: merged.category,
            title: merged.title.clone().map(Some),
            pinned: merged.pinned.then_some(true),
            role: merged.role.map(Some),
            stated_at: merged.stated_at.map(Some),
            expires_at: (is_back && has_expired).then_some(draft.expires_at),
            valid_until: (is_back && is_outdated).then_some(None),
            superseded_by: (is_back && memory.superseded_by.is_some()).then_some(None),
            supersedes: draft.supersedes.clone(),
            ..Patch::default()
        };
        let expires_at = services.inbox_ttl.expires_at(&stored);
        let mut written = WriteResult {
            id,
            path: stored.path.clone(),
            created: false,
            expires_at,
            merged,
            ignored,
            superseded: Vec::new(),
        };
        if let Some(memory) = patch.apply(&stored.memory, set.operation.at) {
            written.expires_at = services.inbox_ttl.memory_expiry(&memory);
            written.superseded = memory.supersedes[stored.memory.supersedes.len()..].into();
            set.changes.push(Change::Replace {
                expected: stored.stamp,
                memory: Box::new(memory.clone()),
            });
            add_superseded(services, &memory, &written.superseded, &mut set)?;
            // The draft was already checked for credentials.
            if let Some(ChangeOutcome::Kept { path, .. }) =
                commit(services, &set, SecretPolicy::Keep)?
                    .into_iter()
                    .next()
            {
                written.path = path;
            }
        }
        Ok(written)
    };
    retry_conflicts(attempt)
}

/// Returns the fields of `draft` to merge into the stored memory, and the names of those to ignore.
///
/// A source that equals `actor` is the default, so a difference is not reported.
pub(crate) fn plan_merge(
    draft: &Draft,
    stored: &StoredMemory,
    actor: &str,
) -> (MergedFields, Vec<&'static str>) {
    let memory = &stored.memory;
    let tags: Vec<String> = draft
        .tags
        .iter()
        .filter(|tag| !has_tag(&memory.tags, tag))
        .cloned()
        .collect();
    let wished = draft
        .category
        .filter(|category| *category != Category::Inbox && draft.phase != Some(Phase::Inbox));
    let category =
        wished.filter(|category| memory.phase == Phase::Inbox || *category != memory.category);
    let title = draft
        .title
        .clone()
        .filter(|title| memory.title.as_ref() != Some(title));
    let pinned = draft.pinned && !memory.pinned;
    let expires = draft.expires_at.is_some() && draft.expires_at != memory.expires_at;
    let source = !["", actor, &memory.source].contains(&draft.source.as_str());
    let role = draft.role.is_some() && draft.role != memory.role;
    if stored.problem.is_some() {
        let all = [
            !tags.is_empty(),
            category.is_some(),
            title.is_some(),
            pinned,
            expires,
            source,
            role,
        ];
        let names = [
            "tags",
            "category",
            "title",
            "pinned",
            "expires_at",
            "source",
            "role",
        ];
        return (
            MergedFields::default(),
            names
                .into_iter()
                .zip(all)
                .filter_map(|(name, is)| is.then_some(name))
                .collect(),
        );
    }
    // The turns of a conversation record who said them, so a repetition does not change their roles.
    let takes_role = role
        && draft.role == Some(SpeakerRole::Person)
        && !matches!(memory.scope, Scope::Conversation(_));
    let takes_category = is_unfiled(memory);
    let takes_title = memory.title.is_none();
    let others = [
        ("category", category.is_some() && !takes_category),
        ("title", title.is_some() && !takes_title),
        ("expires_at", expires),
        ("source", source),
        ("role", role && !takes_role),
    ];
    let ignored = others
        .into_iter()
        .filter_map(|(name, is)| is.then_some(name))
        .collect();
    let merged = MergedFields {
        tags,
        category: category.filter(|_| takes_category),
        title: title.filter(|_| takes_title),
        pinned,
        role: draft.role.filter(|_| takes_role),
        stated_at: None,
    };
    (merged, ignored)
}

/// Returns whether the memory is in the inbox and no reminder, so that a category may be assigned.
fn is_unfiled(memory: &Memory) -> bool {
    memory.phase == Phase::Inbox && memory.reminder.is_none()
}

fn has_tag(tags: &Tags, tag: &str) -> bool {
    tags.iter().any(|own| Tags::key(own) == Tags::key(tag))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::MemStore;
    use crate::testing::services;

    fn draft(tags: &[&str], category: Option<Category>) -> Draft {
        Draft {
            tags: tags.iter().collect(),
            category,
            ..Draft::new("green tea")
        }
    }

    #[test]
    fn an_expired_or_superseded_memory_that_is_written_again_is_in_effect() {
        let services = services(Arc::new(MemStore::default()));
        let is_active = |id: MemoryId| {
            let memory = services.store.get(&id).expect("it is stored").memory;
            memory.superseded_by.is_none() && !memory.has_ended(services.clock.now())
        };
        let past = Some(services.clock.now() - chrono::TimeDelta::days(1));
        let expires_at = past;
        let tea = write(
            &services,
            Draft {
                expires_at,
                ..draft(&[], None)
            },
            SecretPolicy::Refuse,
        )
        .expect("it is stored")
        .id;
        let coffee = write(&services, Draft::new("coffee"), SecretPolicy::Refuse)
            .expect("it is stored")
            .id;
        let patch = Patch {
            superseded_by: Some(Some(tea)),
            valid_until: Some(past),
            ..Patch::default()
        };
        crate::update(
            &services,
            &coffee.to_string(),
            &patch,
            None,
            SecretPolicy::Refuse,
        )
        .expect("it is updated");
        for (id, text) in [(tea, "green tea"), (coffee, "coffee")] {
            assert!(!is_active(id), "{text}");
            let created_at = Some(DateTime::UNIX_EPOCH);
            let old = write(
                &services,
                Draft {
                    created_at,
                    ..Draft::new(text)
                },
                SecretPolicy::Refuse,
            )
            .expect("it exists");
            assert!(old.merged.is_empty() && !is_active(id), "{text}");
            let again =
                write(&services, Draft::new(text), SecretPolicy::Refuse).expect("it is merged");
            assert_eq!(
                (again.id, again.merged.stated_at.is_some(), is_active(id)),
                (id, true, true),
                "{text}"
            );
            let third =
                write(&services, Draft::new(text), SecretPolicy::Refuse).expect("it exists");
            assert!(third.merged.is_empty(), "{text}");
        }
    }

    #[test]
    fn case_and_the_last_full_stop_make_no_new_memory_except_in_code() {
        let services = services(Arc::new(MemStore::default()));
        let put = |text: &str| {
            write(&services, Draft::new(text), SecretPolicy::Refuse)
                .expect("it is stored")
                .id
        };
        for (one, other, is_same) in [
            ("The user likes tea", "the user  likes tea.", true),
            ("用户喜欢茶。", "用户喜欢茶", true),
            ("Set `HOME` first", "Set `home` first", false),
            ("Extract it with tar -C", "Extract it with tar -c", false),
            ("The port is 80", "The port is 81", false),
        ] {
            assert_eq!(put(one) == put(other), is_same, "{one} and {other}");
        }
    }

    #[test]
    fn a_text_that_is_written_again_adds_what_is_new() {
        let services = services(Arc::new(MemStore::default()));
        let first =
            write(&services, draft(&["drink"], None), SecretPolicy::Refuse).expect("it is kept");
        assert!(first.created && first.merged.is_empty() && first.ignored.is_empty());
        let mut again = draft(&["Drink", "morning"], Some(Category::Preferences));
        (again.title, again.pinned) = (Some("Tea".into()), true);
        let second = write(&services, again.clone(), SecretPolicy::Refuse).expect("it is kept");
        let merged = MergedFields {
            tags: vec!["morning".into()],
            category: Some(Category::Preferences),
            title: Some("Tea".into()),
            pinned: true,
            ..MergedFields::default()
        };
        assert_eq!(
            (second.id, second.created, second.merged, second.ignored),
            (first.id, false, merged, vec![])
        );
        let kept = services.store.get(&first.id).expect("it is there");
        assert_eq!(kept.memory.tags.as_slice(), ["drink", "morning"]);
        assert_eq!(
            (kept.memory.phase, kept.memory.category),
            (Phase::Organized, Category::Preferences)
        );
        assert_eq!(second.path, kept.path);
        let third = write(&services, again, SecretPolicy::Refuse).expect("it is kept");
        assert!(third.merged.is_empty() && third.ignored.is_empty());
        assert_eq!(
            services
                .store
                .get(&first.id)
                .expect("it is there")
                .memory
                .version,
            kept.memory.version
        );
    }

    #[test]
    fn what_a_memory_says_itself_stays_and_is_reported() {
        let services = services(Arc::new(MemStore::default()));
        let mut own = draft(&[], Some(Category::Habits));
        own.title = Some("Tea".into());
        let first = write(&services, own, SecretPolicy::Refuse).expect("it is kept");
        let mut other = draft(&["x"], Some(Category::Preferences));
        (other.title, other.expires_at) = (
            Some("Drink".into()),
            Some("2030-01-01T00:00:00Z".parse().expect("a time")),
        );
        let second = write(&services, other, SecretPolicy::Refuse).expect("it is kept");
        assert_eq!(second.ignored, ["category", "title", "expires_at"]);
        assert_eq!(
            second.merged,
            MergedFields {
                tags: vec!["x".into()],
                ..MergedFields::default()
            }
        );
        let kept = services.store.get(&first.id).expect("it is there").memory;
        assert_eq!(
            (kept.category, kept.title.as_deref(), kept.expires_at),
            (Category::Habits, Some("Tea"), None)
        );
    }

    #[test]
    fn in_another_scope_it_is_another_memory() {
        let services = services(Arc::new(MemStore::default()));
        write(&services, draft(&[], None), SecretPolicy::Refuse).expect("it is kept");
        let other = Draft {
            scope: Scope::Agent("claude".into()),
            ..draft(&["x"], None)
        };
        assert!(
            write(&services, other, SecretPolicy::Refuse)
                .expect("it is kept")
                .created
        );
    }

    #[test]
    fn a_person_replaces_another_role_and_no_role_replaces_a_person() {
        let roles = [
            None,
            Some(SpeakerRole::Assistant),
            Some(SpeakerRole::Tool),
            Some(SpeakerRole::Author),
        ];
        let person = Some(SpeakerRole::Person);
        for first in roles {
            let services = services(Arc::new(MemStore::default()));
            let again = |role: Option<SpeakerRole>| {
                write(
                    &services,
                    Draft {
                        role,
                        ..draft(&[], None)
                    },
                    SecretPolicy::Refuse,
                )
                .expect("it is kept")
            };
            let id = again(first).id;
            let role = || services.store.get(&id).expect("it is there").memory.role;
            let by_person = again(person);
            assert_eq!(
                (by_person.created, by_person.merged.role, role()),
                (false, person, person),
                "{first:?}"
            );
            assert!(by_person.ignored.is_empty() && again(person).merged.is_empty());
            for other in roles {
                let ignored: &[&str] = if other.is_none() { &[] } else { &["role"] };
                assert_eq!(
                    (again(other).ignored.as_slice(), role()),
                    (ignored, person),
                    "{other:?} after a person"
                );
            }
        }
    }

    #[test]
    fn an_instruction_that_is_written_again_is_in_effect_again() {
        let services = services(Arc::new(MemStore::default()));
        let say = |text: &str, day: i64| {
            let created_at = Some(DateTime::UNIX_EPOCH + chrono::TimeDelta::days(day));
            write(
                &services,
                Draft {
                    created_at,
                    ..Draft::new(text)
                },
                SecretPolicy::Refuse,
            )
            .expect("it is kept")
            .merged
        };
        let in_effect = || {
            let standing = select_standing(&services).expect("they are read").memories;
            standing.into_iter().map(|own| own.text).collect::<Vec<_>>()
        };
        assert!(say("Answer in English.", 0).is_empty() && say("Answer in German.", 1).is_empty());
        assert_eq!(in_effect(), ["Answer in German."]);
        assert!(say("Answer in German.", 2).is_empty(), "it is in effect");
        let time = Some(DateTime::UNIX_EPOCH + chrono::TimeDelta::days(3));
        assert_eq!(
            say("Answer in English.", 3),
            MergedFields {
                stated_at: time,
                ..MergedFields::default()
            }
        );
        assert_eq!(in_effect(), ["Answer in English."]);
    }

    #[test]
    fn an_edited_instruction_is_newer_than_those_written_before_the_edit() {
        let services = services(Arc::new(MemStore::default()));
        let say = |text: &str| {
            let created_at = Some(DateTime::UNIX_EPOCH);
            write(
                &services,
                Draft {
                    created_at,
                    ..Draft::new(text)
                },
                SecretPolicy::Refuse,
            )
            .expect("it is kept")
            .id
        };
        let edited = say("I live in Oslo. Answer in English.");
        let newest = Draft::new("Answer in German.");
        write(&services, newest, SecretPolicy::Refuse).expect("it is kept");
        let kept = || {
            select_standing(&services).expect("they are read").memories[0]
                .text
                .clone()
        };
        let edit = |content: &str| {
            let patch = Patch {
                content: Some(content.into()),
                ..Patch::default()
            };
            crate::update(
                &services,
                &edited.to_string(),
                &patch,
                None,
                SecretPolicy::Refuse,
            )
            .expect("it is edited");
        };
        edit("I live in Bergen. Answer in English.");
        assert_eq!(
            kept(),
            "Answer in German.",
            "the instruction was not edited"
        );
        edit("I live in Bergen. Answer in French.");
        assert!(kept().contains("French"), "{}", kept());
    }

    #[test]
    fn a_person_who_repeats_a_text_of_an_agent_becomes_its_author() {
        let services = services(Arc::new(MemStore::default()));
        let say = |source: &str| {
            let draft = Draft {
                source: source.into(),
                ..Draft::new("Always answer in German.")
            };
            write(&services, draft, SecretPolicy::Refuse)
                .expect("it is kept")
                .merged
                .role
        };
        let count = || {
            select_standing(&services)
                .expect("they are read")
                .memories
                .len()
        };
        assert_eq!((say("claude"), count()), (None, 1));
        assert_eq!((say(""), count()), (Some(SpeakerRole::Person), 1));
        assert_eq!(say(""), None);
    }

    #[test]
    fn another_role_of_a_program_or_in_a_conversation_is_ignored_and_reported() {
        let services = services(Arc::new(MemStore::default()));
        let ignored = |role: SpeakerRole, scope: &Scope| {
            let draft = Draft {
                role: Some(role),
                scope: scope.clone(),
                ..draft(&[], None)
            };
            write(&services, draft, SecretPolicy::Refuse)
                .expect("it is kept")
                .ignored
        };
        let talk: Scope = "conversation:a".parse().expect("a scope");
        for (scope, other) in [
            (&Scope::Global, SpeakerRole::Tool),
            (&talk, SpeakerRole::Person),
        ] {
            assert!(
                ignored(SpeakerRole::Assistant, scope).is_empty(),
                "it is new"
            );
            assert_eq!(ignored(other, scope), ["role"], "{scope}");
        }
    }

    #[test]
    fn another_source_is_ignored_and_reported_unless_it_is_the_usual_one() {
        let services = services(Arc::new(MemStore::default()));
        let ignored = |source: &str| {
            let draft = Draft {
                source: source.into(),
                ..draft(&[], None)
            };
            write(&services, draft, SecretPolicy::Refuse)
                .expect("it is kept")
                .ignored
        };
        assert!(ignored("notes").is_empty(), "it is new");
        assert_eq!(ignored("browser"), ["source"]);
        for usual in ["", "notes", &services.actor] {
            assert!(ignored(usual).is_empty(), "{usual}");
        }
    }
}
