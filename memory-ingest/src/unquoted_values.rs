//! Front matter with values that need quotes and have none.

use std::borrow::Cow;

use crate::front_matter;

/// Keys of which front matter has at least one.
const USUAL_KEYS: [&str; 9] = [
    "title",
    "tags",
    "aliases",
    "created",
    "created_at",
    "date",
    "type",
    "category",
    "permalink",
];

/// Puts quotes around the values in front matter that is not valid YAML without them.
///
/// People write `title: Plan: part two`. Cursor writes patterns without quotes, such as `globs: *.ts`, where `*` begins an alias in YAML, and reads several patterns with
/// commas between them, each with or without quotes.
pub(crate) fn quote_values(text: &str) -> Cow<'_, str> {
    let parted = front_matter::split_front_matter(text);
    if parted.fields.is_ok() || parted.source.is_empty() {
        return Cow::Borrowed(text);
    }
    // Prose between two rules may have colons too.
    let keys = || {
        parted
            .source
            .lines()
            .filter_map(|line| line.split_once(':'))
    };
    let has_usual_key = keys().any(|(key, _)| USUAL_KEYS.contains(&key));
    let mut is_in_globs = false;
    let quote = |line: &str| {
        if let Some(item) = line.trim_start().strip_prefix("- ").filter(|_| is_in_globs) {
            let indent = &line[..line.len() - line.trim_start().len()];
            return format!("{indent}- {}", quoted(unquoted(item)));
        }
        let (key, value) = line.split_once(':').unwrap_or_default();
        is_in_globs = key == "globs";
        let value = value.trim();
        let is_rule = matches!(key, "globs" | "description");
        let is_plain = has_usual_key
            && !key.starts_with([' ', '\t', '-'])
            && !value.starts_with(['[', '{', '"', '\'', '|', '>', '#']);
        if !is_rule && !is_plain || value.is_empty() || is_valid(line) {
            return line.to_owned();
        }
        let list = value
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let patterns = split_patterns(list.unwrap_or(value));
        let is_list =
            list.is_some() || patterns.iter().any(|pattern| unquoted(pattern) != *pattern);
        if is_in_globs && is_list {
            let patterns: Vec<_> = patterns
                .iter()
                .map(|pattern| quoted(unquoted(pattern)))
                .collect();
            return format!("{key}: [{}]", patterns.join(", "));
        }
        let (value, comment) = match value.find(" #").filter(|_| !is_in_globs) {
            Some(at) => value.split_at(at),
            None => (value, ""),
        };
        format!("{key}: {}{comment}", quoted(value))
    };
    let lines: Vec<_> = parted.source.lines().map(quote).collect();
    let quoted = format!("---\n{}\n---\n{}", lines.join("\n"), parted.body);
    if front_matter::split_front_matter(&quoted).fields.is_ok() {
        Cow::Owned(quoted)
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns whether a line of front matter is valid YAML by itself.
fn is_valid(line: &str) -> bool {
    front_matter::split_front_matter(&format!("---\n{line}\n---\n"))
        .fields
        .is_ok()
}

/// Returns a text in double quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns a pattern without the quotes around it.
fn unquoted(pattern: &str) -> &str {
    let pattern = pattern.trim();
    let inner = |quote| pattern.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(pattern)
}

/// Returns the patterns in a list: the parts between commas that are neither in quotes nor in braces.
fn split_patterns(list: &str) -> Vec<&str> {
    let (mut patterns, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, character) in list.char_indices() {
        match character {
            '"' | '\'' if quote == Some(character) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(character),
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if quote.is_none() && depth == 0 => {
                patterns.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    patterns.push(&list[start..]);
    patterns.retain(|pattern| !pattern.trim().is_empty());
    patterns.into_iter().map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::quote_values;

    #[test]
    fn patterns_without_quotes_become_valid() {
        let text = "---\ndescription: Rules: a \"b\"\nglobs: **/*.ts,*.tsx\nalwaysApply: false\n---\nbody\n";
        let quoted = "---\ndescription: \"Rules: a \\\"b\\\"\"\nglobs: \"**/*.ts,*.tsx\"\nalwaysApply: false\n---\nbody\n";
        assert_eq!(quote_values(text), quoted);
        for text in [
            "---\nglobs: a.ts\n---\n",
            "---\nx: [\n---\n",
            "globs: *.ts\n",
            "---\nglobs: *.ts\n",
        ] {
            assert_eq!(quote_values(text), text);
        }
    }

    #[test]
    fn a_value_with_a_colon_is_text() {
        for (line, expected) in [
            ("title: Plan: part two", "title: \"Plan: part two\""),
            ("title: @anna at 5", "title: \"@anna at 5\""),
            ("title: ends with:", "title: \"ends with:\""),
            ("title: a: b # c", "title: \"a: b\" # c"),
        ] {
            let text = |line: &str| format!("---\ntags: [a, b]\n{line}\n---\nbody\n");
            assert_eq!(quote_values(&text(line)), text(expected));
        }
    }

    #[test]
    fn prose_and_lists_with_colons_stay_as_they_are() {
        for text in [
            "---\nWarning: do not: delete\n\nSecond: x: y\n---\nbody",
            "---\ntags:\n- a: b: c\n- d\n---\nbody",
        ] {
            assert_eq!(quote_values(text), text);
        }
    }

    #[test]
    fn lists_of_patterns_with_quotes_become_valid() {
        for (globs, expected) in [
            (r#"globs: "*.ts","*.tsx""#, r#"globs: ["*.ts", "*.tsx"]"#),
            (r"globs: '*.ts', *.tsx", r#"globs: ["*.ts", "*.tsx"]"#),
            (r"globs: [*.ts, **/*.tsx]", r#"globs: ["*.ts", "**/*.tsx"]"#),
            (
                r#"globs: "src/{a,b}/*.ts", "x""#,
                r#"globs: ["src/{a,b}/*.ts", "x"]"#,
            ),
            (r"globs: {src,lib}/*.ts,x", r#"globs: "{src,lib}/*.ts,x""#),
            (
                "globs:\n  - *.ts\n  - \"*.tsx\"",
                "globs:\n  - \"*.ts\"\n  - \"*.tsx\"",
            ),
            (
                r#"description: "Rules" for a"#,
                r#"description: "\"Rules\" for a""#,
            ),
        ] {
            let text = format!("---\n{globs}\nalwaysApply: false\n---\nbody\n");
            let expected = format!("---\n{expected}\nalwaysApply: false\n---\nbody\n");
            assert_eq!(quote_values(&text), expected);
        }
    }

    proptest! {
        #[test]
        fn the_body_of_a_rule_survives(text in "---\n(globs:|description:| |\\*|\"|\\\\|:|\n|a){0,20}\n---\nbody") {
            prop_assert!(quote_values(&text).ends_with("\n---\nbody"));
        }
    }
}
