//! Routes of a world, as its merchants want them. The nodes receive them as a table, which the judge never reads.

mod judge;

use quita_domain::card::Brand;
use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::routing::{
    CostLine, Criteria, Criterion, Hours, Preference, Rate, RoutingTable, Rule, Standing, Then, Use,
};

use crate::chance::Chance;
use crate::orders::CARDS;

pub(crate) use self::judge::{Tries, check, is_tried_further};

/// Index of a bank.
pub(crate) type Place = usize;

/// Rules, costs and priorities that decide where payments go.
#[derive(Debug, Clone, Default)]
pub(crate) struct Routes {
    pub(crate) rules: Vec<Wish>,
    pub(crate) costs: Vec<Fee>,
    pub(crate) prefers_net: bool,
    pub(crate) is_sticky: bool,
    /// Priority of each bank; 1 for those without one.
    pub(crate) priorities: Vec<u32>,
    /// Bank that is not configured.
    pub(crate) absent: Option<Place>,
}

/// Rule of the routes.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) method: Option<Method>,
    pub(crate) brand: Option<Brand>,
    /// Range of the amount, both ends included.
    pub(crate) cents: Option<(u64, u64)>,
    /// Minutes of the day in Brasília, from the first to before the second. The range passes midnight if the second is
    /// not later.
    pub(crate) minutes: Option<(u16, u16)>,
    /// Banks with their shares.
    pub(crate) uses: Vec<(Place, u32)>,
    pub(crate) stops: bool,
    pub(crate) goes_further: bool,
}

/// Fee of a bank: basis points, and cents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fee {
    pub(crate) bank: Place,
    pub(crate) method: Option<Method>,
    pub(crate) basis_points: u64,
    pub(crate) fixed: u64,
}

impl Routes {
    /// Draws routes; in some worlds there are none.
    pub(crate) fn by(chance: &Chance, banks: usize) -> Self {
        if chance.per_mille(300) {
            return Self::default();
        }
        let count = |most| usize::try_from(chance.between(0, most)).unwrap();
        let mut rules: Vec<_> = (0..count(4)).map(|_| Wish::by(chance, banks)).collect();
        if chance.per_mille(500) {
            rules.push(Wish { goes_further: true, ..Wish::everything() });
        }
        Self {
            rules,
            costs: (0..count(4)).map(|_| Fee::by(chance, banks)).collect(),
            prefers_net: chance.per_mille(400),
            is_sticky: chance.per_mille(300),
            priorities: (0..banks).map(|_| u32::try_from(chance.between(1, 2)).unwrap()).collect(),
            absent: None,
        }
    }

    /// Draws other routes, which count tries of cards if and only if these do.
    pub(crate) fn others(&self, chance: &Chance, banks: usize) -> Self {
        let mut others = Self::by(chance, banks);
        if self.counts_tries() && !others.counts_tries() {
            others.rules.push(Wish { goes_further: true, ..Wish::everything() });
        }
        if !self.counts_tries() {
            others.rules.iter_mut().for_each(|wish| wish.goes_further = false);
        }
        others
    }

    /// Returns the same routes without this bank. Rules that name it alone are removed.
    pub(crate) fn without(&self, bank: Place) -> Self {
        let mut routes = Self { absent: Some(bank), ..self.clone() };
        routes.rules.retain(|wish| wish.uses.is_empty() || wish.uses.iter().any(|(used, _)| *used != bank));
        routes.rules.iter_mut().for_each(|wish| wish.uses.retain(|(used, _)| *used != bank));
        routes.costs.retain(|fee| fee.bank != bank);
        if self.counts_tries() && !routes.counts_tries() {
            routes.rules.push(Wish { goes_further: true, ..Wish::everything() });
        }
        routes
    }

    /// Returns the banks that are configured, out of this many.
    pub(crate) fn configured(&self, banks: usize) -> impl Iterator<Item = Place> + use<> {
        let absent = self.absent;
        (0..banks).filter(move |bank| Some(*bank) != absent)
    }

    /// Returns one rule for everything, which sends declined payments to a further bank.
    pub(crate) fn further() -> Self {
        Self { rules: vec![Wish { goes_further: true, ..Wish::everything() }], ..Self::default() }
    }

    /// Returns true if tries of a card are counted.
    pub(crate) fn counts_tries(&self) -> bool {
        self.rules.iter().any(|wish| wish.goes_further)
    }

    /// Returns the routes as the nodes receive them.
    pub(crate) fn table(&self, names: &[AcquirerName]) -> RoutingTable {
        let standing = |priority: &u32| Standing { priority: *priority, weight: 1 };
        let rules = self.rules.iter().enumerate();
        RoutingTable {
            rules: rules.map(|(place, wish)| wish.rule(name_of(place), names)).collect(),
            costs: self.costs.iter().map(|fee| fee.line(names)).collect(),
            prefer: if self.prefers_net { Preference::Net } else { Preference::Priority },
            sticky: self.is_sticky,
            standings: self
                .configured(names.len())
                .filter_map(|bank| Some((names[bank].clone(), standing(self.priorities.get(bank)?))))
                .collect(),
        }
    }
}

/// Returns the name of the rule at this place.
pub(crate) fn name_of(place: usize) -> String {
    format!("rule {place}")
}

impl Wish {
    fn everything() -> Self {
        Self {
            method: None,
            brand: None,
            cents: None,
            minutes: None,
            uses: Vec::new(),
            stops: false,
            goes_further: false,
        }
    }

    fn by(chance: &Chance, banks: usize) -> Self {
        let minutes = |least| u16::try_from(chance.between(least, 1_439)).unwrap();
        let from = minutes(0);
        let length = minutes(1);
        let method = chance
            .per_mille(600)
            .then(|| chance.pick(&[Method::Pix, Method::Boleto, Method::CreditCard, Method::CreditCard]));
        let may_be_card = method.is_none_or(|method| method == Method::CreditCard);
        let mut uses = Vec::new();
        for bank in 0..banks {
            if chance.per_mille(500) {
                uses.push((bank, u32::try_from(chance.between(0, 3)).unwrap()));
            }
        }
        let least = chance.between(1, 10_000);
        Self {
            method,
            brand: (may_be_card && chance.per_mille(250)).then(|| chance.pick(&CARDS).0),
            cents: chance.per_mille(300).then(|| (least, chance.between(least, 10_000))),
            minutes: chance.per_mille(200).then(|| (from, (from + length) % 1_440)),
            stops: chance.per_mille(300),
            goes_further: chance.per_mille(600),
            uses,
        }
    }

    fn rule(&self, name: String, names: &[AcquirerName]) -> Rule {
        let criteria = [
            self.method.map(|method| Criterion::Method(vec![method])),
            self.brand.map(|brand| Criterion::Brand(vec![brand])),
            self.cents
                .map(|(least, most)| Criterion::Amount(Money::from_cents(least), Money::from_cents(most))),
            self.minutes.map(|(from, to)| Criterion::Hours(hours(from, to))),
        ];
        let named = |(bank, weight): &(Place, u32)| Use { acquirer: names[*bank].clone(), weight: *weight };
        Rule {
            name,
            when: Criteria::new(criteria.into_iter().flatten().collect()),
            uses: self.uses.iter().map(named).collect(),
            then: if self.stops { Then::Stop } else { Then::Next },
            retry_declines: self.goes_further,
        }
    }
}

fn hours(from: u16, to: u16) -> Hours {
    let text = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
    Hours::parse(&format!("{}-{}", text(from), text(to))).unwrap()
}

impl Fee {
    fn by(chance: &Chance, banks: usize) -> Self {
        Self {
            bank: usize::try_from(chance.between(0, banks as u64 - 1)).unwrap(),
            method: chance.per_mille(500).then(|| chance.pick(&Method::ALL)),
            basis_points: chance.between(0, 500),
            fixed: chance.between(0, 60),
        }
    }

    fn line(&self, names: &[AcquirerName]) -> CostLine {
        let rate = format!("{}.{:02}%", self.basis_points / 100, self.basis_points % 100);
        CostLine {
            acquirer: names[self.bank].clone(),
            when: Criteria::new(
                self.method.map(|method| Criterion::Method(vec![method])).into_iter().collect(),
            ),
            rate: Rate::parse(&rate).unwrap(),
            fixed: Money::from_cents(self.fixed),
        }
    }
}
