//! What people do in the merchants' console, in a real browser.

mod owner;
