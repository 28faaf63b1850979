//! A repeated command changes nothing. A repeated fact is no discrepancy either, unless it was one before.

use quita_domain::acquiring::{ChargeAnswer, Fact, OperationAnswer};
use quita_domain::identity::OperationId;
use quita_domain::operation::OperationRequest;
use quita_domain::payment::{Command, Context, Decision, Payment};
use uuid::Uuid;

pub(super) fn check(next: &Payment, first: &Decision, command: Command, context: &Context) {
    let op = Uuid::from_u128(context.op.as_u128() + 1);
    let context = Context { op, ..*context };
    match &command {
        Command::Notified { .. } => changes_nothing(next, first, command, &context),
        Command::OperationAnswered { answer, .. } | Command::OperationInquired { answer, .. } => {
            if states_something(answer) {
                changes_nothing(next, first, command, &context);
            }
        }
        Command::ChargeAnswered { answer, .. } | Command::Inquired { answer, .. } => {
            let states = matches!(
                answer,
                ChargeAnswer::Known(_) | ChargeAnswer::Accepted(_) | ChargeAnswer::UnderReview(_)
            );
            if states && !is_out_of_order(answer) {
                changes_nothing(next, first, command, &context);
            }
        }
        Command::Operate(request) => {
            let id = if request.key.is_some() { OperationId::new(Uuid::max()) } else { request.id };
            let request = OperationRequest { id, ..request.clone() };
            let again = next.decide(Command::Operate(request), &context);
            let again = again.expect("a replay is not refused");
            assert!(again.next.is_none(), "a replay changed something");
            assert_eq!(again.operation, first.operation);
        }
        Command::Hinted { .. }
        | Command::OperationResolved { .. }
        | Command::ChargeResolved { .. }
        | Command::MismatchEnded
        | Command::DeliveryAnswered { .. }
        | Command::Redeliver { .. }
        | Command::Deliver { .. }
        | Command::Wake
        | Command::InquireNow
        | Command::Reported(_)
        | Command::PixTaken { .. }
        | Command::ChargeNeverLeft => {}
    }
}

/// Returns true if an answer repeats facts out of order. A charge concludes last, and the refunded sum is stated after
/// each part of it.
fn is_out_of_order(answer: &ChargeAnswer) -> bool {
    let ChargeAnswer::Known(statement) = answer else { return false };
    let Some((_, earlier)) = statement.facts.split_last() else { return false };
    earlier.iter().any(|fact| matches!(fact, Fact::Concluded | Fact::RefundedInTotal { .. }))
}

const fn states_something(answer: &OperationAnswer) -> bool {
    match answer {
        OperationAnswer::Done | OperationAnswer::Accepted | OperationAnswer::Refused(_) => true,
        OperationAnswer::RefusedPerhaps(_)
        | OperationAnswer::NotFound
        | OperationAnswer::Contradicted(_)
        | OperationAnswer::Failed(_) => false,
    }
}

/// Returns true for several facts, whose repetition may make later ones contradict earlier ones.
fn is_story(command: &Command) -> bool {
    match command {
        Command::ChargeAnswered { answer: ChargeAnswer::Known(statement), .. }
        | Command::Inquired { answer: ChargeAnswer::Known(statement), .. } => statement.facts.len() > 1,
        _ => false,
    }
}

/// Returns true if only reports to operators changed, or the mark that only a person ends the payment.
fn is_only_reported(before: &Payment, after: &Payment) -> bool {
    let Payment { revision, last_op, reports, concluded, .. } = before.clone();
    Payment { revision, last_op, reports, concluded, ..after.clone() } == *before
}

fn changes_nothing(next: &Payment, first: &Decision, command: Command, context: &Context) {
    if first.discrepancies.is_empty() {
        let shown = format!("{command:?}");
        let is_story = is_story(&command);
        let again = next.decide(command, context).expect("no refusal of facts");
        if let Some(changed) =
            again.next.as_ref().filter(|changed| !is_story || !is_only_reported(next, changed))
        {
            let [before, after] = [next, changed].map(|payment| serde_json::to_string(payment).unwrap());
            panic!("what was stated again changed something: {shown}\nfrom {before}\nto   {after}");
        }
        let is_exception = !again.discrepancies.is_empty() && !is_story;
        assert!(!is_exception, "{shown} is an exception: {:?}", again.discrepancies);
    }
}
