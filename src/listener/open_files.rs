//! How many files and sockets this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Fewer than this are too few for many clients and many receivers of webhooks at once.
pub(crate) const ENOUGH: u64 = 8_192;

/// Raises the limit as far as it may be raised without asking anybody; gives what it is then.
pub(crate) fn raise() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let is_raised =
        current == maximum || setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
    let allowed = if is_raised { maximum } else { current };
    allowed.unwrap_or(u64::MAX)
}

/// How far the limit may be raised.
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
