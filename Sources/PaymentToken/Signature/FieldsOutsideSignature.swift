/// The fields of a CMS message that no signature covers (RFC 5652 section 5.4) and that libcrypto does not check: the
/// versions, the set of digest algorithms, and the form of the signer identifier.
///
/// A token is rejected unless these fields have values that Apple sends. So an attacker cannot change them to any other
/// values.
struct FieldsOutsideSignature {
    private static let version1: [UInt8] = [1]
    /// The permitted sets of digest algorithms: SHA-256 without parameters, as in tokens of 2023, or with NULL as
    /// parameters, as in tokens of 2014.
    private static let permittedDigestAlgorithms = [
        [0x30, 0x0B, 0x06, 0x09] + OID.sha256, [0x30, 0x0D, 0x06, 0x09] + OID.sha256 + [0x05, 0x00],
    ]

    private let version: [UInt8]
    private let digestAlgorithms: [UInt8]
    private let signerVersion: [UInt8]
    private let hasIssuerAndSerialNumber: Bool

    /// - Parameter der: a CMS message of signed data with one signer, in DER.
    /// - Returns: nil if the message does not have the structure that RFC 5652 requires of signed data with one signer.
    init?(_ der: [UInt8]) {
        var reader = DERReader(der)
        guard var message = reader.enter(0x30), reader.isAtEnd, message.readContents(0x06) != nil,
            var content = message.enter(0xA0), var signedData = content.enter(0x30),
            let version = signedData.readContents(0x02), let digestAlgorithms = signedData.readContents(0x31),
            signedData.readContents(0x30) != nil
        else { return nil }
        // Skip the certificates and revocation lists, which are optional.
        _ = signedData.readContents(0xA0)
        _ = signedData.readContents(0xA1)
        guard var signers = signedData.enter(0x31), signedData.isAtEnd, var signer = signers.enter(0x30),
            signers.isAtEnd, let signerVersion = signer.readContents(0x02)
        else { return nil }
        self.version = Array(der[version])
        self.digestAlgorithms = Array(der[digestAlgorithms])
        self.signerVersion = Array(der[signerVersion])
        hasIssuerAndSerialNumber = signer.readContents(0x30) != nil
    }

    /// - Throws: ``FullSignatureCheck/StructureFailure`` if a field does not have the permitted value.
    func validate() throws(FullSignatureCheck.StructureFailure) {
        if version != Self.version1 {
            throw .init(.wrongSignedDataVersion, "the signed data does not have version 1 (RFC 5652 section 5.1)")
        }
        if !Self.permittedDigestAlgorithms.contains(digestAlgorithms) {
            throw .init(
                .wrongDigestAlgorithmSet, "the signed data must list SHA-256 as its only digest algorithm")
        }
        if !hasIssuerAndSerialNumber {
            throw .init(
                .wrongSignerIdentifierForm,
                "the signer identifier is not an issuer and serial number (RFC 5652 section 5.3)")
        }
        if signerVersion != Self.version1 {
            throw .init(.wrongSignerVersion, "the signer info does not have version 1 (RFC 5652 section 5.3)")
        }
    }
}
