//! Answers of the page, with the headers that every one of them has.

use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY,
    RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use askama::Template;

use crate::console::Language;
use crate::http::edge::Edge;
use crate::http::errors::{ApiError, ErrorCode, wordings};
use crate::http::pages::checkout_page::{CheckoutPage, StateView};
use crate::http::pages::checkout_words::pick;
use crate::http::refusal_pages::path_of;

/// Content security policy of the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Seconds after which a page that could not be shown is tried again.
const RETRY_S: u64 = 5;

/// Headers of every page, in addition to those that differ.
pub(crate) const PAGE_HEADERS: [(HeaderName, &str); 8] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (HeaderName::from_static("x-robots-tag"), "noindex"),
    (HeaderName::from_static("permissions-policy"), "payment=(), camera=(), microphone=(), geolocation=()"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// A page that can't be shown, with its status.
pub(in crate::http) struct Refused {
    pub(super) status: StatusCode,
    pub(super) retry_after_s: Option<u64>,
    label: (&'static str, &'static str),
    pub(super) sentence: (&'static str, &'static str),
}

impl Refused {
    const fn new(
        status: StatusCode,
        label: (&'static str, &'static str),
        sentence: (&'static str, &'static str),
    ) -> Self {
        Self { status, retry_after_s: None, label, sentence }
    }

    /// The address belongs to no link, or to one that it may not open.
    pub(super) const fn nothing_here() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            ("Nada encontrado", "Nothing found"),
            (
                "Este endereço não leva a nenhum pagamento. Confira o endereço com a loja.",
                "There is no payment at this address. Check the address with the shop.",
            ),
        )
    }

    /// The form does not belong to this page.
    pub(super) const fn foreign() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            ("Formulário recusado", "Form refused"),
            (
                "Este formulário não veio desta página. Abra o link de novo e preencha o formulário nela.",
                "This form did not come from this page. Open the link again and fill in the form there.",
            ),
        )
    }

    /// The body is larger than any form of this page.
    const fn too_large() -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            ("Formulário recusado", "Form refused"),
            (
                "Este formulário é grande demais. Abra o link de novo e escreva textos mais curtos; nada foi alterado.",
                "This form is too large. Open the link again and enter shorter texts; nothing was changed.",
            ),
        )
    }

    /// The form did not arrive in time, as over a bad connection.
    const fn late() -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            ("O formulário não chegou a tempo", "The form did not arrive in time"),
            (
                "A conexão parece lenta. Abra o link de novo e envie outra vez; nada foi cobrado.",
                "The connection seems slow. Open the link again and send it once more; nothing was charged.",
            ),
        )
    }

    /// The body is compressed, which no form of this page is.
    const fn encoded() -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ("Formulário recusado", "Form refused"),
            (
                "Este formulário veio comprimido. Abra o link de novo e envie o formulário dele; nada foi alterado.",
                "This form was sent compressed. Open the link again and send the form from there; nothing was changed.",
            ),
        )
    }

    /// A form that gives a payment up holds a card number.
    pub(super) const fn card_number() -> Self {
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            ("Formulário recusado", "Form refused"),
            (
                "Não escreva um número de cartão aqui. Abra o link de novo; nada foi alterado.",
                "Do not enter a card number here. Open the link again; nothing was changed.",
            ),
        )
    }

    /// The code or slip is not there yet.
    const fn not_issued() -> Self {
        Self {
            retry_after_s: Some(RETRY_S),
            ..Self::new(
                StatusCode::NOT_FOUND,
                ("Preparando", "Preparing"),
                (
                    "O código deste pagamento ainda não está pronto. Recarregue esta página em alguns segundos.",
                    "The code of this payment is not ready yet. Reload this page in a few seconds.",
                ),
            )
        }
    }

    /// The code or slip can't be paid any more.
    const fn over() -> Self {
        Self::new(
            StatusCode::GONE,
            ("Não vale mais", "No longer valid"),
            (
                "Este código não pode mais ser pago. Se você ainda quer pagar, peça um novo à loja.",
                "This code can no longer be paid. If you still want to pay, ask the shop for a new one.",
            ),
        )
    }

    /// The address does not handle such a request.
    const fn not_understood(status: StatusCode) -> Self {
        Self::new(
            status,
            ("Pedido recusado", "Request refused"),
            (
                "Este endereço não responde a esse pedido. Abra de novo o endereço que a loja enviou; nada foi alterado.",
                "This address does not accept that request. Open the address from the shop again; nothing was changed.",
            ),
        )
    }

    /// The service can't show a page now. Its payer may have paid already.
    const fn not_shown(status: StatusCode) -> Self {
        Self {
            retry_after_s: Some(RETRY_S),
            ..Self::new(
                status,
                ("Tente de novo em instantes", "Try again in a moment"),
                (
                    "O serviço não responde agora. Recarregue esta página em alguns segundos. Se você já pagou, não \
                     pague de novo: nenhum pagamento se perde.",
                    "The service is not available at the moment. Reload this page in a few seconds. If you have \
                     already paid, do not pay again: no payment is lost.",
                ),
            )
        }
    }

    /// Returns the words for an error of a page that is only viewed.
    pub(in crate::http) fn of_page(error: &ApiError) -> Self {
        let code = error.error_code();
        let status = error.error_code().status();
        if code == ErrorCode::NotFound {
            Self::nothing_here()
        } else if code == ErrorCode::NotIssued {
            Self::not_issued()
        } else if code == ErrorCode::Gone {
            Self::over()
        } else if status.is_server_error() {
            Self::not_shown(status)
        } else {
            Self::not_understood(status)
        }
    }

    /// Returns the words for a page that is only viewed.
    pub(super) fn of_look(self) -> Self {
        if self.status.is_server_error() { Self::not_shown(self.status) } else { self }
    }

    /// Returns the error for programs.
    pub(super) fn error(&self) -> ApiError {
        if self.status == StatusCode::NOT_FOUND {
            ApiError::link_not_found()
        } else {
            ApiError::unavailable(ErrorCode::StoreUnavailable, wordings::store_unavailable())
        }
    }

    /// The service can't say now.
    pub(super) const fn unavailable() -> Self {
        Self {
            retry_after_s: Some(RETRY_S),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                ("Tente de novo em instantes", "Try again in a moment"),
                (
                    "O serviço não responde agora. Recarregue esta página em alguns segundos; nada foi cobrado.",
                    "The service is not available at the moment. Reload this page in a few seconds; nothing was \
                     charged.",
                ),
            )
        }
    }
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        let code = error.error_code();
        if code == ErrorCode::NotFound {
            Self::nothing_here()
        } else if code == ErrorCode::PayloadTooLarge {
            Self::too_large()
        } else if code == ErrorCode::UnsupportedContentEncoding {
            Self::encoded()
        } else if code == ErrorCode::RequestTimeout {
            Self::late()
        } else if code == ErrorCode::UnreadableBody {
            Self::foreign()
        } else {
            Self::unavailable()
        }
    }
}

/// Returns the page that explains why the payment is not shown.
pub(in crate::http) fn refusal(
    edge: &Edge,
    language: Language,
    request: &HttpRequest,
    refused: &Refused,
) -> HttpResponse {
    let ((label_pt, label_en), (sentence_pt, sentence_en)) = (refused.label, refused.sentence);
    let state = StateView {
        word: "error",
        label: pick(language, label_pt, label_en),
        sentence: pick(language, sentence_pt, sentence_en),
    };
    let page = CheckoutPage {
        language,
        mount: edge.mount,
        offer: None,
        due: None,
        state,
        form: None,
        payment: None,
        unneeded: None,
        again: None,
        reload: refused.retry_after_s.map(|_| path_of(edge, request)),
    };
    let mut response = rendered(&page, refused.status);
    if let Some(seconds) = refused.retry_after_s {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// Returns a page with its headers.
pub(super) fn rendered(page: &CheckoutPage, status: StatusCode) -> HttpResponse {
    let mut response = HttpResponse::build(status);
    add_headers(&mut response, page.language);
    response.content_type("text/html; charset=utf-8");
    match page.render() {
        Ok(html) => response.body(html),
        Err(error) => {
            let defect = ApiError::defect(&error.to_string());
            actix_web::ResponseError::error_response(&defect)
        }
    }
}

/// Adds the headers of every answer.
pub(super) fn add_headers(response: &mut HttpResponseBuilder, language: Language) {
    for header in PAGE_HEADERS {
        response.insert_header(header);
    }
    response.insert_header((CONTENT_LANGUAGE, language.tag()));
    response.insert_header((VARY, ACCEPT_LANGUAGE.as_str()));
}
