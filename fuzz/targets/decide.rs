//! Payments decide: any sequence of commands, at any times, keeps every law.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use quita_fuzz::samples::{Choice, opened};
use quita_fuzz::{commands, laws, split};

/// More would only make the finds longer.
const MOST_COMMANDS: u8 = 40;

fuzz_target!(|data: &[u8]| {
    let (choice, rest) = split(data);
    // Running out of bytes is the end of the story.
    let _ended: Result<()> = run(Choice::from_byte(choice), &mut Unstructured::new(rest));
});

fn run(choice: Choice, input: &mut Unstructured<'_>) -> Result<()> {
    let mut payment = opened(choice);
    for number in 0..MOST_COMMANDS {
        if input.is_empty() {
            break;
        }
        let command = commands::command(input, &payment)?;
        let context =
            commands::context(input, choice, payment.state.updated_at, 100 + 2 * u128::from(number))?;
        if std::env::var_os("QUITA_FUZZ_TELL").is_some() {
            eprintln!("{} {} {command:?}", context.now, payment.status());
        }
        payment = laws::step(&payment, command, &context);
    }
    let stored = serde_json::to_string(&payment).expect("a payment has a text");
    assert_eq!(serde_json::from_str::<quita_domain::payment::Payment>(&stored).ok(), Some(payment));
    Ok(())
}
