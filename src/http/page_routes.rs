//! Payers' pages: the PIX page and its QR code, the boleto page and its PDF.

use std::sync::Arc;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use actix_web::web::{Data, Path};
use actix_web::{HttpResponse, HttpResponseBuilder};
use askama::Template;
use chrono::NaiveDate;
use quita_actors::Denied;
use quita_domain::acquiring::Issued;
use quita_domain::boleto::line::Line;
use quita_domain::document::DocumentType;
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::order::{Address, Payer};
use quita_domain::payment::Payment;
use quita_domain::people::MerchantProfile;
use quita_domain::slip::{IssuedBoleto, document_number_of};
use quita_paper::boleto_pdf::boleto_pdf;
use quita_paper::brazilian::day;
use quita_paper::itf::ItfBarcode;
use quita_paper::slip::{BoletoSlip, Party};
use serde::Serialize;
use subtle::ConstantTimeEq;

use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, wordings};
use super::pages::boleto_page::{BoletoPage, PartyView, PixCodeView};
use super::pages::due_words::DueWords;
use super::pages::is_open;
use super::pages::pix_page::PixPage;
use super::pages::{self, assets};
use super::pictures::PictureKind;
use crate::console::Language;

/// Place of payment, as the slip prints it.
const PAYMENT_PLACE: &str = "Pagável em qualquer banco até o vencimento";
/// Kind of the document (espécie): duplicata mercantil.
const DOCUMENT_KIND: &str = "DM";

/// `GET /pix/{token}`, with `.svg` or `.png` its QR code, with `.logo` the merchant's logo
pub(crate) async fn pix(edge: Data<Edge>, name: Path<String>) -> Result<HttpResponse, ApiError> {
    let (token, kind) = split(&name);
    let payment = any_payment(&edge, token).await?;
    match kind {
        // A boleto that can also be paid by PIX has a picture here, but its own page.
        "" | "logo" if payment.method() != Method::Pix => Err(ApiError::nothing_here()),
        "" => pix_page(&edge, token, &payment).await,
        "svg" => code_picture(&edge, &payment, PictureKind::Svg),
        "png" => code_picture(&edge, &payment, PictureKind::Png),
        "logo" => logo(&profile(&edge, &payment).await?),
        _ => Err(ApiError::nothing_here()),
    }
}

/// `GET /boletos/{token}`, with `.pdf` the slip, with `.logo` the merchant's logo
pub(crate) async fn boleto(edge: Data<Edge>, name: Path<String>) -> Result<HttpResponse, ApiError> {
    let (token, kind) = split(&name);
    let payment = payment(&edge, token, Method::Boleto).await?;
    let Some(Issued::Boleto(issued)) = payment.state.issued.as_deref() else { return Err(not_issued()) };
    match kind {
        "" => boleto_page(&edge, token, &payment, issued).await,
        "logo" => logo(&profile(&edge, &payment).await?),
        "pdf" if !is_open(payment.status()) => {
            Err(ApiError::new(ErrorCode::Gone, wordings::boleto_is_over()))
        }
        "pdf" => {
            let file = format!("inline; filename=\"boleto-{}.pdf\"", issued.due_date);
            let profile = profile(&edge, &payment).await?;
            let pdf = boleto_pdf(&slip(&payment, issued, &profile, edge.clock.now().sao_paulo_date())?);
            Ok(picture("application/pdf").insert_header((CONTENT_DISPOSITION, file)).body(pdf))
        }
        _ => Err(ApiError::nothing_here()),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusView<'a> {
    status: &'a str,
    expires_at: Option<String>,
}

/// `GET /pix/{token}/status` and `GET /boletos/{token}/status`
pub(crate) async fn status(edge: Data<Edge>, token: Path<String>) -> Result<HttpResponse, ApiError> {
    let payment = any_payment(&edge, &token).await?;
    let expires_at = payment.expires_at().map(|at| at.to_string());
    let view = StatusView { status: payment.status().as_str(), expires_at };
    Ok(HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(view))
}

/// `GET /assets/{name}`
pub(crate) async fn asset(name: Path<String>) -> Result<HttpResponse, ApiError> {
    let found = assets::find(&name).ok_or_else(ApiError::nothing_here)?;
    let mut response = HttpResponse::Ok();
    Ok(response
        .content_type(found.content_type)
        // The pages of a PIX and of a boleto name no version, so a browser must ask again soon after a new release.
        .insert_header((CACHE_CONTROL, "max-age=300"))
        .body(found.body))
}

async fn pix_page(edge: &Edge, token: &str, payment: &Payment) -> Result<HttpResponse, ApiError> {
    let profile = profile(edge, payment).await?;
    let (code, expires_at) = match payment.state.issued.as_deref() {
        Some(Issued::Pix { code, expires_at, .. }) => (Some(code.clone()), *expires_at),
        Some(Issued::Boleto(_)) | None => (None, payment.created_at),
    };
    let now = edge.clock.now();
    page(&PixPage {
        mount: edge.mount,
        due: DueWords::of(payment, now.sao_paulo_date(), Language::Portuguese),
        path: format!("{}/pix/{token}", edge.mount),
        merchant_name: profile.name_of(&payment.owner.merchant).to_owned(),
        contact: profile.contact().map(str::to_owned),
        has_logo: profile.logo().is_some(),
        amount_cents: cents(payment)?,
        code,
        expires_at,
        now,
        status: payment.status(),
        is_test: payment.owner.mode == Mode::Test,
    })
}

async fn boleto_page(
    edge: &Edge,
    token: &str,
    payment: &Payment,
    issued: &IssuedBoleto,
) -> Result<HttpResponse, ApiError> {
    let profile = profile(edge, payment).await?;
    let today = edge.clock.now().sao_paulo_date();
    let slip = slip(payment, issued, &profile, today)?;
    let party = |party: Party| PartyView {
        name: party.name,
        document_formatted: party.document_formatted,
        address: party.address,
    };
    // The address of the page works for ever. Once nothing can be paid, the payer's document and address are no longer
    // shown.
    let payer = if is_open(payment.status()) { party(slip.payer) } else { covered(&payment.order.payer) };
    page(&BoletoPage {
        mount: edge.mount,
        path: format!("{}/boletos/{token}", edge.mount),
        bank: format!("{} ({})", slip.bank_name, slip.bank_code),
        line_formatted: slip.line_formatted,
        barcode: slip.barcode,
        amount_cents: slip.amount_cents,
        due: DueWords::of(payment, today, Language::Portuguese),
        pix_code: slip
            .pix_code
            .map(|code| PixCodeView { code, picture: format!("{}/pix/{token}.svg", edge.mount) }),
        due_date: slip.due_date,
        our_number: slip.our_number,
        document_number: slip.document_number,
        beneficiary: party(slip.beneficiary),
        has_logo: profile.logo().is_some(),
        payer,
        instructions: slip.instructions,
        status: payment.status(),
        is_test: slip.is_test,
    })
}

/// Builds the slip as it is shown and printed.
fn slip(
    payment: &Payment,
    issued: &IssuedBoleto,
    profile: &MerchantProfile,
    today: NaiveDate,
) -> Result<BoletoSlip, ApiError> {
    let created_on = payment.created_at.sao_paulo_date();
    Ok(BoletoSlip {
        bank_code: issued.bank_code.clone(),
        bank_name: issued.bank_name.clone(),
        line_formatted: Line::parse(&issued.digitable_line)
            .map_err(|_| ApiError::defect("an issued line is valid"))?
            .formatted(),
        barcode: ItfBarcode::from_digits(&issued.barcode)
            .map_err(|_| ApiError::defect("an issued bar code is digits"))?,
        beneficiary: Party {
            name: issued.beneficiary_name.clone(),
            document_formatted: format!("CNPJ {}", issued.beneficiary_document),
            address: vec![issued.beneficiary_address.clone()],
        },
        agency_and_account: issued.agency_and_account.clone(),
        our_number: issued.our_number.clone(),
        document_number: document_number_of(payment),
        document_kind: DOCUMENT_KIND.into(),
        document_date: created_on,
        processing_date: created_on,
        due_date: issued.due_date,
        portfolio: issued.portfolio.clone(),
        amount_cents: cents(payment)?,
        payment_place: payment_place(payment),
        terms: DueWords::of(payment, today, Language::Portuguese).map(DueWords::on_paper).unwrap_or_default(),
        instructions: instructions(payment, profile),
        pix_code: issued.pix_code.clone(),
        payer: party_of(&payment.order.payer),
        is_test: payment.owner.mode == Mode::Test,
    })
}

/// Names the merchant whose sale the slip is for, and the contact for questions. The beneficiary may be another: the
/// bank.
fn instructions(payment: &Payment, profile: &MerchantProfile) -> Vec<String> {
    let asked = payment.order.terms.due().map(|due| due.instructions.clone()).unwrap_or_default();
    let purpose = format!("Referente a {}.", profile.name_of(&payment.owner.merchant));
    let contact = profile.contact().map(|contact| format!("Dúvidas: {contact}"));
    asked.into_iter().chain([purpose]).chain(contact).collect()
}

/// Says where and until when the slip can be paid.
fn payment_place(payment: &Payment) -> String {
    match payment.order.terms.due() {
        Some(due) if due.payable_until() > due.moved_due_date() => {
            format!("Pagável em qualquer banco até {}", day(due.payable_until()))
        }
        Some(_) | None => PAYMENT_PLACE.into(),
    }
}

async fn profile(edge: &Edge, payment: &Payment) -> Result<MerchantProfile, ApiError> {
    let profile = edge.people.profile(&payment.owner.merchant).await;
    profile.map_err(|error| Denied::StoreUnavailable(error).into())
}

/// Returns the payer with the document masked and no address.
fn covered(payer: &Payer) -> PartyView {
    PartyView {
        name: payer.full_name(),
        document_formatted: format!("{} {}", payer.document.kind().as_str(), payer.document.masked()),
        address: Vec::new(),
    }
}

fn party_of(payer: &Payer) -> Party {
    let kind = match payer.document.kind() {
        DocumentType::Cpf => "CPF",
        DocumentType::Cnpj => "CNPJ",
    };
    Party {
        name: payer.full_name(),
        document_formatted: format!("{kind} {}", payer.document.formatted()),
        address: payer.address.as_ref().map(lines_of).unwrap_or_default(),
    }
}

fn lines_of(address: &Address) -> Vec<String> {
    let complement = address.complement.as_ref().map(|text| format!(", {text}")).unwrap_or_default();
    vec![
        format!("{}, {}{complement} – {}", address.street, address.number, address.neighborhood),
        format!("{} – {} – CEP {}", address.city, address.state.as_str(), address.zip_code.formatted()),
    ]
}

async fn payment(edge: &Edge, token: &str, method: Method) -> Result<Arc<Payment>, ApiError> {
    any_payment(edge, token).await.and_then(|payment| {
        if payment.method() == method { Ok(payment) } else { Err(ApiError::nothing_here()) }
    })
}

async fn any_payment(edge: &Edge, token: &str) -> Result<Arc<Payment>, ApiError> {
    let id = edge.keyring.page_payment(token).ok_or_else(ApiError::nothing_here)?;
    let payment = edge.payments.read(id).await?.ok_or_else(ApiError::nothing_here)?;
    // Only the stored token counts, not any token that one of our keys derives: an old key opens only the pages of its
    // time.
    let is_own: bool = payment.page_token.as_bytes().ct_eq(token.as_bytes()).into();
    if is_own { Ok(payment) } else { Err(ApiError::nothing_here()) }
}

/// Draws the code of a PIX that can be paid.
fn code_picture(edge: &Edge, payment: &Payment, kind: PictureKind) -> Result<HttpResponse, ApiError> {
    let code = match payment.state.issued.as_deref() {
        Some(Issued::Pix { code, .. }) => Some(code),
        Some(Issued::Boleto(slip)) => slip.pix_code.as_ref(),
        None => None,
    };
    let code = match (code, payment.method()) {
        (Some(code), _) => code,
        (None, Method::Pix) => return Err(not_issued()),
        (None, Method::Boleto | Method::CreditCard) => return Err(ApiError::nothing_here()),
    };
    if !is_open(payment.status()) {
        return Err(ApiError::new(ErrorCode::Gone, wordings::pix_is_over()));
    }
    let drawn = edge.pictures.of(kind, code).map_err(|error| ApiError::defect(&error.to_string()))?;
    Ok(picture(kind.content_type()).body(drawn))
}

fn logo(profile: &MerchantProfile) -> Result<HttpResponse, ApiError> {
    let logo = profile.logo().ok_or_else(ApiError::nothing_here)?;
    Ok(picture(logo.content_type()).body(logo.bytes().to_vec()))
}

fn cents(payment: &Payment) -> Result<i64, ApiError> {
    i64::try_from(payment.order.amount.cents()).map_err(|_| ApiError::defect("an amount has ten digits"))
}

fn page(page: &impl Template) -> Result<HttpResponse, ApiError> {
    let html = page.render().map_err(|error| ApiError::defect(&error.to_string()))?;
    Ok(picture("text/html; charset=utf-8")
        .insert_header((CONTENT_SECURITY_POLICY, pages::CONTENT_SECURITY_POLICY))
        .body(html))
}

/// Policy that lets any page of a shop embed the pictures and the slip.
const SHOWN_ANYWHERE: &str = "frame-ancestors *";

/// Begins a response whose address is a secret: it is not cached, and the address is not sent as a referrer.
fn picture(kind: &'static str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .content_type(kind)
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((CONTENT_SECURITY_POLICY, SHOWN_ANYWHERE))
        .insert_header((REFERRER_POLICY, "no-referrer"));
    response
}

/// Splits a name into the token and the part after its dot.
fn split(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or((name, ""))
}

fn not_issued() -> ApiError {
    ApiError::new(ErrorCode::NotIssued, wordings::not_issued())
}
