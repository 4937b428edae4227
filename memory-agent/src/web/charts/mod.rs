//! Charts and calendars as HTML and SVG.
//!
//! All of them are pure functions with a deterministic result. Colours come from CSS classes alone, and every mark has a title for
//! readers who do not see it.

mod bars;
mod category_mark;
mod graph;
mod growth;
mod heat_map;
mod label;
mod memory_map;
mod month_calendar;

pub(crate) use bars::{BarSeries, render_bars};
pub(crate) use category_mark::render_legend;
pub(crate) use graph::{graph_path, memory_path, page_path, render_graph};
pub(crate) use growth::render_growth;
pub(crate) use heat_map::render_heat_map;
pub(crate) use memory_map::{group_name, group_path, memory_name, render_map};
pub(crate) use month_calendar::{CalendarItem, render_month};

use memory_core::html::{push_escaped, visible_text};

/// Appends a text to SVG, which has no elements for hidden characters: they are displayed as code points in brackets.
fn push_text(svg: &mut String, text: &str) {
    for character in visible_text(text).chars() {
        push_escaped(svg, character);
    }
}

/// Returns the first `longest` characters of a text as one line.
fn cut(text: &str, longest: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// The smallest part of a graph that fills the window. A small graph is not enlarged beyond it.
const MIN_VIEW: (f64, f64) = (800.0, 460.0);

/// Returns the attribute `viewBox` for a graph between these edges: left, top, right and bottom.
fn view_box([left, top, right, bottom]: [f64; 4]) -> String {
    let extend = |start: f64, end: f64, least: f64| {
        let missing = (least - (end - start)).max(0.0);
        (
            coordinate(start - missing / 2.0),
            coordinate(end - start + missing),
        )
    };
    let ((x, width), (y, height)) = (
        extend(left, right, MIN_VIEW.0),
        extend(top, bottom, MIN_VIEW.1),
    );
    format!("viewBox=\"{x} {y} {width} {height}\"")
}

/// Formats a coordinate with at most one decimal place.
fn coordinate(value: f64) -> String {
    // The sum with zero removes the sign of a negative zero.
    format!("{}", (value * 10.0).round() / 10.0 + 0.0)
}

/// Converts a count to a coordinate; counts beyond 2³² are clamped.
fn as_f64(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}
