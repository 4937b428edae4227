//! The calendar of a month as a table.

use std::fmt::Write;

use chrono::{Datelike, Days, Months, NaiveDate};

use memory_core::html::push_escaped;

use crate::web::html::{Label, SafeHtml};

/// Number of items of a day that are listed.
const MAX_ITEMS: usize = 4;

/// An item of a calendar.
#[derive(Debug, Clone)]
pub(crate) struct CalendarItem {
    pub(crate) day: NaiveDate,
    /// The time of day, such as `09:00`.
    pub(crate) time: String,
    pub(crate) label: Label,
    /// The path that the item leads to.
    pub(crate) path: String,
    pub(crate) is_overdue: bool,
}

/// Returns the calendar of the month that contains `month`, with weeks from Monday to Sunday. Items of other months are left out.
///
/// The items of a day are listed in their order; if there are too many, a link to `/reminders?day=DAY` follows.
pub(crate) fn render_month(month: NaiveDate, today: NaiveDate, items: &[CalendarItem]) -> SafeHtml {
    let first = month.with_day(1).unwrap_or(month);
    let end = first
        .checked_add_months(Months::new(1))
        .unwrap_or(NaiveDate::MAX);
    let mut html = String::from("<table class=\"calendar\"><thead><tr>");
    for name in ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] {
        write!(html, "<th scope=\"col\">{name}</th>").expect("a text grows");
    }
    html.push_str("</tr></thead><tbody>");
    let mut day = first
        .checked_sub_days(Days::new(u64::from(first.weekday().num_days_from_monday())))
        .unwrap_or(first);
    while day < end {
        html.push_str("<tr>");
        for _ in 0..7 {
            if first <= day && day < end {
                push_day(&mut html, day, today, items);
            } else {
                html.push_str("<td class=\"other-month\"></td>");
            }
            day = day.checked_add_days(Days::new(1)).unwrap_or(NaiveDate::MAX);
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    SafeHtml::from_escaped(html)
}

fn push_day(html: &mut String, day: NaiveDate, today: NaiveDate, items: &[CalendarItem]) {
    let is_today = day == today;
    let (class, current) = if is_today {
        (" class=\"today\"", " aria-current=\"date\"")
    } else {
        ("", "")
    };
    let own: Vec<&CalendarItem> = items.iter().filter(|item| item.day == day).collect();
    let number = format!("<time datetime=\"{day}\">{}</time>", day.day());
    write!(html, "<td{class}{current}>").expect("a text grows");
    if own.is_empty() {
        html.push_str(&number);
    } else {
        // In a narrow window the items are hidden, and the number leads to them.
        write!(
            html,
            "<a class=\"day-link\" href=\"/reminders?day={day}\">{number}</a>"
        )
        .expect("a text grows");
        html.push_str("<ul>");
        for item in own.iter().take(MAX_ITEMS) {
            html.push_str(if item.is_overdue {
                "<li class=\"overdue\"><a href=\""
            } else {
                "<li><a href=\""
            });
            item.path
                .chars()
                .for_each(|character| push_escaped(html, character));
            write!(
                html,
                "\"><span class=\"number\">{}</span> {}</a></li>",
                item.time, item.label
            )
            .expect("a text grows");
        }
        if MAX_ITEMS < own.len() {
            write!(
                html,
                "<li><a href=\"/reminders?day={day}\">{} more</a></li>",
                own.len() - MAX_ITEMS
            )
            .expect("a text grows");
        }
        html.push_str("</ul>");
    }
    html.push_str("</td>");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::web::tests::{check_safe, tags};

    fn item(day: &str, text: &str) -> CalendarItem {
        CalendarItem {
            day: day.parse().unwrap(),
            time: "09:00".into(),
            label: Label::new(text),
            path: "/memories/1".into(),
            is_overdue: false,
        }
    }

    #[test]
    fn a_month_has_whole_weeks_and_its_items() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let items = [
            item("2026-02-14", "dentist"),
            item("2026-03-01", "another month"),
        ];
        let html = render_month(day("2026-02-10"), day("2026-02-14"), &items);
        let cells = tags(html.as_str())
            .iter()
            .filter(|(name, _)| name == "td")
            .count();
        assert_eq!((cells, html.as_str().matches("<time").count()), (35, 28));
        assert!(html.as_str().contains(
            "<td class=\"today\" aria-current=\"date\"><a class=\"day-link\" href=\"/reminders?day=2026-02-14\">\
                 <time datetime=\"2026-02-14\">14</time></a><ul><li><a"
        ));
        assert!(!html.as_str().contains("another month"));
        let many = vec![item("2026-02-14", "tea"); 9];
        let html = render_month(day("2026-02-10"), day("2026-02-14"), &many);
        assert!(
            html.as_str()
                .contains("<a href=\"/reminders?day=2026-02-14\">5 more</a>")
        );
    }

    proptest! {
        #[test]
        fn any_month_and_text_yield_safe_markup(days in 700_000_i32..750_000, text in ".{0,30}") {
            let day = NaiveDate::from_num_days_from_ce_opt(days).unwrap();
            let html = render_month(day, day, &[CalendarItem { day, ..item("2026-01-01", &text) }]);
            prop_assert_eq!(check_safe(html.as_str()), Ok(()));
            prop_assert_eq!(html.as_str().matches("<time").count(), usize::from(day.num_days_in_month()));
        }
    }
}
