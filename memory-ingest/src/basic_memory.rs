//! The notes of `basic-memory`.

use std::path::Path;
use std::sync::LazyLock;

use memory_core::wikilink::{self, WikilinkRule};
use memory_core::{Category, Source, SourceError, SourceItem};
use percent_encoding::percent_decode_str;
use regex::Regex;

use crate::folder::has_extension;
use crate::note;
use crate::okf::Okf;
use crate::own_fields;
use crate::program_folder::has_permalinks;
use crate::record::map_category;
use crate::text_files::{TextFile, TextFiles};
use crate::yaml::Yaml;

/// The name of the source.
pub(crate) const NAME: &str = "basic-memory";

/// The default folder of the program below the user's home folder.
pub(crate) const DEFAULT_FOLDER: &str = "basic-memory";

/// A project of `basic-memory`: every Markdown file is a note, and its database is derived from these files.
#[derive(Debug)]
pub struct BasicMemory {
    files: TextFiles,
}

impl BasicMemory {
    /// Opens the project at `path`: a folder or a ZIP archive.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(Self {
            files: TextFiles::open(path)?,
        })
    }

    /// Returns whether `path` has the name of the default folder, or contains notes with permalinks.
    ///
    /// A bundle of the Open Knowledge Format may also contain such notes.
    pub(crate) fn recognizes(path: &Path) -> bool {
        let is_named = path.ends_with(DEFAULT_FOLDER) && path.is_dir();
        !path.join(".obsidian").is_dir()
            && (is_named || has_permalinks(path) && !Okf::recognizes(path))
    }

    fn finding(&self, file: TextFile<'_>) -> SourceItem {
        if !has_extension(&file.path, &["md"]) {
            return file.into_attachment();
        }
        let mut note = match file.into_note(self.name(), self.files.root()) {
            Ok(note) => note,
            Err(skipped) => return skipped,
        };
        let prose = wikilink::blank_code(&note.draft.content);
        let category = note
            .field("type")
            .and_then(Yaml::scalar)
            .and_then(map_category)
            .or_else(|| observed_category(&prose));
        note.links.extend(memory_addresses(&prose));
        note.draft.category = category;
        // Links and addresses use the permalink as a name of the note.
        let permalink = note
            .field("permalink")
            .and_then(Yaml::scalar)
            .map(note::one_line);
        let is_ours = note.field(own_fields::KEY).is_some();
        let aliases = &mut note.draft.aliases;
        aliases.extend(
            permalink.filter(|permalink| {
                !is_ours && !permalink.is_empty() && !aliases.contains(permalink)
            }),
        );
        note.into_finding()
    }
}

impl Source for BasicMemory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Titles
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(
            self.files
                .files()
                .into_iter()
                .map(|file| self.finding(file)),
        )
    }
}

/// Returns the category that all observations of a text without code have, if it is one.
///
/// An observation is a list item such as `- [decision] text`. A task such as `- [x] text`, a link and an item of several
/// words in brackets are not.
fn observed_category(prose: &str) -> Option<Category> {
    static OBSERVATION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^\s*- \[([^\[\]()\n]{2,})\] +\S").expect("the pattern is right")
    });
    let mut names = OBSERVATION
        .captures_iter(prose)
        .filter_map(|found| found.get(1))
        .map(|name| name.as_str());
    let first = map_category(names.next()?)?;
    names
        .all(|name| map_category(name) == Some(first))
        .then_some(first)
}

/// Returns the targets of the addresses `memory://…` in a text without code.
fn memory_addresses(prose: &str) -> Vec<String> {
    static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"memory://([^\s<>()\[\]"'`|]+)"#).expect("the pattern is right")
    });
    let targets = ADDRESS.captures_iter(prose).filter_map(|found| {
        let address = found
            .get(1)?
            .as_str()
            .split(['#', '?'])
            .next()?
            .trim_end_matches(['.', ',', ';', ':', '!']);
        let target = percent_decode_str(address).decode_utf8_lossy();
        // A pattern such as `memory://specs/*` leads to no single note.
        (!target.is_empty() && !target.contains('*') && !target.contains(char::is_control))
            .then(|| target.into_owned())
    });
    targets.collect()
}

#[cfg(test)]
mod tests {
    use memory_core::Category;

    use super::{memory_addresses, observed_category};

    #[test]
    fn observations_of_one_category_are_the_category_of_the_note() {
        assert_eq!(
            observed_category("- [decision] a #t (c)\n  - [Decisions] b"),
            Some(Category::Decisions)
        );
        assert_eq!(observed_category("- [decision] a\n- [method] b"), None);
        assert_eq!(
            observed_category("- [decision] a\n- [ ] task\n- [x] done\n- [b](c.md)\n- [[D]]"),
            Some(Category::Decisions)
        );
        assert_eq!(observed_category("text"), None);
    }

    #[test]
    fn addresses_lead_to_permalinks() {
        let text =
            "see memory://specs/search-design, (memory://a%20b) memory://x/* and memory://文.";
        assert_eq!(memory_addresses(text), ["specs/search-design", "a b", "文"]);
    }
}
