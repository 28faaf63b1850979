//! The life of an installation: what happens to a service as a whole while its payments go on.
//!
//! It begins at any moment of the years and serves one merchant or many (`calendar.rs`, here). It is told to stop, reads its
//! routes again, and begins anew with other settings (`operating.rs`, `configuration.rs`). Payers are erased beside
//! everything (`erasing.rs`), and its store is put back to an earlier state (`restoring.rs`). Each in some worlds, by a
//! chance of its own: the stories of other worlds stay what they were.

mod calendar;
mod configuration;
mod erasing;
mod operating;
mod restoring;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use quita_domain::time::Timestamp;

pub(crate) use self::configuration::{Configuration, Configurations};
pub(crate) use self::erasing::{
    Erasures, check as check_erased, check_event, check_kept, is_masked, keep as keep_erasing,
    meddle as erase, thanks,
};
pub(crate) use self::operating::{live_without, meddle as operate, stop_in_calm};
pub(crate) use self::restoring::{Amnesia, check_set_back, restore_at_last, run as restore};
use crate::chance::Chance;
use crate::links;

macro_rules! happenings {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// Events in the life of an installation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Happening { $($(#[$doc])* $name),* }

        impl Happening {
            /// Each, with its name.
            pub(crate) const ALL: &'static [(Self, &'static str)] = &[$((Self::$name, stringify!($name))),*];
        }
    };
}

happenings! {
    /// It begins in the last minutes before a year, a month or a holiday, or at night.
    BeginsAtABoundary,
    /// It serves several merchants, whose receivers share hosts.
    ManyMerchants,
    /// A node is told to stop, and does.
    NodeStopped,
    /// Confirmations of receivers from before a node stopped were held against the store.
    ConfirmedBeforeStop,
    /// A node reads its routes again.
    RoutesReloaded,
    /// Nodes begin anew with another time-out.
    TimeOutChanged,
    /// An acquirer is configured no more.
    AcquirerGone,
    /// It is again.
    AcquirerBack,
    /// Payments were open at an acquirer that was gone.
    OpenAtAGoneAcquirer,
    /// Somebody has the payer of one payment erased.
    PaymentErased,
    /// Somebody has one person erased.
    PersonErased,
    /// A payer was kept for long enough.
    KeptForLongEnough,
    /// An erasure meets a payment that is not finished.
    NotFinished,
    /// An event of a payment whose payer was erased is delivered.
    ErasedEventDelivered,
    /// The store is put back to what it was.
    StoreRestored,
    /// Payments are forgotten by that.
    PaymentForgotten,
    /// Payments are by that what they were before.
    PaymentSetBack,
    /// A merchant asks once more for a payment that was forgotten.
    AskedForOnceMore,
    /// And it is charged once more, at a bank that does not know it again.
    ChargedOnceMore,
    /// A merchant makes a payment link.
    LinkMade,
    /// A payer begins a payment there.
    LinkPaymentBegun,
    /// A payer finds that there is no use.
    NoUseLeft,
    /// A payer gives up what waits, and its use is free again.
    UseGivenUp,
    /// A payer gives up what was paid meanwhile.
    GivenUpButPaid,
    /// A link is closed.
    LinkClosed,
    /// A link is closed, and what waits is cancelled.
    LinkCancelled,
}

/// Plan of an installation's life in one world.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Plan {
    pub(crate) begins_at: Option<Timestamp>,
    /// Merchants besides the first one.
    pub(crate) other_merchants: u64,
    stops: bool,
    reloads: bool,
    changes_time_out: bool,
    /// Says whether an acquirer is gone for a while, where another one takes what it took.
    loses_an_acquirer: bool,
    erases: bool,
    retains: bool,
    is_restored: bool,
    /// Says whether merchants make payment links.
    pub(crate) has_links: bool,
}

impl Plan {
    /// By chance. A store is put back only where its secret key is not changed as well.
    pub(crate) fn by(seed: u64, changes_keys: bool) -> Self {
        let chance = Chance::new(seed.rotate_left(16) ^ 0x1157_a11a);
        let begins_at = chance.per_mille(400).then(|| calendar::moment(&chance));
        let other_merchants = if chance.per_mille(250) { chance.between(4, 19) } else { 0 };
        Self {
            begins_at,
            other_merchants,
            stops: chance.per_mille(300),
            reloads: chance.per_mille(200),
            changes_time_out: chance.per_mille(100),
            loses_an_acquirer: chance.per_mille(200),
            erases: chance.per_mille(200),
            retains: chance.per_mille(150),
            is_restored: chance.per_mille(120) && !changes_keys,
            has_links: Chance::new(seed.rotate_left(40) ^ 0x1_1512).per_mille(links::WORLDS),
        }
    }

    /// Says whether payers are erased.
    pub(crate) const fn erases(&self) -> bool {
        self.erases || self.retains
    }

    /// Says whether the store forgets what it knew.
    pub(crate) const fn may_forget(&self) -> bool {
        self.is_restored
    }

    /// Says whether anything stops nodes or changes what they were started with.
    const fn is_operated(&self) -> bool {
        self.stops || self.reloads || self.changes_time_out || self.loses_an_acquirer
    }
}

/// The installation of a world.
pub(crate) struct Installation {
    pub(crate) plan: Plan,
    pub(crate) configurations: Configurations,
    pub(crate) erasures: Mutex<Erasures>,
    pub(crate) amnesia: Mutex<Amnesia>,
    happened: Vec<AtomicU64>,
}

impl Installation {
    /// One that nothing happened to yet.
    pub(crate) fn new(plan: Plan, configurations: Configurations) -> Self {
        let happened = Happening::ALL.iter().map(|_| AtomicU64::new(0)).collect();
        let installation =
            Self { plan, configurations, erasures: Mutex::default(), amnesia: Mutex::default(), happened };
        if plan.begins_at.is_some() {
            installation.count(Happening::BeginsAtABoundary);
        }
        if plan.other_merchants > 0 {
            installation.count(Happening::ManyMerchants);
        }
        installation
    }

    /// It happened.
    pub(crate) fn count(&self, happening: Happening) {
        self.happened[happening as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Number of times that each happened, in the order of `Happening::ALL`.
    pub(crate) fn happened(&self) -> Vec<u64> {
        self.happened.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }
}
