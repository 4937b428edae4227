//! Exports of Notion as Markdown and CSV.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use memory_core::{Source, SourceError, SourceItem};
use regex::Regex;
use tempfile::NamedTempFile;

use crate::archive::{Archive, ArchiveFile, is_zip, parts_in};
use crate::folder::has_extension;
use crate::markdown_links::{addresses, file_target};
use crate::note::{self, one_line, stem};
use crate::program_folder::list;
use crate::record::map_category;
use crate::record_file::file_name;
use crate::record_note::RecordNote;
use crate::source_text;

/// The root of all pages. Their ids identify them in every export.
const ROOT: &str = "workspace";

/// Number of digits of an id.
const ID_DIGITS: usize = 32;

/// Maximum nesting of archives. The download is an archive of archives.
const MAX_NESTING: usize = 2;

/// An export of Notion as Markdown and CSV: pages and databases with their ids in the names of the files.
#[derive(Debug)]
pub struct Notion {
    archives: Vec<Archive>,
    /// The archives within archives, unpacked for the time of the import.
    unpacked: Vec<NamedTempFile>,
}

/// A page or a database of an export.
struct ExportedPage<'a> {
    /// The path of the origin.
    path: String,
    id: Option<String>,
    file: &'a ArchiveFile,
}

impl Notion {
    /// Opens the export at `path`: a ZIP archive, its unpacked folder, or a folder of archives.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`], or [`SourceError::NotRecognized`] without pages.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let mut notion = Self {
            archives: Vec::new(),
            unpacked: Vec::new(),
        };
        let parts = parts_in(path, Self::recognizes);
        let paths = if parts.is_empty() {
            vec![path.to_owned()]
        } else {
            parts
        };
        for path in paths {
            notion.add_archive(&path, 0)?;
        }
        if !notion.files().any(|file| is_page_with_id(&file.name)) {
            let expected = "an export of Notion as Markdown and CSV".to_owned();
            return Err(SourceError::NotRecognized {
                path: path.display().to_string(),
                expected,
            });
        }
        Ok(notion)
    }

    /// Returns whether `path` is a folder with the name of a page in it, or an archive of such files.
    pub(crate) fn recognizes(path: &Path) -> bool {
        if path.is_dir() {
            return list(path)
                .iter()
                .any(|item| is_page_with_id(&file_name(item)));
        }
        is_zip(path).unwrap_or(false) && archive_has_page(path, 0)
    }

    fn add_archive(&mut self, path: &Path, nesting: usize) -> Result<(), SourceError> {
        let archive = Archive::open(path, &|name| !has_extension(name, &["zip"]))?;
        let has_pages = archive.files.iter().any(|file| is_page(&file.name));
        self.archives.push(archive);
        if has_pages || nesting == MAX_NESTING || path.is_file() && !has_zip_content(path) {
            return Ok(());
        }
        for file in Archive::open(path, &|name| has_extension(name, &["zip"]))?.files {
            let unpacked = unpack(&file).map_err(|source| SourceError::Unreadable {
                path: file.path(),
                source,
            })?;
            self.add_archive(unpacked.path(), nesting + 1)?;
            self.unpacked.push(unpacked);
        }
        Ok(())
    }

    fn files(&self) -> impl Iterator<Item = &ArchiveFile> {
        self.archives.iter().flat_map(|archive| &archive.files)
    }

    /// Returns the pages and databases, ordered by path.
    fn pages(&self) -> Vec<ExportedPage<'_>> {
        // The file `X_all.csv` has all rows of a database, and `X.csv` those of one view.
        let whole: HashSet<_> = self
            .files()
            .filter_map(|file| file.name.strip_suffix("_all.csv"))
            .collect();
        let is_view = |file: &ArchiveFile| {
            file.name
                .strip_suffix(".csv")
                .is_some_and(|name| whole.contains(name))
        };
        let pages = self
            .files()
            .filter(|file| is_page(&file.name) && !is_view(file));
        let mut pages: Vec<_> = pages
            .map(|file| {
                let id = split_id(page_stem(&file.name)).1.map(str::to_lowercase);
                ExportedPage {
                    path: id
                        .as_deref()
                        .map_or_else(|| file_path(&file.name), |id| id_path(id, &file.name)),
                    id,
                    file,
                }
            })
            .collect();
        pages.sort_by(|left, right| {
            (&left.path, left.file.path()).cmp(&(&right.path, right.file.path()))
        });
        pages
    }

    fn finding(&self, page: &ExportedPage<'_>, tables: &TablesByFolder) -> SourceItem {
        let skipped = |reason: &str| SourceItem::Skipped {
            path: page.file.path(),
            reason: reason.to_owned(),
        };
        let text = match page.file.open().and_then(source_text::read) {
            Ok(text) => text,
            Err(reason) => return skipped(&reason),
        };
        if text.text.trim().is_empty() {
            return skipped("is empty");
        }
        let is_database = has_extension(&page.file.name, &["csv"]);
        let content = if is_database {
            code_block(&text.text)
        } else {
            text.text
        };
        let mut note = RecordNote::new(self.name(), ROOT, &page.path, &content);
        let heading = content
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("# "))
            .filter(|_| !is_database);
        let title = one_line(heading.unwrap_or_else(|| split_id(page_stem(&page.file.name)).0));
        note.draft.title = Some(title).filter(|title| !title.is_empty() && title != "Untitled");
        if let Some((line, what)) = text.warning {
            note.warnings
                .push(format!("{}:{line}: {what}", page.file.path()));
        }
        note.add_property("id", page.id.as_deref().map(Into::into).as_ref());
        let parents: Vec<_> = page
            .file
            .name
            .split('/')
            .map(|part| split_id(part).0.trim())
            .collect();
        let parents = parents[..parents.len() - 1].join("/");
        note.add_property(
            "path",
            Some(parents.into())
                .filter(|path: &serde_json::Value| path != "")
                .as_ref(),
        );
        if is_database {
            note.links = relation_targets(&page.file.name, &content);
        } else {
            note.links = addresses(&content)
                .iter()
                .filter_map(|address| link_target(&page.file.name, address))
                .collect();
            let folder = page.file.name.rsplit_once('/').map(|(folder, _)| folder);
            let table = folder.and_then(|folder| tables.get(folder)?.as_ref());
            note.links.extend(table.map(|path| format!("/{path}")));
            for (key, value) in page_properties(&content) {
                read_property(&mut note, key, value);
            }
        }
        note.into_item()
    }
}

impl Source for Notion {
    fn name(&self) -> &'static str {
        "notion"
    }

    /// An export contains the pages that were selected for it.
    fn is_complete(&self) -> bool {
        false
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let problems = self.archives.iter().flat_map(|archive| &archive.problems);
        let problems = problems.map(|(path, reason)| SourceItem::Skipped {
            path: path.clone(),
            reason: reason.clone(),
        });
        let attachments = self
            .files()
            .filter(|file| !is_page(&file.name))
            .map(|file| SourceItem::Attachment(file_path(&file.name)));
        let mut last = None;
        let pages = self.pages();
        let tables = tables_by_folder(&pages);
        let notes = pages.into_iter().map(move |page| {
            if last.replace(page.path.clone()).as_ref() == Some(&page.path) {
                let reason = "has the id of another page of the export".to_owned();
                return SourceItem::Skipped {
                    path: page.file.path(),
                    reason,
                };
            }
            self.finding(&page, &tables)
        });
        Box::new(problems.chain(attachments).chain(notes))
    }
}

/// The paths of the databases by the folders of the pages of their rows; `None` for a folder of several.
type TablesByFolder = HashMap<String, Option<String>>;

/// Returns the databases by the folders with their names, which may lack the ids.
fn tables_by_folder(pages: &[ExportedPage<'_>]) -> TablesByFolder {
    let mut tables = TablesByFolder::new();
    for page in pages {
        let name = &page.file.name;
        let parent = &name[..name.rfind('/').map_or(0, |end| end + 1)];
        let stem = page_stem(name);
        let path = has_extension(name, &["csv"]).then(|| page.path.clone());
        for folder in HashSet::from([stem, split_id(stem).0]) {
            tables
                .entry(format!("{parent}{folder}"))
                .and_modify(|known| *known = None)
                .or_insert_with(|| path.clone());
        }
    }
    tables
}

fn is_page(name: &str) -> bool {
    has_extension(name, &["csv", "md"])
}

fn is_page_with_id(name: &str) -> bool {
    // Other programs have files with only an id as their names.
    matches!(split_id(page_stem(name)), (title, Some(_)) if is_page(name) && !title.is_empty())
}

/// Returns whether an archive has a page. Of the archives in an archive of nothing else, the first is searched.
fn archive_has_page(path: &Path, nesting: usize) -> bool {
    let Ok(archive) = Archive::open(path, &|_| true) else {
        return false;
    };
    if archive.files.iter().any(|file| is_page_with_id(&file.name)) {
        return true;
    }
    let is_archive = |file: &ArchiveFile| has_extension(&file.name, &["zip"]);
    let first = archive
        .files
        .first()
        .filter(|_| nesting < MAX_NESTING && archive.files.iter().all(is_archive));
    first.is_some_and(|file| {
        unpack(file).is_ok_and(|unpacked| archive_has_page(unpacked.path(), nesting + 1))
    })
}

fn has_zip_content(path: &Path) -> bool {
    Archive::open(path, &|_| true).is_ok_and(|archive| {
        archive
            .files
            .iter()
            .any(|file| has_extension(&file.name, &["zip"]))
    })
}

fn unpack(file: &ArchiveFile) -> io::Result<NamedTempFile> {
    let unpacked = NamedTempFile::new()?;
    let mut reader = file.open().map_err(io::Error::other)?;
    io::copy(&mut reader, &mut File::create(unpacked.path())?)?;
    Ok(unpacked)
}

/// Returns the name of a file without its extension, and without the mark of a database with all rows.
fn page_stem(name: &str) -> &str {
    let stem = stem(name);
    stem.strip_suffix("_all").unwrap_or(stem)
}

/// Splits the name of a page into its title and its id.
pub(crate) fn split_id(stem: &str) -> (&str, Option<&str>) {
    let start = stem
        .len()
        .checked_sub(ID_DIGITS)
        .filter(|start| stem.is_char_boundary(*start));
    match start.map(|start| stem.split_at(start)) {
        Some((title, id))
            if id.bytes().all(|byte| byte.is_ascii_hexdigit())
                && !title.ends_with(|last: char| last.is_ascii_alphanumeric()) =>
        {
            (title.trim_end_matches([' ', '-']), Some(id))
        }
        _ => (stem, None),
    }
}

fn id_path(id: &str, name: &str) -> String {
    let kind = if has_extension(name, &["csv"]) {
        "databases"
    } else {
        "pages"
    };
    format!("{kind}/{}", id.to_lowercase())
}

fn file_path(name: &str) -> String {
    format!("files/{name}")
}

/// Returns the target of a link in the file `name`: a page by its id, or a file.
fn link_target(name: &str, address: &str) -> Option<String> {
    static PAGE_ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^https?://(?:[\w-]+\.)*notion\.(?:so|site)/(?:[^?#]*[/-])?([0-9a-fA-F]{32})(?:[?#]|$)")
            .expect("the pattern is right")
    });
    if let Some(found) = PAGE_ADDRESS.captures(address) {
        return Some(format!("/{}", id_path(&found[1], "")));
    }
    let target = file_target(address)?;
    if let Some(id) = split_id(page_stem(&target)).1.filter(|_| is_page(&target)) {
        return Some(format!("/{}", id_path(id, &target)));
    }
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<_> = if target.starts_with('/') {
        Vec::new()
    } else {
        folder.split('/').filter(|part| !part.is_empty()).collect()
    };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(format!("/{}", file_path(&parts.join("/"))))
}

/// Returns the pages to which the relations in a table lead, such as `Title (https://www.notion.so/…)`.
fn relation_targets(name: &str, table: &str) -> Vec<String> {
    static ADDRESS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\(([^()\s]+)\)").expect("the pattern is right"));
    let (mut targets, mut known) = (Vec::new(), HashSet::new());
    for found in ADDRESS.captures_iter(table) {
        let target = link_target(name, &found[1]).filter(|target| !target.starts_with("/files/"));
        targets.extend(target.filter(|target| known.insert(target.clone())));
    }
    targets
}

/// Returns the properties of a page in a database: the lines `Key: value` between its title and its text.
fn page_properties(content: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut lines = content.lines();
    let has_title = lines.next().is_some_and(|line| line.starts_with("# "));
    let lines = lines
        .skip_while(|line| line.trim().is_empty())
        .take_while(move |line| has_title && !line.trim().is_empty());
    lines.map_while(|line| line.split_once(": "))
}

fn read_property(note: &mut RecordNote, key: &str, value: &str) {
    note.local_times
        .extend(note::local_time_of(trim_date(value)));
    match key.trim().to_lowercase().as_str() {
        "tags" | "tag" | "labels" => {
            let tags = value
                .split(',')
                .map(|tag| tag.trim().to_owned())
                .filter(|tag| !tag.is_empty());
            note.draft.tags = note.draft.tags.iter().cloned().chain(tags).collect();
        }
        "created" | "created time" | "created at" | "date created" => {
            note.draft.created_at = parse_date(value);
        }
        "updated" | "last edited" | "last edited time" | "last updated" | "updated at" => {
            note.updated_at = parse_date(value);
        }
        "category" => note.draft.category = map_category(value),
        _ => {}
    }
}

/// Parses a date as Notion writes it, such as `@January 2, 2024 3:04 PM`.
fn parse_date(text: &str) -> Option<DateTime<Utc>> {
    note::parse(trim_date(text))
}

fn trim_date(text: &str) -> &str {
    text.trim().trim_start_matches('@')
}

/// Returns a table of CSV as a block of code, which preserves it.
fn code_block(text: &str) -> String {
    let longest = text
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}csv\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{code_block, link_target, parse_date, relation_targets, split_id};

    const ID: &str = "0123456789abcdef0123456789ABCDEF";

    #[test]
    fn names_end_in_an_id() {
        assert_eq!(
            split_id(&format!("A page 键 {ID}")),
            ("A page 键", Some(ID))
        );
        assert_eq!(split_id(ID), ("", Some(ID)));
        for name in ["A page", &format!("x{ID}"), &ID[1..], ""] {
            assert_eq!(split_id(name), (name, None));
        }
    }

    #[test]
    fn links_lead_to_pages_by_id_and_to_files_by_path() {
        let target = |address: &str| link_target("A/B.md", address);
        let id = ID.to_lowercase();
        assert_eq!(
            target(&format!("../C%20{ID}.md")),
            Some(format!("/pages/{id}"))
        );
        assert_eq!(
            target(&format!("D%20{ID}_all.csv")),
            Some(format!("/databases/{id}"))
        );
        assert_eq!(
            target(&format!("https://www.notion.so/team/Title-{ID}?pvs=4")),
            Some(format!("/pages/{id}"))
        );
        assert_eq!(target("B/p%20q.png").as_deref(), Some("/files/A/B/p q.png"));
        assert_eq!(target("../../x.png"), None);
        assert_eq!(target("https://example.org/x"), None);
    }

    #[test]
    fn relations_in_a_table_lead_to_pages() {
        let table = format!(
            "Name,Parts\nx (5),\"P (https://www.notion.so/P-{ID}?pvs=21), Q (Q%20{}.md)\"\ny,P (https://www.notion.so/{ID})\n",
            &ID[1..].repeat(2)[..32]
        );
        let other = ID[1..].repeat(2)[..32].to_lowercase();
        assert_eq!(
            relation_targets("A/B.csv", &table),
            [
                format!("/pages/{}", ID.to_lowercase()),
                format!("/pages/{other}")
            ]
        );
    }

    #[test]
    fn dates_are_read_as_notion_writes_them() {
        for (text, moment) in [
            ("January 2, 2024 3:04 PM", "2024-01-02T15:04:00Z"),
            ("@January 2, 2024", "2024-01-02T00:00:00Z"),
            ("2024-01-02", "2024-01-02T00:00:00Z"),
        ] {
            assert_eq!(parse_date(text), moment.parse().ok(), "{text}");
        }
        assert_eq!(parse_date("soon"), None);
    }

    proptest! {
        #[test]
        fn no_name_makes_it_panic(name in "[a-f0-9 键./#%]{0,80}", text in "[`a\n]{0,20}") {
            split_id(&name);
            link_target(&name, &name);
            prop_assert!(code_block(&text).contains(text.trim_end()));
        }
    }
}
