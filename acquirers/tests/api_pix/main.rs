//! The adapter of API Pix, tried against a small bank behind its one HTTP exchange.

mod bank;
mod callbacks;
mod charges;
mod golden;
mod inquiries;
mod odd_answers;
mod operations;
mod registration;
mod tokens;
mod world;
