//! How the outside is reached, and what is printed for it.

pub mod paper;
