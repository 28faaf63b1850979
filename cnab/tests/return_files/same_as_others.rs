//! Every sample reads as an independent library read it; `tests/files/README.md` says which of its fields are which.

use std::fs;

use chrono::NaiveDate;
use quita_cnab::{Kind, Layout, Line};
use quita_domain::money::Money;
use serde_json::Value;

use crate::files::{Whole, path, read, sample, samples};

/// Event as the other library reads it.
struct Judged<'a>(&'a Value);

impl Judged<'_> {
    fn text(&self, field: &str) -> Option<String> {
        self.0.get(field).map(|value| value.as_str().unwrap().to_owned())
    }

    fn date(&self, field: &str) -> Option<NaiveDate> {
        self.text(field).map(|text| NaiveDate::parse_from_str(&text, "%d/%m/%Y").unwrap())
    }

    /// It writes amounts as `"3.24"`, `5` or `0`.
    fn money(&self, field: &str) -> Money {
        let text = self.0.get(field).map_or("0".into(), |value| value.to_string().replace('"', ""));
        let (reais, cents) = text.split_once('.').unwrap_or((&text, "00"));
        assert_eq!(cents.len(), 2, "{text}");
        Money::from_cents(format!("{reais}{cents}").parse().unwrap())
    }

    fn kind(&self) -> Kind {
        match self.0["ocorrenciaTipo"].as_u64().unwrap() {
            1 => Kind::Settled,
            2 => Kind::WrittenOff,
            3 => Kind::Registered,
            6 => Kind::Other,
            other => panic!("type {other}"),
        }
    }

    /// As a line, at the place where this one stands.
    fn line(&self, number: u64, is_itaus_400: bool) -> Line {
        let fine = if is_itaus_400 { Money::ZERO } else { self.money("valorMulta") };
        Line {
            number,
            our_number: self.text("nossoNumero"),
            document_number: self.text("numeroDocumento"),
            occurrence: self.text("ocorrencia").unwrap(),
            kind: self.kind(),
            occurred_on: self.date("dataOcorrencia"),
            due_on: self.date("dataVencimento"),
            credited_on: self.date("dataCredito"),
            amount: self.money("valor"),
            received: self.money("valorRecebido"),
            fee: self.money("valorTarifa"),
            interest: self.money("valorMora").plus(fine),
            discount: self.money("valorDesconto"),
        }
    }
}

#[test]
fn every_sample_reads_as_an_independent_library_read_it() {
    let names = samples();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let judged: Value =
            serde_json::from_slice(&fs::read(path(&format!("{name}.json"))).unwrap()).unwrap();
        let Whole { bank, layout, lines } =
            read(&sample(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(bank.to_string(), judged["bank"], "{name}");
        assert!(name.starts_with(layout.as_str()), "{name}");
        let is_itaus_400 = layout == Layout::Cnab400 && bank.to_string() == "341";
        // Details follow the header, or that and the lot's header, two records each.
        let (first, step) = if layout == Layout::Cnab400 { (2, 1) } else { (3, 2) };
        let details = judged["details"].as_array().unwrap().iter().enumerate();
        let expected: Vec<_> = details
            .map(|(index, detail)| Judged(detail).line(first + step * index as u64, is_itaus_400))
            .collect();
        assert_eq!(lines, expected, "{name}");
    }
}
