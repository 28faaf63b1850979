//! Stories of people in the merchants' console, in a real browser.

mod deliveries;
mod developer;
mod leaver;
mod overview;
mod owner;
mod routing;
mod second_factor;
mod viewer;
mod ways_to_look;
