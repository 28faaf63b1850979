//! Lines of lists and files, runs, and payments by external ids.

use std::sync::Arc;

use chrono::NaiveDate;
use quita_domain::acquiring::{ChargeAnswer, Fact, Issued, Reference, Statement};
use quita_domain::identity::{AcquirerName, Mode, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::{Money, SignedMoney};
use quita_domain::numbering::AttemptNumber;
use quita_domain::payment::{Command, Payment};
use quita_domain::reconciliation::{
    Difference, DifferingField, Judged, LineCursor, LineFilter, LineFinding, LineKind, LineSubject, LineSum,
    LineVerdict, SlipNumber, Source, StatementLine, StoredLine,
};
use quita_domain::slip::IssuedBoleto;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{PaidPlace, Period, Run, RunClaim, WholeStore};
use uuid::Uuid;

use quita_store_contract::samples::{Sample, context, insert, paid, pending, replace};

fn day(number: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 11, number).unwrap()
}

fn bank() -> Source {
    Source::list_of(&AcquirerName::new("bank"))
}

/// Returns a Pix of this day without a verdict.
pub fn line(number: &str, on: u32, cents: u64) -> StoredLine {
    let transaction_id = Some(TransactionId::new(Uuid::from_u128(u128::MAX)));
    let line = StatementLine {
        id: format!("bank:pix:{number}"),
        source: bank(),
        day: day(on),
        kind: LineKind::Pix,
        reference: Some(number.to_owned()),
        subject: LineSubject::Pix { transaction_id, end_to_end_id: number.to_owned() },
        gross: Money::from_cents(cents),
        fee: Some(SignedMoney::from_cents(3)),
        net: Some(Money::from_cents(cents.saturating_sub(3)).into()),
        on: day(on),
        place: String::from("page 1"),
        other_key: None,
    };
    StoredLine { line, imported_at: Timestamp::from_millis(7), judged: None }
}

pub fn judged(line: StoredLine, finding: LineFinding) -> StoredLine {
    let transaction_id = line.line.named_payment();
    let acquirer = Some(AcquirerName::new("bank"));
    StoredLine { judged: Some(Judged { finding, transaction_id, acquirer, is_final: true }), ..line }
}

pub fn different() -> LineFinding {
    let here = String::from("pending");
    let there = String::from("paid");
    LineFinding::Different(Difference { field: DifferingField::Status, here, there })
}

fn all(verdict: Option<LineVerdict>) -> LineFilter {
    LineFilter { source: bank(), from: day(1), until: day(30), verdict }
}

async fn ids(store: &Arc<dyn WholeStore>, filter: &LineFilter) -> Vec<String> {
    let found = store.lines(filter, None, 100).await.unwrap();
    found.into_iter().map(|stored| stored.line.reference.unwrap()).collect()
}

pub async fn a_line_is_there_once_and_as_it_was_put_last(store: Arc<dyn WholeStore>) {
    let known = line("1", 1, 100);
    store.put_lines(&[known.clone(), line("2", 1, 200)]).await.unwrap();
    store.put_lines(std::slice::from_ref(&known)).await.unwrap();
    assert_eq!(ids(&store, &all(None)).await, ["1", "2"]);
    for finding in [different(), LineFinding::Matched, LineFinding::MissingThere, LineFinding::UnknownHere] {
        let judged = judged(known.clone(), finding);
        store.put_lines(std::slice::from_ref(&judged)).await.unwrap();
        let asked = [known.line.id.clone(), String::from("bank:pix:unheard of")];
        assert_eq!(store.lines_with_ids(&asked).await, Ok(vec![judged]));
    }
    assert_eq!(ids(&store, &all(None)).await, ["1", "2"]);
    store.put_lines(&[]).await.unwrap();
    assert_eq!(store.lines_with_ids(&[]).await, Ok(Vec::new()));
}

pub async fn lines_are_found_by_the_beginning_of_their_ids(store: Arc<dyn WholeStore>) {
    let ids = ["cnab 341:ours:7", "cnab 341:ours:7:a:1", "cnab 341:ours:7:b:1", "cnab 341:ours:70:a:1", "x"];
    let lines = ids.map(|id| {
        let mut stored = line("1", 1, 100);
        stored.line.id = id.to_owned();
        stored
    });
    store.put_lines(&lines).await.unwrap();
    let found = |limit| {
        let store = Arc::clone(&store);
        async move {
            let found = store.lines_beginning("cnab 341:ours:7:", limit).await.unwrap();
            found.into_iter().map(|stored| stored.line.id).collect::<Vec<_>>()
        }
    };
    assert_eq!(found(10).await, ["cnab 341:ours:7:a:1", "cnab 341:ours:7:b:1"]);
    assert_eq!(found(1).await, ["cnab 341:ours:7:a:1"]);
    assert_eq!(found(0).await, [""; 0]);
}

pub async fn every_kind_of_line_reads_back_as_it_was(store: Arc<dyn WholeStore>) {
    let text = |text: &str| Some(String::from(text));
    let refund = LineSubject::Refund {
        transaction_id: None,
        end_to_end_id: String::from("E1"),
        refund_id: String::from("r-1"),
        is_chargeback: true,
    };
    let interest = Money::from_cents(i64::MAX.cast_unsigned());
    let boleto = |our_number, document_number| LineSubject::Boleto {
        bank: String::from("341"),
        our_number,
        document_number,
        interest,
        credited_on: NaiveDate::from_ymd_opt(2026, 11, 24),
    };
    let subjects = [refund, boleto(text("0012-P"), None), boleto(None, text("pedido 1"))];
    for (place, kind) in LineKind::ALL.into_iter().enumerate() {
        let mut stored = line("x", 3, 1);
        stored.line.kind = kind;
        stored.line.subject = subjects[place % subjects.len()].clone();
        (stored.line.reference, stored.line.fee, stored.line.net) = (None, None, None);
        store.put_lines(std::slice::from_ref(&stored)).await.unwrap();
        assert_eq!(store.lines(&all(None), None, 2).await, Ok(vec![stored]));
    }
}

pub async fn lines_come_by_day_and_pages_neither_skip_nor_repeat(store: Arc<dyn WholeStore>) {
    let mut other = line("0", 2, 1);
    (other.line.id, other.line.source) = (String::from("cnab 341:0"), Source::files_of("341"));
    let lines = [line("3", 2, 1), line("1", 2, 1), line("2", 1, 1), line("9", 4, 1), line("4", 3, 1), other];
    store.put_lines(&lines).await.unwrap();
    for verdict in [None, Some(LineVerdict::Different)] {
        let filter = LineFilter { until: day(3), verdict, ..all(None) };
        let mut seen = Vec::new();
        let mut after = None;
        while let Some(last) = store.lines(&filter, after.as_ref(), 1).await.unwrap().pop() {
            after = Some(LineCursor::of(&last.line));
            seen.push(last.line.reference.unwrap());
        }
        let expected: &[&str] = if verdict.is_none() { &["2", "1", "3", "4"] } else { &[] };
        assert_eq!(seen, expected);
    }
    let [third, first, ..] = lines;
    store.put_lines(&[judged(third, different()), judged(first, LineFinding::Matched)]).await.unwrap();
    assert_eq!(ids(&store, &all(Some(LineVerdict::Different))).await, ["3"]);
    assert_eq!(ids(&store, &LineFilter { from: day(3), ..all(None) }).await, ["4", "9"]);
    assert_eq!(store.lines(&all(None), None, 0).await, Ok(Vec::new()));
}

pub async fn lines_are_counted_and_summed_by_their_verdict(store: Arc<dyn WholeStore>) {
    let lines = [
        judged(line("1", 1, 100), LineFinding::Matched),
        judged(line("2", 1, 200), LineFinding::Matched),
        judged(line("3", 1, 400), different()),
        judged(line("4", 2, 800), LineFinding::Matched),
        judged(line("5", 3, 1_600), LineFinding::UnknownHere),
        line("6", 1, 3_200),
    ];
    store.put_lines(&lines).await.unwrap();
    let sum = |on, verdict, count, gross_cents| LineSum {
        day: day(on),
        source: bank(),
        verdict,
        count,
        gross_cents,
    };
    let mut sums = store.line_sums(day(1), day(2)).await.unwrap();
    sums.sort();
    let expected = [
        sum(1, LineVerdict::Matched, 2, 300),
        sum(1, LineVerdict::Different, 1, 400),
        sum(2, LineVerdict::Matched, 1, 800),
    ];
    assert_eq!(sums, expected);
}

pub fn claim(node: u128, now: i64, until: i64) -> RunClaim {
    RunClaim {
        source: bank(),
        day: day(1),
        node: Uuid::from_u128(node),
        now: Timestamp::from_millis(now),
        until: Timestamp::from_millis(until),
    }
}

pub async fn a_run_is_one_nodes_until_its_lease_is_over_and_nobodys_once_it_is_done(
    store: Arc<dyn WholeStore>,
) {
    for (node, now, until, is_claimed) in [
        (1, 0, 100, true),
        (2, 99, 200, false),
        (1, 50, 150, true),
        (2, 149, 300, false),
        (2, 150, 300, true),
        (1, 200, 400, false),
    ] {
        assert_eq!(store.claim_run(&claim(node, now, until)).await, Ok(is_claimed), "{node} at {now}");
    }
    store.finish_run(&claim(1, 210, 210)).await.unwrap();
    assert_eq!(
        store.claim_run(&claim(2, 220, 300)).await,
        Ok(true),
        "another node's word counts for nothing"
    );
    store.finish_run(&claim(2, 230, 230)).await.unwrap();
    for node in [1, 2] {
        assert_eq!(store.claim_run(&claim(node, 1_000, 2_000)).await, Ok(false));
    }
    let other_day = RunClaim { day: day(2), ..claim(1, 0, 1) };
    assert_eq!(store.claim_run(&other_day).await, Ok(true));
}

pub async fn runs_are_found_by_day_with_whether_they_are_done(store: Arc<dyn WholeStore>) {
    let of_day = |number| RunClaim { day: day(number), ..claim(1, 0, 100) };
    for number in [3, 1, 2, 5] {
        assert_eq!(store.claim_run(&of_day(number)).await, Ok(true));
    }
    for number in [1, 5] {
        store.finish_run(&of_day(number)).await.unwrap();
    }
    let other = RunClaim { source: Source::stored("other"), ..of_day(2) };
    assert_eq!(store.claim_run(&other).await, Ok(true));
    let source = claim(1, 0, 100).source;
    let run = |number, is_finished| Run { day: day(number), is_finished };
    let all = [run(1, true), run(2, false), run(3, false), run(5, true)];
    assert_eq!(store.runs(&source, day(1), day(9)).await, Ok(all.to_vec()));
    assert_eq!(store.runs(&source, day(2), day(3)).await, Ok(all[1..3].to_vec()));
    assert_eq!(store.runs(&source, day(6), day(9)).await, Ok(Vec::new()));
    assert_eq!(store.runs(&Source::stored("oth"), day(1), day(9)).await, Ok(Vec::new()));
}

pub async fn of_many_who_claim_a_run_one_gets_it(store: Arc<dyn WholeStore>) {
    let claims: Vec<_> = (0..16).map(|node| claim(node, 0, 100)).collect();
    let claimed = futures_util::future::join_all(claims.iter().map(|claim| store.claim_run(claim))).await;
    assert_eq!(claimed.into_iter().filter(|claimed| claimed.clone().unwrap()).count(), 1);
}

fn slip() -> Issued {
    let text = String::from;
    Issued::Boleto(Box::new(IssuedBoleto {
        barcode: "1".repeat(44),
        digitable_line: "1".repeat(47),
        due_date: day(9),
        our_number: text("09/00000000233-P"),
        portfolio: text("09"),
        agency_and_account: text("1234-5 / 67890-1"),
        bank_code: text("237-2"),
        bank_name: text("Banco"),
        beneficiary_name: text("Loja"),
        beneficiary_document: text("11.222.333/0001-81"),
        beneficiary_address: text("Rua B"),
        pix_code: None,
    }))
}

/// Returns the same boleto, issued under this number of the bank.
fn issued(payment: &Payment, our_number: &str) -> Payment {
    let reference = Reference::none().with("ourNumber", our_number);
    let facts = vec![Fact::Pending { issued: slip(), news_at: None }];
    let answer = ChargeAnswer::Known(Statement { facts, reference });
    let command = Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer };
    payment.decide(command, &context(2_000)).unwrap().next.unwrap()
}

pub async fn a_boleto_is_found_by_the_numbers_that_others_give_it(store: Arc<dyn WholeStore>) {
    let boleto = |reference| Sample { method: Method::Boleto, reference, ..Sample::default() };
    let named = boleto(Some("Pedido-42")).open();
    let unnamed = boleto(None).open();
    let pix = Sample { reference: Some("Pedido-42"), ..Sample::default() }.open();
    for payment in [&named, &unnamed, &pix] {
        assert_eq!(store.commit(&[insert(payment)]).await, [Ok(())]);
    }
    let found = async |number: SlipNumber| store.payments_numbered(Mode::Test, &number, 5).await.unwrap();
    assert_eq!(found(SlipNumber::document("pedido 42").unwrap()).await, [named.id]);
    let short: String = unnamed.id.uuid().simple().to_string().chars().take(10).collect();
    assert_eq!(found(SlipNumber::document(&short).unwrap()).await, [unnamed.id]);
    let ours = SlipNumber::ours("0233p").unwrap();
    assert_eq!(found(ours.clone()).await, [], "it is not known yet");
    let known = issued(&named, "00000000233P");
    assert_eq!(store.commit(&[replace(&known)]).await, [Ok(())]);
    assert_eq!(found(ours.clone()).await, [named.id]);
    assert_eq!(found(SlipNumber::document("233P").unwrap()).await, []);
    assert_eq!(store.commit(&[replace(&issued(&unnamed, "233P"))]).await, [Ok(())]);
    assert_eq!(found(ours.clone()).await.len(), 2);
    assert_eq!(store.payments_numbered(Mode::Test, &ours, 1).await.unwrap().len(), 1);
    assert_eq!(store.payments_numbered(Mode::Live, &ours, 5).await, Ok(Vec::new()));
    let live = Sample { mode: Mode::Live, ..boleto(Some("Pedido-42")) }.open();
    assert_eq!(store.commit(&[insert(&live)]).await, [Ok(())]);
    let of_order = SlipNumber::document("pedido 42").unwrap();
    assert_eq!(store.payments_numbered(Mode::Live, &of_order, 1).await, Ok(vec![live.id]));
    assert_eq!(store.payments_numbered(Mode::Test, &of_order, 5).await, Ok(vec![named.id]));
}

pub async fn payments_are_found_by_the_time_at_which_they_were_paid(store: Arc<dyn WholeStore>) {
    let start = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
    let mut places = Vec::new();
    for hours in [2, 0, 1, 1, 30] {
        let payment = Sample { at: start.millis(), ..Sample::default() }.open();
        assert_eq!(store.commit(&[insert(&payment)]).await, [Ok(())]);
        let at = start.plus_ms(hours * 3_600_000);
        let waiting = pending(&payment, start.millis());
        for written in [&waiting, &paid(&waiting, at.millis())] {
            assert_eq!(store.commit(&[replace(written)]).await, [Ok(())]);
        }
        places.push(PaidPlace { at, id: payment.id });
    }
    places.sort_unstable();
    let mut seen = Vec::new();
    let mut after = None;
    let since_start = |until| Period { from: start, until };
    let day = since_start(start.plus_ms(DAY_MS));
    while let Some(place) = store.paid_between(Mode::Test, day, after, 1).await.unwrap().pop() {
        after = Some(place);
        seen.push(place);
    }
    assert_eq!(seen, places[..4]);
    assert_eq!(
        store.paid_between(Mode::Test, since_start(start.plus_ms(1)), None, 9).await,
        Ok(vec![places[0]])
    );
    assert_eq!(store.paid_between(Mode::Test, since_start(start), None, 9).await, Ok(Vec::new()));
    assert_eq!(store.paid_between(Mode::Live, day, None, 9).await, Ok(Vec::new()));
}
