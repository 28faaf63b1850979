//! Table of every error code: its status, and the texts of its page under `/docs/errors`.
//!
//! The codes are part of the API: their meanings never change. A code that lacks one of its texts does not compile.

use actix_web::http::StatusCode;
use quita_domain::wording::Wording;

/// Declares the table: `Name = "code", STATUS, (meaning in English, in Portuguese), (advice in English, in Portuguese);`
macro_rules! codes {
    ($($name:ident = $text:literal, $status:ident, ($meaning:literal, $meaning_pt:literal), ($advice:literal, $advice_pt:literal);)*) => {
        /// Code of an error, for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum ErrorCode {
            $(#[doc = $meaning] $name,)*
        }

        impl ErrorCode {
            /// Every code, by status.
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the code as responses spell it.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Returns the status of the responses that carry it.
            pub(crate) const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)* }
            }

            /// Returns the sentence that says when this error occurs.
            pub(crate) const fn meaning(self) -> Wording {
                match self { $(Self::$name => Wording::fixed($meaning, $meaning_pt),)* }
            }

            /// Returns the sentence that says what the caller can do.
            pub(crate) const fn advice(self) -> Wording {
                match self { $(Self::$name => Wording::fixed($advice, $advice_pt),)* }
            }
        }
    };
}

codes! {
    MalformedRequest = "malformed_request", BAD_REQUEST,
        ("The body or query has parts that are missing, of the wrong type, repeated or unreadable.",
         "O corpo ou a consulta tem partes ausentes, de tipo errado, repetidas ou ilegíveis."),
        ("Correct every part that `details` names. Rules are checked only once the shape is right.",
         "Corrija cada parte citada em `details`. As regras só são verificadas quando a forma está certa.");
    UnknownParameter = "unknown_parameter", BAD_REQUEST,
        ("The query has a parameter that this address does not have.",
         "A consulta tem um parâmetro que este endereço não tem."),
        ("Use the names listed in the message. They are case-sensitive.",
         "Use os nomes que a mensagem lista; maiúsculas e minúsculas contam.");
    UnreadableId = "unreadable_id", BAD_REQUEST,
        ("The id in the address is malformed.", "O id no endereço está malformado."),
        ("Send the `transactionId` or delivery id exactly as a response or an event gave it.",
         "Envie o `transactionId` ou o id da entrega exatamente como uma resposta ou um evento o trouxe.");
    UnreadableQuery = "unreadable_query", BAD_REQUEST,
        ("The query of the address can't be decoded.", "A consulta do endereço não pode ser decodificada."),
        ("Write it as `name=value&name=value`, percent-encoded.",
         "Escreva-a como `nome=valor&nome=valor`, com percent-encoding.");
    UnreadableBody = "unreadable_body", BAD_REQUEST,
        ("The body is incomplete, or its framing is corrupted.",
         "O corpo foi interrompido, ou seu enquadramento está corrompido."),
        ("Send the request again, with a `Content-Length` that matches the body.",
         "Envie a requisição de novo, com um `Content-Length` que corresponda ao corpo.");
    UnreadableRequest = "unreadable_request", BAD_REQUEST,
        ("The request is not valid HTTP/1.1.", "A requisição não é HTTP/1.1 válido."),
        ("Send one `Host`, which is a name with or without a port. Send one numeric `Content-Length`, or \
          `Transfer-Encoding: chunked`.",
         "Envie um `Host`, nome com ou sem porta, e um `Content-Length` numérico, ou `Transfer-Encoding: chunked`.");
    InvalidIdempotencyKey = "invalid_idempotency_key", BAD_REQUEST,
        ("`Idempotency-Key` is repeated, empty or too long, or has characters that are not allowed.",
         "`Idempotency-Key` está repetido, vazio ou longo demais, ou tem caracteres não permitidos."),
        ("Send one key of 1 to 255 visible ASCII characters, such as a UUID or your order's id.",
         "Envie uma chave de 1 a 255 caracteres ASCII visíveis, como um UUID ou o id do seu pedido.");
    Unauthorized = "unauthorized", UNAUTHORIZED,
        ("The request has no valid API key; or, if it is a notice, no proof of its sender.",
         "A requisição veio sem uma chave de API válida; ou, sendo uma notificação, sem prova do remetente."),
        ("Send `Authorization: Bearer qk_test_…` or `qk_live_…`. Create a new key if yours was revoked or has expired.",
         "Envie `Authorization: Bearer qk_test_…` ou `qk_live_…`. Crie outra chave se a sua foi revogada ou venceu.");
    Forbidden = "forbidden", FORBIDDEN,
        ("The key is valid, but may not do this.", "A chave é válida, mas não pode fazer isto."),
        ("Use a key that has the scope named in the message.", "Use uma chave com o escopo citado na mensagem.");
    PublishableKey = "publishable_key", FORBIDDEN,
        ("A publishable key was used for something other than a card token.",
         "Uma chave publicável foi usada para outra coisa que não um token de cartão."),
        ("Call this address from your server, with a secret key.",
         "Chame este endereço do seu servidor, com uma chave secreta.");
    SecretKeyInBrowser = "secret_key_in_browser", FORBIDDEN,
        ("A secret key came from a page in a browser, where anyone can read it.",
         "Uma chave secreta veio de uma página num navegador, onde todos podem lê-la."),
        ("Revoke the key and create another one. In the page, use a publishable key, `qk_pub_…`.",
         "Revogue a chave e crie outra. Na página use uma chave publicável, `qk_pub_…`.");
    OriginNotAllowed = "origin_not_allowed", FORBIDDEN,
        ("The page's origin is not on the list of allowed origins of the key's application.",
         "A origem da página não está na lista de origens permitidas da aplicação da chave."),
        ("Add the origin with `quita applications origins` or in the console.",
         "Acrescente a origem com `quita applications origins` ou no console.");
    NotFound = "not_found", NOT_FOUND,
        ("There is nothing at this address, or the merchant has no such transaction or delivery in the key's mode.",
         "Não há nada neste endereço, ou não há tal transação ou entrega para o lojista e o modo da chave."),
        ("Compare the address with the documentation. A test key does not see live payments, and a live key does not see \
          test payments.",
         "Compare o endereço com a documentação. Uma chave de teste não vê pagamentos reais, nem o contrário.");
    NotIssued = "not_issued", NOT_FOUND,
        ("The acquirer has not issued the code or slip yet.", "O adquirente ainda não emitiu o código ou o boleto."),
        ("Try again shortly.", "Tente de novo em instantes.");
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED,
        ("The address exists, but does not accept this method.", "O endereço existe, mas não aceita este método."),
        ("Use a method listed in the `Allow` header.", "Use um método listado no cabeçalho `Allow`.");
    RequestTimeout = "request_timeout", REQUEST_TIMEOUT,
        ("The request did not arrive in time.", "A requisição não chegou a tempo."),
        ("Send it again, on a new connection. With the same `Idempotency-Key`, nothing happens twice.",
         "Envie-a de novo, em outra conexão. Com o mesmo `Idempotency-Key` nada acontece duas vezes.");
    StatusConflict = "status_conflict", CONFLICT,
        ("The status of the payment does not allow this operation.",
         "O status do pagamento não permite esta operação."),
        ("Read the payment. The message says in which status the operation is allowed.",
         "Leia o pagamento; a mensagem diz para qual status a operação é permitida.");
    NotCapturable = "not_capturable", CONFLICT,
        ("Only a card payment that was created with `\"capture\": false` can be captured.",
         "Só um pagamento com cartão criado com `\"capture\": false` pode ser capturado."),
        ("Omit the capture: PIX, boletos and other card payments are paid without it.",
         "Dispense a captura: PIX, boletos e outros cartões são pagos sem ela.");
    RefundUnsupported = "refund_unsupported", CONFLICT,
        ("The acquirer does not refund this payment. Nothing was stored.",
         "O adquirente não devolve este pagamento. Nada foi armazenado."),
        ("Return the money by other means, such as a transfer. Boletos can't be refunded at their bank.",
         "Devolva o dinheiro por outro meio, como uma transferência. Boletos não podem ser devolvidos no banco.");
    OperationInProgress = "operation_in_progress", CONFLICT,
        ("Another cancellation or capture of this payment is in progress.",
         "Outro cancelamento ou captura deste pagamento está em andamento."),
        ("Try again shortly, or wait for the event.", "Tente de novo em instantes, ou espere o evento.");
    TooManyOperations = "too_many_operations", CONFLICT,
        ("The payment already has the maximum number of operations.", "O pagamento já tem o máximo de operações."),
        ("Ask the operator. More money can be moved at the acquirer.",
         "Fale com o operador; o restante pode ser movimentado no adquirente.");
    RefusedTooOften = "refused_too_often", CONFLICT,
        ("The acquirer refused this operation several times in a row.",
         "O adquirente recusou esta operação várias vezes seguidas."),
        ("Wait until the time named in the message.", "Espere até o horário que a mensagem informa.");
    RefusedByAcquirer = "refused_by_acquirer", CONFLICT,
        ("The acquirer refused the cancellation or capture; the payment is unchanged.",
         "O adquirente recusou o cancelamento ou a captura; o pagamento está como estava."),
        ("The message says why the acquirer refused and what is allowed now.",
         "A mensagem traz o motivo do adquirente e o que é permitido agora.");
    NotStuck = "not_stuck", CONFLICT,
        ("The operation or payment to be ended by hand has already ended, or may still end on its own.",
         "A operação ou o pagamento a encerrar à mão já terminou, ou ainda pode terminar sozinho."),
        ("Look at the payment again.", "Olhe o pagamento de novo.");
    NotASandboxPayment = "not_a_sandbox_payment", CONFLICT,
        ("No sandbox accepted this payment, so it can't be moved by hand.",
         "Nenhum sandbox recebeu este pagamento, então não pode ser movido à mão."),
        ("Move it in the acquirer's own test environment.", "Mova-o no ambiente de testes do próprio adquirente.");
    StoreForm = "store_form", CONFLICT,
        ("The store still has the form of an earlier version, which can't hold this.",
         "O armazenamento ainda tem a forma de uma versão anterior, que não comporta isto."),
        ("Ask the service's operator to run `quita store upgrade`. After that, the same request is accepted.",
         "Peça ao operador do serviço que execute `quita store upgrade`. Depois disso, a mesma requisição é aceita.");
    Gone = "gone", GONE,
        ("The code or slip can no longer be paid.", "O código ou boleto não pode mais ser pago."),
        ("Create a new payment.", "Crie um novo pagamento.");
    PayloadTooLarge = "payload_too_large", PAYLOAD_TOO_LARGE,
        ("The body is larger than 256 KiB, or than 8 KiB for a card token.",
         "O corpo tem mais de 256 KiB, ou de 8 KiB para um token de cartão."),
        ("Send less: no field needs that much.", "Envie menos: nenhum campo precisa de tanto.");
    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE,
        ("The body is not declared as JSON.", "O corpo não é declarado como JSON."),
        ("Send `Content-Type: application/json`.", "Envie `Content-Type: application/json`.");
    UnsupportedContentEncoding = "unsupported_content_encoding", UNSUPPORTED_MEDIA_TYPE,
        ("The body is compressed.", "O corpo está comprimido."),
        ("Send it uncompressed, without `Content-Encoding`.", "Envie-o sem compressão e sem `Content-Encoding`.");
    MisdirectedRequest = "misdirected_request", MISDIRECTED_REQUEST,
        ("The operators' pages are not served under this host name.",
         "As páginas dos operadores não são servidas sob este nome de host."),
        ("Add the name to `ops-hosts`, or use a loopback address.",
         "Acrescente o nome a `ops-hosts`, ou use um endereço de loopback.");
    ValidationFailed = "validation_failed", UNPROCESSABLE_ENTITY,
        ("The request is well-formed, but breaks rules.", "A requisição está bem formada, mas viola regras."),
        ("Correct every field named in `details`, which lists all of them at once.",
         "Corrija cada campo citado em `details`: estão todos ali, de uma vez.");
    IdempotencyKeyReused = "idempotency_key_reused", UNPROCESSABLE_ENTITY,
        ("The `Idempotency-Key` was used with another body.", "O `Idempotency-Key` foi usado com outro corpo."),
        ("Send a new key with a new request, and the same body with the same key.",
         "Envie uma chave nova com uma requisição nova, e o mesmo corpo com a mesma chave.");
    TokenExpired = "token_expired", UNPROCESSABLE_ENTITY,
        ("The card token is older than 15 minutes.", "O token do cartão tem mais de 15 minutos."),
        ("Have the page request a new token.", "Faça a página pedir um token novo.");
    TokenUsed = "token_used", UNPROCESSABLE_ENTITY,
        ("Another payment has already used the card token.", "Outro pagamento já usou o token do cartão."),
        ("Have the page request a new token for each payment.",
         "Faça a página pedir um token novo para cada pagamento.");
    TokenUnknown = "token_unknown", UNPROCESSABLE_ENTITY,
        ("The token is not one of the key's merchant and mode, or the secret key that sealed it is gone.",
         "O token não é do lojista e do modo da chave, ou a chave secreta que o selou não existe mais."),
        ("Send the token exactly as `POST /pay/tokens` returned it, with a key of the same merchant and mode as the \
          publishable key that made it.",
         "Envie o token exatamente como `POST /pay/tokens` o trouxe, com uma chave do mesmo lojista e modo que a chave \
          publicável que o criou.");
    AmountNotAccepted = "amount_not_accepted", UNPROCESSABLE_ENTITY,
        ("None of the acquirers for this payment or link accepts this amount.",
         "Nenhum adquirente possível para este pagamento ou link aceita este valor."),
        ("Send an amount within the limits that the message names. Check that it is in cents, or ask the operator for the acquirers' limits.",
         "Envie um valor dentro dos limites que a mensagem cita. Confira se está em centavos, ou pergunte ao operador os limites dos adquirentes.");
    ExpiryNotAccepted = "expiry_not_accepted", UNPROCESSABLE_ENTITY,
        ("No acquirer keeps a PIX payable for that long.", "Nenhum adquirente mantém um PIX pagável por tanto tempo."),
        ("Send a shorter `expiresIn`.", "Envie um `expiresIn` menor.");
    MethodUnavailable = "method_unavailable", UNPROCESSABLE_ENTITY,
        ("No acquirer is configured for this method in the mode of the key, or none accepts the terms of the payment.",
         "Nenhum adquirente está configurado para este método no modo da chave, ou nenhum aceita as condições do \
          pagamento."),
        ("Use another method, change the terms that the message names, or ask the operator.",
         "Use outro método, mude as condições que a mensagem cita, ou fale com o operador.");
    CaptureExceedsAuthorized = "capture_exceeds_authorized", UNPROCESSABLE_ENTITY,
        ("The capture is more than the authorised amount.", "A captura é maior que o autorizado."),
        ("Capture at most the amount named in the message.", "Capture no máximo o valor da mensagem.");
    RefundExceedsPaid = "refund_exceeds_paid", UNPROCESSABLE_ENTITY,
        ("The refund is more than the amount left to refund.", "A devolução é maior que o restante a devolver."),
        ("Refund at most the amount named in the message, or omit `amount` to refund the rest.",
         "Devolva no máximo o valor da mensagem, ou omita `amount` para devolver o restante.");
    RateLimited = "rate_limited", TOO_MANY_REQUESTS,
        ("The key sends more requests per second than it may, or too many unknown keys were sent from its network.",
         "A chave envia mais requisições por segundo do que pode, ou a rede dela enviou chaves desconhecidas demais."),
        ("Wait for the number of seconds in `Retry-After`.", "Espere os segundos de `Retry-After`.");
    TooManyCardTries = "too_many_card_tries", TOO_MANY_REQUESTS,
        ("Too many cards were tried from one network.", "Cartões demais foram tentados a partir de uma rede."),
        ("Wait for the number of seconds in `Retry-After`. PIX and boleto remain available.",
         "Espere os segundos de `Retry-After`. PIX e boleto continuam disponíveis.");
    HeadersTooLarge = "headers_too_large", REQUEST_HEADER_FIELDS_TOO_LARGE,
        ("The request line and headers are too large.", "O cabeçalho da requisição é grande demais."),
        ("Send fewer or shorter headers, or a shorter address.",
         "Envie menos cabeçalhos, ou mais curtos, ou um endereço mais curto.");
    InternalError = "internal_error", INTERNAL_SERVER_ERROR,
        ("The service has a defect. Its log has the `requestId`.", "O serviço tem um defeito. O log traz o `requestId`."),
        ("Give the operator the `requestId`. Repeat a creation only with the same `Idempotency-Key`.",
         "Informe o `requestId` ao operador. Só repita uma criação com o mesmo `Idempotency-Key`.");
    NoAcquirerAvailable = "no_acquirer_available", SERVICE_UNAVAILABLE,
        ("The acquirers that accept this payment are paused or busy; nothing was tried.",
         "Os adquirentes que aceitam este pagamento estão pausados ou ocupados; nada foi tentado."),
        ("Try again after `Retry-After`.", "Tente de novo após `Retry-After`.");
    Overloaded = "overloaded", SERVICE_UNAVAILABLE,
        ("The service is overloaded; nothing was done.", "O serviço está sobrecarregado; nada foi feito."),
        ("Try again after `Retry-After`, with the same `Idempotency-Key`.",
         "Tente de novo após `Retry-After`, com o mesmo `Idempotency-Key`.");
    Interrupted = "interrupted", SERVICE_UNAVAILABLE,
        ("The work was interrupted; the store has its outcome.",
         "O trabalho foi interrompido; o armazenamento tem o resultado."),
        ("Repeat the request with the same `Idempotency-Key`. If it had none, look first whether the payment or operation \
          exists: a repetition may create a second payment or refund.",
         "Repita a requisição com o mesmo `Idempotency-Key`. Se ela não tinha um, veja antes se o pagamento ou a operação \
          existe: uma repetição pode criar um segundo pagamento ou uma segunda devolução.");
    Stopping = "stopping", SERVICE_UNAVAILABLE,
        ("This node is starting or stopping.", "Este nó está iniciando ou parando."),
        ("Try again after `Retry-After`, with the same `Idempotency-Key`.",
         "Tente de novo após `Retry-After`, com o mesmo `Idempotency-Key`.");
    StoreUnavailable = "store_unavailable", SERVICE_UNAVAILABLE,
        ("The store is unavailable; nothing that was acknowledged is lost.",
         "O armazenamento está indisponível; nada do que foi confirmado se perdeu."),
        ("Try again after `Retry-After`, with the same `Idempotency-Key`.",
         "Tente de novo após `Retry-After`, com o mesmo `Idempotency-Key`.");
    SecretKeyMissing = "secret_key_missing", SERVICE_UNAVAILABLE,
        ("This node lacks the current secret key that the store uses; nothing was charged.",
         "Este nó não tem a chave secreta atual que o armazenamento usa; nada foi cobrado."),
        ("Tell the operator. Requests about existing payments are still answered.",
         "Avise o operador. Requisições sobre pagamentos existentes continuam a ser respondidas.");
    OutcomeUnknown = "outcome_unknown", SERVICE_UNAVAILABLE,
        ("The outcome of the charge, cancellation or capture is not known yet.",
         "O resultado da cobrança, do cancelamento ou da captura ainda não é conhecido."),
        ("Repeat the request with the same `Idempotency-Key`, or wait for the event.",
         "Repita a requisição com o mesmo `Idempotency-Key`, ou espere o evento.");
}

impl ErrorCode {
    /// Reads a code as an address spells it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_reads_back_and_has_whole_sentences() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.as_str()), Some(*code));
            assert!(code.status().is_client_error() || code.status().is_server_error());
            for wording in [code.meaning(), code.advice()] {
                for text in [wording.english(), wording.portuguese()] {
                    assert!(text.len() > 10 && text.ends_with('.'), "{code:?}: {text}");
                }
                assert_ne!(wording.english(), wording.portuguese(), "{code:?}");
            }
        }
        assert_eq!(ErrorCode::parse("nonsense"), None);
    }

    #[test]
    fn codes_stand_in_the_order_of_their_status() {
        assert!(ErrorCode::ALL.is_sorted_by_key(|code| code.status().as_u16()));
    }
}
