//! Values as templates pass them: by value or by reference.

/// Small value, regardless of how often a template has borrowed it.
pub(crate) trait Shown<T> {
    /// Returns the value itself.
    fn value(self) -> T;
}

impl<T: Copy> Shown<T> for T {
    fn value(self) -> T {
        self
    }
}

impl<T: Copy> Shown<T> for &T {
    fn value(self) -> T {
        *self
    }
}

impl<T: Copy> Shown<T> for &&T {
    fn value(self) -> T {
        **self
    }
}
