//! Boletos that any bank registers under our numbers: their names at the bank, amounts in reais, and the codes that a
//! payer sees.

pub(crate) mod amount;
pub(crate) mod codes;
pub(crate) mod names;
