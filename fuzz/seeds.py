#!/usr/bin/env python3
"""Writes the seeds below fuzz/corpus that come from the public vectors in domain/tests/vectors and from cnab/tests/files. Run it
when those change.

The first byte of most inputs chooses what is tried; see the targets. Inputs named find-* are not touched: each was a
find once, and stays as its regression."""

import json
import pathlib

here = pathlib.Path(__file__).resolve().parent
vectors = here.parent / "domain" / "tests" / "vectors"
return_files = here.parent / "cnab" / "tests" / "files"

PAYER = {
    "firstName": "Maria", "lastName": "da Silva", "document": "52998224725", "documentType": "CPF",
    "email": "maria.silva@example.com", "phoneNumber": "11987654321",
    "address": {"street": "Rua Augusta", "number": "100", "neighborhood": "Consolação", "city": "São Paulo",
                "state": "SP", "zipCode": "01304000"},
}
PIX = {"paymentMethod": "pix", "amount": 10000, "currency": "BRL", "paymentDetails": PAYER}
CARD = PIX | {"paymentMethod": "credit_card", "installments": 3, "capture": False, "creditCard": {
    "number": "4242424242424242", "holderName": "MARIA DA SILVA", "expirationMonth": 12, "expirationYear": 2049,
    "cvv": "123"}}
FULL = CARD | {
    "shipping": {"fee": 500}, "items": [{"name": "Camiseta", "quantity": 2, "price": 5000}],
    "splits": [{"recipientId": "r1", "percentage": 12.50}, {"recipientId": "r2", "percentage": 50}],
    "postbackUrl": "https://shop.example.com/hooks", "UTMSource": "x", "externalReference": "order-7",
    "metadata": {"color": "blue"}}
BOLETO = PIX | {"paymentMethod": "BOLETO", "dueDate": "2026-11-25"}

FACTS = [
    {"fact": "Settled", "id": "s1", "amount": 10000}, {"fact": "Authorized", "authorizationCode": "123456"},
    {"fact": "Declined", "code": "insufficient_funds"}, {"fact": "Refunded", "refundId": "r1", "amount": 500},
    {"fact": "Pending", "issued": {"kind": "Pix", "txid": "t" * 32, "code": "c", "expiresAt": 1795266000000}},
]
FACTS = [fact | {"fact": fact["fact"][0].lower() + fact["fact"][1:]} for fact in FACTS]
FACTS += [{"fact": name} for name in ("expired", "cancelled")]
FACTS += [{"fact": "chargedBack", "id": "c1"}, {"fact": "disputeWon", "id": "w1"}]
FACTS[4]["issued"]["kind"] = "pix"
REFUND = {"id": "01935a1b7c007abc8def000000000001", "rtrId": "D1", "valor": "1.00", "status": "DEVOLVIDO",
          "natureza": "ORIGINAL", "horario": {"solicitacao": "2026-11-21T12:01:00Z"}}
PIX_IN = {"endToEndId": "E1", "txid": "01935a1b7c007abc8def0123456789ab", "valor": "10.00",
          "chave": "123e4567-e12b-12d1-a456-426655440000", "horario": "2026-11-21T12:00:00Z",
          "pagador": {"cpf": "52998224725", "nome": "Maria da Silva"}, "devolucoes": [REFUND, REFUND | {"id": "r2"}]}
PAGING = {"paginacao": {"paginaAtual": 0, "quantidadeDePaginas": 1, "quantidadeTotalDeItens": 2}}
ID = "123e4567-e12b-12d1-a456-426655440000"


def inputs(name, field):
    return [vector["input"][field] for vector in json.loads((vectors / f"{name}.json").read_text())]


def some(texts, count, first=""):
    distinct = list(dict.fromkeys(text for text in texts if text))
    return [first + text for text in distinct[:: max(1, len(distinct) // count)][:count]]


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


seeds = {
    "br_code": some(inputs("brcode_parse", "payload"), 20, "0"),
    "boleto": some(inputs("boleto_validate", "code"), 16, "0"),
    "identifiers": some(inputs("documents", "value"), 12, "9") + some(inputs("cards", "number"), 10, "9")
    + some(inputs("phones", "phone"), 6, "9") + some(inputs("pix_keys", "key"), 8, "9")
    + some(inputs("pix_ids", "value"), 6, "9") + some(inputs("text_ascii", "text"), 4, "9")
    + ["912/2030", "9SP", "901310100", "9123.45", "9payments:write",
       "9qk_test_0101010101010101_" + "A" * 43],
    # The choice 0 leaves them as they are; the others change them.
    "cnab": ["\0" + path.read_bytes().decode() for path in sorted(return_files.glob("*.ret"))]
    + [chr(choice) + "\1\x90X\0\x05 " for choice in range(1, 9)],
    "creation": [compact(body) for body in (PIX, CARD, FULL, BOLETO, {"amount": 500}, {})],
    "listing": [
        "status=paid&status=pending&limit=100&paymentMethod=pix", "limit=20&cursor=MTc5NTI2MjQwMDAwNS4" + "A" * 48,
        "createdFrom=2026-11-21T12:00:00.000Z&createdTo=2026-11-21T09:00:00-03:00&document=52998224725",
        f"transactionId={ID}&state=exhausted&email=a%40b.c&externalReference=%C3%A9", ID,
        "2026-11-21T12:00:00.000Z", f"dlv_{ID.replace('-', '')}_3", "credit_card"],
    "notice": [choice + compact(fact) for choice, fact in zip("024024024", FACTS)]
    + ["0" + "\n".join(map(compact, FACTS)), "6" + "\n".join(map(compact, reversed(FACTS))),
       "0" + compact({"eventId": "e1", "transactionId": ID} | FACTS[0]),
       "0" + compact({"id": "sandbox:e1", "acquirer": "sandbox", "transactionId": ID, "fact": FACTS[0],
                      "receivedAt": 1795262400000})],
    # The choice 0 is a page as it is, 1 changes one, others are an answer of another status: 300 and the second byte.
    "pix_list": ["\0" + compact(page) for page in (
        {"parametros": PAGING, "pix": [PIX_IN, {"endToEndId": "E2", "valor": 5.5}]},
        {"parametros": PAGING, "pix": PIX_IN | {"devolucoes": REFUND | {"natureza": "MED_FRAUDE"}}},
        {"parametros": {"paginacao": {"quantidadeTotalDeItens": "0"}}}, {"pix": []})]
    + ["\1\2\x90X\0\x05 "]
    + ["\2" + status + compact({"title": "Erro", "violacoes": [{"razao": "CPF 529.982.247-25 inválido"}]})
       for status in "d\1"],
    "settings": ["sqlite:data/quita.db", "sqlite:///var/q.db", "mongodb://user@h1:1,h2:2/quita?replicaSet=rs",
                 "mongodb+srv://user:x@host/quita", "500ms", "90d", "120", "Sat, 21 Nov 2026 12:01:30 GMT", "inf"],
    "webhook": ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_" + "A" * 43 + "=", "localhost.example.com"],
}

for target, texts in seeds.items():
    folder = here / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("seed-*"):
        old.unlink()
    for number, text in enumerate(texts):
        (folder / f"seed-{number:02}").write_bytes(text.encode())
