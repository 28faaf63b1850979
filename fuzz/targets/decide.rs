//! Decisions of payments: any sequence of commands, at any times, keeps every law.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use quita_domain::delivery::Confirmation;
use quita_domain::payment::{Command, Context, Payment};
use quita_fuzz::samples::{Choice, opened};
use quita_fuzz::{commands, laws, split, stored};

/// Maximum number of commands; more would only make the findings longer.
const MOST_COMMANDS: u8 = 40;

fuzz_target!(|data: &[u8]| {
    let (choice, rest) = split(data);
    // An input that runs out of bytes ends the sequence.
    let _ended: Result<()> = run(Choice::from_byte(choice), &mut Unstructured::new(rest));
});

fn run(choice: Choice, input: &mut Unstructured<'_>) -> Result<()> {
    let mut payment = opened(choice);
    let mut waiting: Vec<Confirmation> = Vec::new();
    for number in 0..MOST_COMMANDS {
        if input.is_empty() {
            break;
        }
        let command = commands::command(input, &payment)?;
        let context = commands::context(input, choice, &payment, &command, 100 + 2 * u128::from(number))?;
        if std::env::var_os("QUITA_FUZZ_TELL").is_some() {
            eprintln!("{} {} {command:?}", context.now, payment.status());
        }
        let may_wait = confirmation(&payment, &waiting, &command, &context);
        if may_wait.is_some() && input.arbitrary()? {
            waiting.extend(may_wait);
            continue;
        }
        // Another node does not know confirmations that are not stored.
        let is_of_another_node = !waiting.is_empty() && input.ratio(1, 4)?;
        let confirmed = if is_of_another_node { &[] } else { waiting.as_slice() };
        if let Some(next) = laws::written(&payment, confirmed, command, &context) {
            if !is_of_another_node {
                waiting.clear();
            }
            payment = next;
        }
    }
    assert_eq!(stored::read(&stored::written(&payment)).ok(), Some(payment));
    Ok(())
}

/// Returns a receiver's confirmation, if it may wait for another write beside those that already wait.
fn confirmation(
    payment: &Payment,
    waiting: &[Confirmation],
    command: &Command,
    context: &Context,
) -> Option<Confirmation> {
    let Command::DeliveryAnswered { delivery, attempt } = command else { return None };
    let confirmation = Confirmation { delivery: *delivery, attempt: attempt.clone() };
    payment.may_wait(waiting, &confirmation, context.now).map(|_| confirmation)
}
