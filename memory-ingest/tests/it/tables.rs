use memory_core::{Category, Code, Scope, SpeakerRole};
use memory_ingest::{SourceName, open};

use crate::sandbox::{
    IngestSandbox, field_options, moment, note_paths, stated_days, survey_mapped_source,
    survey_source,
};

#[test]
fn obvious_keys_are_guessed_and_the_guess_is_reported_once() {
    let text = "{\"text\":\"likes tea [[Other]]\",\"Title\":null,\"tags\":[\"a\",\"b\"],\"date\":\"2024-01-02\",\"id\":2,\"vector\":[0.5],\"n\":{\"x\":1}}\n\
        {\"text\":\"键 😀\",\"Title\":\"Other\",\"tags\":\"c, d\",\"date\":\"soon\",\"id\":1}\n{\"text\":\"dup\",\"id\":1}\n{broken\n7\n{\"id\":9}\n";
    let folder = IngestSandbox::new(&[("notes.jsonl", text)]);
    let found = survey_source(SourceName::Jsonl, &folder.path().join("notes.jsonl"));
    assert_eq!(note_paths(&found), ["records/1", "records/2"]);
    let first = found.note("records/1");
    assert_eq!(
        (first.draft.content.as_str(), first.draft.title.as_deref()),
        ("键 😀", Some("Other"))
    );
    assert_eq!(
        (first.draft.tags.as_slice(), first.draft.created_at),
        (&["c".to_owned(), "d".to_owned()][..], None)
    );
    assert_eq!(first.front_matter, "jsonl_date: \"soon\"\n");
    assert_eq!(
        first.warning.as_deref(),
        Some(
            "the fields were guessed: content=text, title=Title, tags=tags, created=date, id=id; \
             notes.jsonl: date is no time (records: 1) and is retained as a property"
        )
    );
    let second = found.note("records/2");
    assert_eq!(
        (second.draft.title.as_deref(), second.warning.as_deref()),
        (None, None)
    );
    assert_eq!(second.draft.created_at, "2024-01-02T00:00:00Z".parse().ok());
    assert_eq!(second.front_matter, "jsonl_n: {\"x\":1}\n");
    assert_eq!(
        (found.report.links.resolved, found.skipped.len()),
        (1, 4),
        "{:?}",
        found.skipped
    );
    assert_eq!(
        (found.report.new, found.again.unchanged, found.again.updated),
        (2, 2, 0)
    );
}

#[test]
fn a_map_names_every_field_also_in_nested_objects() {
    let text = r#"[{"a":{"b":{"c":"text"}},"k":"Preferences","p":"shop","who":"user","until":1735787045,"from":"2024-01-02","at":"2024-02-01","via":"web","t":"x;y","content":"other"}]"#;
    let folder = IngestSandbox::new(&[("x.json", text)]);
    let path = folder.path().join("x.json");
    let fields = [
        ("content", "a.b.c"),
        ("category", "k"),
        ("project", "p"),
        ("author", "who"),
        ("expires", "until"),
        ("created", "from"),
        ("updated", "at"),
        ("source", "via"),
    ];
    let found = survey_mapped_source(SourceName::Jsonl, &path, &fields);
    let note = &found.notes[0];
    assert_eq!(
        (note.draft.content.as_str(), note.draft.category),
        ("text", Some(Category::Preferences))
    );
    assert_eq!(
        (&note.draft.scope, note.draft.role),
        (&Scope::Project("shop".into()), Some(SpeakerRole::Person))
    );
    assert_eq!(note.draft.expires_at, "2025-01-02T03:04:05Z".parse().ok());
    assert_eq!(
        (note.draft.created_at, note.updated_at),
        (
            "2024-01-02T00:00:00Z".parse().ok(),
            "2024-02-01T00:00:00Z".parse().ok()
        )
    );
    assert!(
        note.front_matter.contains("jsonl_via: \"web\"\n")
            && note.front_matter.contains("jsonl_t: \"x;y\"\n")
    );
    assert!(
        note.front_matter.contains("jsonl_content_: \"other\"\n"),
        "{}",
        note.front_matter
    );
    assert!(
        !note.front_matter.contains("jsonl_a:"),
        "{}",
        note.front_matter
    );
    assert_eq!(note.warning, None);
    assert!(
        note.path().starts_with("texts/"),
        "without an id, the text identifies the record: {}",
        note.path()
    );
}

#[test]
fn a_mapped_value_within_an_object_is_no_part_of_its_property() {
    let folder = IngestSandbox::new(&[(
        "x.json",
        r#"[{"body":{"text":"tea","html":"<p>tea</p>","meta":{"ts":"2024","x":1}}}]"#,
    )]);
    let fields = [("content", "body.text"), ("created", "body.meta.ts")];
    let found = survey_mapped_source(SourceName::Jsonl, &folder.path().join("x.json"), &fields);
    let lines = "\"jsonl_body.meta.ts\": \"2024\"\njsonl_body: {\"html\":\"<p>tea</p>\",\"meta\":{\"x\":1}}\n";
    assert_eq!(found.notes[0].front_matter, lines);
}

#[test]
fn a_map_that_cannot_be_applied_is_refused() {
    let folder = IngestSandbox::new(&[
        ("x.jsonl", "{\"a\":1}"),
        ("x.csv", "a,b\n1,2\n"),
        ("empty.csv", ""),
        ("not.jsonl", "text"),
    ]);
    let refuse = |name: SourceName, file: &str, fields: &[(&str, &str)]| {
        let error = open(name, &folder.path().join(file), &field_options(fields))
            .expect_err("it is refused");
        assert_eq!(error.code(), Code::InvalidInput, "{file} {fields:?}");
    };
    refuse(SourceName::Jsonl, "x.jsonl", &[]);
    refuse(SourceName::Jsonl, "x.jsonl", &[("title", "a")]);
    refuse(
        SourceName::Jsonl,
        "x.jsonl",
        &[("content", "a"), ("colour", "a")],
    );
    refuse(
        SourceName::Csv,
        "x.csv",
        &[("content", "a"), ("content", "b")],
    );
    refuse(SourceName::Csv, "x.csv", &[]);
    refuse(SourceName::Csv, "empty.csv", &[]);
    refuse(SourceName::Jsonl, "not.jsonl", &[]);
}

#[test]
fn values_that_are_no_times_are_counted() {
    let text = "text,day\na,11/12/2021\nb,2021-11-14\nc,\nd,soon";
    let folder = IngestSandbox::new(&[("x.csv", text)]);
    let fields = [("content", "text"), ("created", "day")];
    let found = survey_mapped_source(SourceName::Csv, &folder.path().join("x.csv"), &fields);
    let warnings: Vec<_> = found
        .notes
        .iter()
        .filter_map(|note| note.warning.as_deref())
        .collect();
    let expected = "x.csv: day is no time (records: 2) and is retained as a property";
    assert_eq!(warnings, [expected]);
}

#[test]
fn tables_are_read_with_any_delimiter_and_quotes() {
    for (delimiter, file) in [(",", "a.csv"), (";", "b.csv"), ("\t", "c.tsv")] {
        let rows = [
            "\u{feff}Text|Tags|Created|Note",
            "\"two\r\nlines, and \"\"quotes\"\"; ok\"|\"x, y\"|2024-01-02|",
            "键 😀||",
            "too|many|values|in|it",
            "|empty||",
            "last|z|1735787045|more",
        ];
        let text = rows.map(|row| row.replace('|', delimiter)).join("\r\n");
        let folder = IngestSandbox::new(&[(file, &text)]);
        let found = survey_source(SourceName::Csv, &folder.path().join(file));
        let mut contents: Vec<_> = found
            .notes
            .iter()
            .map(|note| note.draft.content.as_str())
            .collect();
        contents.sort_unstable();
        assert_eq!(
            contents,
            ["last", "two\r\nlines, and \"quotes\"; ok", "键 😀"],
            "{file}"
        );
        let note = found
            .notes
            .iter()
            .find(|note| note.draft.content.starts_with("two"))
            .expect("it is there");
        assert_eq!(note.draft.tags.as_slice(), ["x", "y"]);
        assert_eq!(
            (note.draft.created_at, note.front_matter.as_str()),
            ("2024-01-02T00:00:00Z".parse().ok(), "")
        );
        let last = found
            .notes
            .iter()
            .find(|note| note.draft.content == "last")
            .expect("it is there");
        assert_eq!(last.front_matter, "csv_Note: \"more\"\n");
        assert_eq!(last.draft.created_at, "2025-01-02T03:04:05Z".parse().ok());
        let skipped: Vec<_> = found
            .skipped
            .iter()
            .map(|(path, reason)| format!("{path} {reason}"))
            .collect();
        assert_eq!(
            skipped,
            [
                format!("{file}#3 has 5 values, but the table has 4 columns"),
                format!("{file}#4 has no text")
            ]
        );
        assert_eq!((found.report.new, found.again.unchanged), (3, 3));
    }
}

#[test]
fn a_year_is_retained_as_a_property_and_eight_digits_are_a_day() {
    let table = "id,text,created\n1,a year,2024\n2,a day,20240105\n3,no day,20241399\n";
    let lines = "{\"id\":1,\"text\":\"a year\",\"created\":2024}\n{\"id\":2,\"text\":\"a day\",\"created\":20240105}\n\
                 {\"id\":3,\"text\":\"no day\",\"created\":20241399}\n";
    let folder = IngestSandbox::new(&[("x.csv", table), ("x.jsonl", lines)]);
    for (name, file, years) in [
        (
            SourceName::Csv,
            "x.csv",
            ["csv_created: \"2024\"\n", "csv_created: \"20241399\"\n"],
        ),
        (
            SourceName::Jsonl,
            "x.jsonl",
            ["jsonl_created: 2024\n", "jsonl_created: 20241399\n"],
        ),
    ] {
        let found = survey_source(name, &folder.path().join(file));
        let note = |id: u8| found.note(&format!("records/{id}"));
        assert_eq!(
            [1, 2, 3].map(|id| note(id).draft.created_at),
            [None, "2024-01-05T00:00:00Z".parse().ok(), None]
        );
        assert_eq!([1, 3].map(|id| note(id).front_matter.as_str()), years);
        assert_eq!(note(2).front_matter, "");
    }
}

#[test]
fn a_quote_without_an_end_is_reported_and_the_rows_after_it_are_read() {
    for (rows, line) in [
        ("1,first\n2,\"second\n3,third\n", 3),
        ("1,first\r\n2,\"second\r\n3,third\r\n", 3),
        ("1,\"first\"\n2,\"second\n3,\"third\"\n", 3),
    ] {
        let folder = IngestSandbox::new(&[("x.csv", &format!("id,text\n{rows}"))]);
        let found = survey_source(SourceName::Csv, &folder.path().join("x.csv"));
        assert_eq!(
            note_paths(&found),
            ["records/1", "records/3"],
            "{rows} {:?}",
            found.skipped
        );
        assert_eq!(found.note("records/3").draft.content, "third");
        let expected = [(
            "x.csv#2".to_owned(),
            format!("has a quote in line {line} that is not closed"),
        )];
        assert_eq!(found.skipped, expected);
    }
    for (last, is_open) in [
        ("2,\"second", true),
        ("2,\"", true),
        ("2,\"second\"", false),
        ("2,\"two\nlines\"", false),
        ("2,\"a\"b", false),
    ] {
        let folder = IngestSandbox::new(&[("x.csv", &format!("id,text\n1,first\n{last}"))]);
        let found = survey_source(SourceName::Csv, &folder.path().join("x.csv"));
        assert_eq!(
            note_paths(&found).len(),
            if is_open { 1 } else { 2 },
            "{last}"
        );
        let reasons: Vec<_> = found
            .skipped
            .iter()
            .map(|(_, reason)| reason.as_str())
            .collect();
        assert_eq!(
            reasons,
            if is_open {
                vec!["has a quote in line 3 that is not closed"]
            } else {
                vec![]
            },
            "{last}"
        );
    }
    // Incomplete rows after it are its lines.
    for (lines, part) in [
        ("of a\n", "; line 3 was skipped as a part of it"),
        ("of\n\na\n", "; lines 3 to 5 were skipped as parts of it"),
    ] {
        let folder =
            IngestSandbox::new(&[("x.csv", &format!("text,n\n\"start\n{lines}next,2\nshort\n"))]);
        let found = survey_mapped_source(
            SourceName::Csv,
            &folder.path().join("x.csv"),
            &[("content", "text")],
        );
        let mut texts: Vec<_> = found
            .notes
            .iter()
            .map(|note| note.draft.content.as_str())
            .collect();
        texts.sort_unstable();
        assert_eq!(texts, ["next", "short"], "{lines}");
        assert_eq!(
            found.skipped,
            [(
                "x.csv#1".to_owned(),
                format!("has a quote in line 2 that is not closed{part}")
            )]
        );
    }
    // A row that is too large because of a quote is not the last one; a line that is too large is.
    let long = format!(
        "id,text\n1,first\n2,\"second\n3,third\n4,{}",
        "x".repeat(17 << 20)
    );
    let folder = IngestSandbox::new(&[("x.csv", &long)]);
    let found = survey_source(SourceName::Csv, &folder.path().join("x.csv"));
    assert_eq!(note_paths(&found), ["records/1", "records/3"]);
    assert_eq!(
        found.skipped[0].1,
        "has a quote in line 3 that is not closed"
    );
    assert!(
        found.skipped[1].1.contains("a row is larger than 16 MiB"),
        "{:?}",
        found.skipped
    );
    let folder = IngestSandbox::new(&[("x.csv", "id,\"text\n1,first\n")]);
    let opened = open(
        SourceName::Csv,
        &folder.path().join("x.csv"),
        &field_options(&[]),
    );
    assert_eq!(opened.expect_err("the header is broken").code(), Code::Io);
}

#[test]
fn a_key_that_is_not_in_the_file_is_refused_with_the_keys_of_the_file() {
    let folder = IngestSandbox::new(&[
        ("x.csv", "id,text\n1,a\n"),
        ("x.jsonl", "{\"a\":{\"b\":\"x\"}}\n{\"c\":null}\n"),
    ]);
    let refused = |name: SourceName, file: &str, fields: &[(&str, &str)]| {
        let error = open(name, &folder.path().join(file), &field_options(fields))
            .expect_err("it is refused");
        assert_eq!(
            (
                error.code(),
                error.hint().is_some_and(|hint| hint.contains("--map"))
            ),
            (Code::InvalidInput, true)
        );
        error
            .to_string()
            .split_once(": ")
            .expect("a reason")
            .1
            .to_owned()
    };
    assert_eq!(
        refused(SourceName::Csv, "x.csv", &[("content", "body")]),
        "body for the field content is not in the file (it has id, text)"
    );
    assert_eq!(
        refused(SourceName::Jsonl, "x.jsonl", &[("content", "a.c")]),
        "a.c for the field content is not in the file (it has a, c)"
    );
    let known = open(
        SourceName::Jsonl,
        &folder.path().join("x.jsonl"),
        &field_options(&[("content", "a.b"), ("title", "c")]),
    );
    assert!(known.is_ok(), "a key without a value is known");
}

#[test]
fn credentials_in_the_names_of_columns_and_keys_are_left_out_with_a_report() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let csv = format!("id,text,{token},other\n1,a,value,x\n");
    let json =
        format!("{{\"id\":1,\"text\":\"a\",\"{token}\":\"value\",\"n\":{{\"{token}\":1}}}}\n");
    let folder = IngestSandbox::new(&[("x.csv", &csv), ("x.jsonl", &json)]);
    for (name, file) in [(SourceName::Csv, "x.csv"), (SourceName::Jsonl, "x.jsonl")] {
        let found = survey_source(name, &folder.path().join(file));
        let note = found.note("records/1");
        let warning = note.warning.clone().expect("a report");
        assert!(
            warning.contains(
                "a property was left out, since its name contains a credential (GitHub token)"
            ),
            "{warning}"
        );
        assert!(!warning.contains(&token), "{warning}");
        let memories = format!("{:?}", found.report);
        assert!(!memories.contains(&token), "{memories}");
        assert!(
            !note.front_matter.contains("value") && !note.front_matter.contains(&token),
            "{}",
            note.front_matter
        );
        for map in [("content", "none"), (token.as_str(), "text")] {
            let error = open(name, &folder.path().join(file), &field_options(&[map]))
                .expect_err("it is refused");
            assert!(
                !format!("{error} {:?}", error.hint()).contains(&token),
                "{error}"
            );
        }
        let map = SourceName::suggest_map(&folder.path().join(file));
        assert!(
            map.is_some() && !format!("{map:?}").contains(&token),
            "{map:?}"
        );
    }
}

#[test]
fn tables_and_records_in_utf_16_are_read() {
    let folder = IngestSandbox::new(&[]);
    let encode = |text: &str| {
        format!("\u{feff}{text}")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<_>>()
    };
    folder.write("x.csv", &encode("id,text\n1,\"键\n😀\"\n2,b\n"));
    folder.write(
        "x.jsonl",
        &encode("{\"id\":1,\"text\":\"键\\n😀\"}\n{\"id\":2,\"text\":\"b\"}\n"),
    );
    for (name, file) in [(SourceName::Csv, "x.csv"), (SourceName::Jsonl, "x.jsonl")] {
        let found = survey_source(name, &folder.path().join(file));
        assert_eq!(note_paths(&found), ["records/1", "records/2"], "{file}");
        assert_eq!(found.note("records/1").draft.content, "键\n😀");
    }
}

#[test]
fn embeddings_are_left_out_in_any_form() {
    let text = "{\"id\":1,\"text\":\"a\",\"embedding\":[0.5,0.25],\"Vector\":\"[0.5, 1]\",\"sizes\":[1,2]}\n";
    let folder = IngestSandbox::new(&[("x.jsonl", text)]);
    let found = survey_source(SourceName::Jsonl, &folder.path().join("x.jsonl"));
    assert_eq!(found.note("records/1").front_matter, "jsonl_sizes: [1,2]\n");
}

#[test]
fn tables_that_are_not_utf_8_are_decoded_or_reported_with_the_name_of_the_file() {
    let folder = IngestSandbox::new(&[]);
    folder.write(
        "latin.csv",
        b"id,text\n1,caf\xe9 cr\xe8me\n2,d\xe9j\xe0 vu\n",
    );
    folder.write(
        "damaged.csv",
        &["id,text\n1,键 😀 caf".as_bytes(), b"\xe9\n"].concat(),
    );
    let map = [("content", "text"), ("id", "id")];
    let warning = |file: &str, text: &str| {
        let found = survey_mapped_source(SourceName::Csv, &folder.path().join(file), &map);
        let note = found.note("records/1");
        assert_eq!(note.draft.content, text);
        note.warning.clone()
    };
    assert_eq!(
        warning("latin.csv", "café crème").as_deref(),
        Some("latin.csv is not UTF-8; it was read as windows-1252")
    );
    let expected = "damaged.csv#1: its text contains �, which replaces bytes that are not UTF-8";
    assert_eq!(
        warning("damaged.csv", "键 😀 caf\u{fffd}").as_deref(),
        Some(expected)
    );
}

#[test]
fn records_with_one_text_and_other_titles_or_dates_are_separate() {
    let lines = r#"{"text":"- [ ] water","title":"Monday","date":"2024-01-01"}
{"text":"- [ ] water","title":"Tuesday","date":"2024-01-02"}{"text":"- [ ] water","title":"Tuesday","date":"2024-01-09"}
{"text":"- [ ] water","title":"Monday","date":"2024-01-01"}
"#;
    let folder = IngestSandbox::new(&[
        ("notes.jsonl", lines),
        (
            "notes.csv",
            "text,title,date\nwater,Monday,2024-01-01\nwater,Tuesday,2024-01-02\nwater,Tuesday,2024-01-09\nwater,Monday,2024-01-01\n",
        ),
    ]);
    for (source, file) in [
        (SourceName::Jsonl, "notes.jsonl"),
        (SourceName::Csv, "notes.csv"),
    ] {
        let found = survey_source(source, &folder.path().join(file));
        assert_eq!((found.report.new, found.again.unchanged), (3, 3), "{file}");
        let mut days: Vec<_> = found
            .notes
            .iter()
            .map(|note| note.draft.created_at)
            .collect();
        days.sort();
        let expected = ["2024-01-01", "2024-01-02", "2024-01-09"];
        assert_eq!(
            days,
            expected.map(|day| Some(moment(&format!("{day}T00:00:00Z")))),
            "{file}"
        );
        assert!(
            found.skipped[0].1.contains("is a duplicate of texts/"),
            "{:?}",
            found.skipped
        );
    }
}

#[test]
fn times_without_a_zone_are_marked() {
    let folder = IngestSandbox::new(&[
        (
            "notes.jsonl",
            r#"{"text":"tea","date":"2024-07-01 12:00"} {"text":"milk","date":"2024-07-02T12:00:00Z"} {"text":"jam","date":1719990000}"#,
        ),
        (
            "notes.csv",
            "text,date\ntea,2024/07/01 12:00:30\nmilk,2024-07-02 12:00 +0200\n",
        ),
        (
            "vault/a.md",
            "---\ncreated: 2024-07-01T12:00\nupdated: 2024-07-02T12:00:00+02:00\n---\ntea\n",
        ),
        (
            "Pages 0123456789abcdef0123456789abcdef.md",
            "# Pages\n\nCreated: July 1, 2024 3:04 PM\n\ntea\n",
        ),
    ]);
    for (source, file) in [
        (SourceName::Jsonl, "notes.jsonl"),
        (SourceName::Csv, "notes.csv"),
        (SourceName::Obsidian, "vault"),
        (
            SourceName::Notion,
            "Pages 0123456789abcdef0123456789abcdef.md",
        ),
    ] {
        let days = stated_days(source, &folder.path().join(file));
        assert_eq!(days, ["2024-07-01"], "{file}");
    }
}

#[test]
fn the_response_of_gemini_follows_its_prompt() {
    let text = r#"[{"header":"Gemini Apps","title":"Prompted how do sunglasses work?","time":"2026-03-02T09:15:00.000Z",
        "safeHtmlItem":[{"html":"<p>They have a <strong>filter</strong> &amp; more</p><ul><li>one</li></ul>"}]},
        {"title":"Prompted no response","time":"2026-03-02T09:17:00.000Z","safeHtmlItem":[]}]"#;
    let folder = IngestSandbox::new(&[("MyActivity.json", text)]);
    let fields = [("content", "title"), ("created", "time")];
    let path = folder.path().join("MyActivity.json");
    let found = survey_mapped_source(SourceName::Jsonl, &path, &fields);
    let texts: Vec<_> = found
        .notes
        .iter()
        .map(|note| (note.draft.content.as_str(), note.front_matter.as_str()))
        .collect();
    let response = "Prompted how do sunglasses work?\n\nThey have a **filter** & more\n- one";
    assert!(
        texts.contains(&(response, "jsonl_header: \"Gemini Apps\"\n")),
        "{texts:?}"
    );
    assert!(texts.contains(&("Prompted no response", "")), "{texts:?}");
}
