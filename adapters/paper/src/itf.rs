//! The bar code of a boleto: Interleaved 2 of 5 as exact lengths and as SVG.
//!
//! Sizes follow FEBRABAN's ficha de compensação: 103 mm wide, 13 mm high, a wide bar as wide as three narrow ones.

use quita_domain::boleto::interleaved::{Width, modules};

/// Width of the bars, first to last, in micrometres.
pub const WIDTH_UM: i64 = 103_000;
/// Height of the bars in micrometres.
pub const HEIGHT_UM: i64 = 13_000;
/// White margin on each side in the SVG, in narrow modules: 5.09 mm, where the rule requires 5 mm.
const QUIET_MODULES: i64 = 20;
/// Digits of a boleto's bar code.
const DIGITS: usize = 44;

/// The bars of 44 digits, ready to be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItfBarcode {
    /// Each black bar in narrow modules.
    bars: Vec<ModuleSpan>,
    /// Modules from the first bar to the last.
    width: i64,
}

/// One black bar, measured from the left edge of the first bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// Left edge in micrometres.
    pub left_um: i64,
    /// Thickness in micrometres.
    pub width_um: i64,
}

/// Error of a text that is not the 44 digits of a boleto's bar code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a boleto's bar code has 44 digits and nothing else")]
pub struct NotABarcode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ModuleSpan {
    left: i64,
    width: i64,
}

impl ItfBarcode {
    /// Lays out the bars of 44 digits. The check digit is not checked.
    ///
    /// # Errors
    /// [`NotABarcode`] if the text is anything else.
    pub fn from_digits(digits: &str) -> Result<Self, NotABarcode> {
        let elements = modules(digits).filter(|_| digits.len() == DIGITS).ok_or(NotABarcode)?;
        let mut bars = Vec::new();
        let mut left = 0;
        for (index, element) in elements.into_iter().enumerate() {
            let width = match element {
                Width::Narrow => 1,
                Width::Wide => 3,
            };
            if index % 2 == 0 {
                bars.push(ModuleSpan { left, width });
            }
            left += width;
        }
        Ok(Self { bars, width: left })
    }

    /// Returns the black bars over exactly 103 mm; rounding errors do not accumulate.
    pub fn bars(&self) -> impl Iterator<Item = Bar> {
        let total = self.width.max(1);
        let place = move |module: i64| WIDTH_UM * module / total;
        self.bars.iter().map(move |bar| {
            let left_um = place(bar.left);
            Bar { left_um, width_um: place(bar.left + bar.width) - left_um }
        })
    }

    /// Returns the bars as an SVG element with quiet zones and an opaque white background, sized in millimetres.
    ///
    /// One unit of the view box is one narrow module. A style with a width of a multiple of 445 pixels therefore puts
    /// every edge on a pixel.
    #[must_use]
    pub fn svg(&self) -> String {
        let total = self.width + 2 * QUIET_MODULES;
        let width_um = WIDTH_UM * total / self.width.max(1);
        let bars: String = self
            .bars
            .iter()
            .map(|bar| {
                let x = bar.left + QUIET_MODULES;
                format!("<rect x=\"{x}\" width=\"{}\" height=\"1\"/>", bar.width)
            })
            .collect();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}.{:03}mm\" height=\"{}mm\" \
             viewBox=\"0 0 {total} 1\" preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\">\
             <rect width=\"{total}\" height=\"1\" fill=\"#fff\"/>{bars}</svg>",
            width_um / 1000,
            width_um % 1000,
            HEIGHT_UM / 1000,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the public vectors (itf.json), which also list its elements.
    const DIGITS_OF_ITAU: &str = "34193164700000100001090000000160057123457000";

    #[test]
    fn the_bars_fill_103_millimetres_exactly() {
        let barcode = ItfBarcode::from_digits(DIGITS_OF_ITAU).unwrap();
        let bars: Vec<Bar> = barcode.bars().collect();
        assert_eq!(bars.len(), 114);
        assert_eq!(bars[0], Bar { left_um: 0, width_um: 254 });
        let last = bars[113];
        assert_eq!(last.left_um + last.width_um, WIDTH_UM);
    }

    #[test]
    fn a_bar_is_narrow_or_three_times_as_wide() {
        let barcode = ItfBarcode::from_digits(DIGITS_OF_ITAU).unwrap();
        assert_eq!(barcode.width, 138 + 89 * 3);
        for bar in barcode.bars() {
            assert!([254, 255, 762, 763].contains(&bar.width_um), "{bar:?}");
        }
    }

    #[test]
    fn the_svg_has_quiet_zones_and_one_rectangle_a_bar() {
        let svg = ItfBarcode::from_digits(DIGITS_OF_ITAU).unwrap().svg();
        assert!(svg.contains("width=\"113.172mm\" height=\"13mm\" viewBox=\"0 0 445 1\""), "{svg}");
        assert!(svg.contains("<rect width=\"445\" height=\"1\" fill=\"#fff\"/><rect x=\"20\" width=\"1\""));
        assert_eq!(svg.matches("<rect x=").count(), 114);
        assert!(svg.ends_with("<rect x=\"424\" width=\"1\" height=\"1\"/></svg>"), "{svg}");
    }

    #[test]
    fn other_lengths_and_letters_are_refused() {
        assert_eq!(ItfBarcode::from_digits(""), Err(NotABarcode));
        assert_eq!(ItfBarcode::from_digits("1234"), Err(NotABarcode));
        assert_eq!(ItfBarcode::from_digits(&DIGITS_OF_ITAU.replacen('3', "x", 1)), Err(NotABarcode));
        assert_eq!(ItfBarcode::from_digits(&"²".repeat(22)), Err(NotABarcode));
    }
}
