use super::*;

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn guess(attempts: &Attempts, account: &str, from: &str) -> Result<Line, u64> {
    attempts.count(account, address(from), None)
}

/// Returns how many of `guesses` at one account are let through, each from the next of these networks.
fn let_through(guesses: u32, from: impl Fn(u32) -> String) -> usize {
    let attempts = Attempts::new();
    (0..guesses).filter(|number| guess(&attempts, "ana@loja.com", &from(*number)).is_ok()).count()
}

#[test]
fn an_account_is_guessed_a_few_times_from_one_address_however_it_is_spelt() {
    let attempts = Attempts::new();
    for name in ["Ana@loja.com", "ana@loja.com"].iter().cycle().take(8) {
        assert_eq!(guess(&attempts, name, "10.0.0.1"), Ok(Line::Strangers));
    }
    let wait = guess(&attempts, "ana@loja.com", "10.0.0.1").unwrap_err();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(guess(&attempts, "bia@loja.com", "10.0.0.1"), Ok(Line::Strangers));
}

#[test]
fn guesses_from_one_address_keep_nobody_else_out() {
    let attempts = Attempts::new();
    let refused = (0..1_000).filter(|_| guess(&attempts, "ana@loja.com", "10.0.0.1").is_err());
    assert_eq!(refused.count(), 992);
    assert_eq!(guess(&attempts, "ana@loja.com", "10.0.0.2"), Ok(Line::Strangers));
}

#[test]
fn an_account_is_guessed_a_bounded_number_of_times_wherever_from() {
    assert_eq!(let_through(255, |number| format!("10.0.{number}.1")), 60);
}

#[test]
fn who_has_a_wide_network_guesses_little_more_and_keeps_nobody_out() {
    let networks = |number: u32| format!("2001:db8:0:{number:x}::1");
    assert_eq!(let_through(200, networks), 16, "a home has 256 networks of 64 bits");
    let sites = |number: u32| format!("2001:db8:0:{:x}::1", number << 8);
    assert_eq!(let_through(200, sites), 24, "a firm has 256 of those");
    assert_eq!(let_through(200, |number| format!("198.51.100.{number}")), 24);
    let attempts = Attempts::new();
    for number in 0..1_000 {
        guess(&attempts, "ana@loja.com", &format!("2001:db8:0:{number:x}::1")).ok();
    }
    assert_eq!(guess(&attempts, "ana@loja.com", "2001:db8:1::1"), Ok(Line::Strangers));
}

#[test]
fn attempts_from_one_network_are_bounded_for_all_accounts() {
    let attempts = Attempts::new();
    let any = |number: u32, from: &str| guess(&attempts, &format!("{number}@loja.com"), from);
    assert!((0..40).all(|number| any(number, &format!("2001:db8::{number:x}")).is_ok()));
    assert!(any(40, "2001:db8::ffff").is_err());
    assert!(any(41, "2001:db8:0:1::1").is_ok());
    let passed = (42..500).filter(|number| any(*number, &format!("2001:db8:0:{number:x}::1")).is_ok());
    assert_eq!(passed.count() + 41, 120);
}

#[test]
fn a_device_has_attempts_of_its_own_and_then_those_of_any_stranger() {
    let attempts = Attempts::new();
    let flood = |number: u8| guess(&attempts, "ana@loja.com", &format!("10.0.{number}.1"));
    assert_eq!(
        (0..=254).filter(|number| flood(*number).is_ok()).count(),
        60,
        "strangers use up what is theirs"
    );
    let [laptop, phone] = [Device::from([1; 16]), Device::from([2; 16])];
    let own = |device: &Device| attempts.count("ana@loja.com", address("192.0.2.1"), Some(*device));
    assert!((0..10).all(|_| own(&laptop) == Ok(Line::Known)));
    assert!(own(&laptop).is_err(), "it guessed too often, and strangers may not now");
    assert_eq!(own(&phone), Ok(Line::Known), "another device is another");
    let quiet = Attempts::new();
    let guesses = (0..30).map(|_| quiet.count("ana@loja.com", address("192.0.2.1"), Some(laptop)));
    let guesses: Vec<_> = guesses.collect();
    let counted = |line| guesses.iter().filter(|guess| **guess == Ok(line)).count();
    assert_eq!((counted(Line::Known), counted(Line::Strangers)), (10, 8));
}

#[test]
fn who_is_signed_in_guesses_at_the_own_password_apart_from_strangers() {
    let attempts = Attempts::new();
    let one = Secret::new(String::from("one"));
    let other = Secret::new(String::from("other"));
    assert!((0..8).all(|_| attempts.count_in_session(&one).is_ok()));
    assert!(attempts.count_in_session(&one).is_err());
    assert_eq!(attempts.count_in_session(&other), Ok(()));
}
