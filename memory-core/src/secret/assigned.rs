//! Values that are assigned to the name of a credential, in the notations of configurations, programs, documents and tables.

use std::ops::Range;

use super::placeholder::{is_hash_or_uuid, is_placeholder, looks_like_password, looks_random};

/// Minimum length of a credential in bytes.
const MIN_LENGTH: usize = 16;

/// Maximum number of bytes of a value to examine; they suffice for the decision.
const MAX_EXAMINED: usize = 256;

/// Maximum number of bytes of a name, of blanks and of a type.
const MAX_PART: usize = 64;

/// Keywords that are also parts of other words, and therefore start a word of the name.
const SHORT_WORDS: [&str; 5] = ["pw", "pin", "mdp", "clave", "key"];

/// Words before `key` in the name of a secret key.
const KEY_OWNERS: [&str; 20] = [
    "access",
    "account",
    "admin",
    "app",
    "auth",
    "cipher",
    "client",
    "crypt",
    "decryption",
    "deploy",
    "encryption",
    "license",
    "master",
    "private",
    "service",
    "session",
    "shared",
    "signing",
    "symmetric",
    "webhook",
];

/// Parts that continue the word of a keyword.
const CONTINUATIONS: [&str; 12] = [
    "s", "es", "key", "keys", "value", "phrase", "code", "string", "text", "base", "word", "token",
];

/// Words behind a keyword in the name of something that is no credential.
const HARMLESS_WORDS: [&str; 56] = [
    "address",
    "addr",
    "alias",
    "arn",
    "attempts",
    "budget",
    "checksum",
    "class",
    "column",
    "count",
    "date",
    "digest",
    "endpoint",
    "env",
    "error",
    "expires",
    "expiry",
    "field",
    "file",
    "filename",
    "format",
    "hash",
    "header",
    "hint",
    "id",
    "ids",
    "input",
    "issuer",
    "kind",
    "label",
    "length",
    "limit",
    "location",
    "manager",
    "max",
    "md5",
    "min",
    "model",
    "name",
    "names",
    "path",
    "policy",
    "prefix",
    "ref",
    "reference",
    "schema",
    "selector",
    "sha1",
    "sha256",
    "size",
    "store",
    "suffix",
    "type",
    "uri",
    "url",
    "version",
];

/// Ends of the names of keys, whose value may look like a hash.
const KEY_NAMES: [&str; 12] = [
    "access_token",
    "api_token",
    "encryption_key",
    "jwt_secret",
    "refresh_token",
    "session_secret",
    "api_key",
    "apikey",
    "secret_key",
    "access_key",
    "client_secret",
    "auth_token",
];

/// Verbs between a password and its value in a sentence.
const VERBS: [&str; 8] = [
    "is ", "was ", "to ", "ist ", "lautet ", "est ", "es ", "as ",
];

/// Returns the value that is assigned to a name with `keyword`: `DB_PASSWORD="…"`, `**api_key**: …`, `--password …`, or in a table.
pub(super) fn find_assigned_value(
    text: &str,
    kind: &str,
    keyword: Range<usize>,
) -> Option<Range<usize>> {
    let (name, rest) = split_name(text, keyword)?;
    let is_password = kind == "password";
    let after = skip_separator(text, &name, rest, is_password)?;
    let is_key = || {
        let name = text[name.clone()].to_ascii_lowercase().replace('-', "_");
        KEY_NAMES.iter().any(|end| name.ends_with(end))
    };
    let is_credential = |value: &str| {
        MIN_LENGTH <= value.len() && looks_random(value)
            || is_password && looks_like_password(value)
            || is_hash_or_uuid(value) && is_key()
    };
    let value = find_value(text, after, &is_credential)
        .or_else(|| find_value(text, skip_type(after)?, &is_credential))
        .or_else(|| find_value_on_next_line(text, after, &is_credential))?;
    // A bare token of this length is more often the hash of something.
    let is_hash = matches!(&text[name.clone()], "token" | "Token" | "TOKEN")
        && value.len() == 32
        && text[value.clone()]
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit());
    (!is_hash)
        .then(|| value.start..value.start + length_in_query(text, &name, &text[value.clone()]))
}

/// Returns the length of the value of a parameter of a URL, before the next parameter and the fragment; of another value all.
fn length_in_query(text: &str, name: &Range<usize>, value: &str) -> usize {
    let before = &text[..name.start];
    if !before.ends_with(['?', '&', '#']) && !before.ends_with("&amp;") {
        return value.len();
    }
    let is_end = |(at, mark): &(usize, &str)| {
        let rest = &value[at + mark.len()..];
        let next = rest.trim_start_matches(|character: char| {
            character.is_ascii_alphanumeric() || "_-.%".contains(character)
        });
        *mark == "#" || rest == "amp" || next.len() < rest.len() && next.starts_with('=')
    };
    let ends = value
        .match_indices(['&', '#'])
        .skip_while(|(at, _)| *at == 0);
    ends.into_iter()
        .find(is_end)
        .map_or(value.len(), |(at, _)| at)
}

/// Returns the values below a heading with `keyword` in a table of Markdown or in comma-separated values.
pub(super) fn find_in_column(text: &str, keyword: Range<usize>) -> Vec<Range<usize>> {
    const MAX_LINE: usize = 512;
    const MAX_ROWS: usize = 16;
    // The heading of a column is alone between separators. Few keywords are, so others cost no scan of their line.
    let behind = skip_blanks(skip_marks(&text[keyword.end..]));
    let is_heading = behind.is_empty() || behind.starts_with(['|', ',', ';', '\t', '\r', '\n']);
    let Some((name, rest)) = is_heading.then(|| split_name(text, keyword)).flatten() else {
        return Vec::new();
    };
    let before = text[..name.start]
        .bytes()
        .rev()
        .take(MAX_LINE)
        .take_while(|&byte| byte != b'\n')
        .count();
    let before = &text.as_bytes()[name.start - before..name.start];
    let head = length_while(rest, MAX_LINE, |byte| byte != b'\n');
    if !rest[head..].starts_with('\n') {
        return Vec::new();
    }
    let next = skip_blanks(skip_marks(rest)).bytes().next();
    let Some(&separator) = [b'|', b',', b';', b'\t']
        .iter()
        .find(|&&separator| before.contains(&separator) || next == Some(separator))
    else {
        return Vec::new();
    };
    let column = before.split(|byte| *byte == separator).count() - 1;
    let mut rows = &rest[head..];
    let mut found = Vec::new();
    for _ in 0..MAX_ROWS {
        let Some(row) = rows.strip_prefix('\n') else {
            break;
        };
        let length = length_while(row, MAX_LINE, |byte| byte != b'\n');
        rows = &row[length..];
        let start = text.len() - row.len();
        let mut cells = row.as_bytes()[..length].split(|&byte| byte == separator);
        let skipped: usize = cells.by_ref().take(column).map(|cell| cell.len() + 1).sum();
        let Some(cell) = cells.next() else {
            break;
        };
        let cell = start + skipped..start + skipped + cell.len();
        let value = find_value(text, &text[cell.start..], &|value| {
            MIN_LENGTH <= value.len() && looks_random(value)
        });
        found.extend(value.filter(|value| value.end <= cell.end));
    }
    found
}

/// Returns the name that contains `keyword`, and the text behind it, if it is a name of a credential.
fn split_name(text: &str, keyword: Range<usize>) -> Option<(Range<usize>, &str)> {
    // The literals of a word of two letters have a further one.
    let keyword = if text[keyword.clone()].to_ascii_lowercase().starts_with("pw")
        && keyword.len() == 3
        && !text[keyword.clone()].eq_ignore_ascii_case("pwd")
    {
        keyword.start..keyword.start + 2
    } else {
        keyword
    };
    let word = &text[keyword.clone()];
    let before = &text[..keyword.start];
    let lower = word.to_ascii_lowercase();
    let starts_word = !before.ends_with(|character: char| character.is_ascii_alphanumeric())
        || (word.starts_with(|character: char| character.is_ascii_uppercase())
            && before.ends_with(|character: char| character.is_ascii_lowercase()));
    let is_owned = || {
        let before = before.strip_suffix(['_', '-', ' ']).unwrap_or(before);
        KEY_OWNERS.iter().any(|owner| {
            before
                .len()
                .checked_sub(owner.len())
                .and_then(|at| before.get(at..))
                .is_some_and(|end| end.eq_ignore_ascii_case(owner))
        })
    };
    let accepted = match lower.as_str() {
        "key" => is_owned(),
        // These are other words.
        "pass" => !["by", "By", "com", "Com"]
            .iter()
            .any(|start| before.ends_with(start)),
        short if SHORT_WORDS.contains(&short) => starts_word,
        _ => true,
    };
    let tail = length_while(&text[keyword.end..], MAX_PART, is_name_byte);
    let tail = &text[keyword.end..keyword.end + tail];
    if !accepted || tail.len() == MAX_PART || !continues_name(word, tail) {
        return None;
    }
    let head = before
        .bytes()
        .rev()
        .take(MAX_PART)
        .take_while(|&byte| is_name_byte(byte) || byte == b'.')
        .count();
    let end = keyword.end + tail.len();
    Some((keyword.start - head..end, &text[end..]))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Returns whether `tail` continues the keyword `word` to the name of a credential, rather than to another word such as
/// `tokenizer`, or to the name of something else such as `secretName`.
fn continues_name(word: &str, tail: &str) -> bool {
    let is_same_word = |character: char| {
        character.is_ascii_lowercase()
            || (character.is_ascii_uppercase() && !word.contains(|c: char| c.is_ascii_lowercase()))
    };
    let words = split_words(tail);
    let is_continued = word.is_ascii() && tail.starts_with(is_same_word);
    let is_harmless = |word: &String| HARMLESS_WORDS.contains(&word.as_str());
    (!is_continued || CONTINUATIONS.contains(&words[0].as_str())) && !words.iter().any(is_harmless)
}

/// Returns the words of a name in snake case, kebab case or camel case, in lower case.
fn split_words(name: &str) -> Vec<String> {
    let (mut words, mut before) = (Vec::<String>::new(), '_');
    for character in name.chars() {
        let is_part = character.is_ascii_alphanumeric();
        let starts = !before.is_ascii_alphanumeric()
            || (before.is_ascii_lowercase() && character.is_ascii_uppercase());
        if is_part && starts {
            words.push(String::new());
        }
        if is_part && let Some(word) = words.last_mut() {
            word.push(character.to_ascii_lowercase());
        }
        before = character;
    }
    words
}

/// Skips what separates a name from its value.
fn skip_separator<'t>(
    text: &str,
    name: &Range<usize>,
    rest: &'t str,
    is_password: bool,
) -> Option<&'t str> {
    let behind_marks = skip_marks(rest);
    let is_quoted = rest[..rest.len() - behind_marks.len()].contains(is_quote);
    let is_element = text[..name.start].ends_with(['<', '/', ':']);
    if (is_element || is_quoted)
        && let Some(value) = skip_tag(behind_marks)
    {
        return Some(value);
    }
    if let Some(value) = skip_value_label(behind_marks) {
        return Some(value);
    }
    let after = skip_blanks(behind_marks);
    for separator in [":=", "=>", "->", ":", "=", "|", "：", "＝"] {
        if let Some(value) = after.strip_prefix(separator) {
            return Some(value);
        }
    }
    if let Some(value) = after.strip_prefix(',').filter(|_| is_quoted) {
        return Some(value);
    }
    if let Some(argument) = after
        .strip_prefix('(')
        .filter(|argument| argument.starts_with(is_quote))
    {
        return Some(argument);
    }
    // What the password is for: `Password for the database (new): …`
    let purpose = length_while(rest, MAX_PART, |byte| {
        byte.is_ascii_alphanumeric() || 0x80 <= byte || b" ()_-./*".contains(&byte)
    });
    let is_harmless = || {
        let mut words = split_words(&rest[..purpose]).into_iter();
        words.any(|word| HARMLESS_WORDS.contains(&word.as_str()))
    };
    if let Some(value) = rest[purpose..]
        .strip_prefix([':', '='])
        .filter(|_| is_password && !is_harmless())
    {
        return Some(value);
    }
    let is_separate = after.len() < behind_marks.len();
    let is_flag = text[name.clone()].starts_with('-');
    if is_separate && (is_password || is_flag || after.starts_with(is_quote)) {
        return Some(
            VERBS
                .iter()
                .find_map(|verb| after.strip_prefix(verb))
                .unwrap_or(after),
        );
    }
    ["是", "为", "為", "は"]
        .iter()
        .find_map(|verb| behind_marks.strip_prefix(verb))
}

/// Skips the rest of a tag of XML.
fn skip_tag(rest: &str) -> Option<&str> {
    let tag = length_while(rest, MAX_PART, |byte| !b"<>\n/".contains(&byte));
    let is_attribute = rest[..tag].contains("value");
    rest.get(tag..)?.strip_prefix('>').filter(|_| !is_attribute)
}

/// Skips a label of a value in a pair: `"name": "password", "value": …`.
fn skip_value_label(rest: &str) -> Option<&str> {
    let gap = length_while(rest, MAX_PART, |byte| {
        byte.is_ascii_whitespace() || b",-\"'{}/".contains(&byte)
    });
    let label = &rest[gap..];
    let end = ["value", "content", "default"].iter().find_map(|word| {
        label
            .get(..word.len())
            .filter(|start| start.eq_ignore_ascii_case(word))
            .map(|_| word.len())
    })?;
    skip_blanks(skip_marks(&label[end..]))
        .strip_prefix([':', '='])
        .filter(|_| 0 < gap)
}

/// Skips a type between a name and its value: `: &str = …`.
fn skip_type(rest: &str) -> Option<&str> {
    let length = length_while(rest, MAX_PART, |byte| {
        byte.is_ascii_alphanumeric() || b" _&'<>[].?|:".contains(&byte)
    });
    rest[length..].strip_prefix('=')
}

/// Returns the value on the line behind `rest`, which it fills.
fn find_value_on_next_line(
    text: &str,
    rest: &str,
    is_credential: &dyn Fn(&str) -> bool,
) -> Option<Range<usize>> {
    let end = length_while(rest, MAX_PART, |byte| b" \t|>-*`\r".contains(&byte));
    let line = rest[end..].strip_prefix('\n')?;
    let line = skip_blanks(line);
    let line = line.strip_prefix("```").map_or(line, |fence| {
        &fence[length_while(fence, MAX_PART, |byte| byte.is_ascii_alphanumeric())..]
    });
    let line = line.trim_start_matches('\n');
    let value = find_value(text, line, is_credential)?;
    let behind = text[value.end..].trim_start_matches(['"', '\'', '`', ' ', '*', ',']);
    (behind.is_empty() || behind.starts_with(['\n', '\r'])).then_some(value)
}

/// Returns the value at the start of `rest`, which is the end of `text`, if `is_credential` returns true for its start.
fn find_value(
    text: &str,
    rest: &str,
    is_credential: &dyn Fn(&str) -> bool,
) -> Option<Range<usize>> {
    let (mut value, mut is_quoted) = (rest, false);
    for _ in 0..6 {
        value = skip_blanks(value);
        let bytes = value.as_bytes();
        let skipped = match bytes {
            [b'"' | b'\'' | b'`', ..] => {
                is_quoted = true;
                1
            }
            [b'*' | b'[' | b'\\', ..] => 1,
            [b'_', b'_', ..] => 2,
            // The prefix of a literal: b"…"
            [prefix, b'"' | b'\'', ..] if prefix.is_ascii_alphabetic() || *prefix == b'@' => 1,
            _ if value.starts_with("<![CDATA[") => 9,
            _ => break,
        };
        value = &value[skipped..];
    }
    let start = text.len() - value.len();
    let examined = &value[..value_length(value.bytes().take(MAX_EXAMINED))];
    if !is_credential(examined) || is_reference(examined, is_quoted) || is_placeholder(examined) {
        return None;
    }
    let length = value_length(value.bytes());
    let is_call = !is_quoted && value[length..].starts_with(['(', '[']);
    (!is_call).then(|| start..start + length)
}

/// Skips quotes, also within a text in JSON, brackets behind a name, and the marks of emphasis in Markdown.
fn skip_marks(rest: &str) -> &str {
    let marks = length_while(rest, 6, |byte| b"\"'`*\\])".contains(&byte));
    let rest = &rest[marks..];
    rest.strip_prefix("__").unwrap_or(rest)
}

/// Skips spaces and tabs.
fn skip_blanks(rest: &str) -> &str {
    &rest[length_while(rest, MAX_PART, |byte| byte == b' ' || byte == b'\t')..]
}

fn length_while(text: &str, most: usize, accept: impl Fn(u8) -> bool) -> usize {
    let length = text
        .bytes()
        .take(most)
        .take_while(|&byte| accept(byte))
        .count();
    text.floor_char_boundary(length)
}

fn is_quote(character: char) -> bool {
    matches!(character, '"' | '\'' | '`')
}

/// Returns the length of a value: printable ASCII except quotes, brackets and separators of lists.
fn value_length(bytes: impl Iterator<Item = u8>) -> usize {
    let in_value = |byte: &u8| byte.is_ascii_graphic() && !b"\"'`,;<>(){}[]|\\".contains(byte);
    bytes.take_while(in_value).count()
}

/// Returns whether `value` is a path, a URL, a variable such as `process.env.NAME` or another reference.
fn is_reference(value: &str, is_quoted: bool) -> bool {
    let word = value.bytes().take_while(u8::is_ascii_lowercase).count();
    let is_dotted = 3 <= word && value[word..].starts_with('.');
    value.contains("://")
        || value.contains("::")
        || value.starts_with(['/', '.', '~', '@'])
        || ["arn:", "urn:"]
            .iter()
            .any(|start| value.starts_with(start))
        || (is_dotted && !is_quoted)
}
