//! The two web consoles: the merchants' under `/console` on the public listener, the operator's on the operators'
//! listener.
//!
//! Both are built from the [`kit`], which depends on neither. They do not depend on each other.

mod kit;
pub(crate) mod merchant;
pub(crate) mod operator;

pub(crate) use kit::accounts::AccountsParts;
pub(crate) use kit::language::Language;
pub(crate) use kit::texts::group;
