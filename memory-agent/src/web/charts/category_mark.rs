//! The marks of categories in graphs: a colour and a shape for each, and a legend.

use std::fmt::Write;

use memory_core::Category;

use super::coordinate;
use crate::web::html::SafeHtml;

/// Number of colours, and of shapes.
const COLOURS: usize = 4;

/// Returns the colour and the shape of a category. Neighbours in the list of categories differ in their colour.
fn look(category: Category) -> (usize, usize) {
    let position = Category::ALL.iter().position(|own| *own == category);
    let position = position.unwrap_or_default();
    (position % COLOURS, position / COLOURS)
}

/// Returns the class with the colour of a category.
pub(super) fn colour_class(category: Category) -> String {
    format!("hue-{}", look(category).0)
}

/// Appends the mark of a category: a circle, a square, a diamond or a triangle.
pub(super) fn push_mark(svg: &mut String, category: Category, (x, y): (f64, f64), radius: f64) {
    let size = coordinate(radius);
    let double = coordinate(2.0 * radius);
    let [left, right, top] = [x - radius, x, y - radius].map(coordinate);
    let (own_x, own_y) = (coordinate(x), coordinate(y));
    let result = match look(category).1 {
        0 => write!(svg, "<circle cx=\"{own_x}\" cy=\"{own_y}\" r=\"{size}\"/>"),
        1 => write!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{double}\" height=\"{double}\"/>"
        ),
        2 => write!(
            svg,
            "<path d=\"M{right} {top}l{size} {size}l-{size} {size}l-{size}-{size}z\"/>"
        ),
        _ => write!(
            svg,
            "<path d=\"M{right} {top}l{size} {double}h-{double}z\"/>"
        ),
    };
    result.expect("a text grows");
}

/// Returns the legend of `categories`: the mark and the name of each, which leads to its map.
pub(crate) fn render_legend(categories: impl IntoIterator<Item = Category>) -> SafeHtml {
    let mut html = String::new();
    for category in categories {
        write!(
            html,
            "<li><a class=\"chip\" href=\"/graph?category={category}\"><svg class=\"mark {}\" viewBox=\"0 0 14 14\" aria-hidden=\"true\">",
            colour_class(category)
        )
        .expect("a text grows");
        push_mark(&mut html, category, (7.0, 7.0), 5.5);
        write!(html, "</svg>{category}</a></li>").expect("a text grows");
    }
    SafeHtml::from_escaped(html)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::web::tests::check_safe;

    #[test]
    fn each_category_has_its_own_combination_of_colour_and_shape() {
        let looks: HashSet<_> = Category::ALL.into_iter().map(look).collect();
        assert_eq!(looks.len(), Category::ALL.len());
        assert!(looks.iter().all(|(_, shape)| *shape < COLOURS));
        let legend = render_legend(Category::ALL);
        assert_eq!(check_safe(legend.as_str()), Ok(()));
        assert_eq!(legend.as_str().matches("<svg").count(), Category::ALL.len());
    }
}
