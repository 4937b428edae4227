//! The graph of a neighbourhood: the centre, a ring of its neighbours, and a ring of theirs.

use std::f64::consts::{PI, TAU};
use std::fmt::Write;

use memory_core::html::visible_text;
use memory_core::{GraphNode, GraphSubject, Neighbourhood};

use super::{as_f64, coordinate, cut, push_text};
use crate::web::fields::encode_pairs;
use crate::web::html::SafeHtml;

/// Space along a ring that one label needs, in pixels.
const LABEL_HEIGHT: f64 = 19.0;

/// Space for a label outwards, in pixels.
const LABEL_WIDTH: f64 = 220.0;

/// Smallest radius of the inner ring, in pixels.
const INNER_RADIUS: f64 = 110.0;

/// Number of narrow characters of a label; a wide one counts twice.
const LABEL_LENGTH: usize = 26;

/// Factor by which the rings grow until all labels have their space.
const GROWTH: f64 = 1.1;

/// Returns the graph as SVG. Every node is a link to the graph around it; the centre leads to its page.
pub(crate) fn render_graph(neighbourhood: &Neighbourhood) -> SafeHtml {
    let Some(centre) = neighbourhood.nodes.first() else {
        return SafeHtml::default();
    };
    let layout = GraphLayout::new(neighbourhood);
    let [left, top, width, height] = bounds(neighbourhood, &layout).map(coordinate);
    let mut svg = format!(
        "<svg class=\"graph\" width=\"{width}\" height=\"{height}\" viewBox=\"{left} {top} {width} {height}\" \
         aria-labelledby=\"graph-title graph-description\"><title id=\"graph-title\">Neighbourhood of "
    );
    push_text(&mut svg, &cut(&name(centre), LABEL_LENGTH));
    let (nodes, edges) = (neighbourhood.nodes.len(), neighbourhood.edges.len());
    write!(
        svg,
        "</title><desc id=\"graph-description\">{nodes} memories and tags with {edges} relations. Each is a link that centres it.</desc>"
    )
    .expect("a text grows");
    svg.push_str("<g class=\"graph-edges\">");
    for edge in &neighbourhood.edges {
        let [from, to] = [edge.from, edge.to].map(|position| layout.point(position));
        write!(
            svg,
            "<line class=\"graph-edge graph-edge-{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            neighbourhood.nodes[edge.to].distance,
            coordinate(from.0),
            coordinate(from.1),
            coordinate(to.0),
            coordinate(to.1)
        )
        .expect("a text grows");
    }
    svg.push_str("</g>");
    for (position, node) in neighbourhood.nodes.iter().enumerate() {
        push_node(&mut svg, node, &layout, position);
    }
    svg.push_str("</svg>");
    SafeHtml::from_escaped(svg)
}

/// Returns the path of the graph around a node.
pub(crate) fn graph_path(subject: &GraphSubject) -> String {
    match subject {
        GraphSubject::Memory { id, .. } => format!("/graph?memory={id}"),
        GraphSubject::Tag(tag) => format!("/graph?{}", encode_pairs([("tag", tag.as_str())])),
    }
}

/// Returns the path of the page of a node: of the memory, or of the memories with the tag.
pub(crate) fn page_path(subject: &GraphSubject) -> String {
    match subject {
        GraphSubject::Memory { id, .. } => format!("/memories/{id}"),
        GraphSubject::Tag(tag) => format!("/memories?{}", encode_pairs([("tag", tag.as_str())])),
    }
}

/// Returns the rectangle that contains all nodes and labels: left, top, width and height. The centre is in its horizontal middle.
fn bounds(neighbourhood: &Neighbourhood, layout: &GraphLayout) -> [f64; 4] {
    let (mut half_width, mut top, mut bottom) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (position, node) in neighbourhood.nodes.iter().enumerate() {
        let (x, y) = layout.point(position);
        let length = label_length(&label(&name(node)));
        // The label of the centre is above it; all others point outwards.
        let (end_x, end_y) = if position == 0 {
            (length / 2.0, -LABEL_HEIGHT)
        } else {
            let (sine, cosine) = layout.angle(position).sin_cos();
            (
                x + (length + LABEL_HEIGHT) * cosine,
                y + (length + LABEL_HEIGHT) * sine,
            )
        };
        half_width = half_width.max(x.abs()).max(end_x.abs());
        top = top.min(y).min(end_y);
        bottom = bottom.max(y).max(end_y);
    }
    let margin = LABEL_HEIGHT;
    [
        -half_width - margin,
        top - margin,
        2.0 * (half_width + margin),
        bottom - top + 2.0 * margin,
    ]
}

/// Returns the estimated length of a label in pixels. Most characters outside of ASCII are wider.
fn label_length(label: &str) -> f64 {
    visible_text(label)
        .chars()
        .map(|character| if character.is_ascii() { 7.5 } else { 13.5 })
        .sum()
}

fn name(node: &GraphNode) -> String {
    match &node.subject {
        GraphSubject::Memory { headline, id, .. } if headline.trim().is_empty() => id.short(),
        GraphSubject::Memory { headline, .. } => headline.clone(),
        GraphSubject::Tag(tag) => format!("#{tag}"),
    }
}

/// Returns the first characters of a name that have space in the graph.
fn label(name: &str) -> String {
    let line = cut(name, LABEL_LENGTH);
    let mut width = 0;
    let is_within = |character: &char| {
        width += if is_wide(*character) { 2 } else { 1 };
        width <= LABEL_LENGTH + 1
    };
    let start: String = line.chars().take_while(is_within).collect();
    if start.len() < line.len() {
        format!("{}…", start.trim_end())
    } else {
        start
    }
}

/// Returns whether a character takes the space of two, such as a Chinese one.
fn is_wide(character: char) -> bool {
    ('\u{1100}'..='\u{11ff}').contains(&character) || '\u{2e80}' <= character
}

fn push_node(svg: &mut String, node: &GraphNode, layout: &GraphLayout, position: usize) {
    let kind = match node.subject {
        GraphSubject::Memory { .. } => "memory",
        GraphSubject::Tag(_) => "tag",
    };
    let path = if position == 0 {
        page_path(&node.subject)
    } else {
        graph_path(&node.subject)
    };
    let (x, y) = layout.point(position);
    let name = name(node);
    svg.push_str("<a class=\"graph-node graph-");
    svg.push_str(kind);
    write!(svg, " graph-distance-{}\" href=\"", node.distance).expect("a text grows");
    push_text(svg, &path);
    svg.push_str("\"><title>");
    push_text(svg, &cut(&name, 200));
    svg.push_str("</title>");
    let radius = [11.0, 7.0, 5.0][node.distance.min(2)];
    write!(
        svg,
        "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
        coordinate(x),
        coordinate(y),
        coordinate(radius)
    )
    .expect("a text grows");
    if position == 0 {
        write!(
            svg,
            "<text x=\"0\" y=\"{}\" text-anchor=\"middle\">",
            coordinate(-radius - 9.0)
        )
        .expect("a text grows");
    } else {
        // Labels on the left half are turned, so that none is upside down.
        let angle = layout.angle(position);
        let is_left = PI / 2.0 < angle && angle < 1.5 * PI;
        let (turn, shift, anchor) = if is_left {
            (angle - PI, -radius - 5.0, "end")
        } else {
            (angle, radius + 5.0, "start")
        };
        write!(
            svg,
            "<text transform=\"translate({} {}) rotate({})\" x=\"{}\" y=\"4\" text-anchor=\"{anchor}\">",
            coordinate(x),
            coordinate(y),
            coordinate(turn.to_degrees()),
            coordinate(shift)
        )
        .expect("a text grows");
    }
    push_text(svg, &label(&name));
    svg.push_str("</text></a>");
}

/// The positions of the nodes.
struct GraphLayout {
    /// The angle of each node in radians, from 0 to 2π; that of the centre is unused.
    angles: Vec<f64>,
    /// The ring of each node.
    distances: Vec<usize>,
    /// The radius of each ring.
    radii: [f64; 3],
}

impl GraphLayout {
    fn new(neighbourhood: &Neighbourhood) -> Self {
        let distances: Vec<usize> = neighbourhood
            .nodes
            .iter()
            .map(|node| node.distance.min(2))
            .collect();
        // Each node of the outer ring is beside the first of its neighbours on the inner ring.
        let mut children = vec![Vec::new(); distances.len()];
        for (position, _) in distances
            .iter()
            .enumerate()
            .filter(|(_, distance)| **distance == 2)
        {
            let parent = neighbourhood
                .edges
                .iter()
                .filter(|edge| edge.to == position && distances[edge.from] == 1)
                .map(|edge| edge.from)
                .min();
            children[parent.unwrap_or_default()].push(position);
        }
        let inner: Vec<usize> = (0..distances.len())
            .filter(|position| distances[*position] == 1)
            .collect();
        let mut radii = [0.0, INNER_RADIUS, INNER_RADIUS + LABEL_WIDTH];
        // Nodes without a parent on the inner ring, which only a cut neighbourhood has, follow at the end.
        let groups: Vec<(Option<usize>, &[usize])> = inner
            .iter()
            .map(|position| (Some(*position), children[*position].as_slice()))
            .chain(
                children
                    .first()
                    .filter(|orphans| !orphans.is_empty())
                    .map(|orphans| (None, orphans.as_slice())),
            )
            .collect();
        let need = |radii: &[f64; 3]| -> Vec<f64> {
            let own = |group: &(Option<usize>, &[usize])| {
                let outer = as_f64(group.1.len() as u64) * LABEL_HEIGHT / radii[2];
                outer.max(if group.0.is_some() {
                    LABEL_HEIGHT / radii[1]
                } else {
                    0.0
                })
            };
            groups.iter().map(own).collect()
        };
        let mut needs = need(&radii);
        while TAU < needs.iter().sum::<f64>() {
            radii = [
                0.0,
                radii[1] * GROWTH,
                (radii[2] * GROWTH).max(radii[1] * GROWTH + LABEL_WIDTH),
            ];
            needs = need(&radii);
        }
        let spare = (TAU - needs.iter().sum::<f64>()) / as_f64(needs.len().max(1) as u64);
        let mut angles = vec![0.0; distances.len()];
        // The first group begins at the right, below the horizontal line.
        let mut start = 0.0;
        for ((parent, members), need) in groups.iter().zip(&needs) {
            let width = need + spare;
            if let Some(parent) = parent {
                angles[*parent] = start + width / 2.0;
            }
            let step = width / as_f64(members.len().max(1) as u64);
            for (number, member) in members.iter().enumerate() {
                angles[*member] = start + step * (as_f64(number as u64) + 0.5);
            }
            start += width;
        }
        Self {
            angles,
            distances,
            radii,
        }
    }

    fn angle(&self, position: usize) -> f64 {
        self.angles[position].rem_euclid(TAU)
    }

    fn point(&self, position: usize) -> (f64, f64) {
        let radius = self.radii[self.distances[position]];
        (
            radius * self.angles[position].cos(),
            radius * self.angles[position].sin(),
        )
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{Category, GraphEdge, MemoryId, Scope};
    use proptest::prelude::*;

    use super::*;
    use crate::web::tests::{check_safe, tags};

    fn memory(number: usize, headline: &str, distance: usize) -> GraphNode {
        let (id, headline) = (MemoryId::for_path(&number.to_string()), headline.to_owned());
        GraphNode {
            subject: GraphSubject::Memory {
                id,
                headline,
                category: Category::Inbox,
                scope: Scope::Global,
            },
            distance,
        }
    }

    /// Returns a graph whose inner nodes have these numbers of neighbours.
    fn graph(children: &[usize], label: &str) -> Neighbourhood {
        let mut nodes = vec![memory(0, label, 0)];
        let mut edges = Vec::new();
        for number in 1..=children.len() {
            nodes.push(memory(number, label, 1));
            edges.push(GraphEdge {
                from: 0,
                to: number,
            });
        }
        for (parent, count) in children.iter().enumerate() {
            for _ in 0..*count {
                let position = nodes.len();
                let tag = GraphNode {
                    subject: GraphSubject::Tag(label.to_owned()),
                    distance: 2,
                };
                nodes.push(if position % 2 == 0 {
                    tag
                } else {
                    memory(position, label, 2)
                });
                edges.push(GraphEdge {
                    from: parent + 1,
                    to: position,
                });
            }
        }
        Neighbourhood {
            nodes,
            edges,
            is_cut: false,
        }
    }

    #[test]
    fn labels_are_cut_by_their_width() {
        assert_eq!(label("short"), "short");
        assert_eq!(
            label(&"a".repeat(40)),
            format!("{}…", "a".repeat(LABEL_LENGTH))
        );
        assert_eq!(
            label(&"深".repeat(40)),
            format!("{}…", "深".repeat(LABEL_LENGTH / 2))
        );
    }

    #[test]
    fn every_node_is_a_link_that_centres_it() {
        let svg = render_graph(&graph(&[2, 0], "Tea & \"cake\""));
        let links: Vec<_> = tags(svg.as_str())
            .into_iter()
            .filter(|(name, _)| name == "a")
            .collect();
        assert_eq!(links.len(), 5);
        let href = |number: usize| {
            links[number]
                .1
                .iter()
                .find(|(name, _)| name == "href")
                .unwrap()
                .1
                .clone()
        };
        assert!(href(0).starts_with("/memories/") && href(1).starts_with("/graph?memory="));
        assert!(
            href(4).starts_with("/graph?tag=Tea%20%26")
                || href(3).starts_with("/graph?tag=Tea%20%26")
        );
        assert!(svg.as_str().contains("Tea &amp; &quot;cake&quot;"));
        assert_eq!(svg, render_graph(&graph(&[2, 0], "Tea & \"cake\"")));
        assert_eq!(render_graph(&Neighbourhood::default()), SafeHtml::default());
    }

    proptest! {
        #[test]
        fn labels_have_their_space_and_the_markup_is_safe(children in proptest::collection::vec(0_usize..40, 0..12), label in ".{0,40}") {
            let graph = graph(&children, &label);
            let svg = render_graph(&graph);
            if let Err(error) = check_safe(svg.as_str()) {
                prop_assert!(false, "{}", error);
            }
            let layout = GraphLayout::new(&graph);
            let [left, top, width, height] = bounds(&graph, &layout);
            for position in 0..graph.nodes.len() {
                let (x, y) = layout.point(position);
                prop_assert!(left < x && x < left + width && top < y && y < top + height);
            }
            for ring in 1..=2 {
                let on_ring = (0..graph.nodes.len()).filter(|position| graph.nodes[*position].distance == ring);
                let mut angles: Vec<f64> = on_ring.map(|position| layout.angle(position)).collect();
                angles.sort_by(f64::total_cmp);
                for pair in angles.windows(2) {
                    prop_assert!(LABEL_HEIGHT * 0.99 <= (pair[1] - pair[0]) * layout.radii[ring]);
                }
            }
        }
    }
}
