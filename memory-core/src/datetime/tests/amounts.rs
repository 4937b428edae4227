//! Tests of lengths of events and of approximate amounts.

use super::super::find_dates;
use super::{format_found_date, format_range, wednesday};

#[test]
fn the_length_of_an_event_gives_its_end() {
    for (text, range) in [
        (
            "Friday at 2 pm for 30 minutes",
            "2025-06-13 14:00 to 2025-06-13 14:30",
        ),
        (
            "call Anna tomorrow at 23:00 for 1.5 hours",
            "2025-06-12 23:00 to 2025-06-13 00:30",
        ),
        (
            "at 3pm for an hour and a half on Friday",
            "2025-06-13 15:00 to 2025-06-13 16:30",
        ),
        (
            "today at 15:00, lasting 2h",
            "2025-06-11 15:00 to 2025-06-11 17:00",
        ),
        (
            "every Monday at 9 for 45 minutes",
            "2025-06-16 09:00 to 2025-06-16 09:45",
        ),
    ] {
        assert_eq!(format_range(text), range, "{text}");
        assert_eq!(find_dates(text, &wednesday()).len(), 1, "{text}");
    }
    assert_eq!(
        format_found_date("dinner tomorrow at 7 for 4 people"),
        "2025-06-12 19:00"
    );
}

#[test]
fn an_approximate_amount_is_a_range() {
    for (text, range) in [
        ("in 2-3 days", "2025-06-13 to 2025-06-14 00:00"),
        ("in two or three weeks", "2025-06-25 to 2025-07-02 00:00"),
        ("in a day or two", "2025-06-12 to 2025-06-13 00:00"),
        ("2 to 3 days ago", "2025-06-08 to 2025-06-09 00:00"),
        ("in 2-3 hours", "2025-06-11 12:20 to 2025-06-11 13:20"),
        ("两三天后", "2025-06-13 to 2025-06-14 00:00"),
        ("2-3天后", "2025-06-13 to 2025-06-14 00:00"),
        ("2到3天后", "2025-06-13 to 2025-06-14 00:00"),
        ("一两个小时后", "2025-06-11 11:20 to 2025-06-11 12:20"),
        ("十七八天后", "2025-06-28 to 2025-06-29 00:00"),
        ("三四个月后", "2025-09-11 to 2025-10-11 00:00"),
        ("三五年前", "2020-06-11 to 2022-06-11 00:00"),
        ("June 20-23", "2025-06-20 to 2025-06-23 00:00"),
        ("20到23日", "2025-06-20 to 2025-06-23 00:00"),
        ("二十三天后", "2025-07-04 to -"),
    ] {
        assert_eq!(format_range(text), range, "{text}");
    }
    let found = find_dates("每两三天浇花", &wednesday());
    let note = "Of \"两三\", the first number counts.";
    assert_eq!(found[0].assumed.as_deref(), Some(note));
}

#[test]
fn dates_hours_and_weekdays_beside_a_unit_are_no_amounts() {
    for (text, at) in [
        ("八九年六月四日", "1989-06-04"),
        ("二三年三月五日", "2023-03-05"),
        ("周五六个小时的会议", "2025-06-13"),
        ("June 20 or 21 days off", "2025-06-20"),
        ("in a week or 12 December", "2025-06-18"),
        ("in an hour or 5pm", "2025-06-11 11:20"),
        ("in a day or 2026-12-05", "2025-06-12"),
        ("每两三年体检", "2027-06-11"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
    for text in [
        "remind me at 5pm for 30 minutes before the meeting",
        "at 3pm for 5 minute eggs",
        "2pm for 0 minutes",
    ] {
        assert!(format_range(text).ends_with("to -"), "{text}");
    }
    assert_eq!(format_found_date("my weekly starting lineup"), "-");
}
