//! The elements of both parts of a slip: labelled cells, the bank's header, the codes.

use super::{LEFT_UM, WIDTH_UM};
use crate::helvetica::Font;
use crate::itf;
use crate::qr::QrImage;
use crate::sheet::{Align, Area, Sheet, TextRoom, TextStyle};
use crate::slip::{BoletoSlip, Party};

/// Label of a cell: 5.5 points.
pub(super) const LABEL: TextStyle = style(Font::Regular, 1_950, Align::Left);
/// Ordinary contents: 9 points.
pub(super) const VALUE: TextStyle = style(Font::Regular, 3_175, Align::Left);
/// Names, and values that the payer looks for.
pub(super) const STRONG: TextStyle = style(Font::Bold, 3_175, Align::Left);
/// Money and dates in the right column.
pub(super) const STRONG_RIGHT: TextStyle = style(Font::Bold, 3_525, Align::Right);
/// Right column without emphasis.
pub(super) const VALUE_RIGHT: TextStyle = style(Font::Regular, 3_175, Align::Right);

/// Space between a cell's border and its text.
const PADDING_UM: i64 = 1_200;
const BANK_NAME_WIDTH_UM: i64 = 28_000;
const BANK_CODE_WIDTH_UM: i64 = 22_000;
/// Room for `CNPJ 00.000.000/0001-91` beside a name.
const DOCUMENT_WIDTH_UM: i64 = 44_000;
pub(super) const HEADER_HEIGHT_UM: i64 = 9_500;

/// A cell in a row: its width, its label, the style of its content and the content.
pub(super) type Cell<'a> = (i64, &'a str, TextStyle, &'a str);

/// Returns a text style.
pub(super) const fn style(font: Font, size_um: i64, align: Align) -> TextStyle {
    TextStyle { font, size_um, align }
}

/// Draws cells side by side from `left_um`. The caller makes sure that the widths add up.
pub(super) fn row(sheet: &mut Sheet, left_um: i64, top_um: i64, height_um: i64, cells: &[Cell<'_>]) {
    let mut left_um = left_um;
    for (width_um, label, look, value) in cells {
        let area = Area { left_um, top_um, width_um: *width_um, height_um };
        labelled_frame(sheet, area, label);
        sheet.text(room(area, height_um - PADDING_UM), *look, value);
        left_um += width_um;
    }
}

/// Draws the border of a cell and its label.
pub(super) fn labelled_frame(sheet: &mut Sheet, area: Area, label: &str) {
    sheet.frame(area);
    sheet.text(room(area, 2_300), LABEL, label);
}

/// Returns the room for a line whose baseline is `down_um` below the cell's top.
pub(super) fn room(area: Area, down_um: i64) -> TextRoom {
    TextRoom {
        left_um: area.left_um + PADDING_UM,
        baseline_um: area.top_um + down_um,
        width_um: area.width_um - 2 * PADDING_UM,
    }
}

/// Draws a person: name and document on one line, the address below on at most `address_lines`.
pub(super) fn party(sheet: &mut Sheet, area: Area, label: &str, who: &Party, address_lines: usize) {
    labelled_frame(sheet, area, label);
    let name = Area { width_um: area.width_um - DOCUMENT_WIDTH_UM, ..area };
    let document = Area { left_um: name.right_um(), width_um: DOCUMENT_WIDTH_UM, ..area };
    sheet.text(room(name, 6_000), STRONG, &who.name);
    sheet.text(room(document, 6_000), VALUE_RIGHT, &who.document_formatted);
    for (line, down_um) in address(who, address_lines).iter().zip([9_600, 13_000]) {
        sheet.text(room(area, down_um), style(Font::Regular, 2_800, Align::Left), line);
    }
}

/// Draws the bank's name, its code and the text to the right of them, above a thick line.
pub(super) fn header(sheet: &mut Sheet, top_um: i64, slip: &BoletoSlip, look: TextStyle, right: &str) {
    let bottom_um = top_um + HEADER_HEIGHT_UM;
    let part = |left_um, width_um| Area { left_um, top_um, width_um, height_um: HEADER_HEIGHT_UM };
    let name = part(LEFT_UM, BANK_NAME_WIDTH_UM);
    let code = part(name.right_um(), BANK_CODE_WIDTH_UM);
    let rest = part(code.right_um(), LEFT_UM + WIDTH_UM - code.right_um());
    let bank_name = style(Font::Bold, 3_700, Align::Left);
    sheet.text(TextRoom { left_um: LEFT_UM, ..room(name, 7_000) }, bank_name, &slip.bank_name);
    // Digits 5 mm high, as the model requires.
    sheet.text(room(code, 7_500), style(Font::Bold, 7_050, Align::Center), &slip.bank_code);
    sheet.text(room(rest, 7_000), look, right);
    for left_um in [code.left_um, code.right_um()] {
        sheet.bar(Area {
            left_um,
            top_um: top_um + 1_500,
            width_um: 400,
            height_um: HEADER_HEIGHT_UM - 1_500,
        });
    }
    sheet.bar(Area { left_um: LEFT_UM, top_um: bottom_um - 400, width_um: WIDTH_UM, height_um: 400 });
}

/// Draws the 103 by 13 mm bar code, five millimetres from the left edge of the part.
pub(super) fn barcode(sheet: &mut Sheet, top_um: i64, slip: &BoletoSlip) {
    for bar in slip.barcode.bars() {
        sheet.bar(Area {
            left_um: LEFT_UM + 5_000 + bar.left_um,
            top_um,
            width_um: bar.width_um,
            height_um: itf::HEIGHT_UM,
        });
    }
}

/// Draws a QR code with this side length, without its quiet zone. Draws nothing if the text is too long for one.
pub(super) fn qr_code(sheet: &mut Sheet, left_um: i64, top_um: i64, side_um: i64, text: &str) {
    let Ok(image) = QrImage::new(text) else { return };
    let Ok(modules) = i64::try_from(image.side().max(1)) else { return };
    let at = |module: usize| i64::try_from(module).unwrap_or_default() * side_um / modules;
    for (x, y, length) in image.runs() {
        sheet.bar(Area {
            left_um: left_um + at(x),
            top_um: top_um + at(y),
            width_um: at(x + length) - at(x),
            height_um: at(y + 1) - at(y),
        });
    }
}

/// Draws in large grey letters that the slip can't be paid.
pub(super) fn worthless_mark(sheet: &mut Sheet, area: Area) {
    let middle = room(area, area.height_um);
    sheet.text_in_grey(middle, style(Font::Bold, 8_500, Align::Center), "TESTE – SEM VALOR – NÃO PAGAR", 820);
}

fn address(who: &Party, most_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = who.address.iter().take(most_lines).cloned().collect();
    let left_over = who.address.iter().skip(most_lines);
    if let Some(last) = lines.last_mut() {
        for line in left_over {
            last.push_str(" – ");
            last.push_str(line);
        }
    }
    lines
}
