//! Tests that all commands choose the same category, and that no memory expires unclassified.

use memory_core::{Category, Memory, MemoryId, Phase};
use memory_dream::classify::choose_category;
use memory_dream::plan::{DEFAULT_CATEGORY, FilingReason};
use memory_dream::{DreamTask, upgrade};

use crate::fixture::DreamFixture;

const TEXTS: &[(&str, Option<Category>)] = &[
    (
        "lesson learned: backups must be tested",
        Some(Category::Lessons),
    ),
    ("教训：备份必须定期测试", Some(Category::Lessons)),
    ("The user prefers dark mode", Some(Category::Preferences)),
    ("用户偏好深色模式", Some(Category::Preferences)),
    ("We decided to use Postgres", Some(Category::Decisions)),
    ("团队决定采用 gRPC", Some(Category::Decisions)),
    (
        "He has the habit of checking mail before breakfast",
        Some(Category::Habits),
    ),
    ("她习惯睡前看书", Some(Category::Habits)),
    (
        "Remind me to call Anna tomorrow at nine",
        Some(Category::Date),
    ),
    ("The report is due on 3 May", Some(Category::Date)),
    ("Anna is my sister", Some(Category::People)),
    (
        "My mission is to help people think clearly",
        Some(Category::Soul),
    ),
    (
        "Her personality is warm and direct",
        Some(Category::Character),
    ),
    (
        "The repository lives at github.com/acme/atlas",
        Some(Category::Project),
    ),
    (
        "Fun fact: octopuses have three hearts",
        Some(Category::Knowledge),
    ),
    ("客户建议增加深色主题", Some(Category::Feedback)),
    ("他擅长排查并发问题", Some(Category::Skills)),
    ("ほげほげ", None),
    ("42", None),
];

fn phase_and_category(memory: &Memory) -> (Phase, Category) {
    (memory.phase, memory.category)
}

#[test]
fn dream_upgrade_consolidate_and_expiry_choose_the_same_category() {
    for &(text, category) in TEXTS {
        let file = |command: &dyn Fn(&DreamFixture, MemoryId)| {
            let bed = DreamFixture::new();
            let id = bed.write(text);
            command(&bed, id);
            bed.get(id).map(|memory| phase_and_category(&memory))
        };
        let dreamt = file(&|bed, _| drop(bed.dream(&[DreamTask::Classify])));
        let upgraded = file(&|bed, id| {
            drop(upgrade(&bed.services, &id.to_string(), None).expect("it is filed"));
        });
        let consolidated = file(&|bed, id| {
            bed.read(id, 3);
            bed.dream(&[
                DreamTask::Expire,
                DreamTask::Decay,
                DreamTask::Upgrade,
                DreamTask::Merge,
            ]);
        });
        let expired = file(&|bed, _| {
            bed.advance_days(8);
            bed.dream(&[
                DreamTask::Expire,
                DreamTask::Decay,
                DreamTask::Upgrade,
                DreamTask::Merge,
            ]);
        });
        let filed = |category| Some((Phase::Organized, category));
        assert_eq!(
            dreamt,
            category.map_or(Some((Phase::Inbox, Category::Inbox)), filed),
            "dream: {text}"
        );
        assert_eq!(
            upgraded,
            filed(category.unwrap_or(DEFAULT_CATEGORY)),
            "upgrade: {text}"
        );
        assert_eq!(consolidated, upgraded, "consolidate: {text}");
        assert_eq!(expired, category.and_then(filed), "expiry: {text}");
    }
}

#[test]
fn upgrade_prefers_what_the_person_or_the_file_says() {
    let bed = DreamFixture::new();
    let id = bed.write("We decided to use Postgres").to_string();
    let filed = upgrade(&bed.services, &id, Some(Category::Project)).expect("it is filed");
    assert_eq!(filed.memory.category, Category::Project);
    assert_eq!(
        upgrade(&bed.services, &id, None)
            .expect("it is filed already")
            .memory
            .category,
        Category::Project
    );
    assert!(upgrade(&bed.services, &id, Some(Category::Inbox)).is_err());
    assert!(upgrade(&bed.services, "ffffffff", None).is_err());
}

#[test]
fn a_memory_is_classified_before_it_expires() {
    let bed = DreamFixture::new();
    let clear = bed.write("We decided to use Postgres");
    let unsure = bed.write("ほげほげ");
    bed.advance_days(8);
    let dreamt = bed.dream(&[DreamTask::Expire]);
    assert_eq!(
        dreamt
            .filed
            .iter()
            .map(|filing| filing.id)
            .collect::<Vec<_>>(),
        [clear]
    );
    assert!(matches!(dreamt.filed[0].why, FilingReason::Sure(_)));
    assert_eq!(
        dreamt
            .parted
            .iter()
            .map(|parting| parting.id)
            .collect::<Vec<_>>(),
        [unsure]
    );
    let filed = bed.get(clear).expect("it is there");
    assert_eq!(choose_category(&filed).category(), Some(filed.category));
}

#[test]
fn a_rehearsal_of_expiry_files_the_same_memories() {
    let bed = DreamFixture::new();
    bed.write("We decided to use Postgres");
    bed.write("ほげほげ");
    bed.advance_days(8);
    let rehearsed = bed.with(&[DreamTask::Expire], true);
    let done = bed.dream(&[DreamTask::Expire]);
    assert_eq!(
        (rehearsed.filed, rehearsed.parted.len()),
        (done.filed, done.parted.len())
    );
}
