use std::fs;
use std::path::Path;

use memory_core::SourceError;
use rusqlite::Connection;
use tempfile::TempDir;

use super::{SourceDatabase, SourceTable, has_table_at_rest};
use crate::record_file::RecordFile;

const NOTES: SourceTable = SourceTable {
    name: "notes",
    columns: &["text"],
};
const MORE: SourceTable = SourceTable {
    name: "more",
    columns: &[],
};

fn database(folder: &TempDir, statements: &str) -> std::path::PathBuf {
    let path = folder.path().join("a b%?#键.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(statements).unwrap();
    path
}

fn open(path: &Path) -> Result<SourceDatabase, SourceError> {
    SourceDatabase::open(path, &[NOTES, MORE], "a database of notes")
}

/// Returns the texts of all notes, and the reasons of those that cannot be read.
fn texts(database: &SourceDatabase) -> Vec<Result<String, String>> {
    let mut found = Vec::new();
    database.reader().unwrap().scan(&mut |_, record| {
        found.push(record.map(|record| record.text(&["text"]).unwrap_or_default()));
        true
    });
    found
}

fn listing(folder: &TempDir) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_database_and_its_folder_are_never_written() {
    let folder = TempDir::new().unwrap();
    let path = database(
        &folder,
        "PRAGMA journal_mode=wal; CREATE TABLE notes (text); INSERT INTO notes VALUES ('a')",
    );
    let before = listing(&folder);
    assert_eq!(before.len(), 1, "the journal is gone");
    assert_eq!(texts(&open(&path).unwrap()), [Ok("a".into())]);
    assert_eq!(listing(&folder), before);
}

#[test]
fn changes_that_are_only_in_the_log_are_read_while_the_program_runs() {
    let folder = TempDir::new().unwrap();
    let path = database(
        &folder,
        "PRAGMA journal_mode=wal; CREATE TABLE notes (text); INSERT INTO notes VALUES ('a')",
    );
    let program = Connection::open(&path).unwrap();
    program
        .execute_batch("INSERT INTO notes VALUES ('b')")
        .unwrap();
    let before = listing(&folder);
    assert_eq!(before.len(), 3, "the log and its index are there");
    assert_eq!(
        texts(&open(&path).unwrap()),
        [Ok("a".into()), Ok("b".into())]
    );
    assert_eq!(listing(&folder), before);
    drop(program);
}

#[test]
fn other_files_are_not_recognized() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x");
    for bytes in [
        &b""[..],
        b"SQLite format 3",
        b"{}",
        b"SQLite format 4\0aaaaaaaaaaaaaaaaa",
    ] {
        fs::write(&path, bytes).unwrap();
        assert!(matches!(
            open(&path),
            Err(SourceError::NotRecognized { .. })
        ));
    }
    let path = database(&folder, "CREATE TABLE notes (id); CREATE TABLE more (text)");
    assert!(
        matches!(open(&path), Err(SourceError::NotRecognized { .. })),
        "a column is missing"
    );
    assert!(!has_table_at_rest(&path, &NOTES) && has_table_at_rest(&path, &MORE));
    fs::write(&path, b"SQLite format 3\0and then something else").unwrap();
    assert!(matches!(
        open(&path),
        Err(SourceError::Unreadable { .. } | SourceError::NotRecognized { .. })
    ));
}

#[test]
fn views_and_virtual_tables_are_not_read() {
    let folder = TempDir::new().unwrap();
    let endless =
        "WITH RECURSIVE n(text) AS (SELECT 1 UNION ALL SELECT text + 1 FROM n) SELECT text FROM n";
    let path = database(&folder, &format!("CREATE VIEW notes AS {endless}"));
    assert!(matches!(
        open(&path),
        Err(SourceError::NotRecognized { .. })
    ));
}

#[test]
fn computed_columns_are_not_read() {
    let folder = TempDir::new().unwrap();
    // The column cannot be computed.
    let path = database(
        &folder,
        "CREATE TABLE notes (text); INSERT INTO notes VALUES ('a');
         ALTER TABLE notes ADD large AS (json(text))",
    );
    assert_eq!(texts(&open(&path).unwrap()), [Ok("a".into())]);
    let folder = TempDir::new().unwrap();
    let path = database(&folder, "CREATE TABLE notes (id, text AS (id))");
    assert!(matches!(
        open(&path),
        Err(SourceError::NotRecognized { .. })
    ));
}

#[test]
fn rows_that_share_a_default_value_end_where_they_are_larger_than_the_file() {
    let folder = TempDir::new().unwrap();
    let path = database(
        &folder,
        &format!(
            "CREATE TABLE notes (id); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100)
             INSERT INTO notes SELECT i FROM n; ALTER TABLE notes ADD text DEFAULT '{}'",
            "x".repeat(10_000)
        ),
    );
    let found = texts(&open(&path).unwrap());
    let most = usize::try_from(2 * path.metadata().unwrap().len() / 10_000).unwrap();
    assert_eq!(found.len(), most + 1);
    assert_eq!(
        found[most],
        Err("the rows have more values than the file".into())
    );
}

#[test]
fn rows_that_share_values_end_where_they_have_more_of_them_than_the_file_has_bytes() {
    let folder = TempDir::new().unwrap();
    let shared: Vec<String> = (0..250)
        .map(|number| format!("ALTER TABLE notes ADD c{number} DEFAULT '';"))
        .collect();
    let shared = shared.concat();
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000)
        INSERT INTO notes SELECT i, 'a' FROM n;";
    let path = database(
        &folder,
        &format!("CREATE TABLE notes (id, text); {rows} {shared}"),
    );
    assert_eq!(
        texts(&open(&path).unwrap()).last(),
        Some(&Err("the rows have more values than the file".into()))
    );
}

#[test]
fn a_table_with_any_number_of_columns_is_not_read() {
    let folder = TempDir::new().unwrap();
    let columns: Vec<_> = (0..300)
        .map(|number| format!("c{number} DEFAULT 1"))
        .collect();
    let path = database(
        &folder,
        &format!("CREATE TABLE notes (text, {})", columns.join(", ")),
    );
    assert!(matches!(
        open(&path),
        Err(SourceError::NotRecognized { .. })
    ));
}

#[test]
fn the_length_of_a_copy_is_no_limit_for_its_rows() {
    let folder = TempDir::new().unwrap();
    let path = database(&folder, "CREATE TABLE notes (text)");
    let before = open(&path).unwrap().max_bytes;
    // A sparse file.
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    let after = super::stored_bytes(&path);
    assert!(after <= before + (1 << 20), "{before} {after}");
}

#[test]
fn a_table_whose_pages_have_several_parents_is_damaged() {
    let folder = TempDir::new().unwrap();
    let path = database(
        &folder,
        "PRAGMA page_size=512; CREATE TABLE notes (text);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100)
         INSERT INTO notes SELECT 'a note with some text ' || i FROM n",
    );
    let connection = Connection::open(&path).unwrap();
    let root: i64 = connection
        .query_row("SELECT rootpage FROM sqlite_master", [], |row| row.get(0))
        .unwrap();
    drop(connection);
    let mut bytes = fs::read(&path).unwrap();
    let page = usize::try_from((root - 1) * 512).unwrap();
    assert_eq!(bytes[page], 5, "it is an interior page");
    let cell = |index: usize| {
        let at = page + 12 + 2 * index;
        page + usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
    };
    let (first, second) = (cell(0), cell(1));
    bytes.copy_within(first..first + 4, second);
    fs::write(&path, bytes).unwrap();
    let found = texts(&open(&path).unwrap());
    assert!(found.len() <= 101, "{}", found.len());
    assert!(
        found
            .iter()
            .any(|text| text.as_ref().is_err_and(|why| why.contains("in order"))),
        "{found:?}"
    );
}

#[cfg(unix)]
#[test]
fn what_is_beside_a_database_is_copied_only_if_it_is_a_regular_file() {
    let folder = TempDir::new().unwrap();
    let path = database(&folder, "CREATE TABLE notes (text)");
    let beside = |suffix| super::beside(&path, suffix);
    fs::write(beside("-wal"), "ab").unwrap();
    std::os::unix::fs::symlink("/dev/zero", beside("-journal")).unwrap();
    assert!(matches!(open(&path), Err(SourceError::Unreadable { .. })));
}

#[test]
fn a_row_that_cannot_be_read_is_reported_and_the_rest_is_read() {
    let folder = TempDir::new().unwrap();
    let path = database(
        &folder,
        "CREATE TABLE notes (more, text);
         INSERT INTO notes VALUES (1, 'a'), (2, CAST(x'61ff' AS TEXT)), (3, zeroblob(17000000)), (4, x'00'), (5, 6.5)",
    );
    let texts = texts(&open(&path).unwrap());
    assert_eq!(texts.len(), 5);
    assert_eq!(
        (&texts[0], &texts[1]),
        (&Ok("a".into()), &Ok("a\u{fffd}".into()))
    );
    assert!(
        texts[2]
            .as_ref()
            .is_err_and(|reason| reason.starts_with("cannot be read: "))
    );
    assert_eq!(
        (&texts[3], &texts[4]),
        (&Ok(String::new()), &Ok("6.5".into()))
    );
}

#[test]
fn behind_a_damaged_page_rows_are_read_from_the_end() {
    let folder = TempDir::new().unwrap();
    let path = database(&folder, "PRAGMA page_size=512; CREATE TABLE notes (text)");
    let connection = Connection::open(&path).unwrap();
    for number in 0..100 {
        connection
            .execute("INSERT INTO notes VALUES (?1)", [format!("{number:0>300}")])
            .unwrap();
    }
    drop(connection);
    let mut bytes = fs::read(&path).unwrap();
    let middle = format!("{:0>300}", 50);
    let at = bytes
        .windows(300)
        .position(|part| part == middle.as_bytes())
        .unwrap()
        / 512
        * 512;
    bytes[at..at + 100].fill(0xee);
    fs::write(&path, bytes).unwrap();
    let texts = texts(&open(&path).unwrap());
    let (read, failed): (Vec<_>, Vec<_>) = texts.into_iter().partition(Result::is_ok);
    assert!(95 < read.len() && read.len() < 100, "{}", read.len());
    assert!(!failed.is_empty());
}
