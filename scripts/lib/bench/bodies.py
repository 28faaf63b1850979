"""What is asked for: creations as merchants send them, and files with their JSON."""

import json
import os

PAYER = {
    "firstName": "Maria", "lastName": "da Silva", "document": "52998224725", "documentType": "CPF",
    "email": "maria.silva@example.com", "phoneNumber": "11987654321",
    "address": {"street": "Rua Augusta", "number": "100", "neighborhood": "Consolação", "city": "São Paulo",
                "state": "SP", "zipCode": "01304000"},
}
# Cents 27 stay pending in the sandbox; 00 are paid after two seconds.
STAYS_PENDING, IS_PAID = 10027, 10000
CARD = {
    "installments": 1,
    "creditCard": {"number": "4242424242424242", "holderName": "MARIA DA SILVA", "expirationMonth": 12,
                   "expirationYear": 2049, "cvv": "123"},
}


def creation(method, amount, more=None):
    return {
        "paymentMethod": method, "amount": amount, "currency": "BRL", "paymentDetails": PAYER,
        "items": [{"name": "Camiseta", "quantity": 2, "price": amount // 2}], "externalReference": "pedido-4711",
        **(more or {}),
    }


class Bodies:
    """Their files."""

    def __init__(self, directory, postback_url):
        self.directory = directory
        self.pix = self.write("pix", creation("pix", STAYS_PENDING))
        self.boleto = self.write("boleto", creation("boleto", STAYS_PENDING))
        self.card = self.write("card", creation("credit_card", IS_PAID, CARD))
        self.told = self.write("told", creation("pix", IS_PAID, {"postbackUrl": postback_url}))
        self.told_card = self.write("told-card", creation("credit_card", IS_PAID, {**CARD, "postbackUrl": postback_url}))

    def write(self, name, body):
        path = os.path.join(self.directory, f"{name}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(body, file, ensure_ascii=False)
        return path
