//! Tests of ranges and of the edges of periods.

use super::super::{find_date, find_dates};
use super::{format_found_date, format_range, wednesday};

#[test]
fn a_limit_within_the_current_period_is_its_end() {
    for (text, at) in [
        ("till this week", "2025-06-15"),
        ("finish the report by this week", "2025-06-15"),
        ("it is valid until this month", "2025-06-30"),
        ("by this quarter", "2025-06-30"),
        ("I am busy this week", "-"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn a_range_keeps_its_start_and_end() {
    for (text, range) in [
        ("December 10-12", "2025-12-10 to 2025-12-12 00:00"),
        ("Dec 10 - 12", "2025-12-10 to 2025-12-12 00:00"),
        ("Dec 10 to 12", "2025-12-10 to 2025-12-12 00:00"),
        ("10-12 December 2026", "2026-12-10 to 2026-12-12 00:00"),
        (
            "from December 28 to January 3",
            "2025-12-28 to 2026-01-03 00:00",
        ),
        ("Dec 28 to Jan 3, 2027", "2026-12-28 to 2027-01-03 00:00"),
        ("December 10-12, 2026", "2026-12-10 to 2026-12-12 00:00"),
        (
            "from the 20th to the 25th",
            "2025-06-20 to 2025-06-25 00:00",
        ),
        (
            "the 10th to the 12th of December",
            "2025-12-10 to 2025-12-12 00:00",
        ),
        ("from Monday to Wednesday", "2025-06-16 to 2025-06-18 00:00"),
        (
            "between Monday and Wednesday",
            "2025-06-16 to 2025-06-18 00:00",
        ),
        (
            "from tomorrow until Friday",
            "2025-06-12 to 2025-06-13 00:00",
        ),
        ("2025-12-04 to 2025-12-06", "2025-12-04 to 2025-12-06 00:00"),
        ("tomorrow 2-4pm", "2025-06-12 14:00 to 2025-06-12 16:00"),
        ("2-4pm tomorrow", "2025-06-12 14:00 to 2025-06-12 16:00"),
        ("11-1pm tomorrow", "2025-06-12 11:00 to 2025-06-12 13:00"),
        (
            "tomorrow 9:00-10:30",
            "2025-06-12 09:00 to 2025-06-12 10:30",
        ),
        (
            "tomorrow from 9 to 11:30",
            "2025-06-12 09:00 to 2025-06-12 11:30",
        ),
        ("Friday 9am to 5pm", "2025-06-13 09:00 to 2025-06-13 17:00"),
        ("Friday 10pm to 2am", "2025-06-13 22:00 to 2025-06-14 02:00"),
        (
            "from Friday 6pm to Sunday noon",
            "2025-06-13 18:00 to 2025-06-15 12:00",
        ),
        (
            "delivery between 2 and 4 on Tuesday",
            "2025-06-17 14:00 to 2025-06-17 16:00",
        ),
        (
            "every Monday 9-10am",
            "2025-06-16 09:00 to 2025-06-16 10:00",
        ),
        ("Friday 10-12", "2025-06-13 10:00 to 2025-06-13 12:00"),
        ("10-12 on Friday", "2025-06-13 10:00 to 2025-06-13 12:00"),
        (
            "tomorrow between 9 and noon",
            "2025-06-12 09:00 to 2025-06-12 12:00",
        ),
        ("between 20 and 25 June", "2025-06-20 to 2025-06-25 00:00"),
        ("from July to September", "2025-07-01 to 2025-09-30 00:00"),
        (
            "2025-06-20T10:00/2025-06-20T12:00",
            "2025-06-20 10:00 to 2025-06-20 12:00",
        ),
        (
            "<2026-12-04 Fri>--<2026-12-06 Sun>",
            "2026-12-04 to 2026-12-06 00:00",
        ),
        ("7月到9月", "2025-07-01 to 2025-09-30 00:00"),
        (
            "in July, August and September",
            "2025-07-01 to 2025-09-30 00:00",
        ),
        ("7月、8月", "2025-07-01 to 2025-08-31 00:00"),
        ("2026-07-01..2026-07-05", "2026-07-01 to 2026-07-05 00:00"),
        ("七月一日到五日", "2025-07-01 to 2025-07-05 00:00"),
        ("十月一日至七日", "2025-10-01 to 2025-10-07 00:00"),
        ("from Monday to today", "2025-06-09 to 2025-06-11 00:00"),
        (
            "last week from Monday to Wednesday",
            "2025-06-02 to 2025-06-04 00:00",
        ),
        ("from 2023 to 2024", "2023-01-01 to 2024-12-31 00:00"),
        ("in 2026 and 2027", "2026-01-01 to 2027-12-31 00:00"),
        ("March 2024 to May", "2024-03-01 to 2024-05-31 00:00"),
        ("去年三月到五月", "2024-03-01 to 2024-05-31 00:00"),
        (
            "from 3pm..5pm tomorrow",
            "2025-06-12 15:00 to 2025-06-12 17:00",
        ),
        ("Mon..Fri", "2025-06-16 to 2025-06-20 00:00"),
        ("from May 3 to yesterday", "2025-05-03 to 2025-06-10 00:00"),
        ("6月1日到今天", "2025-06-01 to 2025-06-11 00:00"),
        ("2025-07-05 to 2025-07-01", "2025-07-01 to 2025-07-05 00:00"),
        (
            "tomorrow 9.30-10.30",
            "2025-06-12 09:30 to 2025-06-12 10:30",
        ),
        (
            "from 9.30 to 10.30 tomorrow",
            "2025-06-12 09:30 to 2025-06-12 10:30",
        ),
        ("12月10-12日", "2025-12-10 to 2025-12-12 00:00"),
        ("12月10日至12日", "2025-12-10 to 2025-12-12 00:00"),
        ("12月10日到15日", "2025-12-10 to 2025-12-15 00:00"),
        ("12月28日至1月3日", "2025-12-28 to 2026-01-03 00:00"),
        ("20号到25号", "2025-06-20 to 2025-06-25 00:00"),
        ("下周一到周三", "2025-06-16 to 2025-06-18 00:00"),
        ("上周一到周三", "2025-06-02 to 2025-06-04 00:00"),
        ("上周五到周一", "2025-06-06 to 2025-06-09 00:00"),
        (
            "from Monday to Wednesday last week",
            "2025-06-02 to 2025-06-04 00:00",
        ),
        (
            "from Friday to Monday next week",
            "2025-06-13 to 2025-06-16 00:00",
        ),
        ("周一到周三早上九点", "2025-06-16 09:00 to 2025-06-18 09:00"),
        ("明天下午2点到4点", "2025-06-12 14:00 to 2025-06-12 16:00"),
        ("明天上午9:00-11:30", "2025-06-12 09:00 to 2025-06-12 11:30"),
        ("明天9点到12点", "2025-06-12 09:00 to 2025-06-12 12:00"),
        (
            "<2025-07-03 Thu 10:00-11:30 -2d>",
            "2025-07-03 10:00 to 2025-07-03 11:30",
        ),
    ] {
        assert_eq!(format_range(text), range, "{text}");
        assert_eq!(
            find_dates(text, &wednesday()).len(),
            1,
            "{text}: {:?}",
            find_dates(text, &wednesday())
        );
    }
    for text in [
        "tomorrow at 3pm",
        "the meeting was moved from Tuesday to Thursday",
        "move it tomorrow to 3pm",
        "the last day of July",
        "花了近三天",
        "the last 2 minutes of the match",
    ] {
        assert!(format_range(text).ends_with(" to -"), "{text}");
    }
}

#[test]
fn the_end_of_a_range_has_its_own_month_or_minutes() {
    for (text, range) in [
        ("26 July - 22 August", "2025-07-26 to 2025-08-22 00:00"),
        ("26 Jul – 2 Aug 2026", "2026-07-26 to 2026-08-02 00:00"),
        (
            "the 30th of July - the 2nd of August",
            "2025-07-30 to 2025-08-02 00:00",
        ),
        (
            "25 December - 2 January at noon",
            "2025-12-25 to 2026-01-02 12:00",
        ),
        ("12 July - 13:00", "2025-07-12 13:00 to -"),
        ("tomorrow 9-10:30", "2025-06-12 09:00 to 2025-06-12 10:30"),
        (
            "on 12 July at 9-10.30",
            "2025-07-12 09:00 to 2025-07-12 10:30",
        ),
        (
            "2025-07-05T10:00/11:30",
            "2025-07-05 10:00 to 2025-07-05 11:30",
        ),
        ("9-10:30 tomorrow", "2025-06-12 09:00 to 2025-06-12 10:30"),
    ] {
        assert_eq!(format_range(text), range, "{text}");
    }
}

#[test]
fn parts_of_months_and_years_and_recent_days_are_ranges() {
    for (text, range) in [
        ("the first week of July", "2025-07-01 to 2025-07-07 00:00"),
        ("last week of June", "2025-06-24 to 2025-06-30 00:00"),
        (
            "second week of next month",
            "2025-07-08 to 2025-07-14 00:00",
        ),
        ("the fifth week of July", "2025-07-29 to 2025-07-31 00:00"),
        (
            "the last two weeks of August",
            "2025-08-18 to 2025-08-31 00:00",
        ),
        (
            "the first weekend in July",
            "2025-07-05 to 2025-07-06 00:00",
        ),
        ("second half of July", "2025-07-16 to 2025-07-31 00:00"),
        ("last week of the year", "2025-12-25 to 2025-12-31 00:00"),
        ("the week of July 9", "2025-07-07 to 2025-07-13 00:00"),
        ("the week starting July 9", "2025-07-09 to 2025-07-15 00:00"),
        (
            "first quarter of next year",
            "2026-01-01 to 2026-03-31 00:00",
        ),
        ("Q3 2026", "2026-07-01 to 2026-09-30 00:00"),
        ("2026-Q3", "2026-07-01 to 2026-09-30 00:00"),
        ("by Q4", "2025-10-01 to 2025-12-31 00:00"),
        ("second half of 2026", "2026-07-01 to 2026-12-31 00:00"),
        ("明年上半年", "2026-01-01 to 2026-06-30 00:00"),
        ("2026年第四季度", "2026-10-01 to 2026-12-31 00:00"),
        ("in the last month", "2025-05-11 to 2025-06-11 00:00"),
        ("7月第一周", "2025-07-01 to 2025-07-07 00:00"),
        ("七月的最后两周", "2025-07-18 to 2025-07-31 00:00"),
        ("下个月下半月", "2025-07-16 to 2025-07-31 00:00"),
        ("in the last 3 days", "2025-06-08 to 2025-06-11 00:00"),
        ("the past week", "2025-06-04 to 2025-06-11 00:00"),
        ("the last 24 hours", "2025-06-10 10:20 to 2025-06-11 10:20"),
        ("最近三天", "2025-06-08 to 2025-06-11 00:00"),
        ("过去的两个月", "2025-04-11 to 2025-06-11 00:00"),
    ] {
        assert_eq!(format_range(text), range, "{text}");
        assert_eq!(find_dates(text, &wednesday()).len(), 1, "{text}");
    }
}

#[test]
fn a_weekday_or_an_end_that_is_far_away_or_in_another_order_is_stated() {
    for (text, note) in [
        (
            "next Monday the 18th",
            "2025-06-18 is a Wednesday, not a Monday",
        ),
        ("Monday the 18th", "assuming 2025-08-18"),
        ("from July 5 to July 1", "ends on 2026-07-01"),
        (
            "2025-07-05 to 2025-07-01",
            "The end of the range is before its start",
        ),
        (
            "7月5日到2025年7月1日",
            "The end of the range is before its start",
        ),
    ] {
        let notes: String = find_dates(text, &wednesday())
            .into_iter()
            .filter_map(|reading| reading.assumed)
            .collect();
        assert!(notes.contains(note), "{text}: {notes}");
    }
}

#[test]
fn a_range_until_now_starts_at_the_last_such_day() {
    for (text, range) in [
        ("from March until now", "2025-03-01 to 2025-06-11 10:20"),
        ("三月到现在", "2025-03-01 to 2025-06-11 10:20"),
        ("上半年到现在", "2025-01-01 to 2025-06-11 10:20"),
        ("去年下半年至今", "2024-07-01 to 2025-06-11 10:20"),
        ("from Q3 last year to now", "2024-07-01 to 2025-06-11 10:20"),
        ("from March to today", "2025-03-01 to 2025-06-11 00:00"),
    ] {
        assert_eq!(format_range(text), range, "{text}");
    }
    let found = find_date("from March until now", &wednesday()).expect("a range");
    let note = "No year given; assuming 2025-03-01, the last such day.";
    assert_eq!(found.assumed.as_deref(), Some(note));
}

#[test]
fn the_edge_of_a_quarter_or_half_year_is_a_day() {
    for (text, at) in [
        ("by the end of Q1 2027", "2027-03-31"),
        ("the last day of Q1 2027", "2027-03-31"),
        ("end of the first half of 2027", "2027-06-30"),
        ("end of the second quarter of 2027", "2027-06-30"),
        ("the end of the first week of July", "2025-07-07"),
        ("end of next quarter", "2025-09-30"),
        ("第三季度末", "2025-09-30"),
        ("上半年末", "2025-06-30"),
        ("明年一季度末", "2026-03-31"),
        ("明年上半年底", "2026-06-30"),
        ("2027年上半年最后一天", "2027-06-30"),
        ("季度末", "2025-06-30"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn a_part_of_a_quarter_or_half_year_is_a_span_of_months_or_a_day() {
    for (text, range) in [
        (
            "the last month of the quarter",
            "2025-06-01 to 2025-06-30 00:00",
        ),
        (
            "the first month of next quarter",
            "2025-07-01 to 2025-07-31 00:00",
        ),
        (
            "last two months of the year",
            "2025-11-01 to 2025-12-31 00:00",
        ),
        (
            "the last month of Q1 2027",
            "2027-03-01 to 2027-03-31 00:00",
        ),
        ("明年最后一个月", "2026-12-01 to 2026-12-31 00:00"),
        ("今年前三个月", "2025-01-01 to 2025-03-31 00:00"),
        ("下个季度的第一个月", "2025-07-01 to 2025-07-31 00:00"),
        ("明年下半年最后两个月", "2026-11-01 to 2026-12-31 00:00"),
    ] {
        assert_eq!(format_range(text), range, "{text}");
        assert_eq!(find_dates(text, &wednesday()).len(), 1, "{text}");
    }
    for (text, at) in [
        ("last Friday of Q1 2027", "2027-03-26"),
        ("the first Monday of the quarter", "2025-04-07"),
        ("last working day of Q3", "2025-09-30"),
        (
            "the last day of the last month of the quarter",
            "2025-06-30",
        ),
        ("the end of the last month of next quarter", "2025-09-30"),
        ("下个季度最后一个星期五", "2025-09-26"),
        ("明年第一季度的最后一个工作日", "2026-03-31"),
        ("2027年上半年第一个周一", "2027-01-04"),
        ("季度最后一天", "2025-06-30"),
        ("明年最后一个月的第一个周五", "2026-12-04"),
        ("本季度最后一个月15号", "2025-06-15"),
        ("the 15th of the first month of next quarter", "2025-07-15"),
        ("the last month of the quarter, on the 15th", "2025-06-15"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn a_day_behind_a_comma_is_another_one_and_no_end_of_the_hours_before() {
    for (text, range) in [
        (
            "call Monday 1-3pm, Tuesday works too",
            "2025-06-16 13:00 to 2025-06-16 15:00",
        ),
        (
            "tomorrow 1-3pm, friday 10am",
            "2025-06-12 13:00 to 2025-06-12 15:00",
        ),
        (
            "周一下午1点到3点，周二上午10点到11点",
            "2025-06-16 13:00 to 2025-06-16 15:00",
        ),
        (
            "12月1日14:00-16:00，12月2日10:00-11:00",
            "2025-12-01 14:00 to 2025-12-01 16:00",
        ),
        (
            "from July 5, 3pm to July 6, 5pm",
            "2025-07-05 15:00 to 2025-07-06 17:00",
        ),
    ] {
        assert_eq!(format_range(text), range, "{text}");
    }
}

#[test]
fn a_weekend_has_two_days() {
    for (text, at) in [
        ("by the end of this weekend", "2025-06-15"),
        ("the last day of the weekend", "2025-06-15"),
        ("this weekend", "2025-06-14"),
        ("the third day after Tuesday", "2025-06-20"),
        ("3rd day after December 20", "2025-12-23"),
        ("the second week after July 1", "2025-07-15"),
        ("the day after July 1", "2025-07-02"),
        ("周二之后的第三天", "2025-06-20"),
        ("12月20日之后的第五天", "2025-12-25"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
    assert_eq!(
        format_range("next weekend"),
        "2025-06-21 to 2025-06-22 00:00"
    );
}

#[test]
fn a_bit_earlier_is_no_hour_and_half_a_month_no_half_a_year() {
    for (text, at) in [
        ("早一点起床", "-"),
        ("晚一点提醒我喝水", "-"),
        ("今晚一点半", "2025-06-12 01:30"),
        ("三年半个月后续签", "2028-06-26"),
        ("两年半后", "2027-12-11"),
        ("三天半小时后", "2025-06-14 10:50"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn a_span_to_come_starts_today_or_now() {
    for (text, range) in [
        ("next 2 weeks", "2025-06-11 to 2025-06-25 00:00"),
        ("the next two weeks", "2025-06-11 to 2025-06-25 00:00"),
        ("next 3 days", "2025-06-11 to 2025-06-14 00:00"),
        ("over the next 5 days", "2025-06-11 to 2025-06-16 00:00"),
        ("during the next 5 days", "2025-06-11 to 2025-06-16 00:00"),
        ("in the next two weeks", "2025-06-25 to -"),
        ("the coming 3 days", "2025-06-11 to 2025-06-14 00:00"),
        ("in the coming few months", "2025-09-11 to -"),
        ("upcoming 2 days", "2025-06-11 to 2025-06-13 00:00"),
        ("the next 24 hours", "2025-06-11 10:20 to 2025-06-12 10:20"),
        ("接下来三天", "2025-06-11 to 2025-06-14 00:00"),
        ("接下来的一个月", "2025-06-11 to 2025-07-11 00:00"),
        ("未来两周", "2025-06-11 to 2025-06-25 00:00"),
        ("在未来三天内", "2025-06-11 to 2025-06-14 00:00"),
        ("within the next 5 days", "2025-06-16 to -"),
        ("in the coming week", "2025-06-11 to 2025-06-18 00:00"),
    ] {
        assert_eq!(format_range(text), range, "{text}");
        assert_eq!(find_dates(text, &wednesday()).len(), 1, "{text}");
    }
    assert_eq!(format_found_date("in the coming days"), "-");
}
