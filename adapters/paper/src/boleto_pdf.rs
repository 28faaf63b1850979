//! The boleto as PDF: recibo do pagador above, ficha de compensação at the foot of an A4 page.
//!
//! Order and sizes of the ficha follow FEBRABAN's model for bank slips; the receipt's layout is free.

mod cells;
mod ficha;
mod receipt;

use crate::sheet::Sheet;
use crate::slip::BoletoSlip;

/// Left edge of both parts on the page.
const LEFT_UM: i64 = 10_000;
/// Width of both parts; the model allows 170 to 216 mm.
const WIDTH_UM: i64 = 190_000;
/// Position of the cut: the ficha below it is 107 mm high; 95 to 108 mm are allowed.
const CUT_UM: i64 = 190_000;

/// Draws the slip. Texts that do not fit are shrunk, then cut with `…`; nothing leaves its cell.
#[must_use]
pub fn boleto_pdf(slip: &BoletoSlip) -> Vec<u8> {
    let mut sheet = Sheet::new();
    receipt::draw(&mut sheet, slip);
    sheet.cut_line(CUT_UM);
    ficha::draw(&mut sheet, slip);
    sheet.into_pdf(&format!("Boleto {}", slip.our_number))
}
