//! Files that nodes cannot read: the database refuses them, and they are no obstacle for other memories.

use chrono::DateTime;
use memory_core::testing::any_memory;
use memory_core::{ContentHash, Query, Scope, search};
use memory_store::markdown::{decode, encode};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::access::{SharedDatabase, write_into};
use super::replicas::open;
use super::undos::encode as to_hex;

const ID: &str = "01234567-0123-7000-8000-0123456789ab";

/// Further lines of front matter of valid files. Those with the keys of a memory may have been written by a user.
const VALID: [&str; 40] = [
    "",
    "tags: []\nsource: cli\ncreated_at: 2026-11-26T10:00:00Z\nupdated_at: 2026-11-26T10:00:00.123456789+01:00\nexpires_at: null\n",
    "access_count: 0\nlinks: []\nversion: 1\npinned: true\n",
    "tags:\n  - a\n  - \"b: c\"\n  - 'd'\n  # comment\n\n  - e\n",
    "tags: [a, \"b: c\"]\n",
    "tags: a b\n",
    "tags:\n- a\n- b\n",
    "tags: [\n  a,\n  b\n]\n",
    "aliases: [\"a, b\", 'c']\n",
    "aliases: a, b\n",
    "links:\n  - 01234567-0123-7000-8000-0123456789ab\n",
    "links: [01234567-0123-7000-8000-0123456789ab, 01234567-0123-7000-8000-0123456789ac]\n",
    "supersedes: 01234567-0123-7000-8000-0123456789ab\n",
    "superseded_by: '01234567-0123-7000-8000-0123456789ab'\n",
    "origin:\n  source: a\n  root: \"b c\"\n  path: d\n",
    "origin: {source: a, root: b, path: \"c: {\"}\n",
    "other_origins:\n  - obsidian:/a//b.md\n",
    "title: \"a \\\" \\\\\"\n",
    "title: it's a 'b'\n",
    "title: 'it''s'\n",
    "title: \"\u{43a}\u{43b}\u{44e}\u{447}\\\\\"\n",
    "\"title\": a # comment\n",
    "version: 1.10\n",
    "due: 2024-02-29\n",
    "due: 2024-02-29 09:30\n",
    "created: whenever\n",
    "colour: red # comment\n",
    "# comment\n\ncolour: red\n",
    "url: http://example.com:80/a?b=c\n",
    "text: |\n  a: b\n  c\n",
    "text: >-\n  a\n\n  b\n",
    "text: \"a\n  b\"\n",
    "text: a\n  b\n",
    "list:\n  - a: 1\n    b: 2\n  - a: 3\n",
    "map: {a: {b: [c]}}\n",
    "k\u{e9}y: v\u{e0}lue\n",
    "a key: a value\n",
    "a::b: c\n",
    "anchor: &a 1\n",
    "colour: red\r\n",
];

/// Further lines that make a file unreadable.
const DAMAGED: [&str; 47] = [
    "id: 01234567-0123-7000-8000-0123456789ac\n",
    "scope: team:web\n",
    "title: a\ntitle: b\n",
    "title: a\n\"title\": b\n",
    "title: a\n'title': b\n",
    "title: a\n\"\\x74itle\": b\n",
    "  more\n",
    "tags: {a: b}\n",
    "tags:\n  a: b\n",
    "tags:\n  - a: b\n",
    "tags: [a: b]\n",
    "aliases:\n  - {a: b}\n",
    "created_at: yesterday\n",
    "created_at: [2024-01-01]\n",
    "created_at:\n  yesterday\n",
    "updated_at: 2026-13-01\n",
    "updated_at: 2023-02-29\n",
    "due: 2024-01-01T25:00\n",
    "expires_at: 12024-01-01\n",
    "access_count: many\n",
    "access_count: -1\n",
    "version: v2\n",
    "links: [x]\n",
    "links:\n  - x\n",
    "superseded_by: x\n",
    "pinned: maybe\n",
    "title: [a]\n",
    "title:\n  - a\n",
    "title:\n  a: b\n",
    "origin: a\n",
    "origin:\n  source: a\n",
    "a: b: c\n",
    "a: [b\n",
    "a: {b\n",
    "a: \"b\n",
    "a: 'b\n",
    "a: ]\n",
    "a: *x\n",
    "a: `b\n",
    "a: @b\n",
    "a: - b\n",
    "a: \"b\" c\n",
    "a:\n\tb: c\n",
    "{a: b}\n",
    "text\n",
    "a: b\u{1}\n",
    "%YAML 1.2\n",
];

fn file(further: &str) -> String {
    format!(
        "---\nid: {ID}\ncontent_hash: 0\nphase: inbox\ncategory: inbox\nscope: global\n{further}---\ntext"
    )
}

/// Files that are damaged outside the lines of the front matter.
fn other_damaged_files() -> Vec<Vec<u8>> {
    let valid = file("");
    let mut large = valid.clone().into_bytes();
    large.resize(memory_core::MAX_MEMORY_SIZE + 1, b'a');
    vec![
        [valid.as_bytes(), b"\xff"].concat(),
        [valid.as_bytes(), b"\xed\xa0\x80"].concat(),
        [valid.as_bytes(), b"\0"].concat(),
        valid.replace("---\ntext", "text").into_bytes(),
        valid
            .replace("category: inbox", "category: unknown")
            .into_bytes(),
        valid.replace("phase: inbox", "phase: unknown").into_bytes(),
        large,
    ]
}

/// Returns whether the database accepts each of these files of a memory with an id and a scope.
fn accepted(shared: &SharedDatabase<'_>, files: &[(Vec<u8>, &str, &str)]) -> Vec<bool> {
    let row = |(file, id, scope): &(Vec<u8>, &str, &str)| {
        format!(
            "(decode('{}', 'hex'), '{id}', '{}')",
            to_hex(file),
            scope.replace('\'', "''")
        )
    };
    let mut found = Vec::new();
    // The length of an argument of a program is limited.
    for files in files.chunks(8) {
        let rows: Vec<_> = files.iter().map(row).collect();
        let select = format!(
            "SELECT memory_is_content_of(file, id, scope) AND memory_is_readable(file) FROM (VALUES {}) AS own(file, id, scope)",
            rows.join(",")
        );
        found.extend(
            shared
                .server
                .sql(&shared.name, &select)
                .lines()
                .map(|line| line == "t"),
        );
    }
    found
}

#[test]
fn the_database_accepts_every_file_that_a_node_writes() {
    let Some(shared) = SharedDatabase::new("files of nodes") else {
        return;
    };
    shared.add("ada", &[]);
    let lines = prop::sample::select(VALID.to_vec());
    let mut runner = TestRunner::deterministic();
    let files: Vec<_> = (0..256)
        .map(|_| {
            let (memory, lines) = (any_memory(), lines.clone())
                .new_tree(&mut runner)
                .unwrap()
                .current();
            (
                encode(&memory, lines).into_bytes(),
                memory.id.to_string(),
                memory.scope.to_string(),
            )
        })
        // Only letters that YAML accepts without an escape are in the names of scopes with principals.
        .filter(|(.., scope)| {
            !scope.contains(|letter: char| {
                letter.is_control() || "\u{2028}\u{2029}\u{feff}".contains(letter)
            })
        })
        .collect();
    let rows: Vec<_> = files
        .iter()
        .map(|(file, id, scope)| (file.clone(), id.as_str(), scope.as_str()))
        .collect();
    for ((file, ..), is_accepted) in files.iter().zip(accepted(&shared, &rows)) {
        assert!(is_accepted, "{}", String::from_utf8_lossy(file));
    }
}

#[test]
fn the_database_refuses_files_that_nodes_report_as_damaged_and_no_others() {
    let Some(shared) = SharedDatabase::new("damaged files") else {
        return;
    };
    shared.add("ada", &[]);
    let large = other_damaged_files().pop().unwrap();
    let small = other_damaged_files()
        .into_iter()
        .filter(|file| file.len() < large.len());
    let files: Vec<_> = VALID
        .iter()
        .chain(&DAMAGED)
        .map(|lines| file(lines).into_bytes())
        .chain(small)
        .map(|file| (file, ID, "global"))
        .collect();
    for ((file, ..), is_accepted) in files.iter().zip(accepted(&shared, &files)) {
        let problem = decode("categories/inbox/a.md", file, DateTime::UNIX_EPOCH).problem;
        assert_eq!(
            is_accepted,
            problem.is_none(),
            "{problem:?}: {:?}",
            String::from_utf8_lossy(file)
        );
    }
    let of_size = |size: usize| {
        let front = format!(
            "convert_to('{}' || repeat('a', {size} - {}), 'UTF8')",
            file(""),
            file("").len()
        );
        shared
            .server
            .sql(&shared.name, &format!("SELECT memory_is_readable({front})"))
    };
    assert_eq!(
        (of_size(large.len() - 1), of_size(large.len())),
        ("t".to_owned(), "f".to_owned())
    );
    // The value of a key may continue in the next line, also that of the scope.
    let twice = file("")
        .replace("scope: global\n", "scope: global\n  b\n")
        .into_bytes();
    let split = [(twice.clone(), ID, "global"), (twice, ID, "global b")];
    assert_eq!(accepted(&shared, &split), [false, false]);
}

#[test]
fn a_damaged_file_of_another_node_is_reported_with_its_author_and_is_no_obstacle() {
    let Some(shared) = SharedDatabase::new("damaged files of others") else {
        return;
    };
    let (ada_token, bob_token) = (
        shared.add("ada", &["team:web"]),
        shared.add("bob", &["team:web"]),
    );
    let (ada, bob) = (shared.node(&ada_token), shared.node(&bob_token));
    let id = write_into(&ada, "the zebra deploys", "team:web");
    bob.services.store.refresh().unwrap();
    // The functions check the files of principals, so the owner writes them: a damaged file, and one that has the path of another scope.
    let insert = |number: usize, path: &str, content: &[u8]| {
        let id = format!("01234567-0123-7000-8000-{number:012x}");
        let at = content
            .windows(ID.len())
            .position(|part| part == ID.as_bytes())
            .unwrap();
        let content = &[&content[..at], id.as_bytes(), &content[at + ID.len()..]].concat();
        let (hex, hash) = (
            to_hex(content),
            to_hex(ContentHash::from_bytes(content).as_bytes()),
        );
        let sql = format!(
            "WITH head AS (UPDATE memory_document_heads SET position = position + 1, token = {number} WHERE scope = 'team:web' RETURNING *),
            operation AS (
                INSERT INTO memory_document_operations (scope, position, operation, token, verb, actor, at, at_nanos, principal)
                SELECT scope, position, '{number:012x}', token, 'write', 'cli', now(), 0, 'eve' FROM head
            )
            INSERT INTO memory_document_changes (scope, position, nth, operation, token, id, path, hash, content)
            SELECT scope, position, 0, '{number:012x}', token, '{id}', '{path}', decode('{hash}', 'hex'), decode('{hex}', 'hex') FROM head"
        );
        shared.sql("owner", "", &sql);
    };
    let damaged = other_damaged_files();
    let damaged: Vec<_> = DAMAGED
        .iter()
        .take(3)
        .map(|lines| file(lines).into_bytes())
        .chain(damaged)
        .collect();
    for (number, content) in damaged
        .iter()
        .enumerate()
        .filter(|(_, content)| content.len() < 10_000)
    {
        insert(
            number + 1,
            &format!("categories/ideas/{number}@team-web.md"),
            content,
        );
    }
    insert(90, "categories/ideas/foreign.md", file("").as_bytes());
    insert(
        91,
        "categories/ideas/other@team-api.md",
        file("").as_bytes(),
    );
    let later = write_into(&ada, "a later zebra", "team:web");
    for node in [&bob, &shared.node(&bob_token)] {
        assert_eq!(
            search(&node.services, &Query::new("zebra"))
                .unwrap()
                .hits
                .len(),
            2
        );
        assert_eq!(
            (node.content(&id).as_str(), node.content(&later).as_str()),
            ("the zebra deploys", "a later zebra")
        );
        write_into(
            node,
            "a note of bob",
            &Scope::Private("bob".into()).to_string(),
        );
        let store = open(
            node.home.path(),
            shared.database(&bob_token),
            std::time::Duration::ZERO,
        );
        let findings = store.doctor(None).unwrap().findings;
        let of = |path: &str| {
            let found = findings.iter().find(|finding| finding.path == path);
            found
                .map(|finding| format!("{}: {}", finding.code, finding.what))
                .unwrap_or_default()
        };
        assert_eq!(
            of("categories/ideas/2@team-web.md"),
            "file_damaged: the key `title` is duplicated in the front matter; eve wrote it in team:web"
        );
        assert_eq!(
            of("categories/ideas/3@team-web.md"),
            "file_damaged: the text is not UTF-8 but another encoding; eve wrote it in team:web"
        );
        assert_eq!(
            of("categories/ideas/foreign.md"),
            "file_damaged: an operation of eve was not applied: categories/ideas/foreign.md is no file of team:web"
        );
        assert_eq!(
            findings
                .iter()
                .filter(|finding| finding.what.contains("eve"))
                .count(),
            damaged.len() - 1 + 2
        );
    }
}
