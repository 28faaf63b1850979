//! The two consoles, pages for people: the merchants' under `/console` on the public listener, the operator's on the
//! operators' listener.
//!
//! What both are made of is the [`kit`], which knows neither; they do not know each other.

mod kit;
pub(crate) mod merchant;
pub(crate) mod operator;

pub(crate) use kit::language::Language;
pub(crate) use kit::texts::group;
