//! Markdown as HTML that is safe to show, with the only list of allowed elements and links.
//!
//! Everything that shows the text of a memory in a browser uses [`HtmlRenderer`] or [`push_visible`]. The module needs the feature `html`.

mod bare_links;
mod markdown_events;
mod render;
mod visible_text;

pub use markdown_events::MarkdownEvents;
pub use render::{HtmlRenderer, HtmlStyle, plain_text};
pub use visible_text::{HiddenCharacterStyle, push_escaped, push_visible, visible_text};
