//! Numbers by week, as stacked bars.

use std::fmt::Write;

use chrono::NaiveDate;

use super::growth::{
    BOTTOM, HEIGHT, LEFT, LINES, RIGHT, TOP, WIDTH, push_ends, push_grid, rounded_step,
};
use super::{as_f64, coordinate, push_text};
use crate::web::html::SafeHtml;

/// Share of a bar in the space of its week.
const BAR_SHARE: f64 = 0.72;

/// The numbers of one source, such as an assistant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BarSeries {
    /// The name; empty if there is only one series.
    pub(crate) name: String,
    /// One number for each week.
    pub(crate) values: Vec<u64>,
}

impl BarSeries {
    pub(crate) fn total(&self) -> u64 {
        self.values.iter().sum()
    }
}

/// Returns the numbers by week as SVG. `id` is unique in the page, and `unit` is the name of what is counted, in the singular and
/// in the plural.
pub(crate) fn render_bars(
    id: &str,
    unit: [&str; 2],
    weeks: &[NaiveDate],
    series: &[BarSeries],
) -> SafeHtml {
    let (Some(first), Some(last)) = (weeks.first(), weeks.last()) else {
        return SafeHtml::default();
    };
    let sum_of = |week: usize| series.iter().map(|own| own.values[week]).sum::<u64>();
    let highest = (0..weeks.len()).map(sum_of).max().unwrap_or_default();
    let step = rounded_step(highest);
    let total: u64 = series.iter().map(BarSeries::total).sum();
    let describe = |count: u64| format!("{count} {}", unit[usize::from(count != 1)]);
    let mut svg = format!(
        "<svg class=\"growth\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"{id}-title\">\
         <title id=\"{id}-title\">{} by week, from {first} to {last}</title>",
        describe(total)
    );
    push_grid(&mut svg, step, [unit[1], "Week"]);
    let space = (WIDTH - LEFT - RIGHT) / as_f64(weeks.len() as u64);
    let scale = (HEIGHT - TOP - BOTTOM) / as_f64(step * LINES);
    for (week, day) in weeks.iter().enumerate() {
        let left = LEFT + space * (as_f64(week as u64) + (1.0 - BAR_SHARE) / 2.0);
        let mut below = 0;
        for (number, own) in series.iter().enumerate() {
            let count = own.values[week];
            if count == 0 {
                continue;
            }
            below += count;
            write!(
                svg,
                "<rect class=\"bar bar-{number}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>",
                coordinate(left),
                coordinate(HEIGHT - BOTTOM - scale * as_f64(below)),
                coordinate(space * BAR_SHARE),
                coordinate(scale * as_f64(count))
            )
            .expect("a text grows");
            if !own.name.is_empty() {
                push_text(&mut svg, &own.name);
                svg.push_str(": ");
            }
            write!(
                svg,
                "{} in the week of {day}</title></rect>",
                describe(count)
            )
            .expect("a text grows");
        }
    }
    push_ends(
        &mut svg,
        [first, last].map(|day| day.format("%-d %b %Y").to_string()),
    );
    svg.push_str("</svg>");
    SafeHtml::from_escaped(svg)
}

#[cfg(test)]
mod tests {
    use chrono::Days;
    use proptest::prelude::*;

    use super::*;
    use crate::web::tests::{check_safe, tags};

    fn weeks(count: usize) -> Vec<NaiveDate> {
        let first = NaiveDate::from_ymd_opt(2026, 5, 4).expect("a day");
        (0..count)
            .map(|week| first + Days::new(7 * week as u64))
            .collect()
    }

    #[test]
    fn each_number_is_a_bar_with_its_source_and_its_week() {
        let series = [("<codex>", [1, 0]), ("claude", [2, 3])].map(|(name, values)| BarSeries {
            name: name.into(),
            values: values.to_vec(),
        });
        let svg = render_bars("calls", ["call", "calls"], &weeks(2), &series);
        let bars = tags(svg.as_str())
            .into_iter()
            .filter(|(name, _)| name == "rect");
        assert_eq!(bars.count(), 3);
        for text in [
            "6 calls by week, from 2026-05-04 to 2026-05-11",
            "&lt;codex&gt;: 1 call in the week of 2026-05-04",
            "claude: 3 calls in the week of 2026-05-11",
        ] {
            assert!(svg.as_str().contains(text), "{text}: {}", svg.as_str());
        }
        assert_eq!(render_bars("a", ["a", "b"], &[], &[]), SafeHtml::default());
    }

    proptest! {
        #[test]
        fn bars_are_within_the_chart_and_the_markup_is_safe(values in proptest::collection::vec((0_u64..9_000, 0_u64..9_000), 1..30), name in ".{0,20}") {
            let (one, other) = values.iter().copied().unzip();
            let series = [one, other].map(|values| BarSeries { name: name.clone(), values });
            let svg = render_bars("a", ["memory", "memories"], &weeks(values.len()), &series);
            prop_assert_eq!(check_safe(svg.as_str()), Ok(()));
            for (_, attributes) in tags(svg.as_str()).iter().filter(|(name, _)| name == "rect") {
                let top = attributes.iter().find(|(name, _)| name == "y").map(|(_, value)| value.parse::<f64>());
                prop_assert!(top.is_some_and(|top| top.is_ok_and(|top| TOP - 0.2 <= top)));
            }
        }
    }
}
