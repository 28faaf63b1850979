//! Boleto: bar code, linha digitável and the due-date factor.
