//! The memory type and its field types.

mod category;
mod draft;
mod id;
mod origin;
mod proposal;
mod scope;
mod speaker_role;
mod tags;

pub use category::{Category, Phase};
pub use draft::{Draft, Patch};
pub use id::{MemoryId, OperationId, ParseError};
pub use origin::{ContentHash, ContentHasher, Origin};
pub use proposal::{Proposal, ProposalTarget, ProposedAction};
pub use scope::{AgentName, Scope};
pub use speaker_role::SpeakerRole;
pub use tags::Tags;

use chrono::{DateTime, Utc};

/// The keys of the front matter of a memory, in the order of the file format.
///
/// From `role` on, a key without a value is omitted.
pub const MEMORY_KEYS: [&str; 36] = [
    "id",
    "content_hash",
    "phase",
    "category",
    "scope",
    "tags",
    "source",
    "created_at",
    "updated_at",
    "expires_at",
    "access_count",
    "links",
    "version",
    "role",
    "title",
    "aliases",
    "stated_at",
    "valid_from",
    "valid_until",
    "supersedes",
    "superseded_by",
    "summarised_by",
    "pinned",
    "due",
    "reminds",
    "notified_at",
    "done_at",
    "repeats",
    "snoozed_from",
    "origin",
    "other_origins",
    "proposed_by",
    "proposed_action",
    "proposed_for",
    "proposed_base",
    "memory_version",
];

/// Maximum size of a stored memory with its metadata, in bytes.
pub const MAX_MEMORY_SIZE: usize = 16 << 20;

/// Maximum size of an input that contains the text of one memory, in bytes: piped text, or a request with the text as JSON.
///
/// JSON writes some bytes as two, such as line breaks and quotes.
pub const MAX_INPUT_SIZE: usize = 2 * MAX_MEMORY_SIZE;

/// A memory.
///
/// A memory is a value: changing one means committing a changed copy, see [`crate::update()`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The id, for programs. People and links may also use the file stem, the title or an alias.
    pub id: MemoryId,
    /// The text, as Markdown. The last line break of the file is not part of it.
    pub content: String,
    /// The phase.
    pub phase: Phase,
    /// The category. In the inbox it is a suggestion; in the organized phase it is the folder.
    pub category: Category,
    /// The scope, which determines the readers.
    pub scope: Scope,
    /// The tags, in the given order.
    pub tags: Tags,
    /// The program that supplied it, such as `claude` or `logseq`; empty if unspecified.
    pub source: String,
    /// The role of its author, if available. See [`Memory::speaker_role`].
    pub role: Option<SpeakerRole>,
    /// The creation time.
    pub created_at: DateTime<Utc>,
    /// The time of the last change of the file by this program.
    pub updated_at: DateTime<Utc>,
    /// The time of the latest statement of the memory, if it was written again after it was out of effect, or if its standing
    /// sentences were edited or merged.
    pub stated_at: Option<DateTime<Utc>>,
    /// The time from which the memory is excluded from results, if any.
    pub expires_at: Option<DateTime<Utc>>,
    /// The number of reads.
    pub access_count: u64,
    /// Related memories, in the order in which they were linked. Links go both ways.
    pub links: Vec<MemoryId>,
    /// The version number, starting at 1 and incremented by each change.
    pub version: u64,
    /// The title, if any.
    pub title: Option<String>,
    /// Other names that wikilinks may use.
    pub aliases: Vec<String>,
    /// The start of the validity of the content, if specified.
    pub valid_from: Option<DateTime<Utc>>,
    /// The end of the validity of the content, if specified.
    pub valid_until: Option<DateTime<Utc>>,
    /// The memories that this one supersedes.
    pub supersedes: Vec<MemoryId>,
    /// The memory that supersedes this one.
    pub superseded_by: Option<MemoryId>,
    /// The operation that replaced the text by a summary, if any. It moved the full text to the trash.
    pub summarised_by: Option<OperationId>,
    /// Whether the memory is retained however old it is and however rarely it is read.
    pub pinned: bool,
    /// The reminder, if the memory is one.
    pub reminder: Option<Reminder>,
    /// The file or location that it was ingested from.
    pub origin: Option<Origin>,
    /// Other files that had the same text when they were ingested; their `hash` is never set.
    pub other_origins: Vec<Origin>,
    /// The proposal, if the memory waits for a review. No one recalls it until then.
    pub proposal: Option<Proposal>,
}

impl Memory {
    /// Returns the hash of the content, which identifies duplicates.
    pub fn content_hash(&self) -> ContentHash {
        ContentHash::of(&self.content)
    }

    /// Returns a hash that is equal for texts with the same words.
    ///
    /// It is that of a proposal of the text, see [`ProposedAction::fingerprint`]. In a text with code or options of a command, case matters,
    /// so its hash is [`Self::content_hash`].
    pub fn words_hash(&self) -> ContentHash {
        let is_option = |word: &str| {
            let name = word.trim_start_matches('-');
            name.len() < word.len() && name.starts_with(char::is_alphabetic)
        };
        if self.content.contains('`') || self.content.split_whitespace().any(is_option) {
            return self.content_hash();
        }
        ProposedAction::Write.fingerprint(self)
    }

    /// Returns the memories that this one refers to other than by wikilinks.
    pub(crate) fn references(&self) -> Vec<MemoryId> {
        let of = self.reminder.as_ref().and_then(|reminder| reminder.of);
        self.links
            .iter()
            .chain(&self.supersedes)
            .chain(&self.superseded_by)
            .chain(&of)
            .copied()
            .collect()
    }

    /// Returns the time of the latest statement: `stated_at`, or else the creation time.
    pub fn last_stated_at(&self) -> DateTime<Utc> {
        self.stated_at
            .map_or(self.created_at, |again| again.max(self.created_at))
    }

    /// Returns the role of its author: `role`, or the role that `source` names in a conversation.
    pub fn speaker_role(&self) -> Option<SpeakerRole> {
        let of_source = || {
            SpeakerRole::from_source(&self.source)
                .filter(|_| matches!(self.scope, Scope::Conversation(_)))
        };
        self.role.or_else(of_source)
    }

    /// Returns whether the memory has expired or its validity has ended at `now`.
    pub fn has_ended(&self, now: DateTime<Utc>) -> bool {
        self.ends_at().is_some_and(|end| end <= now)
    }

    /// Returns the time from which the memory is excluded from results.
    ///
    /// It is the earlier of `expires_at` and `valid_until`.
    pub fn ends_at(&self) -> Option<DateTime<Utc>> {
        match (self.expires_at, self.valid_until) {
            (Some(expires), Some(until)) => Some(expires.min(until)),
            (expires, until) => expires.or(until),
        }
    }

    /// Returns whether the inbox TTL does not apply: the memory is pinned, ingested, an open reminder, or a proposal.
    pub fn outlives_inbox_ttl(&self) -> bool {
        self.pinned
            || self.is_proposal()
            || self.origin.is_some()
            || self.reminder.as_ref().is_some_and(Reminder::is_open)
    }

    /// Returns the recurrence of the memory's reminder, if it recurs.
    pub fn recurrence(&self) -> Option<&Recurrence> {
        self.reminder.as_ref()?.repeats.as_ref()
    }

    /// Returns the name for wikilinks: the title, or else the heading of the first line.
    pub fn title_or_heading(&self) -> Option<&str> {
        let is_blank = |text: &str| text.trim().is_empty();
        self.title
            .as_deref()
            .filter(|title| !is_blank(title))
            .or_else(|| first_heading(&self.content))
            .filter(|name| !is_blank(name))
    }

    /// Returns the headline for lists: the title, or else the first line of the content with text.
    pub fn headline(&self) -> &str {
        let first_line = || {
            self.content
                .lines()
                .map(|line| heading(line).unwrap_or_else(|| line.trim_start_matches('#').trim()))
                .find(|line| !line.is_empty())
        };
        self.title
            .as_deref()
            .filter(|title| !title.trim().is_empty())
            .or_else(first_line)
            .unwrap_or_default()
    }
}

/// Returns the heading with which a text begins: a line with `#`, or one that is underlined with `=` or `-`.
fn first_heading(text: &str) -> Option<&str> {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
    let first = lines.next()?;
    heading(first).or_else(|| {
        let underline = lines.next()?.trim_end();
        let is_underlined = ["=", "-"]
            .iter()
            .any(|mark| !underline.is_empty() && underline.trim_start_matches(mark).is_empty());
        let first = first.trim();
        let is_text = !first.starts_with(['-', '*', '+', '>', '|', '`', '=']);
        (is_underlined && is_text).then_some(first)
    })
}

/// Returns the text of a line that is a heading with `#`, without `#` at its end.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    if text.len() == line.len() || !text.starts_with([' ', '\t']) {
        return None;
    }
    let closed = text.trim_end().trim_end_matches('#');
    let is_closed = closed.ends_with([' ', '\t']);
    Some(if is_closed { closed } else { text }.trim())
}

/// The due time and state of a memory that is a reminder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    /// The due time, of a recurring reminder that of its present occurrence.
    pub due: DateTime<Utc>,
    /// The memory that it was made of, if any. The reminder moves to the trash with that memory.
    pub of: Option<MemoryId>,
    /// The time at which the notification was shown.
    pub notified_at: Option<DateTime<Utc>>,
    /// The time at which the reminder was completed.
    pub done_at: Option<DateTime<Utc>>,
    /// The recurrence, if the reminder recurs.
    pub repeats: Option<Recurrence>,
}

/// The recurrence of a reminder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recurrence {
    /// The words that name the times, such as "every weekday at 9".
    pub expression: String,
    /// The regular time of the present occurrence, if it was snoozed.
    pub snoozed_from: Option<DateTime<Utc>>,
}

impl Recurrence {
    /// Returns a recurrence with an occurrence that was not snoozed.
    pub fn new(expression: impl Into<String>) -> Self {
        Self {
            expression: expression.into(),
            snoozed_from: None,
        }
    }
}

impl Reminder {
    /// Returns an open reminder that was not shown yet.
    pub fn new(due: DateTime<Utc>) -> Self {
        Self {
            due,
            of: None,
            notified_at: None,
            done_at: None,
            repeats: None,
        }
    }

    /// Returns the regular time of the present occurrence, which snoozing does not change.
    pub fn regular_due(&self) -> DateTime<Utc> {
        let snoozed_from = self.repeats.as_ref().and_then(|own| own.snoozed_from);
        snoozed_from.unwrap_or(self.due)
    }

    /// Returns whether the reminder is not completed.
    pub fn is_open(&self) -> bool {
        self.done_at.is_none()
    }

    /// Returns whether the reminder is open and due at `now`.
    pub fn is_due(&self, now: DateTime<Utc>) -> bool {
        self.is_open() && self.due <= now
    }

    /// Returns whether the notification is to be shown at `now`.
    pub fn needs_notification(&self, now: DateTime<Utc>) -> bool {
        self.is_due(now) && self.notified_at.is_none()
    }
}

/// A selection of reminders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReminderQuery {
    /// All reminders, including completed ones.
    All,
    /// Open reminders.
    Open,
    /// Open reminders that are due at this time.
    Due(DateTime<Utc>),
    /// Reminders with a notification to show at this time.
    ToBeShown(DateTime<Utc>),
    /// Reminders that were made of this memory, including completed ones.
    Of(MemoryId),
}

impl ReminderQuery {
    /// Returns whether `memory` belongs to the selection.
    pub fn includes(&self, memory: &Memory) -> bool {
        memory.reminder.as_ref().is_some_and(|reminder| match self {
            Self::All => true,
            Self::Open => reminder.is_open(),
            Self::Due(now) => reminder.is_due(*now),
            Self::ToBeShown(now) => reminder.needs_notification(*now),
            Self::Of(id) => reminder.of == Some(*id),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_begin_with_a_heading_in_either_notation() {
        for (text, expected) in [
            ("# Tea\nleaves", Some("Tea")),
            ("\n## Green tea ##\n", Some("Green tea")),
            ("# C#\n", Some("C#")),
            ("Tea\n===\nleaves", Some("Tea")),
            ("Green tea\n-----\n", Some("Green tea")),
            ("#tea\n", None),
            ("Tea\n\n---\nleaves", None),
            ("- item\n---\n", None),
            ("Tea\nleaves", None),
            ("", None),
        ] {
            assert_eq!(first_heading(text), expected, "{text:?}");
        }
        assert_eq!(heading("## Closed ##"), Some("Closed"));
    }
}
