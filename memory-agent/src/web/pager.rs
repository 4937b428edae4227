//! The parts of the pages of a list: links by number, and the menu of its orders.

use super::fields::Fields;
use super::request::{WebRequest, with_query};

/// Fields of a query that describe the previous request, the place in a list, or its selection.
const PASSING: [&str; 7] = [
    "page", "done", "notice", "skipped", "failed", "left", "select",
];

/// Number of pages on each side of the current one that have a link.
const AROUND: usize = 2;

/// The links to the pages of a list.
#[derive(Debug, Default)]
pub(crate) struct Pager {
    pub(crate) previous: Option<String>,
    pub(crate) next: Option<String>,
    /// The first page, those around the current one, and the last; empty if there is one page.
    pub(crate) pages: Vec<PageLink>,
    /// The items of this page, such as `31–60 of 90`.
    pub(crate) range: String,
}

/// The link to one page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PageLink {
    pub(crate) number: usize,
    pub(crate) path: String,
    pub(crate) is_current: bool,
    /// Whether pages between this one and the previous link have no link.
    pub(crate) follows_gap: bool,
}

impl Pager {
    /// Returns the pager of a list with `total` items, of which `page` starts at 0.
    pub(crate) fn new(request: &WebRequest, page: usize, size: usize, total: u64) -> Self {
        Self::of(&request.path, &request.query, page, size, total)
    }

    fn of(path: &str, query: &Fields, page: usize, size: usize, total: u64) -> Self {
        let count = usize::try_from(total)
            .unwrap_or(usize::MAX)
            .div_ceil(size)
            .max(1);
        let path = |number: usize| page_path(path, query, number);
        let (first, last) = (
            (page * size) as u64 + 1,
            (((page + 1) * size) as u64).min(total),
        );
        let current = page + 1;
        let mut pages: Vec<PageLink> = Vec::new();
        for number in linked_pages(current, count) {
            pages.push(PageLink {
                path: path(number),
                is_current: number == current,
                follows_gap: pages.last().is_some_and(|last| last.number + 1 < number),
                number,
            });
        }
        if count == 1 {
            pages.clear();
        }
        Self {
            // A page after the end, from which items were deleted, leads to the last one.
            previous: (1 < current).then(|| path(page.min(count))),
            next: (current < count).then(|| path(current + 1)),
            pages,
            range: if last < first {
                String::new()
            } else {
                format!("{first}–{last} of {total}")
            },
        }
    }

    /// Returns the number of the page in the query, from 0.
    pub(crate) fn page(request: &WebRequest) -> usize {
        request
            .query
            .get("page")
            .parse::<usize>()
            .unwrap_or(1)
            .clamp(1, 100_000)
            - 1
    }
}

/// Returns the numbers of the pages that have a link: the first, the last, and those around the current one.
///
/// A gap of one page is filled, because its link takes no more space than the gap.
fn linked_pages(current: usize, count: usize) -> impl Iterator<Item = usize> {
    let is_near = move |number: usize| current.abs_diff(number) <= AROUND;
    let low = current.saturating_sub(AROUND + 1).max(1).min(count);
    let high = (current + AROUND + 1).min(count);
    let middle =
        (low..=high).filter(move |&number| is_near(number) || number <= 2 || count <= number + 1);
    let first = (1 < low).then_some(1);
    let last = (high < count).then_some(count);
    first.into_iter().chain(middle).chain(last)
}

fn page_path(path: &str, query: &Fields, number: usize) -> String {
    let number = if number == 1 {
        String::new()
    } else {
        number.to_string()
    };
    let query = Fields::parse(&query.without(&PASSING)).with("page", &number);
    with_query(path, &query)
}

/// The menu of the orders of a list. The first order is the default.
#[derive(Debug, Default)]
pub(crate) struct SortMenu {
    /// The path to which the form sends the order.
    pub(crate) path: String,
    /// The other fields of the query.
    pub(crate) fields: Vec<(String, String)>,
    /// The value of each order, its name for people, and whether it is the current one.
    pub(crate) orders: Vec<(&'static str, &'static str, bool)>,
}

/// The field of the query with the order of a list.
pub(crate) const SORT: &str = "sort";

impl SortMenu {
    /// Returns the menu for `orders`, each with its value and its name, and the index of the chosen one.
    pub(crate) fn new(
        request: &WebRequest,
        orders: &[(&'static str, &'static str)],
    ) -> (Self, usize) {
        let wanted = request.query.get(SORT);
        let chosen = orders
            .iter()
            .position(|(value, _)| *value == wanted)
            .unwrap_or_default();
        let menu = Self {
            path: request.path.clone(),
            fields: request.query.except(&[&PASSING[..], &[SORT]].concat()),
            orders: orders
                .iter()
                .enumerate()
                .map(|(at, (value, name))| (*value, *name, at == chosen))
                .collect(),
        };
        (menu, chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(page: usize, total: u64) -> String {
        let pager = Pager::of("/x", &Fields::parse("q=a&page=9&done=1"), page, 10, total);
        let mut text = String::new();
        for link in &pager.pages {
            text += if link.follows_gap { " … " } else { " " };
            text += &link.number.to_string();
            text += if link.is_current { "!" } else { "" };
        }
        text.trim().to_owned()
    }

    #[test]
    fn the_first_the_last_and_the_pages_around_have_links() {
        assert_eq!(shown(0, 10), "");
        assert_eq!(shown(0, 11), "1! 2");
        assert_eq!(shown(0, 200), "1! 2 3 … 20");
        assert_eq!(shown(4, 200), "1 2 3 4 5! 6 7 … 20");
        assert_eq!(shown(9, 200), "1 … 8 9 10! 11 12 … 20");
        assert_eq!(shown(15, 200), "1 … 14 15 16! 17 18 19 20");
        assert_eq!(shown(19, 200), "1 … 18 19 20!");
    }

    #[test]
    fn a_link_keeps_the_query_and_the_first_page_has_no_number() {
        let pager = Pager::of(
            "/x",
            &Fields::parse("q=a&page=2&done=1&skipped=1"),
            1,
            10,
            25,
        );
        assert_eq!(pager.previous.as_deref(), Some("/x?q=a"));
        assert_eq!(pager.next.as_deref(), Some("/x?q=a&page=3"));
        assert_eq!(pager.range, "11–20 of 25");
        let pager = Pager::of("/x", &Fields::parse("page=2"), 1, 10, 20);
        assert_eq!(pager.previous.as_deref(), Some("/x"));
    }

    #[test]
    fn a_page_after_the_end_leads_to_the_last_one() {
        let pager = Pager::of("/x", &Fields::default(), 7, 10, 25);
        assert_eq!(pager.previous.as_deref(), Some("/x?page=3"));
        assert_eq!((pager.next, pager.range.as_str()), (None, ""));
    }
}
