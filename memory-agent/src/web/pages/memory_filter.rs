//! The filters of the list of memories: fields of the query, their chips, and facets.

use chrono::{DateTime, Months, NaiveDate, NaiveTime, Utc};
use memory_core::{
    Category, FacetCounts, Filter, HomeSection, Lifetime, ParseError, Phase, Scope, Tags, parse_day,
};

use crate::web::card::{MemoryCard, describe_readers};
use crate::web::fields::Fields;
use crate::web::html::Label;

/// Fields of the query that are no part of a search.
pub(super) const TRANSIENT_FIELDS: [&str; 3] = ["page", "done", "skipped"];

/// Number of values of a facet that are shown at first; the rest is folded.
const SHOWN_VALUES: usize = 8;

/// Maximum number of values of a facet.
const MAX_VALUES: usize = 30;

/// An active filter, with the path of the page without it.
pub(super) struct FilterChip {
    pub(super) name: &'static str,
    pub(super) value: Label,
    pub(super) path: String,
}

/// The values of one attribute, with the number of memories of each.
pub(super) struct Facet {
    pub(super) title: &'static str,
    pub(super) values: Vec<FacetValue>,
    pub(super) more: Vec<FacetValue>,
}

pub(super) struct FacetValue {
    pub(super) label: Label,
    pub(super) count: u64,
    pub(super) path: String,
    pub(super) is_active: bool,
}

/// Returns the filter of the fields, and why fields were ignored.
pub(super) fn parse_filter(fields: &Fields) -> (Filter, Vec<String>) {
    let mut ignored = Vec::new();
    let category = parse_field::<Category>(fields, "category", &mut ignored);
    let scope = parse_field::<Scope>(fields, "scope", &mut ignored);
    let phase = parse_field::<Phase>(fields, "phase", &mut ignored);
    let month = fields
        .text("month")
        .map(|month| (month, parse_month(month)));
    if let Some((text, None)) = month {
        ignored.push(format!(
            "the month {text:?} is ignored; write it as 2026-05"
        ));
    }
    let (from, until) = month.and_then(|(_, period)| period).unzip();
    let is_everything = fields.text("all").is_some();
    let filter = Filter {
        category,
        scope,
        phase,
        from,
        until,
        source: fields.text("source").map(str::to_owned),
        tags: fields
            .all("tag")
            .filter(|tag| !tag.trim().is_empty())
            .collect::<Tags>(),
        place: Some(HomeSection::Notes).filter(|_| fields.text("entries").is_none()),
        lifetime: if is_everything {
            Lifetime::All
        } else {
            Lifetime::Current
        },
        ..Filter::default()
    };
    (filter, ignored)
}

fn parse_field<T: std::str::FromStr<Err = ParseError>>(
    fields: &Fields,
    name: &str,
    ignored: &mut Vec<String>,
) -> Option<T> {
    match fields.text(name)?.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            ignored.push(format!("{name} is ignored: {error}"));
            None
        }
    }
}

/// Returns the start and the end of a month such as `2026-05`, in UTC as the facets count them.
fn parse_month(text: &str) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let first = parse_day(&format!("{text}-01"))?;
    let start = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
    Some((
        start(first),
        start(first.checked_add_months(Months::new(1))?),
    ))
}

/// The fields that are filters, with their names for people.
const FILTERS: [(&str, &str); 6] = [
    ("category", "Category"),
    ("tag", "Tag"),
    ("scope", "Readers"),
    ("source", "Source"),
    ("month", "Month"),
    ("phase", "Phase"),
];

pub(super) fn filter_chips(fields: &Fields) -> Vec<FilterChip> {
    let mut chips = Vec::new();
    for (field, name) in FILTERS {
        for value in fields.all(field).filter(|value| !value.trim().is_empty()) {
            let path = to_path(&fields.without_value(field, value));
            let scope = value.parse::<Scope>().ok().filter(|_| field == "scope");
            let text = scope.map_or_else(|| value.to_owned(), |scope| describe_readers(&scope));
            chips.push(FilterChip {
                name,
                value: Label::cut(&text, 60),
                path,
            });
        }
    }
    if fields.text("all").is_some() {
        chips.push(FilterChip {
            name: "Shown",
            value: Label::new("also expired and superseded"),
            path: path_with(fields, "all", ""),
        });
    }
    chips
}

pub(super) fn build_facets(fields: &Fields, counts: FacetCounts) -> Vec<Facet> {
    let FacetCounts {
        categories,
        scopes,
        sources,
        tags,
        months,
        counted: _,
    } = counts;
    let single = |title, field: &'static str, values: Vec<(String, String, u64)>| {
        let active = fields.get(field).to_owned();
        let value = |(value, text, count): (String, String, u64)| {
            let is_active = active.eq_ignore_ascii_case(&value);
            let path = path_with(fields, field, if is_active { "" } else { &value });
            FacetValue {
                label: Label::cut(&text, 40),
                count,
                path,
                is_active,
            }
        };
        Facet::new(title, values.into_iter().map(value))
    };
    let same = |value: String, count: u64| (value.clone(), value, count);
    let tag_value = |(tag, count): (String, u64)| {
        let is_active = fields
            .all("tag")
            .any(|own| Tags::key(own) == Tags::key(&tag));
        let path = if is_active {
            fields.without_value("tag", &tag)
        } else {
            fields.with_added("tag", &tag)
        };
        FacetValue {
            label: Label::cut(&tag, 40),
            count,
            path: to_path(&path),
            is_active,
        }
    };
    let month = |(month, count): (NaiveDate, u64)| {
        (
            month.format("%Y-%m").to_string(),
            month.format("%B %Y").to_string(),
            count,
        )
    };
    let scope_value =
        |(scope, count): (Scope, u64)| (scope.to_string(), describe_readers(&scope), count);
    let all = [
        single(
            "Category",
            "category",
            categories
                .into_iter()
                .map(|(category, count)| same(category.to_string(), count))
                .collect(),
        ),
        Facet::new("Tag", tags.into_iter().map(tag_value)),
        single(
            "Readers",
            "scope",
            scopes.into_iter().map(scope_value).collect(),
        ),
        single(
            "Source",
            "source",
            sources
                .into_iter()
                .map(|(source, count)| same(source, count))
                .collect(),
        ),
        single("Month", "month", months.into_iter().map(month).collect()),
    ];
    all.into_iter()
        .filter(|facet| !facet.values.is_empty())
        .collect()
}

impl Facet {
    fn new(title: &'static str, values: impl Iterator<Item = FacetValue>) -> Self {
        let mut values: Vec<FacetValue> = values.take(MAX_VALUES).collect();
        let more = values.split_off(values.len().min(SHOWN_VALUES));
        Self {
            title,
            values,
            more,
        }
    }
}

/// Links the tags of the cards to the list with the current filters and the tag.
pub(super) fn add_filters_to_tags(cards: &mut [MemoryCard], fields: &Fields) {
    let fields = Fields::parse(&fields.without(&TRANSIENT_FIELDS));
    for tag in cards.iter_mut().flat_map(|card| &mut card.tags) {
        if !fields
            .all("tag")
            .any(|own| Tags::key(own) == Tags::key(&tag.name))
        {
            tag.path = to_path(&fields.with_added("tag", &tag.name));
        }
    }
}

/// Returns a name for the search of these fields, such as `dark mode, people`.
pub(super) fn suggested_name(fields: &Fields) -> String {
    let values = ["q", "category", "tag", "scope", "source", "month"]
        .into_iter()
        .flat_map(|field| fields.all(field));
    let values: Vec<&str> = values
        .map(str::trim)
        .filter(|value| !value.is_empty())
        .collect();
    memory_core::text::to_one_line(&values.join(", "), 60)
}

pub(super) fn path_with(fields: &Fields, name: &str, value: &str) -> String {
    let query = Fields::parse(&fields.without(&TRANSIENT_FIELDS)).with(name, value);
    to_path(&query)
}

pub(super) fn to_path(query: &str) -> String {
    if query.is_empty() {
        "/memories".to_owned()
    } else {
        format!("/memories?{query}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_a_filter_and_invalid_ones_are_reported() {
        let (filter, ignored) = parse_filter(&Fields::parse(
            "category=people&tag=a&tag=b&scope=agent:x&month=2026-12",
        ));
        assert_eq!(
            (filter.category, filter.scope),
            (Some(Category::People), Some(Scope::Agent("x".into())))
        );
        assert_eq!(filter.tags.as_slice(), ["a", "b"]);
        assert_eq!(
            filter.until.map(|until| until.to_rfc3339()).as_deref(),
            Some("2027-01-01T00:00:00+00:00")
        );
        assert!(ignored.is_empty());
        let (filter, ignored) = parse_filter(&Fields::parse("category=nothing&month=May"));
        assert_eq!(
            (filter.category, filter.from, ignored.len()),
            (None, None, 2)
        );
    }

    #[test]
    fn a_chip_removes_one_value_and_a_facet_adds_one() {
        let fields = Fields::parse("q=tea&tag=a&tag=b&page=3");
        let paths: Vec<_> = filter_chips(&fields)
            .into_iter()
            .map(|chip| chip.path)
            .collect();
        assert_eq!(paths, ["/memories?q=tea&tag=b", "/memories?q=tea&tag=a"]);
        let counts = FacetCounts {
            tags: vec![("A".into(), 2), ("c".into(), 1)],
            ..FacetCounts::default()
        };
        let facets = build_facets(&fields, counts);
        let values: Vec<_> = facets[0]
            .values
            .iter()
            .map(|value| (value.path.as_str(), value.is_active))
            .collect();
        assert_eq!(
            values,
            [
                ("/memories?q=tea&tag=b", true),
                ("/memories?q=tea&tag=a&tag=b&tag=c", false)
            ]
        );
    }
}
