//! An in-memory catalog of the names of notes.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::choose::{PathPattern, file_key};
use super::parse::{fold_link_name, last_component, strip_md};
use super::{WikilinkNameKind, WikilinkRule};

/// An in-memory catalog of the names of notes and attachments. It takes about 200 bytes per note.
#[derive(Debug, Clone)]
pub struct WikilinkCatalog {
    rule: WikilinkRule,
    files: Vec<CatalogFile>,
    /// The names: a hash of the normalized name, the kind of name, and the index of the file in `files`. Titles and aliases
    /// also have an entry with the hash of [`exact_key`].
    names: BTreeSet<(u64, WikilinkNameKind, u32)>,
    /// The index in `files` of each note.
    notes: Vec<u32>,
}

#[derive(Debug, Clone)]
struct CatalogFile {
    path: Box<str>,
    /// The number of the note; `None` for an attachment.
    note: Option<u32>,
}

/// The target of a link in a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WikilinkDestination {
    /// The note with this number.
    Note(usize),
    /// A file that is not a note.
    Attachment,
}

impl WikilinkCatalog {
    /// Returns an empty catalog that resolves links by `rule`.
    pub fn new(rule: WikilinkRule) -> Self {
        Self {
            rule,
            files: Vec::new(),
            names: BTreeSet::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a note: its path with `/` as separator, its title and its aliases. Notes are numbered from 0.
    pub fn add_note(&mut self, path: &str, title: Option<&str>, aliases: &[String]) {
        let file = self.add_file(path, Some(self.notes.len()));
        self.notes.push(file);
        let file_name = file_key(path);
        let exact = title
            .into_iter()
            .map(|title| (title, WikilinkNameKind::Title));
        for (name, by) in exact.chain(
            aliases
                .iter()
                .map(|alias| (alias.as_str(), WikilinkNameKind::Alias)),
        ) {
            self.names.insert((hash_key(&exact_key(name)), by, file));
        }
        let title = title.map(fold_link_name).filter(|title| !title.is_empty());
        // In Logseq, a page with a title has no name from its file.
        if self.rule != WikilinkRule::Pages || title.is_none() {
            self.names
                .insert((hash_key(&file_name), WikilinkNameKind::Path, file));
        }
        if let Some(title) =
            title.filter(|title| self.rule != WikilinkRule::Paths || *title != file_name)
        {
            self.names
                .insert((hash_key(&title), WikilinkNameKind::Title, file));
        }
        for alias in aliases
            .iter()
            .map(|alias| fold_link_name(alias))
            .filter(|alias| !alias.is_empty())
        {
            self.names
                .insert((hash_key(&alias), WikilinkNameKind::Alias, file));
        }
    }

    /// Adds a file that is not a note.
    pub fn add_attachment(&mut self, path: &str) {
        let file = self.add_file(path, None);
        self.names
            .insert((hash_key(&file_key(path)), WikilinkNameKind::Path, file));
    }

    /// Returns the rule for resolving links.
    pub fn rule(&self) -> WikilinkRule {
        self.rule
    }

    /// Returns whether aliases and titles are equivalent to paths by the rule of the catalog.
    pub fn aliases_resolve(&self) -> bool {
        self.rule != WikilinkRule::Paths
    }

    /// Resolves the link `target` in the note with number `from`.
    ///
    /// Returns the destination and the kind of the matching name. Among names that differ only in case, an exact match wins.
    ///
    /// # Panics
    /// If the note does not exist.
    pub fn resolve(
        &self,
        target: &str,
        from: usize,
    ) -> Option<(WikilinkDestination, WikilinkNameKind)> {
        let whole = fold_link_name(target);
        if whole.is_empty() {
            return Some((WikilinkDestination::Note(from), WikilinkNameKind::Path));
        }
        let from = &self.files[self.notes[from] as usize].path;
        let by_path = || match self.rule {
            WikilinkRule::Paths | WikilinkRule::Titles => {
                self.find_by_path(&whole, &PathPattern::of(target, from)?)
            }
            WikilinkRule::Pages => self.files_named(&whole, WikilinkNameKind::Path).next(),
        };
        let exact = exact_key(target);
        let shortest = |key: &str, by| {
            self.files_named(key, by)
                .min_by_key(|file| (file.path.chars().count(), &file.path))
        };
        let strongest = |by: WikilinkNameKind| {
            let folded = shortest(&whole, by)?;
            Some(shortest(&exact, by).unwrap_or(folded))
        };
        let by_name = || {
            let title =
                strongest(WikilinkNameKind::Title).map(|file| (file, WikilinkNameKind::Title));
            title.or_else(|| Some((strongest(WikilinkNameKind::Alias)?, WikilinkNameKind::Alias)))
        };
        let first = if self.rule == WikilinkRule::Titles {
            by_name()
        } else {
            None
        };
        first
            .or_else(|| Some((by_path()?, WikilinkNameKind::Path)))
            .or_else(by_name)
            .map(|(file, by)| (file.destination(), by))
    }

    /// Returns whether a note has the alias `target`.
    pub fn is_alias(&self, target: &str) -> bool {
        self.files_named(&fold_link_name(target), WikilinkNameKind::Alias)
            .next()
            .is_some()
    }

    fn find_by_path(&self, target: &str, place: &PathPattern) -> Option<&CatalogFile> {
        let last = last_component(target);
        // `a.md` may refer to the note `a.md` or to the note `a.md.md`.
        let mut keys = vec![strip_md(last), last];
        keys.dedup();
        let found = keys
            .into_iter()
            .flat_map(|key| self.files_named(key, WikilinkNameKind::Path));
        found
            .filter_map(|file| Some((place.match_rank(&file.path)?, file)))
            .min_by_key(|(fit, _)| *fit)
            .map(|(_, file)| file)
    }

    fn files_named(&self, key: &str, by: WikilinkNameKind) -> impl Iterator<Item = &CatalogFile> {
        let hash = hash_key(key);
        self.names
            .range((hash, by, 0)..=(hash, by, u32::MAX))
            .map(|(_, _, file)| &self.files[*file as usize])
    }

    fn add_file(&mut self, path: &str, note: Option<usize>) -> u32 {
        let number =
            |count: usize| u32::try_from(count).expect("a set of notes has fewer than 2^32 files");
        let file = number(self.files.len());
        self.files.push(CatalogFile {
            path: path.into(),
            note: note.map(number),
        });
        file
    }
}

impl CatalogFile {
    fn destination(&self) -> WikilinkDestination {
        self.note.map_or(WikilinkDestination::Attachment, |note| {
            WikilinkDestination::Note(note as usize)
        })
    }
}

/// Returns a key of a name in its case, which no normalized name equals.
fn exact_key(name: &str) -> String {
    format!("\n{}", name.trim())
}

fn hash_key(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{WikilinkCatalog, WikilinkDestination};
    use crate::wikilink::{WikilinkNameKind, WikilinkRule};

    fn note(
        catalog: &WikilinkCatalog,
        target: &str,
        from: usize,
    ) -> Option<(usize, WikilinkNameKind)> {
        match catalog.resolve(target, from)? {
            (WikilinkDestination::Note(note), by) => Some((note, by)),
            (WikilinkDestination::Attachment, by) => Some((usize::MAX, by)),
        }
    }

    #[test]
    fn by_paths_a_file_name_is_stronger_than_a_title_than_an_alias() {
        let mut catalog = WikilinkCatalog::new(WikilinkRule::Paths);
        catalog.add_note("x/a.md", Some("a"), &[]);
        catalog.add_note("y/b.md", Some("A"), &["Bee".into(), "c/d".into()]);
        catalog.add_attachment("files/a.png");
        assert_eq!(note(&catalog, "A", 1), Some((0, WikilinkNameKind::Path)));
        assert_eq!(note(&catalog, "bee", 0), Some((1, WikilinkNameKind::Alias)));
        assert_eq!(note(&catalog, "c/d", 0), Some((1, WikilinkNameKind::Alias)));
        assert_eq!(note(&catalog, "d", 0), None);
        assert_eq!(note(&catalog, "q/bee", 0), None);
        assert_eq!(note(&catalog, "y/a", 0), None);
        assert_eq!(
            note(&catalog, "a.png", 0),
            Some((usize::MAX, WikilinkNameKind::Path))
        );
        assert_eq!(note(&catalog, "", 1), Some((1, WikilinkNameKind::Path)));
        assert!(catalog.is_alias("BEE") && !catalog.is_alias("a"));
    }

    #[test]
    fn by_titles_a_title_precedes_a_path_and_all_names_resolve() {
        let mut catalog = WikilinkCatalog::new(WikilinkRule::Titles);
        catalog.add_note("work/2024 a/plan", Some("a/plan"), &[]);
        catalog.add_note("work/2025 plan", Some("Plan"), &["x/plan".into()]);
        assert_eq!(
            note(&catalog, "plan", 0),
            Some((1, WikilinkNameKind::Title))
        );
        assert_eq!(
            note(&catalog, "A/plan", 1),
            Some((0, WikilinkNameKind::Title))
        );
        assert_eq!(
            note(&catalog, "x/plan", 0),
            Some((1, WikilinkNameKind::Alias))
        );
        assert_eq!(
            note(&catalog, "2025 plan", 0),
            Some((1, WikilinkNameKind::Path))
        );
        assert!(catalog.aliases_resolve());
    }

    #[test]
    fn among_names_that_differ_only_in_case_the_exact_one_wins() {
        let upper_first = [("A/Note", "React"), ("A/note", "react")];
        for names in [upper_first, [upper_first[1], upper_first[0]]] {
            for rule in [
                WikilinkRule::Paths,
                WikilinkRule::Titles,
                WikilinkRule::Pages,
            ] {
                let mut catalog = WikilinkCatalog::new(rule);
                for (path, title) in names {
                    catalog.add_note(
                        &format!("{path}.md"),
                        Some(title),
                        &[format!("{title} library")],
                    );
                }
                for (number, (path, title)) in names.iter().enumerate() {
                    let mut targets = vec![(*title).to_owned(), format!("{title} library")];
                    targets.extend((rule != WikilinkRule::Pages).then(|| format!("{path}.md")));
                    for target in targets {
                        assert_eq!(
                            note(&catalog, &target, 0).map(|(note, _)| note),
                            Some(number),
                            "{rule:?} {target}"
                        );
                    }
                }
                assert!(note(&catalog, "REACT", 0).is_some());
            }
        }
    }

    #[test]
    fn by_pages_a_title_hides_the_file_name() {
        let mut catalog = WikilinkCatalog::new(WikilinkRule::Pages);
        catalog.add_note("pages/a___b.md", Some("a/b"), &["ab".into()]);
        catalog.add_note("pages/c.md", None, &[]);
        assert_eq!(note(&catalog, "A/B", 1), Some((0, WikilinkNameKind::Title)));
        assert_eq!(note(&catalog, "ab", 1), Some((0, WikilinkNameKind::Alias)));
        assert_eq!(note(&catalog, "b", 1), None);
        assert_eq!(note(&catalog, "a___b", 1), None);
        assert_eq!(note(&catalog, "c", 0), Some((1, WikilinkNameKind::Path)));
    }
}
