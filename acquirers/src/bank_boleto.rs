//! Boletos that a bank registers under numbers of ours, whatever the bank: their names there, amounts in reais, and the
//! codes that a payer sees.

pub(crate) mod amount;
pub(crate) mod codes;
pub(crate) mod names;
