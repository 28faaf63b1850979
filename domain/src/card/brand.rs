//! The brand of a card and the table of its prefixes.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::text::is_digits;

/// A card brand that is accepted in Brazil. Serialized in lower case: `visa`, `mastercard`, `elo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Brand {
    /// Elo; its prefixes overlap those of Visa, Discover and Aura.
    Elo,
    /// Hipercard.
    Hipercard,
    /// Hiper.
    Hiper,
    /// American Express.
    Amex,
    /// Diners Club.
    Diners,
    /// Discover.
    Discover,
    /// JCB.
    Jcb,
    /// Mastercard.
    Mastercard,
    /// Aura.
    Aura,
    /// Visa.
    Visa,
}

impl Brand {
    /// All brands, in the order in which prefixes are tested.
    pub const ALL: [Self; 10] = [
        Self::Elo,
        Self::Hipercard,
        Self::Hiper,
        Self::Amex,
        Self::Diners,
        Self::Discover,
        Self::Jcb,
        Self::Mastercard,
        Self::Aura,
        Self::Visa,
    ];

    /// Returns the brand whose prefix these digits have, regardless of their count and check digit.
    pub fn of(digits: &str) -> Option<Self> {
        if !is_digits(digits) {
            return None;
        }
        Self::ALL.into_iter().find(|brand| brand.prefixes().iter().any(|prefix| prefix.begins(digits)))
    }

    /// Returns the lower-case name used in records: `mastercard`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Elo => "elo",
            Self::Hipercard => "hipercard",
            Self::Hiper => "hiper",
            Self::Amex => "amex",
            Self::Diners => "diners",
            Self::Discover => "discover",
            Self::Jcb => "jcb",
            Self::Mastercard => "mastercard",
            Self::Aura => "aura",
            Self::Visa => "visa",
        }
    }

    /// Returns the number of digits of the security code.
    pub const fn cvv_length(self) -> usize {
        match self {
            Self::Amex => 4,
            Self::Elo
            | Self::Hipercard
            | Self::Hiper
            | Self::Diners
            | Self::Discover
            | Self::Jcb
            | Self::Mastercard
            | Self::Aura
            | Self::Visa => 3,
        }
    }

    /// Returns the numbers of digits that this brand's cards may have.
    pub const fn lengths(self) -> &'static [usize] {
        match self {
            Self::Elo | Self::Hipercard | Self::Hiper | Self::Mastercard => &[16],
            Self::Amex => &[15],
            Self::Diners => &[14],
            Self::Discover => &[16, 19],
            Self::Jcb | Self::Aura => &[16, 17, 18, 19],
            Self::Visa => &[13, 16, 18, 19],
        }
    }

    /// Returns the name by which payers know it: `Diners Club`.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Elo => "Elo",
            Self::Hipercard => "Hipercard",
            Self::Hiper => "Hiper",
            Self::Amex => "American Express",
            Self::Diners => "Diners Club",
            Self::Discover => "Discover",
            Self::Jcb => "JCB",
            Self::Mastercard => "Mastercard",
            Self::Aura => "Aura",
            Self::Visa => "Visa",
        }
    }

    /// Returns the ranges of its prefixes: the first and the last one, of the same length. A prefix counts for the first
    /// brand of [`Self::ALL`] that has it.
    pub fn prefix_ranges(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.prefixes().iter().map(|prefix| (prefix.0, prefix.1))
    }

    /// Returns true if a number of this brand may begin with these digits, according to its own prefixes.
    pub(crate) fn may_begin_with(self, digits: &str) -> bool {
        self.prefixes().iter().any(|prefix| prefix.may_begin(digits))
    }

    /// Returns the lengths that numbers beginning with these three digits may have, as bits, by a table.
    pub(super) fn lengths_after(head: u16) -> u32 {
        static LENGTHS: LazyLock<Vec<u32>> = LazyLock::new(|| {
            let lengths = |head: u16| {
                let head = format!("{head:03}");
                let brands = Brand::ALL.into_iter().filter(|brand| brand.may_begin_with(&head));
                brands.flat_map(Brand::lengths).fold(0, |bits, length| bits | 1 << length)
            };
            (0..1_000).map(lengths).collect()
        });
        LENGTHS.get(usize::from(head)).copied().unwrap_or_default()
    }

    const fn prefixes(self) -> &'static [Prefix] {
        match self {
            Self::Elo => ELO,
            Self::Hipercard => &[Prefix("606282", "606282")],
            Self::Hiper => HIPER,
            Self::Amex => &[Prefix("34", "34"), Prefix("37", "37")],
            Self::Diners => &[Prefix("300", "305"), Prefix("36", "36"), Prefix("38", "39")],
            Self::Discover => &[Prefix("6011", "6011"), Prefix("644", "649"), Prefix("65", "65")],
            Self::Jcb => &[Prefix("3528", "3589")],
            Self::Mastercard => &[Prefix("51", "55"), Prefix("2221", "2720")],
            Self::Aura => &[Prefix("50", "50")],
            Self::Visa => &[Prefix("4", "4")],
        }
    }
}

/// First and last prefix of a range, of the same length.
struct Prefix(&'static str, &'static str);

impl Prefix {
    /// Returns true if the digits begin with a prefix of the range.
    fn begins(&self, digits: &str) -> bool {
        // Digit strings of equal length compare like numbers.
        digits.get(..self.0.len()).is_some_and(|head| (self.0..=self.1).contains(&head))
    }

    /// Returns true if some number of the range begins with these digits.
    fn may_begin(&self, digits: &str) -> bool {
        let length = digits.len().min(self.0.len());
        let head = |text: &'static str| text.get(..length).unwrap_or_default();
        digits.get(..length).is_some_and(|digits| (head(self.0)..=head(self.1)).contains(&digits))
    }
}

const ELO: &[Prefix] = &[
    Prefix("401178", "401179"),
    Prefix("431274", "431274"),
    Prefix("438935", "438935"),
    Prefix("451416", "451416"),
    Prefix("457393", "457393"),
    Prefix("457631", "457632"),
    Prefix("504175", "504175"),
    Prefix("506699", "506778"),
    Prefix("509000", "509999"),
    Prefix("627780", "627780"),
    Prefix("636297", "636297"),
    Prefix("636368", "636368"),
    Prefix("650031", "650033"),
    Prefix("650035", "650051"),
    Prefix("650405", "650439"),
    Prefix("650485", "650538"),
    Prefix("650541", "650598"),
    Prefix("650700", "650718"),
    Prefix("650720", "650727"),
    Prefix("650901", "650978"),
    Prefix("651652", "651679"),
    Prefix("655000", "655019"),
    Prefix("655021", "655058"),
];

const HIPER: &[Prefix] = &[
    Prefix("637095", "637095"),
    Prefix("637568", "637568"),
    Prefix("637599", "637599"),
    Prefix("637609", "637609"),
    Prefix("637612", "637612"),
    Prefix("63737423", "63737423"),
    Prefix("63743358", "63743358"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_a_range_belong_to_another_brand() {
        for (digits, brand) in [
            ("401177", Some(Brand::Visa)),
            ("401178", Some(Brand::Elo)),
            ("401180", Some(Brand::Visa)),
            ("506698", Some(Brand::Aura)),
            ("506778", Some(Brand::Elo)),
            ("506779", Some(Brand::Aura)),
            ("650034", Some(Brand::Discover)),
            ("650719", Some(Brand::Discover)),
            ("650720", Some(Brand::Elo)),
            ("650979", Some(Brand::Discover)),
            ("655020", Some(Brand::Discover)),
            ("2220", None),
            ("2221", Some(Brand::Mastercard)),
            ("2720", Some(Brand::Mastercard)),
            ("2721", None),
            ("3527", None),
            ("3528", Some(Brand::Jcb)),
            ("63737422", None),
            ("63737423", Some(Brand::Hiper)),
            ("306", None),
            ("", None),
            ("4a", None),
        ] {
            assert_eq!(Brand::of(digits), brand, "{digits}");
        }
    }

    #[test]
    fn the_table_of_lengths_passes_every_number_of_a_brand_and_no_others_by_their_head() {
        for brand in Brand::ALL {
            for Prefix(first, last) in brand.prefixes() {
                for head in
                    [first, last].map(|prefix| format!("{prefix:0<3}").chars().take(3).collect::<String>())
                {
                    let bits = Brand::lengths_after(head.parse().unwrap());
                    assert!(brand.lengths().iter().all(|length| bits >> length & 1 == 1), "{head}");
                }
            }
        }
        for (head, length) in [(424, 14), (424, 17), (606, 15), (888, 16), (340, 16), (0, 16)] {
            assert_eq!(Brand::lengths_after(head) >> length & 1, 0, "{head} {length}");
        }
    }

    #[test]
    fn elo_has_as_many_prefixes_of_six_digits_as_its_list() {
        let size = |prefix: &Prefix| prefix.1.parse::<u32>().unwrap() - prefix.0.parse::<u32>().unwrap() + 1;
        assert_eq!(ELO.iter().map(size).sum::<u32>(), 1450);
    }

    #[test]
    fn the_serialized_name_is_the_one_of_records() {
        for brand in Brand::ALL {
            assert_eq!(serde_json::to_value(brand).unwrap(), brand.as_str());
        }
    }
}
