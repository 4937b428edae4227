//! The access keys of memories in a shared log, and the names of their files in replicas.
//!
//! The access key of a memory is the scope that determines which principals read it. It is the scope of the memory itself; but the scopes
//! of agents and conversations belong to a principal, so their key is `private:NAME` on its nodes.
//!
//! A replica names a file of any key other than `global` after the key, such as `slug-0a1b2c3d@team-web.md`. So the files of different
//! keys never have the same path, although a node does not see the files of others, and a file retains its key on every node.

use memory_core::{ContentHash, Scope};

/// Maximum length in bytes of a key in a file name.
const LONGEST: usize = 90;

/// Returns the access key of a new memory on a node of `principal`.
pub(crate) fn access_key(scope: &Scope, principal: Option<&str>) -> Scope {
    match (scope, principal) {
        (Scope::Agent(_) | Scope::Conversation(_), Some(principal)) => {
            Scope::Private(principal.to_owned())
        }
        _ => scope.clone(),
    }
}

/// Returns the access key of a memory in a replica, according to the name of its file.
pub(crate) fn key_of_file(path: &str, scope: &Scope, principal: Option<&str>) -> Scope {
    let Some((_, suffix)) = split_name(path) else {
        return Scope::Global;
    };
    parse_suffix(suffix).unwrap_or_else(|| access_key(scope, principal))
}

/// Returns a file name with the access key, in place of that of another key.
pub(crate) fn name_with_key(name: &str, key: &Scope) -> String {
    let stem = split_name(name).map_or_else(
        || name.strip_suffix(".md").unwrap_or(name),
        |(stem, _)| stem,
    );
    let stem = if stem.is_empty() {
        "-".to_owned()
    } else {
        stem.replace('@', "-")
    };
    if *key == Scope::Global {
        format!("{stem}.md")
    } else {
        format!("{stem}@{}.md", format_suffix(key))
    }
}

/// Returns a path with a number behind the name of the memory, and with the same access key.
pub(crate) fn numbered_path(path: &str, number: u32) -> String {
    match split_name(path) {
        Some((_, key)) => format!(
            "{}-{number}@{key}.md",
            path.strip_suffix(&format!("@{key}.md")).unwrap_or(path)
        ),
        None => format!("{}-{number}.md", path.strip_suffix(".md").unwrap_or(path)),
    }
}

/// Splits a file name with an access key into the part before the key, and the key.
fn split_name(path: &str) -> Option<(&str, &str)> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md")?.rsplit_once('@')
}

/// Splits a file name without its extension into the part before the access key, and who reads the file: the fewest first.
pub(crate) fn name_and_readers(stem: &str) -> (&str, FileReaders) {
    match stem
        .rsplit_once('@')
        .and_then(|(stem, suffix)| Some((stem, parse_suffix(suffix)?)))
    {
        Some((stem, Scope::Private(_))) => (stem, FileReaders::Principal),
        Some((stem, Scope::Global)) => (stem, FileReaders::All),
        Some((stem, _)) => (stem, FileReaders::Some),
        None => (stem, FileReaders::All),
    }
}

/// Who reads a file of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileReaders {
    /// One principal.
    Principal,
    /// Some principals, such as a team.
    Some,
    /// All principals.
    All,
}

/// Returns whether the files of two paths have the same access key.
pub(crate) fn have_same_key(one: &str, other: &str) -> bool {
    split_name(one).map(|(_, key)| key) == split_name(other).map(|(_, key)| key)
}

/// Returns whether a file with this path may have the access key. The paths in a log may be from other programs.
pub(crate) fn is_path_of_key(path: &str, key: &str) -> bool {
    let fits = match (split_name(path), key.parse::<Scope>()) {
        (None, Ok(key)) => key == Scope::Global && !path.contains('@'),
        (Some((_, suffix)), Ok(key)) => key != Scope::Global && format_suffix(&key) == suffix,
        (_, Err(_)) => false,
    };
    fits && is_plain_path(path, "categories/") && path.strip_suffix(".md").is_some()
}

/// Returns whether a path is below `folder`, and leads to no other place.
pub(crate) fn is_plain_path(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| {
        rest.split('/')
            .all(|part| !part.is_empty() && !part.starts_with('.'))
    })
}

/// Returns a key for a file name: letters and digits, and any other character as `%XX`.
fn format_suffix(key: &Scope) -> String {
    let text = key.to_string();
    let (kind, name) = text.split_once(':').unwrap_or((&text, ""));
    let mut suffix = format!("{kind}-");
    for character in name.chars() {
        if character.is_alphanumeric() || matches!(character, '-' | '_' | '.') {
            suffix.push(character);
        } else {
            let mut bytes = [0; 4];
            suffix.extend(
                character
                    .encode_utf8(&mut bytes)
                    .bytes()
                    .map(|byte| format!("%{byte:02X}")),
            );
        }
    }
    if suffix.len() <= LONGEST {
        return suffix;
    }
    let hash = ContentHash::from_bytes(text.as_bytes()).to_string();
    format!("{kind}-~{}", &hash[hash.len() - 32..])
}

/// Parses the result of [`format_suffix`], unless it is only a hash.
fn parse_suffix(suffix: &str) -> Option<Scope> {
    let (kind, name) = suffix.split_once('-')?;
    let (mut bytes, mut rest) = (Vec::new(), name.as_bytes());
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = tail
            .get(..2)
            .and_then(|digits| str::from_utf8(digits).ok())?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &tail[2..];
    }
    let scope: Scope = format!("{kind}:{}", String::from_utf8(bytes).ok()?)
        .parse()
        .ok()?;
    Some(scope).filter(|scope| format_suffix(scope) == suffix)
}

#[cfg(test)]
mod tests {
    use memory_core::testing::any_scope;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_file_name_states_the_key(scope in any_scope(), other in any_scope(), stem in "[a-z@-]{1,9}") {
            let name = name_with_key(&name_with_key(&format!("{stem}.md"), &other), &scope);
            let path = format!("categories/inbox/{name}");
            prop_assert!(is_path_of_key(&path, &scope.to_string()), "{path}");
            prop_assert_eq!(is_path_of_key(&path, &other.to_string()), scope == other);
            prop_assert!(name.len() <= stem.len() + LONGEST + 4);
            prop_assert_eq!(key_of_file(&path, &scope, None), scope);
        }
    }

    #[test]
    fn a_number_does_not_change_the_key() {
        assert_eq!(
            numbered_path("categories/inbox/a@team-web.md", 2),
            "categories/inbox/a-2@team-web.md"
        );
        assert_eq!(
            numbered_path("categories/inbox/a.md", 3),
            "categories/inbox/a-3.md"
        );
    }

    #[test]
    fn the_memories_of_the_agents_of_a_principal_belong_to_it() {
        let agent = Scope::Agent("claude".into());
        assert_eq!(
            access_key(&agent, Some("ada")),
            Scope::Private("ada".into())
        );
        assert_eq!(access_key(&agent, None), agent);
        assert_eq!(
            access_key(&Scope::Team("web".into()), Some("ada")),
            Scope::Team("web".into())
        );
        // Another node retains the key.
        assert_eq!(
            key_of_file("categories/inbox/a@private-ada.md", &agent, None),
            Scope::Private("ada".into())
        );
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_not_one_of_a_memory() {
        for path in [
            "config.yaml",
            "categories/../config.md",
            "categories//a.md",
            "/categories/a.md",
            "categories/.a.md",
            "categories/a",
        ] {
            assert!(!is_path_of_key(path, "global"), "{path}");
        }
        assert!(is_path_of_key("categories/inbox/a.md", "global"));
        assert!(!is_path_of_key("categories/inbox/a.md", "team:web"));
        assert!(!is_path_of_key(
            "categories/inbox/a@team-web.md",
            "team:api"
        ));
        assert!(!is_path_of_key("categories/inbox/a@team-web.md", "global"));
    }
}
