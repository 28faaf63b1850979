use proptest::prelude::*;

use super::*;

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn cents(cents: u64) -> Money {
    Money::from_cents(cents)
}

/// Due on Friday, 2026-11-27, payable for 30 more days, with 2 % and 1 % a month.
fn usual() -> DueTerms {
    DueTerms {
        payable_after_due_days: 30,
        fine: Some(Portion::BasisPoints(200)),
        interest: Some(Interest::BasisPointsPerMonth(100)),
        ..DueTerms::plain(date("2026-11-27"))
    }
}

/// `usual`, but due on a Saturday: payable until Monday, 2026-11-23.
fn on_saturday() -> DueTerms {
    DueTerms { due_date: date("2026-11-21"), ..usual() }
}

fn discount(until: &str, portion: Portion) -> Discount {
    Discount { until: date(until), portion }
}

#[test]
fn what_is_owed_depends_on_the_day() {
    let owed = |terms: &DueTerms, day: &str| {
        [InterestSince::DueDate, InterestSince::MovedDueDate]
            .map(|since| terms.owed_on(cents(10_000), date(day), since).cents())
    };
    for (day, expected) in [
        ("2026-11-01", [10_000; 2]),
        ("2026-11-27", [10_000; 2]),
        ("2026-11-28", [10_203; 2]), // fine 200, interest 3.33
        ("2026-11-30", [10_210; 2]), // interest 10.00
        ("2026-12-27", [10_300; 2]),
    ] {
        assert_eq!(owed(&usual(), day), expected, "{day}");
    }
    for (day, expected) in [
        ("2026-11-21", [10_000; 2]),
        ("2026-11-23", [10_000; 2]),
        ("2026-11-24", [10_210, 10_203]), // three days since Saturday, one since Monday
        ("2026-11-25", [10_213, 10_207]),
    ] {
        assert_eq!(owed(&on_saturday(), day), expected, "{day}");
    }
}

#[test]
fn each_part_is_rounded_half_up_and_interest_as_a_whole() {
    for (amount, points, expected) in [(25, 200, 1), (24, 200, 0), (10_050, 250, 251), (1, 5_000, 1)] {
        assert_eq!(Portion::BasisPoints(points).of(cents(amount)), cents(expected), "{amount} {points}");
    }
    let interest = Interest::BasisPointsPerMonth(100);
    for (days, expected) in [(1, 3), (2, 7), (3, 10), (30, 100), (45, 150)] {
        assert_eq!(interest.of(cents(10_000), days), cents(expected), "{days} days");
    }
    assert_eq!(Interest::AmountPerDay(cents(10)).of(cents(10_000), 7), cents(70));
    assert_eq!(Portion::BasisPoints(2_000).of(Money::from_cents(u64::MAX)).cents(), u64::MAX / 5);
    assert_eq!(Interest::BasisPointsPerMonth(2_000).of(Money::MAX, u64::MAX).cents(), u64::MAX);
}

#[test]
fn the_first_discount_that_has_not_passed_applies_and_one_of_the_due_date_moves_with_it() {
    let terms = DueTerms {
        discounts: vec![
            discount("2026-11-15", Portion::Amount(cents(500))), // a Sunday
            discount("2026-11-21", Portion::Amount(cents(200))),
        ],
        ..on_saturday()
    };
    for (day, expected) in [
        ("2026-11-14", 9_500),
        ("2026-11-15", 9_500),
        ("2026-11-16", 9_800),
        ("2026-11-21", 9_800),
        ("2026-11-23", 9_800),
    ] {
        let owed = terms.owed_on(cents(10_000), date(day), InterestSince::DueDate);
        assert_eq!(owed, cents(expected), "{day}");
    }
    assert_eq!(terms.greatest_discount(cents(10_000)), cents(500));
}

#[test]
fn the_last_day_is_a_business_day_after_a_business_day() {
    let until = |due: &str, days| {
        let terms = DueTerms { payable_after_due_days: days, ..DueTerms::plain(date(due)) };
        terms.payable_until()
    };
    for (due, days, last) in [
        ("2026-11-21", 0, "2026-11-23"),
        ("2026-11-21", 1, "2026-11-24"),
        ("2026-11-21", 5, "2026-11-30"), // Monday, and five days are a Saturday
        ("2026-12-31", 0, "2027-01-04"),
        ("2026-11-27", 30, "2026-12-28"),
    ] {
        assert_eq!(until(due, days), date(last), "{due} + {days}");
    }
}

#[test]
fn what_came_is_right_within_the_rounding_of_either_count_and_for_the_business_day_before() {
    let amount = cents(10_000);
    for (terms, day, came, expected) in [
        (DueTerms::plain(date("2026-11-27")), "2026-11-27", 10_000, Paid::Right),
        (DueTerms::plain(date("2026-11-27")), "2026-11-27", 9_999, Paid::TooLittle),
        (DueTerms::plain(date("2026-11-27")), "2026-11-27", 10_001, Paid::TooMuch),
        (DueTerms::plain(date("2026-11-27")), "2026-12-10", 10_001, Paid::TooMuch),
        (usual(), "2026-11-27", 9_998, Paid::Right),
        (usual(), "2026-11-27", 9_997, Paid::TooLittle),
        (usual(), "2026-11-30", 10_210, Paid::Right),
        (usual(), "2026-11-30", 10_212, Paid::Right),
        (usual(), "2026-11-30", 10_213, Paid::TooMuch),
        (usual(), "2026-11-30", 10_000, Paid::Right), // paid on Friday after the bank's last hour
        (usual(), "2026-11-30", 10_100, Paid::TooLittle),
        (usual(), "2026-12-01", 10_000, Paid::TooLittle),
        (on_saturday(), "2026-11-25", 10_213, Paid::Right),
        (on_saturday(), "2026-11-25", 10_207, Paid::Right),
    ] {
        assert_eq!(terms.compare(amount, cents(came), date(day)), expected, "{day} {came}");
    }
}

#[test]
fn the_principal_leaves_out_fine_and_interest_and_the_discount_of_the_day() {
    let terms = DueTerms { discounts: vec![discount("2026-11-20", Portion::BasisPoints(1_000))], ..usual() };
    for (day, came, principal) in [
        ("2026-11-20", 9_000, 9_000),
        ("2026-11-20", 9_500, 9_000),
        ("2026-11-23", 9_000, 9_000),
        ("2026-11-27", 10_000, 10_000),
        ("2026-12-20", 10_277, 10_000),
    ] {
        let found = terms.principal_of(cents(10_000), cents(came), date(day));
        assert_eq!(found, cents(principal), "{day} {came}");
    }
}

fn any_terms() -> impl Strategy<Value = DueTerms> {
    let portion = prop_oneof![
        (1_u64..5_000).prop_map(|amount| Portion::Amount(cents(amount))),
        (1_u32..=2_000).prop_map(Portion::BasisPoints),
    ];
    let interest = prop_oneof![
        (1_u64..500).prop_map(|amount| Interest::AmountPerDay(cents(amount))),
        (1_u32..=2_000).prop_map(Interest::BasisPointsPerMonth),
    ];
    let early = (1_u64..20, 1_u32..9_999);
    let parts = (0_u64..800, 0_u16..=180, prop::option::of(portion), prop::option::of(interest));
    (parts, prop::option::of(early)).prop_map(|((offset, days, fine, interest), early)| {
        let due_date = date("2026-01-01") + Days::new(offset);
        let of = |(before, points)| Discount {
            until: due_date - Days::new(before),
            portion: Portion::BasisPoints(points),
        };
        let discounts = early.map(of).into_iter().collect();
        let instructions = Vec::new();
        DueTerms { due_date, payable_after_due_days: days, fine, interest, discounts, instructions }
    })
}

proptest! {
    #[test]
    fn after_the_due_date_what_is_owed_never_falls(
        terms in any_terms(), amount in 5_000_u64..1_000_000, late in 0_u64..200, more in 0_u64..50,
    ) {
        for since in [InterestSince::DueDate, InterestSince::MovedDueDate] {
            let day = terms.due_date + Days::new(late);
            let owed = |day| terms.owed_on(cents(amount), day, since);
            prop_assert!(owed(day) >= cents(amount));
            prop_assert!(owed(day + Days::new(more)) >= owed(day));
        }
    }

    #[test]
    fn before_the_due_date_it_is_at_most_the_amount_and_what_is_owed_is_right(
        terms in any_terms(), amount in 5_000_u64..1_000_000, early in 0_u64..40,
    ) {
        let day = terms.due_date - Days::new(early);
        let owed = terms.owed_on(cents(amount), day, InterestSince::DueDate);
        prop_assert!(owed <= cents(amount) && owed > Money::ZERO);
        prop_assert_eq!(terms.compare(cents(amount), owed, day), Paid::Right);
        prop_assert!(terms.payable_until() >= terms.moved_due_date());
        prop_assert!(business_day::is_business_day(terms.payable_until()));
    }

    #[test]
    fn stored_terms_are_read_back(terms in any_terms()) {
        let stored = serde_json::to_string(&terms).unwrap();
        prop_assert_eq!(serde_json::from_str::<DueTerms>(&stored).unwrap(), terms);
    }
}
