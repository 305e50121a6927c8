/// What libcrypto reads but judges little: version numbers, the outer set of digest algorithms, how the signer is named.
///
/// No signature covers them (RFC 5652 section 5.4), and each has one value alone that fits the rest of a token's message.
struct MessageFrame {
    private static let versionOne: [UInt8] = [1]
    /// Parameters absent, as in 2023, or NULL, as in 2014.
    private static let onlySHA256 = [
        [0x30, 0x0B, 0x06, 0x09] + OID.sha256, [0x30, 0x0D, 0x06, 0x09] + OID.sha256 + [0x05, 0x00],
    ]

    private let version: [UInt8]
    private let digestAlgorithms: [UInt8]
    private let signerVersion: [UInt8]
    private let namesIssuerAndSerialNumber: Bool

    /// - Parameter der: a message of signed data by one signer, in DER.
    init?(_ der: [UInt8]) {
        var reader = DERReader(der)
        guard var message = reader.enter(0x30), reader.isAtEnd, message.contents(0x06) != nil,
            var content = message.enter(0xA0), var signedData = content.enter(0x30),
            let version = signedData.contents(0x02), let digestAlgorithms = signedData.contents(0x31),
            signedData.contents(0x30) != nil
        else { return nil }
        // Certificates and revocation lists.
        _ = signedData.contents(0xA0)
        _ = signedData.contents(0xA1)
        guard var signers = signedData.enter(0x31), signedData.isAtEnd, var signer = signers.enter(0x30),
            signers.isAtEnd, let signerVersion = signer.contents(0x02)
        else { return nil }
        self.version = Array(der[version])
        self.digestAlgorithms = Array(der[digestAlgorithms])
        self.signerVersion = Array(der[signerVersion])
        namesIssuerAndSerialNumber = signer.contents(0x30) != nil
    }

    /// What does not fit, in words; nil where all of it does.
    ///
    /// Sources: RFC 5652 sections 5.1 and 5.3 on versions; what Apple sends.
    var fault: String? {
        if version != Self.versionOne { return "found signed data of another version, expected version 1" }
        if !Self.onlySHA256.contains(digestAlgorithms) {
            return "found other digest algorithms announced for the message, expected SHA-256 alone"
        }
        if !namesIssuerAndSerialNumber {
            return "found a signer named otherwise, expected its issuer and serial number"
        }
        if signerVersion != Self.versionOne { return "found a signer of another version, expected version 1" }
        return nil
    }
}
