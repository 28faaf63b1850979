//! Payers' documents on paper and screen: the QR code, the bar code and the boleto as PDF.
//!
//! Pure drawing: nothing here reads a clock, a store or the network. Lengths are integer micrometres,
//! because the pieces have to add up exactly (a bar code of 103 mm, a slip of 190 mm).

pub mod boleto_pdf;
pub mod brazilian;
pub mod itf;
pub mod qr;
pub mod slip;

mod fitting;
mod helvetica;
mod sheet;
mod win_ansi;
