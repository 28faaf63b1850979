//! Chance that one seed decides, and the faults that chance may bring.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Random numbers, the same ones for the same seed.
pub(crate) struct Chance(Mutex<fastrand::Rng>);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(fastrand::Rng::with_seed(seed)))
    }

    /// Any number.
    pub(crate) fn any(&self) -> u64 {
        self.0.lock().unwrap().u64(..)
    }

    /// From `least` to `most`, both included.
    pub(crate) fn between(&self, least: u64, most: u64) -> u64 {
        self.0.lock().unwrap().u64(least..=most)
    }

    /// True as often as the rate says.
    pub(crate) fn per_mille(&self, rate: u64) -> bool {
        rate > 0 && self.between(0, 999) < rate
    }

    /// One of them.
    pub(crate) fn pick<T: Clone>(&self, all: &[T]) -> T {
        all[usize::try_from(self.between(0, all.len() as u64 - 1)).unwrap()].clone()
    }
}

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $rate:literal),* $(,)?) => {
        /// Fault that chance may bring.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Fault { $($(#[$doc])* $name),* }

        impl Fault {
            /// Each, with the highest rate at which it strikes, in thousandths of what it may strike.
            pub(crate) const ALL: &'static [(Self, &'static str, u64)] =
                &[$((Self::$name, stringify!($name), $rate)),*];
        }
    };
}

faults! {
    /// The store refuses a call; nothing is done.
    StoreUnavailable = 40,
    /// A batch is committed, but nobody is told.
    StoreLostReply = 40,
    /// A batch never arrives, and nobody is told.
    StoreLostRequest = 40,
    /// A batch is committed after its writer gave up waiting.
    StoreLate = 30,
    /// A lookup finds none of its payments, as on a primary that was elected just now.
    StoreBehind = 30,
    /// A call takes seconds.
    StoreSlow = 30,
    /// A call never comes back, whether it was done or not.
    StoreHang = 6,
    /// Some writes of a batch are made, the others are not.
    StorePartial = 40,
    /// An `fsync` failed: the process must accept nothing more.
    StoreBroken = 3,
    /// The store's adapter panics.
    StorePanic = 4,
    /// A bank can't be reached.
    BankRefuses = 120,
    /// A request is lost on its way.
    BankSilentBefore = 80,
    /// A request is done, but its answer is lost.
    BankSilentAfter = 120,
    /// A request arrives after its sender gave up.
    BankLateArrival = 80,
    /// A 5xx, a 429 or a 408, and nothing was done.
    BankErrorBefore = 80,
    /// A 5xx or garbage, although it was done.
    BankErrorAfter = 120,
    /// An answer takes seconds.
    BankSlow = 100,
    /// The bank wants fewer calls, and has done nothing.
    BankThrottles = 60,
    /// A token of access is refused although it was good.
    TokenRefused = 40,
    /// A charge that another merchant of the same bank made is found under our name of a charge.
    ForeignCharge = 300,
    /// The bank takes a charge and has no code for it.
    BankHasNoCode = 40,
    /// The bank answers about another charge.
    BankMixesUp = 30,
    /// The bank answers about somebody else's charge.
    BankIsForeign = 15,
    /// The sums of a bank move by something else while an operation is unclear.
    SumsMove = 100,
    /// A refund that was taken fails later.
    RefundFails = 300,
    /// A charge can't be found at once after it was made.
    BankLags = 100,
    /// A card's charge is authorised minutes after everybody gave it up.
    CardIsVeryLate = 60,
    /// The bank does not charge a card whose limit it holds.
    CaptureRefused = 200,
    /// The bank's adapter panics.
    BankPanic = 10,
    /// The issuer refuses.
    BankDeclines = 200,
    /// The issuer refuses a card here, and may approve it elsewhere.
    CardDeclinedHere = 600,
    /// The issuer refuses for good.
    BankDeclinesForGood = 50,
    /// A notice never comes.
    NoticeLost = 150,
    /// A notice comes twice.
    NoticeTwice = 300,
    /// A notice comes late, after others.
    NoticeLate = 300,
    /// A change that a list shows is told by no notice.
    OnlyListed = 400,
    /// A list leaves out what came in for a charge.
    ListLeavesOut = 100,
    /// A list has another amount than came in.
    ListErrs = 100,
    /// A list has an entry twice.
    ListRepeats = 100,
    /// A list does not tell what went back of a Pix.
    ListHidesRefunds = 100,
    /// A page of the next list comes without its last entry.
    ListIsCut = 100,
    /// No node is up over a night, or two.
    NodesAreDownAtNight = 400,
    /// A storm comes just when the lists of the day before are compared.
    StormAtNight = 500,
    /// Somebody pays to our key without a charge.
    StrangerPays = 40,
    /// An operator has a list compared.
    OperatorCompares = 300,
    /// A notice of a payment that nobody knows.
    NoticeUnknown = 30,
    /// A notice that somebody else made up.
    NoticeForged = 100,
    /// The payer pays before the bank's answer arrives here.
    PayerIsFast = 150,
    /// The payer pays in the last seconds, and the money comes in after them.
    PayerIsInTime = 100,
    /// The payer pays after the time to pay.
    PayerIsLate = 100,
    /// The payer pays although the charge was withdrawn.
    PayerCrosses = 150,
    /// The payer pays another amount.
    PayerErrs = 40,
    /// The payer pays twice.
    PayerPaysTwice = 30,
    /// The holder takes the money back.
    Chargeback = 150,
    /// And another part of it.
    ChargebackAgain = 500,
    /// Somebody withdraws a charge, or voids a card, at the bank.
    DeskRemoval = 50,
    /// Somebody captures a card at the bank, in part perhaps.
    DeskCapture = 80,
    /// The bank gives money back by itself.
    DeskRefund = 60,
    /// A receiver answers with an error.
    ReceiverFails = 200,
    /// A receiver does not answer.
    ReceiverHangs = 80,
    /// A receiver never wants to hear of it again.
    ReceiverGone = 8,
    /// The sender of webhooks panics.
    SenderPanic = 6,
    /// An operator pauses, drains or opens an acquirer.
    OperatorDirects = 300,
    /// An operator has an acquirer asked what became of a payment.
    OperatorAsks = 300,
    /// A node dies.
    NodeDies = 500,
    /// A node's wall clock jumps.
    ClockJumps = 300,
    /// A client hangs up before it has its answer.
    ClientHangsUp = 60,
    /// The bank states, with a charge, a Pix that paid another one.
    AnothersPix = 300,
    /// Money is taken back, or given back at the desk, days after it came in, and nobody tells of it.
    ComesLater = 400,
}

/// Faults that came later. Their rates are drawn by a chance of their own, so the stories of other worlds stay what they
/// were.
const LATER: [Fault; 2] = [Fault::AnothersPix, Fault::ComesLater];

/// Rate of each fault in one world, and the number of times that it struck.
pub(crate) struct Faults {
    rates: Vec<u64>,
    struck: Vec<AtomicU64>,
    is_storm: AtomicBool,
    planned: Mutex<VecDeque<Fault>>,
}

impl Faults {
    /// Faults by chance: some never, some often, so that worlds differ in what goes wrong.
    pub(crate) fn by(chance: &Chance) -> Self {
        let rate = |most: u64| if chance.per_mille(450) { 0 } else { chance.between(1, most) };
        let rate = |(fault, _, most): &(Fault, _, u64)| if LATER.contains(fault) { 0 } else { rate(*most) };
        Self::at(Fault::ALL.iter().map(rate).collect())
    }

    /// With those that came later: each in one world of five.
    pub(crate) fn and_later(mut self, chance: &Chance) -> Self {
        for fault in LATER {
            let (_, _, most) = Fault::ALL[fault as usize];
            self.rates[fault as usize] = if chance.per_mille(200) { chance.between(1, most) } else { 0 };
        }
        self
    }

    /// No faults but those that are planned.
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

    /// Returns the present rate of a fault, in thousandths.
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
