//! Adjacent parts of one expression, which are combined or named as left out.

use super::super::{find_date, find_dates};
use super::{assert_all_correct, format_found_date, wednesday};

/// Returns what a text means, with the end of its range.
pub(super) fn format_range(text: &str) -> String {
    let end = find_date(text, &wednesday()).and_then(|reading| reading.end);
    let end = end.map_or_else(
        || "-".to_owned(),
        |end| end.format("%Y-%m-%d %H:%M").to_string(),
    );
    format!("{} to {end}", format_found_date(text))
}

#[test]
fn a_weekday_of_a_month_is_the_first_one_and_the_assumption_is_stated() {
    let assumed = |text: &str| find_date(text, &wednesday()).and_then(|found| found.assumed);
    let note = "Such a day comes every week; assuming the first of the month.";
    assert_eq!(assumed("every month on Friday").as_deref(), Some(note));
    assert_eq!(assumed("every month on the first Friday"), None);
    // A date, and a day of another activity, are not such days.
    assert_eq!(
        format_found_date("every month on Friday 20 June 2025"),
        "2025-06-20"
    );
    assert_eq!(
        format_found_date("send the monthly report on Friday"),
        "2025-06-13"
    );
}

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
fn recurrences_name_their_days_and_resolve_to_the_first_after_now() {
    for (text, at) in [
        ("water the plants every weekday", "2025-06-12"),
        ("every weekday at 9", "2025-06-12 09:00"),
        ("standup every weekday at 11am", "2025-06-11 11:00"),
        ("on weekdays at 7am", "2025-06-12 07:00"),
        ("every weekend", "2025-06-14"),
        ("every first Monday", "2025-07-07"),
        (
            "every first Monday of the month at 10am",
            "2025-07-07 10:00",
        ),
        (
            "rent is due on the first Monday of every month",
            "2025-07-07",
        ),
        ("every last Friday", "2025-06-27"),
        ("every last Friday of the month at 4pm", "2025-06-27 16:00"),
        ("the last working day of every month", "2025-06-30"),
        ("every first and third Tuesday", "2025-06-17"),
        ("every second Tuesday of the month", "2025-07-08"),
        ("every third Wednesday at 9", "2025-06-18 09:00"),
        ("every three weeks on Tuesday", "2025-06-17"),
        ("on Tuesday every three weeks", "2025-06-17"),
        ("every 2 weeks on Monday at 9:30", "2025-06-16 09:30"),
        ("every other Friday", "2025-06-13"),
        ("every! 45 days", "2025-07-26"),
        ("every! 2 weeks starting 2026-05-17", "2026-05-17"),
        ("water the plants every! Friday at 9", "2025-06-13 09:00"),
        ("every month on Friday", "2025-07-04"),
        ("every 2 months on Monday at 9am", "2025-07-07 09:00"),
        ("pay rent on Monday every month", "2025-07-07"),
        ("every month on Monday and Friday", "2025-07-04"),
        ("biweekly on Friday", "2025-06-13"),
        ("every Mon, Wed and Fri at 7am", "2025-06-13 07:00"),
        ("every Tuesday and Thursday", "2025-06-12"),
        ("Mondays and Thursdays at 6pm", "2025-06-12 18:00"),
        ("every Monday to Friday at 8:30", "2025-06-12 08:30"),
        ("every 15th", "2025-06-15"),
        ("every 1st and 15th of the month", "2025-06-15"),
        ("the 1st of every month", "2025-07-01"),
        ("the first of each month", "2025-07-01"),
        ("monthly on the 3rd", "2025-07-03"),
        ("every 3 months on the 1st", "2025-07-01"),
        ("every year on May 3", "2026-05-03"),
        ("every December 10", "2025-12-10"),
        ("every Christmas", "2025-12-25"),
        ("every Friday the 13th", "2025-06-13"),
        ("daily at 9am", "2025-06-12 09:00"),
        ("at 9am daily", "2025-06-12 09:00"),
        ("every morning at 7", "2025-06-12 07:00"),
        ("every Monday morning", "2025-06-16 09:00"),
        ("every third day", "2025-06-14"),
        ("every week", "2025-06-18"),
        ("at the end of every month", "2025-06-30"),
        ("every day from Monday to Friday at 9", "2025-06-12 09:00"),
        ("every quarter on the first day", "2025-07-01"),
        ("once a month on the 5th", "2025-07-05"),
        ("9am-5pm on weekdays", "2025-06-12 09:00"),
        ("周一到周五每天9点", "2025-06-12 09:00"),
        ("工作日每天早上8点", "2025-06-12 08:00"),
        ("每个工作日", "2025-06-12"),
        ("每个工作日早上9点打卡", "2025-06-12 09:00"),
        ("每月第一个周一", "2025-07-07"),
        ("每月第一个周一上午十点", "2025-07-07 10:00"),
        ("每个月最后一个周五", "2025-06-27"),
        ("每月最后一个工作日", "2025-06-30"),
        ("每周一、三、五", "2025-06-13"),
        ("每周一、三、五早上7点", "2025-06-13 07:00"),
        ("每周二和周四晚上8点", "2025-06-12 20:00"),
        ("每周二四六跑步", "2025-06-12"),
        ("每周一到周五早上8点", "2025-06-12 08:00"),
        ("每周一三点开会", "2025-06-16 15:00"),
        ("每月1号和15号", "2025-06-15"),
        ("每月5号", "2025-07-05"),
        ("每三周的周二", "2025-06-17"),
        ("每年5月3日", "2026-05-03"),
        ("每季度末", "2025-06-30"),
        ("每年底", "2025-12-31"),
        ("每周", "2025-06-18"),
        ("每周末", "2025-06-14"),
        ("Mon-Fri 08:00 standup", "2025-06-12 08:00"),
        ("every first week of the month", "2025-07-01"),
        ("monthly rent on the 1st", "2025-07-01"),
        ("Weekly sync with Bob on Tuesday at 10", "2025-06-17 10:00"),
        ("Tue - Thu at 14:00", "2025-06-11 14:00"),
        ("Mon/Wed/Fri at 6am every week", "2025-06-13 06:00"),
        (
            "Tuesday and Saturday at noon every 2 weeks",
            "2025-06-14 12:00",
        ),
        ("workdays 8:30", "2025-06-12 08:30"),
        ("business days at 9", "2025-06-12 09:00"),
        ("weekday mornings at 8", "2025-06-12 08:00"),
        ("weekday 9am", "2025-06-12 09:00"),
        ("Tuesday and Thursday evenings at 6", "2025-06-12 18:00"),
        ("weekend afternoons", "2025-06-14 15:00"),
        ("every day until July 4, 2026", "2025-06-12"),
        ("every Friday through 2025-12-31", "2025-06-13"),
        ("water the plants daily until July 20", "2025-06-12"),
        ("evenings at 9", "2025-06-11 21:00"),
        ("工作日早上九点", "2025-06-12 09:00"),
        ("交易日9:30", "2025-06-12 09:30"),
        ("星期一三五", "2025-06-13"),
        ("周二、四下午三点", "2025-06-12 15:00"),
        ("周一-周五早上八点", "2025-06-12 08:00"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
        assert!(
            find_date(text, &wednesday()).is_some_and(|reading| reading.repeats),
            "{text}"
        );
    }
}

#[test]
fn an_occurrence_is_followed_by_the_next_of_its_interval() {
    for (text, due, next) in [
        (
            "every three weeks on Tuesday",
            "2025-06-17T09:00",
            "2025-07-08",
        ),
        (
            "every other Friday at 9",
            "2025-06-13T09:00",
            "2025-06-27 09:00",
        ),
        (
            "every Mon, Wed and Fri at 7am",
            "2025-06-13T07:00",
            "2025-06-16 07:00",
        ),
        (
            "every other week on Tuesday and Thursday",
            "2025-06-17T09:00",
            "2025-06-19",
        ),
        (
            "every other week on Tuesday and Thursday",
            "2025-06-19T09:00",
            "2025-07-01",
        ),
        ("every weekday at 9", "2025-06-13T09:00", "2025-06-16 09:00"),
        ("every first Monday", "2025-07-07T09:00", "2025-08-04"),
        (
            "every 3 months on the 1st",
            "2025-07-01T09:00",
            "2025-10-01",
        ),
        (
            "every last Friday at 4pm",
            "2025-06-27T16:00",
            "2025-07-25 16:00",
        ),
        ("every 1st and 15th", "2025-06-15T09:00", "2025-07-01"),
        ("every year on May 3", "2026-05-03T09:00", "2027-05-03"),
        ("every 3 days", "2025-06-14T09:00", "2025-06-17"),
        (
            "at the end of every month",
            "2025-06-30T09:00",
            "2025-07-31",
        ),
        ("每两周的周四", "2025-06-12T09:00", "2025-06-26"),
        ("每周一、三、五", "2025-06-13T09:00", "2025-06-16"),
        ("每月第一个周一", "2025-07-07T09:00", "2025-08-04"),
        ("每年春节", "2026-02-17T09:00", "2027-02-06"),
        (
            "<2025-06-04 Wed 15:00 +1w>",
            "2025-06-11T15:00",
            "2025-06-18 15:00",
        ),
        ("<2025-06-04 周三 +1w>", "2025-06-11T09:00", "2025-06-18"),
    ] {
        let now = format!("{due}:00+02:00").parse().expect("a moment");
        let reading =
            find_date(text, &chrono::DateTime::<chrono::FixedOffset>::clone(&now)).expect(text);
        assert_eq!(super::format_mention(&reading), next, "{text}");
        assert!(now < reading.at, "{text}");
    }
}

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
fn an_adverb_at_the_start_of_a_text_without_a_day_is_its_recurrence() {
    for (text, at) in [
        ("hourly stretch", "2025-06-11 11:20"),
        ("Hourly: stretch", "2025-06-11 11:20"),
        ("weekly review", "2025-06-18"),
        ("daily standup at 9", "2025-06-12 09:00"),
    ] {
        let reading = find_date(text, &wednesday()).expect(text);
        assert_eq!(super::format_mention(&reading), at, "{text}");
        assert!(reading.repeats, "{text}");
    }
    for text in [
        "Daily Mail article due Friday",
        "weekly report tomorrow",
        "the daily report",
    ] {
        let found = find_dates(text, &wednesday());
        assert!(found.iter().all(|reading| !reading.repeats), "{text}");
    }
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
        ("tomorrow at 9 BRT", "at 9 BRT"),
        ("Donnerstag, 23. Januar, 2014 14:10 Uhr", "23. Januar, 2014"),
        ("mardi 3 février 2015 à 08:00", "3 février 2015"),
        ("18 октября 2016 г. в 17:57", "18 октября 2016"),
        ("13 de maio de 2016, 14:10", "13 de maio de 2016"),
        ("14:10 Uhr, 23. Januar 2014", "23. Januar 2014"),
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
fn a_recurrence_starts_on_the_day_that_follows_it() {
    for (text, at) in [
        ("every Saturday starting July 12", "2025-07-12"),
        ("every Saturday starting July 14 at 9am", "2025-07-19 09:00"),
        ("every Saturday from July 12", "2025-07-12"),
        (
            "remind me every Saturday starting July 12 to water the plants",
            "2025-07-12",
        ),
        ("every Saturday, beginning on 2025-07-12", "2025-07-12"),
        ("every 3 weeks on Saturday starting July 12", "2025-07-12"),
        ("every month on the 5th starting in August", "2025-08-05"),
        ("every month on the 5th starting August 1", "2025-08-05"),
        ("every 2 weeks starting July 7", "2025-07-07"),
        ("every day starting next Monday at 9am", "2025-06-16 09:00"),
        ("every day at 9am starting tomorrow", "2025-06-12 09:00"),
        ("every Saturday starting June 1 2025", "2025-06-14"),
        ("every! 2 weeks starting 2026-05-17", "2026-05-17"),
        ("every June starting 2027", "2027-06-01"),
        ("every year starting in 2028", "2028-01-01"),
        ("every Friday from July 10 to August 20", "2025-07-11"),
        ("weekly starting July 7", "2025-07-07"),
        ("tomorrow at 3pm every week", "2025-06-12 15:00"),
        ("tomorrow at 3pm daily", "2025-06-12 15:00"),
        ("monthly, starting on August 1 at 9am", "2025-08-01 09:00"),
        ("starting July 12 every Saturday", "2025-07-12"),
        ("Starting tomorrow, every day at 8am", "2025-06-12 08:00"),
        ("beginning August 1, every month on the 5th", "2025-08-05"),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
        let found = find_dates(text, &wednesday());
        assert!(found[0].repeats, "{text}");
    }
    assert_eq!(
        format_found_date("every Saturday starting February 30"),
        "-"
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
fn a_month_recurs_yearly_on_its_first_day_and_the_assumption_is_stated() {
    let note = "No day of the month is given; assuming the first.";
    for (text, at, is_assumed) in [
        ("every June", "2026-06-01", true),
        ("renew the insurance every July", "2025-07-01", true),
        ("every April at noon", "2026-04-01 12:00", true),
        ("each June at 8", "2026-06-01 08:00", true),
        ("every March at 9am", "2026-03-01 09:00", true),
        ("every Sept. at 9am", "2025-09-01 09:00", true),
        ("every May", "2026-05-01", true),
        ("every January and July", "2025-07-01", true),
        ("every other August", "2025-08-01", true),
        ("every year in August", "2025-08-01", true),
        ("every year in August at 9am", "2025-08-01 09:00", true),
        ("in August every year", "2025-08-01", true),
        ("June every year at 9", "2026-06-01 09:00", true),
        ("yearly in August", "2025-08-01", true),
        ("每年八月", "2025-08-01", true),
        ("每年3月上午9点", "2026-03-01 09:00", true),
        ("每年8月5日", "2025-08-05", false),
        ("every 2 years in August", "2025-08-01", true),
        ("every August on the 5th at 9am", "2025-08-05 09:00", false),
        ("every July, on the first Monday", "2025-07-07", false),
        ("every August 5", "2025-08-05", false),
        ("every August the fifth", "2025-08-05", false),
    ] {
        assert_eq!(format_found_date(text), at, "{text}");
        let found = find_dates(text, &wednesday());
        assert!(found.len() == 1 && found[0].repeats, "{text}: {found:?}");
        let assumed = found[0].assumed.clone().unwrap_or_default();
        assert_eq!(assumed.contains(note), is_assumed, "{text}: {assumed}");
    }
    assert_eq!(format_found_date("each may choose a seat"), "-");
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
