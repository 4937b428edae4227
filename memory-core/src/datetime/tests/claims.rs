//! What is read how, and what is said about it.

use chrono::{FixedOffset, LocalResult, NaiveDate, NaiveDateTime, TimeZone};

use super::super::{DatePrecision, TimeRelation, find_date, find_dates};
use super::{assert_all_correct, format_found_date, wednesday};

#[test]
fn what_is_over_is_read_as_past() {
    let over = [
        "yesterday",
        "we met last Friday",
        "3 days ago",
        "two weeks earlier",
        "in 2013",
        "since May 2019",
        "January 12, 2016",
        "last night",
        "last Christmas",
        "the day before yesterday",
        "an hour ago",
        "昨天",
        "前天下午",
        "上周五",
        "三天前",
        "2013年",
        "去年",
        "上个月五号",
        "五分钟前",
        "昨晚八点",
    ];
    for text in over {
        assert_eq!(
            find_date(text, &wednesday()).map(|reading| reading.relation),
            Some(TimeRelation::Past),
            "{text}"
        );
    }
}

#[test]
fn what_is_now_is_neither_past_nor_to_come() {
    for text in [
        "now",
        "today",
        "right now",
        "as soon as possible",
        "现在",
        "今天",
        "11 June 2025",
    ] {
        assert_eq!(
            find_date(text, &wednesday()).map(|reading| reading.relation),
            Some(TimeRelation::Present),
            "{text}"
        );
    }
}

#[test]
fn a_day_and_its_time_are_joined_across_the_words_of_a_sentence() {
    assert_all_correct(
        "joined",
        &[
            ("lunch on Friday with Priya at noon", "2025-06-13 12:00"),
            ("at 3pm we meet Bob tomorrow", "2025-06-12 15:00"),
            ("明天和安娜开会，下午三点", "2025-06-12 15:00"),
            ("We talked yesterday. Call at 3pm.", "2025-06-11 15:00"),
            ("yesterday we said 3pm", "2025-06-11 15:00"),
            ("buy milk tomorrow! Gym at 6pm", "2025-06-12"),
        ],
    );
}

#[test]
fn a_deadline_is_its_last_day() {
    assert_all_correct(
        "deadlines",
        &[
            ("by the end of next month", "2025-07-31"),
            ("by the end of May", "2026-05-31"),
            ("before the end of the week", "2025-06-15"),
            ("end of the work week", "2025-06-13"),
            ("by eod", "2025-06-11 23:59"),
            ("by close of business on Friday", "2025-06-13 17:00"),
            ("end of tomorrow", "2025-06-12 23:59"),
            ("end of the quarter", "2025-06-30"),
            ("下月底前", "2025-07-31"),
            ("明年底之前", "2026-12-31"),
            ("本周末之前", "2025-06-14"),
            ("两周内", "2025-06-25"),
            ("五个工作日后", "2025-06-18"),
            ("in 3 business days", "2025-06-16"),
        ],
    );
}

#[test]
fn days_are_counted_from_other_days() {
    assert_all_correct(
        "counted",
        &[
            ("three weeks from tomorrow", "2025-07-03"),
            ("the week after Easter", "2026-04-12"),
            ("two days before the first Monday of July", "2025-07-05"),
            ("the Friday after next", "2025-06-20"),
            ("the Monday after Thanksgiving", "2025-12-01"),
            ("the day after the day after tomorrow", "2025-06-14"),
            ("3 fridays from now", "2025-06-27"),
            ("the last working day of the month", "2025-06-30"),
            ("second to last Friday of August", "2025-08-22"),
            ("国庆节前三天", "2025-09-28"),
            ("圣诞节前一天", "2025-12-24"),
            ("两周后的周五", "2025-06-27"),
            ("十一月第四个星期四", "2025-11-27"),
            ("下个月第一个工作日", "2025-07-01"),
        ],
    );
}

#[test]
fn months_that_are_too_short_give_their_last_day_to_a_distance_and_are_skipped_for_a_date() {
    let january = "2026-01-31T09:00:00+00:00".parse().expect("it is a moment");
    let read = |text| {
        find_date(text, &chrono::DateTime::<FixedOffset>::clone(&january))
            .map(|reading| reading.at.date_naive().to_string())
    };
    assert_eq!(read("in a month").as_deref(), Some("2026-02-28"));
    assert_eq!(read("on the 30th").as_deref(), Some("2026-03-30"));
    assert_eq!(read("February 29").as_deref(), Some("2028-02-29"));
    assert_eq!(read("February 30"), None);
    assert_eq!(read("4月31日"), None);
}

#[test]
fn what_leads_out_of_all_years_is_no_reading() {
    for text in [
        "in 999999999999 years",
        "in 99999 weeks of months",
        "999999999999 days ago",
        "九千九百年后的",
        "in 8000 years",
    ] {
        assert!(
            find_dates(text, &wednesday())
                .iter()
                .all(|reading| reading.relation != TimeRelation::Future),
            "{text}"
        );
    }
}

#[test]
fn a_named_zone_is_where_the_clock_hangs() {
    assert_all_correct(
        "zones",
        &[
            ("tomorrow 11pm PST", "2025-06-13 09:00"),
            ("call at 4pm UTC", "2025-06-11 18:00"),
            ("Thursday 9am EST", "2025-06-12 16:00"),
            ("2025-07-02T16:00:00Z", "2025-07-02 18:00"),
            ("2025-07-02T16:00:00+08:00", "2025-07-02 10:00"),
            ("tomorrow 10:00 GMT+5:30", "2025-06-12 06:30"),
            ("北京时间晚上八点", "2025-06-11 14:00"),
        ],
    );
}

#[test]
fn what_repeats_is_read_as_its_next_time_and_says_so() {
    for (text, at) in [
        ("standup every Monday at 9:30", "2025-06-16 09:30"),
        ("every day at 8am", "2025-06-12 08:00"),
        ("each morning", "2025-06-12 09:00"),
        ("每天晚上十点", "2025-06-11 22:00"),
        ("每周五下午四点", "2025-06-13 16:00"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
        assert!(
            find_date(text, &wednesday()).is_some_and(|reading| reading.repeats),
            "{text}"
        );
    }
}

#[test]
fn what_the_words_leave_open_is_stated() {
    for (text, stated) in [
        ("at 3", "15:00"),
        ("tomorrow at 3", "15:00"),
        ("tomorrow morning", "09:00"),
        ("next Friday", "2025-06-20"),
        ("Wednesday", "next"),
        ("March 3rd", "2026-03-03"),
        ("on the 1st", "2025-07-01"),
        ("明天三点", "15:00"),
        ("下周五", "2025-06-20"),
    ] {
        let assumed = find_date(text, &wednesday())
            .and_then(|reading| reading.assumed)
            .unwrap_or_default();
        assert!(assumed.contains(stated), "{text}: {assumed}");
    }
    for text in [
        "tomorrow at 15:00",
        "2025-07-02",
        "in three days",
        "后天下午三点",
    ] {
        assert_eq!(
            find_date(text, &wednesday()).and_then(|reading| reading.assumed),
            None,
            "{text}"
        );
    }
}

#[test]
fn what_lasts_is_vague_and_gives_way_to_a_point() {
    for text in ["next week", "in August", "in 2030", "下个月", "明年"] {
        assert!(
            find_date(text, &wednesday()).is_some_and(|reading| reading.is_vague),
            "{text}"
        );
    }
    assert_eq!(
        format_found_date("next week we decide, the vote is on 26 June"),
        "2025-06-26"
    );
    assert_eq!(format_found_date("下个月搬家，6月28日打包"), "2025-06-28");
}

#[test]
fn the_span_is_of_the_text_as_it_is_written() {
    let text = "İ é 明日 — Anna’s call: NEXT Tuesday at 3 P.M., 地点：后天 ２０：３０";
    let found: Vec<_> = find_dates(text, &wednesday())
        .into_iter()
        .map(|reading| reading.text)
        .collect();
    assert_eq!(found, ["明日", "NEXT Tuesday at 3 P.M.", "后天 ２０：３０"]);
}

/// A zone whose clocks go forward at 2:00 on the 30th of March 2025, and back at 3:00 on the 26th of October.
#[derive(Debug, Clone, Copy)]
struct DaylightZone;

impl DaylightZone {
    fn offset(hours: i32) -> FixedOffset {
        FixedOffset::east_opt(hours * 3600).expect("it is an offset")
    }

    fn change(month: u32, day: u32, hour: u32) -> NaiveDateTime {
        NaiveDate::from_ymd_opt(2025, month, day)
            .and_then(|day| day.and_hms_opt(hour, 0, 0))
            .expect("it is a time")
    }
}

impl TimeZone for DaylightZone {
    type Offset = FixedOffset;

    fn from_offset(_: &FixedOffset) -> Self {
        Self
    }

    fn offset_from_local_date(&self, local: &NaiveDate) -> LocalResult<FixedOffset> {
        self.offset_from_local_datetime(&local.and_time(chrono::NaiveTime::MIN))
    }

    fn offset_from_local_datetime(&self, local: &NaiveDateTime) -> LocalResult<FixedOffset> {
        let is_within = |month, day, from| {
            Self::change(month, day, from) <= *local && *local < Self::change(month, day, from + 1)
        };
        if is_within(3, 30, 2) {
            LocalResult::None
        } else if is_within(10, 26, 2) {
            LocalResult::Ambiguous(Self::offset(2), Self::offset(1))
        } else {
            let is_summer = Self::change(3, 30, 3) <= *local && *local < Self::change(10, 26, 2);
            LocalResult::Single(Self::offset(if is_summer { 2 } else { 1 }))
        }
    }

    fn offset_from_utc_date(&self, utc: &NaiveDate) -> FixedOffset {
        self.offset_from_utc_datetime(&utc.and_time(chrono::NaiveTime::MIN))
    }

    fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> FixedOffset {
        let is_summer = Self::change(3, 30, 1) <= *utc && *utc < Self::change(10, 26, 1);
        Self::offset(if is_summer { 2 } else { 1 })
    }
}

#[test]
fn a_time_that_the_clocks_skip_is_as_much_later_and_said() {
    let now = DaylightZone.from_utc_datetime(&DaylightZone::change(3, 29, 9));
    let reading = find_date("tomorrow at 2:30am", &now).expect("it is a time");
    assert_eq!(reading.at.to_rfc3339(), "2025-03-30T03:30:00+02:00");
    assert_eq!(
        reading.assumed.as_deref(),
        Some("02:30 does not exist that day, because clocks go forward; assuming 03:30.")
    );
}

#[test]
fn a_time_that_comes_twice_is_the_first_and_said() {
    let now = DaylightZone.from_utc_datetime(&DaylightZone::change(10, 25, 9));
    let reading = find_date("明天凌晨两点半", &now).expect("it is a time");
    assert_eq!(reading.at.to_rfc3339(), "2025-10-26T02:30:00+02:00");
    assert!(
        reading
            .assumed
            .is_some_and(|assumed| assumed.contains("twice"))
    );
}

#[test]
fn hours_pass_as_they_do_and_days_as_the_clock_shows_them() {
    let now = DaylightZone.from_utc_datetime(&DaylightZone::change(3, 29, 11));
    let read = |text| find_date(text, &now).map(|reading| (reading.at.to_rfc3339(), reading.kind));
    assert_eq!(
        read("in 24 hours"),
        Some((
            "2025-03-30T13:00:00+02:00".to_owned(),
            DatePrecision::DateTime
        ))
    );
    assert_eq!(
        read("tomorrow at noon"),
        Some((
            "2025-03-30T12:00:00+02:00".to_owned(),
            DatePrecision::DateTime
        ))
    );
}
