"""Files that people take for their certificate."""
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import pkcs7, pkcs12


def upload_wrong_files(visit, request):
    """Uploads each file on the overview, and notes the problem that the page shows."""
    for name, content in wrong_files(visit, request).items():
        file = visit.work / "uploads" / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
        visit.upload(file)
        visit.page(f"upload-{name}", status=422)
        visit.report.uploads[name] = visit.upload_problem()
    upload_large_file(visit)
    visit.browser.open(visit.portal + "/")


def wrong_files(visit, request):
    """The content of each file. `request` is the CSR of the merchant's key pair."""
    key = ec.generate_private_key(ec.SECP256R1())
    plain = serialization.NoEncryption()
    other_request = visit.work / "other.csr"
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    other_request.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    foreign = visit.sign(other_request, "other.cer", "merchant.com.example.other")
    certificate = x509.load_der_x509_certificate(foreign.read_bytes())
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    issuer = (pathlib.Path(visit.options.apple) / "processing-issuer.pem").read_bytes()
    profile = pkcs7.PKCS7SignatureBuilder().set_data(b'<?xml version="1.0"?>\n<plist version="1.0"><dict/></plist>\n')
    return {
        "page.cer": b"<!DOCTYPE html>\n<html><head><title>Sign In - Apple</title></head><body></body></html>\n",
        "store.p12": pkcs12.serialize_key_and_certificates(
            b"key", key, certificate, None, serialization.BestAvailableEncryption(b"secret")),
        "key.pem": key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain),
        "bundle.p7b": pkcs7.serialize_certificates([certificate], serialization.Encoding.DER),
        "app.mobileprovision": profile.add_signer(certificate, key, hashes.SHA256()).sign(
            serialization.Encoding.DER, [pkcs7.PKCS7Options.Binary]),
        "request.csr": request.read_bytes(),
        "empty.cer": b"",
        "chain.pem": pem + issuer,
        "letter.pdf": b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n",
        "cut.cer": foreign.read_bytes()[:-100],
        "other-merchant.cer": foreign.read_bytes(),
        "other-key.cer": visit.sign(other_request, "other-key.cer").read_bytes(),
        "identity.cer": identity_certificate(visit).read_bytes(),
        "expired.cer": visit.sign(request, "expired.cer", None, "--not-before", "2023-01-01T00:00:00Z",
                                  "--not-after", "2025-01-01T00:00:00Z").read_bytes(),
    }


def identity_certificate(visit):
    """An identity certificate, for a key that the merchant generated."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    request = visit.work / "identity.csr"
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    request.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return visit.sign(request, "identity.cer", None, "--purpose", "identity")


def upload_large_file(visit):
    large = visit.work / "uploads" / "large.cer"
    large.write_bytes(bytes(70_000))
    if visit.options.scripts == "on":
        # The script refuses the file before it is sent.
        visit.browser.choose_file("#certificate", large)
        visit.browser.press("form[action='/merchant/certificates'] button")
        visit.browser.wait(lambda: visit.browser.texts(".drop-wrong"), lambda: "the script's message for a large file")
        visit.report.uploads["large.cer"] = "tooLarge" if "too large" in visit.browser.text(".drop-wrong") else "other"
    else:
        visit.upload(large)
        visit.page("upload-large.cer", status=413)
        visit.report.uploads["large.cer"] = visit.upload_problem()
        # The server does not even read a body of this size.
        huge = visit.work / "uploads" / "huge.cer"
        huge.write_bytes(bytes(1_200_000))
        visit.upload(huge)
        visit.page("upload-huge.cer", status=413)
