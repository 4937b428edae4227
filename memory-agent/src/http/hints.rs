//! Rewrites hints for HTTP clients: routes replace shell commands.

use crate::tools::without_commands;

/// Command prefixes with their routes. The next word is the instance type, if the route takes one.
const ROUTES: [(&str, &str); 5] = [
    ("memory instance backends", "GET /v1/backends"),
    ("memory instance instances", "GET /v1/instances"),
    ("memory instance actions", "GET /v1/backends"),
    ("memory instance run", "GET /v1/backends"),
    ("memory agent --list-tools", "GET /v1/tools"),
];

/// Returns a hint with commands replaced by routes; clauses with other commands are left out.
pub(super) fn with_routes(hint: &str) -> Option<String> {
    let mut text = String::new();
    for (at, part) in hint.split('`').enumerate() {
        // Every second part is a code span.
        match (at % 2 == 1, find_route(part)) {
            (false, _) => text.push_str(part),
            (true, Some(route)) => text.push_str(&route),
            (true, None) => text.extend(["`", part, "`"]),
        }
    }
    without_commands(&text)
}

fn find_route(command: &str) -> Option<String> {
    let (rest, route) = ROUTES.iter().find_map(|(own, route)| Some((command.strip_prefix(own)?, *route)))?;
    let kind = rest.split_whitespace().next().and_then(|word| word.split('/').next());
    let takes_kind = route == "GET /v1/backends";
    match kind {
        Some(kind) if takes_kind && !kind.starts_with('-') => Some(format!("{route}/{kind}")),
        _ => Some(route.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_routes_and_no_commands() {
        for (hint, client) in [
            (
                "`memory instance run history/NAME append --help` shows the fields",
                Some("GET /v1/backends/history shows the fields"),
            ),
            ("`memory instance backends` lists the backends", Some("GET /v1/backends lists the backends")),
            ("`memory instance actions kv` lists the actions", Some("GET /v1/backends/kv lists the actions")),
            (
                "`memory instance instances` lists the instances; `memory instance connect` creates one",
                Some("GET /v1/instances lists the instances"),
            ),
            ("`memory agent --list-tools --tools all` lists them", Some("GET /v1/tools lists them")),
            ("`memory instance connect` sets another user and password", None),
            ("try again in a moment", Some("try again in a moment")),
            ("a `literal` stays", Some("a `literal` stays")),
        ] {
            assert_eq!(with_routes(hint).as_deref(), client, "{hint}");
        }
    }
}
