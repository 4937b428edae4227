//! Adjacent parts of one expression, which are combined or named as left out.

use super::super::{find_date, find_dates};
use super::{assert_all_correct, format_found_date, format_range, wednesday};

#[test]
fn a_period_and_the_day_in_it_are_one_day() {
    assert_all_correct(
        "within a period",
        &[
            ("next month on the 3rd", "2025-07-03"),
            ("next month, the 15th at noon", "2025-07-15 12:00"),
            ("next year on November 20", "2026-11-20"),
            ("November 20 next year", "2026-11-20"),
            ("next year, on the first Monday of May", "2026-05-04"),
            ("this month on the 20th", "2025-06-20"),
            ("in December, on the 15th", "2025-12-15"),
            ("in 2027 on March 3", "2027-03-03"),
            ("next week on Tuesday at 3pm", "2025-06-17 15:00"),
            ("next year at Easter", "2026-04-05"),
            ("next month on the first Monday", "2025-07-07"),
            ("下个月，15号", "2025-07-15"),
            ("下个月，第一个周一", "2025-07-07"),
            ("明年，3月5日", "2026-03-05"),
            ("下周，周三下午3点", "2025-06-18 15:00"),
            ("明年春节", "2026-02-17"),
        ],
    );
}

#[test]
fn a_day_and_its_weekday_or_date_are_one_day_with_their_time() {
    assert_all_correct(
        "confirmed",
        &[
            ("today Wednesday at 3pm", "2025-06-11 15:00"),
            ("tomorrow Thursday at 8", "2025-06-12 08:00"),
            ("tomorrow Thu 4pm", "2025-06-12 16:00"),
            ("Thu tomorrow 4pm", "2025-06-12 16:00"),
            ("in two days, Friday, at 5pm", "2025-06-13 17:00"),
            (
                "the day after tomorrow, Friday, at noon",
                "2025-06-13 12:00",
            ),
            ("in two months on the 15th at 9", "2025-08-15 09:00"),
            ("in two months on the first Monday", "2025-08-04"),
            ("first monday in 2 months", "2025-08-04"),
            ("the last Friday in three months at 4pm", "2025-09-26 16:00"),
            ("last Monday June 2", "2025-06-02"),
            ("next Monday the 16th", "2025-06-16"),
            ("next Monday the 18th", "2025-06-18"),
            ("3rd of Aug, '27", "2027-08-03"),
            ("drink water hourly", "2025-06-11 11:20"),
            ("remind me weekly to call Anna", "2025-06-18"),
            ("the daily report", "-"),
            ("两个月后的3号上午九点", "2025-08-03 09:00"),
            ("in two weeks on Friday at 9", "2025-06-27 09:00"),
            ("remind me tomorrow of Friday's meeting", "2025-06-12"),
            ("the weekend after next", "2025-06-28"),
            ("the quarter after next", "2025-10-01"),
        ],
    );
}

#[test]
fn a_month_with_last_this_or_next_is_the_one_beside_the_current_month() {
    assert_all_correct(
        "beside",
        &[
            ("last October", "2024-10-01"),
            ("last May", "2025-05-01"),
            ("the garden in last June was dry", "2024-06-01"),
            ("since last March", "2025-03-01"),
            ("renew the passport next October", "2025-10-01"),
            ("remind me next March to renew", "2026-03-01"),
            ("next June", "2026-06-01"),
            ("this October", "2025-10-01"),
            ("this March", "2025-03-01"),
            ("last June 5", "2025-06-05"),
            ("last 12 December", "2024-12-12"),
            ("last June 12, 2027", "2027-06-12"),
            ("next January 5th at 3pm", "2026-01-05 15:00"),
            ("the following May 3", "2026-05-03"),
            ("the first Monday of next October", "2025-10-06"),
            ("the end of last October", "2024-10-31"),
            ("the 20th of next May", "2026-05-20"),
            ("this may help", "-"),
            ("the next march is longer", "-"),
            ("this may not be late", "-"),
        ],
    );
}

#[test]
fn hours_of_a_list_are_on_the_same_day_and_clock() {
    for (text, expected) in [
        (
            "pills tomorrow at 8 and 8.30",
            ["2025-06-12 08:00", "2025-06-12 08:30"],
        ),
        ("at 8 and 20", ["2025-06-12 08:00", "2025-06-11 20:00"]),
        (
            "Friday at 8 and 9pm",
            ["2025-06-13 20:00", "2025-06-13 21:00"],
        ),
        (
            "Friday at 11am and 2",
            ["2025-06-13 11:00", "2025-06-13 14:00"],
        ),
        (
            "9am and 3pm on Friday",
            ["2025-06-13 09:00", "2025-06-13 15:00"],
        ),
        (
            "tomorrow evening at 8 and 9",
            ["2025-06-12 20:00", "2025-06-12 21:00"],
        ),
        (
            "every day at 8am and 8pm",
            ["2025-06-12 08:00", "2025-06-11 20:00"],
        ),
        (
            "pills at 8.30 and 9.15 tomorrow",
            ["2025-06-12 08:30", "2025-06-12 09:15"],
        ),
        ("8 and 20 today", ["2025-06-11 08:00", "2025-06-11 20:00"]),
        (
            "8 and 9pm tomorrow",
            ["2025-06-12 20:00", "2025-06-12 21:00"],
        ),
        (
            "9.15 & 10 tomorrow",
            ["2025-06-12 09:15", "2025-06-12 10:00"],
        ),
        (
            "明天8点和20点吃药",
            ["2025-06-12 08:00", "2025-06-12 20:00"],
        ),
        (
            "明天早上8点和晚上9点",
            ["2025-06-12 08:00", "2025-06-12 21:00"],
        ),
    ] {
        let found: Vec<_> = find_dates(text, &wednesday())
            .iter()
            .map(super::format_mention)
            .collect();
        assert_eq!(found, expected, "{text}");
    }
    let found = find_dates("tomorrow at 7am, noon and 6pm", &wednesday());
    let hours: Vec<_> = found.iter().map(super::format_mention).collect();
    let expected = ["2025-06-12 07:00", "2025-06-12 12:00", "2025-06-12 18:00"];
    assert_eq!(hours, expected);
    let found = find_dates("pills at 7.30, 12 and 18.30 tomorrow", &wednesday());
    let hours: Vec<_> = found.iter().map(super::format_mention).collect();
    let expected = ["2025-06-12 07:30", "2025-06-12 12:00", "2025-06-12 18:30"];
    assert_eq!(hours, expected);
    for text in [
        "chapters 5 and 6 next week",
        "tomorrow at 9, 3 eggs",
        "tomorrow at 3pm and 5 people come",
        "at 8, 12 and 18 every day",
    ] {
        assert_eq!(find_dates(text, &wednesday()).len(), 1, "{text}");
    }
}

#[test]
fn dates_of_a_list_are_in_the_same_month_and_year_at_the_same_time() {
    for (text, expected) in [
        (
            "on December 9 and 10 at 8am",
            &["2025-12-09 08:00", "2025-12-10 08:00"][..],
        ),
        (
            "the 19th and 20th of December",
            &["2025-12-19", "2025-12-20"],
        ),
        (
            "the 18th, 19th and 20th of December at noon",
            &["2025-12-18 12:00", "2025-12-19 12:00", "2025-12-20 12:00"],
        ),
        ("June 19 and 20, 2027", &["2027-06-19", "2027-06-20"]),
        ("3 May 2027 and 5 June", &["2027-05-03", "2027-06-05"]),
        ("12月3日和5日", &["2025-12-03", "2025-12-05"]),
        (
            "12月3日、5日上午9点",
            &["2025-12-03 09:00", "2025-12-05 09:00"],
        ),
        ("June 19 and 20 friends come", &["2025-06-19"]),
        ("19 and 20 June", &["2025-06-19", "2025-06-20"]),
        (
            "closed 18, 19 and 20 June at 8pm",
            &["2025-06-18 20:00", "2025-06-19 20:00", "2025-06-20 20:00"],
        ),
        ("19 or 20 December 2026", &["2026-12-19", "2026-12-20"]),
        (
            "the 18, 19, and 20 of June",
            &["2025-06-18", "2025-06-19", "2025-06-20"],
        ),
        (
            "June 18, 19 and 20",
            &["2025-06-18", "2025-06-19", "2025-06-20"],
        ),
        (
            "June 18, 19, 20 or 21",
            &["2025-06-18", "2025-06-19", "2025-06-20", "2025-06-21"],
        ),
        (
            "June 18, 19 or 20 at noon",
            &["2025-06-18 12:00", "2025-06-19 12:00", "2025-06-20 12:00"],
        ),
        (
            "June 18, 19, 20 or 21 at noon",
            &[
                "2025-06-18 12:00",
                "2025-06-19 12:00",
                "2025-06-20 12:00",
                "2025-06-21 12:00",
            ],
        ),
        (
            "December 30, 31 and January 2, 2027",
            &["2026-12-30", "2026-12-31", "2027-01-02"],
        ),
        ("6月18、19日", &["2025-06-18", "2025-06-19"]),
        (
            "6月18、19和20日晚上8点",
            &["2025-06-18 20:00", "2025-06-19 20:00", "2025-06-20 20:00"],
        ),
        ("6月18日和20个人", &["2025-06-18"]),
        ("June 18, 10 o'clock", &["2025-06-18 10:00"]),
        ("June 18, 19 and 20 friends come", &["2025-06-18 19:00"]),
        ("room 5, 19 June", &["2025-06-19"]),
    ] {
        let found: Vec<_> = find_dates(text, &wednesday())
            .iter()
            .map(super::format_mention)
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn the_new_date_of_an_appointment_is_near_its_old_one() {
    assert_all_correct(
        "moved",
        &[
            ("The demo was moved from 3 May 2027 to 10 May", "2027-05-10"),
            ("The demo was moved from June 20 to 25", "2025-06-25"),
            ("The demo moved Mon -> Thu", "2025-06-12"),
            ("demo moved: 3 May 2027 → 10 May, 9am", "2027-05-10 09:00"),
            ("the demo, moved Monday to Tuesday", "2025-06-17"),
            ("评审改期：周一→周四", "2025-06-12"),
            ("Rome 20 June -> 25 June", "2025-06-20"),
            (
                "The call was moved from 3pm to 5 tomorrow",
                "2025-06-12 17:00",
            ),
            ("moved from 28 December 2026 to 4 January", "2027-01-04"),
            (
                "The call was moved from June 20 at 3pm to 4pm",
                "2025-06-20 16:00",
            ),
            (
                "The party is no longer on June 20 but on June 27",
                "2025-06-27",
            ),
            ("会议从2027年5月3日改到5月10日", "2027-05-10"),
            ("会议从5月3日改到10日", "2026-05-10"),
            ("会议从下周一改到周四", "2025-06-19"),
        ],
    );
}

#[test]
fn the_time_after_a_list_of_weekdays_is_the_time_of_each() {
    for text in [
        "Tuesday, Thursday and Saturday at 7pm",
        "Tue/Thu/Sat 7pm",
        "Tue, Thu & Sat at 7pm",
        "周二、周四、周六晚上七点",
    ] {
        let found: Vec<_> = find_dates(text, &wednesday())
            .iter()
            .map(super::format_mention)
            .collect();
        let days = ["2025-06-17 19:00", "2025-06-12 19:00", "2025-06-14 19:00"];
        assert_eq!(found, days, "{text}");
    }
}

#[test]
fn a_weekday_that_contradicts_its_date_is_reported() {
    for text in [
        "Tuesday, December 5 2025",
        "Tuesday 2025-12-05",
        "2025-12-05, Tuesday",
        "<2025-12-05 Tue 15:00>",
        "Tuesday the 5th of December 2025",
        "2025年12月5日星期二",
        "12月5日（周二）",
        "星期二, 12月5日",
    ] {
        let reading = find_date(text, &wednesday()).expect(text);
        assert_eq!(reading.at.date_naive().to_string(), "2025-12-05", "{text}");
        let assumed = reading.assumed.unwrap_or_default();
        assert!(
            assumed.contains("2025-12-05 is a Friday, not a Tuesday"),
            "{text}: {assumed}"
        );
    }
    for text in [
        "Friday, December 5 2025",
        "2025-12-05 (Fri)",
        "2025年12月5日星期五",
    ] {
        assert_eq!(
            find_date(text, &wednesday()).and_then(|reading| reading.assumed),
            None,
            "{text}"
        );
    }
}

#[test]
fn amounts_of_time_are_counted_from_times_and_holidays() {
    for (text, at) in [
        ("two hours past midnight", "2025-06-12 02:00"),
        ("half an hour past noon", "2025-06-11 12:30"),
        ("an hour before Christmas", "2025-12-24 23:00"),
        ("30 minutes past Easter", "2026-04-05 00:30"),
        ("two hours before Friday", "2025-06-13"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn abbreviated_words_for_days_are_read_like_whole_words() {
    for (short, whole) in [
        ("Wkdy 3:00PM", "weekday 3:00PM"),
        ("every wkday at 9", "every weekday at 9"),
        ("wkdays at 7am", "weekdays at 7am"),
        ("this wknd", "this weekend"),
    ] {
        assert_ne!(format_found_date(short), "-", "{short}");
        assert_eq!(
            find_date(short, &wednesday()).map(|found| (found.at, found.repeats)),
            find_date(whole, &wednesday()).map(|found| (found.at, found.repeats)),
            "{short}"
        );
    }
}

#[test]
fn words_of_time_that_no_mention_includes_are_named() {
    for (text, left_out) in [
        ("daily, tomorrow at 3pm", "daily"),
        ("tomorrow at 3pm on weekend", "on weekend"),
        ("10am Narnia time tomorrow", "Narnia time"),
        ("tomorrow at 6pm Zürich time", "Zürich time"),
        ("明天上午10点纳尼亚时间", "纳尼亚时间"),
        ("every Monday at 9 and 14", "and 14"),
        ("every Monday at 9, 14 and 18", "14 and 18"),
        ("every Monday for 5 weeks", "for 5 weeks"),
        ("every day at 7am, 3 times", "3 times"),
        ("每周一上午九点，持续五周", "持续五周"),
        ("每个月5号，连续三个月", "连续三个月"),
        ("九月三日至五日上午", "上午"),
        ("每天早晚八点", "早"),
        ("July 5 to 1", "to 1"),
        ("dentist 9.30 tomorrow", "9.30"),
        ("ten quarters after 03:01:10am", "ten quarters after"),
        ("three months before 5pm", "three months before"),
        ("16 Feb 2018 09:59 AM BdST", "BdST"),
        ("tomorrow 14:00 NPT, the call", "NPT"),
        ("the call is tomorrow at 9:00 (BRT)", "BRT"),
        ("tomorrow at 9 BRT", "BRT"),
        ("standup tomorrow EST", "EST"),
        ("2026-12-24 EST", "EST"),
        ("every day UTC+9", "UTC+9"),
        ("by Friday Europe/Berlin", "Europe/Berlin"),
        ("Donnerstag, 23. März, 2014 14:10 Uhr", "23. März, 2014"),
        ("mardi 3 février 2015 à 08:00", "3 février 2015"),
        ("18 октября 2016 г. в 17:57", "18 октября 2016"),
        ("13 de maio de 2016, 14:10", "13 de maio de 2016"),
        ("14:10 Uhr, 23. März 2014", "23. März 2014"),
        ("Январь 23, 2014 14:10", "Январь 23, 2014"),
        ("<2019-04-22 Mon 17:00 .+10h>", "10h"),
        ("<2025-07-10 Thu 10:00 ++6h -2d>", "6h"),
    ] {
        let reading = find_date(text, &wednesday()).expect(text);
        assert_eq!(reading.left_out, [left_out], "{text}");
        assert!(
            reading
                .assumed
                .is_some_and(|assumed| assumed.contains(left_out)),
            "{text}"
        );
    }
    for text in [
        "tomorrow at 3pm",
        "buy 3 eggs tomorrow",
        "moved from Tuesday to Thursday",
        "call Anna on Friday about the daily report",
        "tomorrow at 3pm and on Friday",
        "at 9 and 2 friends come along tomorrow",
        "call 5 or 6 people tomorrow at 3",
        "on Friday at noon we talk about the next time",
        "每两周一次",
        "tomorrow 14:00 CET",
        "tomorrow 14:00 IT meeting",
        "tomorrow 14:00 VAT return",
        "on Friday ART class",
        "on Friday BST/GMT switch",
        "yesterday met Anna",
        "buy 3 NFT tomorrow",
        "tomorrow 14:00 Text the team",
        "call 3 people in Paris at 14:00",
        "<2025-07-10 Thu 10:00 +1w -2d>",
    ] {
        let reading = find_date(text, &wednesday()).expect(text);
        assert!(
            reading.left_out.is_empty(),
            "{text}: {:?}",
            reading.left_out
        );
    }
}

#[test]
fn week_behind_a_day_is_a_week_from_that_day() {
    for (text, at) in [
        ("tomorrow week", "2025-06-19"),
        ("today week", "2025-06-18"),
        ("yesterday week", "2025-06-03"),
        ("call mum tomorrow week at 5pm", "2025-06-19 17:00"),
        ("tomorrow fortnight", "2025-06-26"),
        ("Friday week", "2025-06-20"),
        ("on Friday fortnight at 9am", "2025-06-27 09:00"),
        ("a week tmr", "2025-06-19"),
        ("a week yesterday", "2025-06-03"),
        ("two weeks yesterday", "2025-05-27"),
        ("a week ago yesterday", "2025-06-03"),
        ("a week ago today", "2025-06-04"),
        ("a week from yesterday", "2025-06-17"),
        ("two hours ago", "2025-06-11 08:20"),
        ("tomorrow week-long workshop", "2025-06-12"),
        ("tomorrow week 5 starts", "2025-06-12"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn the_start_and_the_end_of_a_day_are_times_on_either_side_of_it() {
    for (text, at) in [
        ("start of day tomorrow", "2025-06-12 00:00"),
        ("tomorrow, start of day", "2025-06-12 00:00"),
        ("beginning of the day on Friday", "2025-06-13 00:00"),
        ("start of tomorrow", "2025-06-12 00:00"),
        ("middle of the day tomorrow", "2025-06-12 12:00"),
        ("end of day tomorrow", "2025-06-12 23:59"),
        ("tomorrow end of day", "2025-06-12 23:59"),
        ("end-of-day July 5", "2025-07-05 23:59"),
        ("on July 5 by the end of the day", "2025-07-05 23:59"),
        ("eod on the 20th", "2025-06-20 23:59"),
        ("tomorrow by close of business", "2025-06-12 17:00"),
        ("every Friday at the end of the day", "2025-06-13 23:59"),
        ("by end of day", "2025-06-11 23:59"),
        ("the start of the day is quiet", "-"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
        assert!(find_dates(text, &wednesday()).len() <= 1, "{text}");
    }
}

#[test]
fn midnight_beside_a_day_is_its_start_in_every_order() {
    for text in [
        "12:00 midnight November 15",
        "12:00 MIDNIGHT on NOVEMBER 15, 2025",
        "midnight November 15",
        "November 15 midnight",
        "November 15 at 12:00 midnight",
        "12 o'clock midnight on November 15",
        "at 12 midnight on November 15",
        "midnight 12:00 November 15",
        "12:00 AM November 15",
    ] {
        assert_eq!(format_found_date(text), "2025-11-15 00:00", "{text}");
        assert_eq!(find_dates(text, &wednesday()).len(), 1, "{text}");
    }
    for (text, at) in [
        ("tomorrow at 12:30 midnight", "2025-06-12 00:30"),
        ("one o'clock midnight tomorrow", "2025-06-12 01:00"),
        // The midnight of a night is its end.
        ("tonight at 12:00 midnight", "2025-06-12 00:00"),
        ("12:00 midnight", "2025-06-12 00:00"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn a_digit_names_a_weekday_behind_the_number_of_a_week() {
    for (text, at) in [
        ("这个月第1个星期1", "2025-06-02"),
        ("下个月第一个星期1", "2025-07-07"),
        ("下个月第1个周1", "2025-07-07"),
        ("下个月第2个星期3", "2025-07-09"),
        ("7月第1个礼拜3上午9点", "2025-07-02 09:00"),
        ("2026年3月第2个周7", "2026-03-08"),
        ("每月第1个星期1", "2025-07-07"),
        ("下周3", "2025-06-18"),
        ("下周3点", "2025-06-16 15:00"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
    assert_eq!(
        format_range("7月第1周1号"),
        "2025-07-01 to 2025-07-07 00:00"
    );
}

#[test]
fn a_year_with_its_character_is_read_behind_every_sign() {
    for (text, at) in [
        ("Hi，all.2028年11月5日", "2028-11-05"),
        ("开会。2028年11月5日", "2028-11-05"),
        ("开会；2028年11月5日", "2028-11-05"),
        ("v2.2024年3月8日", "2024-03-08"),
        ("1.2024年3月8日开会", "2024-03-08"),
        ("a-2024年3月8日", "2024-03-08"),
        ("v2.二零二四年3月8日", "2024-03-08"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
    assert_eq!(
        format_range("Hi，all.2028年11月第三周"),
        "2028-11-15 to 2028-11-21 00:00"
    );
}

#[test]
fn an_amount_behind_a_time_is_added_to_it_or_named_as_left_out() {
    let mut wrong = Vec::new();
    for (text, at) in [
        ("Fourth Thursday in November 2013 +1 day", "2013-11-29"),
        ("today + 3 weeks", "2025-07-02"),
        ("today+3 days", "2025-06-14"),
        ("now + 2h", "2025-06-11 12:20"),
        ("now + 2 days", "2025-06-13 10:20"),
        ("now + 2 hours + 30 minutes", "2025-06-11 12:50"),
        ("now plus 1 day and 2 hours", "2025-06-12 12:20"),
        ("today + 3 hours", "2025-06-11 13:20"),
        ("tomorrow + 2 hours", "2025-06-12 12:20"),
        ("tomorrow morning + 2 hours", "2025-06-12 11:00"),
        ("3pm + 30 minutes", "2025-06-11 15:30"),
        ("tomorrow at 15:00 + 2 days", "2025-06-14 15:00"),
        ("tomorrow at 15:00 + 1 day and 2 hours", "2025-06-13 17:00"),
        ("2025-07-10 - 3 days", "2025-07-07"),
        ("2025-07-10 \u{2212} 3 days", "2025-07-07"),
        ("2025-07-10 14:00 +90 minutes", "2025-07-10 15:30"),
        ("july 10 + 1 week", "2025-07-17"),
        ("july 10 + 1 week at 9am", "2025-07-17 09:00"),
        ("friday plus 6 days", "2025-06-19"),
        ("friday minus two days", "2025-06-11"),
        ("next month + 1 week", "2025-07-08"),
        ("christmas + 2 business days", "2025-12-29"),
        ("renew the passport july 10 + 2 weeks please", "2025-07-24"),
        ("tomorrow at 9 + 30 minutes", "2025-06-12 09:30"),
        ("明天 + 3天", "2025-06-15"),
        ("明天下午3点 + 2小时", "2025-06-12 17:00"),
        ("3pm +02:00", "2025-06-11 15:00"),
    ] {
        let found = find_dates(text, &wednesday());
        let is_whole = found.len() == 1 && found[0].left_out.is_empty();
        if format_found_date(text) != at || !is_whole {
            wrong.push((text, at, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        format_range("2-4pm + 1 hour"),
        "2025-06-11 14:00 to 2025-06-11 17:00"
    );
    let assumed = |text: &str| find_date(text, &wednesday()).and_then(|found| found.assumed);
    assert_eq!(
        assumed("tomorrow + 2 hours").as_deref(),
        Some("No time of day is given; the hours are counted from 10:20.")
    );
    assert_eq!(assumed("july 10 at 9am + 2 hours"), None);
    for (text, at, left_out) in [
        ("every friday + 6 days", "2025-06-13", "6 days"),
        (
            "every day at 9 + 30 minutes",
            "2025-06-12 09:00",
            "30 minutes",
        ),
        ("july 10 to 12 + 1 day", "2025-07-10", "1 day"),
        ("july 10 (+1 week)", "2025-07-10", "1 week"),
        ("friday - 2 hours of work", "2025-06-13", "2 hours"),
        (
            "2025-07-10 plus 3 days of rest",
            "2025-07-10",
            "plus 3 days",
        ),
        ("<2025-07-10 15:00 +1h>", "2025-07-10 15:00", "1h"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
        let found = find_dates(text, &wednesday());
        assert_eq!(found[0].left_out, [left_out], "{text}");
    }
}

#[test]
fn a_weekday_ago_is_the_last_one_and_another_ago_is_named() {
    assert_eq!(format_found_date("friday ago"), "2025-06-06");
    assert_eq!(format_found_date("we met monday ago"), "2025-06-09");
    assert_eq!(format_found_date("3 fridays ago"), "2025-05-23");
    for text in ["july 10 ago", "tomorrow ago"] {
        let found = find_dates(text, &wednesday());
        assert_eq!(found[0].left_out, ["ago"], "{text}");
    }
}
