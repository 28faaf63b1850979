use super::*;
use crate::document::DocumentType;

#[test]
fn a_day_begins_at_midnight_in_brasilia() {
    let merchant = MerchantId::new("loja");
    let metadata = BTreeMap::new();
    let payer = Document::parse("11144477735", DocumentType::Cpf).unwrap();
    let order = OrderInputs {
        method: Method::Pix,
        amount: Money::from_cents(500),
        terms: &Terms::Pix { expires_in_s: 3_600 },
        payer: &payer,
        metadata: &metadata,
    };
    for (at, weekday, minute) in [
        ("2026-12-01T02:59:59.999Z", Weekday::Mon, 1_439),
        ("2026-12-01T03:00:00.000Z", Weekday::Tue, 0),
        ("2027-01-01T02:59:59.999Z", Weekday::Thu, 1_439),
    ] {
        let at = Timestamp::parse(at).unwrap();
        let inputs = RouteInputs::with(order, &merchant, at);
        assert_eq!((inputs.weekday, inputs.minute), (weekday, minute), "{at:?}");
    }
}
