//! Last refused requests of each merchant on this node: the first place where an integrator looks.
//!
//! They are kept together with requests that were accepted despite unknown names: a misspelt optional field is lost
//! without a refusal. Both are kept in memory only: neither changes anything, so neither should cost a write.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use quita_domain::access::KeyKind;
use quita_domain::identity::{MerchantId, Mode, Owner};
use quita_domain::request::{UnknownName, Violation};
use quita_domain::time::Timestamp;
use quita_domain::wording::Wording;

/// Maximum number of entries of each list kept for each merchant, mode and kind of key.
const KEPT: usize = 100;

/// Maximum number of refusals by the rate limit kept for each key: a burst would displace all others.
const KEPT_RATE_LIMITED: usize = 5;

/// Status of a refusal by the rate limit.
const TOO_MANY_REQUESTS: u16 = 429;

/// Request that was answered, without its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredRequest {
    /// Time of the response.
    pub at: Timestamp,
    /// Id of the request, as the response has it.
    pub request_id: String,
    /// Name of the method.
    pub method: &'static str,
    /// Address without its ids: `/pay/payments/{id}`. Of an unknown one, the words of the path.
    pub route: String,
    /// Status of the response.
    pub status: u16,
    /// Id of the key that it came with.
    pub key_id: String,
    /// Kind of that key.
    pub key_kind: KeyKind,
}

/// Refused request. It contains the names of fields, but none of the values that were sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Request and its response.
    pub request: AnsweredRequest,
    /// Code of the response.
    pub code: &'static str,
    /// Message of the response.
    pub message: Wording,
    /// First broken rules, in the order of the response.
    pub violations: Vec<Violation>,
}

/// Request that was accepted although some of its names are unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredNames {
    /// Request and its response.
    pub request: AnsweredRequest,
    /// Names that were ignored.
    pub names: Vec<UnknownName>,
}

type MerchantMode = (MerchantId, Mode);

/// Entries of one merchant in one mode.
#[derive(Default)]
struct MerchantLog {
    refusals: ByKind<Refusal>,
    ignored: ByKind<IgnoredNames>,
}

/// Entries by the kind of their key, oldest first.
struct ByKind<T> {
    secret: VecDeque<T>,
    /// Entries of publishable keys.
    // Anyone can read such a key in a page, and could otherwise displace the entries of the merchant's own programs.
    publishable: VecDeque<T>,
}

impl<T> Default for ByKind<T> {
    fn default() -> Self {
        Self { secret: VecDeque::new(), publishable: VecDeque::new() }
    }
}

/// Log of the last refusals.
#[derive(Default)]
pub struct RefusalLog {
    kept: Mutex<HashMap<MerchantMode, MerchantLog>>,
}

impl RefusalLog {
    /// Adds a refusal, replacing the oldest one of its kind of key if the log is full. One by the rate limit replaces the
    /// oldest such refusal of its key, if there are several.
    pub fn keep(&self, owner: &Owner, refusal: Refusal) {
        let kind = refusal.request.key_kind;
        self.with(owner, |kept| {
            if refusal.request.status == TOO_MANY_REQUESTS {
                let is_alike = |other: &Refusal| {
                    other.request.status == TOO_MANY_REQUESTS
                        && other.request.key_id == refusal.request.key_id
                };
                kept.refusals.make_room(kind, KEPT_RATE_LIMITED, is_alike);
            }
            kept.refusals.push(kind, refusal);
        });
    }

    /// Adds ignored names, replacing the oldest ones of their kind of key if the log is full.
    pub fn keep_ignored(&self, owner: &Owner, ignored: IgnoredNames) {
        self.with(owner, |kept| kept.ignored.push(ignored.request.key_kind, ignored));
    }

    /// Returns the last refusals of a merchant, newest first: as many of each kind of key.
    pub fn newest(&self, merchant: &MerchantId, mode: Mode, count: usize) -> Vec<Refusal> {
        self.of(merchant, mode, |kept| kept.refusals.newest(count, |refusal| refusal.request.at))
    }

    /// Returns the last requests of a merchant with ignored names, newest first: as many of each kind of key.
    pub fn newest_ignored(&self, merchant: &MerchantId, mode: Mode, count: usize) -> Vec<IgnoredNames> {
        self.of(merchant, mode, |kept| kept.ignored.newest(count, |ignored| ignored.request.at))
    }

    fn with(&self, owner: &Owner, change: impl FnOnce(&mut MerchantLog)) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        change(kept.entry((owner.merchant.clone(), owner.mode)).or_default());
    }

    fn of<T>(&self, merchant: &MerchantId, mode: Mode, read: impl Fn(&MerchantLog) -> Vec<T>) -> Vec<T> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&(merchant.clone(), mode)).map(read).unwrap_or_default()
    }
}

impl<T: Clone> ByKind<T> {
    const fn of(&mut self, kind: KeyKind) -> &mut VecDeque<T> {
        match kind {
            KeyKind::Secret => &mut self.secret,
            KeyKind::Publishable => &mut self.publishable,
        }
    }

    /// Removes the oldest of the entries that are alike, if there are as many as allowed.
    fn make_room(&mut self, kind: KeyKind, most: usize, is_alike: impl Fn(&T) -> bool) {
        let entries = self.of(kind);
        let count = entries.iter().filter(|entry| is_alike(entry)).count();
        if let Some(oldest) = entries.iter().position(is_alike).filter(|_| count >= most) {
            entries.remove(oldest);
        }
    }

    fn push(&mut self, kind: KeyKind, entry: T) {
        let entries = self.of(kind);
        if entries.len() >= KEPT {
            entries.pop_front();
        }
        entries.push_back(entry);
    }

    /// Returns up to `count` entries of each kind, newest first.
    fn newest(&self, count: usize, at: impl Fn(&T) -> Timestamp) -> Vec<T> {
        let last = |entries: &VecDeque<T>| entries.iter().rev().take(count).cloned().collect::<Vec<_>>();
        let mut newest = last(&self.secret);
        newest.extend(last(&self.publishable));
        newest.sort_by_key(|entry| Reverse(at(entry)));
        newest
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::ApplicationName;

    use super::*;

    fn request(number: usize) -> AnsweredRequest {
        AnsweredRequest {
            at: Timestamp::from_millis(0),
            request_id: number.to_string(),
            method: "POST",
            route: "/pay/payments".into(),
            status: 422,
            key_id: "k".into(),
            key_kind: KeyKind::Secret,
        }
    }

    fn refusal(number: usize) -> Refusal {
        Refusal {
            request: request(number),
            code: "validation_failed",
            message: Wording::fixed("amount: must be an integer", "amount: deve ser um número inteiro"),
            violations: Vec::new(),
        }
    }

    fn refusal_at(number: u32, key_kind: KeyKind) -> Refusal {
        let at = Timestamp::from_millis(number.into());
        let request = AnsweredRequest { at, key_kind, ..request(usize::try_from(number).unwrap()) };
        Refusal { request, ..refusal(0) }
    }

    fn owner(merchant: &str, mode: Mode) -> Owner {
        let merchant = MerchantId::new(merchant);
        Owner { merchant, application: ApplicationName::new("main"), mode }
    }

    #[test]
    fn the_newest_come_first_and_the_oldest_make_room() {
        let log = RefusalLog::default();
        for number in 0..KEPT + 3 {
            log.keep(&owner("shop", Mode::Test), refusal(number));
        }
        let shown = log.newest(&owner("shop", Mode::Test).merchant, Mode::Test, KEPT + 3);
        assert_eq!(shown.len(), KEPT);
        assert_eq!(shown.first().unwrap().request.request_id, (KEPT + 2).to_string());
        assert_eq!(shown.last().unwrap().request.request_id, "3");
    }

    #[test]
    fn a_merchant_sees_its_own_refusals_of_one_mode() {
        let log = RefusalLog::default();
        log.keep(&owner("shop", Mode::Test), refusal(1));
        log.keep(&owner("other", Mode::Test), refusal(2));
        log.keep(&owner("shop", Mode::Live), refusal(3));
        let shown = log.newest(&owner("shop", Mode::Test).merchant, Mode::Test, KEPT);
        assert_eq!(shown, vec![refusal(1)]);
    }

    #[test]
    fn many_refusals_by_the_rate_limit_push_no_other_refusal_out() {
        let log = RefusalLog::default();
        let shop = owner("shop", Mode::Test);
        let limited = |number: usize, key_id: &str| {
            let request = AnsweredRequest { status: 429, key_id: key_id.into(), ..request(number) };
            Refusal { request, code: "rate_limited", ..refusal(0) }
        };
        log.keep(&shop, refusal(0));
        log.keep(&shop, limited(1, "other"));
        for number in 2..KEPT + 10 {
            log.keep(&shop, limited(number, "k"));
        }
        let shown = log.newest(&shop.merchant, Mode::Test, KEPT);
        let newest = (2..KEPT + 10).rev().take(KEPT_RATE_LIMITED).map(|number| limited(number, "k"));
        let expected: Vec<_> = newest.chain([limited(1, "other"), refusal(0)]).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn many_ignored_names_push_no_refusal_out() {
        let log = RefusalLog::default();
        let shop = owner("shop", Mode::Test);
        log.keep(&shop, refusal(1));
        let names = vec![UnknownName { path: "postback_url".into(), meant: Some("postbackUrl".into()) }];
        for number in 0..KEPT + 1 {
            log.keep_ignored(&shop, IgnoredNames { request: request(number), names: names.clone() });
        }
        assert_eq!(log.newest(&shop.merchant, Mode::Test, KEPT), vec![refusal(1)]);
        let ignored = log.newest_ignored(&shop.merchant, Mode::Test, KEPT + 1);
        assert_eq!((ignored.len(), ignored[0].request.request_id.as_str()), (KEPT, "100"));
    }

    #[test]
    fn many_refusals_of_a_publishable_key_push_none_of_a_secret_key_out() {
        let log = RefusalLog::default();
        let shop = owner("shop", Mode::Live);
        let kept = u32::try_from(KEPT).unwrap();
        let [old, late] = [0, kept + 5].map(|number| refusal_at(number, KeyKind::Secret));
        log.keep(&shop, old.clone());
        for number in 1..kept + 5 {
            log.keep(&shop, refusal_at(number, KeyKind::Publishable));
        }
        log.keep(&shop, late.clone());
        let shown = log.newest(&shop.merchant, Mode::Live, KEPT);
        assert_eq!(shown.len(), KEPT + 2);
        assert_eq!((shown.first(), shown.last()), (Some(&late), Some(&old)), "newest first");
        assert_eq!(shown[1], refusal_at(kept + 4, KeyKind::Publishable));
    }

    #[test]
    fn many_ignored_names_of_a_publishable_key_push_none_of_a_secret_key_out() {
        let log = RefusalLog::default();
        let shop = owner("shop", Mode::Test);
        let ignored =
            |number, kind| IgnoredNames { request: refusal_at(number, kind).request, names: vec![] };
        log.keep_ignored(&shop, ignored(0, KeyKind::Secret));
        for number in 1..u32::try_from(KEPT).unwrap() + 5 {
            log.keep_ignored(&shop, ignored(number, KeyKind::Publishable));
        }
        let shown = log.newest_ignored(&shop.merchant, Mode::Test, KEPT);
        assert_eq!((shown.len(), shown.last()), (KEPT + 1, Some(&ignored(0, KeyKind::Secret))));
    }
}
