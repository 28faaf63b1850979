use super::*;

const OK: Reply = Reply::Status(200);
const CLOSED: Reply = Reply::Missing(NoAnswer::ConnectionClosed);
const REFUSED: Reply = Reply::Missing(NoAnswer::ConnectionRefused);
const LATE: Reply = Reply::Missing(NoAnswer::TimeOut);

/// Records calls of the run: reply, start and end in milliseconds.
fn contact(calls: &[(Reply, u64, u64)]) -> Contact {
    let start = Instant::now();
    let mut contact = Contact::new(start);
    for &(reply, began, ended) in calls {
        let [began, ended] = [began, ended].map(|ms| start + Duration::from_millis(ms));
        contact.replied(reply, began, ended, true);
    }
    contact
}

fn times(contact: &Contact) -> Vec<(u64, Option<u64>)> {
    contact.absences().iter().map(|absence| (absence.from_ms, absence.until_ms)).collect()
}

#[test]
fn a_service_that_is_killed_is_away_from_the_first_call_that_it_cut() {
    let calls = [(OK, 0, 5), (CLOSED, 90, 100), (OK, 95, 101), (REFUSED, 120, 121), (REFUSED, 130, 131)];
    let contact = contact(&calls);
    assert_eq!(times(&contact), [(100, None)], "an answer that was on its way proves nothing");
    assert_eq!((contact.cut(), contact.is_away()), (1, Some(NoAnswer::ConnectionRefused)));
    let said = contact.absences()[0].to_string();
    assert!(
        said.starts_with("the service did not answer from 0.1 s of the run on, until its end (20"),
        "{said}"
    );
    assert!(said.ends_with("connection refused)"), "{said}");
}

#[test]
fn a_service_that_comes_back_was_away_until_then() {
    let calls = [(OK, 0, 5), (REFUSED, 1_000, 1_001), (OK, 3_000, 3_004), (REFUSED, 5_000, 5_001)];
    assert_eq!(times(&contact(&calls)), [(1_001, Some(3_004)), (5_001, None)]);
    let said = contact(&calls).absences()[0].to_string();
    assert!(said.starts_with("the service did not answer from 1.0 s to 3.0 s of the run (20"), "{said}");
}

#[test]
fn a_proxy_without_its_service_is_an_absence_like_a_connection_that_is_refused() {
    for cause in [NoAnswer::BadGateway, NoAnswer::ProxyUnavailable] {
        let missing = Reply::Missing(cause);
        let away = contact(&[(OK, 0, 5), (missing, 1_000, 1_001), (OK, 7_000, 7_004)]);
        assert_eq!((times(&away), away.cut()), (vec![(1_001, Some(7_004))], 0), "{cause:?}");
    }
    let slow = Reply::Missing(NoAnswer::GatewayTimeOut);
    let mut hung = contact(&[(OK, 0, 5), (slow, 1_000, 11_000)]);
    assert!(hung.is_lost() && hung.is_away().is_none(), "it may be one slow call");
    hung.confirm_loss();
    assert_eq!((times(&hung), hung.cut()), (vec![(1_000, None)], 1));
}

#[test]
fn a_proxy_that_tried_a_dead_server_while_another_one_answered_is_no_absence() {
    let dead = Reply::Missing(NoAnswer::ProxyUnavailable);
    let slow = contact(&[(OK, 0, 5), (OK, 2_000, 2_005), (dead, 1_000, 4_000)]);
    assert_eq!((slow.is_away(), times(&slow)), (None, vec![]), "answered meanwhile");
    let alone = contact(&[(OK, 0, 5), (dead, 1_000, 4_000), (OK, 8_900, 8_905)]);
    assert_eq!(times(&alone), [], "answered within five seconds");
    let away = contact(&[(OK, 0, 5), (dead, 1_000, 4_000), (OK, 9_100, 9_105)]);
    assert_eq!(times(&away), [(4_000, Some(9_105))]);
}

#[test]
fn absences_never_overlap_and_are_in_order() {
    let calls = [(OK, 0, 5), (LATE, 29_000, 59_000), (OK, 39_000, 69_000), (LATE, 39_100, 69_100)];
    let mut slow = contact(&calls[..2]);
    slow.confirm_loss();
    let start = slow.start;
    let at = |ms| start + Duration::from_millis(ms);
    for &(reply, began, ended) in &calls[2..] {
        slow.replied(reply, at(began), at(ended), true);
    }
    slow.confirm_loss();
    slow.replied(OK, at(70_000), at(74_000), false);
    assert_eq!(times(&slow), [(29_000, Some(69_000)), (69_000, Some(74_000))]);
}

#[test]
fn an_absence_after_the_load_or_because_of_the_store_is_called_so() {
    let mut late = contact(&[(OK, 0, 5)]);
    let at = |ms| late.start + Duration::from_millis(ms);
    let [end, began, ended, back] = [30_000, 31_000, 61_000, 63_000].map(at);
    late.load_ended(end);
    late.replied(LATE, began, ended, false);
    late.confirm_loss();
    late.replied(OK, ended, back, false);
    let mut absence = late.absences().remove(0);
    assert!(
        absence.to_string().starts_with("after the load the service did not answer from 31.0 s to 63.0 s")
    );
    absence.explain_by_store(63_001);
    assert!(!absence.is_store_away, "that was later");
    absence.explain_by_store(30_000);
    assert!(absence.to_string().ends_with("time-out; its store was unavailable)"), "{absence}");
    let mut killed = contact(&[(REFUSED, 0, 5)]).absences().remove(0);
    killed.explain_by_store(1);
    assert!(!killed.is_store_away, "there is no service");
}

#[test]
fn one_broken_connection_is_no_absence() {
    for missing in [CLOSED, LATE] {
        let broken = contact(&[(OK, 0, 5), (missing, 10, 20), (OK, 30, 35)]);
        assert_eq!((times(&broken), broken.cut(), broken.is_lost()), (Vec::new(), 0, false));
    }
    let slow = contact(&[(OK, 20_000, 20_005), (LATE, 10, 30_010)]);
    assert!(!slow.is_lost(), "others were answered meanwhile");
    for cause in [NoAnswer::NoSocket, NoAnswer::ProxyNotFound, NoAnswer::ProxyLimit] {
        let unknown = contact(&[(OK, 0, 5), (Reply::Missing(cause), 10, 11)]);
        assert!(!unknown.is_lost(), "{cause:?}");
    }
}

#[test]
fn a_service_that_hangs_is_away_once_a_last_question_has_no_answer() {
    let mut hung = contact(&[(OK, 0, 5), (LATE, 2_000, 32_000), (LATE, 1_000, 31_000)]);
    assert_eq!((times(&hung), hung.cut(), hung.is_lost()), (Vec::new(), 0, true));
    hung.confirm_loss();
    assert_eq!((times(&hung), hung.cut()), (vec![(1_000, None)], 2));
}

#[test]
fn a_call_that_began_a_little_before_the_last_answered_one_is_cut_by_the_freeze_too() {
    let calls = [
        (OK, 1_001, 1_005),
        (LATE, 1_000, 31_000),
        (LATE, 1_000, 31_000),
        (LATE, 1_006, 31_006),
        (LATE, 1_006, 31_006),
    ];
    let mut frozen = contact(&calls);
    frozen.confirm_loss();
    assert_eq!((times(&frozen), frozen.cut()), (vec![(1_005, None)], 4));
    let mut hung = contact(&[(OK, 20_000, 20_005), (LATE, 1_000, 31_000), (LATE, 20_006, 50_006)]);
    hung.confirm_loss();
    assert_eq!(hung.cut(), 1, "others were answered while the first one hung");
}

#[test]
fn a_call_that_hangs_at_the_end_of_a_load_is_no_loss_once_a_question_is_answered() {
    use ContactStep::{Begins, Replies};
    let steps = [Begins(0), Begins(10), Replies(OK, 10, 15), Replies(LATE, 0, 30_000)];
    let (mut hung, start) = silence(&steps);
    let at = |ms| start + Duration::from_millis(ms);
    hung.load_ended(at(30_001));
    hung.began(at(30_002));
    hung.replied(OK, at(30_002), at(30_005), false);
    assert_eq!((times(&hung), hung.cut(), hung.is_lost()), (Vec::new(), 0, false));
}

#[test]
fn calls_that_hang_at_the_end_of_a_load_while_probes_are_answered_are_no_absence() {
    use ContactStep::{Begins, Replies};
    let (mut hung, start) = silence(&[Begins(0), Begins(10), Begins(20), Begins(30), Replies(OK, 30, 35)]);
    let at = |ms| start + Duration::from_millis(ms);
    for probe in 1..30 {
        hung.began(at(probe * 1_000));
        hung.replied(OK, at(probe * 1_000), at(probe * 1_000 + 5), false);
    }
    for began in [0, 10, 20] {
        hung.replied(LATE, at(began), at(began + 30_000), true);
    }
    hung.load_ended(at(30_021));
    assert_eq!((times(&hung), hung.cut(), hung.is_lost()), (Vec::new(), 0, false));
}

/// Steps of a load: calls that begin, and replies to them, at these milliseconds.
#[derive(Clone, Copy)]
enum ContactStep {
    Begins(u64),
    Replies(Reply, u64, u64),
}

fn silence(steps: &[ContactStep]) -> (Contact, Instant) {
    let start = Instant::now();
    let mut contact = Contact::new(start);
    let at = |ms: &u64| start + Duration::from_millis(*ms);
    for step in steps {
        match step {
            ContactStep::Begins(ms) => contact.began(at(ms)),
            ContactStep::Replies(reply, began, ms) => contact.replied(*reply, at(began), at(ms), true),
        }
    }
    (contact, start)
}

#[test]
fn a_service_that_hangs_when_the_run_is_stopped_is_away_since_its_last_answer() {
    use ContactStep::{Begins, Replies};
    let events = [Begins(0), Begins(2_900), Replies(OK, 0, 3_000), Begins(4_000), Begins(5_000)];
    let (mut hung, start) = silence(&events);
    let at = |ms| start + Duration::from_millis(ms);
    assert_eq!(hung.away_for(at(6_000)), None, "three seconds are no long time");
    assert_eq!(hung.away_for(at(17_000)), Some(Duration::from_secs(14)));
    assert!(hung.absences().is_empty());
    hung.stopped(at(17_000));
    assert_eq!(times(&hung), [(3_000, None)]);
    assert!(hung.absences()[0].to_string().ends_with("no answer yet)"));
    let (mut idle, start) = silence(&[Begins(0), Replies(OK, 0, 5)]);
    idle.stopped(start + Duration::from_secs(60));
    assert!(idle.absences().is_empty(), "nobody waited");
    let (mut settled, start) = silence(&[Begins(0), Begins(1), Replies(OK, 0, 5)]);
    settled.load_ended(start + Duration::from_secs(1));
    settled.stopped(start + Duration::from_secs(60));
    assert!(settled.absences().is_empty());
}

#[test]
fn a_connection_that_broke_within_a_silence_does_not_let_the_absence_begin_later() {
    use ContactStep::{Begins, Replies};
    let answered = [Begins(0), Begins(2_900), Replies(OK, 0, 3_000)];
    let broken = [Begins(4_000), Replies(CLOSED, 4_000, 6_500)];
    let (mut stopped, start) = silence(&[&answered[..], &broken].concat());
    stopped.stopped(start + Duration::from_secs(12));
    assert_eq!(times(&stopped), [(3_000, None)]);
    let back = [Replies(OK, 2_900, 12_000)];
    let (ended, _) = silence(&[&answered[..], &broken, &back].concat());
    assert_eq!(times(&ended).first().map(|(from, _)| *from), Some(3_000));
}

#[test]
fn a_freeze_that_ended_is_known_and_is_no_absence() {
    use ContactStep::{Begins, Replies};
    let (frozen, _) = silence(&[
        Begins(0),
        Begins(10),
        Replies(OK, 0, 1_000),
        Replies(OK, 10, 5_130),
        Begins(20_000),
        Begins(20_001),
        Replies(OK, 20_000, 20_005),
        Replies(OK, 20_001, 23_006),
    ]);
    assert!(times(&frozen).is_empty());
    assert_eq!(frozen.freezes(), Some(Freezes { count: 2, from_ms: 1_000, length_ms: 4_130 }));
    let (broken, _) = silence(&[Begins(0), Replies(CLOSED, 0, 5), Begins(9_000), Replies(OK, 9_000, 9_005)]);
    assert_eq!((broken.freezes(), times(&broken)), (None, Vec::new()), "nobody waited meanwhile");
}

#[test]
fn calls_that_time_out_while_nothing_is_answered_are_an_absence_that_ends() {
    use ContactStep::{Begins, Replies};
    let (hung, _) = silence(&[
        Begins(0),
        Replies(OK, 0, 5),
        Begins(3_000),
        Replies(LATE, 3_000, 33_000),
        Begins(33_100),
        Replies(OK, 33_100, 35_000),
    ]);
    assert_eq!((times(&hung), hung.cut(), hung.freezes()), (vec![(3_000, Some(35_000))], 1, None));
}

#[test]
fn a_freeze_that_outlasts_the_load_is_an_absence_until_the_next_answer() {
    use ContactStep::{Begins, Replies};
    let calls = [Begins(0), Replies(OK, 0, 5), Begins(2_500), Begins(2_600)];
    let timed_out = [Replies(LATE, 2_500, 32_500), Replies(LATE, 2_600, 32_600)];
    let (mut frozen, start) = silence(&calls.into_iter().chain(timed_out).collect::<Vec<_>>());
    let at = |ms| start + Duration::from_millis(ms);
    frozen.load_ended(at(32_601));
    assert!(frozen.is_away().is_some(), "nothing was answered for half a minute");
    frozen.replied(OK, at(33_000), at(38_000), false);
    assert_eq!((times(&frozen), frozen.cut()), (vec![(2_500, Some(38_000))], 2));
    assert!(!frozen.absences()[0].is_after_load);
}

#[test]
fn what_the_service_does_after_the_load_is_seen_by_what_is_asked_then() {
    let (mut probed, start) = silence(&[ContactStep::Begins(0), ContactStep::Replies(OK, 0, 5)]);
    let at = |ms| start + Duration::from_millis(ms);
    probed.load_ended(at(10));
    probed.began(at(1_000));
    probed.replied(OK, at(1_000), at(9_000), false);
    let freeze = Freezes { count: 1, from_ms: 1_000, length_ms: 8_000 };
    assert_eq!((probed.freezes(), probed.lost_after_load()), (Some(freeze), Duration::from_secs(8)));
    probed.began(at(10_000));
    probed.replied(LATE, at(10_000), at(25_000), false);
    probed.began(at(25_000));
    probed.replied(OK, at(25_000), at(25_001), false);
    assert_eq!(times(&probed), [(10_000, Some(25_001))]);
    assert!(probed.absences()[0].is_after_load);
    assert_eq!(probed.lost(), Duration::from_millis(23_001));
}

#[test]
fn a_store_that_is_out_of_reach_is_known_from_the_first_call_that_it_held_up() {
    let (mut contact, start) = silence(&[]);
    let at = |ms| start + Duration::from_millis(ms);
    contact.store_refused(true, at(3_100), at(13_100));
    contact.store_refused(false, at(3_000), at(13_200));
    let said = contact.store_refusals().unwrap();
    assert_eq!(said, StoreRefusals { count: 2, creations: 1, from_ms: 3_000, until_ms: 13_200 });
    assert_eq!(
        said.to_string(),
        "the service's store was unavailable: 2 requests were refused because of it, from 3.0 s to 13.2 s of the run"
    );
}

#[test]
fn a_pause_of_the_load_tester_is_no_freeze_of_the_service() {
    for is_tick_first in [true, false] {
        let (mut paused, start) = silence(&[]);
        let at = |ms| start + Duration::from_millis(ms);
        paused.tick(at(0));
        paused.began(at(50));
        paused.tick(at(100));
        if is_tick_first {
            paused.tick(at(8_100));
        }
        paused.replied(OK, at(50), at(8_101), true);
        paused.tick(at(8_200));
        assert_eq!((paused.freezes(), times(&paused)), (None, Vec::new()));
        let pauses = paused.own_pauses().unwrap();
        assert_eq!((pauses.count, pauses.total_ms / 10), (1, 800));
        assert!(pauses.to_string().starts_with("the load tester itself was paused for 8.0 s, until 8.1 s"));
    }
}

#[test]
fn absences_without_number_take_no_memory_without_bound() {
    let calls: Vec<_> = (0..100)
        .flat_map(|time| [(REFUSED, time * 10, time * 10), (OK, time * 10 + 5, time * 10 + 6)])
        .collect();
    let away = contact(&calls);
    assert_eq!((away.absences().len(), away.left_out()), (MAX_ABSENCES, 80));
}

#[test]
fn a_proxy_with_one_dead_server_of_several_is_no_absence() {
    const GATEWAY: Reply = Reply::Missing(NoAnswer::BadGateway);
    let calls: Vec<_> = (0..100)
        .flat_map(|time| [(GATEWAY, time * 300, time * 300), (OK, time * 300 + 50, time * 300 + 60)])
        .collect();
    let mixed = contact(&calls);
    assert_eq!((times(&mixed), mixed.left_out(), mixed.lost()), (Vec::new(), 0, Duration::ZERO));
    assert!(!mixed.is_lost());
}
