"""A client of API Pix that is not ours (PyPI brbank, MIT) against a bank on this machine.

python brbank_judge.py URL                      plain HTTP, a fixed token
python brbank_judge.py URL CERT.pem KEY.pem     mutual TLS (SSL_CERT_FILE=ca.pem), every dialect it knows under URL/NAME

The bank must hold the Pix that is refunded. Exit status 1 if a call failed.
"""

import asyncio
import dataclasses
import sys
from datetime import date, timedelta
from decimal import Decimal

from brbank.adapters.pix_bacen import PERFIS, PerfilPsp, PixBacenAdapter, PixBacenConfig
from brbank.modelos import Pessoa, Titulo

URL, TLS = sys.argv[1].rstrip("/"), sys.argv[2:4]
KEY = "123e4567-e12b-12d1-a456-426655440000"
PIX = "E1234567820261121120000000000001"
BACEN = PerfilPsp(
    nome="bacen",
    url_sandbox=URL,
    url_producao=URL,
    url_token_sandbox="",
    url_token_producao="",
    autenticacao="estatico",
    mtls_producao=False,
    mtls_sandbox=False,
    http1=True,
)
failed = 0


def local(profile):
    """The dialect with our bank in place of its hosts; its paths stay."""

    def here(url):
        return f"{URL}/{profile.nome}/{url.split('://', 1)[1].split('/', 1)[1]}" if url else None

    return dataclasses.replace(
        profile,
        url_producao=here(profile.url_producao),
        url_token_producao=here(profile.url_token_producao),
        url_revisao=here(profile.url_revisao),
    )


async def judge(profile, **how):
    global failed
    config = PixBacenConfig(
        perfil=profile, conta="c1", chave_pix=KEY, modalidade="cob", ambiente="producao", **how
    )
    client = PixBacenAdapter(config)
    charge = Titulo(
        # The txid follows from it: each dialect has a charge of its own.
        chave_idempotencia=profile.nome,
        seu_numero="42",
        valor=Decimal("10.00"),
        vencimento=date.today() + timedelta(3),
        pagador=Pessoa(nome="Fulano de Tal", documento="11144477735"),
    )
    txid = None

    async def create():
        nonlocal txid
        created = await client.registrar_titulo(charge)
        txid = created.txid
        return created

    calls = {
        "create": create,
        "create again": create,
        "read": lambda: client.consultar_titulo(txid),
        "remove": lambda: client.baixar_titulo(txid),
        "webhook": lambda: client.configurar_webhook("https://q.example/acquirers/bank/notifications"),
        "refund": lambda: client.devolver_pix(PIX, "R1", Decimal("7.89")),
    }
    for name, call in calls.items():
        try:
            answer = await call()
            print(profile.nome, name, "ok", getattr(answer, "status", ""))
        except Exception as error:
            failed += 1
            print(profile.nome, name, "FAILED", type(error).__name__, str(error)[:160])
    await client.aclose()


async def main():
    if not TLS:
        await judge(BACEN, token_estatico="t")
        return
    certificate, key = (open(name, "rb").read() for name in TLS)
    for profile in PERFIS.values():
        await judge(
            local(profile),
            client_id="id",
            client_secret="secret",
            certificado_pem=certificate,
            chave_pem=key,
            app_key="appkey",
            id_parceiro="partner",
        )


asyncio.run(main())
sys.exit(failed > 0)
