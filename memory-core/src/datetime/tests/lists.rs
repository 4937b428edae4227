//! Lists of dates that recur, ends of ranges and periods, and digits in Chinese.

use chrono::{DateTime, FixedOffset};

use super::super::{DatePrecision, find_date, find_dates, find_impossible};
use super::{assert_all_correct, format_found_date, wednesday};

/// Returns the first occurrences of a recurring time after `wednesday`.
fn format_series(text: &str, count: usize) -> Vec<String> {
    let mut now: DateTime<FixedOffset> = wednesday();
    let mut series = Vec::new();
    for _ in 0..count {
        let Some(found) = find_date(text, &now).filter(|found| found.repeats) else {
            break;
        };
        now = found.at;
        series.push(found.at.format("%F").to_string());
    }
    series
}

#[test]
fn a_list_of_dates_behind_every_recurs_on_each_of_them() {
    for (text, series) in [
        (
            "birthdays every 1/30 and 9/30 at noon",
            ["2025-09-30", "2026-01-30", "2026-09-30"],
        ),
        (
            "every 1/30 and 9/30",
            ["2025-09-30", "2026-01-30", "2026-09-30"],
        ),
        (
            "every 30/1 and 30/9",
            ["2025-09-30", "2026-01-30", "2026-09-30"],
        ),
        (
            "every 30.1. and 30.9.",
            ["2025-09-30", "2026-01-30", "2026-09-30"],
        ),
        (
            "every January 30 and September 30 at 9",
            ["2025-09-30", "2026-01-30", "2026-09-30"],
        ),
        (
            "every year on the 30th of January and on the 30th of September",
            ["2025-09-30", "2026-01-30", "2026-09-30"],
        ),
        (
            "yearly on 1/30 and 9/30",
            ["2025-09-30", "2026-01-30", "2026-09-30"],
        ),
        (
            "on January 30 and September 30 every year",
            ["2025-09-30", "2026-01-30", "2026-09-30"],
        ),
        (
            "1/30, 4/30 and 9/30 every year",
            ["2025-09-30", "2026-01-30", "2026-04-30"],
        ),
        (
            "every Jan 5, Mar 7 & Dec 9",
            ["2025-12-09", "2026-01-05", "2026-03-07"],
        ),
        (
            "every March 1st and 15th",
            ["2026-03-01", "2026-03-15", "2027-03-01"],
        ),
        (
            "every 1st and 15th of March",
            ["2026-03-01", "2026-03-15", "2027-03-01"],
        ),
        (
            "every Christmas and Easter",
            ["2025-12-25", "2026-04-05", "2026-12-25"],
        ),
        (
            "每年1月30日和9月30日",
            ["2025-09-30", "2026-01-30", "2026-09-30"],
        ),
        (
            "每年1月30日、9月30日中午",
            ["2025-09-30", "2026-01-30", "2026-09-30"],
        ),
        (
            "每年的3月1日和15日",
            ["2026-03-01", "2026-03-15", "2027-03-01"],
        ),
        (
            "每逢1月30日和9月30日",
            ["2025-09-30", "2026-01-30", "2026-09-30"],
        ),
        (
            "每年春节和中秋节",
            ["2025-10-06", "2026-02-17", "2026-09-25"],
        ),
    ] {
        assert_eq!(format_series(text, 3), series, "{text}");
        assert_eq!(find_dates(text, &wednesday()).len(), 1, "{text}");
    }
}

#[test]
fn the_order_of_recurring_dates_is_stated_and_a_day_of_another_interval_stays_apart() {
    let stated = find_date("every 5/6 and 7/8", &wednesday()).and_then(|found| found.assumed);
    let note = "Assuming the month first in dates such as 5/6.";
    assert_eq!(stated.as_deref(), Some(note));
    let stated = find_date("every 1/30 and 9/30", &wednesday()).and_then(|found| found.assumed);
    assert_eq!(stated, None);
    let texts = |text: &str| -> Vec<String> {
        let found = find_dates(text, &wednesday()).into_iter();
        found.map(|found| found.text).collect()
    };
    assert_eq!(
        texts("every January 30 and Monday"),
        ["every January 30", "Monday"]
    );
    for text in ["every 1/2 cup", "add 1/2 and 3/4 cup every year"] {
        assert!(
            texts(text).iter().all(|found| !found.contains('/')),
            "{text}"
        );
    }
}

#[test]
fn the_half_of_the_day_of_the_end_of_a_range_is_stated_if_it_is_assumed() {
    for (text, expected) in [
        ("from July 5 to July 7 at 9", Some("09:00, not 21:00,")),
        ("from today to tomorrow at 5", Some("17:00, not 05:00,")),
        ("from July 5 to July 7 at 9am", None),
    ] {
        let assumed = find_dates(text, &wednesday())[0].assumed.clone();
        let assumed = assumed.unwrap_or_default();
        let is_stated = assumed.contains("AM or PM is not given");
        assert_eq!(is_stated, expected.is_some(), "{text}: {assumed}");
        assert!(assumed.contains(expected.unwrap_or_default()), "{assumed}");
    }
}

#[test]
fn an_hour_behind_the_last_day_of_a_range_is_the_hour_of_its_end() {
    for (text, at, end) in [
        (
            "from today to tomorrow at 5pm",
            "2025-06-11",
            "2025-06-12 17:00",
        ),
        (
            "annual leave from today to tomorrow afternoon",
            "2025-06-11",
            "2025-06-12 15:00",
        ),
        (
            "from tomorrow until Friday 17:00",
            "2025-06-12",
            "2025-06-13 17:00",
        ),
        ("July 5 to 7 at 5pm", "2025-07-05", "2025-07-07 17:00"),
        (
            "from July 5 to July 7 at noon",
            "2025-07-05",
            "2025-07-07 12:00",
        ),
        ("Friday to Sunday evening", "2025-06-13", "2025-06-15 19:00"),
        ("从今天到明天下午5点", "2025-06-11", "2025-06-12 17:00"),
        ("7月5日到7日下午3点", "2025-07-05", "2025-07-07 15:00"),
        // Both hours are of one day, and the hour of a schedule is that of each day.
        ("from 3 to 5pm", "2025-06-11 15:00", "2025-06-11 17:00"),
        (
            "from today 3pm to tomorrow 5pm",
            "2025-06-11 15:00",
            "2025-06-12 17:00",
        ),
        (
            "Monday to Friday at 9",
            "2025-06-16 09:00",
            "2025-06-20 09:00",
        ),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
        let found = find_date(text, &wednesday()).expect(text);
        assert_eq!(found.end_kind(), DatePrecision::DateTime, "{text}");
        let shown = found.end.expect(text).format("%F %H:%M").to_string();
        assert_eq!(shown, end, "{text}");
    }
    let days = find_date("from today to tomorrow", &wednesday()).map(|found| found.end_kind());
    assert_eq!(days, Some(DatePrecision::Date));
}

#[test]
fn the_edge_of_a_month_or_year_is_that_of_the_period_beside_it() {
    assert_all_correct(
        "edges",
        &[
            ("March, end of month", "2026-03-31"),
            ("March end of the month", "2026-03-31"),
            ("in March at the end of the month", "2026-03-31"),
            ("March 2027, end of month", "2027-03-31"),
            ("end of month, March", "2026-03-31"),
            ("at the end of the month in March", "2026-03-31"),
            ("Feb 2026, eom", "2026-02-28"),
            ("March, mid-month", "2026-03-15"),
            ("March - middle of the month", "2026-03-15"),
            ("May, beginning of the month", "2026-05-01"),
            ("March, start of month", "2026-03-01"),
            ("next month, end of month", "2025-07-31"),
            ("2026, end of year", "2026-12-31"),
            ("2026 end of the year", "2026-12-31"),
            ("in 2026 at the end of the year", "2026-12-31"),
            ("end of year 2026", "2026-12-31"),
            ("2026, mid-year", "2026-07-01"),
            ("2026, beginning of year", "2026-01-01"),
            ("next year, end of year", "2026-12-31"),
            ("end of March", "2026-03-31"),
            ("end of month", "2025-06-30"),
            ("February, last day of the month", "2026-02-28"),
            ("last day of the month, February", "2026-02-28"),
            ("2027: end of year", "2027-12-31"),
            ("next week, end of week", "2025-06-22"),
            ("next quarter, end of quarter", "2025-09-30"),
            ("3月，月底", "2026-03-31"),
            ("2026年，年底", "2026-12-31"),
            ("明年，年底", "2026-12-31"),
            ("下个月，月底", "2025-07-31"),
        ],
    );
    for text in [
        "we march at the end of the month",
        "the report is for March. End of month is a deadline",
    ] {
        assert_eq!(format_found_date(text), "2025-06-30", "{text}");
    }
    for text in ["March, end of month", "2026, end of year"] {
        let found = find_dates(text, &wednesday());
        assert_eq!((found.len(), found[0].text.as_str()), (1, text));
    }
}

#[test]
fn digits_are_read_like_chinese_numerals() {
    let numerals = [('一', '1'), ('二', '2'), ('两', '2'), ('三', '3')];
    for text in [
        "每月最后一天",
        "每月最后一个周五",
        "每月第一个周一",
        "每月第二个周三",
        "每月倒数第二个周五",
        "每个月的最后一个工作日",
        "每年最后一天",
        "每年第一天",
        "每季度第一天",
        "下个月最后一天",
        "七月最后一个周五",
        "每两周的周三",
        "每隔一天",
        "每隔一周",
        "每隔三天",
        "每一周",
        "每一个月",
        "每三个月",
        "每周一次",
        "每一个小时",
        "下一个周五",
        "下一周",
        "一个月后",
        "两周后的周三",
    ] {
        let mut digits = text.to_owned();
        for (numeral, digit) in numerals {
            digits = digits.replace(numeral, &digit.to_string());
        }
        // A weekday has its name.
        let digits = digits.replace("周1次", "周一次").replace("周1", "周一");
        let digits = digits.replace("周3", "周三").replace("周一次", "周1次");
        let read = |text: &str| {
            let found = find_date(text, &wednesday()).expect(text);
            (
                found.at,
                found.repeats,
                found.left_out,
                found.span.end == text.len(),
            )
        };
        let (own, other) = (read(text), read(&digits));
        assert_eq!(
            (own.0, own.1, &own.2),
            (other.0, other.1, &other.2),
            "{digits}"
        );
        assert_eq!(own.3, other.3, "{digits}");
    }
}

#[test]
fn an_impossible_hour_is_refused_or_named_also_behind_an_earlier_number() {
    for text in [
        "task 3 tomorrow at 30:00",
        "task 3 tomorrow at 15am",
        "version 3 tomorrow, 30:00",
        "room 12 today 24:30",
        "pay 3 on Friday at 30:00",
        "task 3 this evening at 26:15",
        "任务3明天30点",
    ] {
        assert_eq!(find_date(text, &wednesday()), None, "{text}");
        assert!(find_impossible(text, &wednesday()).is_some(), "{text}");
    }
    let named = find_date("3pm tomorrow at 30:00", &wednesday()).expect("3pm");
    assert_eq!(named.left_out, ["at 30:00"]);
    assert_all_correct(
        "another hour behind a number",
        &[
            ("task 3 tomorrow at 5pm", "2025-06-12 17:00"),
            ("task 3 tomorrow, 17:00", "2025-06-12 17:00"),
            ("task 3 tomorrow at 8", "2025-06-12 08:00"),
            ("call me at 3 tomorrow", "2025-06-12 15:00"),
            ("every December 3: cake", "2025-12-03"),
        ],
    );
}
