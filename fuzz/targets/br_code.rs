//! BR Codes: any text, any objects under a valid checksum, and codes that we write.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use quita_domain::pix::br_code::{BrCode, DynamicBrCode, MAX_LENGTH, StaticBrCode};
use quita_domain::pix::crc16;
use quita_domain::pix::key::PixKey;
use quita_domain::pix::txid::StaticTxid;
use quita_domain::postal::Cep;
use quita_domain::text::fold_ascii;
use quita_fuzz::{split, text, with_one_changed};

fuzz_target!(|data: &[u8]| {
    let (choice, rest) = split(data);
    match choice % 3 {
        0 => read(&text(rest), rest),
        1 => {
            let _ended: Result<()> = objects(&mut Unstructured::new(rest));
        }
        _ => {
            let _ended: Result<()> = written(&mut Unstructured::new(rest));
        }
    }
});

/// Checks that a code that is read can be written, and is read back as the same. One changed character is detected.
fn read(payload: &str, noise: &[u8]) {
    let Ok(code) = BrCode::parse(payload) else { return };
    assert!(payload.chars().count() <= MAX_LENGTH);
    match &code {
        BrCode::Static(code) => {
            let is_plain = |name: &str, max| !name.is_empty() && fold_ascii(name, max) == name;
            let has_plain_info = code.info.as_ref().is_none_or(|info| is_plain(info, code.info_room()));
            let is_plain = is_plain(&code.merchant_name, 25) && is_plain(&code.merchant_city, 15);
            if is_plain && has_plain_info && code.amount_cents != Some(0) {
                let written = code.build().expect("what was read can be written");
                assert_eq!(BrCode::parse(&written), Ok(BrCode::Static(code.clone())));
            }
        }
        BrCode::Dynamic(code) => {
            if let Ok(written) = code.build() {
                let Ok(BrCode::Dynamic(again)) = BrCode::parse(&written) else { panic!("{written}") };
                assert_eq!(again.url, code.url);
            }
        }
        BrCode::Recurrence(_) => {}
    }
    for pair in noise.chunks_exact(2).take(8) {
        let [place, character] = pair else { continue };
        if let Some(changed) = with_one_changed(payload, usize::from(*place) * 2, character & 0x7f) {
            // A checksum in lower case is the same checksum.
            let end = payload.len() - 4;
            let is_the_same =
                changed.get(..end) == payload.get(..end) && changed.eq_ignore_ascii_case(payload);
            assert_eq!(BrCode::parse(&changed).is_ok(), is_the_same, "{payload} was changed to {changed}");
        }
    }
}

/// Checks a code with relevant ids, mostly correct lengths, and a valid checksum.
fn objects(input: &mut Unstructured<'_>) -> Result<()> {
    let mut payload = String::from("000201");
    for _ in 0..input.int_in_range(0..=12_u8)? {
        push(&mut payload, input, 0)?;
    }
    payload.push_str("6304");
    let checksum = crc16::checksum_text(&payload);
    payload.push_str(&checksum);
    let noise = input.bytes(input.len().min(16))?;
    read(&payload, noise);
    Ok(())
}

const IDS: [&str; 18] = [
    "01", "26", "51", "52", "53", "54", "58", "59", "60", "61", "62", "63", "80", "25", "02", "05", "00",
    "99",
];

const VALUES: [&str; 12] = [
    "br.gov.bcb.pix",
    "BR.GOV.BCB.PIX",
    "986",
    "BR",
    "0000",
    "12",
    "***",
    "1.00",
    "A",
    "pix.example.com/8b3da2f39a41",
    "123e4567-e12b-12d1-a456-426655440000",
    "+5511987654321",
];

fn push(payload: &mut String, input: &mut Unstructured<'_>, depth: u8) -> Result<()> {
    let id = *input.choose(&IDS)?;
    let mut value = String::new();
    match input.int_in_range(0..=3_u8)? {
        0 => value.extend(input.arbitrary::<&str>()?.chars().take(40)),
        1 if depth == 0 => {
            for _ in 0..input.int_in_range(0..=4_u8)? {
                push(&mut value, input, 1)?;
            }
        }
        _ => value.push_str(input.choose(&VALUES)?),
    }
    let length = if input.ratio(15, 16)? { value.chars().count() } else { value.len() };
    if length <= 99 {
        payload.push_str(&format!("{id}{length:02}{value}"));
    }
    Ok(())
}

/// Checks codes that we write: names of any text, each part present or absent.
fn written(input: &mut Unstructured<'_>) -> Result<()> {
    let keys = ["11144477735", "12ABC34501DE35", "+5511987654321", "fulano+pix@example.com"];
    let key = PixKey::parse(input.choose(&keys)?).expect("a key");
    let name = input.arbitrary::<String>()?;
    let city = input.arbitrary::<String>()?;
    let info: Option<String> = input.arbitrary()?;
    let amount_cents: Option<u64> = input.arbitrary()?;
    let txid = input.arbitrary::<Option<&str>>()?.and_then(|txid| StaticTxid::parse(txid).ok());
    let postal_code = input.arbitrary::<Option<u32>>()?.map(|cep| format!("{:08}", cep % 100_000_000));
    let postal_code = postal_code.map(|cep| Cep::parse(&cep).expect("eight digits"));
    let base = StaticBrCode::new(key, name.clone(), city.clone());
    let code = StaticBrCode { amount_cents, txid, info, postal_code, ..base };
    if let Ok(payload) = code.build() {
        let Ok(BrCode::Static(again)) = BrCode::parse(&payload) else { panic!("{payload} is not read") };
        assert_eq!((&again.key, again.amount_cents, &again.txid), (&code.key, code.amount_cents, &code.txid));
        assert_eq!(again.merchant_name, fold_ascii(&name, 25));
        assert_eq!(again.merchant_city, fold_ascii(&city, 15));
        assert_eq!(again.postal_code, code.postal_code);
        read(&payload, input.bytes(input.len().min(16))?);
    }
    let code = DynamicBrCode::new(input.arbitrary::<String>()?, name, city);
    if let Ok(payload) = code.build() {
        let Ok(BrCode::Dynamic(again)) = BrCode::parse(&payload) else { panic!("{payload} is not read") };
        assert_eq!(again.url, code.url);
    }
    Ok(())
}
