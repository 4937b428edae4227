//! The graph of a neighbourhood: the centre, a ring of its neighbours, and a ring of theirs.

use std::f64::consts::TAU;
use std::fmt::Write;

use memory_core::{GraphNode, GraphSubject, MemoryId, Neighbourhood};

use super::category_mark::{colour_class, push_mark};
use super::label::{GraphLabel, LABEL_HEIGHT, LABEL_LENGTH, LabelSide, label_scales};
use super::memory_map::push_lines;
use super::{as_f64, coordinate, cut, push_text, view_box};
use crate::web::fields::encode_pairs;
use crate::web::html::SafeHtml;

/// Space along a ring that one node needs, in units of the graph.
const NODE_SPACING: f64 = 21.0;

/// Smallest radius of the inner ring, and the smallest distance of the outer one from it.
const INNER_RADIUS: f64 = 110.0;
const RING_DISTANCE: f64 = 130.0;

/// Factor by which the rings are wider than high, so that there is space for horizontal labels.
const ASPECT: f64 = 1.7;

/// Factor by which the rings grow until all nodes have their space.
const GROWTH: f64 = 1.1;

/// Radius of the mark of a node, by its distance.
const RADII: [f64; 3] = [11.0, 7.0, 5.0];

/// Returns the graph as SVG. Every node is a link to the graph around it; the centre leads to its page.
pub(crate) fn render_graph(neighbourhood: &Neighbourhood) -> SafeHtml {
    let Some(centre) = neighbourhood.nodes.first() else {
        return SafeHtml::default();
    };
    let layout = GraphLayout::new(neighbourhood);
    let labels: Vec<GraphLabel> = neighbourhood
        .nodes
        .iter()
        .enumerate()
        .map(|(position, node)| layout.label(position, node))
        .collect();
    let mark = |(position, node): (usize, &GraphNode)| {
        let (x, y) = layout.point(position);
        (x, y, RADII[node.distance.min(2)])
    };
    let marks: Vec<(f64, f64, f64)> = neighbourhood.nodes.iter().enumerate().map(mark).collect();
    let scales = label_scales(&labels, 1, &marks);
    let view_box = view_box(bounds(&labels, &layout));
    let mut svg = format!(
        "<svg class=\"graph\" {view_box} \
         aria-labelledby=\"graph-title graph-description\"><title id=\"graph-title\">Neighbourhood of "
    );
    push_text(&mut svg, &cut(&name(centre), LABEL_LENGTH));
    let (nodes, edges) = (neighbourhood.nodes.len(), neighbourhood.edges.len());
    write!(
        svg,
        "</title><desc id=\"graph-description\">{nodes} memories and tags with {edges} relations. Each is a link that centres it.</desc>"
    )
    .expect("a text grows");
    for (class, is_outer) in [("graph-edge is-outer", true), ("graph-edge", false)] {
        let is_drawn = |to: usize| (1 < neighbourhood.nodes[to].distance) == is_outer;
        let edges = neighbourhood.edges.iter().filter(|edge| is_drawn(edge.to));
        let ends = edges.map(|edge| (layout.point(edge.from), layout.point(edge.to)));
        push_lines(&mut svg, class, ends);
    }
    for (position, node) in neighbourhood.nodes.iter().enumerate() {
        push_node(&mut svg, node, position == 0, layout.point(position));
        labels[position].push(&mut svg, scales[position]);
        svg.push_str("</a>");
    }
    svg.push_str("</svg>");
    SafeHtml::from_escaped(svg)
}

/// Returns the path of the graph around a memory.
pub(crate) fn memory_path(id: &MemoryId) -> String {
    format!("/graph?memory={id}")
}

/// Returns the path of the graph around a node.
pub(crate) fn graph_path(subject: &GraphSubject) -> String {
    match subject {
        GraphSubject::Memory { id, .. } => memory_path(id),
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

/// Returns the rectangle that contains all nodes and the labels of the scale 1: left, top, right and bottom.
fn bounds(labels: &[GraphLabel], layout: &GraphLayout) -> [f64; 4] {
    let [mut left, mut top, mut right, mut bottom] = [0.0_f64; 4];
    for (position, label) in labels.iter().enumerate() {
        let (x, y) = layout.point(position);
        let [label_left, label_top, label_right, label_bottom] = label.rectangle();
        left = left.min(x).min(label_left);
        top = top.min(y).min(label_top);
        right = right.max(x).max(label_right);
        bottom = bottom.max(y).max(label_bottom);
    }
    let margin = LABEL_HEIGHT;
    [left - margin, top - margin, right + margin, bottom + margin]
}

fn name(node: &GraphNode) -> String {
    match &node.subject {
        GraphSubject::Memory { headline, id, .. } if headline.trim().is_empty() => id.short(),
        GraphSubject::Memory { headline, .. } => headline.clone(),
        GraphSubject::Tag(tag) => format!("#{tag}"),
    }
}

/// Appends the start of a node: the link, its title and its mark.
fn push_node(svg: &mut String, node: &GraphNode, is_centre: bool, point: (f64, f64)) {
    let (class, kind) = match &node.subject {
        GraphSubject::Memory { category, .. } => (colour_class(*category), category.as_str()),
        GraphSubject::Tag(_) => ("of-tag".to_owned(), "tag"),
    };
    let path = if is_centre {
        page_path(&node.subject)
    } else {
        graph_path(&node.subject)
    };
    let place = if is_centre { " is-centre" } else { "" };
    write!(svg, "<a class=\"graph-node {class}{place}\" href=\"").expect("a text grows");
    push_text(svg, &path);
    write!(svg, "\"><title>{kind}: ").expect("a text grows");
    push_text(svg, &cut(&name(node), 80));
    svg.push_str("</title>");
    let radius = RADII[node.distance.min(2)];
    match &node.subject {
        GraphSubject::Memory { category, .. } => push_mark(svg, *category, point, radius),
        GraphSubject::Tag(_) => write!(
            svg,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            coordinate(point.0),
            coordinate(point.1),
            coordinate(radius)
        )
        .expect("a text grows"),
    }
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
        let mut radii = [0.0, INNER_RADIUS, INNER_RADIUS + RING_DISTANCE];
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
                let outer = as_f64(group.1.len() as u64) * NODE_SPACING / radii[2];
                outer.max(if group.0.is_some() {
                    NODE_SPACING / radii[1]
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
                (radii[2] * GROWTH).max(radii[1] * GROWTH + RING_DISTANCE),
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

    fn point(&self, position: usize) -> (f64, f64) {
        let radius = self.radii[self.distances[position]];
        let (sine, cosine) = self.angles[position].sin_cos();
        (ASPECT * radius * cosine, radius * sine)
    }

    /// Returns the label of a node: outwards, and for the centre above it.
    fn label(&self, position: usize, node: &GraphNode) -> GraphLabel {
        let point = self.point(position);
        let side = match self.distances[position] {
            0 => LabelSide::Above,
            _ if point.0 < 0.0 => LabelSide::Left,
            _ => LabelSide::Right,
        };
        GraphLabel::beside(&name(node), point, RADII[node.distance.min(2)], side)
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
        fn nodes_have_their_space_and_the_markup_is_safe(children in proptest::collection::vec(0_usize..40, 0..12), label in ".{0,40}") {
            let graph = graph(&children, &label);
            let svg = render_graph(&graph);
            if let Err(error) = check_safe(svg.as_str()) {
                prop_assert!(false, "{}", error);
            }
            let layout = GraphLayout::new(&graph);
            let labels: Vec<_> = graph.nodes.iter().enumerate().map(|(position, node)| layout.label(position, node)).collect();
            let [left, top, right, bottom] = bounds(&labels, &layout);
            for position in 0..graph.nodes.len() {
                let (x, y) = layout.point(position);
                prop_assert!(left < x && x < right && top < y && y < bottom);
            }
            for ring in 1..=2 {
                let on_ring = (0..graph.nodes.len()).filter(|position| graph.nodes[*position].distance == ring);
                let mut angles: Vec<f64> = on_ring.map(|position| layout.angles[position].rem_euclid(TAU)).collect();
                angles.sort_by(f64::total_cmp);
                for pair in angles.windows(2) {
                    prop_assert!(NODE_SPACING * 0.99 <= (pair[1] - pair[0]) * layout.radii[ring]);
                }
            }
        }
    }
}
