"""Two clients of Sicoob's Cobrança Bancária v3 that are not ours (PyPI brbank and sicoob-sdk, both MIT) against the bank
of boletos on this machine, by mutual TLS.

python sicoob_judge.py URL CONTROL CERT.pem KEY.pem     (SSL_CERT_FILE and REQUESTS_CA_BUNDLE are its authority)

Exit status 1 if a client is not content.
"""

import asyncio
import os
import ssl
import sys
from datetime import date, timedelta
from decimal import Decimal

import httpx
from brbank.adapters import sicoob as brbank
from brbank.modelos import Encargos, Endereco, Instrucao, Pessoa, TipoInstrucao, Titulo
from brbank.status import StatusCanonico
from quita_service import Desk

URL, CONTROL, CERTIFICATE, KEY = sys.argv[1:5]
BASE = f"{URL}/cobranca-bancaria/v3"
DUE = date.today() + timedelta(5)
desk = Desk(CONTROL)
failed = 0


def judged(who, what, is_right, said=""):
    global failed
    failed += not is_right
    print(who, what, "ok" if is_right else f"FAILED: {said}")


async def judge_brbank():
    brbank.URL_PRODUCAO, brbank.URL_TOKEN = BASE, f"{URL}/token"
    context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
    context.load_cert_chain(CERTIFICATE, KEY)
    config = brbank.SicoobConfig(
        conta="c1",
        client_id="id",
        numero_cliente=25546454,
        numero_conta_corrente="123456",
        codigo_especie_documento="DM",
        requisicoes_por_segundo=None,
    )
    client = brbank.SicoobAdapter(config, client=httpx.AsyncClient(verify=context, base_url=BASE))

    async def tried(what, call, is_right):
        try:
            answer = await call
            judged("brbank", what, is_right(answer), answer)
            return answer
        except Exception as error:
            judged("brbank", what, False, f"{type(error).__name__} {error}"[:200])
            return None

    title = Titulo(
        chave_idempotencia="k1",
        seu_numero="PEDIDO1",
        valor=Decimal("100.00"),
        vencimento=DUE,
        pagador=Pessoa(
            nome="Fulano de Tal",
            documento="11144477735",
            endereco=Endereco(
                logradouro="Rua Um", numero="10", bairro="Centro", cidade="São Paulo", uf="SP", cep="01310100"
            ),
        ),
        encargos=Encargos(multa_percentual=Decimal("2.00"), juros_mensal_percentual=Decimal("1.00")),
        mensagens=["Não receber após 30 dias"],
    )
    made = await tried(
        "registers a hybrid title",
        client.registrar_titulo(title),
        lambda made: made.pix_copia_cola and len(made.codigo_barras) == 44 and len(made.linha_digitavel) == 47,
    )
    if made is None:
        return
    number = made.nosso_numero
    read = lambda: client.consultar_titulo(number)  # noqa: E731
    await tried("reads it", read(), lambda told: told.status is StatusCanonico.REGISTRADO)
    day = DUE + timedelta(1)
    later = Instrucao(chave_idempotencia="k2", tipo=TipoInstrucao.PRORROGACAO, nova_data_vencimento=day)
    await tried("extends it", client.enviar_instrucao(number, later), lambda told: told.resposta_bruta)
    rebate = Instrucao(chave_idempotencia="k3", tipo=TipoInstrucao.ABATIMENTO, valor=Decimal("1.50"))
    await tried("gives a rebate", client.enviar_instrucao(number, rebate), lambda told: told.resposta_bruta)
    await tried("fetches its PDF", client.obter_pdf(number), lambda pdf: pdf.startswith(b"%PDF"))
    desk.do(f"pay/{number}")
    await tried(
        "sees it paid, not the fee",
        read(),
        lambda told: told.status is StatusCanonico.LIQUIDADO and told.valor_pago == Decimal("98.50"),
    )
    next_title = title.model_copy(update={"seu_numero": "PEDIDO2"})
    other = await tried("registers another", client.registrar_titulo(next_title), lambda made: made.nosso_numero != number)
    if other is not None:
        await tried("writes it off", client.baixar_titulo(other.nosso_numero), lambda told: told)
        sees = client.consultar_titulo(other.nosso_numero)
        await tried("sees it written off", sees, lambda told: told.status is StatusCanonico.BAIXADO)
    await client.aclose()


def judge_sdk():
    os.environ["SICOOB_BASE_URL"], os.environ["SICOOB_AUTH_URL"] = URL, f"{URL}/token"
    from sicoob import Sicoob

    client = Sicoob(client_id="id", certificado=CERTIFICATE, chave_privada=KEY, environment="production")
    boleto = client.cobranca.boleto
    title = {
        "numeroCliente": 25546454,
        "codigoModalidade": 1,
        "numeroContaCorrente": 123456,
        "codigoEspecieDocumento": "DM",
        "dataEmissao": date.today().isoformat(),
        "dataVencimento": DUE.isoformat(),
        "dataLimitePagamento": (DUE + timedelta(30)).isoformat(),
        "seuNumero": "PEDIDO3",
        "nossoNumero": 4242,
        "identificacaoEmissaoBoleto": 2,
        "identificacaoDistribuicaoBoleto": 2,
        "valor": 156.23,
        "tipoDesconto": 1,
        "dataPrimeiroDesconto": date.today().isoformat(),
        "valorPrimeiroDesconto": 1.5,
        "tipoMulta": 0,
        "tipoJurosMora": 3,
        "numeroParcela": 1,
        "aceite": True,
        "pagador": {
            "numeroCpfCnpj": "11144477735",
            "nome": "Fulano de Tal",
            "endereco": "Rua Um 10",
            "bairro": "Centro",
            "cidade": "Sao Paulo",
            "cep": "01310100",
            "uf": "SP",
            "email": "fulano@example.com",
        },
        "codigoCadastrarPIX": 1,
    }
    ours = {"numeroCliente": 25546454, "codigoModalidade": 1}

    def tried(what, call, is_right):
        try:
            answer = call()
            judged("sicoob-sdk", what, is_right(answer), answer)
        except Exception as error:
            judged("sicoob-sdk", what, False, f"{type(error).__name__} {error}"[:200])

    def number(answer):
        found = answer["resultado"]
        return found.get("resultado", found)["nossoNumero"]

    desk.do("faults", method="POST", path="/boletos", next=[{"fault": "reset-after"}])
    tried(
        "loses the answer, tries again and recovers the one title",
        lambda: recovered(boleto, title),
        lambda answer: number(answer) == 4242 and answer.get("_recovery"),
    )
    only = [name for name, book in desk.do("books").items() if book["yourNumber"] == "PEDIDO3"]
    judged("sicoob-sdk", "made one title", only == ["4242"], only)
    read = lambda: boleto.consultar_boleto(**{"numero_cliente": 25546454, "codigo_modalidade": 1}, nosso_numero=4242)  # noqa: E731
    tried("reads it", read, lambda told: told["resultado"]["situacaoBoleto"] == "Em Aberto")
    tried(
        "lists it by its payer",
        lambda: boleto.consultar_boletos_por_pagador("11144477735", 25546454, "id", codigo_situacao=1),
        lambda told: 4242 in [title["nossoNumero"] for title in told["resultado"]["boletos"]],
    )
    tried(
        "reads the range of numbers",
        lambda: boleto.consultar_faixas_nosso_numero(25546454, 1, 1, "id"),
        lambda told: told["numeroInicial"] == 1 and told["validaDigitoVerificadorNossoNumero"] == 0,
    )
    url = "https://pay.example/acquirers/sicoob/notifications/token"
    webhook = {"url": url, "codigoTipoMovimento": 7, "codigoPeriodoMovimento": 1}
    tried("adds a webhook", lambda: boleto.cadastrar_webhook(webhook, "id"), lambda told: told["resultado"]["idWebhook"])
    hook = desk_webhook(boleto)
    tried("reads it", lambda: hook, lambda told: told["url"] == url)
    if hook is not None:
        tried("removes it", lambda: boleto.excluir_webhook(hook["idWebhook"], "id"), lambda _: True)
    tried("writes the title off", lambda: boleto.baixar_boleto(4242, ours, "id"), lambda _: True)
    tried("sees it written off", read, lambda told: told["resultado"]["situacaoBoleto"] == "Baixado")


def recovered(boleto, title):
    """The SDK sends again what got no answer: the second sending meets the first one's title."""
    return boleto.emitir_com_recovery(title, client_id="id")


def desk_webhook(boleto):
    config_url = f"{BASE}/webhooks"
    answer = boleto.session.get(config_url, headers=boleto._get_headers(scope="boletos_webhook"))
    return answer.json()["resultado"][0] if answer.status_code == 200 else None


asyncio.run(judge_brbank())
judge_sdk()
sys.exit(failed > 0)
