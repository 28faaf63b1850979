//! Documents in the store. What can be read is written the same, can be shown, and never panics when it decides.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use quita_domain::payment::Payment;
use quita_domain::record::PaymentRecord;
use quita_domain::webhook;
use quita_fuzz::samples::{Choice, opened};
use quita_fuzz::{bodies, commands, laws, split, stored, text};

fuzz_target!(|data: &[u8]| {
    let (choice, rest) = split(data);
    if choice == b'{' {
        if let Ok(payment) = stored::read(&text(data)) {
            let _ended: Result<()> = check(payment, Choice::from_byte(choice), &mut Unstructured::new(rest));
        }
    } else {
        let _ended: Result<()> = bent(Choice::from_byte(choice), &mut Unstructured::new(rest));
    }
});

/// Checks a payment with an ordinary history, stored, and changed in a few places of its document.
fn bent(choice: Choice, input: &mut Unstructured<'_>) -> Result<()> {
    let mut payment = opened(choice);
    for number in 0..input.int_in_range(0..=6_u8)? {
        let command = commands::command(input, &payment)?;
        let context = commands::context(input, choice, &payment, &command, 100 + 2 * u128::from(number))?;
        payment = laws::step(&payment, command, &context);
    }
    let mut document = stored::written(&payment).parse().expect("it is JSON");
    bodies::bend(&mut document, input)?;
    match stored::read(&document.to_string()) {
        Ok(payment) => check(payment, choice, input),
        Err(_) => Ok(()),
    }
}

fn check(payment: Payment, choice: Choice, input: &mut Unstructured<'_>) -> Result<()> {
    let again = stored::read(&stored::written(&payment)).expect("what was written is read");
    assert_eq!(again, payment);
    serde_json::to_string(&PaymentRecord::now(&payment, "https://pay.example.com")).expect("it is shown");
    for event in &payment.history {
        webhook::body::body(&payment, event, "https://pay.example.com").expect("every event is told");
    }
    let _due = (payment.due_at(), payment.outbox_at(), payment.expires_at(), payment.query());
    for number in 0..8_u8 {
        let command = commands::command(input, &payment)?;
        let context = commands::context(input, choice, &payment, &command, 1_000 + u128::from(number))?;
        if let Ok(decision) = payment.decide(command, &context)
            && let Some(next) = decision.next
        {
            assert_eq!(next.revision, payment.revision.saturating_add(1));
            assert_eq!(next.order, payment.order);
        }
    }
    Ok(())
}
