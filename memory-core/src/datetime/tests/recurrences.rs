//! Tests of recurrences.

use super::super::{find_date, find_dates};
use super::{format_found_date, wednesday};

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
