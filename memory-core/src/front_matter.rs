//! The front matter of Markdown files.

/// The parts of a text; concatenated in this order they are the text.
#[derive(Debug, Clone, Copy)]
pub struct FileParts<'a> {
    /// The byte order mark, or empty.
    pub mark: &'a str,
    /// The front matter, if any.
    pub front: Option<FencedYaml<'a>>,
    /// The rest of the text.
    pub body: &'a str,
    /// Whether the first line is a fence without a second one.
    pub is_open: bool,
}

/// The front matter and its fences.
#[derive(Debug, Clone, Copy)]
pub struct FencedYaml<'a> {
    /// The first fence with its line break.
    pub opening: &'a str,
    /// The lines between the fences.
    pub yaml: &'a str,
    /// The second fence with its line break, if it has one.
    pub closing: &'a str,
}

/// Splits a text into its parts.
pub fn split(text: &str) -> FileParts<'_> {
    let (mark, rest) = text.split_at(if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    });
    let (front, body, is_open) = match split_front_matter(rest) {
        Ok(Some((front, body))) => (Some(front), body, false),
        Ok(None) => (None, rest, false),
        Err(UnclosedFence) => (None, rest, true),
    };
    FileParts {
        mark,
        front,
        body,
        is_open,
    }
}

/// Returns the body without its last line break.
pub fn content(body: &str) -> &str {
    body.strip_suffix('\n')
        .map_or(body, |body| body.strip_suffix('\r').unwrap_or(body))
}

/// Returns the first line break of a text, or `\n` if there is no line break.
pub fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(place) if text[..place].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

struct UnclosedFence;

fn split_front_matter(text: &str) -> Result<Option<(FencedYaml<'_>, &str)>, UnclosedFence> {
    let opening = text.split_inclusive('\n').next().unwrap_or_default();
    if !is_fence(opening) {
        return Ok(None);
    }
    let mut end = opening.len();
    for line in text[opening.len()..].split_inclusive('\n') {
        if is_fence(line) {
            let (closing, body) = text[end..].split_at(line.len());
            return Ok(Some((
                FencedYaml {
                    opening,
                    yaml: &text[opening.len()..end],
                    closing,
                },
                body,
            )));
        }
        end += line.len();
    }
    Err(UnclosedFence)
}

fn is_fence(line: &str) -> bool {
    let line = line
        .strip_suffix('\n')
        .map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
    line.trim_end_matches([' ', '\t']) == "---"
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_front_matter_is_not_part_of_the_body() {
        for (text, body) in [
            ("---\nname: x\n---\n# Tea\n", "# Tea\n"),
            ("\u{feff}---\r\nname: x\r\n--- \r\n# Tea\n", "# Tea\n"),
            ("# Tea\n---\n", "# Tea\n---\n"),
            ("---\nunclosed", "---\nunclosed"),
        ] {
            assert_eq!(split(text).body, body);
        }
    }
}
