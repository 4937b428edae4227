//! The guides of the book, which `memory help GUIDE` prints as text.

use std::ffi::OsString;
use std::fmt::Write;

use anstyle::Style;

use crate::config::Environment;
use crate::print::{ColorChoice, Output, Streams, wrap_lines};
use crate::report::{self, ExitCode};

/// The name of each guide, and its page.
const GUIDES: [(&str, &str); 5] = [
    (
        "assistants",
        include_str!("../../../docs/src/guide-assistants.md"),
    ),
    ("moving", include_str!("../../../docs/src/guide-moving.md")),
    ("review", include_str!("../../../docs/src/guide-review.md")),
    ("team", include_str!("../../../docs/src/guide-team.md")),
    (
        "machines",
        include_str!("../../../docs/src/guide-machines.md"),
    ),
];

/// Number of columns of a line of text, if the terminal has them.
const WIDTH: usize = 100;

/// Returns the names of the guides.
pub(super) fn names() -> [&'static str; GUIDES.len()] {
    GUIDES.map(|(name, _)| name)
}

/// Returns the guide that the arguments request.
pub(super) fn requested(arguments: &[OsString]) -> Option<&'static str> {
    let [_, help, name] = arguments else {
        return None;
    };
    GUIDES
        .iter()
        .find(|(guide, _)| help == "help" && name == guide)
        .map(|(_, page)| *page)
}

/// Prints a guide.
pub(super) fn print(page: &str, environment: &Environment, streams: Streams) -> ExitCode {
    let width = streams.out_width.map_or(WIDTH, usize::from).min(WIDTH);
    let mut output = Output::new(streams, false, false);
    output.set_colors(ColorChoice::Auto, environment.colors);
    let heading = if output.is_colored() {
        Style::new().bold()
    } else {
        Style::new()
    };
    let text = render(page, width, heading);
    match output.line(text.trim_end()).and_then(|()| output.flush()) {
        Ok(()) => ExitCode::Done,
        Err(error) => report::report_failure(&error, &mut output),
    }
}

/// Renders a page as text: without pictures and addresses of links, with each row of a table as a paragraph.
///
/// Commands and their output keep their lines.
fn render(page: &str, width: usize, heading: Style) -> String {
    let mut text = String::new();
    let (mut paragraph, mut is_code, mut is_table) = (String::new(), false, false);
    for line in page.lines().chain([""]) {
        if line.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        if is_code {
            text.extend(["    ", line, "\n"]);
            continue;
        }
        let is_row = line.starts_with('|');
        if line.is_empty() || is_row || line.starts_with("- ") {
            write_paragraph(&mut text, &std::mem::take(&mut paragraph), width);
        }
        if is_row {
            // The first row names the columns.
            if is_table && !line.starts_with("|-") {
                let cells = line.trim_matches('|').split('|').map(str::trim);
                paragraph = format!("- {}", cells.collect::<Vec<_>>().join(": "));
            }
        } else if let Some(title) = line.strip_prefix('#') {
            let title = title.trim_start_matches(['#', ' ']);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{heading}{title}{heading:#}");
        } else if line.is_empty() {
            if !text.ends_with("\n\n") {
                text.push('\n');
            }
        } else if !line.starts_with("![") {
            let gap = if paragraph.is_empty() { "" } else { " " };
            paragraph.extend([gap, line.trim_start()]);
        }
        is_table = is_row;
    }
    text
}

/// Appends a paragraph in lines of at most `width` columns; the lines of an item of a list are indented.
fn write_paragraph(text: &mut String, paragraph: &str, width: usize) {
    if paragraph.is_empty() {
        return;
    }
    let indent = if paragraph.starts_with("- ") {
        "  "
    } else {
        ""
    };
    let paragraph = without_links(paragraph);
    for (place, line) in wrap_lines(&paragraph, width.saturating_sub(indent.len()))
        .into_iter()
        .enumerate()
    {
        let indent = if place == 0 { "" } else { indent };
        text.extend([indent, &paragraph[line], "\n"]);
    }
}

/// Replaces each link with its text; a link to a guide also names the command that prints it.
fn without_links(mut text: &str) -> String {
    let mut plain = String::new();
    while let Some((before, (label, target), rest)) =
        text.split_once('[').and_then(|(before, rest)| {
            let (label, rest) = rest.split_once("](")?;
            let (target, rest) = rest.split_once(')')?;
            Some((before, (label, target), rest))
        })
    {
        plain.extend([before, label]);
        let guide = target
            .strip_prefix("guide-")
            .and_then(|target| target.strip_suffix(".md"));
        if let Some(guide) = guide {
            plain.extend([" (`memory help ", guide, "`)"]);
        }
        text = rest;
    }
    plain + text
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn a_page_is_plain_text_in_the_width_of_the_terminal() {
        let page = "# Share\n\nSee [the review](guide-review.md) and\n[links](links.md).\n\n![A picture](web/a.png)\n\n\
                    ```console\n$ memory ui\n```\n\n| from | what |\n|---|---|\n| Cursor | import the folder of the project |\n\n- one\n- two\n";
        assert_snapshot!(render(page, 30, Style::new()), @"
        Share

        See the review (`memory help
        review`) and links.

            $ memory ui

        - Cursor: import the folder
          of the project

        - one
        - two
        ");
    }

    #[test]
    fn every_guide_wraps_at_60_columns_and_keeps_no_markup() {
        for (name, page) in GUIDES {
            let text = render(page, 60, Style::new());
            let prose = text.lines().filter(|line| !line.starts_with("    "));
            for line in prose {
                assert!(
                    line.chars().count() <= 60 && !line.contains("](") && !line.starts_with('|'),
                    "{name}: {line}"
                );
            }
        }
    }
}
