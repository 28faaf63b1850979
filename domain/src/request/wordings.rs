//! All sentences about refused requests: each states the rule, in both languages, and never the value that was sent.
//!
//! A sentence follows the name of its field: `amount: must be …`.

use crate::card::CardError;
use crate::document::DocumentError;
use crate::phone::PhoneError;
use crate::postal::PostalError;
use crate::wording::Wording;
use crate::wordings;

wordings! {
    // The body as a whole.
    pub(super) body_is_empty = "the body is empty; send a JSON object", "o corpo está vazio; envie um objeto JSON";
    pub(super) byte_order_mark =
        "the body begins with a byte order mark: send UTF-8 without it",
        "o corpo começa com uma marca de ordem de bytes (BOM): envie UTF-8 sem ela";
    pub(super) no_utf8 = "the body is not UTF-8", "o corpo não está em UTF-8";
    pub(super) no_json(line: usize, column: usize) =
        "the body is not valid JSON (line {line}, column {column})",
        "o corpo não é um JSON válido (linha {line}, coluna {column})";
    pub(super) no_json_object = "the body must be a JSON object", "o corpo deve ser um objeto JSON";
    pub(super) name_stands_twice =
        "two members of one object have the same name", "dois campos do mesmo objeto têm o mesmo nome";
    pub(super) nested_too_deeply =
        "objects and arrays are nested too deeply", "há objetos e listas dentro de outros em excesso";
    pub(super) no_character =
        "a string has an escape sequence that is not a valid character",
        "um texto tem um escape que não é um caractere válido";

    // Types.
    pub(super) is_required = "is required", "é obrigatório";
    pub(super) has_unknown(name: &str) =
        "; the request has {name}, which is unknown", "; a requisição tem {name}, que é desconhecido";
    pub(super) has_unknown_meant(name: &str, meant: &str) =
        "; the request has {name}, which is unknown; did you mean {meant}?",
        "; a requisição tem {name}, que é desconhecido; seria {meant}?";
    pub(super) needs_one_of(one: &str, other: &str) = "needs {one} or {other}", "precisa de {one} ou {other}";
    pub(super) amount_of_cancellation =
        "is not allowed: a cancellation cancels the whole payment; capture a part with /capture, or refund a part with \
         /refunds",
        "não é permitido: um cancelamento cancela o pagamento inteiro; capture uma parte com /capture, ou devolva uma \
         parte com /refunds";
    pub(super) null_amount =
        "must not be null; leave it out for everything that is left, or send an integer number of cents",
        "não pode ser null; omita-o para tudo o que resta, ou envie um número inteiro de centavos";
    pub(super) no_text = "must be a string", "deve ser um texto";
    pub(super) no_integer = "must be an integer", "deve ser um número inteiro";
    pub(super) no_plain_integer =
        "must be an integer, without a fraction or an exponent",
        "deve ser um número inteiro, sem fração nem expoente";
    pub(super) no_cents =
        "must be an integer number of cents (10000 = R$ 100,00)",
        "deve ser um número inteiro de centavos (10000 = R$ 100,00)";
    pub(super) no_number = "must be a number", "deve ser um número";
    pub(super) no_flag = "must be true or false", "deve ser true ou false";
    pub(super) no_integer_or_digits =
        "must be an integer or a string of digits", "deve ser um número inteiro ou um texto de dígitos";
    pub(super) no_object = "must be an object", "deve ser um objeto";
    pub(super) no_array = "must be an array", "deve ser uma lista";

    // Rules of many fields.
    pub(super) out_of_range(least: i64, most: i64) =
        "must be from {least} to {most}", "deve estar entre {least} e {most}";
    pub(super) cents_out_of_range(least: i64, most: i64) =
        "must be from {least} to {most} cents (10000 = R$ 100,00)",
        "deve estar entre {least} e {most} centavos (10000 = R$ 100,00)";
    pub(super) wrong_length(least: usize, most: usize) =
        "must have {least} to {most} characters", "deve ter de {least} a {most} caracteres";
    pub(crate) too_long(most: usize) = "must have at most {most} characters", "deve ter no máximo {most} caracteres";
    pub(super) too_many_entries(most: usize) = "must have at most {most} entries", "deve ter no máximo {most} itens";
    pub(super) direction_characters =
        "must not contain characters that change the direction of the text",
        "não pode ter caracteres que mudam a direção do texto";
    pub(crate) control_characters = "must not contain control characters", "não pode ter caracteres de controle";
    pub(super) invisible_characters =
        "must not contain invisible characters or text direction marks",
        "não pode ter caracteres invisíveis nem marcas de direção";
    pub(super) only_digits = "only digits are accepted", "só dígitos são aceitos";
    pub(super) card_number = "must not contain a card number", "não pode conter um número de cartão";
    pub(super) own_card_number = "must not contain the card's number", "não pode conter o número do cartão";

    // Single fields.
    pub(crate) unknown_method = "must be pix, boleto or credit_card", "deve ser pix, boleto ou credit_card";
    pub(super) no_brl = "must be BRL, in capitals", "deve ser BRL, em maiúsculas";
    pub(super) no_uuid = "must be a UUID with hyphens", "deve ser um UUID com hífens";
    pub(crate) no_email =
        "must be an e-mail address, such as maria@example.com", "deve ser um e-mail, como maria@example.com";
    pub(super) other_document_type = "does not match the document", "não corresponde ao documento";
    pub(super) unknown_document_type = "must be CPF or CNPJ", "deve ser CPF ou CNPJ";
    pub(super) no_brazil = "must be BR", "deve ser BR";
    pub(super) belongs_to(method: &str) = "is allowed for {method} only", "só é permitido em {method}";
    pub(super) due_out_of_range =
        "must be from today to 365 days ahead, in America/Sao_Paulo",
        "deve estar entre hoje e daqui a 365 dias, em America/Sao_Paulo";
    pub(crate) no_date =
        "must be a date, YYYY-MM-DD, such as 2030-12-31", "deve ser uma data, AAAA-MM-DD, como 2030-12-31";
    pub(super) no_time =
        "must be a time with an offset, such as 2026-11-21T12:00:00Z",
        "deve ser um horário com fuso, como 2026-11-21T12:00:00Z";
    pub(super) no_dice =
        "must be a string of digits, from 0 to 18446744073709551615",
        "deve ser um texto de dígitos, de 0 a 18446744073709551615";
    pub(super) its_name = "its name ", "seu nome ";
    pub(super) name_of_card_data(name: &str) =
        "{name} is a name of card data, which belongs only in creditCard",
        "{name} é um nome de dado de cartão, que só cabe em creditCard";

    // Splits.
    pub(super) mixed_splits =
        "must be all amounts or all percentages", "devem ser todos em valores ou todos em percentuais";
    pub(super) mixed_split =
        "must have an amount or a percentage, not both", "deve ter um valor ou um percentual, não os dois";
    pub(super) splits_exceed_amount = "must not add up to more than the amount", "não podem somar mais que o valor";
    pub(super) no_percentage =
        "must have at most two decimals and no exponent", "deve ter no máximo duas casas decimais e nenhum expoente";
    pub(super) percentage_out_of_range(least: &str, most: &str) =
        "must be from {least} to {most} percent", "deve estar entre {least} e {most} por cento";
    pub(super) splits_exceed_discounted =
        "must not add up to more than the amount less the greatest discount",
        "não podem somar mais que o valor menos o maior desconto";

    // Charges with a due date.
    pub(super) needs_due_date = "requires a dueDate", "exige dueDate";
    pub(super) excludes_due_date =
        "is not allowed for a PIX with a dueDate; payableAfterDueDays sets how long it may be paid",
        "não é permitido em um PIX com dueDate; payableAfterDueDays define até quando pode ser pago";
    pub(super) late_without_days =
        "must not be 0 with fine or interest: nobody could pay late",
        "não pode ser 0 com fine ou interest: ninguém poderia pagar em atraso";
    pub(super) mixed_portion =
        "must have an amount or a percentage, not both", "deve ter um valor ou um percentual, não os dois";
    pub(super) mixed_discounts =
        "must be all amounts or all percentages", "devem ser todos em valores ou todos em percentuais";
    pub(super) no_discount = "must have at least one entry", "deve ter pelo menos um item";
    pub(super) until_does_not_rise =
        "must be later than the one before", "deve ser posterior ao anterior";
    pub(super) discount_does_not_fall =
        "must be smaller than the one before", "deve ser menor que o anterior";
    pub(super) until_after_due_date =
        "must not be after the due date", "não pode ser posterior ao vencimento";
    pub(super) until_has_passed = "must be today or later", "deve ser hoje ou depois";
    pub(super) on_out_of_range =
        "must be from today to the last day on which it may be paid",
        "deve estar entre hoje e o último dia em que pode ser pago";
    pub(super) unknown_paid_by = "must be barcode or pix", "deve ser barcode ou pix";
    pub(super) nothing_left =
        "must leave at least 1 cent to pay", "deve deixar pelo menos 1 centavo a pagar";

    // postbackUrl.
    pub(super) blanks_in_url =
        "must not contain spaces or control characters", "não pode ter espaços nem caracteres de controle";
    pub(super) no_whole_url = "must be a complete URL", "deve ser uma URL completa";
    pub(super) no_port = "its port must be a number from 0 to 65535", "sua porta deve ser um número de 0 a 65535";
    pub(super) no_http_url = "must begin with https:// or http://", "deve começar com https:// ou http://";
    pub(super) credentials_in_url = "must not contain a user name or password", "não pode ter usuário nem senha";
    pub(super) fragment_in_url = "must not have a fragment (#)", "não pode ter fragmento (#)";
    pub(super) no_https = "must be https", "deve ser https";
    pub(super) no_public_address = "must be a public address", "deve ser um endereço público";

    // Cards.
    pub(super) token_beside_card =
        "replaces the whole card; send no other card field with it",
        "substitui o cartão inteiro; não envie outro campo do cartão junto";
    pub(super) needs_token_or_card =
        "needs token, or number, holderName, expirationMonth, expirationYear and cvv",
        "precisa de token, ou de number, holderName, expirationMonth, expirationYear e cvv";
    pub(super) needs_part_of_card = "needs number, bin or token", "precisa de number, bin ou token";
    pub(super) token_unknown =
        "is not a token of this merchant and mode; send a key of the same merchant and mode as the publishable key that \
         made it, or request a new token",
        "não é um token deste lojista e modo; envie uma chave do mesmo lojista e modo que a chave publicável que o criou, \
         ou peça outro token";
    pub(super) token_expired =
        "has expired: a token is valid for 15 minutes; request a new one",
        "venceu: um token vale por 15 minutos; peça outro";
    pub(super) long_holder_name =
        "is too long for a token; send fewer characters", "é longo demais para um token: envie menos caracteres";
    pub(super) card_expired = "the card's last month has passed", "o último mês do cartão já passou";
    pub(super) no_month = "must have one or two digits, such as 3 or 03", "deve ter um ou dois dígitos, como 3 ou 03";
    pub(super) no_year = "must have four digits, such as 2030", "deve ter quatro dígitos, como 2030";
    pub(super) no_cvv_length =
        "must have 3 digits (American Express: 4)", "deve ter 3 dígitos (American Express: 4)";
    pub(super) no_bin =
        "must be the first 6 to 8 digits of the card's number; alternatively, send number",
        "deve ter os primeiros 6 a 8 dígitos do cartão; ou envie number";
    pub(super) no_brand(names: &str) = "must be one of {names}", "deve ser um de {names}";
    pub(super) brand_not_known =
        "no known brand begins with these digits; send brand too",
        "nenhuma bandeira conhecida começa com estes dígitos; envie brand também";

    // Queries.
    pub(crate) unknown_status =
        "must be initial, pending, approved, paid, declined, expired, cancelled, refund or chargeback; \
         repeat the parameter for several",
        "deve ser initial, pending, approved, paid, declined, expired, cancelled, refund ou chargeback; \
         repita o parâmetro para vários";
    pub(crate) unknown_refund_status =
        "must be processing, succeeded or failed", "deve ser processing, succeeded ou failed";
    pub(crate) unknown_dispute_status = "must be open or won", "deve ser open ou won";
    pub(crate) unknown_state =
        "must be pending, delivered or exhausted", "deve ser pending, delivered ou exhausted";
    pub(crate) no_query_time =
        "must be a time in ISO 8601 with an offset, such as 2026-11-21T12:00:00.000Z",
        "deve ser um horário em ISO 8601 com fuso, como 2026-11-21T12:00:00.000Z";
    pub(crate) no_document =
        "must be a CPF (11 digits) or a CNPJ (14 characters), with or without its punctuation",
        "deve ser um CPF (11 dígitos) ou um CNPJ (14 caracteres), com ou sem pontuação";
    pub(crate) no_link_id =
        "must be the linkId of a payment link", "deve ser o linkId de um link de pagamento";
    pub(crate) unknown_link_status =
        "must be open, paid, expired or closed", "deve ser open, paid, expired ou closed";
    pub(super) no_method = "must name at least one method", "deve ter ao menos um meio de pagamento";
    pub(super) repeated_method = "is already in the list", "já está na lista";
    pub(super) link_expiry_out_of_range =
        "must be from 1 minute to 365 days ahead", "deve estar entre daqui a 1 minuto e daqui a 365 dias";
    pub(super) link_outlives_due_date =
        "must not be after the end of the due date, in America/Sao_Paulo",
        "não pode ser depois do fim do dia do vencimento, em America/Sao_Paulo";
    pub(super) excludes_due_in_days =
        "is not allowed together with dueDate", "não é permitido junto com dueDate";
    pub(super) needs_due_date_of_link =
        "requires dueDate or dueInDays", "exige dueDate ou dueInDays";
    pub(super) http_on_loopback_only =
        "must be https; in development, http with a loopback address is also allowed",
        "deve ser https; em desenvolvimento, também http com endereço local";
    pub(crate) no_transaction_id =
        "must be the id of a payment, a UUID with hyphens", "deve ser o id de um pagamento, um UUID com hífens";
    pub(crate) later_than(end: &str) = "must not be later than {end}", "não pode ser depois de {end}";
    pub(crate) no_limit = "must be from 1 to 100", "deve estar entre 1 e 100";
    pub(crate) no_cursor = "must be a nextCursor of this list", "deve ser um nextCursor desta lista";
    pub(crate) repeated_parameter = "must not be repeated", "não pode ser repetido";
    pub(crate) no_parameter = "is not a parameter; ", "não é um parâmetro; ";
    pub(crate) did_you_mean(name: &str) = "did you mean {name}? ", "seria {name}? ";
    pub(crate) without_parameters =
        "this address has no parameters", "este endereço não tem parâmetros";
    pub(crate) parameters(names: &str) = "this address accepts {names}", "este endereço aceita {names}";

    // The refusal as a whole.
    and_more(count: usize) = "; and {count} more", "; e mais {count}";
}

/// Returns a sentence preceded by the name of its field, if it has one.
pub(super) fn at(field: &str, message: &Wording) -> Wording {
    if field.is_empty() {
        return message.clone();
    }
    message.map(|text| format!("{field}: {text}"))
}

/// Returns the words that follow the first of `count` violations.
pub(super) fn rest_of(count: usize) -> Wording {
    if count > 1 { and_more(count.saturating_sub(1)) } else { Wording::fixed("", "") }
}

/// Returns the sentence about a document.
pub(super) fn document(error: DocumentError) -> Wording {
    wordings! {
        character =
            "a CPF has only digits, a CNPJ digits and capital letters: 52998224725, not 529.982.247-25",
            "um CPF só tem dígitos, um CNPJ dígitos e maiúsculas: 52998224725, e não 529.982.247-25";
        length = "a CPF has 11 digits, a CNPJ 14 characters", "um CPF tem 11 dígitos, um CNPJ 14 caracteres";
        repeated =
            "a CPF or CNPJ can't be one character repeated", "um CPF ou CNPJ não pode ser um só caractere repetido";
        check_digit = "the check digits are wrong", "os dígitos verificadores estão errados";
    }
    match error {
        DocumentError::Character => character(),
        DocumentError::Length => length(),
        DocumentError::Repeated => repeated(),
        DocumentError::CheckDigit => check_digit(),
    }
}

/// Returns the sentence about a phone number.
pub(super) fn phone(error: PhoneError) -> Wording {
    wordings! {
        character =
            "a phone number has only digits: 11987654321, not (11) 98765-4321",
            "um telefone só tem dígitos: 11987654321, e não (11) 98765-4321";
        length =
            "a phone number has 10 to 13 digits, with its area code, such as 11987654321",
            "um telefone tem de 10 a 13 dígitos, com o DDD, como 11987654321";
        country =
            "a phone number of 12 or 13 digits begins with 55", "um telefone de 12 ou 13 dígitos começa com 55";
        area_code = "the area code does not exist", "o DDD não existe";
        subscriber =
            "a mobile has 9 digits and begins with 9, a landline has 8 and begins with 2 to 5",
            "um celular tem 9 dígitos e começa com 9, um fixo tem 8 e começa de 2 a 5";
    }
    match error {
        PhoneError::Character => character(),
        PhoneError::Length => length(),
        PhoneError::Country => country(),
        PhoneError::AreaCode => area_code(),
        PhoneError::Subscriber => subscriber(),
    }
}

/// Returns the sentence about a CEP or a UF.
pub(super) fn place(error: PostalError) -> Wording {
    wordings! {
        cep = "a CEP has exactly 8 digits: 01310100, not 01310-100", "um CEP tem 8 dígitos: 01310100, e não 01310-100";
        uf = "not one of the 27 two-letter UF codes, such as SP", "não é uma das 27 siglas de UF, como SP";
    }
    match error {
        PostalError::Cep => cep(),
        PostalError::Uf => uf(),
    }
}

/// Returns the sentence about a card.
pub(super) fn card(error: CardError) -> Wording {
    wordings! {
        length = "must have 13 to 19 digits", "deve ter de 13 a 19 dígitos";
        check_digit = "the check digit is wrong", "o dígito verificador está errado";
        unknown_brand = "the card's brand is unknown", "a bandeira do cartão não é conhecida";
        brand_length =
            "the card's brand has no numbers of this length", "a bandeira do cartão não tem números deste tamanho";
        month = "must be from 1 to 12", "deve estar entre 1 e 12";
        form = "must be written as MM/YYYY", "deve ser escrito como MM/AAAA";
    }
    match error {
        CardError::Character => only_digits(),
        CardError::Length => length(),
        CardError::CheckDigit => check_digit(),
        CardError::UnknownBrand => unknown_brand(),
        CardError::BrandLength => brand_length(),
        CardError::Month => month(),
        CardError::Year => no_year(),
        CardError::ExpiryForm => form(),
    }
}
