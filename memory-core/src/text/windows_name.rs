//! File names that Windows does not allow.
//!
//! Homes move between systems, so new files avoid these names on every system. Existing files keep their names.

use unicode_normalization::UnicodeNormalization;

/// Names that Windows reserves for devices, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Prefixes of numbered device names.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Characters that Windows does not allow in file names.
const FORBIDDEN: [char; 8] = ['<', '>', ':', '"', '|', '?', '*', '\\'];

/// Returns whether Windows reserves a file name for a device, with any extension.
///
/// ```
/// # use memory_core::text::is_device_name;
/// assert!(is_device_name("NUL") && is_device_name("com1.md"));
/// assert!(!is_device_name("console") && !is_device_name("nul-1"));
/// ```
pub fn is_device_name(name: &str) -> bool {
    let name: String = name.nfkc().collect();
    let stem = name
        .split('.')
        .next()
        .unwrap_or_default()
        .trim_end()
        .to_lowercase();
    let is_numbered = |device: &str| {
        let number = stem.strip_prefix(device);
        number.is_some_and(|number| {
            number.len() == 1 && number.bytes().all(|digit| digit.is_ascii_digit())
        })
    };
    DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.iter().any(|device| is_numbered(device))
}

/// Returns why Windows does not allow a file name, as the end of a sentence; `None` if it does.
pub fn windows_name_problem(name: &str) -> Option<&'static str> {
    if is_device_name(name) {
        Some("is the name of a device on Windows, such as con, nul or com1")
    } else if name.contains(FORBIDDEN) || name.contains(char::is_control) {
        Some("contains a character that Windows does not allow in file names")
    } else if name.ends_with(['.', ' ']) {
        Some("ends in a dot or space, which Windows removes")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_windows_does_not_allow_are_reported() {
        let device = "is the name of a device on Windows, such as con, nul or com1";
        let character = "contains a character that Windows does not allow in file names";
        let end = "ends in a dot or space, which Windows removes";
        for (name, problem) in [
            ("con", Some(device)),
            ("CON", Some(device)),
            ("Prn.md", Some(device)),
            ("aux.tar.gz", Some(device)),
            ("nul .json", Some(device)),
            ("com0", Some(device)),
            ("COM9.jsonl", Some(device)),
            ("com\u{b9}", Some(device)),
            ("lpt1", Some(device)),
            ("LPT\u{b3}.md", Some(device)),
            ("conin$", Some(device)),
            ("CONOUT$.txt", Some(device)),
            ("a.", Some(end)),
            ("a ", Some(end)),
            ("...", Some(end)),
            ("a<b", Some(character)),
            ("a>b", Some(character)),
            ("a:b", Some(character)),
            ("a\"b", Some(character)),
            ("a|b", Some(character)),
            ("a?b", Some(character)),
            ("a*b", Some(character)),
            ("a\\b", Some(character)),
            ("a\tb", Some(character)),
            ("console", None),
            ("con-1.md", None),
            ("com", None),
            ("com10", None),
            ("lpt", None),
            ("null", None),
            (".con", None),
            ("a.con", None),
            ("深色", None),
            ("a b.md", None),
        ] {
            assert_eq!(windows_name_problem(name), problem, "{name:?}");
        }
    }
}
