//! Boleto: bar code, linha digitável and the due-date factor.
pub mod business_day;
