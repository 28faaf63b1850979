//! Cards: number, brand, expiry and what of them may be kept.
