//! The ficha de compensação: the part that the bank reads, in the order of FEBRABAN's model.

use super::cells::{
    self, LABEL, STRONG_RIGHT, VALUE, VALUE_RIGHT, barcode, header, labelled_frame, party, room, row, style,
};
use super::{LEFT_UM, WIDTH_UM};
use crate::brazilian::{day, reais};
use crate::fitting::wrap;
use crate::helvetica::Font;
use crate::sheet::{Align, Area, Sheet, TextStyle};
use crate::slip::BoletoSlip;

const TOP_UM: i64 = 191_000;
const ROW_UM: i64 = 7_000;
/// Width of the column with due date and amounts.
const RIGHT_UM: i64 = 50_000;
const MAIN_UM: i64 = WIDTH_UM - RIGHT_UM;
/// The bars end 10 mm above the edge of the page: beyond a printer's margin, their centre at 16.5 mm.
const BARCODE_TOP_UM: i64 = 274_000;
/// Lines of instructions in the usual size, and in the smaller one.
const FEW_LINES: usize = 5;
const MOST_LINES: usize = 7;
/// The QR code to the right of the bars, with a white margin, in the corner that printers can still reach.
const QR_UM: i64 = 20_400;
const QR_TOP_UM: i64 = 272_300;
/// Width of the QR code with its white margin.
const QR_ROOM_UM: i64 = QR_UM + 4_000;

/// Draws the ficha at the foot of the page.
pub(super) fn draw(sheet: &mut Sheet, slip: &BoletoSlip) {
    // Digits 3.5 mm high; the model requires 3.5 to 4.5 mm.
    header(sheet, TOP_UM, slip, style(Font::Bold, 4_900, Align::Right), &slip.line_formatted);
    let mut top_um = TOP_UM + 9_500;
    let due_date = day(slip.due_date);
    split_row(
        sheet,
        top_um,
        ("Local de pagamento", VALUE, &slip.payment_place),
        ("Vencimento", STRONG_RIGHT, &due_date),
    );
    top_um += ROW_UM;
    beneficiary(sheet, top_um, slip);
    top_um += 11_500;
    document(sheet, top_um, slip);
    top_um += ROW_UM;
    amounts(sheet, top_um, slip);
    top_um += ROW_UM;
    instructions(sheet, top_um, slip);
    top_um += 3 * ROW_UM;
    payer(sheet, top_um, slip);
    barcode(sheet, BARCODE_TOP_UM, slip);
    let qr_room_um = if slip.pix_code.is_some() { QR_ROOM_UM } else { 0 };
    let foot = Area {
        left_um: LEFT_UM + MAIN_UM - 20_000,
        top_um: 271_000,
        width_um: RIGHT_UM + 20_000 - qr_room_um,
        height_um: 3_000,
    };
    pix(sheet, slip);
    sheet.text(
        room(foot, 2_400),
        TextStyle { align: Align::Right, ..LABEL },
        "Autenticação mecânica – Ficha de compensação",
    );
}

/// Draws the QR code of the PIX that also pays the slip.
fn pix(sheet: &mut Sheet, slip: &BoletoSlip) {
    let Some(code) = &slip.pix_code else { return };
    let left_um = LEFT_UM + WIDTH_UM - QR_UM;
    cells::qr_code(sheet, left_um, QR_TOP_UM, QR_UM, code);
    let words =
        Area { left_um: left_um - 46_000, top_um: BARCODE_TOP_UM, width_um: 43_000, height_um: 13_000 };
    for (line, down_um) in
        ["Pague com PIX: aponte a câmera", "do aplicativo do seu banco"].into_iter().zip([6_000, 9_600])
    {
        sheet.text(room(words, down_um), style(Font::Regular, 2_600, Align::Right), line);
    }
}

/// Draws a wide cell and one in the right column.
fn split_row(sheet: &mut Sheet, top_um: i64, main: (&str, TextStyle, &str), right: (&str, TextStyle, &str)) {
    let cells = [(MAIN_UM, main.0, main.1, main.2), (RIGHT_UM, right.0, right.1, right.2)];
    row(sheet, LEFT_UM, top_um, ROW_UM, &cells);
}

fn beneficiary(sheet: &mut Sheet, top_um: i64, slip: &BoletoSlip) {
    let height_um = 11_500;
    let area = Area { left_um: LEFT_UM, top_um, width_um: MAIN_UM, height_um };
    party(sheet, area, "Beneficiário", &slip.beneficiary, 1);
    let cells =
        [(RIGHT_UM, "Agência / código do beneficiário", VALUE_RIGHT, slip.agency_and_account.as_str())];
    row(sheet, area.right_um(), top_um, height_um, &cells);
}

fn document(sheet: &mut Sheet, top_um: i64, slip: &BoletoSlip) {
    let made = day(slip.document_date);
    let processed = day(slip.processing_date);
    let cells = [
        (28_000, "Data do documento", VALUE, made.as_str()),
        (42_000, "Nº do documento", VALUE, slip.document_number.as_str()),
        (20_000, "Espécie doc.", VALUE, slip.document_kind.as_str()),
        (16_000, "Aceite", VALUE, "N"),
        (34_000, "Data do processamento", VALUE, processed.as_str()),
        (RIGHT_UM, "Nosso número", VALUE_RIGHT, slip.our_number.as_str()),
    ];
    row(sheet, LEFT_UM, top_um, ROW_UM, &cells);
}

fn amounts(sheet: &mut Sheet, top_um: i64, slip: &BoletoSlip) {
    let amount = reais(slip.amount_cents);
    let cells = [
        (28_000, "Uso do banco", VALUE, ""),
        (20_000, "Carteira", VALUE, slip.portfolio.as_str()),
        (16_000, "Espécie", VALUE, "R$"),
        (38_000, "Quantidade", VALUE, ""),
        (38_000, "Valor", VALUE, ""),
        (RIGHT_UM, "(=) Valor do documento", STRONG_RIGHT, amount.as_str()),
    ];
    row(sheet, LEFT_UM, top_um, ROW_UM, &cells);
}

fn instructions(sheet: &mut Sheet, top_um: i64, slip: &BoletoSlip) {
    let area = Area { left_um: LEFT_UM, top_um, width_um: MAIN_UM, height_um: 3 * ROW_UM };
    if slip.is_test {
        cells::worthless_mark(sheet, Area { height_um: 14_500, ..area });
    }
    labelled_frame(sheet, area, "Instruções (texto de responsabilidade do beneficiário)");
    let usual = TextStyle { size_um: 2_800, ..VALUE };
    let small = TextStyle { size_um: 2_100, ..VALUE };
    let lines = lines_of(slip, usual, area);
    if lines.len() <= FEW_LINES {
        write_lines(sheet, area, usual, &lines, 6_000, 3_400);
    } else {
        write_lines(sheet, area, small, &lines_of(slip, small, area), 5_100, 2_500);
    }
    let right = ["(-) Desconto / abatimento", "(+) Mora / multa", "(=) Valor cobrado"];
    for (label, down) in right.into_iter().zip([0, ROW_UM, 2 * ROW_UM]) {
        row(sheet, area.right_um(), top_um + down, ROW_UM, &[(RIGHT_UM, label, VALUE_RIGHT, "")]);
    }
}

fn write_lines(
    sheet: &mut Sheet,
    area: Area,
    look: TextStyle,
    lines: &[String],
    first_um: i64,
    step_um: usize,
) {
    for (line, down_um) in lines.iter().take(MOST_LINES).zip((first_um..).step_by(step_um)) {
        sheet.text(room(area, down_um), look, line);
    }
}

/// Breaks the terms and instructions into lines.
pub(super) fn lines_of(slip: &BoletoSlip, look: TextStyle, area: Area) -> Vec<String> {
    let room_um = room(area, 0).width_um;
    let texts = slip.terms.iter().chain(&slip.instructions);
    texts.flat_map(|text| wrap(text, look.font, look.size_um, room_um, MOST_LINES)).collect()
}

fn payer(sheet: &mut Sheet, top_um: i64, slip: &BoletoSlip) {
    let area = Area { left_um: LEFT_UM, top_um, width_um: WIDTH_UM, height_um: 16_500 };
    party(sheet, area, "Pagador", &slip.payer, 2);
    let foot = Area { width_um: 60_000, ..area };
    sheet.text(room(foot, 15_900), LABEL, "Sacador / avalista (beneficiário final)");
}
