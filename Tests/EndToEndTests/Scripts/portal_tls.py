"""Checks the TLS of the running portal with Python's ssl, openssl s_client and testssl.sh.

usage: portal_tls.py issue DIRECTORY rsa|ec
       portal_tls.py handshakes PORT CA_FILE
       portal_tls.py weaknesses PORT CA_FILE WORK_DIRECTORY

issue: creates root.pem, a CA, and portal.pem with portal.key, a server certificate for localhost. The certificate names a
list of revoked certificates, as those of public CAs do, because testssl.sh reports its absence.
handshakes: prints a JSON object: for each client and TLS version the version, cipher suite and ALPN protocol of the
connection; null if the portal refuses the connection.
weaknesses: prints a JSON object: "checks" is the number of testssl.sh's results, "identifiers" lists their names,
"weaknesses" lists the results rated medium or worse, and "problems" lists what testssl.sh could not check.
"""
import datetime
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import warnings

TESTSSL = ("testssl", "testssl.sh")


def issue(directory, kind):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    day, now = datetime.timedelta(days=1), datetime.datetime.now(datetime.timezone.utc)
    pem = serialization.Encoding.PEM

    def name(text):
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    def usage(signs, certifies, encrypts):
        return x509.KeyUsage(
            digital_signature=signs, content_commitment=False, key_encipherment=encrypts, data_encipherment=False,
            key_agreement=False, key_cert_sign=certifies, crl_sign=certifies, encipher_only=False, decipher_only=False)

    def builder(subject, public_key):
        return (x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name("Test CA")).public_key(public_key)
                .serial_number(x509.random_serial_number()).not_valid_before(now - day).not_valid_after(now + 80 * day)
                .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), False)
                .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), False))

    ca_key = ec.generate_private_key(ec.SECP256R1())
    key = rsa.generate_private_key(65537, 2048) if kind == "rsa" else ec.generate_private_key(ec.SECP256R1())
    root = (builder("Test CA", ca_key.public_key()).add_extension(x509.BasicConstraints(True, None), True)
            .add_extension(usage(False, True, False), True).sign(ca_key, hashes.SHA256()))
    revoked = x509.UniformResourceIdentifier("http://localhost/revoked.crl")
    certificate = (builder("localhost", key.public_key()).add_extension(x509.BasicConstraints(False, None), True)
                   .add_extension(usage(True, False, kind == "rsa"), True)
                   .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
                   .add_extension(x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.SERVER_AUTH]), False)
                   .add_extension(x509.CRLDistributionPoints([x509.DistributionPoint([revoked], None, None, None)]), False)
                   .sign(ca_key, hashes.SHA256()))
    private_key = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    for path, content in (("root.pem", root.public_bytes(pem)), ("portal.pem", certificate.public_bytes(pem)),
                          ("portal.key", private_key)):
        with open(os.open(f"{directory}/{path}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)


def with_python(port, ca_file, version):
    context = ssl.create_default_context(cafile=ca_file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # TLS 1.1 must be refused
        context.minimum_version = context.maximum_version = version
    # Otherwise OpenSSL itself would refuse to use TLS 1.1.
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.set_alpn_protocols(["h2", "http/1.1"])
    try:
        with context.wrap_socket(socket.create_connection(("127.0.0.1", int(port)), 30), server_hostname="localhost") as connection:
            return [connection.version(), connection.cipher()[0], connection.selected_alpn_protocol()]
    except ssl.SSLError as error:
        # A refusal by the portal is an alert. Any other error would be one of this test.
        if "ALERT" not in (error.reason or ""):
            raise
        return None


def with_openssl(port, ca_file, option):
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", "localhost", "-CAfile", ca_file,
         "-verify_return_error", "-verify_hostname", "localhost", "-alpn", "h2,http/1.1", "-cipher", "DEFAULT:@SECLEVEL=0", option],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    if done.returncode:
        if "alert" not in done.stderr:
            sys.exit(done.stderr)
        return None
    connection = re.search(r"^New, (\S+), Cipher is (\S+)$", done.stdout, re.MULTILINE)
    alpn = re.search(r"^ALPN protocol: (\S+)$", done.stdout, re.MULTILINE)
    return [connection[1], connection[2], alpn[1] if alpn else None]


def handshakes(port, ca_file):
    versions = {"1.1": (ssl.TLSVersion.TLSv1_1, "-tls1_1"), "1.2": (ssl.TLSVersion.TLSv1_2, "-tls1_2"),
                "1.3": (ssl.TLSVersion.TLSv1_3, "-tls1_3")}
    return {name: {"python": with_python(port, ca_file, version), "openssl": with_openssl(port, ca_file, option)}
            for name, (version, option) in versions.items()}


def weaknesses(port, ca_file, directory):
    program = next(name for name in TESTSSL if subprocess.run(["which", name], stdout=subprocess.DEVNULL).returncode == 0)
    report = f"{directory}/testssl.json"
    if os.path.exists(report):
        os.remove(report)
    done = subprocess.run(
        [program, "--quiet", "--color", "0", "--warnings", "batch", "--ip", "127.0.0.1", "--add-ca", ca_file, "--jsonfile", report,
         f"localhost:{port}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
    if not os.path.exists(report):
        sys.exit(f"testssl.sh: exit status {done.returncode}: {done.stdout[-2000:]}")
    with open(report) as file:
        findings = json.load(file)
    # Not a problem of the portal: this OpenSSL has no engine for Russian algorithms.
    problems = [f for f in findings if f["severity"] in ("WARN", "FATAL") and f["id"] != "engine_problem"]
    rated = [f for f in findings if f["severity"] in ("MEDIUM", "HIGH", "CRITICAL")]

    def text(found):
        return [f"{f['severity']} {f['id']}: {f['finding']}" for f in found]

    return {"checks": len(findings), "identifiers": sorted({f["id"] for f in findings}), "weaknesses": text(rated),
            "problems": text(problems)}


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    result = {"issue": issue, "handshakes": handshakes, "weaknesses": weaknesses}[command](*arguments)
    if result is not None:
        print(json.dumps(result))
