use super::*;

/// The ends of a call in these tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum End {
    Done,
}

type Call = OutboundCall<End>;

const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Returns a call in each progress, after five inquiries of which two found nothing.
fn calls() -> [Call; 4] {
    let call = |progress| Call {
        progress,
        is_over: false,
        inquiries: 5,
        not_found: 2,
        next_at: Some(at(100)),
        refusal: Some(String::from("why")),
    };
    [Progress::Ready, Progress::Sent, Progress::Unknown, Progress::Taken].map(call)
}

#[test]
fn each_change_of_each_call_changes_what_it_names() {
    for before in calls() {
        let after = |change| {
            let mut call = before.clone();
            call.apply(change);
            call
        };
        let unknown = |is_over| Call {
            progress: Progress::Unknown,
            is_over,
            not_found: 0,
            next_at: Some(at(7)),
            ..before.clone()
        };
        let next_at = at(7);
        let table = [
            (CallChange::Unknown { is_over: true, next_at }, unknown(true)),
            (CallChange::Unknown { is_over: false, next_at }, unknown(false)),
            (
                CallChange::Taken(next_at),
                Call {
                    progress: Progress::Taken,
                    is_over: true,
                    inquiries: 0,
                    not_found: 0,
                    next_at: Some(next_at),
                    ..before.clone()
                },
            ),
            (
                CallChange::RefusedPerhaps("so".into()),
                Call { refusal: Some(String::from("so")), ..before.clone() },
            ),
            (CallChange::NotFound(next_at), Call { not_found: 3, next_at: Some(next_at), ..before.clone() }),
            (CallChange::NotFound(at(200)), Call { not_found: 3, ..before.clone() }),
            (
                CallChange::InquiryScheduled(next_at),
                Call { inquiries: 6, next_at: Some(next_at), ..before.clone() },
            ),
            (
                CallChange::InquiryPostponed(next_at),
                Call { inquiries: 4, next_at: Some(next_at), ..before.clone() },
            ),
            (CallChange::Due(next_at), Call { next_at: Some(next_at), ..before.clone() }),
        ];
        for (change, expected) in table {
            assert_eq!(after(change.clone()), expected, "{change:?}");
        }
    }
}

#[test]
fn a_call_that_was_over_stays_over_until_it_is_sent_again() {
    let mut call = Call::sent(at(1));
    call.apply(CallChange::Unknown { is_over: true, next_at: at(2) });
    call.apply(CallChange::Unknown { is_over: false, next_at: at(3) });
    assert!(call.is_over);
    call.apply(CallChange::InquiryScheduled(at(4)));
    call.apply(CallChange::NotFound(at(4)));
    call.apply(CallChange::RefusedPerhaps("perhaps".into()));
    call.send(at(5));
    assert_eq!(call, Call { inquiries: 1, ..Call::sent(at(5)) }, "only the inquiries are counted on");
}

#[test]
fn an_ended_call_has_no_next_step() {
    for mut call in calls() {
        assert!(call.is_open());
        call.end(End::Done, None);
        assert_eq!((call.ended(), call.next_at, call.refusal.as_deref()), (Some(End::Done), None, None));
        assert!(!(call.is_open() || call.is_taken() || call.is_inquired_about()));
    }
}

#[test]
fn each_progress_answers_what_is_done_with_it() {
    let answers = calls().map(|call| [call.is_open(), call.is_taken(), call.is_inquired_about()]);
    let expected = [[true, false, false], [true, false, false], [true, false, true], [true, true, true]];
    assert_eq!(answers, expected);
}

#[test]
fn a_stored_call_leaves_out_what_is_not_there() {
    let text = serde_json::to_string(&Call::sent(at(5))).unwrap();
    assert_eq!(text, r#"{"progress":"sent","nextAt":5}"#);
    let mut call = Call::sent(at(5));
    call.end(End::Done, None);
    assert_eq!(serde_json::to_string(&call).unwrap(), r#"{"progress":"done"}"#);
    for call in calls().into_iter().chain([call]) {
        let text = serde_json::to_string(&call).unwrap();
        assert_eq!(serde_json::from_str::<Call>(&text).unwrap(), call, "{text}");
    }
}
