"""Uses the client that openapi-python-client made: every method is created, read and refunded."""

import sys
from collections.abc import Callable

from quita_client.api.operations import refund_payment
from quita_client.api.payments import create_payment, list_payments, read_payment
from quita_client.api.sandbox import move_sandbox_payment
from quita_client.client import AuthenticatedClient
from quita_client.models import (
    Address,
    AddressState,
    AmountInput,
    CardInput,
    CreateBoleto,
    CreateBoletoPaymentMethod,
    CreateCard,
    CreateCardPaymentMethod,
    CreatePix,
    CreatePixPaymentMethod,
    Error,
    ErrorCode,
    MoveSandboxPaymentAction,
    Payer,
    PaymentMethod,
    PaymentRecord,
    RecordedMethod,
    Refund,
    Status,
)
from quita_client.models.refund_status import RefundStatus

# Stays pending in the sandbox until somebody moves it.
PENDING = 10_027

PAYER = Payer(
    first_name="Maria",
    last_name="Silva",
    document="52998224725",
    document_type="CPF",
    email="maria@example.com",
    phone_number="11987654321",
    address=Address(
        street="Rua Augusta",
        number="100",
        neighborhood="Consolação",
        city="São Paulo",
        state=AddressState.SP,
        zip_code="01304000",
    ),
)
CARD = CardInput(
    number="4242424242424242", holder_name="MARIA SILVA", expiration_month=12, expiration_year=2049, cvv="123"
)


def pix() -> CreatePix:
    return CreatePix(CreatePixPaymentMethod.PIX, PENDING, "BRL", PAYER)


def boleto() -> CreateBoleto:
    return CreateBoleto(CreateBoletoPaymentMethod.BOLETO, PENDING, "BRL", PAYER)


def card() -> CreateCard:
    return CreateCard(
        CreateCardPaymentMethod.CREDIT_CARD, PENDING, "BRL", PAYER, installments=3, credit_card=CARD
    )


def check(client: AuthenticatedClient, order: Callable, method: RecordedMethod) -> None:
    """A whole life of one payment, with nothing but what was generated."""
    created = create_payment.sync(client=client, body=order(), idempotency_key=f"python-{method}")
    assert isinstance(created, PaymentRecord), created
    assert created.payment_method == method
    name = created.transaction_id
    read = read_payment.sync(name, client=client)
    assert isinstance(read, PaymentRecord) and read.transaction_id == name, read
    if read.status != Status.PAID:
        moved = move_sandbox_payment.sync(name, MoveSandboxPaymentAction.PAY, client=client)
        assert isinstance(moved, PaymentRecord) and moved.status == Status.PAID, moved
    part = refund_payment.sync(name, client=client, body=AmountInput(amount=27))
    assert isinstance(part, Refund) and part.status == RefundStatus.SUCCEEDED and part.amount == "0.27", part
    rest = refund_payment.sync(name, client=client, body=AmountInput())
    assert isinstance(rest, Refund) and rest.amount == "100.00", rest
    again = refund_payment.sync(name, client=client, body=AmountInput())
    assert isinstance(again, Error) and again.code == ErrorCode.STATUS_CONFLICT, again
    refunded = read_payment.sync(name, client=client)
    assert isinstance(refunded, PaymentRecord) and refunded.status == Status.REFUND, refunded


def main(url: str, key: str) -> None:
    client = AuthenticatedClient(base_url=url, token=key, raise_on_unexpected_status=True)
    for order, method in [
        (pix, RecordedMethod.PIX),
        (boleto, RecordedMethod.BOLETO),
        (card, RecordedMethod.CREDIT_CARD),
    ]:
        check(client, order, method)
    page = list_payments.sync(client=client, payment_method=PaymentMethod.BOLETO)
    assert not isinstance(page, Error) and len(page.data) == 1, page


if __name__ == "__main__":
    main(*sys.argv[1:])
