//! Life of an installation: events that affect a service as a whole while its payments continue.
//!
//! It begins at an arbitrary moment, and serves one merchant or many (`calendar.rs`, here). It is told to stop, reads
//! its routes again, and restarts with other settings (`operating.rs`, `configuration.rs`). Payers are erased in
//! parallel to everything (`erasing.rs`), and its store is restored to an earlier state (`restoring.rs`). Each happens
//! in some worlds, drawn from a random stream of its own, so that other worlds do not change.

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
        /// Event in the life of an installation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Happening { $($(#[$doc])* $name),* }

        impl Happening {
            /// Each event, with its name.
            pub(crate) const ALL: &'static [(Self, &'static str)] = &[$((Self::$name, stringify!($name))),*];
        }
    };
}

happenings! {
    /// The installation begins in the last minutes before a year, a month or a holiday, or at night.
    BeginsAtABoundary,
    /// The installation serves several merchants, whose receivers share hosts.
    ManyMerchants,
    /// A node is told to stop, and stops.
    NodeStopped,
    /// Confirmations that receivers sent before a node stopped were compared with the store.
    ConfirmedBeforeStop,
    /// A node reads its routes again.
    RoutesReloaded,
    /// Nodes restart with another time-out.
    TimeOutChanged,
    /// An acquirer is removed from the configuration.
    AcquirerGone,
    /// The acquirer is configured again.
    AcquirerBack,
    /// Payments were open at an acquirer that was not configured.
    OpenAtAGoneAcquirer,
    /// An operator has the payer of one payment erased.
    PaymentErased,
    /// An operator has one person erased.
    PersonErased,
    /// A payer was kept for the retention period.
    KeptForLongEnough,
    /// An erasure meets a payment that is not finished.
    NotFinished,
    /// An event of a payment whose payer was erased is delivered.
    ErasedEventDelivered,
    /// The store is restored to an earlier state.
    StoreRestored,
    /// The restored store has forgotten payments.
    PaymentForgotten,
    /// The restored store has payments in an earlier state.
    PaymentSetBack,
    /// A merchant repeats its request for a forgotten payment.
    AskedForOnceMore,
    /// The payment is charged once more, at a bank that does not recognise it.
    ChargedOnceMore,
    /// A merchant creates a payment link.
    LinkMade,
    /// A payer begins a payment through a link.
    LinkPaymentBegun,
    /// A payer finds that no use is left.
    NoUseLeft,
    /// A payer gives up a waiting payment, and its use is free again.
    UseGivenUp,
    /// A payer gives up a payment that was paid meanwhile.
    GivenUpButPaid,
    /// A link is closed.
    LinkClosed,
    /// A link is closed, and its waiting payments are cancelled.
    LinkCancelled,
}

/// Plan of an installation's life in one world.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Plan {
    pub(crate) begins_at: Option<Timestamp>,
    /// Merchants in addition to the first one.
    pub(crate) other_merchants: u64,
    stops: bool,
    reloads: bool,
    changes_time_out: bool,
    /// True if an acquirer is removed for a while, where another one takes the same payments.
    loses_an_acquirer: bool,
    erases: bool,
    retains: bool,
    is_restored: bool,
    /// True if merchants create payment links.
    pub(crate) has_links: bool,
}

impl Plan {
    /// Draws a plan. A store is restored only where its secret key is not changed as well.
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

    /// Returns true if payers are erased.
    pub(crate) const fn erases(&self) -> bool {
        self.erases || self.retains
    }

    /// Returns true if the store may forget what it knew.
    pub(crate) const fn may_forget(&self) -> bool {
        self.is_restored
    }

    /// Returns true if anything stops nodes or changes their configuration.
    const fn is_operated(&self) -> bool {
        self.stops || self.reloads || self.changes_time_out || self.loses_an_acquirer
    }
}

/// Installation of a world.
pub(crate) struct Installation {
    pub(crate) plan: Plan,
    pub(crate) configurations: Configurations,
    pub(crate) erasures: Mutex<Erasures>,
    pub(crate) amnesia: Mutex<Amnesia>,
    happened: Vec<AtomicU64>,
}

impl Installation {
    /// Creates an installation whose plan alone has been counted.
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

    /// Counts an event.
    pub(crate) fn count(&self, happening: Happening) {
        self.happened[happening as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of times that each event happened, in the order of `Happening::ALL`.
    pub(crate) fn happened(&self) -> Vec<u64> {
        self.happened.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }
}
