//! The recibo do pagador: the payer's part, with the line and the bar code once more.

use super::cells::{
    self, HEADER_HEIGHT_UM, LABEL, STRONG, VALUE, barcode, header, labelled_frame, party, room, row, style,
};
use super::ficha::lines_of;
use super::{LEFT_UM, WIDTH_UM};
use crate::brazilian::{day, reais};
use crate::helvetica::Font;
use crate::sheet::{Align, Area, Sheet, TextStyle};
use crate::slip::BoletoSlip;

const TOP_UM: i64 = 12_000;
const PARTY_UM: i64 = 15_500;
/// Maximum number of lines above the cut.
const MOST_TERM_LINES: usize = 11;
const HOW_TO_PAY: [&str; 3] = [
    "No aplicativo ou no site do seu banco, escolha “pagar boleto” e leia o código de barras ou digite a linha digitável.",
    "Você também pode pagar em agências bancárias e casas lotéricas, com este documento impresso.",
    "O pagamento é confirmado em até três dias úteis. Guarde este recibo com o comprovante.",
];

/// Draws the receipt on the upper part of the page.
pub(super) fn draw(sheet: &mut Sheet, slip: &BoletoSlip) {
    header(sheet, TOP_UM, slip, style(Font::Bold, 4_900, Align::Right), "Recibo do pagador");
    let mut top_um = TOP_UM + HEADER_HEIGHT_UM;
    for (label, who) in [("Beneficiário", &slip.beneficiary), ("Pagador", &slip.payer)] {
        let area = Area { left_um: LEFT_UM, top_um, width_um: WIDTH_UM, height_um: PARTY_UM };
        party(sheet, area, label, who, 2);
        top_um += PARTY_UM;
    }
    numbers(sheet, top_um, slip);
    top_um += 8_000;
    what_is_due(sheet, top_um, slip);
    top_um += 12_500;
    how_to_pay(sheet, top_um, slip);
    top_um += 24_000;
    top_um += terms(sheet, top_um, slip);
    let line = Area { left_um: LEFT_UM, top_um, width_um: WIDTH_UM, height_um: 12_000 };
    labelled_frame(sheet, line, "Linha digitável");
    sheet.text(room(line, 9_300), style(Font::Bold, 4_900, Align::Center), &slip.line_formatted);
    barcode(sheet, line.bottom_um() + 4_000, slip);
    let foot =
        Area { left_um: LEFT_UM + 120_000, top_um: line.bottom_um(), width_um: 70_000, height_um: 4_000 };
    sheet.text(
        room(foot, 3_000),
        TextStyle { align: Align::Right, ..LABEL },
        "Autenticação mecânica – Recibo do pagador",
    );
}

fn numbers(sheet: &mut Sheet, top_um: i64, slip: &BoletoSlip) {
    let made = day(slip.document_date);
    let cells = [
        (50_000, "Nosso número", VALUE, slip.our_number.as_str()),
        (50_000, "Nº do documento", VALUE, slip.document_number.as_str()),
        (40_000, "Data do documento", VALUE, made.as_str()),
        (50_000, "Agência / código do beneficiário", VALUE, slip.agency_and_account.as_str()),
    ];
    row(sheet, LEFT_UM, top_um, 8_000, &cells);
}

fn what_is_due(sheet: &mut Sheet, top_um: i64, slip: &BoletoSlip) {
    let due_date = day(slip.due_date);
    let amount = format!("R$ {}", reais(slip.amount_cents));
    let large = style(Font::Bold, 5_300, Align::Left);
    let cells = [
        (100_000, "Vencimento", large, due_date.as_str()),
        (90_000, "Valor do documento", large, amount.as_str()),
    ];
    row(sheet, LEFT_UM, top_um, 12_500, &cells);
}

/// Draws terms and instructions in full, and returns their height.
fn terms(sheet: &mut Sheet, top_um: i64, slip: &BoletoSlip) -> i64 {
    let look = TextStyle { size_um: 2_800, ..VALUE };
    let all = Area { left_um: LEFT_UM, top_um, width_um: WIDTH_UM, height_um: 0 };
    let mut lines = lines_of(slip, look, all);
    if lines.is_empty() {
        return 0;
    }
    lines.truncate(MOST_TERM_LINES);
    let count = i64::try_from(lines.len()).unwrap_or_default();
    let area = Area { height_um: 4_500 + 3_500 * count, ..all };
    labelled_frame(sheet, area, "Condições e instruções");
    for (line, down_um) in lines.iter().zip((6_300..).step_by(3_500)) {
        sheet.text(room(area, down_um), look, line);
    }
    area.height_um
}

fn how_to_pay(sheet: &mut Sheet, top_um: i64, slip: &BoletoSlip) {
    let area = Area { left_um: LEFT_UM, top_um, width_um: WIDTH_UM, height_um: 24_000 };
    labelled_frame(sheet, area, "Como pagar");
    if slip.is_test {
        cells::worthless_mark(sheet, Area { height_um: 15_000, ..area });
        let note = "Este boleto foi gerado em ambiente de testes e não pode ser pago.";
        sheet.text(room(area, 21_000), STRONG, note);
        return;
    }
    for (line, down_um) in HOW_TO_PAY.into_iter().zip([8_000, 13_500, 19_000]) {
        sheet.text(room(area, down_um), VALUE, line);
    }
}
