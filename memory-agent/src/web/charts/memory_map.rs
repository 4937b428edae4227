//! The map of all memories: a circle for each group, and in it the memories with the most links.

use std::f64::consts::PI;
use std::fmt::Write;

use memory_core::{Category, GraphSubject, MapGroup, MapMemory, MapSubject, MemoryMap};

use super::category_mark::{colour_class, push_mark};
use super::graph::{graph_path, memory_path};
use super::label::{GraphLabel, LabelSide, label_scales};
use super::{as_f64, coordinate, cut, push_text, view_box};
use crate::web::html::SafeHtml;

/// Radius of the smallest group, and the difference to the largest one.
const MIN_RADIUS: f64 = 46.0;
const RADIUS_RANGE: f64 = 124.0;

/// Distance of a memory from the edge of its group.
const EDGE: f64 = 26.0;

/// Smallest and largest distance between two memories of a group.
const MIN_SPACING: f64 = 14.0;
const MAX_SPACING: f64 = 46.0;

/// Space between two groups.
const GAP: f64 = 26.0;

/// Factor by which the map is wider than high.
const ASPECT: f64 = 1.7;

/// The angle between the successive seeds of a sunflower, in radians.
const GOLDEN_ANGLE: f64 = PI * 0.763_932_022_500_210_3;

/// Returns the map as SVG. A group leads to its own map, and a memory to the graph around it.
pub(crate) fn render_map(map: &MemoryMap, category: Option<Category>) -> SafeHtml {
    if map.groups.is_empty() {
        return SafeHtml::default();
    }
    let circles = place_groups(map);
    let points = place_memories(map, &circles);
    let mut labels: Vec<GraphLabel> = map
        .groups
        .iter()
        .zip(&circles)
        .map(|(group, circle)| {
            let text = format!("{} {}", group_name(&group.subject), group.count);
            GraphLabel::beside(&text, (circle.x, circle.y), circle.radius, LabelSide::Above)
        })
        .collect();
    let radius = |position: usize| {
        let links = as_f64(map.memories[position].links);
        (4.0 + links.sqrt()).min(7.0)
    };
    // The memories with the most links come first.
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|position| std::cmp::Reverse(map.memories[*position].links));
    labels.extend(order.iter().map(|position| {
        let name = memory_name(&map.memories[*position]);
        GraphLabel::beside(
            &name,
            points[*position],
            radius(*position),
            LabelSide::Below,
        )
    }));
    let marks: Vec<(f64, f64, f64)> = points
        .iter()
        .enumerate()
        .map(|(position, (x, y))| (*x, *y, radius(position)))
        .collect();
    let scales = label_scales(&labels, circles.len(), &marks);
    let mut svg = open_svg(&circles, map);
    push_lines(
        &mut svg,
        "graph-link",
        map.group_links.iter().map(|(edge, _)| {
            let [from, to] = [&circles[edge.from], &circles[edge.to]];
            ((from.x, from.y), (to.x, to.y))
        }),
    );
    for (group, circle) in map.groups.iter().zip(&circles) {
        push_group(&mut svg, group, circle, category);
    }
    let ends = map
        .edges
        .iter()
        .map(|edge| (points[edge.from], points[edge.to]));
    push_lines(&mut svg, "graph-edge", ends);
    // No circle is above the label of another one.
    svg.push_str("<g class=\"graph-titles\">");
    for (label, scale) in labels.iter().zip(&scales).take(circles.len()) {
        label.push(&mut svg, *scale);
    }
    svg.push_str("</g>");
    let own_labels = labels.iter().zip(&scales).skip(circles.len());
    for (position, (label, scale)) in order.iter().zip(own_labels) {
        let memory = &map.memories[*position];
        write!(
            svg,
            "<a class=\"graph-node {}\" href=\"{}\"><title>{}: ",
            colour_class(memory.category),
            memory_path(&memory.id),
            memory.category
        )
        .expect("a text grows");
        push_text(&mut svg, &cut(&memory_name(memory), 80));
        svg.push_str("</title>");
        push_mark(
            &mut svg,
            memory.category,
            points[*position],
            radius(*position),
        );
        label.push(&mut svg, *scale);
        svg.push_str("</a>");
    }
    svg.push_str("</svg>");
    SafeHtml::from_escaped(svg)
}

/// Returns the name of a group.
pub(crate) fn group_name(subject: &MapSubject) -> String {
    match subject {
        MapSubject::Category(category) => category.to_string(),
        MapSubject::Tag(tag) => format!("#{tag}"),
        MapSubject::OtherTags => "other tags or none".to_owned(),
    }
}

/// Returns the path to which a group leads.
pub(crate) fn group_path(subject: &MapSubject, category: Option<Category>) -> String {
    match (subject, category) {
        (MapSubject::Category(category), _) => format!("/graph?category={category}"),
        (MapSubject::Tag(tag), _) => graph_path(&GraphSubject::Tag(tag.clone())),
        (MapSubject::OtherTags, Some(category)) => format!("/memories?category={category}"),
        (MapSubject::OtherTags, None) => "/memories".to_owned(),
    }
}

/// Returns the headline of a memory, or the start of its id.
pub(crate) fn memory_name(memory: &MapMemory) -> String {
    if memory.headline.trim().is_empty() {
        memory.id.short()
    } else {
        memory.headline.clone()
    }
}

/// Appends lines as one path.
pub(super) fn push_lines(
    svg: &mut String,
    class: &str,
    lines: impl Iterator<Item = ((f64, f64), (f64, f64))>,
) {
    write!(svg, "<path class=\"{class}\" d=\"").expect("a text grows");
    for (from, to) in lines {
        let [from_x, from_y, to_x, to_y] = [from.0, from.1, to.0, to.1].map(f64::round);
        write!(svg, "M{from_x} {from_y}L{to_x} {to_y}").expect("a text grows");
    }
    svg.push_str("\"/>");
}

/// The circle of a group.
#[derive(Debug, Clone, Copy)]
struct GroupCircle {
    x: f64,
    y: f64,
    radius: f64,
}

fn open_svg(circles: &[GroupCircle], map: &MemoryMap) -> String {
    let edge = |value: fn(&GroupCircle) -> f64| circles.iter().map(value).fold(f64::MIN, f64::max);
    let (right, bottom) = (
        edge(|own| own.x + own.radius),
        edge(|own| own.y + own.radius),
    );
    let (left, top) = (
        -edge(|own| own.radius - own.x),
        -edge(|own| own.radius - own.y),
    );
    // The labels of the groups are above them, and those of small ones wider.
    let view_box = view_box([left - 60.0, top - 52.0, right + 60.0, bottom + 12.0]);
    format!(
        "<svg class=\"graph\" {view_box} aria-labelledby=\"graph-title graph-description\">\
         <title id=\"graph-title\">Map of {} memories</title><desc id=\"graph-description\">{} groups. Each is a link to its \
         memories; of each, those with the most links are shown.</desc>",
        map.total,
        map.groups.len()
    )
}

fn push_group(
    svg: &mut String,
    group: &MapGroup,
    circle: &GroupCircle,
    category: Option<Category>,
) {
    let class = match &group.subject {
        MapSubject::Category(category) => colour_class(*category),
        MapSubject::Tag(_) | MapSubject::OtherTags => "of-tag".to_owned(),
    };
    write!(svg, "<a class=\"graph-group {class}\" href=\"").expect("a text grows");
    push_text(svg, &group_path(&group.subject, category));
    svg.push_str("\"><title>");
    push_text(svg, &cut(&group_name(&group.subject), 80));
    let noun = if group.count == 1 {
        "memory"
    } else {
        "memories"
    };
    write!(
        svg,
        ": {} {noun}</title><circle cx=\"{}\" cy=\"{}\" r=\"{}\"/></a>",
        group.count,
        coordinate(circle.x),
        coordinate(circle.y),
        coordinate(circle.radius)
    )
    .expect("a text grows");
}

/// Returns the circles of the groups: each as near to the middle as the earlier ones allow.
fn place_groups(map: &MemoryMap) -> Vec<GroupCircle> {
    let largest = as_f64(map.groups.first().map_or(1, |group| group.count.max(1)));
    let mut shown = vec![0_u64; map.groups.len()];
    for memory in &map.memories {
        shown[memory.group] += 1;
    }
    let radius = |(group, shown): (&MapGroup, &u64)| {
        let own = MIN_RADIUS + RADIUS_RANGE * (as_f64(group.count) / largest).sqrt();
        own.max(EDGE + MIN_SPACING * as_f64(*shown).sqrt())
    };
    let radii = map.groups.iter().zip(&shown).map(radius);
    let mut circles: Vec<GroupCircle> = Vec::with_capacity(map.groups.len());
    for radius in radii {
        let (x, y) = find_place(&circles, radius);
        circles.push(GroupCircle { x, y, radius });
    }
    circles
}

/// Returns the centre of a new circle that touches two others and overlaps none.
fn find_place(circles: &[GroupCircle], radius: f64) -> (f64, f64) {
    let Some(first) = circles.first() else {
        return (0.0, 0.0);
    };
    let is_free = |(x, y): &(f64, f64)| {
        circles.iter().all(|other| {
            let distance = (x - other.x).hypot(y - other.y);
            other.radius + radius + GAP - 0.01 <= distance
        })
    };
    let pairs = circles
        .iter()
        .enumerate()
        .flat_map(|(number, one)| circles[..number].iter().map(move |other| (one, other)));
    let cost = |(x, y): &(f64, f64)| (x / ASPECT).hypot(*y);
    let right = circles
        .iter()
        .map(|own| own.x + own.radius)
        .fold(f64::MIN, f64::max);
    pairs
        .flat_map(|(one, other)| touching_centres(*one, *other, radius))
        .filter(is_free)
        .min_by(|one, other| cost(one).total_cmp(&cost(other)))
        .unwrap_or((right + GAP + radius, first.y))
}

/// Returns the two centres at which a circle touches two others, if there are any.
fn touching_centres(one: GroupCircle, other: GroupCircle, radius: f64) -> Vec<(f64, f64)> {
    let (to_one, to_other) = (one.radius + radius + GAP, other.radius + radius + GAP);
    let (across, down) = (other.x - one.x, other.y - one.y);
    let distance = across.hypot(down);
    if distance <= 0.0 || to_one + to_other < distance {
        return Vec::new();
    }
    let along = (to_one.powi(2) - to_other.powi(2) + distance.powi(2)) / (2.0 * distance);
    let aside = (to_one.powi(2) - along.powi(2)).max(0.0).sqrt();
    let (unit_x, unit_y) = (across / distance, down / distance);
    [aside, -aside]
        .map(|aside| {
            (
                one.x + along * unit_x - aside * unit_y,
                one.y + along * unit_y + aside * unit_x,
            )
        })
        .to_vec()
}

/// Returns the points of the memories, in each group like the seeds of a sunflower.
fn place_memories(map: &MemoryMap, circles: &[GroupCircle]) -> Vec<(f64, f64)> {
    let mut shown = vec![0_u64; circles.len()];
    for memory in &map.memories {
        shown[memory.group] += 1;
    }
    let mut next = vec![0_u64; circles.len()];
    let place = |memory: &MapMemory| {
        let (circle, number) = (&circles[memory.group], next[memory.group]);
        next[memory.group] += 1;
        let spacing = (circle.radius - EDGE) / as_f64(shown[memory.group]).sqrt();
        let radius = spacing.min(MAX_SPACING) * (as_f64(number) + 0.5).sqrt();
        let (sine, cosine) = (as_f64(number) * GOLDEN_ANGLE).sin_cos();
        (circle.x + radius * cosine, circle.y + radius * sine)
    };
    map.memories.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use memory_core::{GraphEdge, MemoryId};
    use proptest::prelude::*;

    use super::*;
    use crate::web::tests::{check_safe, tags};

    fn map(counts: &[u64], headline: &str) -> MemoryMap {
        let groups = counts.iter().enumerate().map(|(number, count)| MapGroup {
            subject: if number % 3 == 0 {
                MapSubject::Tag(headline.to_owned())
            } else {
                MapSubject::Category(Category::ALL[number % 14])
            },
            count: *count,
        });
        let memories = counts.iter().enumerate().flat_map(|(group, count)| {
            (0..(*count).min(9)).map(move |number| MapMemory {
                id: MemoryId::for_path(&format!("{group}-{number}")),
                headline: headline.to_owned(),
                category: Category::ALL[group % 14],
                group,
                links: number,
            })
        });
        MemoryMap {
            total: counts.iter().sum(),
            links: 1,
            groups: groups.collect(),
            group_links: Vec::new(),
            memories: memories.collect(),
            edges: Vec::new(),
        }
    }

    #[test]
    fn groups_lead_to_their_maps_and_memories_to_their_graphs() {
        let mut drawn = map(&[9, 3], "Tea & <cake>");
        drawn.edges.push(GraphEdge { from: 0, to: 9 });
        let svg = render_map(&drawn, None);
        let links: Vec<String> = tags(svg.as_str())
            .into_iter()
            .filter(|(name, _)| name == "a")
            .filter_map(|(_, own)| own.into_iter().find(|(name, _)| name == "href"))
            .map(|(_, path)| path)
            .collect();
        assert_eq!(
            links[..2],
            [
                "/graph?tag=Tea%20%26%20%3Ccake%3E",
                "/graph?category=character"
            ]
        );
        assert!(
            links.len() == 14
                && links[2..]
                    .iter()
                    .all(|path| path.starts_with("/graph?memory="))
        );
        assert!(svg.as_str().contains("Tea &amp; &lt;cake&gt;"));
        assert_eq!(svg, render_map(&drawn, None));
        assert_eq!(render_map(&MemoryMap::default(), None), SafeHtml::default());
    }

    proptest! {
        #[test]
        fn no_circles_overlap_and_each_memory_is_in_its_circle(mut counts in proptest::collection::vec(1_u64..100_000, 1..26), label in ".{0,40}") {
            counts.sort_unstable_by(|one, other| other.cmp(one));
            let drawn = map(&counts, &label);
            prop_assert_eq!(check_safe(render_map(&drawn, None).as_str()), Ok(()));
            let circles = place_groups(&drawn);
            for (number, one) in circles.iter().enumerate() {
                for other in &circles[..number] {
                    prop_assert!(one.radius + other.radius < (one.x - other.x).hypot(one.y - other.y));
                }
            }
            for (memory, (x, y)) in drawn.memories.iter().zip(place_memories(&drawn, &circles)) {
                let circle = circles[memory.group];
                prop_assert!((x - circle.x).hypot(y - circle.y) < circle.radius - 10.0);
            }
        }
    }
}
