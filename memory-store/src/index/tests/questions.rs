//! Tests of queries and their results.

use memory_core::rank::{CollectionKind, RankFeature, Ranker};
use memory_core::wikilink::WikilinkNameKind;
use memory_core::{
    Category, Filter, HomeSection, Lifetime, ListOrder, MemoryId, PageRequest, Query, Ranking,
    Scope,
};

use super::fixture::{
    IndexFixture, TestNote, check_flushed_and_pending, id, now, number, numbers, numbers_of, query,
    search,
};
use crate::index::{MemoryIndex, RefreshDepth};

#[test]
fn nobody_waits_for_a_question_of_somebody_else() {
    let home = IndexFixture::new();
    home.write(&TestNote {
        number: 1,
        body: "user prefers dark mode",
        ..TestNote::default()
    });
    let index = home.index();
    index.refresh(RefreshDepth::Usual).unwrap();
    let found = index.query("be slow", |index, _| {
        // A second query runs before this one is done.
        let asked = std::thread::scope(|scope| scope.spawn(|| numbers(index, "dark")).join());
        Ok(asked.expect("it is answered"))
    });
    assert_eq!(found.unwrap(), [1]);
}

#[test]
fn every_script_is_found_down_to_one_character() {
    let bodies = [
        "用户喜欢深色模式",
        "記憶は大切です",
        "Rust 用 tokio 写的 server",
        "기억 검색",
        "user prefers dark mode",
    ];
    let home = IndexFixture::new();
    for (number, body) in (1..).zip(bodies) {
        home.write(&TestNote {
            number,
            body,
            ..TestNote::default()
        });
    }
    check_flushed_and_pending(&home, |index| {
        for (text, expected) in [
            ("深", vec![1]),
            ("深色", vec![1]),
            ("深色模", vec![1]),
            ("大切", vec![2]),
            ("憶", vec![2]),
            ("검색", vec![4]),
            ("기", vec![4]),
            ("tokio写", vec![3]),
            ("ＤＡＲＫ", vec![5]),
            ("da", vec![5]),
            ("d", vec![5]),
            ("ark", vec![5]),
            ("rus", vec![3]),
            ("没有", vec![]),
            ("記忆", vec![2]),
            ("pref*", vec![5]),
            ("prefers*", vec![5]),
            ("user -\"mode dark\"", vec![5]),
            ("user -\"dark mode\"", vec![]),
            ("ark*", vec![]),
            ("\"dark mode\"", vec![5]),
            ("\"mode dark\"", vec![]),
            ("\"用 tokio\"", vec![3]),
            ("\"tokio写的\"", vec![3]),
            ("\"写 tokio\"", vec![]),
            ("\"戶喜\"", vec![1]),
            ("mode -dark", vec![]),
            ("prefern", vec![5]),
            ("perfers", vec![5]),
            ("tkoio", vec![3]),
            ("sevrer", vec![3]),
            ("xokio", vec![3]),
            ("okio", vec![3]),
            ("otkio", vec![3]),
            ("tikoi", vec![]),
        ] {
            assert_eq!(numbers(index, text), expected, "{text}");
        }
        let many = |unknown: usize| {
            let unknown: Vec<String> = (0..unknown).map(|number| format!("zz{number}zz")).collect();
            unknown.join(" ") + " perfers"
        };
        assert_eq!(
            (numbers(index, &many(20)), numbers(index, &many(200))),
            (vec![5], vec![]),
            "only so many are looked around"
        );
        let mut found = numbers(index, "用");
        found.sort_unstable();
        assert_eq!(found, [1, 3]);
    });
}

#[test]
fn filters_apply_before_the_cut() {
    let home = IndexFixture::new();
    for number in 1..=1_000 {
        let (front, body) = if number <= 10 {
            ("scope: agent:other\n", "dark mode".to_owned())
        } else {
            (
                "",
                format!("dark and {number} other words that make it long"),
            )
        };
        home.write(&TestNote {
            number,
            front,
            body: &body,
            ..TestNote::default()
        });
    }
    let index = home.index();
    let mut wanted = query("dark mode");
    assert_eq!(
        numbers_of(&search(&index, &wanted))
            .iter()
            .filter(|number| **number <= 10)
            .count(),
        10
    );
    wanted.filter.scope = Some(Scope::Global);
    let found = search(&index, &wanted);
    assert_eq!((found.total, found.hits.len()), (990, 10));
    assert!(numbers_of(&found).iter().all(|number| 10 < *number));
    wanted.filter.scope = Some(Scope::Agent("other".into()));
    assert_eq!(search(&index, &wanted).total, 10);
}

#[test]
fn every_filter_means_the_same_in_both_engines_as_for_a_memory() {
    let home = IndexFixture::new();
    let fronts = [
        "phase: organized\ncategory: people\ntags:\n  - a/b\n  - UI\nsource: Claude\n",
        "category: people\ntags:\n  - a\nexpires_at: 2026-05-08T00:00:00Z\n",
        "phase: organized\ncategory: project\nscope: project:x\ntags:\n  - ui\n  - ab\n",
        "superseded_by: 00000001-0000-4000-8000-000000000001\nsource: logseq\n",
        "expires_at: 2027-01-01T00:00:00Z\ntags: [A/B/c]\n",
    ];
    for (number, front) in (1..).zip(fronts) {
        home.write(&TestNote {
            number,
            front,
            body: "same words",
            folder: "people",
        });
    }
    // The path decides whether a file belongs to a conversation, not its front matter.
    home.write(&TestNote {
        number: 6,
        front: "source: conversation\nscope: conversation:x\n",
        body: "same words",
        folder: "people",
    });
    home.put(
        "entries/x/facts/7.md",
        b"---\nid: 00000007-0000-4000-8000-000000000007\n---\nsame words\n",
    );
    let tags = |tags: &[&str]| tags.iter().collect();
    let everything = Filter::all();
    let filters = [
        Filter::default(),
        everything.clone(),
        Filter {
            phase: Some(memory_core::Phase::Organized),
            ..everything.clone()
        },
        Filter {
            category: Some(Category::People),
            ..everything.clone()
        },
        Filter {
            scope: Some(Scope::Project("x".into())),
            ..everything.clone()
        },
        Filter {
            within: Some(vec![
                Scope::Project("x".into()),
                Scope::Agent("nobody".into()),
            ]),
            ..everything.clone()
        },
        Filter {
            within: Some(vec![Scope::Global]),
            ..Filter::default()
        },
        Filter {
            within: Some(Vec::new()),
            ..everything.clone()
        },
        Filter {
            scope: Some(Scope::Project("x".into())),
            within: Some(vec![Scope::Global]),
            ..everything.clone()
        },
        Filter {
            source: Some("CLAUDE".into()),
            ..everything.clone()
        },
        Filter {
            place: Some(HomeSection::Notes),
            ..everything.clone()
        },
        Filter {
            place: Some(HomeSection::Conversations),
            ..everything.clone()
        },
        Filter {
            tags: tags(&["a"]),
            ..everything.clone()
        },
        Filter {
            tags: tags(&["A/b"]),
            ..everything.clone()
        },
        Filter {
            tags: tags(&["a", "ui"]),
            ..everything.clone()
        },
        Filter {
            from: Some("2026-05-07T00:00:03Z".parse().unwrap()),
            ..everything.clone()
        },
        Filter {
            until: Some("2026-05-07T00:00:03Z".parse().unwrap()),
            lifetime: Lifetime::Current,
            ..everything.clone()
        },
    ];
    check_flushed_and_pending(&home, |index| {
        for filter in &filters {
            let all: Vec<_> = index
                .memories(&everything, now())
                .map(Result::unwrap)
                .collect();
            assert_eq!(all.len(), 7);
            let mut expected: Vec<u32> = all
                .iter()
                .filter(|stored| filter.matches(stored, now()))
                .map(|stored| number(&stored.memory.id))
                .collect();
            let mut found = search(
                index,
                &memory_core::Query {
                    filter: filter.clone(),
                    ..query("words")
                },
            );
            let mut searched = numbers_of(&found);
            searched.sort_unstable();
            assert_eq!(
                (searched, found.total),
                (expected.clone(), expected.len() as u64),
                "{filter:?}"
            );
            found.hits.clear();
            expected.reverse();
            let slice = PageRequest {
                order: ListOrder::Created,
                offset: 0,
                limit: None,
            };
            let page = index.list(filter, &slice, now()).unwrap();
            let listed: Vec<u32> = page
                .memories
                .iter()
                .map(|stored| number(&stored.memory.id))
                .collect();
            assert_eq!(
                (listed, page.total),
                (expected.clone(), expected.len() as u64),
                "{filter:?}"
            );
        }
    });
}

#[test]
fn the_explanation_adds_up_to_the_score() {
    let home = IndexFixture::new();
    for number in 1..=50 {
        let body = format!(
            "dark mode {} 深色 {}",
            "deploy ".repeat(number as usize % 7),
            "friday ".repeat(number as usize % 3)
        );
        home.write(&TestNote {
            number,
            front: "title: Dark\ntags: [deploy]\n",
            body: &body,
            ..TestNote::default()
        });
    }
    check_flushed_and_pending(&home, |index| {
        let found = search(index, &query("dark deploy 深色 frid"));
        assert_eq!((found.total, found.hits.len()), (50, 10));
        for hit in found.hits {
            let explanation = &hit.explanation;
            let sum: f32 = explanation.parts.iter().map(|part| part.score).sum();
            let words: f32 = explanation.terms.iter().map(|term| term.score).sum();
            let of_words = explanation
                .parts
                .iter()
                .find(|part| part.part == RankFeature::Words)
                .unwrap();
            assert!(
                (words - of_words.value).abs() < 1e-4,
                "{words} {of_words:?}"
            );
            let relevance = Ranker::fitted(CollectionKind::Notes, false).relevance(sum);
            assert!((relevance - explanation.relevance).abs() < 1e-4);
            let recency = Ranking::default().recency;
            let score = (1.0 - recency) * explanation.relevance + recency * explanation.recency;
            assert!((score - hit.score).abs() < 1e-6);
            assert!(
                hit.explanation
                    .terms
                    .iter()
                    .all(|term| term.documents <= hit.explanation.documents)
            );
            assert_eq!(hit.explanation.documents, 50);
            assert!(!hit.marks.is_empty());
        }
    });
}

#[test]
fn ties_go_to_the_newer_and_then_to_the_smaller_id() {
    let home = IndexFixture::new();
    for number in 1..=2_000 {
        home.write(&TestNote {
            number,
            body: "the very same words",
            ..TestNote::default()
        });
    }
    let index = home.index();
    assert_eq!(
        numbers(&index, "words same"),
        (1_991..=2_000).rev().collect::<Vec<_>>()
    );
}

#[test]
fn a_memory_is_meant_by_its_id_a_prefix_or_its_file_stem() {
    let home = IndexFixture::new();
    let note = TestNote {
        number: 0x550e_8400,
        body: "x",
        ..TestNote::default()
    };
    home.write(&note);
    home.write(&TestNote {
        number: 0x550e_8401,
        body: "y",
        ..TestNote::default()
    });
    home.put("categories/inbox/Beef.md", b"no front matter");
    home.put("categories/inbox/ABCDEF12.md", b"named like a prefix");
    let index = home.index();
    let resolve = |reference: &str| index.resolve(reference, None).unwrap().len();
    assert_eq!(
        index.resolve(&note.id().to_string(), None).unwrap(),
        [(note.id(), note.path())]
    );
    assert_eq!(
        (
            resolve("550e8400"),
            resolve("550E84"),
            resolve("550"),
            resolve("beef"),
            resolve("BEEF.md")
        ),
        (1, 2, 0, 1, 1)
    );
    assert_eq!(
        (resolve("abcdef12"), resolve("nothing"), resolve("")),
        (1, 0, 0)
    );
}

#[test]
fn a_memory_is_named_by_the_file_it_was_taken_in_from() {
    let home = IndexFixture::new();
    let front = "title: Page\naliases: [Other]\norigin:\n  source: obsidian\n  root: /vault\n  path: sub/page.md\n";
    home.write(&TestNote {
        number: 1,
        front,
        body: "the first",
        ..TestNote::default()
    });
    let index = home.index();
    let names = |key: &str| {
        let named = index.name_candidates(key).unwrap().into_iter();
        named
            .map(|candidate| (candidate.by, candidate.path))
            .collect::<Vec<_>>()
    };
    let own = TestNote {
        number: 1,
        ..TestNote::default()
    }
    .path();
    assert_eq!(
        names("page"),
        [
            (WikilinkNameKind::Path, "sub/page.md".to_owned()),
            (WikilinkNameKind::Title, own.clone())
        ]
    );
    assert_eq!(names("other"), [(WikilinkNameKind::Alias, own.clone())]);
    assert_eq!(names("note-1-00000001"), [(WikilinkNameKind::Path, own)]);
}

#[test]
fn links_names_origins_and_contents_are_looked_up() {
    let home = IndexFixture::new();
    let front = format!(
        "title: Dark Mode\naliases: [Night]\nlinks:\n  - {}\n",
        id(2)
    );
    home.write(&TestNote {
        number: 1,
        front: &front,
        body: "see [[Deploy Notes]]",
        ..TestNote::default()
    });
    home.write(&TestNote {
        number: 2,
        body: "the second",
        ..TestNote::default()
    });
    let index = home.index();
    let names = |key: &str| {
        index
            .name_candidates(key)
            .unwrap()
            .into_iter()
            .map(|candidate| candidate.by)
            .collect::<Vec<_>>()
    };
    assert_eq!(names("dark mode"), [WikilinkNameKind::Title]);
    assert_eq!(names("night"), [WikilinkNameKind::Alias]);
    assert_eq!(names("note-1-00000001"), [WikilinkNameKind::Path]);
    assert_eq!(names("00000001"), [WikilinkNameKind::Id]);
    let referring = |id: &MemoryId, keys: &[String]| index.referring(id, keys).unwrap().len();
    assert_eq!(
        (
            referring(&id(2), &[]),
            referring(&id(3), &["deploy notes".into()]),
            referring(&id(3), &[])
        ),
        (1, 1, 0)
    );
    let hash = memory_core::ContentHash::of("the second");
    assert_eq!(index.by_content(&hash, &Scope::Global).unwrap(), [id(2)]);
    assert_eq!(
        index.by_content(&hash, &Scope::Agent("x".into())).unwrap(),
        []
    );
}

#[test]
fn lists_come_in_the_order_asked_for() {
    let home = IndexFixture::new();
    for (number, title) in [(1, "b"), (2, "A"), (3, "c")] {
        home.write(&TestNote {
            number,
            front: &format!("title: {title}\n"),
            body: "x",
            ..TestNote::default()
        });
    }
    let index = home.index();
    index.count_access(&[id(1)]);
    let list = |order, offset, limit| {
        let page = index
            .list(
                &Filter::default(),
                &PageRequest {
                    order,
                    offset,
                    limit,
                },
                now(),
            )
            .unwrap();
        assert_eq!(page.total, 3);
        page.memories
            .iter()
            .map(|stored| number(&stored.memory.id))
            .collect::<Vec<_>>()
    };
    assert_eq!(list(ListOrder::Created, 0, None), [3, 2, 1]);
    assert_eq!(list(ListOrder::Created, 1, Some(1)), [2]);
    assert_eq!(list(ListOrder::Oldest, 0, None), [1, 2, 3]);
    assert_eq!(list(ListOrder::Accessed, 0, Some(1)), [1]);
    assert_eq!(list(ListOrder::Title, 0, None), [2, 1, 3]);
    assert_eq!(list(ListOrder::Updated, 0, None), [3, 2, 1]);
    assert_eq!(
        list(ListOrder::Useful, 0, Some(2)),
        [1, 3],
        "what is read, then what was changed last"
    );
}

/// A number of documents at which the ranking weighs only some of the matches.
const MANY: u32 = 3_200;

/// Returns a home with bodies of different lengths and words.
///
/// The words alone order them differently than the complete ranking does.
fn many() -> IndexFixture {
    let home = IndexFixture::new();
    for number in 1..=MANY {
        let tea = "tea ".repeat(1 + number as usize % 5);
        let green = if number.is_multiple_of(7) {
            "green "
        } else {
            ""
        };
        let rest = "and another encoding besides ".repeat(number as usize % 11);
        home.write(&TestNote {
            number,
            body: &format!("{tea}{green}{rest}"),
            ..TestNote::default()
        });
    }
    home
}

#[test]
fn the_first_answers_are_the_same_for_every_limit_and_for_an_index_built_anew() {
    let home = many();
    let ask = |index: &MemoryIndex, limit: usize| {
        let found = search(
            index,
            &Query {
                limit,
                ..query("green tea")
            },
        );
        assert!(
            found
                .hits
                .is_sorted_by(|left, right| right.score <= left.score)
        );
        numbers_of(&found)
    };
    let index = home.index();
    let most = ask(&index, 250);
    assert_eq!(most.len(), 250);
    for limit in [1, 10, 50, 60, 100, 101] {
        assert_eq!(ask(&index, limit), most[..limit], "{limit}");
    }
    // Some documents are pending and others flushed, and some of the flushed ones are replaced.
    let bodies = [
        "green tea",
        "green tea green",
        "tea tea green tea and more of it",
    ];
    let changed: Vec<TestNote<'_>> = (1..=40)
        .zip(bodies.iter().cycle())
        .map(|(number, body)| TestNote {
            number: number * 70,
            body,
            ..TestNote::default()
        })
        .collect();
    home.write_and_apply(&index, &changed);
    let with_pending = ask(&index, 120);
    drop(index);
    std::fs::remove_dir_all(home.absolute_path("index")).unwrap();
    assert_eq!(ask(&home.index(), 120), with_pending);
}

#[test]
fn words_that_lie_elsewhere_are_not_known() {
    let home = IndexFixture::new();
    for (number, front, body) in [
        (1, "", "the zebrafish swims"),
        (2, "", "the ferry leaves from the harbour"),
        (
            3,
            "scope: agent:other\n",
            "a zebra, a feryr and a harbourmaster",
        ),
        (4, "scope: agent:other\n", "zebra zebra"),
    ] {
        home.write(&TestNote {
            number,
            front,
            body,
            ..TestNote::default()
        });
    }
    let alone = IndexFixture::new();
    for (number, body) in [
        (1, "the zebrafish swims"),
        (2, "the ferry leaves from the harbour"),
    ] {
        alone.write(&TestNote {
            number,
            body,
            ..TestNote::default()
        });
    }
    check_flushed_and_pending(&home, |index| {
        check_flushed_and_pending(&alone, |without| {
            for text in [
                "zebra",
                "feryr",
                "harbourmaster",
                "brafi",
                "ferry harbour",
                "zeb*",
            ] {
                let mut asked = query(text);
                asked.filter.within = Some(vec![Scope::Global]);
                let (found, expected) = (search(index, &asked), search(without, &asked));
                assert_eq!(numbers_of(&found), numbers_of(&expected), "{text}");
                let documents = |found: &memory_core::SearchResults| -> Vec<_> {
                    found
                        .hits
                        .iter()
                        .map(|hit| {
                            (
                                hit.explanation.documents,
                                hit.explanation
                                    .terms
                                    .iter()
                                    .map(|term| term.documents)
                                    .collect::<Vec<_>>(),
                            )
                        })
                        .collect()
                };
                assert_eq!(documents(&found), documents(&expected), "{text}");
            }
        });
    });
}
