//! The number of memories over time, as a line.

use std::fmt::Write;

use chrono::{Datelike, NaiveDate};

use super::{as_f64, coordinate};
use crate::web::html::SafeHtml;

pub(super) const WIDTH: f64 = 480.0;
pub(super) const HEIGHT: f64 = 200.0;

/// Space around the line: at the left for numbers, at the right, above, and below for dates.
pub(super) const LEFT: f64 = 48.0;
pub(super) const RIGHT: f64 = 12.0;
pub(super) const TOP: f64 = 30.0;
pub(super) const BOTTOM: f64 = 26.0;

/// Number of horizontal lines.
pub(super) const LINES: u64 = 4;

/// Returns the totals of `months` as SVG: the new memories of each month, as its first day, in the order of time.
pub(crate) fn render_growth(months: &[(NaiveDate, u64)]) -> SafeHtml {
    let (Some((first, _)), Some((last, _))) = (months.first(), months.last()) else {
        return SafeHtml::default();
    };
    let number = |month: &NaiveDate| f64::from(month.year()) * 12.0 + f64::from(month.month0());
    let span = (number(last) - number(first) + 1.0).max(1.0);
    let total: u64 = months.iter().map(|(_, count)| count).sum();
    let step = rounded_step(total);
    let highest = as_f64(step * LINES);
    let x = |months: f64| coordinate(LEFT + (WIDTH - LEFT - RIGHT) * months / span);
    let y = |count: u64| {
        coordinate(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * as_f64(count) / highest)
    };
    let mut svg = format!(
        "<svg class=\"growth\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"growth-title growth-description\">\
         <title id=\"growth-title\">Number of memories by month</title><desc id=\"growth-description\">From 0 before {} to {total} in {}.</desc>",
        first.format("%B %Y"),
        last.format("%B %Y")
    );
    push_grid(&mut svg, step, ["Memories", "Month"]);
    let mut points = format!("{},{}", x(0.0), y(0));
    let mut sum = 0;
    for (month, count) in months {
        let start = number(month) - number(first);
        // The total stays the same until the next month with new memories.
        write!(points, " {},{}", x(start), y(sum)).expect("a text grows");
        sum += count;
        write!(points, " {},{}", x(start + 1.0), y(sum)).expect("a text grows");
    }
    write!(
        svg,
        "<path class=\"growth-area\" d=\"M{} L{},{} Z\"/><polyline class=\"growth-line\" points=\"{points}\"/>",
        points.replace(' ', " L"),
        x(span),
        y(0)
    )
    .expect("a text grows");
    push_ends(
        &mut svg,
        [first, last].map(|month| month.format("%b %Y").to_string()),
    );
    svg.push_str("</svg>");
    SafeHtml::from_escaped(svg)
}

/// Appends the horizontal lines with their numbers, and the names of the axes: above, and below in the middle.
pub(super) fn push_grid(svg: &mut String, step: u64, [vertical, horizontal]: [&str; 2]) {
    write!(
        svg,
        "<text class=\"axis\" x=\"0\" y=\"12\">{vertical}</text><text class=\"axis\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{horizontal}</text>",
        coordinate((LEFT + WIDTH - RIGHT) / 2.0),
        coordinate(HEIGHT - 6.0)
    )
    .expect("a text grows");
    for line in 0..=LINES {
        write!(
            svg,
            "<line class=\"grid-line\" x1=\"{LEFT}\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\"/><text class=\"axis\" x=\"{2}\" y=\"{0}\" dy=\"4\" text-anchor=\"end\">{3}</text>",
            coordinate(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * as_f64(line) / as_f64(LINES)),
            coordinate(WIDTH - RIGHT),
            coordinate(LEFT - 8.0),
            round_number(line * step)
        )
        .expect("a text grows");
    }
}

/// Returns a round number with few digits.
fn round_number(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..10_000_000 => format!("{}k", number / 1000),
        _ => format!("{}M", number / 1_000_000),
    }
}

/// Appends the names of the first and of the last period.
pub(super) fn push_ends(svg: &mut String, [first, last]: [String; 2]) {
    for (place, name, anchor) in [(LEFT, first, "start"), (WIDTH - RIGHT, last, "end")] {
        write!(
            svg,
            "<text class=\"axis\" x=\"{place}\" y=\"{}\" text-anchor=\"{anchor}\">{name}</text>",
            coordinate(HEIGHT - 6.0)
        )
        .expect("a text grows");
    }
}

/// Returns the smallest step of 1, 2 or 5 times a power of ten with which [`LINES`] steps reach `total`.
pub(super) fn rounded_step(total: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if total <= step.saturating_mul(LINES) {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::web::tests::check_safe;

    #[test]
    fn the_last_point_is_the_total() {
        let month = |text: &str| text.parse::<NaiveDate>().unwrap();
        let svg = render_growth(&[(month("2025-11-01"), 30), (month("2026-02-01"), 10)]);
        assert!(
            svg.as_str()
                .contains("From 0 before November 2025 to 40 in February 2026.")
        );
        let points = svg
            .as_str()
            .split("points=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        assert_eq!(points.split(' ').count(), 5);
        assert!(
            points.ends_with("468,30"),
            "the step is 10, so 40 is at the top: {points}"
        );
        assert!(
            svg.as_str().contains(">Memories</text>") && svg.as_str().contains(">Month</text>"),
            "both axes have a name"
        );
        assert_eq!(render_growth(&[]), SafeHtml::default());
    }

    proptest! {
        #[test]
        fn a_step_is_round_and_sufficient(total in 0_u64..10_000_000) {
            let step = rounded_step(total);
            prop_assert!(total <= step * LINES && (total == 0 || step == 1 || step * LINES < total * 3));
        }

        #[test]
        fn any_counts_yield_safe_markup(counts in proptest::collection::vec(0_u64..1000, 0..30)) {
            let first = NaiveDate::from_ymd_opt(2024, 1, 1).unwrap();
            let months = (0_u32..).zip(counts).map(|(number, count)| (first + chrono::Months::new(number), count));
            let svg = render_growth(&months.collect::<Vec<_>>());
            prop_assert_eq!(check_safe(svg.as_str()), Ok(()));
        }
    }
}
