//! What the folder of a file says about it.

use memory_core::Category;

/// Returns the category in whose folder a path lies; [`Category::Inbox`] for the inbox.
pub fn filed(path: &str) -> Option<Category> {
    let (folder, _) = path.strip_prefix("categories/")?.split_once('/')?;
    folder.parse().ok()
}
