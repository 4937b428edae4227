//! The heat map of a year: one square per day, one column per week.

use std::collections::BTreeMap;
use std::fmt::Write;

use chrono::{Datelike, Days, NaiveDate};

use super::as_f64;
use crate::web::html::SafeHtml;

/// Distance between two squares, in pixels.
const STEP: u32 = 14;

/// Size of a square, in pixels.
const SIZE: u32 = 11;

/// Space for the names of weekdays, in pixels.
const LEFT: u32 = 32;

/// Space for the names of months, in pixels.
const TOP: u32 = 18;

/// Number of colours of days with a count.
const LEVELS: u32 = 4;

/// Maximum number of days.
const MAX_DAYS: u64 = 400;

/// Returns the counts per day from `first` to `last` as SVG. The squares are too small for links.
///
/// `unit` is the name of what is counted, in the singular and in the plural.
pub(crate) fn render_heat_map(
    counts: &BTreeMap<NaiveDate, u64>,
    first: NaiveDate,
    last: NaiveDate,
    unit: [&str; 2],
) -> SafeHtml {
    let start = first
        .checked_sub_days(Days::new(first.weekday().num_days_from_monday().into()))
        .unwrap_or(first);
    let days: Vec<NaiveDate> = start
        .iter_days()
        .take_while(|day| *day <= last)
        .take(usize::try_from(MAX_DAYS).unwrap_or_default())
        .collect();
    let weeks = u32::try_from(days.len().div_ceil(7)).unwrap_or_default();
    let (width, height) = (LEFT + weeks * STEP, TOP + 7 * STEP);
    let highest = counts
        .range(first..=last.max(first))
        .map(|(_, count)| *count)
        .max()
        .unwrap_or_default();
    let total: u64 = counts
        .range(first..=last.max(first))
        .map(|(_, count)| count)
        .sum();
    let mut svg = format!(
        "<svg class=\"heat-map\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         aria-labelledby=\"heat-map-title\"><title id=\"heat-map-title\">{} from {first} to {last}</title>",
        describe(total, unit)
    );
    for (row, name) in [(0, "Mon"), (2, "Wed"), (4, "Fri")] {
        write!(
            svg,
            "<text class=\"axis\" x=\"0\" y=\"{}\">{name}</text>",
            TOP + row * STEP + SIZE - 1
        )
        .expect("a text grows");
    }
    let mut named_at = None;
    for (week, monday) in (0_u32..).zip(days.iter().step_by(7)) {
        let begins = (0..7)
            .filter_map(|offset| monday.checked_add_days(Days::new(offset)))
            .find(|day| day.day() == 1 && *day <= last);
        // Two names need three columns between them.
        if let Some(month) = begins.filter(|_| named_at.is_none_or(|at| at + 3 <= week)) {
            // A name takes two columns, so that of the last week ends with it.
            let (x, anchor) = if week + 1 == weeks {
                (width, "end")
            } else {
                (LEFT + week * STEP, "start")
            };
            write!(
                svg,
                "<text class=\"axis\" text-anchor=\"{anchor}\" x=\"{x}\" y=\"{}\">{}</text>",
                TOP - 6,
                month.format("%b")
            )
            .expect("a text grows");
            named_at = Some(week);
        }
    }
    for (number, day) in (0_u32..).zip(&days).filter(|(_, day)| first <= **day) {
        let count = counts.get(day).copied().unwrap_or_default();
        let (x, y) = (LEFT + number / 7 * STEP, TOP + number % 7 * STEP);
        write!(
            svg,
            "<rect class=\"heat heat-{}\" x=\"{x}\" y=\"{y}\" width=\"{SIZE}\" height=\"{SIZE}\" rx=\"2\"><title>{} on {day}</title></rect>",
            level(count, highest),
            describe(count, unit)
        )
        .expect("a text grows");
    }
    svg.push_str("</svg>");
    SafeHtml::from_escaped(svg)
}

fn describe(count: u64, [one, several]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Returns the colour of a count, from 0 for none to [`LEVELS`] for the highest. It grows with the square root, so that one very
/// busy day does not hide all others.
fn level(count: u64, highest: u64) -> u32 {
    if count == 0 || highest == 0 {
        return 0;
    }
    let share = (as_f64(count) / as_f64(highest)).sqrt();
    (1..LEVELS)
        .find(|level| share <= f64::from(*level) / f64::from(LEVELS))
        .unwrap_or(LEVELS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::web::tests::{check_safe, tags};

    const UNIT: [&str; 2] = ["operation", "operations"];

    #[test]
    fn each_day_has_a_square_with_its_count() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let counts = BTreeMap::from([(day("2026-01-01"), 1), (day("2026-12-31"), 100)]);
        let svg = render_heat_map(&counts, day("2026-01-01"), day("2026-12-31"), UNIT);
        let count = |name: &str| {
            tags(svg.as_str())
                .iter()
                .filter(|(own, _)| own == name)
                .count()
        };
        assert_eq!((count("rect"), count("a")), (365, 0));
        assert!(
            svg.as_str()
                .contains("<title>1 operation on 2026-01-01</title>")
        );
        assert!(
            svg.as_str()
                .contains("101 operations from 2026-01-01 to 2026-12-31")
        );
        assert_eq!(svg.as_str().matches("class=\"axis\"").count(), 3 + 12);
        let svg = render_heat_map(&counts, day("2026-01-01"), day("2026-12-01"), UNIT);
        let end = "text-anchor=\"end\"";
        assert_eq!(
            svg.as_str().matches(end).count(),
            1,
            "December is not cut off"
        );
    }

    proptest! {
        #[test]
        fn a_higher_count_has_no_lower_level(one in 0_u64..10_000, other in 0_u64..10_000, highest in 1_u64..10_000) {
            let (low, high) = (one.min(other), one.max(other));
            prop_assert!(level(low, highest) <= level(high, highest));
            prop_assert_eq!(level(low, highest) == 0, low == 0);
        }

        #[test]
        fn any_range_of_days_yields_safe_markup(start in 700_000_i32..750_000, days in 0_u64..500, count in 0_u64..9) {
            let first = NaiveDate::from_num_days_from_ce_opt(start).unwrap();
            let last = first + Days::new(days);
            let svg = render_heat_map(&BTreeMap::from([(first, count)]), first, last, UNIT);
            prop_assert_eq!(check_safe(svg.as_str()), Ok(()));
        }
    }
}
