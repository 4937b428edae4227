//! The usage of language models is recorded, and no budget is exceeded.
//!
//! The tests use several processes at once, disks that fail or die, and lines of other programs.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chrono::NaiveDate;
use memory_core::testing::{FakeChat, FakeClock, meter_suite};
use memory_core::{
    Budget, ChatMessage, ChatModel, ChatRequest, ChatRole, Code, LlmUsage, Meter, MeterError,
    MeteredModel, Purpose, Reservation, Spending, StoreError,
};
use memory_store::Ledger;
use memory_store::disk::RealDisk;

use crate::faulty_disk::{DiskFault, FaultyDisk};
use crate::home::TestHome;

const FILE: &str = "usage/2026-05.jsonl";
const ONE: LlmUsage = LlmUsage {
    calls: 1,
    prompt_tokens: 60,
    answer_tokens: 40,
};

fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 5, 7).unwrap()
}

fn reservation() -> Reservation {
    Reservation {
        day: today(),
        purpose: Purpose::of("classify"),
        amount: ONE,
    }
}

fn ledger(home: &TestHome) -> Ledger {
    Ledger::open(home.path()).unwrap()
}

/// Returns the usage of today, as a new process reads it, and the number of unreadable lines.
fn spent(home: &TestHome) -> (LlmUsage, u64) {
    let Spending {
        entries,
        unreadable,
    } = ledger(home).spending(today(), today()).unwrap();
    (
        entries
            .iter()
            .fold(LlmUsage::default(), |sum, entry| sum + entry.spent),
        unreadable,
    )
}

fn usage_of(count: u64) -> LlmUsage {
    LlmUsage {
        calls: count,
        prompt_tokens: 60 * count,
        answer_tokens: 40 * count,
    }
}

#[test]
fn it_keeps_the_promises_of_a_meter() {
    let homes = RefCell::new(Vec::new());
    meter_suite(&|| {
        let home = TestHome::new();
        let ledger = ledger(&home);
        homes.borrow_mut().push(home);
        Box::new(ledger)
    });
}

#[test]
fn a_booking_is_a_line_for_nobody_else_to_read() {
    let home = TestHome::new();
    let ledger = ledger(&home);
    ledger.reserve(&reservation(), &Budget::default()).unwrap();
    ledger
        .settle(
            &reservation(),
            LlmUsage {
                calls: 1,
                prompt_tokens: 71,
                answer_tokens: 5,
            },
        )
        .unwrap();
    insta::assert_snapshot!(fs::read_to_string(home.path().join(FILE)).unwrap(), @r#"
    {"day":"2026-05-07","purpose":"classify","calls":1,"prompt_tokens":60,"answer_tokens":40}
    {"day":"2026-05-07","purpose":"classify","calls":0,"prompt_tokens":11,"answer_tokens":-35}
    "#);
    let mode = |path: &str| {
        fs::metadata(home.path().join(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(
        (mode(FILE), mode("usage"), mode("usage/.lock")),
        (0o600, 0o700, 0o600)
    );
}

#[test]
fn a_line_that_a_crash_tore_is_set_aside_and_counts_for_nothing() {
    let home = TestHome::new();
    let early = ledger(&home);
    early.reserve(&reservation(), &Budget::default()).unwrap();
    let whole = fs::read_to_string(home.path().join(FILE)).unwrap();
    fs::write(
        home.path().join(FILE),
        format!("{whole}{}", &whole[..whole.len() / 2]),
    )
    .unwrap();
    assert_eq!(
        spent(&home),
        (usage_of(1), 0),
        "it may still be being written"
    );
    ledger(&home)
        .reserve(&reservation(), &Budget::default())
        .unwrap();
    assert_eq!(spent(&home), (usage_of(2), 1));
    let Spending {
        entries,
        unreadable,
    } = early.spending(today(), today()).unwrap();
    assert_eq!(
        (entries[0].spent, unreadable),
        (usage_of(2), 1),
        "whoever has read the beginning reads on"
    );
    let lines = fs::read_to_string(home.path().join(FILE)).unwrap();
    assert_eq!(
        lines,
        format!("{whole}{}\n{whole}", &whole[..whole.len() / 2]),
        "no byte is taken away"
    );
}

#[test]
fn lines_of_others_are_told_and_do_no_harm() {
    let home = TestHome::new();
    let more = r#"{"day":"2026-05-07","purpose":"classify","calls":2,"prompt_tokens":5,"answer_tokens":5,"later":{"key":1}}"#;
    let less =
        r#"{"day":"2026-05-07","purpose":"hand","calls":-9,"prompt_tokens":-9,"answer_tokens":-9}"#;
    let odd = r#"{"day":"2026-05-07","purpose":"Two Words","calls":1,"prompt_tokens":1,"answer_tokens":1}"#;
    fs::create_dir(home.path().join("usage")).unwrap();
    fs::write(
        home.path().join(FILE),
        format!("{more}\r\n\nnonsense\n\u{0}\n{less}\n{odd}\n"),
    )
    .unwrap();
    fs::write(home.path().join("usage/notes.jsonl"), "mine\n").unwrap();
    assert_eq!(
        spent(&home),
        (
            LlmUsage {
                calls: 2,
                prompt_tokens: 5,
                answer_tokens: 5
            },
            3
        )
    );
}

#[test]
fn a_file_that_was_put_in_place_of_another_is_read_from_the_beginning() {
    let home = TestHome::new();
    let ledger = ledger(&home);
    for _ in 0..3 {
        ledger.reserve(&reservation(), &Budget::default()).unwrap();
    }
    let line = fs::read_to_string(home.path().join(FILE))
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .to_owned()
        + "\n";
    fs::write(home.path().join(FILE), &line).unwrap();
    assert_eq!(
        ledger.spending(today(), today()).unwrap().entries[0].spent,
        usage_of(1),
        "a shorter one"
    );
    fs::write(home.path().join("other"), line.repeat(5)).unwrap();
    fs::rename(home.path().join("other"), home.path().join(FILE)).unwrap();
    assert_eq!(
        ledger.spending(today(), today()).unwrap().entries[0].spent,
        usage_of(5),
        "another one"
    );
    fs::remove_file(home.path().join(FILE)).unwrap();
    assert_eq!(ledger.spending(today(), today()).unwrap().entries, []);
}

#[test]
fn a_folder_that_leads_elsewhere_is_refused() {
    let (home, elsewhere) = (TestHome::new(), TestHome::new());
    std::os::unix::fs::symlink(elsewhere.path(), home.path().join("usage")).unwrap();
    let error = ledger(&home)
        .reserve(&reservation(), &Budget::default())
        .unwrap_err();
    assert!(
        matches!(&error, MeterError::Store(error) if error.code() == Code::PathRefused),
        "{error:?}"
    );
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

/// After a fault a refused reservation may count, but an allowed one is never lost.
#[test]
fn whatever_step_fails_nothing_is_lost_and_no_budget_is_overdrawn() {
    let budget = Budget {
        calls_a_day: Some(3),
        tokens_a_day: None,
    };
    for fault in [DiskFault::FULL, DiskFault::Fails(13), DiskFault::Dies] {
        let mut at = 1;
        loop {
            let home = TestHome::new();
            let (disk, steps) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), fault, at);
            let faulty = Ledger::with_disk(Arc::new(disk), home.path());
            let mut allowed = 0;
            for _ in 0..5 {
                match faulty.reserve(&reservation(), &budget) {
                    Ok(()) => allowed += 1,
                    Err(MeterError::Exhausted(_)) => {}
                    Err(MeterError::Store(error)) => assert_error_code(&error, fault),
                }
            }
            let (counted, _) = spent(&home);
            let at_most = allowed + u64::from(at <= steps.load(Ordering::Relaxed));
            assert!(
                allowed <= counted.calls && counted.calls <= at_most.min(3),
                "{fault:?} at {at}: {allowed} {counted:?}"
            );
            ledger(&home)
                .reserve(&reservation(), &Budget::default())
                .unwrap();
            assert_eq!(
                spent(&home).0.calls,
                counted.calls + 1,
                "{fault:?} at {at}: it goes on"
            );
            if steps.load(Ordering::Relaxed) < at {
                break;
            }
            at += 1;
        }
        assert!(4 < at, "there are steps to fail at: {at}");
    }
}

fn assert_error_code(error: &StoreError, fault: DiskFault) {
    let wanted = if fault == DiskFault::FULL {
        Code::DiskFull
    } else {
        Code::Io
    };
    assert_eq!(error.code(), wanted, "{error}");
}

fn request() -> ChatRequest {
    let messages = vec![ChatMessage {
        role: ChatRole::User,
        content: "Is it?".into(),
    }];
    ChatRequest {
        purpose: Purpose::of("classify"),
        messages,
        max_tokens: 30,
    }
}

fn metered(model: FakeChat, ledger: Ledger, budget: Budget) -> MeteredModel<FakeChat, chrono::Utc> {
    MeteredModel {
        model,
        meter: Arc::new(ledger),
        clock: Arc::new(FakeClock::default()),
        zone: chrono::Utc,
        budget,
    }
}

#[test]
fn a_home_that_cannot_be_written_to_lets_nothing_be_asked() {
    let home = TestHome::new();
    let (disk, _) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), DiskFault::Dies, 1);
    let metered = metered(
        FakeChat::with_answers(&["Yes."]),
        Ledger::with_disk(Arc::new(disk), home.path()),
        Budget::default(),
    );
    let error = metered.answer(&request()).unwrap_err();
    assert_eq!(error.code(), Code::Io);
    assert_eq!(
        error.to_string(),
        "the language model was not called, because its usage cannot be recorded"
    );
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "cannot write to usage/2026-05.jsonl");
    assert_eq!(
        (metered.model.requests().len(), spent(&home).0),
        (0, LlmUsage::default())
    );
}

#[test]
fn an_answer_is_not_lost_because_it_cannot_be_settled() {
    let home = TestHome::new();
    // The folder takes two steps, and the reservation one.
    let (disk, _) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), DiskFault::Dies, 4);
    let metered = metered(
        FakeChat::with_answers(&["Yes."]),
        Ledger::with_disk(Arc::new(disk), home.path()),
        Budget::default(),
    );
    assert_eq!(metered.answer(&request()).unwrap().text, "Yes.");
    assert_eq!(
        spent(&home).0,
        LlmUsage::from_call(request().estimate()),
        "what was set aside stands"
    );
}

/// Environment variable with the home of a process that makes reservations.
const TASK: &str = "MEMORY_TEST_ASKER";
const ASKERS: u64 = 8;
const QUESTIONS: u64 = 40;
/// Fewer than all processes request.
const LIMIT: Budget = Budget {
    calls_a_day: Some(250),
    tokens_a_day: Some(24_000),
};

/// A process that makes reservations, on its own or started by the test below.
#[test]
fn who_asks_keeps_to_the_budget() {
    if let Ok(task) = std::env::var(TASK) {
        return println!("allowed={}", reserve_repeatedly(Path::new(&task)));
    }
    let home = TestHome::new();
    assert_eq!(reserve_repeatedly(home.path()), QUESTIONS);
    assert_eq!(spent(&home), (usage_of(QUESTIONS), 0));
}

/// Makes reservations, and returns how often one was allowed.
fn reserve_repeatedly(home: &Path) -> u64 {
    let ledger = Ledger::open(home).unwrap();
    let mut allowed = 0;
    for _ in 0..QUESTIONS {
        match ledger.reserve(&reservation(), &LIMIT) {
            Ok(()) => allowed += 1,
            Err(MeterError::Exhausted(_)) => {}
            Err(error @ MeterError::Store(_)) => panic!("{error:?}"),
        }
    }
    allowed
}

#[test]
fn eight_processes_that_ask_at_once_lose_no_count_and_overdraw_no_budget() {
    let home = TestHome::new();
    let askers: Vec<_> = (0..ASKERS).map(|_| start(&home)).collect();
    let mut allowed = 0;
    for asker in askers {
        let output = asker.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}");
        let (_, number) = said.split_once("allowed=").unwrap();
        allowed += number.lines().next().unwrap().parse::<u64>().unwrap();
    }
    assert_eq!(allowed, 240, "of 320, as many as there are tokens for");
    assert_eq!(spent(&home), (usage_of(240), 0));
}

fn start(home: &TestHome) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "ledger::who_asks_keeps_to_the_budget",
            "--nocapture",
        ])
        .env(TASK, home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}
