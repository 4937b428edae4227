//! The date formats of journals, as `config.edn` states them.

use std::sync::LazyLock;

use memory_core::chrono::{Datelike, NaiveDate};
use memory_core::parse_day_as;
use regex::Regex;

/// The formats that the program uses without settings.
const DEFAULT_TITLE: &str = "MMM do, yyyy";
const DEFAULT_FILE: &str = "yyyy_MM_dd";

/// The formats of the titles and of the file names of journals.
#[derive(Debug)]
pub(super) struct JournalFormats {
    title: String,
    file: String,
}

impl JournalFormats {
    /// Returns the formats in the settings of a graph.
    pub(super) fn of(settings: &str) -> Self {
        let or =
            |key: &str, default: &str| setting(settings, key).unwrap_or_else(|| default.to_owned());
        Self {
            title: or("page-title-format", DEFAULT_TITLE),
            file: or("file-name-format", DEFAULT_FILE),
        }
    }

    /// Returns the day of the journal with the file name `stem`.
    pub(super) fn day_of(&self, stem: &str) -> Option<NaiveDate> {
        let pattern: String = fields(&self.file)
            .into_iter()
            .map(|field| match field {
                DateField::Text(text) => text.replace('%', "%%"),
                DateField::Ordinal => "%-d".to_owned(),
                DateField::Pattern(pattern) => pattern.to_owned(),
            })
            .collect();
        parse_day_as(stem, &pattern)
    }

    /// Returns the title of the journal of `day`.
    pub(super) fn title_of(&self, day: NaiveDate) -> String {
        fields(&self.title)
            .into_iter()
            .map(|field| match field {
                DateField::Text(text) => text,
                DateField::Ordinal => format!("{}{}", day.day(), ordinal_suffix(day.day())),
                DateField::Pattern(pattern) => day.format(pattern).to_string(),
            })
            .collect()
    }
}

/// Returns the text of a setting `:journal/…`.
fn setting(settings: &str, key: &str) -> Option<String> {
    static SETTING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#":journal/([a-z-]+)\s+"([^"]*)""#).expect("the pattern is right")
    });
    let settings = without_comments(settings);
    let mut found = SETTING.captures_iter(&settings);
    let found = found.find(|found| &found[1] == key)?;
    Some(found[2].trim().to_owned()).filter(|format| !format.is_empty())
}

/// Returns settings without comments, which extend from `;` to the end of the line.
fn without_comments(settings: &str) -> String {
    let (mut is_text, mut is_comment) = (false, false);
    let is_setting = |character: &char| {
        match character {
            '"' if !is_comment => is_text = !is_text,
            ';' if !is_text => is_comment = true,
            '\n' => is_comment = false,
            _ => {}
        }
        !is_comment
    };
    settings.chars().filter(is_setting).collect()
}

/// A part of a date format.
enum DateField {
    Text(String),
    /// The day of the month with its suffix.
    Ordinal,
    /// A pattern of `chrono`.
    Pattern(&'static str),
}

/// Splits a format such as `EEEE, do MMM yyyy`. Text in quotes, and letters without a meaning, stand for themselves.
fn fields(format: &str) -> Vec<DateField> {
    let (mut fields, mut rest) = (Vec::new(), format);
    while let Some(first) = rest.chars().next() {
        if let Some((quoted, after)) = rest
            .strip_prefix('\'')
            .and_then(|rest| rest.split_once('\''))
        {
            fields.push(DateField::Text(quoted.to_owned()));
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix("do") {
            fields.push(DateField::Ordinal);
            rest = after;
            continue;
        }
        let end = rest
            .find(|character| character != first)
            .unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        let pattern = match (first, run.len()) {
            ('y' | 'Y' | 'u', 2) => "%y",
            ('y' | 'Y' | 'u', _) => "%Y",
            ('M' | 'L', 1) => "%-m",
            ('M' | 'L', 2) => "%m",
            ('M' | 'L', 3) => "%b",
            ('M' | 'L', _) => "%B",
            ('d', 1) => "%-d",
            ('d', 2) => "%d",
            ('E' | 'e', 4..) => "%A",
            ('E', _) | ('e', 3) => "%a",
            _ => "",
        };
        fields.push(if pattern.is_empty() {
            DateField::Text(run.to_owned())
        } else {
            DateField::Pattern(pattern)
        });
        rest = after;
    }
    fields
}

fn ordinal_suffix(day: u32) -> &'static str {
    match (day % 100, day % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_have_titles_in_every_format() {
        for (settings, stem, title) in [
            ("", "2023_03_04", Some("Mar 4th, 2023")),
            ("{}", "2023_12_22", Some("Dec 22nd, 2023")),
            ("", "2023_11_11", Some("Nov 11th, 2023")),
            ("", "Tea", None),
            (
                "{:meta/version 1\n ;; :journal/page-title-format \"yyyy\"\n :journal/page-title-format \"EEEE, dd.MM.yyyy\"}",
                "2023_03_04",
                Some("Saturday, 04.03.2023"),
            ),
            (
                "{:journal/page-title-format \"yyyy-MM-dd EEE\", :journal/file-name-format \"yyyy-MM-dd\"}",
                "2023-03-04",
                Some("2023-03-04 Sat"),
            ),
            (
                "{:journal/page-title-format\n  \"d MMMM 'of' yy\"}",
                "2023_03_04",
                Some("4 March of 23"),
            ),
        ] {
            let formats = JournalFormats::of(settings);
            let found = formats.day_of(stem).map(|day| formats.title_of(day));
            assert_eq!(found.as_deref(), title, "{settings} {stem}");
        }
    }
}
