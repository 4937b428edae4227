//! Names that identify notes without ids in every export.

use std::collections::HashMap;

/// Returns for each note the first of its names that no other note has at this place in its list, or else its last name.
///
/// Since the names are those of all notes with an equal first name, a new note does not take over the name of another one. Notes
/// with equal last names are numbered in their order.
pub(crate) fn distinct_names<const COUNT: usize>(names: &[[String; COUNT]]) -> Vec<String> {
    let mut owners = HashMap::<(usize, &str), usize>::new();
    for own in names {
        for (place, name) in own.iter().enumerate() {
            *owners.entry((place, name)).or_default() += 1;
        }
    }
    let mut taken = HashMap::<String, u64>::new();
    let distinct = names.iter().map(|own| {
        let is_distinct = |(place, name): &(usize, &String)| owners[&(*place, name.as_str())] == 1;
        let name = own
            .iter()
            .enumerate()
            .find(is_distinct)
            .map(|(_, name)| name)
            .or(own.last())
            .cloned()
            .unwrap_or_default();
        loop {
            let count = taken.entry(name.clone()).or_default();
            *count += 1;
            let number = *count;
            if number == 1 {
                return name;
            }
            let numbered = format!("{name} ({number})");
            if !taken.contains_key(&numbered) {
                taken.insert(numbered.clone(), 1);
                return numbered;
            }
        }
    });
    distinct.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::distinct_names;

    #[test]
    fn notes_with_equal_names_receive_more_exact_ones() {
        let names = [["a", "a 1"], ["b", "b 2"], ["b", "b 3"], ["b", "b 3"]]
            .map(|own| own.map(str::to_owned));
        assert_eq!(distinct_names(&names), ["a", "b 2", "b 3", "b 3 (2)"]);
    }

    proptest! {
        #[test]
        fn all_names_are_distinct_and_a_new_note_leaves_those_of_groups(
            names in prop::collection::vec(("[ab]( \\(2\\))?", "[abc]"), 0..9), first in "[ab]"
        ) {
            let exact = |(name, text): &(String, String)| [name.clone(), format!("{name} {text}")];
            let notes: Vec<_> = names.iter().map(exact).collect();
            let before = distinct_names(&notes);
            let unique: std::collections::HashSet<_> = before.iter().collect();
            prop_assert_eq!(unique.len(), before.len());
            let mut more = vec![exact(&(first.clone(), "new".into()))];
            more.extend(notes.iter().cloned());
            let after = distinct_names(&more);
            for (number, [name, exact]) in notes.iter().enumerate() {
                let is_single = notes.iter().filter(|other| other[0] == *name).count() == 1;
                if *name != first || !is_single {
                    prop_assert_eq!(&after[number + 1], &before[number], "{}", exact);
                }
            }
        }
    }
}
