//! The meanings of the settings, as the comments of the file of defaults state them.

/// Content of the file that `memory config init` writes: every key with its default and meaning.
pub(crate) const DEFAULT_FILE: &str = include_str!("default.yaml");

/// A key of the file of defaults.
pub(crate) struct DescribedKey {
    /// The key, in dotted form.
    pub(crate) path: String,
    /// The default, or an example if there is none.
    pub(crate) value: String,
    /// The comment above the key, as one line.
    pub(crate) meaning: String,
}

/// Returns the keys of the file of defaults in their order.
pub(crate) fn described_keys() -> Vec<DescribedKey> {
    let (mut keys, mut sections, mut comment): (Vec<DescribedKey>, Vec<&str>, Vec<&str>) =
        (Vec::new(), Vec::new(), Vec::new());
    for line in DEFAULT_FILE.lines() {
        let depth = (line.len() - line.trim_start().len()) / 2;
        let text = line.trim();
        let uncommented = text.strip_prefix("# ").unwrap_or(text);
        let is_name = |name: &&str| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c))
        };
        match uncommented
            .split_once(':')
            .filter(|(name, value)| is_name(name) && (value.starts_with(' ') || value.is_empty()))
        {
            Some((name, "")) if !text.starts_with('#') => {
                sections.truncate(depth);
                sections.push(name);
                comment.clear();
            }
            Some((name, value)) if !value.is_empty() => {
                let parents = &sections[..depth.min(sections.len())];
                let path = parents
                    .iter()
                    .chain([&name])
                    .copied()
                    .collect::<Vec<_>>()
                    .join(".");
                let value = value.trim().trim_matches('"').to_owned();
                keys.push(DescribedKey {
                    path,
                    value,
                    meaning: comment.join(" "),
                });
                comment.clear();
            }
            _ if text.is_empty() => comment.clear(),
            _ => comment.push(uncommented),
        }
    }
    keys
}
