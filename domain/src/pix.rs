//! PIX: BR Code, keys and identifiers.
