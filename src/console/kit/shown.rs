//! Values as templates pass them: by value or by reference.

/// Small value, however often a template borrowed it on the way.
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
