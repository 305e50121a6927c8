"""Requests to the portal, and the callers who send them."""
import http.client
import json
import re
import secrets
import ssl
import threading
import urllib.parse

from names import COOKIE, FORM
from results import Failed


def random_address():
    """An address of 10.0.0.0/8, so that no address reaches the limit of failed attempts."""
    return "10.%d.%d.%d" % tuple(secrets.token_bytes(3))


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        self.text = body.decode("utf-8", "replace")

    @property
    def code(self):
        """The code of a problem document; None for other responses."""
        try:
            return json.loads(self.text).get("code") if self.status >= 400 else None
        except (ValueError, AttributeError):
            return None

    @property
    def outcome(self):
        return (self.status, self.code)

    @property
    def cookie(self):
        """The secret of the session that the response begins."""
        match = re.match(rf"{COOKIE}=(\w+);", self.headers.get("Set-Cookie", ""))
        return match and match[1]

    @property
    def form_token(self):
        match = re.search(r'name="csrf" value="([0-9a-f]+)"', self.text)
        return match and match[1]

    @property
    def form_key(self):
        match = re.search(r'name="idempotencyKey" value="([^"]+)"', self.text)
        return match and match[1]

    def document(self):
        return json.loads(self.text)


class Client:
    """Keep-alive connections to the portal, one for each client certificate. Each thread needs a client of its own."""

    def __init__(self, site):
        self.site, self.connections = site, {}

    def connection(self, certificate):
        if certificate not in self.connections:
            context = self.site.context
            if certificate is not None:
                context = ssl.create_default_context(cafile=self.site.path("portal.pem"))
                context.load_cert_chain(self.site.path(f"{certificate}.pem"), self.site.path(f"{certificate}.key"))
            self.connections[certificate] = http.client.HTTPSConnection(
                "127.0.0.1", self.site.port, context=context, timeout=60)
        return self.connections[certificate]

    def send(self, method, path, headers=None, body=None, certificate=None):
        headers = {"X-Forwarded-For": random_address(), **(headers or {})}
        for attempt in [1, 2]:
            connection = self.connection(certificate)
            is_new = connection.sock is None
            try:
                connection.request(method, path, body=body, headers=headers)
                response = connection.getresponse()
                return Response(response.status, response.headers, response.read())
            except (ConnectionError, http.client.RemoteDisconnected, http.client.BadStatusLine, ssl.SSLError) as error:
                # The server may close an idle connection at any time.
                connection.close()
                if is_new or attempt == 2:
                    raise Failed(f"{method} {path}: {error!r}")
        return None

    def form(self, path, fields, caller=None, token="of the session", origin="portal", further=None):
        """Sends a form as a browser does. With None for the token or the origin, the form has none."""
        headers = dict(caller.headers) if caller else {}
        if origin is not None:
            headers["Origin"] = self.site.url if origin == "portal" else origin
        headers.update(further or {})
        if token == "of the session":
            token = caller.form_token if caller else None
        fields = {**({"csrf": token} if token is not None else {}), **fields}
        body, headers["Content-Type"] = encoded(fields)
        return self.send("POST", path, headers, body, caller.certificate if caller else None)


def encoded(fields):
    """The body and the content type of a form. A field whose value is bytes is a file."""
    if not any(isinstance(value, bytes) for value in fields.values()):
        return urllib.parse.urlencode(fields).encode(), FORM
    boundary, body = "----portal" + secrets.token_hex(8), b""
    for name, value in fields.items():
        file = '; filename="apple_pay.cer"\r\nContent-Type: application/pkix-cert' if isinstance(value, bytes) else ""
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'.encode()
        body += (value if isinstance(value, bytes) else value.encode()) + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


class Caller:
    def __init__(self, name, token=None, cookie=None, certificate=None, form_token=None):
        self.name, self.cookie, self.certificate, self.form_token = name, cookie, certificate, form_token
        self.headers = {}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        if cookie:
            self.headers["Cookie"] = f"{COOKIE}={cookie}"
        self.has_token = token is not None


def path_of(url):
    return urllib.parse.urlsplit(url).path


def open_link(client, name, url):
    """Begins a session with the link of an invitation or a login, and reads the token of its forms."""
    path = path_of(url)
    shown = client.send("GET", path)
    begun = client.form(path, {}, token=shown.form_token)
    if begun.status != 303 or begun.cookie is None:
        raise Failed(f"the link of {name} begins no session: {begun.status}")
    caller = Caller(name, cookie=begun.cookie)
    page = client.send("GET", begun.headers["Location"], caller.headers)
    caller.form_token = page.form_token
    if page.status != 200 or caller.form_token is None:
        raise Failed(f"the first page of {name} is {page.status} or has no form")
    return caller


def parallel(number, world, send):
    """Sends a request on each of several connections at the same time. Returns the responses."""
    barrier, answers, errors = threading.Barrier(number), [], []

    def work(index):
        try:
            client = Client(world.site)
            # The handshake comes before the race.
            client.send("GET", "/v1/health")
            barrier.wait(30)
            answers.append(send(client, index))
        except Exception as error:
            errors.append(repr(error))
            barrier.abort()

    threads = [threading.Thread(target=work, args=(index,)) for index in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise Failed(f"parallel requests failed: {errors[:3]}")
    return answers
