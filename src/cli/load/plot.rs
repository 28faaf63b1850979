//! Plots as SVG, in whole numbers: each drawing unit is half a pixel.

use std::fmt;

const WIDTH: u64 = 1_440;
const HEIGHT: u64 = 560;
const LEFT: u64 = 150;
const RIGHT: u64 = 24;
const TOP: u64 = 64;
const BOTTOM: u64 = 56;
/// Width of a legend entry: five of them fit.
const LEGEND: u64 = 250;
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

/// Values over time.
#[derive(Debug)]
pub(super) struct TimeSeries {
    /// Name in the legend.
    pub(super) name: &'static str,
    /// Time in milliseconds and value of each point, ordered by time. `None` if nothing was measured then.
    pub(super) points: Vec<(u64, Option<u64>)>,
}

/// Time axis, the same for every plot of a page.
#[derive(Debug)]
pub(super) struct TimeAxis {
    /// End in milliseconds. It begins at 0.
    pub(super) end_ms: u64,
    /// Start and end of each marked time.
    pub(super) bands: Vec<(u64, u64)>,
    /// Name of the bands in the legend.
    pub(super) band_name: &'static str,
}

/// Formatting of positions and values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scales {
    /// Formatter of a position.
    pub(super) place: fn(u64) -> String,
    /// Formatter of a value.
    pub(super) value: fn(u64) -> String,
}

/// Draws a line for each series over time, with a gap where nothing was measured.
pub(super) fn lines(title: &str, scales: Scales, axis: &TimeAxis, all: &[TimeSeries]) -> String {
    let values = all.iter().flat_map(|series| series.points.iter().filter_map(|point| point.1));
    let end = axis.end_ms.max(1);
    let mut drawing = Drawing::new(title, values.max().unwrap_or(0));
    drawing.bands(axis, all.len());
    drawing.grid(scales.value);
    let step = nice_step(end / LABELS);
    for place in (0..=end).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
        drawing.label(across(place, end), &(scales.place)(place));
    }
    for (number, series) in all.iter().enumerate() {
        drawing.legend(number, series.name);
        for part in measured_parts(&series.points) {
            let path: Vec<_> = part
                .iter()
                .map(|point| format!("{},{}", across(point.0, end), drawing.height(point.1)))
                .collect();
            drawing.add(format_args!(r#"<polyline class="line s{number}" points="{}"/>"#, path.join(" ")));
            // A point without neighbours has no line.
            let is_marked = series.points.len() <= MAX_MARKS || part.len() == 1;
            for &(place, value) in part.iter().filter(|_| is_marked) {
                let x = across(place, end);
                let y = drawing.height(value);
                let title =
                    format!("{} at {}: {}", series.name, (scales.place)(place), (scales.value)(value));
                drawing.add(format_args!(
                    r#"<circle class="mark s{number}" cx="{x}" cy="{y}" r="6"><title>{title}</title></circle>"#
                ));
            }
        }
    }
    drawing.end()
}

/// Splits a series where nothing was measured.
fn measured_parts(points: &[(u64, Option<u64>)]) -> Vec<Vec<(u64, u64)>> {
    let parts = points.split(|point| point.1.is_none());
    let parts =
        parts.map(|part| part.iter().filter_map(|point| Some((point.0, point.1?))).collect::<Vec<_>>());
    parts.filter(|part| !part.is_empty()).collect()
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
            let height = (HEIGHT - BOTTOM - y).max(2);
            let edge = (scales.place)(place);
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
            let y = self.height(value);
            let end = WIDTH - RIGHT;
            let label = label(value);
            let text_x = LEFT - 14;
            let text_y = y + 9;
            self.add(format_args!(
                r#"<line class="grid" x1="{LEFT}" x2="{end}" y1="{y}" y2="{y}"/><text class="value" x="{text_x}" y="{text_y}">{label}</text>"#
            ));
        }
    }

    /// Draws the bands of the axis behind everything else, with one legend entry after those of the series.
    fn bands(&mut self, axis: &TimeAxis, series: usize) {
        let end = axis.end_ms.max(1);
        let height = HEIGHT - TOP - BOTTOM;
        for &(from, until) in &axis.bands {
            let x = across(from.min(end), end);
            let width = across(until.min(end), end).saturating_sub(x).max(2);
            let name = axis.band_name;
            self.add(format_args!(
                r#"<rect class="band" x="{x}" y="{TOP}" width="{width}" height="{height}"><title>{name}</title></rect>"#
            ));
        }
        if !axis.bands.is_empty() {
            self.named_box("band", series, axis.band_name);
        }
    }

    fn label(&mut self, x: u64, text: &str) {
        let y = HEIGHT - BOTTOM + 38;
        self.add(format_args!(r#"<text class="place" x="{x}" y="{y}">{text}</text>"#));
    }

    fn legend(&mut self, number: usize, name: &str) {
        self.named_box(&format!("bar s{number}"), number, name);
    }

    /// Draws a legend entry.
    fn named_box(&mut self, class: &str, number: usize, name: &str) {
        let x = LEFT + u64::try_from(number).unwrap_or(0) * LEGEND;
        let text_x = x + 36;
        self.add(format_args!(
            r#"<rect class="{class}" x="{x}" y="14" width="24" height="24"/><text class="name" x="{text_x}" y="35">{name}</text>"#
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

/// Returns the smallest of 1, 2, 5, 10, 20, … that is at least `at_least`.
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

    fn axis(end_ms: u64) -> TimeAxis {
        TimeAxis { end_ms, bands: Vec::new(), band_name: "away" }
    }

    fn series(points: &[(u64, Option<u64>)]) -> [TimeSeries; 1] {
        [TimeSeries { name: "a", points: points.to_vec() }]
    }

    #[test]
    fn everything_stays_within_the_drawing() {
        let svg = lines("Rate", PLAIN, &axis(10), &series(&[(0, Some(0)), (5, Some(7)), (10, Some(1_000))]));
        assert!(svg.contains(r#"points="150,504 783,501 1416,64""#), "{svg}");
        let shares = [Series { name: "a", points: vec![(0, 0), (5, 7), (10, 1_000)] }];
        assert!(bars("Share", PLAIN, &shares).contains("a, below 10: 1000"));
    }

    #[test]
    fn a_line_has_a_gap_where_nothing_was_measured() {
        let points = [(2, Some(5)), (4, Some(5)), (6, None), (8, None), (10, Some(5))];
        let svg = lines("Latency", PLAIN, &axis(20), &series(&points));
        assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
        assert!(svg.contains(r#"points="276,64 403,64""#), "the end of the axis is no point's: {svg}");
        let many: Vec<_> = (0..200).map(|ms| (ms, Some(5).filter(|_| ms != 100 && ms != 102))).collect();
        let svg = lines("Latency", PLAIN, &axis(200), &series(&many));
        assert_eq!(svg.matches("<circle").count(), 1, "a point without neighbours is seen");
    }

    #[test]
    fn a_band_marks_its_time_in_the_drawing_and_in_the_legend() {
        let away = TimeAxis { bands: vec![(5, 10), (18, 90)], ..axis(20) };
        let svg = lines("Rate", PLAIN, &away, &series(&[(20, Some(1))]));
        assert!(svg.contains(r#"<rect class="band" x="466" y="64" width="317" height="440">"#), "{svg}");
        assert!(svg.contains(r#"x="1289" y="64" width="127""#), "it ends with the axis: {svg}");
        assert!(svg.contains(r#"y="35">away</text>"#), "{svg}");
        let svg = lines("Rate", PLAIN, &axis(20), &series(&[(20, Some(1))]));
        assert!(!svg.contains("band") && !svg.contains("away"), "{svg}");
    }

    #[test]
    fn nothing_measured_is_drawn_as_an_empty_plot() {
        let empty = [Series { name: "a", points: Vec::new() }];
        for svg in [lines("Rate", PLAIN, &axis(0), &series(&[])), bars("Share", PLAIN, &empty)] {
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"), "{svg}");
        }
    }
}
