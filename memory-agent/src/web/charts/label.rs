//! The labels of graphs: horizontal, at the same size at any scale, and visible from the scale at which they overlap no other one.

use std::fmt::Write;

use memory_core::html::visible_text;

use super::{coordinate, cut, push_text};

/// Height of a label in pixels.
pub(super) const LABEL_HEIGHT: f64 = 17.0;

/// Distance between a label and the mark of its node in pixels.
const DISTANCE: f64 = 5.0;

/// Number of narrow characters of a label; a wide one counts twice.
pub(super) const LABEL_LENGTH: usize = 26;

/// The largest scale that a person reaches. A label without space at it is visible only under the pointer or the focus.
const MAX_SCALE: f64 = 16.0;

/// The scale at which a large graph fits a usual window, in pixels per unit.
const USUAL_SCALE: f64 = 0.75;

/// The side of a point at which its label is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelSide {
    Left,
    Right,
    Below,
    Above,
}

/// The label of a node.
#[derive(Debug, Clone)]
pub(super) struct GraphLabel {
    pub(super) text: String,
    /// The edge of the mark, in units of the graph.
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) side: LabelSide,
    /// The estimated width in pixels.
    width: f64,
}

impl GraphLabel {
    /// Returns the label of a node at a point with this radius.
    pub(super) fn beside(name: &str, (x, y): (f64, f64), radius: f64, side: LabelSide) -> Self {
        let (x, y) = match side {
            LabelSide::Left => (x - radius, y),
            LabelSide::Right => (x + radius, y),
            LabelSide::Below => (x, y + radius),
            LabelSide::Above => (x, y - radius),
        };
        let text = shorten(name);
        Self {
            width: label_width(&text),
            text,
            x,
            y,
            side,
        }
    }

    /// Returns the first and the last pixel beside the point, and the middle pixel below it.
    fn extent(&self) -> (f64, f64, f64) {
        let width = self.width;
        match self.side {
            LabelSide::Left => (-DISTANCE - width, -DISTANCE, 0.0),
            LabelSide::Right => (DISTANCE, DISTANCE + width, 0.0),
            LabelSide::Below => (-width / 2.0, width / 2.0, LABEL_HEIGHT / 2.0),
            LabelSide::Above => (-width / 2.0, width / 2.0, -LABEL_HEIGHT / 2.0),
        }
    }

    /// Returns the smallest scale, in pixels per unit, from which the label does not overlap `other`.
    fn free_scale(&self, other: &Self) -> f64 {
        let ((left, right, middle), (other_left, other_right, other_middle)) =
            (self.extent(), other.extent());
        // Both boxes are apart if one begins after the end of the other.
        let beside = if other.x <= self.x {
            apart(self.x - other.x, other_right - left)
        } else {
            apart(other.x - self.x, right - other_left)
        };
        let below = if other.y <= self.y {
            apart(self.y - other.y, LABEL_HEIGHT + other_middle - middle)
        } else {
            apart(other.y - self.y, LABEL_HEIGHT + middle - other_middle)
        };
        beside.min(below)
    }

    /// Returns the smallest scale from which the label does not overlap the mark of a node with this centre and radius.
    fn free_scale_of_mark(&self, (x, y, radius): (f64, f64, f64)) -> f64 {
        let (left, right, middle) = self.extent();
        let beside = if x <= self.x {
            apart(self.x - x - radius, -left)
        } else {
            apart(x - radius - self.x, right)
        };
        let below = if y <= self.y {
            apart(self.y - y - radius, LABEL_HEIGHT / 2.0 - middle)
        } else {
            apart(y - radius - self.y, LABEL_HEIGHT / 2.0 + middle)
        };
        beside.min(below)
    }

    /// Appends the label, which is visible from the scale `from`.
    pub(super) fn push(&self, svg: &mut String, from: f64) {
        let (shift, anchor) = match self.side {
            LabelSide::Left => ("dx=\"-.4em\" dy=\".35em\"", " text-anchor=\"end\""),
            LabelSide::Right => ("dx=\".4em\" dy=\".35em\"", ""),
            LabelSide::Below => ("dy=\"1em\"", " text-anchor=\"middle\""),
            LabelSide::Above => ("dy=\"-.4em\"", " text-anchor=\"middle\""),
        };
        // Without a script the labels of the scale 1 are visible.
        let class = if from <= 1.0 {
            " class=\"is-shown\""
        } else {
            ""
        };
        write!(
            svg,
            "<text{class} x=\"{}\" y=\"{}\" {shift}{anchor} data-from=\"{}\">",
            coordinate(self.x),
            coordinate(self.y),
            (from.min(99.0) * 100.0).ceil() / 100.0
        )
        .expect("a text grows");
        push_text(svg, &self.text);
        svg.push_str("</text>");
    }

    /// Returns the rectangle of the label at the scale of most windows: left, top, right and bottom.
    pub(super) fn rectangle(&self) -> [f64; 4] {
        let (left, right, middle) = self.extent();
        let (left, right) = (left / USUAL_SCALE, right / USUAL_SCALE);
        let (top, bottom) = (middle - LABEL_HEIGHT / 2.0, middle + LABEL_HEIGHT / 2.0);
        [self.x + left, self.y + top, self.x + right, self.y + bottom]
    }
}

/// Returns the scale from which a distance has at least this number of pixels.
fn apart(distance: f64, pixels: f64) -> f64 {
    if pixels <= 0.0 {
        0.0
    } else if distance <= 0.0 {
        f64::INFINITY
    } else {
        pixels / distance
    }
}

/// Returns the scale from which each label is visible. Earlier labels come first: a later one waits until it overlaps none of them.
///
/// The labels after the first `titles` also wait until they overlap none of the marks, given as centre and radius.
pub(super) fn label_scales(
    labels: &[GraphLabel],
    titles: usize,
    marks: &[(f64, f64, f64)],
) -> Vec<f64> {
    let mut scales: Vec<f64> = Vec::with_capacity(labels.len());
    for (position, label) in labels.iter().enumerate() {
        let free = labels[..position]
            .iter()
            .zip(&scales)
            // A label that nobody can make visible is in the way of none.
            .filter(|(_, scale)| **scale <= MAX_SCALE)
            .map(|(other, _)| label.free_scale(other));
        let beside_labels = free.fold(0.0, f64::max);
        let marks = if titles <= position { marks } else { &[] };
        let free = marks.iter().map(|mark| label.free_scale_of_mark(*mark));
        scales.push(free.fold(beside_labels, f64::max));
    }
    scales
}

/// Returns the estimated width of a label in pixels. Most characters outside of ASCII are wider.
fn label_width(label: &str) -> f64 {
    visible_text(label)
        .chars()
        .map(|character| if character.is_ascii() { 8.0 } else { 13.5 })
        .sum()
}

/// Returns the first characters of a name that have space in the graph.
fn shorten(name: &str) -> String {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn labels_are_cut_by_their_width() {
        assert_eq!(shorten("short"), "short");
        assert_eq!(
            shorten(&"a".repeat(40)),
            format!("{}…", "a".repeat(LABEL_LENGTH))
        );
        assert_eq!(
            shorten(&"深".repeat(40)),
            format!("{}…", "深".repeat(LABEL_LENGTH / 2))
        );
    }

    proptest! {
        #[test]
        fn visible_labels_do_not_overlap_at_any_scale(
            drawn in proptest::collection::vec((-400_i32..400, -300_i32..300, 0_usize..4, 1_usize..30), 0..30),
            scale in 0.05_f64..16.0,
        ) {
            let sides = [LabelSide::Left, LabelSide::Right, LabelSide::Below, LabelSide::Above];
            let label = |(x, y, side, length): &(i32, i32, usize, usize)| {
                GraphLabel::beside(&"m".repeat(*length), (f64::from(*x), f64::from(*y)), 5.0, sides[*side])
            };
            let labels: Vec<_> = drawn.iter().map(label).collect();
            let scales = label_scales(&labels, 0, &[]);
            let boxes: Vec<_> = labels.iter().zip(scales).filter(|(_, from)| *from <= scale).map(|(label, _)| {
                let (left, right, middle) = label.extent();
                (label.x * scale + left, label.x * scale + right, label.y * scale + middle)
            }).collect();
            for (position, one) in boxes.iter().enumerate() {
                for other in &boxes[..position] {
                    let is_apart = one.1 <= other.0 + 1e-6 || other.1 <= one.0 + 1e-6
                        || LABEL_HEIGHT <= (one.2 - other.2).abs() + 1e-6;
                    prop_assert!(is_apart, "{one:?} {other:?}");
                }
            }
        }
    }
}
