import Crypto
import FoundationEssentials
import Vocabulary

/// One way to encrypt card data: EV_ECC_v2, or EV_ECC_v2 with common faults of issuers.
struct KeyScheme: Sendable {
    /// What the key derivation uses as PartyV. The correct value is ``ephemeralPoint``.
    enum PartyV: CaseIterable, Sendable {
        case ephemeralPoint
        case empty
        case subjectPublicKeyInfo
        case hashOfPoint
        case hashOfSubjectPublicKeyInfo
        case compressedPoint
        case pointWithoutPrefix
        case xCoordinate
        case hexadecimal
        case base64
        case recipientPoint
    }

    enum Derivation: CaseIterable, Sendable {
        /// Counter, shared secret, algorithm identifier with its length byte, `Apple`, PartyV.
        case standard
        case algorithmWithoutLength
        case algorithmBeforeSecret
        /// The shared secret is the key.
        case secretAsKey
        /// The SHA-256 hash of the shared secret is the key.
        case hashOfSecret

        /// Whether the key depends on PartyV.
        var usesPartyV: Bool { self != .secretAsKey && self != .hashOfSecret }
    }

    var partyV = PartyV.ephemeralPoint
    var derivation = Derivation.standard
    var ivLength = 12
    var isTagFirst = false

    /// Every scheme with at least one fault, those with the fewest faults first.
    static let faulty: [KeyScheme] = {
        var schemes: [KeyScheme] = []
        for derivation in Derivation.allCases {
            for partyV in derivation.usesPartyV ? PartyV.allCases : [.ephemeralPoint] {
                for ivLength in [12, 16] {
                    for isTagFirst in [false, true] {
                        schemes.append(
                            KeyScheme(
                                partyV: partyV, derivation: derivation, ivLength: ivLength, isTagFirst: isTagFirst))
                    }
                }
            }
        }
        return schemes.filter { $0.faultCount > 0 }.sorted { $0.faultCount < $1.faultCount }
    }()

    var faultCount: Int { findings.count }

    /// What the scheme does wrong.
    var findings: [PassDataFinding] {
        var findings: [PassDataFinding] = []
        if let kind = derivationFault {
            findings.append(PassDataFinding(kind.0, "the card data can be decrypted with a key that \(kind.1)"))
        }
        if let kind = partyVFault {
            findings.append(
                PassDataFinding(kind.0, "the card data can be decrypted with a key that was derived with \(kind.1)"))
        }
        if ivLength != 12 {
            findings.append(
                PassDataFinding(
                    .iv16Bytes, "the card data was encrypted with an initialization vector of \(ivLength) bytes"))
        }
        if isTagFirst { findings.append(PassDataFinding(.tagFirst, "the tag stands before the ciphertext")) }
        return findings
    }

    private var derivationFault: (PassDataFinding.Kind, String)? {
        switch derivation {
        case .standard: nil
        case .algorithmWithoutLength:
            (.algorithmWithoutLength, "was derived without the length byte of the algorithm identifier")
        case .algorithmBeforeSecret:
            (.algorithmBeforeSecret, "was derived with the algorithm identifier before the shared secret")
        case .secretAsKey: (.noKeyDerivation, "is the shared secret itself")
        case .hashOfSecret: (.noKeyDerivation, "is the SHA-256 hash of the shared secret")
        }
    }

    private var partyVFault: (PassDataFinding.Kind, String)? {
        switch partyV {
        case .ephemeralPoint: nil
        case .empty: (.partyVEmpty, "an empty PartyV")
        case .subjectPublicKeyInfo:
            (.partyVSubjectPublicKeyInfo, "the SubjectPublicKeyInfo of the ephemeral key as PartyV")
        case .hashOfPoint: (.partyVHash, "the SHA-256 hash of the ephemeral public key as PartyV")
        case .hashOfSubjectPublicKeyInfo: (.partyVHash, "the SHA-256 hash of the SubjectPublicKeyInfo as PartyV")
        case .compressedPoint: (.partyVOtherForm, "the compressed point as PartyV")
        case .pointWithoutPrefix: (.partyVOtherForm, "the point without its first byte as PartyV")
        case .xCoordinate: (.partyVOtherForm, "the X coordinate as PartyV")
        case .hexadecimal: (.partyVOtherForm, "the hexadecimal text of the point as PartyV")
        case .base64: (.partyVOtherForm, "the Base64 text of the point as PartyV")
        case .recipientPoint: (.partyVRecipientKey, "Apple's public key as PartyV")
        }
    }
}

extension KeyScheme.PartyV {
    /// - Parameters:
    ///   - point: the ephemeral public key, 65 bytes.
    ///   - recipient: the public key of the leaf, 65 bytes.
    func bytes(point: [UInt8], recipient: [UInt8]) -> [UInt8] {
        let subjectPublicKeyInfo = P256SubjectPublicKeyInfo.encode(point: point)
        switch self {
        case .ephemeralPoint: return point
        case .empty: return []
        case .subjectPublicKeyInfo: return subjectPublicKeyInfo
        case .hashOfPoint: return Array(SHA256.hash(data: point))
        case .hashOfSubjectPublicKeyInfo: return Array(SHA256.hash(data: subjectPublicKeyInfo))
        // The first byte of a compressed point says whether Y is odd (SEC 1 section 2.3.3).
        case .compressedPoint: return [0x02 | (point[64] & 1)] + point[1...32]
        case .pointWithoutPrefix: return Array(point.dropFirst())
        case .xCoordinate: return Array(point[1...32])
        case .hexadecimal: return Array(Hex.encode(point).utf8)
        case .base64: return Array(Data(point).base64EncodedString().utf8)
        case .recipientPoint: return recipient
        }
    }
}
