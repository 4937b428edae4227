//! The categories and phases of memories.

use std::str::FromStr;

use strum::{EnumCount, IntoStaticStr, VariantArray};

use super::ParseError;

/// The topic of a memory; also the name of its folder in the organized phase.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, EnumCount, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum Category {
    /// Core identity, values, mission.
    Soul,
    /// Personality traits, communication style.
    Character,
    /// People and relationships.
    People,
    /// Project context, repositories, deployments.
    Project,
    /// Time expressions, deadlines, schedules.
    Date,
    /// Technical knowledge, facts, patterns.
    Knowledge,
    /// Feedback, suggestions, improvements.
    Feedback,
    /// Preferences of the user or of an agent.
    Preferences,
    /// Design decisions, choices made.
    Decisions,
    /// Lessons learned, gotchas.
    Lessons,
    /// Behavioral patterns, routines.
    Habits,
    /// Skills, capabilities.
    Skills,
    /// Not yet classified.
    Inbox,
    /// Time-based reminders.
    Reminders,
}

impl Category {
    /// All categories, in the order of the documentation.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS
        .first_chunk()
        .expect("the derived list has all variants");

    /// Returns the name used in files, folders, on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl_display!(Category);

impl FromStr for Category {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::ALL.into_iter().find(|category| category.as_str().eq_ignore_ascii_case(text.trim())).ok_or_else(|| {
            ParseError::new(
                text,
                "a category (soul, character, people, project, date, knowledge, feedback, preferences, decisions, lessons, habits, \
                 skills, inbox or reminders)",
            )
        })
    }
}

/// The phase of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Newly written, awaiting classification; stored in `categories/inbox/`.
    Inbox,
    /// Stored in the folder of its category.
    Organized,
}

impl Phase {
    /// Returns the name used in files, on the command line and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inbox => "inbox",
            Self::Organized => "organized",
        }
    }
}

impl_display!(Phase);

impl FromStr for Phase {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        [Self::Inbox, Self::Organized]
            .into_iter()
            .find(|phase| phase.as_str().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| ParseError::new(text, "a phase (inbox or organized)"))
    }
}
