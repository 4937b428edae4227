//! Tests of parts of words, and of symbols.

use memory_core::Scope;

use super::fixture::{
    IndexFixture, TestNote, check_flushed_and_pending, numbers, numbers_of, query, search,
};
use crate::index::{MemoryIndex, RefreshDepth};

/// Writes a note for each body, and checks the index with flushed and pending notes.
///
/// The pending notes are also checked after their flush.
fn with_notes(bodies: &[&str], check: impl Fn(&MemoryIndex)) {
    let home = IndexFixture::new();
    for (number, body) in (1..).zip(bodies) {
        home.write(&TestNote {
            number,
            body,
            ..TestNote::default()
        });
    }
    let flushed = home.index();
    flushed.refresh(RefreshDepth::Usual).unwrap();
    check(&flushed);
    // Without its vocabulary file, a segment is searched through the dictionary.
    let folder = std::fs::read_dir(home.absolute_path("index/text"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut removed = 0;
    for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        if entry.file_name().to_str().unwrap().starts_with("words-") {
            std::fs::remove_file(entry.path()).unwrap();
            removed += 1;
        }
    }
    assert_eq!(removed, 1);
    check(&flushed);
    drop(flushed);
    check_flushed_and_pending(&home, check);
}

fn sorted(index: &MemoryIndex, text: &str) -> Vec<u32> {
    let mut found = numbers(index, text);
    found.sort_unstable();
    found
}

#[test]
fn a_part_of_a_word_is_found_behind_whole_words() {
    let bodies = [
        "We moved to PostgreSQL",
        "SQL is a language, and a long note about it goes on for many more words than the others do",
        "Mysqlbackup runs at night",
        "The Raspberrypi is in the attic",
        "A berry a day",
        "nothing of the kind",
        "sql in the backup, with postgres",
    ];
    with_notes(&bodies, |index| {
        for (text, whole, parts) in [
            ("sql", vec![2, 7], vec![1, 3]),
            ("SQL", vec![2, 7], vec![1, 3]),
            ("berry", vec![5], vec![4]),
            ("rasp", vec![4], vec![]),
            ("spberry", vec![], vec![4]),
            ("pi", vec![4], vec![]),
            ("ysqlb", vec![], vec![3]),
            ("gre", vec![], vec![1, 7]),
            ("tgres", vec![], vec![1, 7]),
            ("backup", vec![7], vec![3]),
            ("ql", vec![], vec![1, 2, 3, 7]),
            ("ql attic", vec![4], vec![]),
            ("q", vec![], vec![]),
            ("sql -postgres", vec![2], vec![1, 3]),
            ("sql -postgresql", vec![2, 7], vec![3]),
            ("\"sql\"", vec![2, 7], vec![]),
            ("sq*", vec![2, 7], vec![]),
        ] {
            let found = numbers(index, text);
            let (mut first, mut last) =
                (found[..whole.len()].to_vec(), found[whole.len()..].to_vec());
            first.sort_unstable();
            last.sort_unstable();
            assert_eq!((first, last), (whole, parts), "{text}: {found:?}");
            assert_eq!(
                search(index, &query(text)).total,
                found.len() as u64,
                "{text}"
            );
        }
        let found = search(index, &query("sql"));
        let scores: Vec<f32> = found.hits.iter().map(|hit| hit.score).collect();
        assert!(scores.is_sorted_by(|one, other| other <= one), "{scores:?}");
        let last = &found.hits[2..];
        assert!(
            last.iter()
                .all(|hit| hit.explanation.is_part && !hit.marks.is_empty()),
            "{last:?}"
        );
        assert!(
            last.iter()
                .all(|hit| hit.snippet[hit.marks[0].clone()].eq_ignore_ascii_case("sql"))
        );
        let mut one = query("sql");
        one.limit = 1;
        let found = search(index, &one);
        assert_eq!(
            (found.hits.len(), found.total),
            (1, 4),
            "the total does not depend on the limit"
        );
    });
}

#[test]
fn symbols_are_found() {
    let bodies = [
        "written in C#, not in Java",
        "C++ and (F#) are older",
        "vitamin C is healthy",
        "ASP.NET on the server",
        "we launch 🚀tomorrow",
        "flags: 🇩🇪 🇫🇷",
        "the family 👨\u{200d}👩\u{200d}👧 visits ❤\u{fe0f}",
        "a → b costs 5 $ @home",
        "用C#写的 net of taxes",
    ];
    with_notes(&bodies, |index| {
        for (text, expected) in [
            ("C#", vec![1, 9]),
            ("c#", vec![1, 9]),
            ("Ｃ＃", vec![1, 9]),
            ("C++", vec![2]),
            ("++", vec![2]),
            ("F#", vec![2]),
            ("#", vec![1, 2, 9]),
            ("C", vec![1, 2, 3, 9]),
            ("🚀", vec![5]),
            ("🇩🇪", vec![6]),
            ("🇩🇰", vec![]),
            ("👨\u{200d}👩\u{200d}👧", vec![7]),
            ("👩", vec![7]),
            ("❤", vec![7]),
            ("❤\u{fe0f}", vec![7]),
            ("→", vec![8]),
            ("$", vec![8]),
            ("@", vec![8]),
            ("Java -C#", vec![]),
            ("older -C#", vec![2]),
            ("visits -🚀", vec![7]),
            ("visits -❤", vec![]),
            ("\"C#\"", vec![1, 9]),
            ("\"🚀\"", vec![5]),
        ] {
            assert_eq!(sorted(index, text), expected, "{text}");
        }
        let found = numbers(index, ".NET");
        assert_eq!(found, [4, 9], "the word with its sign comes first");
        let hit = &search(index, &query("🚀")).hits[0];
        assert_eq!(&hit.snippet[hit.marks[0].clone()], "🚀");
    });
}

#[test]
fn parts_of_words_that_are_not_seen_are_not_there() {
    let home = IndexFixture::new();
    home.write(&TestNote {
        number: 1,
        front: "scope: agent:other\n",
        body: "PostgreSQL 🚀launch",
        ..TestNote::default()
    });
    home.write(&TestNote {
        number: 2,
        body: "MySQL",
        ..TestNote::default()
    });
    let index = home.index();
    index.refresh(RefreshDepth::Usual).unwrap();
    let mut wanted = query("sql");
    wanted.filter.within = Some(vec![Scope::Global]);
    let found = search(&index, &wanted);
    assert_eq!((numbers_of(&found), found.total), (vec![2], 1));
    let mut symbol = query("🚀");
    symbol.filter.within = Some(vec![Scope::Global]);
    assert_eq!(search(&index, &symbol).total, 0);
}

#[test]
fn damaged_words_beside_a_segment_change_no_answer() {
    let home = IndexFixture::new();
    home.write(&TestNote {
        number: 1,
        body: "PostgreSQL",
        ..TestNote::default()
    });
    let index = home.index();
    index.refresh(RefreshDepth::Usual).unwrap();
    let folder = std::fs::read_dir(home.absolute_path("index/text"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let is_words = |path: &std::path::PathBuf| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("words-")
    };
    let path = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(is_words)
        .unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    for damaged in [bytes.len() - 4, 9, 2] {
        bytes[damaged] ^= 4;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(numbers(&home.index(), "sql"), [1]);
        bytes[damaged] ^= 4;
    }
    std::fs::write(&path, &bytes[..5]).unwrap();
    assert_eq!(numbers(&home.index(), "sql"), [1]);
}

#[test]
fn identifiers_are_found_in_every_style() {
    let bodies = [
        "call getUserById for lookups",
        "MAX_RETRY_COUNT is 5",
        "a user group has an id",
        "retry it",
    ];
    with_notes(&bodies, |index| {
        for query in [
            "getUserById",
            "get user by id",
            "get_user_by_id",
            "GetUserByID",
        ] {
            assert_eq!(numbers(index, query)[0], 1, "{query}");
        }
        for query in ["maxRetryCount", "max retry count", "MAX_RETRY_COUNT"] {
            assert_eq!(numbers(index, query)[0], 2, "{query}");
        }
    });
}

#[test]
fn compounds_are_found_with_and_without_their_hyphen() {
    let bodies = [
        "the wifi password",
        "the Wi-Fi is down",
        "saved in UTF-8",
        "we use gpt4",
        "a number 8",
    ];
    with_notes(&bodies, |index| {
        assert_eq!(numbers(index, "wifi"), [1, 2]);
        assert_eq!(numbers(index, "wi-fi"), [1, 2]);
        assert_eq!(numbers(index, "utf8"), [3]);
        assert_eq!(numbers(index, "gpt-4"), [4]);
    });
    let bodies = [
        "the new well-known brand",
        "a well-known fact of physics",
        "a well known brand of bikes and more things that matter a lot",
    ];
    with_notes(&bodies, |index| {
        assert_eq!(numbers(index, "well-known brand")[..2], [1, 3]);
    });
}

#[test]
fn a_sign_between_keywords_is_no_word_of_them() {
    let bodies = [
        "- a long list of things that we buy each week, such as coffee and tea",
        "coffee, tea",
    ];
    with_notes(&bodies, |index| {
        assert_eq!(numbers(index, "coffee - tea"), [2, 1]);
    });
}

#[test]
fn a_name_of_several_parts_is_found_before_others_of_its_parts() {
    let bodies = [
        "Upgrade to version 3.1.1 fixed the crash of the importer on large files",
        "3.1 and 1.1 are numbers",
        "version 3.1.3",
        "The router of the office has the address 10.0.0.1 and sits in the cupboard",
        "10.0.1.0 is a network",
    ];
    with_notes(&bodies, |index| {
        for query in ["3.1.1", "version 3.1.1", "what fixed the crash in v3.1.1?"] {
            assert_eq!(numbers(index, query)[0], 1, "{query}");
        }
        assert_eq!(numbers(index, "10.0.0.1")[0], 4);
    });
    let bodies = [
        "retry_max_count limits the attempts of a job",
        "max_retry_count limits the attempts of a job",
        "prod-api-gateway down",
        "The service api-gateway-prod runs on the machine in the cellar and has two network cards",
        "core/src/main.rs is read",
        "src/core/main.rs is read",
        "done on 2024-01-03",
        "done on 2024-03-01",
    ];
    with_notes(&bodies, |index| {
        for (query, first) in [
            ("max_retry_count", 2),
            ("maxRetryCount", 2),
            ("api-gateway-prod", 4),
            ("where does api-gateway-prod run?", 4),
            ("src/core/main.rs", 6),
            ("2024-03-01", 8),
        ] {
            assert_eq!(numbers(index, query)[0], first, "{query}");
        }
    });
}

#[test]
fn a_chinese_text_with_the_whole_query_comes_before_one_with_its_parts() {
    let bodies = [
        "数据库的迁移计划在周三上午十点开始讨论,地点是二号楼三层",
        "库存数据",
        "北京大学的图书馆在周末开放到晚上九点,需要带学生证",
        "大学在北京",
    ];
    with_notes(&bodies, |index| {
        assert_eq!(numbers(index, "数据库")[0], 1);
        assert_eq!(numbers(index, "北京大学")[0], 3);
    });
}

#[test]
fn the_exact_form_of_a_word_comes_before_others_with_its_stem() {
    let bodies = ["банка варенья", "счёт в банк", "часть тела", "часто"];
    with_notes(&bodies, |index| {
        assert_eq!(numbers(index, "банк"), [2, 1]);
        assert_eq!(numbers(index, "банка"), [1, 2]);
        assert_eq!(numbers(index, "часто")[0], 4);
        assert_eq!(numbers(index, "банку").len(), 2);
    });
}

#[test]
fn arabic_words_with_a_small_alef_are_found_in_modern_spelling() {
    let bodies = ["تَبَٰرَكَ ٱلَّذِي", "ذَٰلِكَ ٱلۡكِتَٰبُ", "ٱلرَّحْمَٰنِ", "علم وكتب"];
    with_notes(&bodies, |index| {
        for (query, expected) in [
            ("تبارك", 1),
            ("تَبَٰرَكَ", 1),
            ("الكتاب", 2),
            ("ذلك", 2),
            ("الرحمن", 3),
            ("ٱلرَّحْمَٰن", 3),
        ] {
            assert_eq!(numbers(index, query), [expected], "{query}");
        }
        assert_eq!(numbers(index, "عالم"), Vec::<u32>::new());
    });
}

#[test]
fn words_with_styled_letters_and_hebrew_acronyms_are_found_as_words() {
    let bodies = [
        "we take the **Kay**ak to the lake",
        "<b>שְׁ</b>מַע ישראל",
        "רש״י כתב פירוש",
        "רמב\"ם כתב ספר",
        "width*height is a product",
    ];
    with_notes(&bodies, |index| {
        for (query, expected) in [
            ("kayak", 1),
            ("\"the kayak to\"", 1),
            ("שמע", 2),
            ("רשי", 3),
            ("רש\"י", 3),
            ("רמבם", 4),
            ("רמב״ם", 4),
            ("height", 5),
        ] {
            assert_eq!(numbers(index, query).first(), Some(&expected), "{query}");
        }
    });
}
