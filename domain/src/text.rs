//! Text folded to the alphabets of payment systems.
