//! Editing of the review in the text of the settings file, which may be a list with comments.

use memory_core::{AgentName, ReviewPolicy, ReviewRule, ScopePattern, WritePolicy};
use serde_yaml::Value;

use super::edit::set_value;

/// Returns the text in which the review is `wanted`: with another default, or with another rule for all changes by `agent`.
///
/// Only the line of the rule changes. Returns `None` if the text requires manual editing.
pub(crate) fn set_rule(
    text: &str,
    agent: Option<&AgentName>,
    policy: WritePolicy,
    wanted: &ReviewPolicy,
) -> Option<String> {
    let Some(agent) = agent else {
        return set_value(text, "review.policy", policy.as_str());
    };
    let read: Value = serde_yaml::from_str(text).ok()?;
    let is_own = |rule: &str| {
        let rule = rule.trim().parse::<ReviewRule>();
        rule.is_ok_and(|rule| rule.agent.as_ref() == Some(agent) && rule.scope == ScopePattern::Any)
    };
    // A new rule is the first one, because the first that matches decides.
    let own = wanted.rules.first().map(ToString::to_string);
    let own = own.filter(|rule| is_own(rule));
    match read.get("review").and_then(|review| review.get("rules")) {
        Some(Value::Sequence(items)) => {
            let items: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            set_item(text, &items?, &is_own, own.as_deref())
        }
        Some(Value::String(rules)) => {
            let others = rules.split(',').map(str::trim);
            let others = others.filter(|rule| !rule.is_empty() && *rule != "none" && !is_own(rule));
            let rules: Vec<&str> = own.as_deref().into_iter().chain(others).collect();
            set_value(text, "review.rules", &rules.join(", "))
        }
        Some(Value::Null) | None => match own {
            Some(rule) => set_value(text, "review.rules", &rule),
            None => Some(text.to_owned()),
        },
        Some(_) => None,
    }
}

/// Returns the text in which the list of rules has `own` as its first item, and no other item for which `is_own` returns true.
fn set_item(
    text: &str,
    items: &[&str],
    is_own: &dyn Fn(&str) -> bool,
    own: Option<&str>,
) -> Option<String> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<&str> = text.lines().collect();
    let is_head = |line: &&str, key: &str| line.trim_start().starts_with(key);
    let review = lines.iter().position(|line| line.starts_with("review:"))?;
    let head = lines[review..]
        .iter()
        .position(|line| is_head(line, "rules:"))?
        + review;
    let value = lines[head].trim_start().strip_prefix("rules:")?.trim();
    let others = items.iter().filter(|item| !is_own(item));
    if value.starts_with('[') {
        // A list on one line has no room for comments inside it.
        let close = lines[head].rfind(']')?;
        let rules: Vec<Value> = own
            .into_iter()
            .chain(others.copied())
            .map(Value::from)
            .collect();
        let open = lines[head].find('[')?;
        let (before, after) = (&lines[head][..open], &lines[head][close + 1..]);
        let line = format!("{before}{}{after}", serde_json::to_string(&rules).ok()?);
        lines[head] = &line;
        return Some(join(&lines, end));
    }
    if !value.is_empty() && !value.starts_with('#') {
        return None;
    }
    let is_item = |line: &str| line.trim_start().starts_with("- ");
    let first = head + 1 + lines[head + 1..].iter().position(|line| is_item(line))?;
    let indent = &lines[first][..lines[first].len() - lines[first].trim_start().len()];
    let new = own.map(|rule| {
        format!(
            "{indent}- {}",
            Value::from(rule).as_str().unwrap_or_default()
        )
    });
    let read = |line: &str| -> Option<String> {
        let item = line.trim_start().strip_prefix("- ")?;
        serde_yaml::from_str::<Value>(item)
            .ok()?
            .as_str()
            .map(str::to_owned)
    };
    let mut number = 0;
    let mut kept = Vec::with_capacity(lines.len() + 1);
    for (at, line) in lines.iter().enumerate() {
        if at == first {
            kept.extend(new.as_deref());
        }
        if first <= at && number < items.len() && is_item(line) {
            // An item that continues on the next line reads differently.
            let item = read(line).filter(|item| item == items[number])?;
            number += 1;
            if is_own(&item) {
                continue;
            }
        }
        kept.push(line);
    }
    // Without an item, the key has no value.
    if own.is_none() && items.iter().all(|item| is_own(item)) {
        kept.remove(head);
    }
    Some(join(&kept, end))
}

fn join(lines: &[&str], end: &str) -> String {
    lines.iter().flat_map(|line| [*line, end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, rules: &[&str]) -> Option<String> {
        let agent = "codex".parse().expect("a name");
        let wanted = ReviewPolicy {
            default: WritePolicy::Direct,
            rules: rules
                .iter()
                .map(|rule| rule.parse().expect("a rule"))
                .collect(),
        };
        set_rule(text, Some(&agent), WritePolicy::Propose, &wanted)
    }

    #[test]
    fn a_rule_is_added_and_removed_and_all_other_lines_stay() {
        let codex = "codex * propose";
        for (without, with) in [
            ("# mine\n", "# mine\nreview:\n  rules: codex * propose\n"),
            (
                "review:\n  rules: cursor global propose # why\n",
                "review:\n  rules: codex * propose, cursor global propose # why\n",
            ),
            (
                "review:\n  # first\n  rules:\n    # of cursor\n    - cursor global propose # why\n    - \"* project propose\"\nb: 1\n",
                "review:\n  # first\n  rules:\n    # of cursor\n    - codex * propose\n    - cursor global propose # why\n    \
                 - \"* project propose\"\nb: 1\n",
            ),
            (
                "review:\n  rules: [\"cursor global propose\"] # why\n",
                "review:\n  rules: [\"codex * propose\",\"cursor global propose\"] # why\n",
            ),
            (
                "review:\r\n  rules:\r\n  - cursor global propose\r\n",
                "review:\r\n  rules:\r\n  - codex * propose\r\n  - cursor global propose\r\n",
            ),
        ] {
            assert_eq!(set(without, &[codex]).as_deref(), Some(with), "{without:?}");
            assert_eq!(
                set(with, &["cursor global propose"]).as_deref(),
                Some(without),
                "{with:?}"
            );
        }
        assert_eq!(
            set(
                "review:\n  policy: propose\n  rules:\n    - codex * direct\n",
                &[]
            )
            .as_deref(),
            Some("review:\n  policy: propose\n")
        );
    }

    #[test]
    fn a_text_in_an_unusual_form_is_left_alone() {
        for text in [
            "review:\n  rules:\n    - >-\n      cursor global\n      propose\n",
            "review: {rules: [cursor global propose]}\n",
            "review:\n  rules: 1\n",
        ] {
            assert_eq!(set(text, &["codex * propose"]), None, "{text:?}");
        }
    }
}
