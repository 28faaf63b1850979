//! Meanings of the codes of single violations, as the error pages show them.

use quita_domain::request::code;
use quita_domain::wording::Wording;

/// Every code with its meaning, in the order of [`code::ALL`].
pub(super) const MEANINGS: [(&str, Wording); 31] = [
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
            "The JSON type is another than the field's; or a fraction or exponent stands where an integer is due.",
            "O tipo JSON não é o do campo; ou há fração ou expoente onde cabe um inteiro.",
        ),
    ),
    (
        code::SYNTAX,
        Wording::fixed(
            "The body is no JSON in UTF-8, or nested too deeply.",
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
        Wording::fixed(
            "The cursor is none that this list handed out.",
            "O cursor não foi emitido por esta lista.",
        ),
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
            "The field can't have one of its characters.",
            "O campo não pode ter um de seus caracteres.",
        ),
    ),
    (
        code::FORMAT,
        Wording::fixed(
            "The value is not written as the field demands.",
            "O valor não está escrito como o campo exige.",
        ),
    ),
    (code::UNKNOWN_VALUE, Wording::fixed("The field knows no such value.", "O campo não conhece tal valor.")),
    (
        code::MISMATCH,
        Wording::fixed("The value contradicts another field.", "O valor contradiz outro campo."),
    ),
    (
        code::MIXED,
        Wording::fixed(
            "Amounts and percentages stand in one list, or in one share, fine, interest or discount.",
            "Há valores e percentuais na mesma lista, ou na mesma parte, multa, juro ou desconto.",
        ),
    ),
    (
        code::ORDER,
        Wording::fixed(
            "The entries of a list must rise or fall, and don't: discounts have later days and smaller sizes.",
            "Os itens da lista devem crescer ou diminuir, e não é assim: descontos têm dias posteriores e tamanhos menores.",
        ),
    ),
    (
        code::EXCEEDS_AMOUNT,
        Wording::fixed(
            "The shares come to more than the amount, or to more than the greatest discount leaves of it.",
            "As partes somam mais que o valor, ou mais do que o maior desconto deixa dele.",
        ),
    ),
    (
        code::NOT_APPLICABLE,
        Wording::fixed(
            "The field belongs to another payment method, or to a PIX with or without a due date.",
            "O campo é de outro método de pagamento, ou de um PIX com ou sem vencimento.",
        ),
    ),
    (
        code::CARD_NUMBER,
        Wording::fixed(
            "A card number, or a name of card data, stands where none belongs.",
            "Há um número de cartão, ou um nome de dado de cartão, onde não cabe.",
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
        Wording::fixed(
            "The document is one character, repeated.",
            "O documento é um só caractere, repetido.",
        ),
    ),
    (
        code::CHECK_DIGIT,
        Wording::fixed(
            "The check digits do not follow from the others.",
            "Os dígitos verificadores não decorrem dos outros.",
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
        Wording::fixed("The card's brand is not known.", "A bandeira do cartão não é conhecida."),
    ),
    (
        code::METHOD_UNAVAILABLE,
        Wording::fixed(
            "No acquirer is configured for this payment method in the mode of the key.",
            "Nenhum adquirente está configurado para este meio de pagamento no modo da chave.",
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
            "The token of the card is older than 15 minutes.",
            "O token do cartão tem mais de 15 minutos.",
        ),
    ),
    (
        code::TOKEN_UNKNOWN,
        Wording::fixed(
            "It is no token of the merchant and mode of the key, or the secret key that sealed it is gone.",
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
