"""An SMTP server that takes messages of one user: prints its port, then a line of JSON for each message."""

import asyncio
import email
import json
import sys
from email import policy

from aiosmtpd.smtp import SMTP, AuthResult

USER, PASSWORD = (argument.encode() for argument in sys.argv[1:3])


class Handler:
    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=policy.default)
        told = {name.lower(): str(value) for name, value in message.items()}
        told |= {"sender": envelope.mail_from, "recipients": envelope.rcpt_tos, "text": message.get_content()}
        print(json.dumps(told), flush=True)
        return "250 taken"


def authenticate(server, session, envelope, mechanism, given):
    return AuthResult(success=(given.login, given.password) == (USER, PASSWORD), handled=False)


def serve():
    return SMTP(Handler(), authenticator=authenticate, auth_required=True, auth_require_tls=False)


async def main():
    server = await asyncio.get_running_loop().create_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
