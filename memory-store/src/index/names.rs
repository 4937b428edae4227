//! The names in an index as it is, for shell completion.

use std::fs;
use std::path::Path;
use std::time::Duration;

use memory_core::text::slug;
use memory_core::{HomeSection, MemoryId};
use rusqlite::{Connection, OpenFlags, Row, ToSql};

use super::error::IndexError;
use super::filter::ACCEPTED;
use super::lookup::id_range;
use super::open::FOLDER;
use super::schema::{FILE, is_complete, row_id};

/// Maximum number of memories in a group that are compared with the typed text.
const MAX_GROUP: usize = 1000;

/// The memories that a reference can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedGroup {
    /// All, the newest first.
    All,
    /// The proposals, and the notes in the inbox, the newest first.
    Inbox,
    /// The reminders that are not done, in the order in which they are due.
    Reminders,
}

/// A reference to a memory, with its title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedMemory {
    /// The start of its id, or the name of its file without the extension.
    pub reference: String,
    /// The title, else the first line, in lower case as in the index.
    pub title: String,
}

/// The names in the index of a home as it is.
///
/// The index is neither built nor refreshed, and no file of the home is written. A name that is not found only makes a completion shorter,
/// so an index that is missing, locked or damaged has no names instead of an error.
#[derive(Debug)]
pub struct IndexedNames(Connection);

impl IndexedNames {
    /// Opens the index of the home at `root`; `None` if it has none of this version.
    pub fn open(root: &Path) -> Option<Self> {
        let file = root.join(FOLDER).join(FILE);
        // Without a log, nothing has to be read from one, and the tables can be read without the files that SQLite adds for locks.
        let has_log = fs::metadata(file.with_extension("db-wal")).is_ok_and(|log| 0 < log.len());
        let path = file
            .to_str()?
            .replace('%', "%25")
            .replace('?', "%3f")
            .replace('#', "%23");
        let mode = if has_log {
            "mode=ro"
        } else {
            "mode=ro&immutable=1"
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(format!("file:{path}?{mode}"), flags).ok()?;
        connection.busy_timeout(Duration::ZERO).ok()?;
        is_complete(&connection)
            .is_ok_and(|is_complete| is_complete)
            .then_some(Self(connection))
    }

    /// Returns up to `limit` memories of a group that `typed` is the start of: of the id, of the name of the file, or of the title from
    /// which that name was made.
    ///
    /// If there are more, the last one in alphabetical order is among them, so that all others share what all of these share.
    pub fn memories(&self, typed: &str, group: NamedGroup, limit: usize) -> Vec<NamedMemory> {
        let found = match group {
            NamedGroup::All if typed.is_empty() => self.newest(limit),
            NamedGroup::All => self.starting_with(typed, limit),
            NamedGroup::Inbox => self.select(
                "id NOT NULL AND phase IN ('proposal', 'inbox') ORDER BY created_at DESC",
                &[],
                MAX_GROUP,
            ),
            NamedGroup::Reminders => {
                self.select("due NOT NULL ORDER BY stage, due", &[], MAX_GROUP)
            }
        };
        let limit = match group {
            // Files add the last one.
            NamedGroup::All => usize::MAX,
            NamedGroup::Inbox | NamedGroup::Reminders => limit,
        };
        let mut memories: Vec<NamedMemory> = Vec::new();
        for document in found.unwrap_or_default() {
            if memories.len() == limit {
                break;
            }
            if let Some(named) = document.named(typed)
                && !memories
                    .iter()
                    .any(|other| other.reference == named.reference)
            {
                memories.push(named);
            }
        }
        memories
    }

    /// Returns the tags in use, in alphabetical order.
    pub fn tags(&self) -> Vec<String> {
        self.texts("SELECT name FROM tags WHERE EXISTS (SELECT 1 FROM handles WHERE handles.bits = tags.bits) ORDER BY name")
    }

    /// Returns the scopes in use, in alphabetical order.
    pub fn scopes(&self) -> Vec<String> {
        self.texts("SELECT scope FROM counts WHERE 0 < documents GROUP BY scope ORDER BY scope")
    }

    fn texts(&self, sql: &str) -> Vec<String> {
        let read = || -> rusqlite::Result<_> {
            let mut select = self.0.prepare(sql)?;
            select.query_map((), |row| row.get(0))?.collect()
        };
        read().unwrap_or_default()
    }

    fn newest(&self, limit: usize) -> Result<Vec<NamedDocument>, IndexError> {
        let place = HomeSection::Notes.as_str();
        self.select(
            &format!("id NOT NULL AND {ACCEPTED} AND place = ? ORDER BY created_at DESC"),
            &[&place],
            limit,
        )
    }

    fn starting_with(&self, typed: &str, limit: usize) -> Result<Vec<NamedDocument>, IndexError> {
        let mut found = Vec::new();
        if let Some((from, to)) = id_range(typed, 1) {
            let sql = format!("? <= id AND id <= ? AND {ACCEPTED} ORDER BY created_at DESC");
            found = self.select(&sql, &[&from, &to], limit)?;
        }
        let mut starts = vec![
            typed.to_owned(),
            typed.to_lowercase(),
            capitalized(typed),
            as_name(typed),
        ];
        starts.sort();
        starts.dedup();
        for folder in self.texts("SELECT path FROM folders ORDER BY path") {
            for start in &starts {
                self.add_files(&format!("{folder}/"), start, limit, &mut found)?;
            }
        }
        Ok(found)
    }

    /// Adds up to `limit` documents in a folder with names that start with `start`, and the last one.
    fn add_files(
        &self,
        folder: &str,
        start: &str,
        limit: usize,
        found: &mut Vec<NamedDocument>,
    ) -> Result<(), IndexError> {
        let (mut from, end) = (
            format!("{folder}{start}"),
            format!("{folder}{start}{}", char::MAX),
        );
        let range = format!("? <= path AND path < ? AND id NOT NULL AND {ACCEPTED} ORDER BY path");
        let mut left = limit.saturating_sub(found.len());
        while 0 < left {
            let some = self.select(&range, &[&from, &end], left)?;
            let (count, all) = (some.len(), left);
            let below = |document: &NamedDocument| {
                document.path[folder.len()..]
                    .find('/')
                    .map(|end| folder.len() + end)
            };
            let sub = some
                .iter()
                .find_map(|document| Some(document.path[..below(document)?].to_owned()));
            let own: Vec<_> = some
                .into_iter()
                .take_while(|document| below(document).is_none())
                .collect();
            left -= own.len();
            found.extend(own);
            match sub {
                // The files of a subfolder are skipped: '0' follows '/'.
                Some(sub) => from = format!("{sub}0"),
                None if count < all => return Ok(()),
                None => {}
            }
        }
        found.extend(self.select(&format!("{range} DESC"), &[&from, &end], 1)?);
        Ok(())
    }

    fn select(
        &self,
        condition: &str,
        values: &[&dyn ToSql],
        limit: usize,
    ) -> Result<Vec<NamedDocument>, IndexError> {
        let sql =
            format!("SELECT id, path, headline FROM documents WHERE {condition} LIMIT {limit}");
        let mut select = self.0.prepare_cached(&sql)?;
        Ok(select
            .query_map(values, NamedDocument::from_row)?
            .collect::<Result<_, _>>()?)
    }
}

/// A row of the index with the names of a document.
struct NamedDocument {
    id: MemoryId,
    path: String,
    headline: String,
}

impl NamedDocument {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: MemoryId::from(row_id(row, 0)?),
            path: row.get(1)?,
            headline: row.get(2)?,
        })
    }

    /// Returns the reference that `typed` is the start of.
    fn named(self, typed: &str) -> Option<NamedMemory> {
        let id = self.id.to_string();
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let is_id = id
            .replace('-', "")
            .starts_with(&typed.replace('-', "").to_lowercase());
        let is_name = || {
            let own = stem.to_lowercase();
            own.starts_with(&typed.to_lowercase()) || own.starts_with(&as_name(typed))
        };
        let reference = match typed.len() {
            0..=8 if is_id => id[..8].to_owned(),
            _ if is_id => id,
            _ if is_name() => stem.to_owned(),
            _ => return None,
        };
        Some(NamedMemory {
            reference,
            title: self.headline,
        })
    }
}

/// Returns the start of a title as that of the name of its file.
fn as_name(typed: &str) -> String {
    if typed.chars().any(char::is_alphanumeric) {
        slug(typed)
    } else {
        typed.to_owned()
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(letters)
        .collect()
}
