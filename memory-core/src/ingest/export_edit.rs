//! Edits of an export of this home: their mark in the journal, and the version that an edited file is compared with.

use super::merge::merge_lists;
use crate::{ExportedVersion, Memory, MemoryId, Origin};

/// The start of the reason that the journal records for the edit of an export. Journals contain it, so it never changes.
const EDIT_REASON: &str = "edited in an export: ";

/// Returns the reason that the journal records for the edit of an export in the folder or file of `origin`.
pub(super) fn edit_reason(origin: &Origin) -> String {
    format!("{EDIT_REASON}{} {}", origin.source, origin.root)
}

/// Returns whether a recorded reason is the edit of an export. Such a change is one of a person.
pub(super) fn is_edit_reason(reason: &str) -> bool {
    reason.starts_with(EDIT_REASON)
}

/// Returns the version that the file of an export contained when it was last imported, or else exported.
///
/// `edits` are the versions before and after each import of the file since the export, the oldest first. A field that an
/// import left as it was has its exported value. The exported text is known only by its hash: if neither `new` nor `current`
/// has it, the text is empty.
pub(super) fn last_file_version(
    exported: ExportedVersion,
    new: &Memory,
    current: &Memory,
    edits: impl IntoIterator<Item = (Memory, Memory)>,
) -> Memory {
    let ExportedVersion {
        draft,
        content_hash,
        ..
    } = exported;
    let mut version = draft.into_memory(current.id, current.updated_at);
    if let Some(known) = [new, current]
        .into_iter()
        .find(|memory| memory.content_hash() == content_hash)
    {
        version.content.clone_from(&known.content);
    }
    for (before, after) in edits {
        replace_if_changed(&before.content, after.content, &mut version.content);
        replace_if_changed(&before.title, after.title, &mut version.title);
        replace_if_changed(&before.category, after.category, &mut version.category);
        version.tags = version
            .tags
            .without(&before.tags.without(&after.tags))
            .with(&after.tags.without(&before.tags));
        version.aliases = merge_lists(&before.aliases, &after.aliases, &version.aliases);
    }
    version
}

/// Returns the links that the file of an export contained when it was last imported, or else exported; see
/// [`last_file_version`].
pub(super) fn last_file_links(exported: &[MemoryId], edits: &[(Memory, Memory)]) -> Vec<MemoryId> {
    edits
        .iter()
        .fold(exported.to_vec(), |links, (before, after)| {
            merge_lists(&before.links, &after.links, &links)
        })
}

fn replace_if_changed<T: PartialEq>(before: &T, after: T, field: &mut T) {
    if *before != after {
        *field = after;
    }
}
