//! The fields of a query string or of a form.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The fields of a query string or of a form, in the format `application/x-www-form-urlencoded`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses fields. Invalid escapes remain as they are, and bytes that are not UTF-8 are replaced.
    pub(crate) fn parse(text: &str) -> Self {
        let decode = |part: &str| {
            percent_decode_str(&part.replace('+', " "))
                .decode_utf8_lossy()
                .into_owned()
        };
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| (decode(name), decode(value)))
                .collect(),
        )
    }

    /// Returns one field.
    pub(super) fn of(name: &str, value: &str) -> Self {
        Self(vec![(name.to_owned(), value.to_owned())])
    }

    /// Returns the first value of a field; empty if it is missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// Returns the first value of a field that is not blank, trimmed.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        Some(self.get(name).trim()).filter(|value| !value.is_empty())
    }

    /// Iterates over all values of a field.
    pub(crate) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    /// Iterates over the names and values of all fields.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the names and values of all fields except `names` and empty ones.
    pub(crate) fn except(&self, names: &[&str]) -> Vec<(String, String)> {
        self.0
            .iter()
            .filter(|(name, value)| !value.is_empty() && !names.contains(&name.as_str()))
            .cloned()
            .collect()
    }

    /// Returns the fields as a query string without the fields `names` and without empty fields.
    pub(crate) fn without(&self, names: &[&str]) -> String {
        self.encode_where(|name, _| !names.contains(&name))
    }

    /// Returns the fields as a query string without this value of `name`, ignoring case, and on the first page.
    pub(crate) fn without_value(&self, name: &str, value: &str) -> String {
        self.encode_where(|own, set| {
            !PER_PAGE.contains(&own) && (own != name || set.to_lowercase() != value.to_lowercase())
        })
    }

    /// Returns the fields as a query string with another value of `name`, and on the first page.
    pub(crate) fn with_added(&self, name: &str, value: &str) -> String {
        let others = self.without(&PER_PAGE);
        let added = encode_pairs([(name, value)]);
        if others.is_empty() {
            added
        } else {
            format!("{others}&{added}")
        }
    }

    fn encode_where(&self, is_wanted: impl Fn(&str, &str) -> bool) -> String {
        let wanted = self
            .0
            .iter()
            .filter(|(name, value)| !value.is_empty() && is_wanted(name, value));
        encode_pairs(wanted.map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Returns the fields as a query string with `name` set to `value`; an empty value removes the field.
    pub(crate) fn with(&self, name: &str, value: &str) -> String {
        let others = self
            .0
            .iter()
            .filter(|(own, value)| own != name && !value.is_empty());
        let mut pairs: Vec<(&str, &str)> = others
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        if !value.is_empty() {
            pairs.push((name, value));
        }
        encode_pairs(pairs)
    }
}

impl<'f> FromIterator<(&'f str, &'f str)> for Fields {
    fn from_iter<I: IntoIterator<Item = (&'f str, &'f str)>>(pairs: I) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        )
    }
}

/// The fields that belong to one page of a list or to one view of it.
const PER_PAGE: [&str; 2] = ["page", "done"];

/// Returns a query string without `?`.
pub(crate) fn encode_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let pairs = pairs
        .into_iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// The characters that are escaped in a URL: all except those that never have a meaning there.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Escapes a text for a path segment or a query string.
pub(crate) fn encode(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, ESCAPED).into()
}

/// Returns `path` if it is a path of this server, and `/` otherwise.
///
/// A browser resolves `//host` and `/\host` to another server.
pub(super) fn local_path(path: &str) -> &str {
    let is_local = path.starts_with('/')
        && !path[1..].starts_with(['/', '\\'])
        && path
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_local { path } else { "/" }
}

/// Returns the path of a page with `next`, which is the target after the form on it.
pub(super) fn path_with_next(path: &str, next: &str) -> String {
    format!("{path}?{}", encode_pairs([("next", next)]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_are_decoded_and_repeated_fields_are_listed() {
        let fields = Fields::parse("q=a+b%26c&tag=x&tag=%C3%A4&empty=&flag&%zz=%ff");
        assert_eq!(
            (fields.get("q"), fields.get("missing"), fields.get("flag")),
            ("a b&c", "", "")
        );
        assert_eq!(fields.all("tag").collect::<Vec<_>>(), ["x", "ä"]);
        assert_eq!(
            (fields.text("empty"), fields.get("%zz")),
            (None, "\u{fffd}")
        );
        assert_eq!(Fields::parse("q=a&page=2").with("page", ""), "q=a");
        assert_eq!(
            Fields::parse("q=a&page=2").with("page", "3 4"),
            "q=a&page=3%204"
        );
    }

    proptest! {
        #[test]
        fn encoded_fields_are_parsed_to_the_same_fields(name in ".{1,10}", value in ".{0,20}") {
            let fields = Fields::parse(&encode_pairs([(name.as_str(), value.as_str())]));
            prop_assert_eq!(fields.get(&name), value);
        }
    }

    #[test]
    fn only_paths_of_this_server_are_targets_of_redirects() {
        for path in ["/", "/memories?q=a%20b", "/memories/1#x"] {
            assert_eq!(local_path(path), path);
        }
        for path in [
            "",
            "memories",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/a b",
            "/a\r\nSet-Cookie: x",
            "/ä",
        ] {
            assert_eq!(local_path(path), "/", "{path}");
        }
    }
}
