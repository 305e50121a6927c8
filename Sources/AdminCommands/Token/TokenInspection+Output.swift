import FoundationEssentials
import MerchantKeyClient
import PaymentToken
import StrictJSON
import Vocabulary

extension ApplePayToken.Version {
    /// How the symmetric key is obtained, and the cipher of the payment data.
    fileprivate var algorithms: String {
        switch self {
        case .ecV1: "P-256 key agreement, AES-256-GCM"
        case .rsaV1: "RSA-2048 key wrapping, AES-128-GCM"
        }
    }

    /// The field of the token's header from which the symmetric key is obtained.
    fileprivate var keyMaterialName: String {
        switch self {
        case .ecV1: "ephemeralPublicKey"
        case .rsaV1: "wrappedKey"
        }
    }
}

extension Date {
    /// The time with seconds; most other tables omit the seconds. Seconds matter here: the daemon refuses a token whose
    /// signing time is too far from the time of arrival.
    fileprivate var rfc3339: String { Timestamp(self).rfc3339 }
}

/// The output for `--output table`.
extension TokenInspection {
    func blocks(_ stored: StoredKey) -> [Block] {
        let summary = Block.record([
            ("version", Cell(version.rawValue)),
            ("algorithm", Cell(version.algorithms)),
            ("publicKeyHash", Cell(publicKeyHash)),
            ("stored key", stored.cell),
            ("transactionId", Cell(transactionId)),
            ("applicationData (SHA-256)", Cell(applicationDataHash ?? "none")),
            ("signing time (UTC)", Cell(signingTime?.rfc3339 ?? "can't be read")),
            ("environment", Cell(environment?.explanation ?? "can't be read")),
            ("\(version.keyMaterialName) (bytes)", Cell(keyMaterialLength)),
            ("ciphertext (bytes)", Cell(ciphertextLength)),
            ("signature (bytes)", Cell(signatureLength)),
            ("certificates", Cell(certificates.isEmpty ? "can't be read" : "\(certificates.count)")),
            ("verified", "no, nothing was checked"),
        ])
        return [summary] + certificates.map(\.block)
    }
}

extension TokenEnvironment {
    fileprivate var explanation: String {
        switch self {
        case .production: "production"
        case .sandbox: "sandbox (the signing certificate's name ends in _UC4-SANDBOX)"
        }
    }
}

extension TokenInspection.Certificate {
    fileprivate var block: Block {
        .record(
            [
                ("certificate", Cell(subject, .heading)),
                ("role", isSigner ? "signer of the token" : "chain"),
                ("issuer", Cell(issuer)),
                ("serial number", Cell(serialNumber)),
                ("valid from (UTC)", Cell(notBefore?.rfc3339 ?? "can't be read")),
                ("valid to (UTC)", Cell(notAfter?.rfc3339 ?? "can't be read")),
                ("SHA-256", Cell(sha256Fingerprint)),
            ]
                + extensionOIDs.map { oid in
                    ("extension", Cell(CertificateExtension.name(oid).map { "\(oid) (\($0))" } ?? oid))
                })
    }
}

/// The output for `--output json`.
extension TokenInspection {
    func document(_ stored: StoredKey) throws(CommandFailure) -> JSONValue {
        var members: [JSONObject.Member] = [
            .init(name: "version", value: .string(version.rawValue)),
            .init(name: "publicKeyHash", value: .string(publicKeyHash)),
            .init(name: "transactionId", value: .string(transactionId)),
            .init(name: "applicationData", value: .text(applicationDataHash)),
            .init(name: "signingTime", value: .text(signingTime?.rfc3339)),
            .init(name: "environment", value: .text(environment?.rawValue)),
            .init(
                name: "sizes",
                value: .object([
                    .init(name: version.keyMaterialName, value: .number("\(keyMaterialLength)")),
                    .init(name: "ciphertext", value: .number("\(ciphertextLength)")),
                    .init(name: "signature", value: .number("\(signatureLength)")),
                ])),
            .init(name: "certificates", value: .array(certificates.map(\.document))),
        ]
        switch stored {
        case .found(let response): members.append(.init(name: "storedKey", value: try Printer.parse(response.json)))
        case .notStored: members.append(.init(name: "storedKey", value: .null))
        case .unknown(let why): members.append(.init(name: "storedKeyUnknown", value: .string(why)))
        }
        return .object(members)
    }
}

extension TokenInspection.Certificate {
    fileprivate var document: JSONValue {
        .object([
            .init(name: "subject", value: .string(subject)),
            .init(name: "issuer", value: .string(issuer)),
            .init(name: "isSigner", value: .bool(isSigner)),
            .init(name: "serialNumber", value: .string(serialNumber)),
            .init(name: "notBefore", value: .text(notBefore?.rfc3339)),
            .init(name: "notAfter", value: .text(notAfter?.rfc3339)),
            .init(name: "sha256Fingerprint", value: .string(sha256Fingerprint)),
            .init(
                name: "extensions",
                value: .array(
                    extensionOIDs.map { oid in
                        .object([
                            .init(name: "oid", value: .string(oid)),
                            .init(name: "name", value: .text(CertificateExtension.name(oid))),
                        ])
                    })),
        ])
    }
}

extension JSONValue {
    fileprivate static func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    fileprivate static func object(_ members: [JSONObject.Member]) -> JSONValue {
        .object(JSONObject(members: members))
    }
}
