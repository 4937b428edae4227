//! The frame of all pages: navigation, search box, undo bar and footer.

use super::assets::{AssetPaths, PATHS};
use super::html::Label;

/// A section of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Memories,
    Inbox,
    Reminders,
    Graph,
    Activity,
    Sessions,
    Topics,
    Banks,
    Conversations,
    Instances,
    Health,
}

impl Section {
    /// The sections, in the order of the navigation.
    pub(crate) const ALL: [Self; 11] = [
        Self::Memories,
        Self::Inbox,
        Self::Reminders,
        Self::Graph,
        Self::Activity,
        Self::Sessions,
        Self::Topics,
        Self::Banks,
        Self::Conversations,
        Self::Instances,
        Self::Health,
    ];

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Memories => "Memories",
            Self::Inbox => "Inbox",
            Self::Reminders => "Reminders",
            Self::Graph => "Graph",
            Self::Activity => "Activity",
            Self::Sessions => "Sessions",
            Self::Topics => "Topics",
            Self::Banks => "Banks",
            Self::Conversations => "Conversations",
            Self::Instances => "Instances",
            Self::Health => "Health",
        }
    }

    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Memories => "/memories",
            Self::Inbox => "/inbox",
            Self::Reminders => "/reminders",
            Self::Graph => "/graph",
            Self::Activity => "/activity",
            Self::Sessions => "/sessions",
            Self::Topics => "/topics",
            Self::Banks => "/banks",
            Self::Conversations => "/conversations",
            Self::Instances => "/instances",
            Self::Health => "/health",
        }
    }
}

/// The value of the field `notice` after a request for selected items without any.
pub(crate) const NOTHING_SELECTED: &str = "nothing-selected";

/// The value of the field `notice` after a request for an item that no longer waits in the inbox.
pub(crate) const ITEM_DECIDED: &str = "item-decided";

/// Returns the text for a value of the field `notice`.
pub(super) fn notice_text(notice: &str) -> Option<&'static str> {
    match notice {
        NOTHING_SELECTED => Some(
            "Nothing was changed, because nothing was selected. Tick the box of at least one item first.",
        ),
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

    pub(crate) fn is_current(&self, section: Section) -> bool {
        self.section == Some(section)
    }

    /// Returns the number of items that wait in a section, if there are any.
    pub(crate) fn waiting(&self, section: Section) -> Option<u64> {
        self.inbox
            .filter(|count| section == Section::Inbox && 0 < *count)
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
