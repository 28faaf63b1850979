//! QR codes: a text as SVG or PNG, error correction level M, four modules of quiet zone.

use qrcode::{Color, EcLevel, QrCode};

/// White modules on each side, which readers rely on (ISO/IEC 18004, section 5.3.8).
const QUIET_MODULES: usize = 4;
/// Side of one module in the PNG. A PIX code then comes out at about 500 pixels.
const PIXELS_PER_MODULE: usize = 8;

/// A QR code that is laid out and can be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QrImage {
    /// Rows of modules, top to bottom, quiet zone included; `true` is dark. As many rows as columns.
    rows: Vec<Vec<bool>>,
}

/// Reasons why a QR code could not be made.
#[derive(Debug, thiserror::Error)]
pub enum QrFailure {
    /// The text is too long for the largest QR code (2,331 bytes at level M).
    #[error("the text does not fit a QR code: {0}")]
    DoesNotFit(#[from] qrcode::types::QrError),
    /// The PNG could not be written.
    #[error("the QR code could not be written as PNG: {0}")]
    Png(#[from] png::EncodingError),
}

impl QrImage {
    /// Lays out `text` in the smallest code that holds it at level M.
    ///
    /// # Errors
    /// [`QrFailure::DoesNotFit`] if the text is too long.
    pub fn new(text: &str) -> Result<Self, QrFailure> {
        let code = QrCode::with_error_correction_level(text, EcLevel::M)?;
        let colors = code.to_colors();
        let quiet = [false; QUIET_MODULES];
        let white_row = vec![false; code.width() + 2 * QUIET_MODULES];
        let margin = vec![white_row; QUIET_MODULES];
        let dark_rows = colors.chunks(code.width().max(1)).map(|row| {
            let modules: Vec<bool> = row.iter().map(|color| *color == Color::Dark).collect();
            [&quiet[..], &modules, &quiet[..]].concat()
        });
        let rows = margin.iter().cloned().chain(dark_rows).chain(margin.iter().cloned()).collect();
        Ok(Self { rows })
    }

    /// Returns the code as an SVG document: one module is one unit, and the white background is opaque.
    #[must_use]
    pub fn svg(&self) -> String {
        let side = self.rows.len();
        let pixels = side * PIXELS_PER_MODULE;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{pixels}\" height=\"{pixels}\" \
             viewBox=\"0 0 {side} {side}\" shape-rendering=\"crispEdges\">\
             <rect width=\"{side}\" height=\"{side}\" fill=\"#fff\"/>\
             <path fill=\"#000\" d=\"{}\"/></svg>",
            self.dark_runs()
        )
    }

    /// Returns the code as an opaque greyscale PNG, eight pixels a module.
    ///
    /// # Errors
    /// [`QrFailure::Png`] if the encoder refuses, which would be a defect.
    pub fn png(&self) -> Result<Vec<u8>, QrFailure> {
        // The largest QR code has 177 modules, so this never saturates.
        let side = u32::try_from(self.rows.len() * PIXELS_PER_MODULE).unwrap_or(u32::MAX);
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, side, side);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels())?;
        writer.finish()?;
        Ok(bytes)
    }

    /// Returns the runs of dark modules of each row: column, row, and length, without the quiet zone.
    pub(crate) fn runs(&self) -> Vec<(usize, usize, usize)> {
        let mut runs = Vec::new();
        for (y, row) in self.rows.iter().enumerate() {
            let mut x = 0_usize;
            for run in row.chunk_by(|left, right| left == right) {
                if run.first() == Some(&true) {
                    runs.push((x.saturating_sub(QUIET_MODULES), y.saturating_sub(QUIET_MODULES), run.len()));
                }
                x += run.len();
            }
        }
        runs
    }

    /// Returns the number of modules of a side, without the quiet zone.
    pub(crate) fn side(&self) -> usize {
        self.rows.len().saturating_sub(2 * QUIET_MODULES)
    }

    /// Returns one closed path per horizontal run of dark modules: far smaller than a square for each module.
    fn dark_runs(&self) -> String {
        let mut path = String::new();
        for (y, row) in self.rows.iter().enumerate() {
            let mut x = 0;
            for run in row.chunk_by(|left, right| left == right) {
                let length = run.len();
                if run.first() == Some(&true) {
                    path.push_str(&format!("M{x} {y}h{length}v1h-{length}z"));
                }
                x += length;
            }
        }
        path
    }

    fn pixels(&self) -> Vec<u8> {
        let line_of = |row: &Vec<bool>| -> Vec<u8> {
            row.iter().flat_map(|dark| [if *dark { 0 } else { 255 }; PIXELS_PER_MODULE]).collect()
        };
        self.rows.iter().flat_map(|row| line_of(row).repeat(PIXELS_PER_MODULE)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIX_CODE: &str = "00020101021226580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-42665544000052040000530398654\
                            0510.005802BR5913Fulano de Tal6008BRASILIA62070503***6304ABCD";

    fn decoded(png_bytes: &[u8]) -> (png::OutputInfo, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png_bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info, pixels)
    }

    #[test]
    fn the_png_is_opaque_and_black_on_white() {
        let (info, pixels) = decoded(&QrImage::new(PIX_CODE).unwrap().png().unwrap());
        assert_eq!((info.color_type, info.width), (png::ColorType::Grayscale, info.height));
        assert!(pixels.contains(&0) && pixels.contains(&255));
        assert!(pixels.iter().all(|pixel| [0, 255].contains(pixel)));
    }

    #[test]
    fn four_modules_on_every_side_are_white() {
        let (info, pixels) = decoded(&QrImage::new("x").unwrap().png().unwrap());
        let side = usize::try_from(info.width).unwrap();
        let quiet = QUIET_MODULES * PIXELS_PER_MODULE;
        let is_dark = |x: usize, y: usize| pixels[y * side + x] == 0;
        for along in 0..side {
            for depth in [0, quiet - 1] {
                assert!(!is_dark(along, depth) && !is_dark(along, side - 1 - depth));
                assert!(!is_dark(depth, along) && !is_dark(side - 1 - depth, along));
            }
        }
        assert!(is_dark(quiet, quiet), "the finder pattern begins right after the quiet zone");
    }

    #[test]
    fn the_svg_draws_the_same_modules() {
        let image = QrImage::new(PIX_CODE).unwrap();
        let svg = image.svg();
        let painted: usize =
            svg.split("h-").skip(1).map(|run| run.split('z').next().unwrap().parse::<usize>().unwrap()).sum();
        assert_eq!(painted, image.rows.iter().flatten().filter(|dark| **dark).count());
        assert!(svg.contains("fill=\"#fff\"") && svg.contains("M4 4h7v1h-7z"));
    }

    #[test]
    fn a_text_that_no_code_holds_is_refused() {
        assert!(QrImage::new(&"a".repeat(2331)).is_ok());
        assert!(matches!(QrImage::new(&"a".repeat(2332)), Err(QrFailure::DoesNotFit(_))));
    }
}
