//! Nights: a day's list is compared once, and one that could not be had is made up for.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::{NaiveDate, NaiveTime};
use quita_domain::acquiring::CallFailure;
use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::money::Money;
use quita_domain::reconciliation::{LineKind, LineSubject, ReconciliationKind, Source, StatementLine};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{ChargeReader, Clock, ListPage, ListPart, ListReader, PageCursor, Period};
use quita_services::reconciliation::{List, Nights, Reconciler};
use uuid::Uuid;

use crate::orders::{CENTS, id};
use crate::reconciling::paid_unheard;
use crate::world::{World, pass_ms};

const HOUR_MS: u64 = 3_600_000;

fn first() -> AcquirerName {
    AcquirerName::new("first")
}

/// A bank's lists: what they have, and which were asked for.
#[derive(Default)]
struct Lists {
    received: RefCell<Vec<StatementLine>>,
    returned: RefCell<Vec<StatementLine>>,
    is_away: Cell<bool>,
    /// True if refunds are listed on days of their own.
    has_days_of_its_own: Cell<bool>,
    /// A day whose list can never be read.
    broken: Cell<Option<NaiveDate>>,
    /// The longest period that it lists what went back of, in days.
    longest_days: Cell<Option<u64>>,
    asked: RefCell<Vec<(ListPart, Timestamp, Timestamp)>>,
}

struct Reader(Rc<Lists>);

#[async_trait(?Send)]
impl ListReader for Reader {
    fn has_returned(&self) -> bool {
        !self.0.has_days_of_its_own.get()
    }

    fn history_months(&self) -> Option<u32> {
        None
    }

    fn charges(&self) -> Option<&dyn ChargeReader> {
        None
    }

    async fn page(&self, listed: ListPart, period: Period, _: &PageCursor) -> Result<ListPage, CallFailure> {
        let Period { from, until } = period;
        let lists = &self.0;
        let day = until.minus_ms(HOUR_MS).sao_paulo_date();
        let is_broken = listed == ListPart::All && lists.broken.get() == Some(day);
        if lists.is_away.get() || is_broken {
            return Err(CallFailure::Unknown("503".into()));
        }
        let longest = lists.longest_days.get().filter(|_| listed == ListPart::Returned);
        if longest.is_some_and(|days| until.ms_since(from) > days * DAY_MS) {
            return Err(CallFailure::Unknown("400 the period is too long".into()));
        }
        lists.asked.borrow_mut().push((listed, from, until));
        let lines = match listed {
            ListPart::All => lists.received.borrow().clone(),
            ListPart::Returned => lists.returned.borrow().clone(),
        };
        Ok(ListPage { entries: lines.len().try_into().unwrap(), lines, total: None, next: None })
    }
}

impl Lists {
    fn list(self: &Rc<Self>) -> List {
        List { acquirer: first(), reader: Rc::new(Reader(Rc::clone(self))), rate: None, mode: Mode::Test }
    }

    /// The days whose lists were had, in order.
    fn days(&self) -> Vec<String> {
        let asked = self.asked.borrow();
        let of_days = asked.iter().filter(|(listed, ..)| *listed == ListPart::All);
        of_days.map(|(_, _, until)| until.minus_ms(HOUR_MS).sao_paulo_date().to_string()).collect()
    }

    /// The periods of which it was asked what went back.
    fn periods(&self) -> Vec<(String, String)> {
        let asked = self.asked.borrow();
        let returned = asked.iter().filter(|(listed, ..)| *listed == ListPart::Returned);
        let days = returned.map(|(_, from, until)| (from.sao_paulo_date(), until.sao_paulo_date()));
        days.map(|(from, until)| (from.to_string(), until.to_string())).collect()
    }
}

/// The nights of one process, at five in the morning.
fn nights(world: &World, node: u128) -> (Nights, Arc<Mutex<Vec<ReconciliationKind>>>) {
    let clock: Arc<dyn Clock> = world.clock.clone();
    let reconciler = Reconciler::new(world.store.open_whole(), Arc::clone(&clock), [first()]);
    let counted = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&counted);
    let count = Arc::new(move |kind| own.lock().unwrap().push(kind));
    let at = NaiveTime::from_hms_opt(5, 0, 0).unwrap();
    let store = world.store.open_whole();
    (Nights::new(reconciler, store, clock, at, Uuid::from_u128(node), count), counted)
}

/// Passes often, for so many hours.
async fn live(nights: &mut Nights, lists: &Rc<Lists>, hours: u64) {
    for _ in 0..hours * 12 {
        nights.pass(&lists.list()).await;
        pass_ms(HOUR_MS / 12).await;
    }
}

fn kinds(world: &World) -> Vec<String> {
    world.store.exceptions().into_iter().map(|exception| exception.kind).collect()
}

#[test]
fn each_day_is_compared_once_from_the_first_night_on() {
    let world = World::new();
    world.live(async {
        let (lists, (mut nights, _)) = (Rc::<Lists>::default(), nights(&world, 1));
        // The world begins at nine in the morning of the 21st.
        live(&mut nights, &lists, 3 * 24).await;
        assert_eq!(lists.days(), ["2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23"]);
        assert_eq!(kinds(&world), [""; 0]);
    });
}

#[test]
fn a_failed_night_stays_failed_after_a_restart_until_it_is_compared() {
    let world = World::new();
    world.live(async {
        let lists = Rc::<Lists>::default();
        lists.is_away.set(true);
        let (mut before, _) = nights(&world, 1);
        live(&mut before, &lists, 24).await;
        assert!(!before.failures().is_empty());
        // A failure just before the end.
        before.pass(&lists.list()).await;
        // The next process finds the days claimed by its predecessor.
        let (mut after, _) = nights(&world, 2);
        after.pass(&lists.list()).await;
        let [failure] = &after.failures()[..1] else { panic!("nothing is told") };
        let words = "first, 2026-11-20: not compared yet: an earlier try failed, was interrupted or is under way; the \
                     next one is at 2026-11-22T";
        assert!(failure.starts_with(words), "{failure}");
        lists.is_away.set(false);
        live(&mut after, &lists, 1).await;
        assert_eq!(after.failures(), [""; 0]);
    });
}

#[test]
fn a_night_that_another_process_compares_at_the_moment_is_no_failure() {
    let world = World::new();
    world.live(async {
        let lists = Rc::<Lists>::default();
        let (mut one, _) = nights(&world, 1);
        let (mut other, _) = nights(&world, 2);
        live(&mut one, &lists, 19).await;
        lists.is_away.set(true);
        // Until just after the turn of the 21st.
        pass_ms(2 * HOUR_MS).await;
        one.pass(&lists.list()).await;
        other.pass(&lists.list()).await;
        assert_eq!((one.failures().is_empty(), other.failures()), (false, Vec::new()));
    });
}

#[test]
fn a_day_whose_list_could_not_be_had_is_made_up_for_oldest_first_and_told_after_a_day() {
    let world = World::new();
    world.live(async {
        let (lists, (mut nights, counted)) = (Rc::<Lists>::default(), nights(&world, 1));
        nights.pass(&lists.list()).await;
        lists.is_away.set(true);
        // Until the 23rd at seven: the turn of the 21st was yesterday at five.
        live(&mut nights, &lists, 46).await;
        let mut told: Vec<_> = world.store.exceptions().into_iter().map(|one| one.id).collect();
        told.sort();
        assert_eq!(
            told,
            ["list_not_compared:first refunds:2026-11-21", "list_not_compared:first:2026-11-21"],
            "and nothing of the 22nd, whose turn was two hours ago"
        );
        assert_eq!(*counted.lock().unwrap(), [ReconciliationKind::ListNotCompared; 2], "counted once each");
        let failures = nights.failures();
        assert!(failures.iter().any(|failure| failure.starts_with("first, 2026-11-22: ")), "{failures:?}");
        lists.is_away.set(false);
        live(&mut nights, &lists, 2).await;
        assert_eq!(nights.failures(), [""; 0]);
        assert_eq!(lists.days(), ["2026-11-20", "2026-11-21", "2026-11-22"]);
        assert_eq!(kinds(&world).len(), 2);
    });
}

#[test]
fn days_on_which_no_node_was_up_are_made_up_for_by_another_one() {
    let world = World::new();
    world.live(async {
        let lists = Rc::<Lists>::default();
        let (mut before, _) = nights(&world, 1);
        before.pass(&lists.list()).await;
        drop(before);
        pass_ms(4 * DAY_MS).await;
        let (mut after, _) = nights(&world, 2);
        live(&mut after, &lists, 1).await;
        let days = ["2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23", "2026-11-24"];
        assert_eq!(lists.days(), days);
        assert_eq!(kinds(&world), [""; 0], "they were tried before anybody was told");
    });
}

#[test]
fn after_more_than_ninety_days_without_a_node_the_last_ninety_are_made_up_for() {
    let world = World::new();
    world.live(async {
        let lists = Rc::<Lists>::default();
        let (mut before, _) = nights(&world, 1);
        before.pass(&lists.list()).await;
        drop(before);
        pass_ms(120 * DAY_MS).await;
        let (mut after, _) = nights(&world, 2);
        live(&mut after, &lists, 1).await;
        let days = lists.days();
        assert_eq!(days[..2], ["2026-11-20", "2026-12-20"]);
        assert_eq!((days.len(), days[91].as_str()), (92, "2027-03-20"));
    });
}

#[test]
fn a_list_of_which_one_day_is_never_readable_is_compared_on_all_others() {
    let world = World::new();
    world.live(async {
        let (lists, (mut nights, _)) = (Rc::<Lists>::default(), nights(&world, 1));
        nights.pass(&lists.list()).await;
        lists.broken.set(NaiveDate::from_ymd_opt(2026, 11, 21));
        live(&mut nights, &lists, 4 * 24).await;
        assert_eq!(lists.days(), ["2026-11-20", "2026-11-22", "2026-11-23", "2026-11-24"]);
        assert_eq!(kinds(&world), ["list_not_compared"]);
    });
}

fn line(transaction: u128, end_to_end_id: &str, day: &str) -> StatementLine {
    let source = Source::list_of(&first());
    let transaction_id = Some(id(transaction));
    let day: NaiveDate = day.parse().unwrap();
    StatementLine {
        id: StatementLine::pix_id(&source, end_to_end_id),
        source,
        day,
        kind: LineKind::Pix,
        reference: Some(end_to_end_id.to_owned()),
        subject: LineSubject::Pix { transaction_id, end_to_end_id: end_to_end_id.to_owned() },
        gross: Money::from_cents(CENTS),
        fee: None,
        net: None,
        on: day,
        place: "page".into(),
        other_key: None,
    }
}

/// A part of a Pix that the banks took back.
fn taken_back(pix: &StatementLine, refund_id: &str, cents: u64) -> StatementLine {
    let end_to_end_id = pix.end_to_end_id().unwrap().to_owned();
    StatementLine {
        id: StatementLine::refund_id(&pix.source, &end_to_end_id, refund_id),
        kind: LineKind::Refund,
        subject: LineSubject::Refund {
            transaction_id: pix.named_payment(),
            end_to_end_id,
            refund_id: refund_id.into(),
            is_chargeback: true,
        },
        gross: Money::from_cents(cents),
        ..pix.clone()
    }
}

#[test]
fn what_went_back_of_an_older_pix_is_found_each_night() {
    use quita_domain::acquiring::Fact;
    use quita_domain::status::Status;
    let world = World::new();
    let paid_by = world.live(async {
        let node = world.node();
        let paid_by = paid_unheard(&world, &node).await;
        node.hear(&id(1).to_string()).await.unwrap();
        pass_ms(500).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        node.settle().await;
        paid_by
    });
    // Three days later nobody tells that it is taken back, nor does the list of any day.
    world.clock.skip_ms(3 * DAY_MS);
    world.live(async {
        let node = world.node();
        let amount = Some(Money::from_cents(100));
        world.bank.states(id(1), Fact::ChargedBack { id: "m1".into(), amount });
        let pix = line(1, &paid_by, "2026-11-21");
        let stranger = line(9, "E99999999202611211200strangers01", "2026-11-21");
        let untouched = line(1, "E99999999202611211200untouched01", "2026-11-21");
        let lists = Rc::<Lists>::default();
        *lists.returned.borrow_mut() = vec![
            pix.clone(),
            taken_back(&pix, "m1", 100),
            untouched,
            stranger.clone(),
            taken_back(&stranger, "m9", 100),
        ];
        let (mut nights, _) = nights(&world, 1);
        nights.pass(&lists.list()).await;
        assert_eq!(node.stored(id(1)).status(), Status::Chargeback);
        assert_eq!(world.store.exceptions(), [], "what was before, and is others', is nothing");
        let ninety_days = [(String::from("2026-08-26"), String::from("2026-11-23"))];
        assert_eq!(lists.periods(), ninety_days, "until yesterday");
        node.settle().await;
    });
}

#[test]
fn where_the_bank_limits_the_period_it_is_asked_week_by_week() {
    let world = World::new();
    world.live(async {
        let (lists, (mut nights, _)) = (Rc::<Lists>::default(), nights(&world, 1));
        lists.longest_days.set(Some(7));
        nights.pass(&lists.list()).await;
        let periods = lists.periods();
        assert_eq!(periods.len(), 13, "{periods:?}");
        assert_eq!(periods[0], ("2026-08-23".into(), "2026-08-29".into()));
        assert_eq!(periods[1].0, "2026-08-30");
        assert_eq!(periods[12].1, "2026-11-20");
        assert_eq!(kinds(&world), [""; 0]);
    });
}
