//! What goes wrong at a call, besides what the books say.

use super::Request;

/// One fault at one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection is cut before anything was done.
    ResetBefore,
    /// The call was done, and the connection is cut.
    ResetAfter,
    /// Answered with this status before anything was done.
    ErrorBefore(u16),
    /// The call was done, and is answered with this status.
    ErrorAfter(u16),
    /// Nothing was done, and nothing ever comes.
    SilenceBefore,
    /// The call was done, and nothing ever comes.
    SilenceAfter,
    /// 429 with `Retry-After`; nothing was done.
    Throttled {
        /// Seconds.
        retry_after_s: u64,
    },
    /// The call was done, and its answer is no JSON, or half of one.
    Unreadable,
    /// The call is done at once, and answered after this time.
    Slow {
        /// Milliseconds.
        ms: u64,
    },
    /// 401, although the token was good; nothing was done.
    TokenRefused,
}

/// Decides which fault strikes a call, if any.
pub type Faults = Box<dyn FnMut(&Request) -> Option<Fault> + Send>;

/// No fault ever.
pub fn none() -> Faults {
    Box::new(|_| None)
}
