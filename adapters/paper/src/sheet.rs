//! One A4 page: text, lines and bars placed in micrometres from the upper left corner.

use pdf_writer::types::FontFlags;
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

use crate::fitting;
use crate::helvetica::Font;

const PAGE_WIDTH_UM: i64 = 210_000;
const PAGE_HEIGHT_UM: i64 = 297_000;

/// The grey level of all text to be read, in thousandths of white.
const BLACK: i64 = 0;

/// A page that is being drawn.
pub(crate) struct Sheet {
    content: Content,
}

/// A rectangle on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    /// Distance from the left edge of the page.
    pub(crate) left_um: i64,
    /// Distance from the top of the page.
    pub(crate) top_um: i64,
    pub(crate) width_um: i64,
    pub(crate) height_um: i64,
}

/// Alignment of a line of text within its room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// Style of a line of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextStyle {
    pub(crate) font: Font,
    pub(crate) size_um: i64,
    pub(crate) align: Align,
}

/// Room for one line of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextRoom {
    pub(crate) left_um: i64,
    pub(crate) baseline_um: i64,
    pub(crate) width_um: i64,
}

impl Area {
    pub(crate) fn right_um(self) -> i64 {
        self.left_um + self.width_um
    }

    pub(crate) fn bottom_um(self) -> i64 {
        self.top_um + self.height_um
    }
}

impl Sheet {
    /// Creates an empty page.
    pub(crate) fn new() -> Self {
        Self { content: Content::new() }
    }

    /// Writes one line in black. It is shrunk or cut to stay in its room.
    pub(crate) fn text(&mut self, room: TextRoom, style: TextStyle, text: &str) {
        self.text_in_grey(room, style, text, BLACK);
    }

    /// Writes one line as [`Sheet::text`] does, in a grey of `grey` thousandths of white.
    pub(crate) fn text_in_grey(&mut self, room: TextRoom, style: TextStyle, text: &str, grey: i64) {
        let fitted = fitting::fit(text, style.font, style.size_um, room.width_um);
        let spare_um = room.width_um - style.font.measure(&fitted.bytes, fitted.size_um);
        let indent_um = match style.align {
            Align::Left => 0,
            Align::Center => spare_um / 2,
            Align::Right => spare_um,
        };
        self.content
            .set_fill_gray(thousandths(grey))
            .begin_text()
            .set_font(font_name(style.font), points(fitted.size_um))
            .next_line(points(room.left_um + indent_um), from_bottom(room.baseline_um))
            .show(Str(&fitted.bytes))
            .end_text();
    }

    /// Draws the outline of a cell.
    pub(crate) fn frame(&mut self, area: Area) {
        self.content.set_line_width(points(150)).rect(
            points(area.left_um),
            from_bottom(area.bottom_um()),
            points(area.width_um),
            points(area.height_um),
        );
        self.content.stroke();
    }

    /// Draws a straight bar: a line as thick as the area.
    pub(crate) fn bar(&mut self, area: Area) {
        self.content
            .set_fill_gray(thousandths(BLACK))
            .rect(
                points(area.left_um),
                from_bottom(area.bottom_um()),
                points(area.width_um),
                points(area.height_um),
            )
            .fill_nonzero();
    }

    /// Draws the dashed line along which the page is cut.
    pub(crate) fn cut_line(&mut self, top_um: i64) {
        self.content
            .save_state()
            .set_line_width(points(150))
            .set_dash_pattern([points(1_500), points(1_000)], points(0))
            .move_to(points(0), from_bottom(top_um))
            .line_to(points(PAGE_WIDTH_UM), from_bottom(top_um))
            .stroke()
            .restore_state();
    }

    /// Finishes the page and returns the PDF document.
    pub(crate) fn into_pdf(self, title: &str) -> Vec<u8> {
        let [catalog, pages, page, info, content] = [1, 2, 3, 4, 5].map(Ref::new);
        let mut pdf = Pdf::new();
        let mut root = pdf.catalog(catalog);
        root.pages(pages).lang(TextStr("pt-BR"));
        root.viewer_preferences().display_doc_title(true);
        root.finish();
        pdf.document_info(info).title(TextStr(title)).producer(TextStr("Quita"));
        pdf.pages(pages).kids([page]).count(1);

        let mut leaf = pdf.page(page);
        leaf.parent(pages).contents(content).media_box(Rect::new(
            points(0),
            points(0),
            points(PAGE_WIDTH_UM),
            points(PAGE_HEIGHT_UM),
        ));
        let mut resources = leaf.resources();
        let mut fonts = resources.fonts();
        for font in [Font::Regular, Font::Bold] {
            fonts.pair(font_name(font), font_ref(font));
        }
        fonts.finish();
        resources.finish();
        leaf.finish();

        for font in [Font::Regular, Font::Bold] {
            write_font(&mut pdf, font);
        }
        pdf.stream(content, &self.content.finish());
        pdf.finish()
    }
}

/// Writes a font with its widths, so that a reader with another font keeps every text in its room.
fn write_font(pdf: &mut Pdf, font: Font) {
    let (base_font, stem, descriptor) = match font {
        Font::Regular => (Name(b"Helvetica"), 88, Ref::new(8)),
        Font::Bold => (Name(b"Helvetica-Bold"), 140, Ref::new(9)),
    };
    pdf.type1_font(font_ref(font))
        .base_font(base_font)
        .encoding_predefined(Name(b"WinAnsiEncoding"))
        .first_char(32)
        .last_char(255)
        .widths(font.widths().iter().map(|width| whole(*width)))
        .font_descriptor(descriptor);
    pdf.font_descriptor(descriptor)
        .name(base_font)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(whole(-170), whole(-228), whole(1003), whole(962)))
        .italic_angle(whole(0))
        .ascent(whole(718))
        .descent(whole(-207))
        .cap_height(whole(718))
        .stem_v(whole(stem));
}

fn font_name(font: Font) -> Name<'static> {
    match font {
        Font::Regular => Name(b"F1"),
        Font::Bold => Name(b"F2"),
    }
}

fn font_ref(font: Font) -> Ref {
    match font {
        Font::Regular => Ref::new(6),
        Font::Bold => Ref::new(7),
    }
}

/// Converts a distance from the top of the page to PDF's distance from the bottom.
fn from_bottom(top_um: i64) -> f32 {
    points(PAGE_HEIGHT_UM - top_um)
}

/// Converts micrometres to points of 1/72 inch.
fn points(length_um: i64) -> f32 {
    thousandths(length_um * 72_000 / 25_400)
}

fn whole(number: i64) -> f32 {
    thousandths(number * 1000)
}

/// The only place where a length becomes a float: the PDF library takes nothing else.
#[allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::float_arithmetic,
    reason = "at most 1,003,000 here, and f32 holds whole numbers up to 16,777,216 exactly"
)]
fn thousandths(count: i64) -> f32 {
    count as f32 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_a4_page_is_595_by_842_points() {
        assert_eq!((points(PAGE_WIDTH_UM), points(PAGE_HEIGHT_UM)), (595.275, 841.889));
    }

    #[test]
    fn the_file_carries_accents_in_its_declared_encoding() {
        let mut sheet = Sheet::new();
        let style = TextStyle { font: Font::Bold, size_um: 3_000, align: Align::Right };
        sheet.text(TextRoom { left_um: 0, baseline_um: 10_000, width_um: 50_000 }, style, "Ação");
        let pdf = sheet.into_pdf("Título");
        let holds = |part: &[u8]| pdf.windows(part.len()).any(|window| window == part);
        assert!(holds(b"<41E7E36F>") && holds(b"/WinAnsiEncoding") && holds(b"/Helvetica-Bold"));
        assert!(pdf.starts_with(b"%PDF-1.7"));
    }
}
