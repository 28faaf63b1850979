//! What people do in the merchants' console, in a real browser.

mod developer;
mod owner;
mod viewer;
mod ways_to_look;
