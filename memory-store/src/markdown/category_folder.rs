//! Derives the category of a file from its folder.

use memory_core::Category;

/// Returns the category of the folder that contains `path`; [`Category::Inbox`] for the inbox.
pub fn path_category(path: &str) -> Option<Category> {
    let (folder, _) = path.strip_prefix("categories/")?.split_once('/')?;
    folder.parse().ok()
}
