//! Strategies that generate memories.

use chrono::{DateTime, Utc};
use memory_core::{
    Category, ContentHash, FileVersion, Memory, MemoryId, OperationId, Origin, Phase, Proposal,
    ProposalTarget, ProposedAction, Recurrence, Reminder, Scope, SpeakerRole,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use uuid::Uuid;

/// Generates memories with any content that a file can hold.
pub(super) fn memory() -> impl Strategy<Value = Memory> {
    let identity = (
        id(),
        content(),
        phase(),
        category(),
        scope(),
        vec(text(), 0..4),
        text(),
    );
    let times = (
        moment(),
        moment(),
        option::of(moment()),
        any::<u64>(),
        vec(id(), 0..3),
        any::<u64>(),
    );
    let more = (
        option::of(text()),
        vec(text(), 0..3),
        option::of(moment()),
        option::of(moment()),
        option::of(moment()),
    );
    let summarised_by = option::of(any::<u64>().prop_map(OperationId::from_random));
    let role = option::of(select(
        &[
            SpeakerRole::Person,
            SpeakerRole::Assistant,
            SpeakerRole::Author,
        ][..],
    ));
    let after = (
        vec(id(), 0..3),
        option::of(id()),
        summarised_by,
        any::<bool>(),
        option::of(reminder()),
        option::of(origin()),
        role,
    );
    (identity, times, more, after, option::of(proposal())).prop_map(
        |(identity, times, more, after, proposal)| {
            let (id, content, phase, category, scope, tags, source) = identity;
            let (created_at, updated_at, expires_at, access_count, links, version) = times;
            let (title, aliases, stated_at, valid_from, valid_until) = more;
            let (supersedes, superseded_by, summarised_by, pinned, reminder, origin, role) = after;
            Memory {
                id,
                content,
                phase,
                category,
                scope,
                tags: tags.into_iter().collect(),
                source,
                role,
                created_at,
                updated_at,
                stated_at,
                expires_at,
                access_count,
                links,
                version,
                title,
                aliases,
                valid_from,
                valid_until,
                supersedes,
                superseded_by,
                summarised_by,
                pinned,
                reminder,
                origin,
                other_origins: Vec::new(),
                // A proposal of a new memory is in the inbox.
                proposal: proposal.filter(|proposal| {
                    phase == Phase::Inbox || proposal.action != ProposedAction::Write
                }),
            }
        },
    )
}

fn proposal() -> impl Strategy<Value = Proposal> {
    let target = || {
        (id(), text()).prop_map(|(id, base)| ProposalTarget {
            id,
            base: FileVersion(ContentHash::of(&base)),
        })
    };
    let action = prop_oneof![
        Just(ProposedAction::Write),
        target().prop_map(ProposedAction::Update),
        target().prop_map(ProposedAction::Delete)
    ];
    (text(), action).prop_map(|(by, action)| Proposal { by, action })
}

fn reminder() -> BoxedStrategy<Reminder> {
    let (times, of) = (
        (moment(), option::of(moment()), option::of(moment())),
        option::of(id()),
    );
    let repeats =
        (text(), option::of(moment())).prop_map(|(expression, snoozed_from)| Recurrence {
            expression,
            snoozed_from,
        });
    (times, of, option::of(repeats))
        .prop_map(|((due, notified_at, done_at), of, repeats)| Reminder {
            due,
            of,
            notified_at,
            done_at,
            repeats,
        })
        .boxed()
}

/// Generates texts, often ones that YAML reads as another type.
pub(super) fn text() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "",
        " ",
        "null",
        "~",
        "yes",
        "No",
        "1.10",
        "0x1F",
        "1e3",
        "12:30",
        "2024-01-02",
        "@x",
        "key: value",
        "# x",
        "a #b",
        "a:",
        "- a",
        "-",
        "--- a",
        "...",
        "[a]",
        "{a}",
        "a, b",
        "'a'",
        "\"a\"",
        "it's",
        "*a",
        "&a",
        "!a",
        "%a",
        "|",
        ">",
        "?",
        "? a",
        "a\nb",
        "\r\n",
        "\u{2028}",
        "a\u{85}b",
        "\u{feff}",
        "\u{e000}\u{2029}",
        "\0",
        "\u{1b}[0m",
        "\u{fffe}",
        "中文",
        "🏷️",
        "a\\b",
        " a ",
        "a\t",
        "<<",
        "=",
        ".inf",
        "-.5",
        "a?b",
        "https://x.y/#z",
        "\u{1fffe}",
    ];
    prop_oneof![
        proptest::sample::select(WORDS).prop_map(str::to_owned),
        any::<String>(),
        "[a-z :#,'\"\\[\\]{}-]{0,8}"
    ]
}

/// Generates texts without NUL, often with lines that look like fences or the end of a file.
pub(super) fn content() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "",
        "---",
        "\n",
        "\r\n",
        "\r",
        "---\n",
        "a",
        "key: value\n",
        "\u{feff}",
        "\u{2028}",
        "\u{1}",
        "中文",
        "  ",
    ];
    let piece = prop_oneof![
        proptest::sample::select(PIECES).prop_map(str::to_owned),
        any::<String>()
    ];
    vec(piece, 0..6).prop_map(|pieces| pieces.concat().replace('\0', ""))
}

fn id() -> impl Strategy<Value = MemoryId> {
    any::<u128>().prop_map(|id| MemoryId::from(Uuid::from_u128(id)))
}

fn phase() -> impl Strategy<Value = Phase> {
    proptest::sample::select(&[Phase::Inbox, Phase::Organized][..])
}

fn category() -> impl Strategy<Value = Category> {
    proptest::sample::select(&Category::ALL[..])
}

fn scope() -> impl Strategy<Value = Scope> {
    let name = || {
        text().prop_filter_map("a name", |name| {
            format!("agent:{name}").parse::<Scope>().ok()
        })
    };
    prop_oneof![
        Just(Scope::Global),
        name(),
        name().prop_map(|scope| if let Scope::Agent(name) = scope {
            Scope::Project(name)
        } else {
            scope
        }),
        name().prop_map(|scope| if let Scope::Agent(name) = scope {
            Scope::Conversation(name)
        } else {
            scope
        }),
    ]
}

fn moment() -> impl Strategy<Value = DateTime<Utc>> {
    let nanoseconds = prop_oneof![Just(0), Just(120_000_000), 0..1_000_000_000_u32];
    (-62_135_596_800..253_402_300_800_i64, nanoseconds).prop_map(|(seconds, nanoseconds)| {
        DateTime::from_timestamp(seconds, nanoseconds).expect("in the years 1 to 9999")
    })
}

fn origin() -> impl Strategy<Value = Origin> {
    let hash = option::of(any::<[u8; 32]>().prop_map(ContentHash::from));
    (text(), text(), text(), hash).prop_map(|(source, root, path, hash)| Origin {
        source,
        root,
        path,
        hash,
    })
}
