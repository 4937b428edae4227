//! Finds the generated lines in the current text of an index.

use std::collections::HashMap;

/// A matched line: its position, the generated line it equals, and the match before it.
struct LineMatch {
    line: usize,
    own: usize,
    before: Option<usize>,
}

/// Returns for each line whether it is one of the generated lines `ours`, compared verbatim.
///
/// The matches form a longest common subsequence, so the order is preserved, and if a user copied a line, only one of
/// the copies matches. Hidden lines never match.
pub(super) fn find_generated_lines(lines: &[&str], hidden: &[bool], ours: &[String]) -> Vec<bool> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, own) in ours.iter().enumerate() {
        places.entry(own.trim_matches('\n')).or_default().push(at);
    }
    let mut found: Vec<LineMatch> = Vec::new();
    // As for a longest increasing subsequence: `last[n]` is the match that ends the best subsequence of length `n + 1`,
    // which is the one with the smallest position in `ours`.
    let mut last: Vec<usize> = Vec::new();
    for (line, text) in lines.iter().enumerate().filter(|(line, _)| !hidden[*line]) {
        for own in places.get(trim_line_break(text)).into_iter().flatten().rev().copied() {
            let count = last.partition_point(|at| found[*at].own < own);
            if last.get(count).is_some_and(|at| found[*at].own == own) {
                continue;
            }
            found.push(LineMatch { line, own, before: count.checked_sub(1).map(|count| last[count]) });
            last.truncate(last.len().max(count));
            match last.get_mut(count) {
                Some(place) => *place = found.len() - 1,
                None => last.push(found.len() - 1),
            }
        }
    }
    let mut own = vec![false; lines.len()];
    let mut next = last.last().copied();
    while let Some(LineMatch { line, own: at, before }) = next.map(|at| &found[at]) {
        own[*line] = true;
        // An empty line that was generated before or after a line belongs to it.
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

fn trim_line_break(line: &str) -> &str {
    line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::find_generated_lines;

    fn own(text: &str, ours: &[&str]) -> String {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let ours: Vec<String> = ours.iter().map(|&own| own.to_owned()).collect();
        let own = find_generated_lines(&lines, &vec![false; lines.len()], &ours);
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
