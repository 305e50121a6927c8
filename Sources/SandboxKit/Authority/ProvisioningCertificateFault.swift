/// A fault of a certificate for card data encryption, for tests of programs that check such certificates.
///
/// An expired certificate needs no fault: `applepay-sandbox provisioning-certificates` has options for the validity
/// period.
package enum ProvisioningCertificateFault: String, CaseIterable, Sendable {
    /// The certificate has no marker extension.
    case noMarker = "no-marker"
    /// The certificate has the marker of a certificate that signs payment tokens.
    case otherMarker = "other-marker"
    /// The marker extension is not critical.
    case markerNotCritical = "marker-not-critical"
    /// The key usage is digitalSignature.
    case wrongKeyUsage = "wrong-key-usage"
    /// The certificate is signed with its own key.
    case selfSigned = "self-signed"
    /// The token issuer signs the certificate, but the sub-CA certificate is that of the processing issuer.
    case otherIssuer = "other-issuer"
    /// The public key is on the curve P-384.
    case p384
    /// The public key is an RSA key of 2048 bits.
    case rsa
}
