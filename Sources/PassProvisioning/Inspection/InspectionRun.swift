import Crypto
import FoundationEssentials
import StrictJSON
import Vocabulary

/// The steps of one ``PassInspection``.
struct InspectionRun {
    private(set) var findings: [any ProvisioningFinding]
    private(set) var values: InspectedValues
    private let text: InspectedText
    private let decryptionKey: P256.KeyAgreement.PrivateKey?
    private let network: ProvisioningNetwork?
    private let now: Date?

    init(
        _ text: InspectedText, decryptionKey: P256.KeyAgreement.PrivateKey?, network: ProvisioningNetwork?,
        at now: Date?
    ) {
        self.text = text
        self.decryptionKey = decryptionKey
        self.network = network
        self.now = now
        findings = text.findings
        values = InspectedValues(
            source: text.source, requestCount: text.requestCount, names: text.values.keys.map(\.rawValue).sorted())
    }

    mutating func inspect() {
        guard !text.values.isEmpty else { return }
        inspectEncryptionVersion()
        inspectRequest()
        if isRequestOnly { return }
        inspectPass()
        inspectActivationData()
    }

    mutating func add(_ more: [any ProvisioningFinding]) { findings += more }

    private mutating func add(_ kind: PassDataFinding.Kind, value: InspectedName, _ message: String) {
        findings.append(PassDataFinding(kind, value: value, message))
    }

    /// Whether the text is a request of the app to the issuer's server, which has no encrypted values yet.
    private var isRequestOnly: Bool {
        let encrypted: [InspectedName] = [.encryptedPassData, .ephemeralPublicKey, .wrappedKey]
        let isRequest = text.values[.nonceSignature] != nil || text.values[.certificates] != nil
        return isRequest && encrypted.allSatisfy { text.values[$0] == nil }
    }

    // MARK: - Values

    /// The string of a value. If the value is missing, cut off or not a string, a finding reports this, and the result
    /// is nil.
    private mutating func requiredText(_ name: InspectedName) -> String? {
        if text.truncated.contains(name) { return nil }
        switch text.values[name] {
        case .string(let value): return value
        case nil, .null:
            add(.missingValue, value: name, "'\(name.rawValue)' is missing")
            return nil
        case .some(let other):
            add(.wrongType, value: name, "'\(name.rawValue)' is \(other.kind), expected a string")
            return nil
        }
    }

    /// The decoded bytes of a value. If they cannot be determined, a finding reports this, and the result is nil.
    private mutating func bytes(_ name: InspectedName) -> [UInt8]? {
        if let value = text.values[name], let bytes = ByteArrayValue(value)?.bytes {
            add(.byteArray, value: name, "'\(name.rawValue)' is an array of numbers, expected a string in Base64")
            return bytes
        }
        guard let given = requiredText(name) else { return nil }
        let value = ValueText(given, name: name)
        add(value.findings)
        return value.bytes
    }

    // MARK: - Encrypted pass

    private mutating func inspectPass() {
        var ephemeral = bytes(.ephemeralPublicKey)
        var encrypted = bytes(.encryptedPassData)
        if let first = ephemeral, let second = encrypted, EphemeralKeyBytes(first).point == nil,
            EphemeralKeyBytes(second).point != nil
        {
            add(
                .valuesSwapped, value: .ephemeralPublicKey,
                "'ephemeralPublicKey' and 'encryptedPassData' are interchanged")
            (ephemeral, encrypted) = (second, first)
        }
        values.ephemeralPublicKeyLength = ephemeral?.count
        values.encryptedPassDataLength = encrypted?.count
        let key = ephemeral.map(EphemeralKeyBytes.init)
        if let key { add(key.findings) }
        guard let sealed = encrypted else { return }
        let ciphertext = CiphertextBytes(sealed)
        add(ciphertext.findings)
        if ciphertext.isPlaintext {
            let (cardNetwork, now) = (network, now)
            let cardFindings = sealed.withUnsafeBytes {
                CardData.findings(plaintext: $0, network: cardNetwork, at: now)
            }
            add(cardFindings)
            return
        }
        values.encryptedPassDataLength = ciphertext.bytes?.count ?? sealed.count
        decrypt(ciphertext, point: key?.point ?? ciphertext.prependedPoint)
    }

    private mutating func decrypt(_ ciphertext: CiphertextBytes, point: [UInt8]?) {
        guard let decryptionKey, let bytes = ciphertext.bytes, let point else { return }
        let attempt = DecryptionAttempt(ciphertext: bytes, point: point, privateKey: decryptionKey)
        var found: [any ProvisioningFinding] = []
        var decryption = InspectedValues.Decryption.failed
        let cardNetwork = network
        let isDecrypted = attempt.decrypt { plaintext, faults in
            decryption = faults.isEmpty ? .succeeded : .succeededWithFault
            found = faults
            found +=
                CardData.findings(plaintext: plaintext, network: cardNetwork, at: now) as [any ProvisioningFinding]
        }
        values.decryption = decryption
        add(found)
        if !isDecrypted {
            add(.decryptionFailed, value: .encryptedPassData, "the card data cannot be decrypted with the given key")
        }
    }

    // MARK: - Activation data and encryption version

    private mutating func inspectActivationData() {
        switch text.values[.activationData] {
        case nil, .null, .string(""):
            add(.activationDataAbsent, value: .activationData, "there is no activation data")
            return
        case .string(let value) where value.hasPrefix("MBPAC-") || value.hasPrefix("MBPAD-"):
            add(.activationDataNotEncoded, value: .activationData, "'activationData' was not encoded with Base64")
            values.activationDataLength = value.utf8.count
            checkActivationPrefix(Array(value.utf8))
        default:
            guard let decoded = bytes(.activationData) else { return }
            values.activationDataLength = decoded.count
            checkActivationPrefix(decoded)
        }
    }

    private mutating func checkActivationPrefix(_ bytes: [UInt8]) {
        guard bytes.starts(with: Array("MBPAD-".utf8)) else { return }
        add(
            .activationDataIsCardNumber, value: .activationData,
            "'activationData' begins with MBPAD, so it is an encrypted card number")
    }

    private mutating func inspectEncryptionVersion() {
        if case .string(let name) = text.values[.encryptionVersion] {
            values.encryptionVersion = EncryptionVersion(rawValue: name)
            checkEncryptionVersion(name)
        }
        if let wrapped = text.values[.wrappedKey], wrapped != .null, wrapped != .string("") {
            add(
                .wrappedKeyPresent, value: .wrappedKey,
                "there is a 'wrappedKey', which belongs to EV_RSA_v2 and not to EV_ECC_v2")
        }
    }

    private mutating func checkEncryptionVersion(_ name: String) {
        let folded = name.uppercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
        switch name {
        case EncryptionVersion.eccV2.rawValue: break
        case EncryptionVersion.rsaV2.rawValue:
            add(
                .rsaScheme, value: .encryptionVersion,
                "the encryption version is EV_RSA_v2, whose padding Apple has not published")
        case "EC_v1", "RSA_v1":
            add(
                .paymentTokenVersion, value: .encryptionVersion,
                "the encryption version is \(name), which belongs to payment tokens")
        default:
            if folded.hasSuffix("ECCV2") || folded.hasSuffix("RSAV2") {
                add(
                    .encryptionVersionSpelling, value: .encryptionVersion,
                    "the encryption version is written in another way than EV_ECC_v2")
            } else {
                add(
                    .unknownEncryptionVersion, value: .encryptionVersion,
                    "the encryption version (\(name.count.counted("character"))) is unknown")
            }
        }
    }

    // MARK: - Request of the app

    /// Checks what the app sends to the issuer's server, as far as the text contains it.
    private mutating func inspectRequest() {
        if isRequestOnly {
            for name in [InspectedName.certificates, .nonce, .nonceSignature] where text.values[name] == nil {
                add(.missingValue, value: name, "'\(name.rawValue)' is missing")
            }
        }
        if text.values[.certificates] != nil { inspectCertificates() }
        if text.values[.nonce] != nil, let nonce = requiredText(.nonce) { add(ProvisioningNonce.findings(hex: nonce)) }
        if text.values[.nonceSignature] != nil, let signature = requiredText(.nonceSignature) {
            add(NonceSignature.findings(hex: signature))
        }
        inspectCard()
    }

    private mutating func inspectCertificates() {
        guard case .array(let items) = text.values[.certificates] else {
            add(.wrongType, value: .certificates, "'certificates' is not an array of strings")
            return
        }
        var encoded: [String] = []
        for item in items {
            guard case .string(let certificate) = item else {
                add(.wrongType, value: .certificates, "'certificates' contains \(item.kind), expected strings")
                return
            }
            encoded.append(certificate)
        }
        do throws(CertificateFinding) { _ = try ProvisioningCertificates(base64: encoded) } catch { add([error]) }
    }

    private mutating func inspectCard() {
        guard case .object(let card) = text.values[.card] else { return }
        var configuration: CardConfiguration?
        if case .number(let digits) = text.values[.configuration], let number = Int(jsonNumber: digits) {
            configuration = CardConfiguration(rawValue: number)
        }
        var named: ProvisioningNetwork?
        if case .string(let name) = text.values[.network] { named = ProvisioningNetwork(rawValue: name) }
        var check = CardCheck(form: .request, configuration: configuration, network: named ?? network, at: now)
        check.check(card)
        add(check.findings)
    }
}
