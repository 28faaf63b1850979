//! Parameters of the load: start of payments, methods, share of events that the receiver refuses.

use std::num::NonZeroUsize;
use std::time::Duration;

use quita_config::duration::{DURATION_FORM, parse_duration};
use serde::Serialize;

use super::schedule::{MAX_STAGE, Schedule};

/// Stride that spreads the methods. It is a prime that does not divide the sum of the shares, so each method gets its
/// exact share.
const STRIDE: u64 = 7_919;

/// Maximum share of a method, so that their sum stays below the stride.
const MAX_SHARE: u64 = 1_000;

/// Maximum number of clients in the closed model: each takes memory and a connection.
const MAX_CLIENTS: usize = 100_000;

/// Model by which payments start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pace {
    /// Open model: at the times of a schedule, whether or not the service keeps up.
    Schedule(Schedule),
    /// Closed model: N clients, each of which waits for its answers.
    Concurrency(NonZeroUsize),
}

/// Payment method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Method {
    /// Instant payment.
    Pix,
    /// Bank slip (boleto).
    Boleto,
    /// Credit card, captured immediately.
    Card,
}

impl Method {
    /// Every method.
    pub(super) const ALL: [Self; 3] = [Self::Pix, Self::Boleto, Self::Card];

    /// Returns its name in a mix.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Pix => "pix",
            Self::Boleto => "boleto",
            Self::Card => "card",
        }
    }
}

/// Share of each payment method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Mix {
    pix: u64,
    boleto: u64,
    card: u64,
}

impl Mix {
    /// Reads `pix=60,boleto=20,card=20`. A method that is not listed has no share.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || String::from("must be shares of up to 1000, such as pix=60,boleto=20,card=20");
        let mut mix = Self::default();
        for part in text.split(',') {
            let (name, share) = part.split_once('=').ok_or_else(wrong)?;
            let share = share.parse().ok().filter(|share| *share <= MAX_SHARE).ok_or_else(wrong)?;
            let method = Method::ALL.into_iter().find(|method| method.as_str() == name);
            match method {
                Some(Method::Pix) => mix.pix = share,
                Some(Method::Boleto) => mix.boleto = share,
                Some(Method::Card) => mix.card = share,
                None => {
                    let known = Method::ALL.map(Method::as_str).join(", ");
                    return Err(format!("{name:?} is not a method; known: {known}"));
                }
            }
        }
        if mix.total() == 0 { Err(wrong()) } else { Ok(mix) }
    }

    /// Returns the method of the payment with this number.
    pub(super) fn method(&self, number: u64) -> Method {
        let place = number.wrapping_mul(STRIDE) % self.total();
        if place < self.pix {
            Method::Pix
        } else if place < self.pix + self.boleto {
            Method::Boleto
        } else {
            Method::Card
        }
    }

    fn total(&self) -> u64 {
        self.pix + self.boleto + self.card
    }
}

/// Reads `10%`.
pub(super) fn percentage(text: &str) -> Result<u8, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse().ok().filter(|number| *number <= 100);
    number.ok_or_else(|| "must be a whole number from 0% to 100%".into())
}

/// Reads the number of clients of the closed model.
pub(super) fn clients(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MAX_CLIENTS);
    number.ok_or_else(|| format!("must be a whole number of clients from 1 to {MAX_CLIENTS}"))
}

/// Reads a positive duration of at most a day.
pub(super) fn some_time(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Some(Duration::ZERO) => Err("must be longer than 0, such as 30s".into()),
        Some(time) if time > MAX_STAGE => Err("must be at most a day, such as 30s".into()),
        Some(time) => Ok(time),
        None => Err(format!("must be {DURATION_FORM}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_gets_its_share() {
        let mix = Mix::parse("pix=60,boleto=20,card=20").unwrap();
        let count = |method| (0..1_000).filter(|number| mix.method(*number) == method).count();
        assert_eq!([Method::Pix, Method::Boleto, Method::Card].map(count), [600, 200, 200]);
        let only = Mix::parse("boleto=1").unwrap();
        assert!((0..10).all(|number| only.method(number) == Method::Boleto));
    }

    #[test]
    fn what_is_no_mix_is_refused() {
        for text in ["", "pix", "pix=", "pix=0", "pix=-1", "cash=10", "pix=60;card=40", "pix=1001"] {
            assert!(Mix::parse(text).is_err(), "{text}");
        }
        let unknown = Mix::parse("pix=50,pixx=50").unwrap_err();
        assert_eq!(unknown, "\"pixx\" is not a method; known: pix, boleto, card");
    }

    #[test]
    fn a_number_of_clients_has_bounds() {
        assert_eq!(["1", "100000"].map(|text| clients(text).map(NonZeroUsize::get)), [Ok(1), Ok(100_000)]);
        for text in ["0", "100001", "18446744073709551615", "18446744073709551616", "-1", "8.5", "eight", ""]
        {
            let error = clients(text).unwrap_err();
            assert_eq!(error, "must be a whole number of clients from 1 to 100000", "{text}");
        }
    }

    #[test]
    fn a_duration_is_longer_than_nothing() {
        assert_eq!(some_time("30s"), Ok(Duration::from_secs(30)));
        for (text, expected) in [
            ("0s", "longer than 0"),
            ("0ms", "longer than 0"),
            ("10000d", "at most a day"),
            ("30", "with a unit"),
            ("1.5s", "with a unit"),
        ] {
            assert!(some_time(text).unwrap_err().contains(expected), "{text}");
        }
    }

    #[test]
    fn a_percentage_is_whole_and_at_most_a_hundred() {
        assert_eq!(["0%", "10%", "100"].map(percentage), [Ok(0), Ok(10), Ok(100)]);
        for text in ["", "%", "101%", "-1%", "1.5%"] {
            assert!(percentage(text).is_err(), "{text}");
        }
    }
}
