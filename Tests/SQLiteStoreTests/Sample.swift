import Crypto
import Foundation
import MerchantCore
import Vocabulary

/// Values to store. A value with another number is a different value.
enum Sample {
    static let merchant = merchant(0)
    static let time = Timestamp(millisecondsSince1970: 1_780_000_000_000)
    static let caller = Caller(uid: 1000, gid: 1000, pid: 42, program: "/usr/bin/merchantkeyctl")
    static let dataKey = SealedDataKey(identifier: 1, bytes: [1, 2, 3], masterKeyCheck: [4, 5, 6], createdAt: time)

    static func merchant(_ number: Int) -> MerchantIdentifier {
        guard let identifier = MerchantIdentifier("merchant.com.example.shop\(number)") else {
            preconditionFailure("letters, digits and dots make an identifier")
        }
        return identifier
    }

    static func record(_ identifier: MerchantIdentifier) -> Merchant {
        Merchant(identifier: identifier, name: "Shop", createdAt: time)
    }

    static func digest(_ name: String, _ number: Int) -> [UInt8] {
        Array(SHA256.hash(data: Data("\(name) \(number)".utf8)))
    }

    static func sha256(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }

    static func hash(_ seed: Int) -> PublicKeyHash {
        guard let hash = PublicKeyHash(bytes: digest("key", seed)) else {
            preconditionFailure("SHA-256 yields 32 bytes")
        }
        return hash
    }

    static func keyPair(
        _ seed: Int, of merchant: MerchantIdentifier = merchant, _ state: KeyState = .pending,
        algorithm: KeyAlgorithm = .ecV1, purpose: KeyPurpose = .paymentProcessing
    ) -> KeyPair {
        KeyPair(
            publicKeyHash: hash(seed), merchantIdentifier: merchant, algorithm: algorithm, purpose: purpose,
            origin: .generated, state: state, createdAt: time.adding(.seconds(seed)),
            stateSince: time.adding(.seconds(seed)))
    }

    /// Sealed bytes that repeat their key's number, so that any part of them is recognized.
    static func sealedBytes(_ seed: Int) -> [UInt8] {
        (0..<8).flatMap { _ in Array(sealedMark.utf8) + Array(String(format: "%08d", seed).utf8) }
    }

    static let sealedMark = "<sealed private key>"

    static func new(_ keyPair: KeyPair, seed: Int) -> NewKeyPair {
        NewKeyPair(
            publicKeyHash: keyPair.publicKeyHash, algorithm: keyPair.algorithm, purpose: keyPair.purpose,
            subjectPublicKeyInfo: digest("spki", seed), certificateSigningRequest: digest("csr", seed),
            sealedPrivateKey: SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: sealedBytes(seed)))
    }

    static func certificate(
        _ seed: Int, begins: Timestamp = time, ends: Timestamp = time.adding(.seconds(1_000_000))
    ) -> StoredCertificate {
        StoredCertificate(
            der: digest("der", seed), fingerprint: Array(SHA256.hash(data: Data(digest("der", seed)))),
            serialNumber: "0\(seed)",
            subject: "CN=Shop", issuer: "CN=Issuer", notBefore: begins, notAfter: ends, issuerVerified: true,
            storedAt: time)
    }

    static func event(
        _ kind: Event.Kind = .belowTarget, _ severity: Event.Severity = .notice, merchant: MerchantIdentifier? = nil,
        at time: Timestamp = time
    ) -> Event {
        Event(
            kind, severity, at: time, merchant: merchant, key: hash(1), rollId: "roll-1",
            detail: "1 of 2 active key pairs")
    }

    static func token(_ number: Int) -> MerchantTokenIdentifier {
        guard let identifier = MerchantTokenIdentifier(text: "token-\(number)") else {
            preconditionFailure("letters, a hyphen and digits make an identifier")
        }
        return identifier
    }

    static func tokenEvent(_ number: Int) -> MerchantTokenEventIdentifier {
        guard let identifier = MerchantTokenEventIdentifier(text: "event-\(number)") else {
            preconditionFailure("letters, a hyphen and digits make an identifier")
        }
        return identifier
    }

    static func merchantToken(_ number: Int) -> MerchantToken {
        MerchantToken(
            identifier: token(number), merchantIdentifier: merchant, firstSeenAt: time, lastSeenAt: time)
    }

    static func entry(_ action: AuditAction, merchant: MerchantIdentifier? = nil, key: PublicKeyHash? = nil)
        -> AuditEntry
    {
        AuditEntry(
            action, by: caller, at: time, merchant: merchant, key: key, before: "pending", after: "standby",
            reason: "because", requestId: "r1")
    }
}
