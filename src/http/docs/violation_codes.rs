//! Meanings of the codes of single violations, as the error pages show them.

use quita_domain::request::code;
use quita_domain::wording::Wording;

/// Every code with its meaning, in the order of [`code::ALL`].
pub(super) const MEANINGS: [(&str, Wording); 33] = [
    (
        code::REQUIRED,
        Wording::fixed(
            "A required field is missing or `null`.",
            "Um campo obrigatório está ausente ou é `null`.",
        ),
    ),
    (
        code::TYPE,
        Wording::fixed(
            "The value has the wrong JSON type, or an integer has a fraction or an exponent.",
            "O valor tem o tipo JSON errado, ou um inteiro tem fração ou expoente.",
        ),
    ),
    (
        code::SYNTAX,
        Wording::fixed(
            "The body is not JSON in UTF-8, or is nested too deeply.",
            "O corpo não é JSON em UTF-8, ou tem níveis demais.",
        ),
    ),
    (
        code::DUPLICATE,
        Wording::fixed(
            "Two members of one object, or two parameters of a query, have the same name.",
            "Dois campos do mesmo objeto, ou dois parâmetros da consulta, têm o mesmo nome.",
        ),
    ),
    (
        code::UNKNOWN_PARAMETER,
        Wording::fixed("The address has no such parameter.", "O endereço não tem tal parâmetro."),
    ),
    (
        code::CURSOR,
        Wording::fixed("The cursor was not issued by this list.", "O cursor não foi emitido por esta lista."),
    ),
    (
        code::LENGTH,
        Wording::fixed("There are too few or too many characters.", "Há caracteres de menos ou demais."),
    ),
    (
        code::TOO_MANY,
        Wording::fixed(
            "There are more entries than the list or object may have.",
            "Há mais itens do que a lista ou o objeto pode ter.",
        ),
    ),
    (
        code::TOO_FEW,
        Wording::fixed(
            "There are fewer entries than the list must have.",
            "Há menos itens do que a lista deve ter.",
        ),
    ),
    (
        code::RANGE,
        Wording::fixed(
            "The value is below or above what is allowed; a date is outside its window.",
            "O valor está abaixo ou acima do permitido; uma data está fora do prazo.",
        ),
    ),
    (
        code::CHARACTER,
        Wording::fixed(
            "The value has a character that the field can't have.",
            "O valor tem um caractere que o campo não pode ter.",
        ),
    ),
    (
        code::FORMAT,
        Wording::fixed(
            "The value is not in the format that the field requires.",
            "O valor não está no formato que o campo exige.",
        ),
    ),
    (
        code::UNKNOWN_VALUE,
        Wording::fixed(
            "The value is not one that the field accepts.",
            "O valor não é um dos que o campo aceita.",
        ),
    ),
    (
        code::MISMATCH,
        Wording::fixed("The value contradicts another field.", "O valor contradiz outro campo."),
    ),
    (
        code::MIXED,
        Wording::fixed(
            "Amounts and percentages are mixed in one list, or in one share, fine, interest or discount.",
            "Há valores e percentuais na mesma lista, ou na mesma parte, multa, juro ou desconto.",
        ),
    ),
    (
        code::ORDER,
        Wording::fixed(
            "The entries of a list are in the wrong order. Each discount must end later and be smaller than the one before.",
            "Os itens da lista estão na ordem errada. Cada desconto deve terminar depois e ser menor que o anterior.",
        ),
    ),
    (
        code::EXCEEDS_AMOUNT,
        Wording::fixed(
            "The shares add up to more than the amount, or to more than is left of it after the greatest discount.",
            "As partes somam mais que o valor, ou mais do que resta dele após o maior desconto.",
        ),
    ),
    (
        code::NOT_APPLICABLE,
        Wording::fixed(
            "The field belongs to another payment method, to a PIX with or without a due date, or to another operation.",
            "O campo é de outro método de pagamento, de um PIX com ou sem vencimento, ou de outra operação.",
        ),
    ),
    (
        code::CARD_NUMBER,
        Wording::fixed(
            "A card number, or a name of card data, is in a place where none is allowed.",
            "Há um número de cartão, ou um nome de dado de cartão, onde não é permitido.",
        ),
    ),
    (code::EXPIRED, Wording::fixed("The card's last month has passed.", "O último mês do cartão já passou.")),
    (
        code::NOT_PUBLIC,
        Wording::fixed(
            "The URL is not `https`, or its address is not public.",
            "A URL não é `https`, ou seu endereço não é público.",
        ),
    ),
    (
        code::REPEATED,
        Wording::fixed("The document is one repeated character.", "O documento é um só caractere repetido."),
    ),
    (
        code::CHECK_DIGIT,
        Wording::fixed(
            "The check digits do not match the other characters.",
            "Os dígitos verificadores não correspondem aos outros caracteres.",
        ),
    ),
    (
        code::COUNTRY,
        Wording::fixed(
            "A phone number of 12 or 13 digits does not begin with 55.",
            "Um telefone de 12 ou 13 dígitos não começa com 55.",
        ),
    ),
    (code::AREA_CODE, Wording::fixed("The area code does not exist.", "O DDD não existe.")),
    (
        code::SUBSCRIBER,
        Wording::fixed(
            "The number is neither a mobile nor a landline.",
            "O número não é de celular nem de fixo.",
        ),
    ),
    (
        code::UNKNOWN_BRAND,
        Wording::fixed("The card's brand is unknown.", "A bandeira do cartão não é conhecida."),
    ),
    (
        code::METHOD_UNAVAILABLE,
        Wording::fixed(
            "No acquirer of this payment method in the mode of the key is configured, or accepts the terms.",
            "Nenhum adquirente deste meio de pagamento no modo da chave está configurado, ou aceita as condições.",
        ),
    ),
    (
        code::AMOUNT_NOT_ACCEPTED,
        Wording::fixed(
            "No acquirer of this payment method in the mode of the key accepts the amount.",
            "Nenhum adquirente deste meio de pagamento no modo da chave aceita o valor.",
        ),
    ),
    (
        code::BRAND_LENGTH,
        Wording::fixed(
            "The card's brand has no numbers of this length.",
            "A bandeira do cartão não tem números deste tamanho.",
        ),
    ),
    (
        code::TOKEN_EXPIRED,
        Wording::fixed(
            "The card token is older than 15 minutes.",
            "O token do cartão tem mais de 15 minutos.",
        ),
    ),
    (
        code::TOKEN_USED,
        Wording::fixed(
            "Another payment has already used the card token.",
            "Outro pagamento já usou o token do cartão.",
        ),
    ),
    (
        code::TOKEN_UNKNOWN,
        Wording::fixed(
            "The token is not one of the key's merchant and mode, or the secret key that sealed it is gone.",
            "Não é um token do lojista e do modo da chave, ou a chave secreta que o selou não existe mais.",
        ),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_meaning() {
        assert_eq!(MEANINGS.each_ref().map(|(code, _)| *code), code::ALL);
    }
}
