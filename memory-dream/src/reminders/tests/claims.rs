//! Properties that hold for every memory.

use chrono::{TimeDelta, TimeZone, Utc};
use memory_core::MemoryId;
use proptest::prelude::*;

use super::super::{MOST, find_reminders};
use super::{due_times, note, requests, written_at};

#[test]
fn a_reminder_says_its_sentence_and_where_the_time_stands() {
    let text = "Anna is a plumber.\n- [ ] call Anna tomorrow at 3pm\n- tea";
    let wanted = &requests(text)[0];
    assert_eq!(wanted.text, "call Anna tomorrow at 3pm");
    assert_eq!(
        (wanted.said.as_str(), &text[wanted.span.clone()]),
        ("tomorrow at 3pm", "tomorrow at 3pm")
    );
}

#[test]
fn a_day_without_a_time_means_nine_in_the_morning_and_says_so() {
    let wanted = &requests("pay the rent tomorrow")[0];
    assert_eq!(
        wanted.assumed.as_deref(),
        Some("No time of day is given; 09:00 is assumed.")
    );
    assert_eq!(due_times("pay the rent today"), "2025-06-11 11:00");
}

#[test]
fn who_asks_to_be_reminded_again_and_again_is_reminded_of_the_next_time() {
    for (text, at, repeats) in [
        (
            "Remind me every Monday at 9 to water the plants.",
            "2025-06-16 09:00",
            "every Monday at 9",
        ),
        (
            "Don't forget to stretch every other day.",
            "2025-06-13 09:00",
            "every other day",
        ),
        (
            "提醒我每周五下午四点交周报",
            "2025-06-13 16:00",
            "每周五下午四点",
        ),
        ("每个月15号记得还信用卡", "2025-06-15 09:00", "每个月15号"),
    ] {
        assert_eq!(due_times(text), at, "{text}");
        assert_eq!(
            requests(text)[0].repeats.as_deref(),
            Some(repeats),
            "{text}"
        );
    }
    for text in [
        "Water the plants every Monday at 9.",
        "Please run the tests every Friday.",
        "我每周五下午四点交周报",
        "Remind me that she usually calls on Friday.",
    ] {
        assert_eq!(due_times(text), "", "{text}");
    }
}

#[test]
fn times_are_seen_from_when_a_memory_was_written_and_not_from_now() {
    let memory = note("call Anna tomorrow at 3pm");
    let now = |hours| {
        find_reminders(
            &memory,
            &written_at().timezone(),
            written_at().to_utc() + TimeDelta::hours(hours),
        )
        .len()
    };
    assert_eq!([now(0), now(28), now(29), now(300)], [1, 1, 0, 0]);
}

#[test]
fn a_memory_asks_once_for_each_time_and_not_without_end() {
    assert_eq!(
        requests("Call Anna tomorrow at 3pm. Tomorrow at 3pm call Anna!").len(),
        1
    );
    let list: Vec<_> = (12..30)
        .map(|day| format!("- pay rent on June {day}"))
        .collect();
    assert_eq!(requests(&list.join("\n")).len(), MOST);
}

#[test]
fn what_is_over_or_superseded_or_a_reminder_asks_for_nothing() {
    let mut old = note("call Anna tomorrow at 3pm");
    let count =
        |memory: &memory_core::Memory| find_reminders(memory, &Utc, written_at().to_utc()).len();
    assert_eq!(count(&old), 1);
    old.superseded_by = Some(MemoryId::for_path("b"));
    assert_eq!(count(&old), 0);
    (old.superseded_by, old.expires_at) = (None, Some(written_at().to_utc()));
    assert_eq!(count(&old), 0);
    (old.expires_at, old.reminder) = (
        None,
        Some(memory_core::Reminder::new(written_at().to_utc())),
    );
    assert_eq!(count(&old), 0);
}

proptest! {
    #[test]
    fn any_memory_makes_few_reminders_of_what_it_says_that_are_to_come(
        memory in memory_core::testing::any_memory(), hours in -14..14_i32, seconds in 0_i64..4_000_000_000,
        more in prop::collection::vec(prop::sample::select(vec!["call Anna tomorrow at 3pm, ", "明天下午三点开会。", "in 2 days", "“", "\n", "http://a ", "if ", "> "]), 0..9),
    ) {
        let mut memory = memory;
        memory.content.push_str(&more.concat());
        let zone = chrono::FixedOffset::east_opt(hours * 3600).expect("a zone");
        let now = Utc.timestamp_opt(seconds, 0).single().expect("a moment");
        let found = find_reminders(&memory, &zone, now);
        prop_assert!(found.len() <= MOST);
        for wanted in &found {
            prop_assert!(now < wanted.at);
            prop_assert_eq!(&memory.content[wanted.span.clone()], &wanted.said);
            prop_assert!(memory.content.contains(&wanted.text));
        }
    }
}

#[test]
fn a_number_that_looks_like_a_date_is_no_time() {
    for text in [
        "Order 20261204: pick up the parcel",
        "Call the shop about order 2027-03-15-0042",
        "Pay INV-2026-12-04",
        "Check ticket #2026-12-04 with Anna",
        "Send the contract no. 2026-12-04 to Bob",
        "Review build 2026.12.04 with the team meeting",
        "Call Anna about PO_2026-12-04",
        "处理订单号 20261204",
        "给客户寄合同编号：2027-03-15",
        "查快递单号2026-12-04-7731",
    ] {
        assert_eq!(due_times(text), "", "{text}");
    }
    for (text, at) in [
        ("Call Anna on 2026-12-04 (noon)", "2026-12-04 12:00"),
        ("Pay the invoice by 2026-12-04.", "2026-12-04 09:00"),
        ("2026-12-04: dentist appointment", "2026-12-04 09:00"),
        ("2026年12月4日交报告", "2026-12-04 09:00"),
    ] {
        assert_eq!(due_times(text), at, "{text}");
    }
}

#[test]
fn examples_and_test_data_request_nothing() {
    for text in [
        "Sample data: call Anna tomorrow at 3pm",
        "Test case 4: remind me to call Anna tomorrow at 3pm.",
        "## Sample data\n\n- call Anna tomorrow at 3pm\n\nRemind me on Friday.\n",
        "Test data:\n- call Anna tomorrow\n- dentist appointment on Friday at 9am\n",
        "The sample data has a meeting on Friday at 10am.",
        "The fixture contains an appointment on June 20 at 3pm.",
        "示例数据：明天下午三点开会",
        "测试用例：提醒我明天下午三点给安娜打电话",
        "测试数据里周五下午两点有会议",
    ] {
        assert_eq!(due_times(text), "", "{text}");
    }
    for (text, at) in [
        (
            "Remind me to run the test cases on Friday.",
            "2025-06-13 09:00",
        ),
        (
            "## Examples\n\ncall Anna on Friday\n\n## Plan\n\ncall Bob on Friday\n",
            "2025-06-13 09:00",
        ),
        (
            "Test data:\n- call Anna on Friday\n\nCall Bob tomorrow.",
            "2025-06-12 09:00",
        ),
        ("记得周五准备测试数据", "2025-06-13 09:00"),
    ] {
        assert_eq!(due_times(text), at, "{text}");
    }
    assert_eq!(
        requests("## Examples\n\ncall Anna on Friday\n\n## Plan\n\ncall Bob on Friday\n")[0].text,
        "call Bob on Friday"
    );
}

#[test]
fn a_former_plan_is_no_appointment() {
    for text in [
        "The demo was planned for Friday at 10am.",
        "The review was scheduled for June 20.",
        "The report had been due by Friday.",
        "The interview had been moved to Friday.",
        "Bob was supposed to call on Friday.",
        "They were supposed to deliver the parcel on June 20.",
        "The reminder had been set for Friday.",
        "The deadline was June 20.",
        "评审原定周五下午两点",
        "本来周五要开会",
    ] {
        assert_eq!(due_times(text), "", "{text}");
    }
}

#[test]
fn of_a_changed_date_only_the_new_one_counts() {
    for text in [
        "The meeting was moved from Friday.",
        "The call, pushed back from June 20, has no date yet.",
        "The release on June 20 was postponed.",
        "Dentist appointment rescheduled from June 20 at 3pm",
        "会议从周五改到待定",
        "周五的会议推迟了",
        "评审由6月20日推迟",
    ] {
        assert_eq!(due_times(text), "", "{text}");
    }
    for (text, at) in [
        (
            "The meeting on Friday at 3pm was moved to Monday at 4pm.",
            "2025-06-16 16:00",
        ),
        (
            "The review was pushed back from June 20 to June 23.",
            "2025-06-23 09:00",
        ),
        ("周五的会议改到下周一下午两点", "2025-06-16 14:00"),
        ("评审从6月20日推迟到6月23日", "2025-06-23 09:00"),
    ] {
        assert_eq!(due_times(text), at, "{text}");
    }
}

#[test]
fn a_request_not_to_miss_an_event_is_an_appointment() {
    for (text, at) in [
        ("Don't be late tomorrow at 9", "2025-06-12 09:00"),
        (
            "Do not be late for the meeting on Friday at 9am",
            "2025-06-13 09:00",
        ),
        ("Never skip the gym on Friday at 6pm", "2025-06-13 18:00"),
        ("Don't oversleep tomorrow at 7am", "2025-06-12 07:00"),
        ("Don't cancel Friday's dinner", "2025-06-13 09:00"),
        ("Be on time tomorrow at 9", "2025-06-12 09:00"),
        ("明天早上七点不要睡过头", "2025-06-12 07:00"),
        ("明天九点不要迟到", "2025-06-12 09:00"),
        ("别取消周五的聚餐", "2025-06-13 09:00"),
    ] {
        assert_eq!(due_times(text), at, "{text}");
    }
    for text in [
        "Don't remind me tomorrow",
        "Do not call me tomorrow at 9",
        "Don't book anything on Friday",
        "明天别提醒我",
        "明天九点不要叫我",
    ] {
        assert_eq!(due_times(text), "", "{text}");
    }
}

#[test]
fn what_is_cancelled_needs_no_reminder_and_an_action_does() {
    for text in [
        "cancel Friday's dinner",
        "Please cancel the meeting with Bob tomorrow at 3pm",
        "I must cancel the dentist appointment on Friday",
        "call off Friday's dinner",
        "The dinner on Friday is off",
        "取消周五的聚餐",
        "取消明天下午三点的会议",
        "周五的聚餐取消",
    ] {
        assert_eq!(due_times(text), "", "{text}");
    }
    for (text, at) in [
        ("cancel my gym membership on Friday", "2025-06-13 09:00"),
        (
            "Cancel the dentist appointment by Friday",
            "2025-06-13 09:00",
        ),
        (
            "remind me to cancel the dinner on Friday",
            "2025-06-13 09:00",
        ),
        (
            "cancel the meeting on Friday and call Anna on Saturday",
            "2025-06-14 09:00",
        ),
        (
            "Anna cancelled dinner on Friday, the concert is on Saturday instead",
            "2025-06-14 09:00",
        ),
        ("周五的聚餐取消，改到周六", "2025-06-14 09:00"),
        ("周五取消健身房会员", "2025-06-13 09:00"),
        ("提醒我周五取消聚餐", "2025-06-13 09:00"),
        ("取消周五的聚餐，周六给安娜打电话", "2025-06-14 09:00"),
    ] {
        assert_eq!(due_times(text), at, "{text}");
    }
}

#[test]
fn each_time_of_a_list_is_requested() {
    for (text, at) in [
        (
            "take the pills tomorrow at 8 and 8.30",
            "2025-06-12 08:00, 2025-06-12 08:30",
        ),
        (
            "call Anna on Monday, Tuesday and Friday",
            "2025-06-16 09:00, 2025-06-17 09:00, 2025-06-13 09:00",
        ),
        (
            "明天8点、12点和18点吃药",
            "2025-06-12 08:00, 2025-06-12 12:00, 2025-06-12 18:00",
        ),
        ("meet Anna on Friday at 9 or 10", "2025-06-13 09:00"),
    ] {
        assert_eq!(due_times(text), at, "{text}");
    }
}

#[test]
fn a_habit_is_the_same_in_every_form() {
    for text in ["stretch hourly", "stretch every hour", "hourly stretch"] {
        assert_eq!(due_times(text), "", "{text}");
    }
    for text in [
        "remind me hourly to stretch",
        "remind me every hour to stretch",
    ] {
        assert_eq!(due_times(text), "2025-06-11 11:20", "{text}");
    }
    assert_eq!(
        due_times("call Anna on Friday about the weekly report"),
        "2025-06-13 09:00"
    );
}
