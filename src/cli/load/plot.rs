//! Plots as SVG, in whole numbers: each unit of the drawing is half a pixel.

use std::fmt;

const WIDTH: u64 = 1_440;
const HEIGHT: u64 = 560;
const LEFT: u64 = 150;
const RIGHT: u64 = 24;
const TOP: u64 = 64;
const BOTTOM: u64 = 56;
/// Approximate number of horizontal lines.
const STEPS: u64 = 4;
/// Approximate number of labels on the horizontal axis.
const LABELS: u64 = 6;
/// Maximum number of points that are marked individually.
const MAX_MARKS: usize = 60;

/// Values of one kind.
#[derive(Debug)]
pub(super) struct Series {
    /// Name in the legend.
    pub(super) name: &'static str,
    /// Position and value of each point, ordered by position.
    pub(super) points: Vec<(u64, u64)>,
}

/// Formatting of positions and values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scales {
    /// Formatter of a position.
    pub(super) place: fn(u64) -> String,
    /// Formatter of a value.
    pub(super) value: fn(u64) -> String,
}

/// Draws a line for each series, over numeric positions.
pub(super) fn lines(title: &str, scales: Scales, all: &[Series]) -> String {
    let points = || all.iter().flat_map(|series| &series.points);
    let last = points().map(|point| point.0).max().unwrap_or(0).max(1);
    let mut drawing = Drawing::new(title, points().map(|point| point.1).max().unwrap_or(0));
    drawing.grid(scales.value);
    let step = nice_step(last / LABELS);
    for place in (0..=last).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
        drawing.label(across(place, last), &(scales.place)(place));
    }
    for (number, series) in all.iter().enumerate() {
        drawing.legend(number, series.name);
        let path = series.points.iter().map(|point| (across(point.0, last), drawing.height(point.1)));
        let path: Vec<_> = path.map(|(x, y)| format!("{x},{y}")).collect();
        drawing.add(format_args!(r#"<polyline class="line s{number}" points="{}"/>"#, path.join(" ")));
        for &(place, value) in series.points.iter().take_while(|_| series.points.len() <= MAX_MARKS) {
            let (x, y) = (across(place, last), drawing.height(value));
            let title = format!("{} at {}: {}", series.name, (scales.place)(place), (scales.value)(value));
            drawing.add(format_args!(
                r#"<circle class="mark s{number}" cx="{x}" cy="{y}" r="6"><title>{title}</title></circle>"#
            ));
        }
    }
    drawing.end()
}

/// Draws a bar for each value; bars at the same position are side by side. Positions are drawn at equal distances.
pub(super) fn bars(title: &str, scales: Scales, all: &[Series]) -> String {
    let mut places: Vec<_> =
        all.iter().flat_map(|series| series.points.iter().map(|point| point.0)).collect();
    places.sort_unstable();
    places.dedup();
    let values = all.iter().flat_map(|series| series.points.iter().map(|point| point.1));
    let mut drawing = Drawing::new(title, values.max().unwrap_or(0));
    drawing.grid(scales.value);
    let count = u64::try_from(places.len()).unwrap_or(u64::MAX).max(1);
    let width = (WIDTH - LEFT - RIGHT) / count;
    let each = (width.saturating_sub(4) / u64::try_from(all.len()).unwrap_or(1).max(1)).max(1);
    for (number, place) in (0_u64..).zip(&places) {
        if number.is_multiple_of((count / LABELS).max(1)) {
            drawing.label(LEFT + number * width + width / 2, &format!("&lt; {}", (scales.place)(*place)));
        }
    }
    for ((number, series), offset) in
        all.iter().enumerate().zip((0..).step_by(usize::try_from(each).unwrap_or(1)))
    {
        drawing.legend(number, series.name);
        for &(place, value) in series.points.iter().filter(|point| point.1 > 0) {
            let index = places.binary_search(&place).ok().and_then(|index| u64::try_from(index).ok());
            let x: u64 = LEFT + index.unwrap_or(0) * width + 2 + offset;
            let y = drawing.height(value);
            let (height, edge) = ((HEIGHT - BOTTOM - y).max(2), (scales.place)(place));
            let y = HEIGHT - BOTTOM - height;
            drawing.add(format_args!(
                r#"<rect class="bar s{number}" x="{x}" y="{y}" width="{each}" height="{height}"><title>{}, below {edge}: {value}</title></rect>"#,
                series.name
            ));
        }
    }
    drawing.end()
}

/// Plot being drawn.
struct Drawing {
    svg: String,
    highest: u64,
}

impl Drawing {
    fn new(title: &str, highest: u64) -> Self {
        let step = nice_step(highest / STEPS);
        let highest = highest.div_ceil(step).max(1) * step;
        let svg = format!(r#"<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">"#);
        Self { svg, highest }
    }

    fn add(&mut self, piece: fmt::Arguments<'_>) {
        self.svg.push_str(&piece.to_string());
    }

    fn height(&self, value: u64) -> u64 {
        HEIGHT - BOTTOM - value.min(self.highest) * (HEIGHT - TOP - BOTTOM) / self.highest
    }

    fn grid(&mut self, label: fn(u64) -> String) {
        let step = nice_step(self.highest / STEPS);
        for value in (0..=self.highest).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
            let (y, end, label) = (self.height(value), WIDTH - RIGHT, label(value));
            let (text_x, text_y) = (LEFT - 14, y + 9);
            self.add(format_args!(
                r#"<line class="grid" x1="{LEFT}" x2="{end}" y1="{y}" y2="{y}"/><text class="value" x="{text_x}" y="{text_y}">{label}</text>"#
            ));
        }
    }

    fn label(&mut self, x: u64, text: &str) {
        let y = HEIGHT - BOTTOM + 38;
        self.add(format_args!(r#"<text class="place" x="{x}" y="{y}">{text}</text>"#));
    }

    fn legend(&mut self, number: usize, name: &str) {
        let x = LEFT + u64::try_from(number).unwrap_or(0) * 300;
        let text_x = x + 36;
        self.add(format_args!(
            r#"<rect class="bar s{number}" x="{x}" y="14" width="24" height="24"/><text class="name" x="{text_x}" y="35">{name}</text>"#
        ));
    }

    fn end(mut self) -> String {
        self.svg.push_str("</svg>");
        self.svg
    }
}

fn across(place: u64, last: u64) -> u64 {
    LEFT + place * (WIDTH - LEFT - RIGHT) / last
}

/// Returns the smallest of 1, 2, 5, 10, 20, … that is not below `at_least`.
fn nice_step(at_least: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for digit in [1, 2, 5] {
            let step = power.saturating_mul(digit);
            if step >= at_least {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Scales = Scales { place: |place| place.to_string(), value: |value| value.to_string() };

    #[test]
    fn steps_are_round_numbers() {
        assert_eq!([0, 1, 3, 5, 6, 11, 21, 501].map(nice_step), [1, 1, 5, 5, 10, 20, 50, 1_000]);
    }

    #[test]
    fn everything_stays_within_the_drawing() {
        let series = [Series { name: "a", points: vec![(0, 0), (5, 7), (10, 1_000)] }];
        let svg = lines("Rate", PLAIN, &series);
        assert!(svg.contains(r#"points="150,504 783,501 1416,64""#), "{svg}");
        assert!(bars("Share", PLAIN, &series).contains("a, below 10: 1000"));
    }

    #[test]
    fn nothing_measured_is_drawn_as_an_empty_plot() {
        let series = [Series { name: "a", points: Vec::new() }];
        for svg in [lines("Rate", PLAIN, &series), bars("Share", PLAIN, &series)] {
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"), "{svg}");
        }
    }
}
