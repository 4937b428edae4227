//! Which lines of an index are those that we wrote.

use std::collections::HashMap;

/// A line that was found again: which of ours it is, and what was found before it.
struct Found {
    line: usize,
    own: usize,
    before: Option<usize>,
}

/// Tells of each line whether it is one of `ours`, to the letter. They are found in their order, as many as can be; where a person
/// copied one, only one of the two is ours. Of lines that are hidden none is.
pub(super) fn aligned(lines: &[&str], hidden: &[bool], ours: &[String]) -> Vec<bool> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, own) in ours.iter().enumerate() {
        places.entry(own.trim_matches('\n')).or_default().push(at);
    }
    let mut found: Vec<Found> = Vec::new();
    // The last of the best so many that were found in their order: that which leaves most room behind it.
    let mut last: Vec<usize> = Vec::new();
    for (line, text) in lines.iter().enumerate().filter(|(line, _)| !hidden[*line]) {
        for own in places.get(without_end(text)).into_iter().flatten().rev().copied() {
            let count = last.partition_point(|at| found[*at].own < own);
            if last.get(count).is_some_and(|at| found[*at].own == own) {
                continue;
            }
            found.push(Found { line, own, before: count.checked_sub(1).map(|count| last[count]) });
            last.truncate(last.len().max(count));
            match last.get_mut(count) {
                Some(place) => *place = found.len() - 1,
                None => last.push(found.len() - 1),
            }
        }
    }
    let mut own = vec![false; lines.len()];
    let mut next = last.last().copied();
    while let Some(Found { line, own: at, before }) = next.map(|at| &found[at]) {
        own[*line] = true;
        // An empty line that we put before or behind it goes with it.
        let is_blank = |line: usize| lines.get(line).is_some_and(|text| text.trim().is_empty()) && !hidden[line];
        if let Some(above) = line.checked_sub(1).filter(|above| ours[*at].starts_with('\n') && is_blank(*above)) {
            own[above] = true;
        }
        if ours[*at].ends_with('\n') && is_blank(line + 1) {
            own[line + 1] = true;
        }
        next = *before;
    }
    own
}

fn without_end(line: &str) -> &str {
    line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::aligned;

    fn own(text: &str, ours: &[&str]) -> String {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let ours: Vec<String> = ours.iter().map(|&own| own.to_owned()).collect();
        let own = aligned(&lines, &vec![false; lines.len()], &ours);
        own.into_iter().map(|is_own| if is_own { 'o' } else { '.' }).collect()
    }

    #[test]
    fn lines_are_found_again_to_the_letter_and_in_their_order() {
        assert_eq!(own("t\nu\na\nb\n", &["t", "u", "a", "b"]), "oooo");
        assert_eq!(own("t\r\nu\r\na \r\nb", &["t", "u", "a", "b"]), "oo.o");
        assert_eq!(own("b\nt\nu\na\nb\nmine\nb\n", &["t", "u", "a", "b"]), ".oooo..", "a copy is a person's");
        assert_eq!(own("u\nt\na\n", &["t", "u", "a"]), ".oo");
        assert_eq!(own("x\ny\n", &["t"]), "..");
        assert_eq!(own("", &["t"]), "");
    }

    #[test]
    fn empty_lines_are_ours_only_where_we_put_them() {
        assert_eq!(own("mine\n\nu\na\n", &["\nu", "a"]), ".ooo");
        assert_eq!(own("mine\n\nu\na\n", &["u", "a"]), "..oo");
        assert_eq!(own("u\na\n\nmine\n", &["u", "a\n"]), "ooo.");
        assert_eq!(own("u\na\nmine\n", &["\nu", "a\n"]), "oo.");
    }
}
