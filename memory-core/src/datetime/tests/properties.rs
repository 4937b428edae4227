//! What holds for every text, at every moment, in every zone.

use chrono::{DateTime, Datelike, FixedOffset};
use proptest::prelude::*;

use super::super::{DatePrecision, TimeRelation, find_date, find_dates};

/// Words, numbers and signs of both grammars, among others that are none of theirs.
const PIECES: &[&str] = &[
    "in",
    "on",
    "at",
    "the",
    "a",
    "next",
    "last",
    "this",
    "by",
    "of",
    "end",
    "after",
    "before",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "years",
    "hours",
    "minutes",
    "ago",
    "from",
    "now",
    "tomorrow",
    "tonight",
    "friday",
    "sun",
    "may",
    "march",
    "3rd",
    "31st",
    "first",
    "second",
    "half",
    "past",
    "quarter",
    "to",
    "noon",
    "midnight",
    "pm",
    "a.m.",
    "o'clock",
    "thanksgiving",
    "easter",
    "new",
    "year's",
    "eve",
    "every",
    "other",
    "weekday",
    "until",
    "Tokyo time",
    "Europe/Berlin",
    "25:00",
    "PT1H30M",
    "2d4h",
    "+1w>",
    "<2024-12-31 Tue",
    "2024-W53-5",
    "工作日",
    "春节",
    "到",
    "morning",
    "evening",
    "weekend",
    "business",
    "999999999999",
    "0",
    "1",
    "3",
    "12",
    "13",
    "24",
    "29",
    "30",
    "31",
    "60",
    "99",
    "330",
    "2024",
    "2025",
    "9999",
    "10000",
    "0.5",
    "1/2",
    "3:30",
    "24:00",
    "23:59:59",
    "12/31",
    "2/29/2023",
    "2024-02-30",
    "2024-12-31",
    "2024-12-31T23:30:00+15:00",
    "31.12.9999",
    "thousand",
    "hundred",
    "twenty",
    "CET",
    "UTC+14",
    "GMT-12",
    ",",
    ".",
    "-",
    "/",
    ":",
    "(",
    ")",
    "\n",
    "\n\n",
    "today",
    "yesterday",
    "later",
    "hence",
    "couple",
    "明天",
    "后天",
    "大后天",
    "下",
    "上",
    "个",
    "月",
    "周",
    "星期",
    "三",
    "十",
    "廿",
    "半",
    "点",
    "點",
    "分",
    "刻",
    "年",
    "日",
    "号",
    "底",
    "初",
    "前",
    "后",
    "之",
    "内",
    "天",
    "小时",
    "分钟",
    "下午",
    "晚上",
    "凌晨",
    "零",
    "两",
    "每",
    "第",
    "最后",
    "一",
    "国庆节",
    "清明",
    "复活节",
    "再过",
    "的",
    "农历",
    "差",
    "百",
    "千",
    "千千千千千千",
    "99999999",
    "é",
    "ß",
    "\u{200b}",
    "İ",
    "𝟛",
    "३",
    "３",
    "：",
    "。",
];

fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(
        (prop::sample::select(PIECES), prop::bool::weighted(0.7)),
        0..24,
    );
    let of_pieces = pieces.prop_map(|pieces| {
        pieces
            .into_iter()
            .fold(String::new(), |text, (piece, blank)| {
                text + piece + if blank { " " } else { "" }
            })
    });
    prop_oneof![4 => of_pieces, 1 => any::<String>(), 1 => "[ -~]{0,60}", 1 => "[0-9:/.\\-, apm]{0,40}"]
}

fn moments() -> impl Strategy<Value = DateTime<FixedOffset>> {
    let last = crate::MAX_TIME.timestamp();
    (0..=last, -23 * 3600..=23 * 3600_i32).prop_map(|(seconds, offset)| {
        let utc = DateTime::from_timestamp(seconds, 0).expect("these years have moments");
        utc.with_timezone(&FixedOffset::east_opt(offset).expect("less than a day is an offset"))
    })
}

proptest! {
    #[test]
    fn every_reading_stands_where_it_says_and_lies_where_it_says(text in texts(), now in moments()) {
        let mut end = 0;
        for reading in find_dates(&text, &now) {
            prop_assert_eq!(&text[reading.span.clone()], &reading.text);
            prop_assert!(end <= reading.span.start && reading.span.start < reading.span.end);
            end = reading.span.end;
            prop_assert!((1..=9999).contains(&reading.at.year()));
            let order = match reading.kind {
                DatePrecision::Date => reading.at.date_naive().cmp(&now.date_naive()),
                DatePrecision::Time | DatePrecision::DateTime => reading.at.cmp(&now),
            };
            let expected = match order {
                std::cmp::Ordering::Less => TimeRelation::Past,
                std::cmp::Ordering::Equal => TimeRelation::Present,
                std::cmp::Ordering::Greater => TimeRelation::Future,
            };
            prop_assert_eq!(reading.relation, expected, "{:?}", reading);
            prop_assert!(reading.end.is_none_or(|end| reading.at < end), "{:?}", reading);
            prop_assert!(
                !reading.repeats || reading.relation == TimeRelation::Future,
                "{:?}",
                reading
            );
        }
    }

    #[test]
    fn the_chosen_reading_is_one_of_the_readings_and_to_come_where_any_is(text in texts(), now in moments()) {
        let all = find_dates(&text, &now);
        let chosen = find_date(&text, &now);
        prop_assert_eq!(chosen.is_some(), !all.is_empty());
        if let Some(chosen) = chosen {
            prop_assert!(all.contains(&chosen));
            prop_assert!(all.iter().all(|reading| reading.relation <= chosen.relation));
        }
    }

    #[test]
    fn a_time_alone_is_never_over(hour in 0..24_u32, minute in 0..60_u32, now in moments()) {
        for text in [format!("{hour}:{minute:02}"), format!("see you at {hour:02}:{minute:02}"), format!("{hour}点{minute:02}分")] {
            if let Some(reading) = find_date(&text, &now) {
                prop_assert_eq!((reading.kind, reading.relation), (DatePrecision::Time, TimeRelation::Future), "{}", text);
                prop_assert!(reading.at - now <= chrono::TimeDelta::days(1));
            }
        }
    }

    #[test]
    fn a_date_in_digits_is_that_date(days in 0..2_932_000_i32, now in moments()) {
        let date = chrono::NaiveDate::from_num_days_from_ce_opt(days + 720_000).filter(|date| date.year() <= 9999);
        if let Some(date) = date {
            let words = date.format("%B %-d, %Y").to_string();
            let chinese = date.format("%Y年%-m月%-d日").to_string();
            for text in [date.to_string(), words, chinese, date.format("%-d %b %Y").to_string()] {
                let read = find_date(&text, &now).map(|reading| (reading.kind, reading.at.date_naive()));
                prop_assert_eq!(read, Some((DatePrecision::Date, date)), "{}", text);
            }
        }
    }
}
