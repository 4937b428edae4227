//! Replies to the forms that the script sends without leaving the page.

use askama::Template;
use axum::response::Response;
use memory_core::OperationId;

use super::cached_views::InboxCounts;
use super::error::render;
use super::fields::{Fields, local_path};
use super::html::Label;
use super::layout::{Layout, notice_text};
use super::request::{NOTICE, WebRequest, join_ids};

/// Field of a form that the script sends in the background.
const BACKGROUND: &str = "background";

/// An item of a form that was not changed.
pub(crate) struct RefusedItem {
    /// The value of the field that selects it.
    pub(crate) key: String,
    pub(crate) reason: Label,
}

/// The parts of a page that differ after a form: the navigation with its counts, the undo bar, and the items that were not changed.
#[derive(Template)]
#[template(path = "reply.html")]
struct ReplyPage {
    layout: Layout,
    counts: InboxCounts,
    refused: Vec<RefusedItem>,
}

impl WebRequest {
    /// Returns whether the script sent the form and stays on its page.
    pub(crate) fn is_in_background(&self) -> bool {
        self.form.text(BACKGROUND).is_some()
    }

    /// Returns the reply to a form in the background; it offers to undo `operations`, and then returns to `next`.
    pub(crate) fn reply(
        &self,
        next: &str,
        operations: &[OperationId],
        refused: Vec<RefusedItem>,
    ) -> Response {
        self.web.config.host.after_change();
        let layout = self.layout("Inbox");
        let counts = self.inbox_counts(&layout.mark).unwrap_or_default();
        let query = next.split_once('?').map_or("", |(_, query)| query);
        render(&ReplyPage {
            layout: Layout {
                here: local_path(next).to_owned(),
                notice: notice_text(Fields::parse(query).get(NOTICE)),
                undo: self.undo_bar(&join_ids(operations)),
                ..layout
            },
            counts,
            refused,
        })
    }
}
