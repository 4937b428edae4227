//! What people leave out, and what they tell a time by.

use chrono::FixedOffset;

use super::super::find_date;
use super::{assert_all_correct, format_found_date, wednesday};

#[test]
fn an_hour_without_its_half_is_one_at_which_people_are_awake_and_the_other_is_named() {
    for (text, at, stated) in [
        ("call Anna at 3", "2025-06-11 15:00", "15:00, not 03:00,"),
        (
            "ring the plumber at 10",
            "2025-06-11 22:00",
            "22:00, not 10:00,",
        ),
        (
            "the sitter comes at 6:30 on Saturday",
            "2025-06-14 18:30",
            "18:30, not 06:30,",
        ),
        (
            "breakfast with Lee tomorrow at 6:30",
            "2025-06-12 06:30",
            "06:30, not 18:30, is usual in the morning",
        ),
        ("wake me up at 6", "2025-06-12 06:00", "06:00, not 18:00,"),
        (
            "dinner on Friday at 7",
            "2025-06-13 19:00",
            "19:00, not 07:00, is usual in the evening",
        ),
        (
            "move the car at quarter to seven tomorrow",
            "2025-06-12 06:45",
            "06:45, not 18:45,",
        ),
        ("三点给安娜打电话", "2025-06-11 15:00", "15:00, not 03:00,"),
        ("周六六点半保姆来", "2025-06-14 18:30", "18:30, not 06:30,"),
        ("五点三刻的闹钟", "2025-06-12 05:45", "05:45, not 17:45,"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
        let assumed = find_date(text, &wednesday())
            .and_then(|reading| reading.assumed)
            .unwrap_or_default();
        assert!(assumed.contains(stated), "{text}: {assumed}");
    }
    let evening = "2025-06-11T16:20:00+02:00".parse().expect("it is a moment");
    let tomorrow = find_date(
        "call Anna at 3",
        &chrono::DateTime::<FixedOffset>::clone(&evening),
    )
    .expect("it is a time");
    assert_eq!(tomorrow.at.to_rfc3339(), "2025-06-12T15:00:00+02:00");
    assert!(
        tomorrow
            .assumed
            .is_some_and(|assumed| assumed.contains("15:00, not 03:00,"))
    );
}

#[test]
fn digits_that_are_two_dates_are_read_month_first_and_the_other_is_named() {
    for (text, at, other) in [
        (
            "passport expires 02/03/2027",
            "2027-02-03",
            Some("2027-03-02"),
        ),
        ("the exam is on 3/7", "2026-03-07", Some("2025-07-03")),
        ("visa on 21/06/2026", "2026-06-21", None),
        ("due 02.03.2027", "2027-03-02", None),
        ("due 05/05/2027", "2027-05-05", None),
        ("Friday 7/11/2025", "2025-07-11", None),
        ("Friday 11/7/2025", "2025-11-07", None),
        ("Monday 7/4/2026", "2026-07-04", Some("2026-04-07")),
        ("在3/7开会", "2026-03-07", None),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
        let assumed = find_date(text, &wednesday())
            .and_then(|reading| reading.assumed)
            .unwrap_or_default();
        assert_eq!(
            assumed.contains("day first"),
            other.is_some(),
            "{text}: {assumed}"
        );
        assert!(
            other.is_none_or(|other| assumed.contains(other)),
            "{text}: {assumed}"
        );
    }
}

#[test]
fn what_comes_at_intervals_comes_first_after_one() {
    for (text, at) in [
        ("water the ficus every 3 days", "2025-06-14"),
        ("drink water every two hours", "2025-06-11 12:20"),
        ("stand up every half hour", "2025-06-11 10:50"),
        ("change the sheets every other week", "2025-06-25"),
        ("put the bins out every second Thursday", "2025-06-12"),
        ("change the filter every month on the 3rd", "2025-07-03"),
        ("每隔三天浇一次花", "2025-06-14"),
        ("每两个小时喝一次水", "2025-06-11 12:20"),
        ("隔天跑步", "2025-06-13"),
        ("每两周的周四扔垃圾", "2025-06-12"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
        assert!(
            find_date(text, &wednesday()).is_some_and(|reading| reading.repeats),
            "{text}"
        );
    }
}

#[test]
fn a_time_is_told_by_another() {
    assert_all_correct(
        "told by another",
        &[
            ("this time tomorrow", "2025-06-12 10:20"),
            ("check the meter same time next week", "2025-06-18 10:20"),
            ("下周这个时候看电表", "2025-06-18 10:20"),
            ("明年今天续签", "2026-06-11"),
            ("24 hours before Monday 10am", "2025-06-15 10:00"),
            (
                "remind me 30 minutes before my 3pm call tomorrow",
                "2025-06-12 14:30",
            ),
            (
                "the call is tomorrow at 3pm, remind me 30 minutes before",
                "2025-06-12 14:30",
            ),
            (
                "Mum's birthday is June 20, remind me two days before",
                "2025-06-18",
            ),
            ("明天下午三点开会，提前半小时提醒我", "2025-06-12 14:30"),
            ("6月20号妈妈生日，提前两天提醒我", "2025-06-18"),
            ("1 hour before 3", "2025-06-11 14:00"),
            ("call her half an hour after 6 tomorrow", "2025-06-12 18:30"),
            ("an hour before 12 people came", "-"),
            ("the night before the 1st", "2025-06-30 20:00"),
            ("the morning of June 20", "2025-06-20 09:00"),
            ("a week tomorrow", "2025-06-19"),
        ],
    );
}

#[test]
fn a_range_begins_at_its_first_hour() {
    assert_all_correct(
        "ranges",
        &[
            ("delivery between 2 and 4 on Tuesday", "2025-06-17 14:00"),
            ("call between 11 and 1pm tomorrow", "2025-06-12 11:00"),
            (
                "he comes between 8am and noon on Tuesday",
                "2025-06-17 08:00",
            ),
            ("swimming Tues & Thurs at 4:30", "2025-06-17 16:30"),
            ("log hours Monday to Friday at 9", "2025-06-16 09:00"),
            ("周一到周五九点打卡", "2025-06-16 09:00"),
        ],
    );
}

#[test]
fn parts_of_the_day_stand_alone_only_where_something_is_to_be_done_and_are_vague() {
    for (text, at) in [
        (
            "remind me in the morning to sign the slip",
            "2025-06-12 09:00",
        ),
        ("take the pills after dinner", "2025-06-11 20:00"),
        ("下午给客户回电话", "2025-06-11 15:00"),
        ("提醒我晚饭后吃药", "2025-06-11 20:00"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
        assert!(
            find_date(text, &wednesday()).is_some_and(|reading| reading.is_vague),
            "{text}"
        );
    }
    for text in [
        "she works best in the morning and rests",
        "晚上好",
        "下午茶很好喝",
        "他喜欢早上跑步",
    ] {
        assert_eq!(format_found_date(text), "-", "{text}");
    }
}
