//! Refused attempts of one minute, in bounded memory.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;

use quita_domain::identity::MerchantId;

use super::{Door, Occasion};

/// Maximum number of single entries in a minute: of one network at one merchant, and of all.
pub(super) const ALONE_PER_NETWORK: usize = 5;
pub(super) const ALONE: usize = 30;
/// Number of networks with their own summary at the minute's end; the others share one.
pub(super) const SUMMARIES: usize = 16;
/// Maximum number of networks that are counted separately.
const NETWORKS: usize = 1_024;
/// Maximum number of accounts whose merchant is remembered.
const ACCOUNTS: usize = 1_024;

/// Placeholders for several accounts or networks.
const SEVERAL_ACCOUNTS: &str = "several accounts";
const OTHER_NETWORKS: &str = "other networks";

/// Key by which attempts are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct AttemptKey {
    pub(super) occasion: Occasion,
    pub(super) network: IpAddr,
    pub(super) merchant: Option<MerchantId>,
    pub(super) door: Door,
}

/// Record of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noted {
    /// Single entry.
    Alone,
    /// Part of a summary.
    Counted,
}

/// Entry that represents several attempts.
pub(super) struct Summary {
    pub(super) occasion: Occasion,
    pub(super) door: Door,
    pub(super) merchant: Option<MerchantId>,
    pub(super) who: String,
    pub(super) from: String,
    pub(super) count: u64,
}

#[derive(Default)]
struct Counted {
    alone: usize,
    more: u64,
    /// Account of the counted attempts: the first one.
    account: Option<String>,
    has_several: bool,
}

/// Attempts of one minute.
#[derive(Default)]
pub(super) struct Minute {
    seen: HashMap<AttemptKey, Counted>,
    alone: usize,
    /// Attempts from networks that are not counted separately.
    beyond: u64,
    merchants: HashMap<String, Option<MerchantId>>,
}

impl Minute {
    /// Counts an attempt, and returns whether it gets its own entry.
    pub(super) fn count(&mut self, of: &AttemptKey, account: &str) -> Noted {
        if self.seen.len() >= NETWORKS && !self.seen.contains_key(of) {
            self.beyond = self.beyond.saturating_add(1);
            return Noted::Counted;
        }
        let counted = self.seen.entry(of.clone()).or_default();
        if counted.alone < ALONE_PER_NETWORK && self.alone < ALONE {
            counted.alone = counted.alone.saturating_add(1);
            self.alone = self.alone.saturating_add(1);
            return Noted::Alone;
        }
        counted.more = counted.more.saturating_add(1);
        let known = counted.account.get_or_insert_with(|| account.to_owned());
        counted.has_several |= known != account;
        Noted::Counted
    }

    /// Returns the merchant of an account, if that was found in this minute.
    pub(super) fn merchant_of(&self, account: &str) -> Option<Option<MerchantId>> {
        self.merchants.get(account).cloned()
    }

    /// Returns true if one more account may be looked up.
    pub(super) fn has_room(&self) -> bool {
        self.merchants.len() < ACCOUNTS
    }

    /// Stores the merchant of an account.
    pub(super) fn know(&mut self, account: &str, merchant: Option<MerchantId>) {
        if self.has_room() {
            self.merchants.insert(account.to_owned(), merchant);
        }
    }

    /// Returns the summaries of the attempts that were only counted, the largest first.
    pub(super) fn summaries(self) -> Vec<Summary> {
        let mut counted: Vec<_> = self.seen.into_iter().filter(|(_, counted)| counted.more > 0).collect();
        counted.sort_by_key(|(of, counted)| (Reverse(counted.more), of.network));
        let others = counted.split_off(counted.len().min(SUMMARIES));
        let others = others.iter().fold(self.beyond, |sum, (_, counted)| sum.saturating_add(counted.more));
        let mut summaries: Vec<_> = counted.into_iter().map(|(of, counted)| summary(of, counted)).collect();
        if others > 0 {
            summaries.push(Summary {
                occasion: Occasion::SignIn,
                door: Door::Console,
                merchant: None,
                who: SEVERAL_ACCOUNTS.into(),
                from: OTHER_NETWORKS.into(),
                count: others,
            });
        }
        summaries
    }
}

fn summary(AttemptKey { occasion, network, merchant, door }: AttemptKey, counted: Counted) -> Summary {
    let only = counted.account.filter(|_| !counted.has_several);
    let from = match network {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("{address}/64"),
    };
    let who = only.unwrap_or_else(|| SEVERAL_ACCOUNTS.into());
    Summary { occasion, door, merchant, who, from, count: counted.more }
}
