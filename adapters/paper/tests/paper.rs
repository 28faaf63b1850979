//! Reads back what is drawn with programs of others: zbarimg for codes, pdftoppm and pdftotext for the PDF.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::Path;
use std::process::Command;

use chrono::NaiveDate;
use quita_paper::boleto_pdf::boleto_pdf;
use quita_paper::itf::ItfBarcode;
use quita_paper::qr::QrImage;
use quita_paper::slip::{BoletoSlip, Party};
use tempfile::TempDir;

const DIGITS: &str = "34193164700000100001090000000160057123457000";
const PIX_CODE: &str = "00020101021226870014br.gov.bcb.pix2565qrcode.exemplo.com.br/v2/9d36b84fc70b478fb95c12729b90ca25\
                        5204000053039865802BR5922Padaria e Cafe Estrela6009SAO PAULO62070503***63041D3D";

fn day(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).unwrap()
}

fn slip() -> BoletoSlip {
    BoletoSlip {
        bank_code: "341-7".to_owned(),
        bank_name: "Banco Itaú S.A.".to_owned(),
        line_formatted: "34191.09008 00000.016003 57123.457000 3 16470000010000".to_owned(),
        barcode: ItfBarcode::from_digits(DIGITS).unwrap(),
        beneficiary: Party {
            name: "Padaria e Confeitaria Estrela da Manhã Ltda.".to_owned(),
            document_formatted: "CNPJ 12.345.678/0001-95".to_owned(),
            address: vec!["Rua das Laranjeiras, 100 – Centro – São Paulo/SP – 01234-567".to_owned()],
        },
        agency_and_account: "0057 / 12345-7".to_owned(),
        our_number: "109/00000001-6".to_owned(),
        document_number: "2026-000123".to_owned(),
        document_kind: "DM".to_owned(),
        document_date: day(2026, 11, 21),
        processing_date: day(2026, 11, 21),
        due_date: day(2026, 12, 1),
        portfolio: "109".to_owned(),
        amount_cents: 10_000,
        payment_place: "Pagável em qualquer banco até o vencimento".to_owned(),
        terms: Vec::new(),
        pix_code: None,
        instructions: vec![
            "Não receber após 31/12/2026.".to_owned(),
            "Após 01/12/2026, cobrar multa de R$ 2,00 e juros de R$ 0,03 por dia. Dúvidas sobre a compra: fale com a loja \
             pelo telefone (11) 4002-8922, de segunda a sexta, das 9h às 18h."
                .to_owned(),
        ],
        payer: Party {
            name: "João Antônio da Conceição Gonçalves".to_owned(),
            document_formatted: "CPF 123.456.789-09".to_owned(),
            address: vec![
                "Avenida Brigadeiro Luís Antônio, 2000, apto. 42 – Jardim Paulista".to_owned(),
                "São Paulo/SP – 01318-002".to_owned(),
            ],
        },
        is_test: false,
    }
}

/// Runs a program of the system and gives its output; says which package brings it if it is missing.
fn run(program: &str, package: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{program} does not run ({error}): install the package {package}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?} failed: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn written(folder: &TempDir, name: &str, bytes: &[u8]) -> String {
    // QUITA_KEEP_PAPER names a folder in which the files stay, to be looked at.
    let kept = std::env::var_os("QUITA_KEEP_PAPER").map(std::path::PathBuf::from);
    let path = kept.unwrap_or_else(|| folder.path().to_owned()).join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

fn picture_of(pdf: &str) -> String {
    picture_at(200, pdf)
}

fn picture_at(dots: u32, pdf: &str) -> String {
    let stem = Path::new(pdf).with_extension("");
    let stem = stem.to_str().unwrap();
    run("pdftoppm", "poppler-utils", &["-r", &dots.to_string(), "-png", "-singlefile", pdf, stem]);
    format!("{stem}.png")
}

fn barcodes_in(picture: &str) -> Vec<String> {
    let arguments = ["--quiet", "--raw", "--set", "*.enable=0", "--set", "i25.enable=1", picture];
    run("zbarimg", "zbar-tools", &arguments).lines().map(str::to_owned).collect()
}

#[test]
fn a_reader_finds_the_pix_code_in_the_png() {
    let folder = TempDir::new().unwrap();
    let picture = written(&folder, "qr.png", &QrImage::new(PIX_CODE).unwrap().png().unwrap());
    assert_eq!(run("zbarimg", "zbar-tools", &["--quiet", "--raw", &picture]).trim_end(), PIX_CODE);
}

#[test]
fn a_reader_finds_the_same_digits_on_both_parts_of_the_slip() {
    let folder = TempDir::new().unwrap();
    let pdf = written(&folder, "boleto.pdf", &boleto_pdf(&slip()));
    let found = barcodes_in(&picture_of(&pdf));
    assert!(!found.is_empty() && found.iter().all(|digits| digits == DIGITS), "{found:?}");
}

#[test]
fn a_reader_finds_both_codes_at_150_dots_an_inch() {
    let folder = TempDir::new().unwrap();
    let with_code = BoletoSlip { pix_code: Some(PIX_CODE.to_owned()), ..slip() };
    let pdf = written(&folder, "both.pdf", &boleto_pdf(&with_code));
    let picture = picture_at(150, &pdf);
    assert!(barcodes_in(&picture).iter().any(|digits| digits == DIGITS));
    let qr = ["--quiet", "--raw", "--set", "*.enable=0", "--set", "qr.enable=1", &picture];
    assert_eq!(run("zbarimg", "zbar-tools", &qr).trim_end(), PIX_CODE);
}

#[test]
fn terms_and_instructions_are_on_both_parts_and_all_of_them_on_the_receipt() {
    let folder = TempDir::new().unwrap();
    let texts = |word: &str, count: u32| (1..=count).map(|number| format!("{word} {number} x")).collect();
    let full = BoletoSlip { terms: texts("Termo", 2), instructions: texts("Frase", 7), ..slip() };
    let pdf = written(&folder, "terms.pdf", &boleto_pdf(&full));
    let text = run("pdftotext", "poppler-utils", &["-layout", &pdf, "-"]);
    let count = |part: &str| text.matches(part).count();
    assert_eq!(["Termo 1 x", "Termo 2 x", "Frase 5 x"].map(count), [2, 2, 2], "{text}");
    assert_eq!(["Frase 6 x", "Frase 7 x"].map(count), [1, 1], "{text}");
    assert_eq!(text.matches('\u{c}').count(), 1, "one page");
}

#[test]
fn the_slip_is_one_page_and_says_in_portuguese_what_is_due() {
    let folder = TempDir::new().unwrap();
    let pdf = written(&folder, "boleto.pdf", &boleto_pdf(&slip()));
    let text = run("pdftotext", "poppler-utils", &["-layout", &pdf, "-"]);
    assert_eq!(text.matches('\u{c}').count(), 1, "one page");
    for part in [
        "Recibo do pagador",
        "Ficha de compensação",
        "01/12/2026",
        "21/11/2026",
        "R$ 100,00",
        "341-7",
        "34191.09008 00000.016003 57123.457000 3 16470000010000",
        "109/00000001-6",
        "0057 / 12345-7",
        "Padaria e Confeitaria Estrela da Manhã Ltda.",
        "CNPJ 12.345.678/0001-95",
        "João Antônio da Conceição Gonçalves",
        "Não receber após 31/12/2026.",
        "(=) Valor cobrado",
    ] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert!(!text.contains("SEM VALOR"));
}

#[test]
fn texts_without_end_stay_on_the_page_and_leave_the_bar_code_readable() {
    let folder = TempDir::new().unwrap();
    let endless = "Ünïcode Łódź 日本 ".repeat(40);
    let party = || Party {
        name: endless.clone(),
        document_formatted: endless.clone(),
        address: vec![endless.clone(), endless.clone(), endless.clone()],
    };
    let crowded = BoletoSlip {
        bank_name: endless.clone(),
        our_number: endless.clone(),
        payment_place: endless.clone(),
        amount_cents: 9_999_999_999,
        terms: Vec::new(),
        pix_code: None,
        instructions: vec![endless.clone(); 20],
        beneficiary: party(),
        payer: party(),
        is_test: true,
        ..slip()
    };
    let pdf = written(&folder, "crowded.pdf", &boleto_pdf(&crowded));
    let boxes = run("pdftotext", "poppler-utils", &["-bbox", &pdf, "-"]);
    let right_edges = boxes.split("xMax=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let furthest = right_edges.map(|edge| edge.parse::<f64>().unwrap()).fold(0.0, f64::max);
    // 200 mm, the right edge of the frame, is 567 points.
    assert!(furthest > 400.0 && furthest < 567.0, "{furthest}");
    assert!(boxes.contains("SEM</word>"), "a test slip says so");
    let found = barcodes_in(&picture_of(&pdf));
    assert!(!found.is_empty() && found.iter().all(|digits| digits == DIGITS), "{found:?}");
}
