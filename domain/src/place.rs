//! Places: CEP and UF.
