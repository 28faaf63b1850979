//! Writes the payer's pages and their files into a folder, to be looked at: `cargo run --example pages -- FOLDER`.
#![allow(dead_code, reason = "the service uses what this example does not")]

#[path = "../src/http"]
mod http {
    pub(crate) mod pages;
}

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use askama::Template;
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use http::pages::assets;
use http::pages::boleto_page::{BoletoPage, PartyView};
use http::pages::pix_page::PixPage;
use quita_adapters::paper::itf::ItfBarcode;
use quita_adapters::paper::qr::QrImage;
use quita_domain::status::Status;

const BARCODE: &str = "34193164700000100001090000000160057123457000";
const PIX_CODE: &str = "00020101021226870014br.gov.bcb.pix2565qrcode.exemplo.com.br/v2/9d36b84fc70b478fb95c12729b90ca25\
                        5204000053039865802BR5922Padaria e Cafe Estrela6009SAO PAULO62070503***63041D3D";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: pages FOLDER")?);
    for name in ["assets", "pix", "boletos"] {
        fs::create_dir_all(folder.join(name))?;
    }
    for asset in assets::ALL {
        fs::write(folder.join("assets").join(asset.name), asset.body)?;
    }
    for status in Status::ALL {
        write_pix(&folder, status)?;
        write_boleto(&folder, status)?;
    }
    Ok(())
}

fn write_pix(folder: &Path, status: Status) -> Result<(), Box<dyn Error>> {
    let now: DateTime<Utc> = "2026-11-21T18:00:00Z".parse()?;
    let page = PixPage {
        path: format!("/pix/{}", status.as_str()),
        merchant_name: "Padaria e Confeitaria Estrela da Manhã".to_owned(),
        amount_cents: 123_456,
        code: Some(PIX_CODE.to_owned()),
        expires_at: now + TimeDelta::minutes(59),
        now,
        status,
        is_test: status == Status::Expired,
    };
    fs::write(folder.join(format!("pix/{}.html", status.as_str())), page.render()?)?;
    fs::write(folder.join(format!("pix/{}.svg", status.as_str())), QrImage::new(PIX_CODE)?.svg())?;
    Ok(())
}

fn write_boleto(folder: &Path, status: Status) -> Result<(), Box<dyn Error>> {
    let page = BoletoPage {
        path: format!("/boletos/{}", status.as_str()),
        bank: "Banco Itaú S.A. (341-7)".to_owned(),
        line_formatted: "34191.09008 00000.016003 57123.457000 3 16470000010000".to_owned(),
        barcode: ItfBarcode::from_digits(BARCODE)?,
        amount_cents: 10_000,
        due_date: NaiveDate::from_ymd_opt(2026, 12, 1).ok_or("no such day")?,
        our_number: "109/00000001-6".to_owned(),
        document_number: "2026-000123".to_owned(),
        beneficiary: PartyView {
            name: "Padaria e Confeitaria Estrela da Manhã Ltda.".to_owned(),
            document_formatted: "CNPJ 12.345.678/0001-95".to_owned(),
            address: vec![
                "Rua das Laranjeiras, 100 – Centro".to_owned(),
                "São Paulo/SP – 01234-567".to_owned(),
            ],
        },
        payer: PartyView {
            name: "João Antônio da Conceição Gonçalves".to_owned(),
            document_formatted: "CPF 123.456.789-09".to_owned(),
            address: vec![
                "Avenida Brigadeiro Luís Antônio, 2000, apto. 42".to_owned(),
                "São Paulo/SP – 01318-002".to_owned(),
            ],
        },
        instructions: vec!["Não receber após 31/12/2026.".to_owned()],
        status,
        is_test: status == Status::Expired,
    };
    fs::write(folder.join(format!("boletos/{}.html", status.as_str())), page.render()?)?;
    Ok(())
}
