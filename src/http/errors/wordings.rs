//! Messages of the API's own errors, in both languages. The domain has those about fields.

use quita_actors::Denied;
use quita_domain::payment::Refusal;
use quita_domain::status::Status;
use quita_domain::wording::Wording;
use quita_domain::wordings;
use quita_ports::StoreError;

wordings! {
    // Authentication. The specification fixes how these begin.
    pub(crate) no_authorization =
        "invalid or missing API key: the Authorization header is missing; send Authorization: Bearer qk_test_…",
        "chave de API ausente ou inválida: não há cabeçalho Authorization; envie Authorization: Bearer qk_test_…";
    pub(crate) several_authorizations =
        "invalid or missing API key: send one Authorization header, not several",
        "chave de API ausente ou inválida: envie um só cabeçalho Authorization";
    pub(crate) no_bearer =
        "invalid or missing API key: Authorization must be the word Bearer and the key; send Authorization: Bearer \
         qk_test_…",
        "chave de API ausente ou inválida: Authorization deve ser a palavra Bearer e a chave; envie Authorization: Bearer \
         qk_test_…";
    pub(crate) no_quita_key =
        "invalid or missing API key: keys of this service begin with qk_test_ or qk_live_",
        "chave de API ausente ou inválida: as chaves deste serviço começam com qk_test_ ou qk_live_";
    pub(crate) unknown_key =
        "invalid or missing API key: the key is unknown, expired or revoked; check that you copied all of it",
        "chave de API ausente ou inválida: a chave é desconhecida, venceu ou foi revogada; confira se foi copiada inteira";
    pub(crate) revoked_key = "this key has been revoked", "esta chave foi revogada";
    pub(crate) expired_key = "this key has expired", "esta chave venceu";
    pub(crate) no_scope(scope: &str, has: &str) =
        "this key lacks the scope {scope}: it has {has}; use a key that has it",
        "esta chave não tem o escopo {scope}: ela tem {has}; use uma chave que o tenha";
    pub(crate) publishable_key =
        "a publishable key can only create card tokens, at POST /pay/tokens; for this call, use a secret key on your \
         server",
        "uma chave publicável só pode criar tokens de cartões, em POST /pay/tokens; para esta chamada, use uma chave \
         secreta no seu servidor";
    pub(crate) secret_key_in_browser =
        "a secret key must never be in a page: this one came from a browser and is compromised; revoke it, and use a \
         publishable key (qk_pub_…) in the page",
        "uma chave secreta nunca pode estar numa página: esta veio de um navegador e está comprometida; revogue-a e use \
         ali uma chave publicável (qk_pub_…)";
    pub(crate) origin_not_allowed =
        "the origin of this page is not on the list of allowed origins of the key's application; add it with quita \
         applications origins or in the console",
        "a origem desta página não está na lista de origens permitidas da aplicação da chave; acrescente-a com quita \
         applications origins ou no console";
    pub(crate) too_many_card_tries =
        "too many cards were tried from this network; wait, or pay by PIX or boleto",
        "cartões demais foram tentados a partir desta rede; espere, ou pague por PIX ou boleto";
    pub(crate) too_many_requests(per_second: u32) =
        "this key may send at most {per_second} requests per second; wait for the seconds in Retry-After, then send the \
         request again",
        "esta chave pode enviar no máximo {per_second} requisições por segundo; espere os segundos de Retry-After e envie a \
         requisição de novo";
    pub(crate) too_many_unknown_keys =
        "too many unknown API keys were sent from this network; check your key, and wait for the seconds in Retry-After",
        "esta rede enviou chaves de API desconhecidas demais; confira sua chave e espere os segundos de Retry-After";
    pub(crate) no_live_acquirer(method: &str) =
        "no acquirer is configured for {method} in live mode; use another method, ask the operator, or use a qk_test_ key, \
         which reaches the sandbox",
        "nenhum adquirente está configurado para {method} no modo live; use outro método, fale com o operador ou use uma \
         chave qk_test_, que alcança o sandbox";
    pub(crate) no_test_acquirer(method: &str) =
        "no acquirer is configured for {method} in test mode; use another method, or ask the operator for a sandbox",
        "nenhum adquirente está configurado para {method} no modo test; use outro método, ou peça ao operador um sandbox";
    pub(crate) no_live_acquirer_of_links =
        "no acquirer is configured for any method of links in live mode; ask the operator, or use a qk_test_ key, which \
         reaches the sandbox",
        "nenhum método de links tem adquirente configurado no modo live; fale com o operador ou use uma chave \
         qk_test_, que alcança o sandbox";
    pub(crate) no_test_acquirer_of_links =
        "no acquirer is configured for any method of links in test mode; ask the operator for a sandbox",
        "nenhum método de links tem adquirente configurado no modo test; peça ao operador um sandbox";
    pub(crate) terms_not_taken(methods: &str, mode: &str) =
        "no acquirer for {methods} in {mode} mode can take this payment with these terms (due date, fine, interest, \
         discounts, splits); change them, use another method, or ask the operator",
        "nenhum adquirente de {methods} no modo {mode} pode receber este pagamento com estas condições (vencimento, multa, \
         juros, descontos, splits); mude-as, use outro método ou fale com o operador";
    pub(crate) amount_out_of_limits(methods: &str, mode: &str, least: u64, greatest: u64) =
        "none of the acquirers for {methods} in {mode} mode accepts this amount; send from {least} to {greatest} cents \
         (10000 = R$ 100,00), or ask the operator",
        "nenhum adquirente de {methods} no modo {mode} aceita este valor; envie de {least} a {greatest} centavos (10000 = \
         R$ 100,00), ou fale com o operador";
    amount_in_cents =
        "; check that it is in cents (10000 = R$ 100,00), or ask the operator for the acquirers' limits",
        "; confira se está em centavos (10000 = R$ 100,00), ou pergunte ao operador os limites dos adquirentes";
    new_key_or_first_body =
        "; use a new key, or send the first body again", "; use uma chave nova ou reenvie o primeiro corpo";
    new_token = "; request a new one for each payment", "; peça um novo para cada pagamento";
    pub(crate) notice_not_authentic(why: &str) = "{why}", "a notificação não é autêntica";

    // Addresses and bodies.
    pub(crate) store_form(needed: i64, number: i64) =
        "this needs stored form {needed}, but the store has form {number}; the request is accepted once the operator has \
         run quita store upgrade",
        "isto precisa da forma armazenada {needed}, e o armazenamento tem a forma {number}; a requisição será aceita depois \
         que o operador executar quita store upgrade";
    pub(crate) nothing_here = "there is nothing at this address", "não há nada neste endereço";
    pub(crate) nothing_here_but(address: &str, docs: &str) =
        "there is nothing at this address; did you mean {address}? All addresses: {docs}",
        "não há nada neste endereço; seria {address}? Todos os endereços: {docs}";
    pub(crate) nothing_here_but_without_slash(address: &str, docs: &str) =
        "there is nothing at this address; did you mean {address}, without the slash at the end? All addresses: {docs}",
        "não há nada neste endereço; seria {address}, sem a barra no fim? Todos os endereços: {docs}";
    pub(crate) nothing_here_see(docs: &str) =
        "there is nothing at this address. All addresses: {docs}",
        "não há nada neste endereço. Todos os endereços: {docs}";
    pub(crate) no_such_guide(docs: &str, guides: &str) =
        "there is no guide at this address. Guides below {docs}: {guides}",
        "não há guia neste endereço. Guias abaixo de {docs}: {guides}";
    pub(crate) no_such_guide_but(address: &str, docs: &str, guides: &str) =
        "there is no guide at this address; did you mean {address}? Guides below {docs}: {guides}",
        "não há guia neste endereço; seria {address}? Guias abaixo de {docs}: {guides}";
    pub(crate) no_such_code(docs: &str) =
        "no error has this code. All codes: {docs}", "nenhum erro tem este código. Todos os códigos: {docs}";
    pub(crate) no_such_code_but(address: &str, docs: &str) =
        "no error has this code; did you mean {address}? All codes: {docs}",
        "nenhum erro tem este código; seria {address}? Todos os códigos: {docs}";
    pub(crate) no_notice_address = "there is no such address", "não existe tal endereço";
    pub(crate) wrong_method(allow: &str) = "this address accepts only {allow}", "este endereço aceita só {allow}";
    pub(crate) no_transaction_id =
        "the transactionId must be a UUID with hyphens", "o transactionId deve ser um UUID com hífens";
    pub(crate) no_delivery_id =
        "the delivery id is malformed; send it exactly as GET /pay/webhooks/deliveries returns it",
        "o id da entrega está malformado; envie-o exatamente como GET /pay/webhooks/deliveries o traz";
    pub(crate) no_query =
        "the query can't be decoded; write it as name=value&name=value",
        "a consulta não pode ser decodificada; escreva-a como nome=valor&nome=valor";
    pub(crate) several_idempotency_keys =
        "several Idempotency-Key headers were sent; send one, of 1 to 255 visible ASCII characters",
        "vieram vários cabeçalhos Idempotency-Key; envie um só, de 1 a 255 caracteres ASCII visíveis";
    pub(crate) empty_idempotency_key =
        "the Idempotency-Key is empty; send one of 1 to 255 visible ASCII characters",
        "o Idempotency-Key está vazio; envie um de 1 a 255 caracteres ASCII visíveis";
    pub(crate) long_idempotency_key(length: usize) =
        "the Idempotency-Key has {length} characters; send one of 1 to 255 visible ASCII characters",
        "o Idempotency-Key tem {length} caracteres; envie um de 1 a 255 caracteres ASCII visíveis";
    pub(crate) odd_idempotency_key =
        "the Idempotency-Key has a character that is not allowed; send one of 1 to 255 visible ASCII characters",
        "o Idempotency-Key tem um caractere não permitido; envie um de 1 a 255 caracteres ASCII visíveis";
    pub(crate) encoded_body =
        "a body with a Content-Encoding is not accepted; send it uncompressed, without that header",
        "um corpo com Content-Encoding não é aceito; envie-o sem compressão e sem esse cabeçalho";
    pub(crate) no_json = "send the body as application/json", "envie o corpo como application/json";
    pub(crate) late_body(seconds: u64) =
        "the body must arrive within {seconds} s", "o corpo deve chegar em até {seconds} s";
    pub(crate) broken_body =
        "the body is incomplete or corrupted", "o corpo foi interrompido ou está corrompido";
    pub(crate) large_body(kib: usize) =
        "the body must not be larger than {kib} KiB", "o corpo não pode ter mais de {kib} KiB";
    pub(crate) late_head =
        "the request headers did not arrive in time", "o cabeçalho da requisição não chegou a tempo";
    pub(crate) large_head =
        "the request line and headers are too large", "o cabeçalho da requisição é grande demais";
    pub(crate) no_http =
        "this is not a valid HTTP/1.1 request. Send an address of at most 65534 bytes without spaces, with non-ASCII \
         letters encoded as in %C3%A7, one Host, and one numeric Content-Length or Transfer-Encoding: chunked. TLS is not accepted here",
        "isto não é uma requisição HTTP/1.1 válida. Envie um endereço de até 65534 bytes sem espaços, com letras não ASCII \
         codificadas como em %C3%A7, um Host e um Content-Length numérico ou Transfer-Encoding: chunked. TLS não é aceito aqui";
    pub(crate) bad_host =
        "Host must be a name or an address, with or without a port: api.example.com, 127.0.0.1:8080 or [::1]:8080",
        "Host deve ser um nome ou um endereço, com ou sem porta: api.example.com, 127.0.0.1:8080 ou [::1]:8080";
    pub(crate) foreign_host =
        "this page is not served under that host name; add the name to ops-hosts, or use a loopback address",
        "esta página não é servida sob esse nome de host; acrescente-o a ops-hosts, ou use um endereço de loopback";

    // Payers' pages.
    pub(crate) boleto_is_over =
        "this boleto can no longer be paid, so its slip is not available",
        "este boleto não pode mais ser pago, então sua ficha não está disponível";
    pub(crate) pix_is_over =
        "this PIX can no longer be paid, so its code is not available",
        "este PIX não pode mais ser pago, então seu código não está disponível";
    pub(crate) not_issued =
        "the acquirer has not issued the code yet; try again shortly",
        "o adquirente ainda não emitiu o código; tente de novo em instantes";

    // The sandbox.
    pub(crate) no_sandbox_action =
        "the sandbox action must be pay, expire, refund or chargeback",
        "a ação do sandbox deve ser pay, expire, refund ou chargeback";
    pub(crate) live_by_hand =
        "only payments made with a test key can be moved by hand",
        "só pagamentos feitos com chave de teste podem ser movidos à mão";
    pub(crate) no_sandbox_payment =
        "no sandbox accepted this payment, so only its acquirer can move it",
        "nenhum sandbox recebeu este pagamento, então só seu adquirente pode movê-lo";
    pub(crate) is_already_declined(reason: &str) =
        "the payment is already declined ({reason}), so it can't be moved; create another one",
        "o pagamento já está declined ({reason}), então não pode ser movido; crie outro";
    pub(crate) is_already(status: Status) =
        "the payment is already {status}", "o pagamento já está {status}";
    pub(crate) no_such_step(status: Status, target: Status) =
        "a payment that is {status} cannot become {target}",
        "um pagamento que está {status} não pode passar a {target}";

    // Cancellations and captures that were requested.
    pub(crate) became_while_cancelled(status: Status) =
        "the payment became {status} while it was being cancelled; ",
        "o pagamento passou a {status} enquanto era cancelado; ";
    pub(crate) not_sent(verb: &str, verbo: &str, status: Status) =
        "the {verb} request was not sent, because the payment became {status} first",
        "{verbo} não saiu daqui: antes disso o pagamento passou a {status}";
    pub(crate) refused_by_acquirer(verb: &str, verbo: &str, why: &str, status: Status) =
        "the acquirer refused to {verb}: {why}; the payment is {status}; ",
        "o adquirente recusou {verbo}: {why}; o pagamento está {status}; ";
    pub(crate) no_answer_yet(verb: &str, verbo: &str) =
        "the acquirer has not answered the {verb} request yet; repeat it with the same Idempotency-Key to learn \
         the outcome",
        "o adquirente ainda não respondeu sobre {verbo}; repita a requisição com o mesmo Idempotency-Key para \
         saber o resultado";
    pub(crate) nothing_allowed = "no operation is allowed now", "nenhuma operação é permitida agora";
    pub(crate) allowed_now(verbs: &str) = "allowed now: {verbs}", "permitido agora: {verbs}";

    // The service itself.
    pub(crate) internal_error = "an internal error occurred; it was logged", "ocorreu um erro interno; foi registrado";
    pub(crate) secret_key_missing =
        "this node accepts no new payments, links or card tokens until its configuration is fixed; nothing was charged",
        "este nó não aceita novos pagamentos, links ou tokens de cartão até sua configuração ser corrigida; nada foi \
         cobrado";
    pub(crate) store_unavailable =
        "the store is unavailable; repeat the request, with the same Idempotency-Key if it is a POST",
        "o armazenamento está indisponível; repita a requisição, com o mesmo Idempotency-Key se for um POST";
    // Any loss is known only after the repair.
    pub(crate) store_broken =
        "the store can't be used until it is repaired; send the request again later, with the same Idempotency-Key",
        "o armazenamento não pode ser usado até ser reparado; reenvie a requisição mais tarde, com o mesmo \
         Idempotency-Key";
    pub(crate) no_link_id =
        "the address must have the linkId of a payment link, exactly as the API returned it",
        "o endereço deve ter o linkId de um link de pagamento, exatamente como a API o trouxe";
    pub(crate) link_not_found = "link not found", "link não encontrado";
    pub(crate) a_payment_is_not_stored_yet =
        "the link is closed, but a payment that began just before it closed is not stored yet; send the request again",
        "o link está encerrado, mas um pagamento iniciado logo antes ainda não está gravado; envie a requisição de novo";
    pub(crate) payments_are_not_cancelled_yet =
        "it is not known yet whether every pending payment is cancelled; send the request again",
        "ainda não está claro se todo pagamento pendente foi cancelado; envie a requisição de novo";
    pub(crate) transaction_not_found = "transaction not found", "transação não encontrada";
}

/// Returns the message for a failed request to the store, in both languages.
pub(super) fn of_store(error: &StoreError) -> Wording {
    match error {
        StoreError::Unavailable(_) | StoreError::Full(_) | StoreError::Unreadable(_) => store_unavailable(),
        StoreError::Broken(_) => store_broken(),
    }
}

/// Returns the message of a denial, in both languages.
pub(super) fn of_denied(denied: &Denied) -> Wording {
    let portuguese = match denied {
        Denied::NotFound => return transaction_not_found(),
        Denied::Refused(refusal) => return of_refusal(refusal),
        Denied::StoreUnavailable(error) => return of_store(error),
        Denied::Defect(_) => return internal_error(),
        Denied::KeyReused => "este Idempotency-Key já foi usado com outra requisição",
        Denied::TokenUsed => "o token do cartão já foi usado por outro pagamento",
        Denied::MethodUnavailable => "nenhum adquirente está configurado para este método neste modo",
        Denied::AmountNotAccepted => "nenhum adquirente possível para este pagamento aceita este valor",
        Denied::ExpiryNotAccepted => {
            "nenhum adquirente mantém um pagamento pagável por tanto tempo; envie um expiresIn menor"
        }
        Denied::NoRoute => "nenhum adquirente aceita este pagamento no momento; tente de novo mais tarde",
        Denied::Overloaded => "o serviço está sobrecarregado; tente de novo",
        Denied::Interrupted => {
            "o trabalho foi interrompido e pode ter sido feito ou não; repita a requisição com o mesmo Idempotency-Key: \
             sem ele, um pagamento ou devolução pode ser feito duas vezes"
        }
        Denied::Stopping => "o serviço está parando",
    };
    let wording = Wording::made(denied.to_string(), portuguese.to_owned());
    match denied {
        Denied::KeyReused => wording.then(&new_key_or_first_body()),
        Denied::TokenUsed => wording.then(&new_token()),
        Denied::AmountNotAccepted => wording.then(&amount_in_cents()),
        Denied::NotFound
        | Denied::Refused(_)
        | Denied::StoreUnavailable(_)
        | Denied::Defect(_)
        | Denied::MethodUnavailable
        | Denied::ExpiryNotAccepted
        | Denied::NoRoute
        | Denied::Overloaded
        | Denied::Interrupted
        | Denied::Stopping => wording,
    }
}

/// Returns the message of a refusal, in both languages.
pub(super) fn of_refusal(refusal: &Refusal) -> Wording {
    let portuguese = match refusal {
        Refusal::NotAllowed { status: Status::Refund, verb: "be refunded", allowed } => {
            format!("já devolvido por inteiro; permitido para: {allowed}")
        }
        Refusal::NotAllowed { status: Status::Cancelled, verb: "be cancelled", allowed } => {
            format!("já cancelado; permitido para: {allowed}")
        }
        Refusal::NotAllowed { status, verb, allowed } => {
            let verb = in_portuguese(verb);
            format!("um pagamento que está {status} não pode {verb}; permitido para: {allowed}")
        }
        Refusal::NotCapturable(status) => format!(
            "um pagamento que está {status} não pode ser capturado; permitido para: um cartão criado com \
             \"capture\": false, enquanto está approved"
        ),
        Refusal::CaptureOutOfBounds(most) => {
            format!("a captura deve ser de 1 a {} centavos: {most} foi autorizado", most.cents())
        }
        Refusal::RefundExceedsPaid(left) => {
            format!("a devolução deve ser de 1 a {} centavos: resta {left} a devolver", left.cents())
        }
        Refusal::RefundUnsupported => {
            "o adquirente não devolve este pagamento; devolva o dinheiro por outro meio, como uma transferência"
                .into()
        }
        Refusal::KeyReused => {
            let portuguese = "este Idempotency-Key já foi usado neste pagamento com outra requisição";
            let wording = Wording::made(refusal.to_string(), portuguese.to_owned());
            return wording.then(&new_key_or_first_body());
        }
        Refusal::Busy(verb) => {
            let verb = in_portuguese(verb);
            format!("o adquirente ainda processa {verb} deste pagamento; tente de novo em instantes")
        }
        Refusal::OutcomeUnknown => {
            "o adquirente ainda não informou o resultado da cobrança; tente de novo em instantes".into()
        }
        Refusal::NoSuchDelivery => "entrega não encontrada".into(),
        Refusal::TooManyOperations(most) => format!("o pagamento já tem o máximo de operações ({most})"),
        Refusal::RefusedTooOften { verb, count, until } => {
            let verb = in_portuguese(verb);
            format!("o adquirente recusou {verb} {count} vezes; a próxima é aceita depois de {until}")
        }
        Refusal::NotStuck => {
            "não está parado: já terminou, ou seu resultado ainda pode chegar sozinho".into()
        }
    };
    Wording::made(refusal.to_string(), portuguese)
}

/// Translates an operation from the domain's English.
pub(crate) fn in_portuguese(verb: &str) -> &str {
    match verb {
        "be cancelled" => "ser cancelado",
        "be captured" => "ser capturado",
        "be refunded" => "ser devolvido",
        "cancel" => "o cancelamento",
        "capture" => "a captura",
        "refund" => "a devolução",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::money::Money;
    use quita_domain::time::Timestamp;

    use super::*;

    #[test]
    fn refusals_are_told_in_both_languages() {
        let not_allowed = |status, verb| Refusal::NotAllowed { status, verb, allowed: "paid" };
        for (refusal, english, portuguese) in [
            (
                not_allowed(Status::Refund, "be refunded"),
                "already refunded in full",
                "já devolvido por inteiro",
            ),
            (not_allowed(Status::Expired, "be captured"), "cannot be captured", "não pode ser capturado"),
            (
                Refusal::RefundExceedsPaid(Money::from_cents(150)),
                "from 1 to 150 cents: 1.50 is left",
                "de 1 a 150 centavos: resta 1.50",
            ),
            (Refusal::Busy("cancel"), "a cancel of this payment", "o cancelamento deste pagamento"),
        ] {
            let wording = of_refusal(&refusal);
            assert!(wording.english().contains(english), "{wording:?}");
            assert!(wording.portuguese().contains(portuguese), "{wording:?}");
        }
        let until = Timestamp::from_millis(0);
        let too_often = of_refusal(&Refusal::RefusedTooOften { verb: "refund", count: 3, until });
        assert!(too_often.portuguese().contains("a devolução 3 vezes"), "{too_often:?}");
    }

    #[test]
    fn a_denial_that_the_caller_can_mend_is_told_with_what_to_do() {
        for (wording, english, portuguese) in [
            (of_denied(&Denied::KeyReused), "use a new key, or send the first body", "use uma chave nova"),
            (of_refusal(&Refusal::KeyReused), "use a new key, or send the first body", "use uma chave nova"),
            (of_denied(&Denied::TokenUsed), "request a new one", "peça um novo"),
            (
                too_many_requests(5),
                "at most 5 requests per second; wait",
                "no máximo 5 requisições por segundo; espere",
            ),
            (too_many_unknown_keys(), "check your key, and wait", "confira sua chave e espere"),
            (no_scope("a", "b, c"), "lacks the scope a: it has b, c", "não tem o escopo a: ela tem b, c"),
            (no_live_acquirer("pix"), "for pix in live mode", "para pix no modo live"),
            (no_live_acquirer("pix"), "qk_test_ key, which reaches the sandbox", "alcança o sandbox"),
            (no_test_acquirer("boleto"), "for boleto in test mode", "para boleto no modo test"),
            (of_denied(&Denied::NoRoute), "at the moment; try again later", "tente de novo mais tarde"),
        ] {
            assert!(wording.english().contains(english), "{wording:?}");
            assert!(wording.portuguese().contains(portuguese), "{wording:?}");
        }
    }

    #[test]
    fn denials_begin_as_the_specification_says() {
        assert_eq!(of_denied(&Denied::NotFound).english(), "transaction not found");
        for refused in
            [no_authorization(), several_authorizations(), no_bearer(), no_quita_key(), unknown_key()]
        {
            assert!(refused.english().starts_with("invalid or missing API key"), "{refused:?}");
        }
    }
}
