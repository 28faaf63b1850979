//! Lists of acquirers, compared with the payments: whoever can be asked is asked first, and nothing is settled by a list.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::NaiveDate;
use quita_domain::acquiring::{CallFailure, Fact, Settlement};
use quita_domain::exception::Exception;
use quita_domain::identity::{AcquirerName, Mode, TransactionId};
use quita_domain::money::Money;
use quita_domain::reconciliation::{
    ASKED_FOR_MS, LineFilter, LineKind, LineSubject, LineVerdict, Source, StatementLine, StoredLine,
};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{ChargeReader, Clock, ListPage, ListPart, ListReader, PageCursor, Period};
use quita_services::reconciliation::{List, NotReconciled, Reconciler};

use crate::bank::Call;
use crate::orders::{CENTS, id, pix};
use crate::world::{Node, World, pass_ms};

fn first() -> AcquirerName {
    AcquirerName::new("first")
}

/// The name of the transfer that paid this payment, on the world's first day.
pub(crate) fn transfer(world: &World, number: u128) -> String {
    let digits = world.clock.now().to_string().replace(['-', ':', 'T'], "");
    let minute: String = digits.chars().take(12).collect();
    format!("E00000000{minute}{number:011}")
}

/// Creates a payment that the bank knows to be paid, and tells nobody of. Returns the name of its transfer.
pub(crate) async fn paid_unheard(world: &World, node: &Node<'_>) -> String {
    node.created(pix(1)).await;
    let paid_by = transfer(world, 1);
    is_paid(world, 1, &paid_by);
    paid_by
}

/// The bank knows that it was paid so, and tells nobody.
fn is_paid(world: &World, number: u128, end_to_end_id: &str) {
    world.bank.states(id(number), settlement_by(end_to_end_id));
}

fn settlement_by(end_to_end_id: &str) -> Fact {
    Fact::Settled(Settlement {
        id: end_to_end_id.to_owned(),
        amount: Money::from_cents(CENTS),
        paid_on: None,
        end_to_end_id: Some(end_to_end_id.to_owned()),
        approval: None,
    })
}

fn line(world: &World, payment: Option<TransactionId>, end_to_end_id: &str) -> StatementLine {
    let source = Source::list_of(&first());
    let day = today(world);
    StatementLine {
        id: StatementLine::pix_id(&source, end_to_end_id),
        source,
        day,
        kind: if payment.is_some() { LineKind::Pix } else { LineKind::Other },
        reference: Some(end_to_end_id.to_owned()),
        subject: LineSubject::Pix { transaction_id: payment, end_to_end_id: end_to_end_id.to_owned() },
        gross: Money::from_cents(CENTS),
        fee: None,
        net: None,
        on: day,
        place: String::from("page"),
        other_key: None,
    }
}

fn today(world: &World) -> NaiveDate {
    world.clock.now().sao_paulo_date()
}

/// A list of so many entries a page, which says that there are so many in all.
struct Lines {
    lines: RefCell<Vec<StatementLine>>,
    page_size: usize,
    total: Option<u64>,
}

#[async_trait(?Send)]
impl ListReader for Lines {
    fn has_returned(&self) -> bool {
        true
    }

    fn history_months(&self) -> Option<u32> {
        None
    }

    fn charges(&self) -> Option<&dyn ChargeReader> {
        None
    }

    async fn page(&self, _: ListPart, period: Period, cursor: &PageCursor) -> Result<ListPage, CallFailure> {
        assert!(period.from <= period.until);
        let lines = self.lines.borrow();
        let pages: Vec<_> = lines.chunks(self.page_size).collect();
        let number = usize::try_from(cursor.number).unwrap();
        let found = pages.get(number).map(|lines| lines.to_vec()).unwrap_or_default();
        let entries = u64::try_from(found.len()).unwrap();
        let next = (number + 1 < pages.len()).then(|| cursor.next(None));
        Ok(ListPage { lines: found, entries, total: self.total, next })
    }
}

fn list(lines: Vec<StatementLine>) -> List {
    let total = u64::try_from(lines.len()).ok();
    let reader = Rc::new(Lines { lines: RefCell::new(lines), page_size: 2, total });
    List { acquirer: first(), reader, rate: None, mode: Mode::Test }
}

fn reconciler(world: &World) -> Reconciler {
    let clock: Arc<dyn Clock> = world.clock.clone();
    Reconciler::new(world.store.open_whole(), clock, [first()])
        .of_mode(Mode::Test)
        .with_patience(Duration::from_secs(20))
}

/// Reconciles a list. Returns of each line its reference, its verdict, and whether that is final.
async fn run(world: &World, list: &List) -> Result<Vec<(String, LineVerdict, bool)>, NotReconciled> {
    let mut told = Vec::new();
    let mut tell = |stored: &StoredLine| {
        let is_final = stored.judged.as_ref().unwrap().is_final;
        told.push((stored.line.reference.clone().unwrap(), stored.verdict().unwrap(), is_final));
        Ok(())
    };
    let day = today(world);
    reconciler(world).reconcile_list(list, day, day, &mut tell).await?;
    told.sort();
    Ok(told)
}

/// Everything that reconciliation has stored.
async fn stored(world: &World) -> (Vec<StoredLine>, Vec<Exception>) {
    let store = world.store.open_whole();
    let from = NaiveDate::MIN;
    let until = NaiveDate::MAX;
    let filter = LineFilter { source: Source::list_of(&first()), from, until, verdict: None };
    let lines = store.lines(&filter, None, 1_000).await.unwrap();
    let mut exceptions = world.store.exceptions();
    exceptions.sort_by(|one, other| one.id.cmp(&other.id));
    (lines, exceptions)
}

#[test]
fn money_that_nobody_told_of_is_asked_for_and_settled_the_ordinary_way() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let paid_by = paid_unheard(&world, &node).await;
        let told = run(&world, &list(vec![line(&world, Some(id(1)), &paid_by)])).await;
        assert_eq!(told, Ok(vec![(paid_by.clone(), LineVerdict::Matched, true)]));
        assert_eq!((node.stored(id(1)).status(), world.bank.asked_ms().len()), (Status::Paid, 1));
        assert_eq!(world.store.exceptions(), []);
        let again = run(&world, &list(vec![line(&world, Some(id(1)), &paid_by)])).await;
        assert_eq!(again, told);
        assert_eq!(world.bank.asked_ms().len(), 1, "what matches is asked for no more");
        node.settle().await;
    });
}

#[test]
fn what_the_acquirer_denies_when_it_is_asked_is_for_a_person() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        node.created(pix(1)).await;
        let paid_by = transfer(&world, 1);
        let list = list(vec![line(&world, Some(id(1)), &paid_by), line(&world, None, "E2")]);
        let told = run(&world, &list).await.unwrap();
        let expected = [
            (paid_by.clone(), LineVerdict::Different, true),
            (String::from("E2"), LineVerdict::UnknownHere, true),
        ];
        assert_eq!(told.len(), 2);
        assert!(expected.iter().all(|line| told.contains(line)), "{told:?}");
        assert_eq!(node.stored(id(1)).status(), Status::Pending, "a list settles nothing");
        let (lines, exceptions) = stored(&world).await;
        let kinds: Vec<_> =
            exceptions.iter().map(|exception| (exception.kind.as_str(), exception.transaction_id)).collect();
        assert_eq!(kinds.len(), 2, "{exceptions:?}");
        assert!(kinds.contains(&("status_differs", Some(id(1)))) && kinds.contains(&("unknown_here", None)));
        let other = lines.iter().find(|stored| stored.line.reference.as_deref() == Some("E2")).unwrap();
        assert_eq!(other.kind(), LineKind::Other);
        pass_ms(60_000).await;
        assert_eq!(run(&world, &list).await, Ok(told));
        assert_eq!(stored(&world).await, (lines, exceptions), "importing twice changes nothing");
    });
}

#[test]
fn the_order_of_lines_and_of_pages_does_not_matter() {
    let numbers = 1..=5_u128;
    let mut seen = Vec::new();
    for turns in 0..5 {
        let world = World::new();
        world.live(async {
            let node = world.node();
            for number in numbers.clone() {
                node.created(pix(number)).await;
                if number % 2 == 0 {
                    is_paid(&world, number, &format!("E{number}"));
                }
            }
            let mut lines: Vec<_> =
                numbers.clone().map(|number| line(&world, Some(id(number)), &format!("E{number}"))).collect();
            lines.rotate_left(turns);
            if turns % 2 == 1 {
                lines.reverse();
            }
            // Some banks repeat themselves.
            lines.push(lines[0].clone());
            let told = run(&world, &list(lines)).await.unwrap();
            seen.push((told, stored(&world).await.1.len()));
            drop(node);
        });
    }
    assert_eq!(seen[0].0.len(), 5);
    assert_eq!(seen[0].1, 3);
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
}

#[test]
fn an_acquirer_that_does_not_answer_is_asked_again_by_the_next_run_and_for_half_a_day() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let paid_by = paid_unheard(&world, &node).await;
        world.bank.is_away(true);
        let list = list(vec![line(&world, Some(id(1)), &paid_by)]);
        let open = Ok(vec![(paid_by.clone(), LineVerdict::Different, false)]);
        assert_eq!(run(&world, &list).await, open);
        assert_eq!(world.store.exceptions(), [], "it may still say so");
        assert_eq!(run(&world, &list).await, open);
        world.bank.is_away(false);
        pass_ms(120_000).await;
        assert_eq!(run(&world, &list).await, Ok(vec![(paid_by, LineVerdict::Matched, true)]));
        assert_eq!(world.store.exceptions(), []);
        drop(node);
    });
}

/// A line that differs from its payment, and the transfer that it is of.
struct OpenLine {
    list: List,
    paid_by: String,
}

/// Compares a line whose acquirer is away, and lets the time pass for which that is waited for.
async fn half_a_day_without_an_answer(world: &World, node: &Node<'_>) -> OpenLine {
    node.created(pix(1)).await;
    let paid_by = transfer(world, 1);
    world.bank.is_away(true);
    let list = list(vec![line(world, Some(id(1)), &paid_by)]);
    assert_eq!(run(world, &list).await, Ok(vec![(paid_by.clone(), LineVerdict::Different, false)]));
    pass_ms(ASKED_FOR_MS).await;
    OpenLine { list, paid_by }
}

#[test]
fn after_half_a_day_without_an_answer_an_operator_hears_of_it() {
    let world = World::new().for_hours();
    world.live(async {
        let node = world.node();
        let day = today(&world);
        let OpenLine { list, .. } = half_a_day_without_an_answer(&world, &node).await;
        let mut is_final = false;
        let mut tell = |stored: &StoredLine| {
            is_final = stored.judged.as_ref().unwrap().is_final;
            Ok(())
        };
        reconciler(&world).reconcile_list(&list, day, day, &mut tell).await.unwrap();
        assert!(is_final);
        let kinds: Vec<_> = world.store.exceptions().into_iter().map(|exception| exception.kind).collect();
        assert!(kinds.contains(&String::from("status_differs")), "{kinds:?}");
        drop(node);
    });
}

#[test]
fn a_payment_that_a_notice_pays_while_its_acquirer_is_silent_does_not_differ() {
    let world = World::new().for_hours();
    world.live(async {
        let node = world.node();
        let day = today(&world);
        let OpenLine { list, paid_by } = half_a_day_without_an_answer(&world, &node).await;
        let mut verdict = None;
        let mut tell = |stored: &StoredLine| {
            verdict = Some((stored.verdict().unwrap(), stored.judged.as_ref().unwrap().is_final));
            Ok(())
        };
        let reconciler = reconciler(&world);
        let comparing = reconciler.reconcile_list(&list, day, day, &mut tell);
        let paying = async {
            pass_ms(5_000).await;
            node.payments.submit(node.notice("paid", id(1), settlement_by(&paid_by))).await.unwrap();
        };
        let (compared, ()) = tokio::join!(comparing, paying);
        compared.unwrap();
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        assert_eq!(verdict, Some((LineVerdict::Matched, true)));
    });
}

#[test]
fn where_nobody_serves_the_hints_wait_and_nothing_is_final() {
    let world = World::new();
    let paid_by = world.live(async {
        let node = world.node();
        let paid_by = paid_unheard(&world, &node).await;
        drop(node);
        paid_by
    });
    let lines = world.live(async {
        // Long enough for the nodes of before to be forgotten.
        pass_ms(61_000).await;
        let lines = vec![line(&world, Some(id(1)), &paid_by)];
        let told = run(&world, &list(lines.clone())).await;
        assert_eq!(told, Ok(vec![(paid_by.clone(), LineVerdict::Different, false)]));
        assert_eq!(world.store.exceptions(), []);
        lines
    });
    world.live(async {
        let node = world.node();
        pass_ms(2_000).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid, "whoever serves next asks");
        assert_eq!(run(&world, &list(lines)).await, Ok(vec![(paid_by, LineVerdict::Matched, true)]));
        node.settle().await;
    });
}

#[test]
fn what_was_paid_and_is_not_listed_is_missed_until_it_is() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let paid_by = paid_unheard(&world, &node).await;
        node.hear(&id(1).to_string()).await.unwrap();
        pass_ms(500).await;
        assert_eq!(node.stored(id(1)).status(), Status::Paid);
        assert_eq!(run(&world, &list(Vec::new())).await, Ok(Vec::new()), "it may not be listed yet");
        pass_ms(20 * 60_000).await;
        let missing = Ok(vec![(paid_by.clone(), LineVerdict::MissingThere, true)]);
        assert_eq!(run(&world, &list(Vec::new())).await, missing);
        let asked = world.bank.called_ms(Call::Inquire).len();
        assert!(asked >= 2, "it was asked first");
        let (lines, exceptions) = stored(&world).await;
        assert_eq!(exceptions.len(), 1);
        assert_eq!(
            (exceptions[0].kind.as_str(), exceptions[0].transaction_id),
            ("missing_there", Some(id(1)))
        );
        pass_ms(5_000).await;
        assert_eq!(run(&world, &list(Vec::new())).await, missing);
        assert_eq!(stored(&world).await, (lines, exceptions));
        let listed = list(vec![line(&world, Some(id(1)), &paid_by)]);
        assert_eq!(run(&world, &listed).await, Ok(vec![(paid_by, LineVerdict::Matched, true)]));
        node.settle().await;
    });
}

#[test]
fn of_a_list_that_is_cut_nothing_counts() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let lines = vec![line(&world, None, "E1"), line(&world, None, "E2"), line(&world, None, "E3")];
        let reader = Rc::new(Lines { lines: RefCell::new(lines), page_size: 2, total: Some(4) });
        let list = List { acquirer: first(), reader, rate: None, mode: Mode::Test };
        let refused = run(&world, &list).await;
        assert!(
            matches!(&refused, Err(NotReconciled::NoList(why)) if why.contains("3 entries")),
            "{refused:?}"
        );
        let (lines, exceptions) = stored(&world).await;
        assert!(lines.iter().all(|stored| stored.judged.is_none()) && exceptions.is_empty());
        let sums = world.store.open_whole().line_sums(NaiveDate::MIN, NaiveDate::MAX).await;
        assert_eq!(sums, Ok(Vec::new()));
        drop(node);
    });
}

#[test]
fn nothing_is_listed_by_an_acquirer_to_which_nothing_is_sent() {
    use quita_domain::control::{RouteControl, RouteDirective};
    use quita_domain::method::Method;

    let world = World::new();
    world.live(async {
        let method = Method::Pix;
        let directive = RouteDirective::Drained;
        let at = world.clock.now();
        let control = RouteControl { acquirer: first(), method, directive, at };
        world.store.open_whole().put_route_control(&control).await.unwrap();
        let refused = run(&world, &list(Vec::new())).await;
        assert!(matches!(refused, Err(NotReconciled::NoList(_))), "{refused:?}");
    });
}

/// Lines told of a list of today whose lines have these days.
async fn dated(world: &World, lines: Vec<(StatementLine, NaiveDate)>) -> Vec<(String, LineVerdict, bool)> {
    let lines = lines.into_iter().map(|(line, day)| StatementLine { day, on: day, ..line });
    run(world, &list(lines.collect())).await.unwrap()
}

#[test]
fn what_a_list_dates_on_another_day_is_compared_all_the_same() {
    let same: fn(NaiveDate) -> Option<NaiveDate> = |day| Some(day);
    let before: fn(NaiveDate) -> Option<NaiveDate> = |day| day.pred_opt();
    let after: fn(NaiveDate) -> Option<NaiveDate> = |day| day.succ_opt();
    for shown in [before, same, after] {
        let world = World::new();
        world.live(async {
            let node = world.node();
            let paid_by = paid_unheard(&world, &node).await;
            let day = shown(today(&world)).unwrap();
            let one = line(&world, Some(id(1)), &paid_by);
            let told = dated(&world, vec![(one.clone(), day)]).await;
            assert_eq!(told, [(paid_by.clone(), LineVerdict::Matched, true)], "{day}");
            assert_eq!(node.stored(id(1)).status(), Status::Paid);
            let (lines, _) = stored(&world).await;
            assert_eq!(lines[0].line.day, today(&world), "the day whose list had it");
            assert_eq!(lines[0].line.on, day, "as it was told");
            assert_eq!(dated(&world, vec![(one, day)]).await, told, "and again");
            node.settle().await;
        });
    }
}

#[test]
fn a_line_stays_with_the_day_in_whose_list_it_was_judged_first() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let paid_by = paid_unheard(&world, &node).await;
        let list = list(vec![line(&world, Some(id(1)), &paid_by)]);
        run(&world, &list).await.unwrap();
        let before = stored(&world).await;
        let tomorrow = today(&world).succ_opt().unwrap();
        let mut told = 0;
        let mut tell = |_: &StoredLine| {
            told += 1;
            Ok(())
        };
        let elsewhere = reconciler(&world).reconcile_list(&list, tomorrow, tomorrow, &mut tell).await;
        assert_eq!((elsewhere, told), (Ok(1), 0), "the next list has it too, in its first minutes");
        assert_eq!(stored(&world).await, before);
        node.settle().await;
    });
}

#[test]
fn a_line_whose_acquirer_did_not_answer_is_settled_by_the_next_list_that_has_it() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let paid_by = paid_unheard(&world, &node).await;
        world.bank.is_away(true);
        let list = list(vec![line(&world, Some(id(1)), &paid_by)]);
        assert_eq!(run(&world, &list).await, Ok(vec![(paid_by, LineVerdict::Different, false)]));
        world.bank.is_away(false);
        pass_ms(120_000).await;
        let tomorrow = today(&world).succ_opt().unwrap();
        let mut told = Vec::new();
        let mut tell = |stored: &StoredLine| {
            told.push((stored.verdict().unwrap(), stored.is_settled()));
            Ok(())
        };
        let elsewhere = reconciler(&world).reconcile_list(&list, tomorrow, tomorrow, &mut tell).await;
        assert_eq!((elsewhere, told), (Ok(0), vec![(LineVerdict::Matched, true)]));
        assert_eq!(stored(&world).await.0[0].line.day, today(&world), "it keeps its day");
        node.settle().await;
    });
}

#[test]
fn what_the_first_minutes_of_the_next_day_bring_is_judged_and_is_of_that_day() {
    let world = World::new();
    world.live(async {
        let node = world.node();
        let tomorrow = today(&world).succ_opt().unwrap();
        let at = Timestamp::end_of_sao_paulo_day(today(&world)).plus_ms(120_000);
        let minute: String = at.to_string().replace(['-', ':', 'T'], "").chars().take(12).collect();
        let early = format!("E00000000{minute}00000000001");
        let told = dated(&world, vec![(line(&world, None, &early), tomorrow)]).await;
        assert_eq!(told, [(early, LineVerdict::UnknownHere, true)], "its own night need not come any more");
        assert_eq!(stored(&world).await.0[0].line.day, tomorrow);
        drop(node);
    });
}
