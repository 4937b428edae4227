//! Written forms of times: standards, other programs, durations, zones and hours that do not exist.

use super::super::{find_date, find_dates, find_impossible};
use super::{assert_all_correct, format_found_date, wednesday};

#[test]
fn a_habit_recurs_at_its_shortest_interval() {
    for (text, at) in [
        ("SCHEDULED: <2025-06-02 Mon .+2d/3d>", "2025-06-12"),
        ("<2025-06-02 Mon 09:00 ++1w/10d -2d>", "2025-06-16 09:00"),
    ] {
        let found = find_date(text, &wednesday());
        assert!(found.is_some_and(|found| found.repeats), "{text}");
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn repeated_chinese_offsets_add_up_and_ends_of_other_words_are_none() {
    for (text, at) in [
        ("下下周一", "2025-06-23"),
        ("下下下周一", "2025-06-30"),
        ("下下下个月五号", "2025-09-05"),
        ("上上上周五", "2025-05-23"),
        ("再下下周一", "2025-06-30"),
        ("帮我看一下星期五的天气", "2025-06-13"),
        ("看一下下个月的账单", "2025-07-01"),
        ("线上周五开会", "2025-06-13"),
        ("日本周五放假", "2025-06-13"),
        ("楼下周一见", "2025-06-16"),
        ("网上周六开抢", "2025-06-14"),
        ("手上周五要交的活", "2025-06-13"),
        ("下周一下午三点", "2025-06-16 15:00"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn names_of_days_and_months_and_endings_may_have_a_wrong_letter() {
    let mut wrong = Vec::new();
    for (text, at) in [
        ("call Bob Aug 31sh 11:00pm", "2025-08-31 23:00"),
        ("pay on 31sh August 11pm", "2025-08-31 23:00"),
        ("Sept 3td at 9am", "2025-09-03 09:00"),
        ("Septembr 3 9am", "2025-09-03 09:00"),
        ("Dec 24dh 5pm", "2025-12-24 17:00"),
        ("Tuesdya 5pm", "2025-06-17 17:00"),
        ("firday 5pm", "2025-06-13 17:00"),
        ("on wednsday at 9", "2025-06-18 09:00"),
        ("Zahnarzt 5. Februar 2027, 9:00", "2027-02-05 09:00"),
        ("Rechnung bis 15. Dezember 2026 zahlen", "2026-12-15"),
        ("13. Oktober 2026 18:30", "2026-10-13 18:30"),
        ("Donnerstag, 23. Januar, 2014 14:10 Uhr", "2014-01-23 14:10"),
        ("le 1er octobre 2027 à 9:00", "2027-10-01 09:00"),
        ("3to5 May", "2026-05-03"),
        ("order the 2TB", "-"),
        ("get the 10ft.", "-"),
        ("sell 3kt in May", "2026-05-01"),
        ("eat a sundae", "-"),
        ("Augusta 3", "-"),
    ] {
        let found = format_found_date(text);
        if found != at {
            wrong.push(format!("{text}: {found}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn of_two_chinese_hours_the_first_counts() {
    for (text, at) in [
        ("明天下午两三点开会", "2025-06-12 14:00"),
        ("明天下午一两点", "2025-06-12 13:00"),
        ("明天上午十一二点", "2025-06-12 11:00"),
        ("明天下午七八点", "2025-06-12 19:00"),
        ("明天晚上八九点半", "2025-06-12 20:30"),
        ("今晚九十点", "2025-06-11 21:00"),
        ("周五讨论三四点问题", "2025-06-13"),
        ("涨了七八点", "-"),
        ("他提了两三点建议", "-"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn a_round_number_may_have_an_article() {
    for (text, at) in [
        ("in a hundred days", "2025-09-19"),
        ("in a hundred and five days", "2025-09-24"),
        ("in a thousand days", "2028-03-07"),
        ("in a day", "2025-06-12"),
        ("in a single day", "2025-06-12"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn compact_durations_are_offsets() {
    assert_all_correct(
        "durations",
        &[
            ("in 1h30m", "2025-06-11 11:50"),
            ("in 1h 30m", "2025-06-11 11:50"),
            ("in 2d4h", "2025-06-13 14:20"),
            ("in PT1H30M", "2025-06-11 11:50"),
            ("in P1DT2H", "2025-06-12 12:20"),
            ("in P2W", "2025-06-25"),
            ("in 1.5h", "2025-06-11 11:50"),
            ("in 90m", "2025-06-11 11:50"),
            ("1h30m", "2025-06-11 11:50"),
            ("2d4h", "2025-06-13 14:20"),
            ("PT1H30M", "2025-06-11 11:50"),
            ("1.5h", "2025-06-11 11:50"),
        ],
    );
}

#[test]
fn a_dotted_time_stands_beside_a_day() {
    assert_all_correct(
        "dotted",
        &[
            ("tomorrow 9.30", "2025-06-12 09:30"),
            ("dentist tomorrow 9.30", "2025-06-12 09:30"),
            ("tomorrow 9.30 dentist", "2025-06-12 09:30"),
            ("on Friday, 14.15", "2025-06-13 14:15"),
            ("December 4 9.30", "2025-12-04 09:30"),
            ("明天9.30开会", "2025-06-12 09:30"),
            ("tomorrow 9.30 euros are due", "2025-06-12"),
            ("it costs 9.30", "-"),
            ("version 3.10", "-"),
            ("9.30", "2025-06-11 21:30"),
            ("7.30 tomorrow", "2025-06-12 07:30"),
            ("call Bob at 7.30 tomorrow", "2025-06-12 07:30"),
            ("Treffen um 9.30 tomorrow", "2025-06-12 09:30"),
            ("kl. 14.15 tomorrow", "2025-06-12 14:15"),
            ("breakfast 7.15 in the morning", "2025-06-12 07:15"),
            ("the price is 12.50 tomorrow", "2025-06-12"),
            ("chapter 7.15 tomorrow", "2025-06-12"),
            ("19.00 Friday", "2025-06-13 19:00"),
            ("pages 9.30-10.30 tomorrow", "2025-06-12"),
            ("3.30 明天开会", "2025-06-12 15:30"),
            ("版本3.30 明天发布", "2025-06-12"),
            ("meet Bob in room 14.30 tomorrow", "2025-06-12"),
            ("version 3.10 this evening", "2025-06-11 19:00"),
            ("明天价格12.50", "2025-06-12"),
            ("1.5 km at 7.30 per unit", "-"),
        ],
    );
}

#[test]
fn timestamps_of_standards_and_other_programs_are_read() {
    assert_all_correct(
        "timestamps",
        &[
            ("<2026-12-04 Fri 15:00>", "2026-12-04 15:00"),
            ("<2026-12-04 Fri>", "2026-12-04"),
            (
                "SCHEDULED: <2026-12-04 Fri 15:00-17:00>",
                "2026-12-04 15:00",
            ),
            ("[2026-12-04 Fri 15:00]", "2026-12-04 15:00"),
            ("<2025-06-06 Fri 15:00 +1w>", "2025-06-13 15:00"),
            ("<2025-06-10 Tue .+2d>", "2025-06-12"),
            ("DEADLINE: <2025-06-06 Fri ++1m -3d>", "2025-07-06"),
            ("DEADLINE: <2025-07-03 Thu -3d>", "2025-07-03"),
            ("DEADLINE: <2025-07-03 周四 14:00 --2d>", "2025-07-03 14:00"),
            ("20261204T150000", "2026-12-04 15:00"),
            ("20261204T150000Z", "2026-12-04 17:00"),
            ("DTSTART:20261204T1500Z", "2026-12-04 17:00"),
            ("20261204T150000+0530", "2026-12-04 11:30"),
            ("2026-12-04T15:00:00.123-05:00", "2026-12-04 22:00"),
            ("2026-12-04 15:00:00 +0000", "2026-12-04 17:00"),
            ("2026-12-04 15:00+03:00", "2026-12-04 14:00"),
            ("tomorrow 15:00+02:00", "2025-06-12 15:00"),
            ("tomorrow 15:00 UTC+8", "2025-06-12 09:00"),
            ("tomorrow 3pm EST", "2025-06-12 22:00"),
            ("2026-W49-5", "2026-12-04"),
            ("2026W495 at 9am", "2026-12-04 09:00"),
            ("2026-W53-7", "2027-01-03"),
            ("2026-W49-5T10:00", "2026-12-04 10:00"),
            ("2025-06-11 10:00", "2025-06-11 10:00"),
            ("2025-06-11T10:30", "2025-06-11 10:30"),
            ("<2026-12-04 Fri 15:00-16:00 +1w>", "2026-12-04 15:00"),
            ("<2025-06-04 Wed +1m>", "2025-07-04"),
            ("Fri Dec  4 15:00:00 CET 2026", "2026-12-04 16:00"),
            ("Fri Dec  4 15:00:00 2026 +0000", "2026-12-04 17:00"),
            ("2025-W53-1", "-"),
            ("2026-07-03 14:00:00,250", "2026-07-03 14:00"),
            ("2026-07-03T19:48:10:123", "2026-07-03 19:48"),
            ("2026-07-03T09:00:00[Asia/Tokyo]", "2026-07-03 02:00"),
            ("2026-07-03T09:00:00+09:00[Asia/Tokyo]", "2026-07-03 02:00"),
            ("2026-07-03T09:00:00Z[Europe/London]", "2026-07-03 11:00"),
        ],
    );
    // The warning before a deadline belongs to its timestamp.
    let reading = find_date("DEADLINE: <2025-07-03 Thu -3d> pay", &wednesday()).expect("a date");
    assert_eq!(
        (reading.text.as_str(), reading.repeats),
        ("2025-07-03 Thu -3d", false)
    );
}

#[test]
fn a_named_place_has_its_own_clock() {
    assert_all_correct(
        "places",
        &[
            ("tomorrow 3pm Tokyo time", "2025-06-12 08:00"),
            ("tomorrow at 10:00 Europe/London", "2025-06-12 11:00"),
            ("January 15 at 10:00 America/New_York", "2026-01-15 17:00"),
            ("July 15 at 10:00 America/New_York", "2025-07-15 16:00"),
            ("January 15 at 10:00 New York time", "2026-01-15 17:00"),
            ("tomorrow 9am Pacific time", "2025-06-12 18:00"),
            ("tomorrow at 9am ET", "2025-06-12 15:00"),
            ("tomorrow Tokyo time 3pm", "2025-06-12 08:00"),
            ("tomorrow 3pm (India time)", "2025-06-12 11:30"),
            ("明天东京时间下午3点", "2025-06-12 08:00"),
            ("東京時間明天下午3點", "2025-06-12 08:00"),
            ("明天下午3点（纽约时间）", "2025-06-12 21:00"),
            ("北京时间晚上八点", "2025-06-11 14:00"),
            ("UTC 15:00", "2025-06-11 17:00"),
            ("tomorrow at 9 New York time", "2025-06-12 15:00"),
            ("Asia/Tokyo 10:00 Friday", "2025-06-13 03:00"),
            ("UTC时间明天15:00", "2025-06-12 17:00"),
            ("明天 EST 下午3点开会", "2025-06-12 22:00"),
            ("明天 UTC+9 晚上八点", "2025-06-12 13:00"),
            ("明天15:00 UTC+8", "2025-06-12 09:00"),
            ("it is Tokyo time to shine tomorrow", "2025-06-12"),
            ("Kathmandu time tomorrow at 6pm", "2025-06-12 14:15"),
            ("明天上午10点加德满都时间", "2025-06-12 06:15"),
            ("内罗毕时间明天下午3点", "2025-06-12 14:00"),
        ],
    );
}

#[test]
fn an_hour_that_no_clock_shows_is_no_time_and_named() {
    for (text, part) in [
        ("25:00", "25:00"),
        ("tomorrow at 25:00", "25:00"),
        ("15am", "15am"),
        ("tomorrow 15 am", "15 am"),
        ("meet at 13pm on Friday", "13pm"),
        ("24:30", "24:30"),
        ("10:75 tomorrow", "10:75"),
        ("Friday 9:00-25:00", "25:00"),
        ("明天25点", "25点"),
        ("明天25:00", "25:00"),
        ("明天24点30分", "24点30分"),
        ("on February 30 at 3pm", "on February 30 at 3pm"),
        (
            "on February 30 we meet at 3pm",
            "on February 30 we meet at 3pm",
        ),
        ("2月30日下午3点", "2月30日下午3点"),
        ("上午15点", "上午15点"),
        ("the 32nd of June", "the 32nd of June"),
        ("明天9点75分", "9点75分"),
        ("下午3点60分", "3点60分"),
        ("上午九点八十分", "九点八十分"),
        ("明天9点30分75秒", "9点30分75秒"),
        ("六月三十二日", "六月三十二日"),
        ("6月45号上午9点", "6月45号上午9点"),
        ("十三月五日", "十三月五日"),
        ("2026年13月5日", "2026年13月5日"),
        ("下个月三十五号", "下个月三十五号"),
        ("tonight at 8am", "tonight at 8am"),
        ("this evening at 6am", "this evening at 6am"),
        ("Monday evening at 3am", "Monday evening at 3am"),
        ("tomorrow night at 7am", "tomorrow night at 7am"),
        ("今晚早上八点", "早上八点"),
        ("明天晚上上午九点", "上午九点"),
        ("明天早上下午三点", "下午三点"),
    ] {
        let found = find_dates(text, &wednesday());
        assert!(found.is_empty(), "{text}: {found:?}");
        let why = find_impossible(text, &wednesday()).map(|why| why.to_string());
        assert!(
            why.as_ref().is_some_and(
                |why| why.starts_with(&format!("{:?} is not", part.trim_start_matches("on ")))
            ),
            "{text}: {why:?}"
        );
    }
    for text in ["24:00", "tomorrow at 12am", "Anna likes tea", "明天24点"] {
        assert_eq!(find_impossible(text, &wednesday()), None, "{text}");
    }
}

#[test]
fn digits_in_the_form_of_a_moment_are_one_or_named() {
    for (text, part) in [
        ("20261303T1400", "20261303T1400"),
        ("20261332T1200", "20261332T1200"),
        ("20260703T2561", "2561"),
        ("20260703T1475", "1475"),
        ("20260703T146075Z", "146075"),
        ("20260703T25", "25"),
        ("2026-07-03T25:61Z", "25:61"),
        ("2026-07-03T10:75+02:00", "10:75"),
        ("2026-13-03T14:00", "2026-13-03T14:00"),
        ("2026-13-03 14:00", "2026-13-03 14:00"),
        ("2026-07-32 at 10:00", "2026-07-32 at 10:00"),
        ("call Anna on 2026-02-30 at 9", "2026-02-30 at 9"),
    ] {
        let found = find_dates(text, &wednesday());
        assert!(found.is_empty(), "{text}: {found:?}");
        let why = find_impossible(text, &wednesday()).map(|why| why.to_string());
        assert!(
            why.as_ref().is_some_and(|why| why.contains(part)),
            "{text}: {why:?}"
        );
    }
    for (text, at) in [
        ("20260703T1430Z", "2026-07-03 16:30"),
        ("20260703T143000", "2026-07-03 14:30"),
        ("20260703", "2026-07-03"),
        ("ticket 20269999 tomorrow", "2025-06-12"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
    }
}

#[test]
fn lunar_dates_and_their_holidays_follow_the_calendar() {
    assert_all_correct(
        "lunar",
        &[
            ("春节", "2026-02-17"),
            ("除夕", "2026-02-16"),
            ("除夕夜", "2026-02-16"),
            ("元宵节", "2026-03-03"),
            ("端午节", "2026-06-19"),
            ("2025年端午节", "2025-05-31"),
            ("七夕", "2025-08-29"),
            ("中秋节", "2025-10-06"),
            ("重阳节", "2025-10-29"),
            ("腊八节", "2026-01-26"),
            ("大年初三", "2026-02-19"),
            ("大年三十", "2026-02-16"),
            ("农历八月十五", "2025-10-06"),
            ("農曆正月初一", "2026-02-17"),
            ("阴历三月三日", "2026-04-19"),
            ("农历闰六月初一", "2025-07-25"),
            ("腊月二十三", "2026-02-10"),
            ("正月十五", "2026-03-03"),
            ("Chinese New Year", "2026-02-17"),
            ("Lunar New Year 2027", "2027-02-06"),
            ("Chinese New Year's Eve", "2026-02-16"),
            ("the Mid-Autumn Festival", "2025-10-06"),
            ("Dragon Boat Festival", "2026-06-19"),
            ("Lantern Festival", "2026-03-03"),
        ],
    );
    assert!(find_date("2101年春节", &wednesday()).is_none());
}
