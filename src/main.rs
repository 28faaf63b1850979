//! Quita.
fn main() {}
