//! Values that are never printed.

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

/// A value that is masked in `Debug`, has no `Display` or `Serialize`, and is zeroed when dropped.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value itself. Reviews should check every call.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Returns the value itself, to be changed in place.
    pub const fn expose_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_prints() {
        assert_eq!(format!("{:?}", Secret::new(String::from("123"))), "Secret(***)");
    }
}
