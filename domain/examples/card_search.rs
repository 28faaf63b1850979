//! Prints how long the search for card numbers takes in texts that make it work hardest, and in plain ones.
//!
//!     cargo run --profile dist -p quita-domain --example card_search
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a measurement for people")]

use std::time::{Duration, Instant};

use quita_domain::card::holds_card_number;

/// Bytes of the largest body of a request, and of the largest head.
const SIZES: [(&str, usize); 2] = [("body", 256 * 1024), ("head", 128 * 1024)];
const ROUNDS: usize = 7;

fn main() {
    // Small periods in which every group of digits begins something: found by trying all digits and separators.
    let mut texts: Vec<String> = Vec::new();
    for separator in [" ", "\t", "-", ".", "\u{a0}"] {
        texts.extend((0..=9).map(|digit| format!("{digit}{separator}")));
        texts.extend(
            ["4012", "5199", "30569309025904", "6362970000457012", "5299822472", "3419179001"]
                .map(|digits| digits.chars().map(|digit| format!("{digit}{separator}")).collect()),
        );
    }
    texts.extend(["36490181000158:", "４ ", "a-4-", "4242424242424242D", "0f-"].map(String::from));
    let plain = ["letters of no number ".to_owned(), "x".to_owned()];
    for (name, size) in SIZES {
        let time = |period: &String| {
            let text = period.repeat(size / period.len());
            let took = (0..ROUNDS).map(|_| {
                let began = Instant::now();
                std::hint::black_box(holds_card_number(std::hint::black_box(&text)));
                began.elapsed()
            });
            (took.min().unwrap_or_default(), period.clone())
        };
        let (worst, period) = texts.iter().map(time).max().unwrap_or_default();
        let (letters, _) = plain.iter().map(time).max().unwrap_or_default();
        println!(
            "{name} of {} KiB: worst {} (of {period:?}), letters {}",
            size / 1024,
            ms(worst),
            ms(letters)
        );
    }
}

fn ms(time: Duration) -> String {
    format!("{}.{:03} ms", time.as_millis(), time.subsec_micros() % 1_000)
}
