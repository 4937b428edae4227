//! The frame of all pages: navigation, search box, undo bar and footer.

use super::assets::{AssetPaths, PATHS};
use super::html::Label;

/// A section of the navigation: its pages are those below its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) path: &'static str,
    pub(crate) title: &'static str,
}

const fn section(path: &'static str, title: &'static str) -> Section {
    Section { path, title }
}

/// The path of the inbox, whose section shows how many items wait.
const INBOX: &str = "/inbox";

/// The groups of the navigation: daily work, what agents do, other data, and the home itself.
pub(crate) const NAVIGATION: [&[Section]; 4] = [
    &[
        section("/today", "Today"),
        section(INBOX, "Inbox"),
        section("/memories", "Memories"),
        section("/reminders", "Reminders"),
    ],
    &[
        section("/ask", "Ask"),
        section("/assistants", "Assistants"),
        section("/projects", "Projects"),
        section("/sessions", "Sessions"),
        section("/activity", "Activity"),
        section("/charts", "Charts"),
        section("/graph", "Graph"),
    ],
    &[
        section("/topics", "Topics"),
        section("/banks", "Banks"),
        section("/conversations", "Conversations"),
        section("/instances", "Instances"),
    ],
    &[
        section("/import", "Import"),
        section("/export", "Export"),
        section("/devices", "Devices"),
        section("/settings", "Settings"),
        section("/health", "Health"),
    ],
];

/// The sections for daily use. In a narrow window, they are always visible at its lower edge, and the others are behind *More*.
const MAIN: [&str; 4] = ["/today", INBOX, "/memories", "/reminders"];

/// Returns the sections for daily use.
pub(crate) fn main_sections() -> impl Iterator<Item = &'static Section> {
    let sections = NAVIGATION.into_iter().flatten();
    sections.filter(|section| MAIN.contains(&section.path))
}

impl Section {
    /// Returns the section of a page.
    pub(super) fn of(path: &str) -> Option<Self> {
        let is_within = |section: &Self| {
            path.strip_prefix(section.path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        NAVIGATION.into_iter().flatten().copied().find(is_within)
    }
}

/// The value of the field `notice` after a request for selected items without any.
pub(crate) const NOTHING_SELECTED: &str = "nothing-selected";

/// The value of the field `notice` after the connection of an assistant was changed.
pub(crate) const CONNECTION_CHANGED: &str = "connection-changed";

/// The value of the field `notice` after a request for an item that no longer waits in the inbox.
pub(crate) const ITEM_DECIDED: &str = "item-decided";

/// The value of the field `notice` after a text was written that is stored already.
pub(crate) const ALREADY_STORED: &str = "already-stored";

/// The value of the field `notice` after some accepted suggestions were not applied.
pub(crate) const SUGGESTIONS_SKIPPED: &str = "suggestions-skipped";

/// Returns the text for a value of the field `notice`.
pub(super) fn notice_text(notice: &str) -> Option<&'static str> {
    match notice {
        NOTHING_SELECTED => Some(
            "Nothing was changed, because nothing was selected. Tick the box of at least one item first.",
        ),
        ALREADY_STORED => {
            Some("Nothing was changed, because this memory has the same text already.")
        }
        CONNECTION_CHANGED => Some("Done. The assistant notices it at its next start."),
        SUGGESTIONS_SKIPPED => {
            Some("Some suggestions were not applied, because their memories were changed since.")
        }
        ITEM_DECIDED => Some("This item no longer waits in the inbox."),
        _ => None,
    }
}

/// The data of the frame around a page.
///
/// Every template has a field `layout` and extends `base.html`.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The title of the page, in plain text.
    pub(crate) title: String,
    /// The section that is marked in the navigation; `None` without a session.
    pub(crate) section: Option<Section>,
    /// The CSRF token, for the field `csrf` of every form; empty without a session.
    pub(crate) csrf: String,
    /// The query in the search box.
    pub(crate) query: String,
    /// The filters that a search from the box keeps: the names and values of fields.
    pub(crate) filters: Vec<(String, String)>,
    /// The path and query of the page, without `done`; the target of redirects.
    pub(crate) here: String,
    /// The home folder, for the footer.
    pub(crate) home: String,
    /// The mark of the last operation, from which the stream of events continues.
    pub(crate) mark: String,
    /// The number of items in the inbox, if it is known.
    pub(crate) inbox: Option<u64>,
    /// Why the previous request changed nothing, if it did not.
    pub(crate) notice: Option<&'static str>,
    /// The change that the previous request made, if any.
    pub(crate) undo: Option<UndoBar>,
    pub(crate) assets: &'static AssetPaths,
}

impl Layout {
    /// Returns the frame of a page without navigation, for a person who is not signed in.
    pub(crate) fn signed_out(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            section: None,
            csrf: String::new(),
            query: String::new(),
            filters: Vec::new(),
            here: "/".to_owned(),
            home: String::new(),
            mark: String::new(),
            inbox: None,
            notice: None,
            undo: None,
            assets: &PATHS,
        }
    }

    pub(crate) fn is_current(&self, section: &Section) -> bool {
        self.section.as_ref() == Some(section)
    }

    /// Returns the number of items that wait in a section, if there are any.
    pub(crate) fn waiting(&self, section: &Section) -> Option<u64> {
        self.inbox
            .filter(|count| section.path == INBOX && 0 < *count)
    }

    /// Returns the path of the page without its query.
    pub(crate) fn path(&self) -> &str {
        self.here.split('?').next().unwrap_or_default()
    }

    pub(crate) fn is_signed_in(&self) -> bool {
        !self.csrf.is_empty()
    }
}

/// A change that can be undone, as the bar at the bottom of the page shows it.
#[derive(Debug)]
pub(crate) struct UndoBar {
    /// The ids of the operations, separated by commas, in the order in which they were made.
    pub(crate) operations: String,
    /// The description, such as `Deleted`.
    pub(crate) text: String,
    /// The changed object.
    pub(crate) object: Option<Label>,
    /// Whether the change is itself an undo, so that its undo repeats the operation.
    pub(crate) is_undo: bool,
}
