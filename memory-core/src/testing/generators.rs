//! Proptest strategies for texts, drafts and memories.

use chrono::{DateTime, Utc};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use uuid::Uuid;

use crate::{
    Category, ContentHash, Draft, Memory, MemoryId, Origin, Phase, Recurrence, Reminder, Scope,
    SpeakerRole,
};

/// Generates any text without NUL.
///
/// It contains different scripts, all kinds of line breaks, and the special characters of Markdown and YAML.
pub fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9 ]{1,12}",
        2 => "[\u{4e00}-\u{4eff}\u{3041}-\u{3096}\u{ac00}-\u{ac40}]{1,6}",
        2 => prop::sample::select(vec![
            "\n", "\r\n", "\n\n", "---\n", "- ", "key: value\n", "# ", "[[a|b]]", "```\n", "null", "1.10", "yes", "~", "\t", "\"", "'", "\\",
            "\u{feff}", "\u{2028}", "\u{85}", "\u{301}", "\u{1f3f7}\u{fe0f}", "{a: b}", "@x", "&a", "*a", "!t", "%", "|", ">",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_filter("NUL is refused elsewhere", |char| *char != '\0').prop_map(String::from),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Generates a valid tag, title, alias or source: one non-empty line without surrounding whitespace.
fn any_name() -> impl Strategy<Value = String> {
    any_text()
        .prop_map(|text| {
            text.chars()
                .filter(|char| !char.is_control() && *char != '#')
                .collect::<String>()
                .trim()
                .to_owned()
        })
        .prop_filter("a name is not empty", |name| !name.is_empty())
}

fn any_moment() -> impl Strategy<Value = DateTime<Utc>> {
    (
        0_i64..4_000_000_000,
        prop_oneof![Just(0_u32), 0..1_000_000_000_u32],
    )
        .prop_map(|(seconds, nanoseconds)| {
            DateTime::from_timestamp(seconds, nanoseconds).expect("before the year 2100")
        })
}

fn any_id() -> impl Strategy<Value = MemoryId> {
    any::<u128>().prop_map(|bits| MemoryId::from(Uuid::from_u128(bits)))
}

/// Generates scopes with names of any characters.
pub fn any_scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        3 => Just(Scope::Global),
        1 => any_name().prop_map(|name| Scope::Agent(name.to_lowercase())),
        1 => any_name().prop_map(Scope::Project),
        1 => any_name().prop_map(Scope::Conversation),
        1 => any_name().prop_map(|name| Scope::Private(name.to_lowercase())),
        1 => any_name().prop_map(|name| Scope::Team(name.to_lowercase())),
    ]
}

fn any_reminder() -> impl Strategy<Value = Reminder> {
    (
        any_moment(),
        option::of(any_id()),
        option::of(any_moment()),
        option::of(any_moment()),
        option::of((any_name(), option::of(any_moment()))),
    )
        .prop_map(|(due, of, notified_at, done_at, repeats)| Reminder {
            due,
            of,
            notified_at,
            done_at,
            repeats: repeats.map(|(expression, snoozed_from)| Recurrence {
                expression,
                snoozed_from,
            }),
        })
}

fn any_role() -> impl Strategy<Value = SpeakerRole> {
    prop::sample::select(vec![
        SpeakerRole::Person,
        SpeakerRole::Assistant,
        SpeakerRole::Tool,
        SpeakerRole::Author,
    ])
}

/// Generates any draft.
pub fn any_draft() -> impl Strategy<Value = Draft> {
    let category = option::of(prop::sample::select(Category::ALL.to_vec()));
    let phase = option::of(prop_oneof![Just(Phase::Inbox), Just(Phase::Organized)]);
    let hash = option::of(any::<[u8; 32]>().prop_map(ContentHash::from));
    let origin = option::of((any_name(), any_name(), any_name(), hash).prop_map(
        |(source, root, path, hash)| Origin {
            source,
            root,
            path,
            hash,
        },
    ));
    let words = (
        any_text(),
        option::of(any_name()),
        vec(any_name(), 0..3),
        vec(any_name(), 0..4),
        prop_oneof![Just(String::new()), any_name()],
    );
    let times = (
        option::of(any_moment()),
        option::of(any_moment()),
        option::of(any_moment()),
        option::of(any_moment()),
    );
    let more = (
        any::<bool>(),
        option::of(any_reminder()),
        origin,
        option::of(any_role()),
    );
    (words, category, phase, any_scope(), times, more).prop_map(
        |(
            (content, title, aliases, tags, source),
            category,
            phase,
            scope,
            (created_at, expires_at, valid_from, valid_until),
            (pinned, reminder, origin, role),
        )| Draft {
            content,
            title,
            aliases,
            category,
            phase,
            scope,
            tags: tags.into_iter().collect(),
            source,
            role,
            created_at,
            expires_at,
            valid_from,
            valid_until,
            pinned,
            reminder,
            origin,
            supersedes: Vec::new(),
        },
    )
}

/// Generates any memory.
pub fn any_memory() -> impl Strategy<Value = Memory> {
    let ids = (
        any_id(),
        vec(any_id(), 0..3),
        vec(any_id(), 0..2),
        option::of(any_id()),
    );
    (any_draft(), ids, any_moment(), any::<u32>(), 1..u32::MAX).prop_map(
        |(draft, (id, links, supersedes, superseded_by), now, access_count, version)| {
            let mut memory = draft.into_memory(id, now);
            memory.links = links;
            memory.supersedes = supersedes;
            memory.superseded_by = superseded_by;
            memory.access_count = access_count.into();
            memory.version = version.into();
            memory
        },
    )
}
