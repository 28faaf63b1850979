//! Limit on the files and sockets that this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Minimum for many concurrent clients and webhook receivers.
pub(crate) const ENOUGH: u64 = 8_192;

/// Raises the limit as far as possible without privileges, and returns it.
pub(crate) fn raise() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let is_raised =
        current == maximum || setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
    let allowed = if is_raised { maximum } else { current };
    allowed.unwrap_or(u64::MAX)
}

/// Returns the hard limit.
pub(crate) fn most() -> u64 {
    getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_as_far_as_it_may_be() {
        assert_eq!(raise(), most());
        assert_eq!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), most());
    }
}
