//! Random numbers that one seed decides, and the faults that they may bring.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Random number generator; the same seed gives the same numbers.
pub(crate) struct Chance(Mutex<fastrand::Rng>);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(fastrand::Rng::with_seed(seed)))
    }

    /// Returns any number.
    pub(crate) fn any(&self) -> u64 {
        self.0.lock().unwrap().u64(..)
    }

    /// Returns a number from `least` to `most`, both included.
    pub(crate) fn between(&self, least: u64, most: u64) -> u64 {
        self.0.lock().unwrap().u64(least..=most)
    }

    /// Returns true at this rate, in thousandths.
    pub(crate) fn per_mille(&self, rate: u64) -> bool {
        rate > 0 && self.between(0, 999) < rate
    }

    /// Returns one of them.
    pub(crate) fn pick<T: Clone>(&self, all: &[T]) -> T {
        all[usize::try_from(self.between(0, all.len() as u64 - 1)).unwrap()].clone()
    }
}

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $rate:literal),* $(,)?) => {
        /// Fault that may strike at random.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Fault { $($(#[$doc])* $name),* }

        impl Fault {
            /// Each fault, with the highest rate at which it strikes, in thousandths of its opportunities.
            pub(crate) const ALL: &'static [(Self, &'static str, u64)] =
                &[$((Self::$name, stringify!($name), $rate)),*];
        }
    };
}

faults! {
    /// The store refuses a call; nothing is done.
    StoreUnavailable = 40,
    /// A batch is committed, but its reply is lost.
    StoreLostReply = 40,
    /// A batch never arrives, and no reply comes.
    StoreLostRequest = 40,
    /// A batch is committed after its writer stopped waiting.
    StoreLate = 30,
    /// A lookup finds none of its payments, as on a newly elected primary.
    StoreBehind = 30,
    /// A call takes seconds.
    StoreSlow = 30,
    /// A call never returns, whether it was done or not.
    StoreHang = 6,
    /// Some writes of a batch are made, and others are not.
    StorePartial = 40,
    /// An `fsync` failed: the process must accept nothing more.
    StoreBroken = 3,
    /// The store's adapter panics.
    StorePanic = 4,
    /// A bank cannot be reached.
    BankRefuses = 120,
    /// A request is lost on its way to the bank.
    BankSilentBefore = 80,
    /// A request is done, but its answer is lost.
    BankSilentAfter = 120,
    /// A request arrives after its sender gave up.
    BankLateArrival = 80,
    /// The answer is a 5xx or a 408, and nothing was done.
    BankErrorBefore = 80,
    /// The answer is a 5xx or garbage, although the request was done.
    BankErrorAfter = 120,
    /// An answer takes seconds.
    BankSlow = 100,
    /// The bank asks for fewer calls, and has done nothing.
    BankThrottles = 60,
    /// An access token is refused although it is valid.
    TokenRefused = 40,
    /// A charge of another merchant at the same bank is found under our name for a charge.
    ForeignCharge = 300,
    /// The bank accepts a charge but has no code for it.
    BankHasNoCode = 40,
    /// The bank answers about another charge.
    BankMixesUp = 30,
    /// The bank answers about another merchant's charge.
    BankIsForeign = 15,
    /// Something else changes a bank's sums while an operation is unclear.
    SumsMove = 100,
    /// A refund that was accepted fails later.
    RefundFails = 300,
    /// A charge cannot be found immediately after it was made.
    BankLags = 100,
    /// A card's charge is authorised minutes after all parties gave it up.
    CardIsVeryLate = 60,
    /// The bank does not capture a card whose limit it holds.
    CaptureRefused = 200,
    /// The bank's adapter panics.
    BankPanic = 10,
    /// The issuer declines.
    BankDeclines = 200,
    /// The issuer declines a card at this bank, and may approve it at another.
    CardDeclinedHere = 600,
    /// The issuer declines for good.
    BankDeclinesForGood = 50,
    /// A notice never arrives.
    NoticeLost = 150,
    /// A notice arrives twice.
    NoticeTwice = 300,
    /// A notice arrives late, after others.
    NoticeLate = 300,
    /// A change that a list shows is reported by no notice.
    OnlyListed = 400,
    /// A list omits what came in for a charge.
    ListLeavesOut = 100,
    /// A list has a different amount from what came in.
    ListErrs = 100,
    /// A list contains an entry twice.
    ListRepeats = 100,
    /// A list does not show what was returned of a Pix.
    ListHidesRefunds = 100,
    /// A page of the next list arrives without its last entry.
    ListIsCut = 100,
    /// No node is up for a night or two.
    NodesAreDownAtNight = 400,
    /// A storm comes exactly when the lists of the day before are compared.
    StormAtNight = 500,
    /// A stranger pays to our key without a charge.
    StrangerPays = 40,
    /// An operator orders the comparison of a list.
    OperatorCompares = 300,
    /// A notice names an unknown payment.
    NoticeUnknown = 30,
    /// A notice is forged by a third party.
    NoticeForged = 100,
    /// The payer pays before the bank's answer arrives here.
    PayerIsFast = 150,
    /// The payer pays in the last seconds, and the money comes in after the time to pay.
    PayerIsInTime = 100,
    /// The payer pays after the time to pay.
    PayerIsLate = 100,
    /// The payer pays although the charge was withdrawn.
    PayerCrosses = 150,
    /// The payer pays another amount.
    PayerErrs = 40,
    /// The payer pays twice.
    PayerPaysTwice = 30,
    /// The card's holder takes the money back.
    Chargeback = 150,
    /// The holder takes another part of it back.
    ChargebackAgain = 500,
    /// A charge is withdrawn, or a card voided, at the bank's desk.
    DeskRemoval = 50,
    /// A card is captured, perhaps in part, at the bank's desk.
    DeskCapture = 80,
    /// The bank gives money back on its own initiative.
    DeskRefund = 60,
    /// A receiver answers with an error.
    ReceiverFails = 200,
    /// A receiver does not answer.
    ReceiverHangs = 80,
    /// A receiver permanently refuses an event.
    ReceiverGone = 8,
    /// The sender of webhooks panics.
    SenderPanic = 6,
    /// An operator pauses, drains or opens an acquirer.
    OperatorDirects = 300,
    /// An operator asks an acquirer what became of a payment.
    OperatorAsks = 300,
    /// A node dies.
    NodeDies = 500,
    /// A node's wall clock jumps.
    ClockJumps = 300,
    /// A client hangs up before it receives its answer.
    ClientHangsUp = 60,
    /// The bank states a Pix with a charge, although that Pix paid another one.
    AnothersPix = 300,
    /// Money is charged back, or returned at the desk, days after it came in, and no notice reports it.
    ComesLater = 400,
}

/// Faults that were added later. Their rates are drawn from a random stream of their own, so that other worlds do not
/// change.
const LATER: [Fault; 2] = [Fault::AnothersPix, Fault::ComesLater];

/// Rate of each fault in one world, and the number of times that it struck.
pub(crate) struct Faults {
    rates: Vec<u64>,
    struck: Vec<AtomicU64>,
    is_storm: AtomicBool,
    planned: Mutex<VecDeque<Fault>>,
}

impl Faults {
    /// Draws the faults. Some never strike and some often do, so that worlds differ in what goes wrong.
    pub(crate) fn by(chance: &Chance) -> Self {
        let rate = |most: u64| if chance.per_mille(450) { 0 } else { chance.between(1, most) };
        let rate = |(fault, _, most): &(Fault, _, u64)| if LATER.contains(fault) { 0 } else { rate(*most) };
        Self::at(Fault::ALL.iter().map(rate).collect())
    }

    /// Adds the faults that were added later, each in one world of five.
    pub(crate) fn and_later(mut self, chance: &Chance) -> Self {
        for fault in LATER {
            let (_, _, most) = Fault::ALL[fault as usize];
            self.rates[fault as usize] = if chance.per_mille(200) { chance.between(1, most) } else { 0 };
        }
        self
    }

    /// Returns faults of which only the planned ones strike.
    pub(crate) fn planned(planned: &[Fault]) -> Self {
        let faults = Self::at(vec![0; Fault::ALL.len()]);
        faults.planned.lock().unwrap().extend(planned);
        faults
    }

    fn at(rates: Vec<u64>) -> Self {
        let struck = rates.iter().map(|_| AtomicU64::new(0)).collect();
        Self { rates, struck, is_storm: AtomicBool::new(true), planned: Mutex::default() }
    }

    /// Sets whether anything may go wrong now.
    pub(crate) fn set_storm(&self, is_storm: bool) {
        self.is_storm.store(is_storm, Ordering::Relaxed);
    }

    /// Returns the current rate of a fault, in thousandths.
    pub(crate) fn rate(&self, fault: Fault) -> u64 {
        if self.is_storm.load(Ordering::Relaxed) { self.rates[fault as usize] } else { 0 }
    }

    /// Decides whether a fault strikes now, and counts it if so.
    pub(crate) fn strikes(&self, fault: Fault, chance: &Chance) -> bool {
        let mut planned = self.planned.lock().unwrap();
        let strikes = match planned.front() {
            Some(next) if *next == fault => planned.pop_front().is_some(),
            Some(_) | None => chance.per_mille(self.rate(fault)),
        };
        if strikes {
            self.struck[fault as usize].fetch_add(1, Ordering::Relaxed);
        }
        strikes
    }

    /// Returns true if a fault has struck at all.
    pub(crate) fn has_struck(&self, fault: Fault) -> bool {
        self.struck[fault as usize].load(Ordering::Relaxed) > 0
    }

    /// Returns the number of times that each fault struck, in the order of `Fault::ALL`.
    pub(crate) fn struck(&self) -> Vec<u64> {
        self.struck.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }
}
