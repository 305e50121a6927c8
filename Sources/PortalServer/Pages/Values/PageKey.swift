package import MerchantCore
package import MerchantOperations
package import Vocabulary

/// A key pair as the pages show it.
package struct PageKey: Hashable, Sendable {
    package let keyPair: KeyPair
    /// The certificate in use; nil if the key pair has none.
    package let certificate: StoredCertificate?
    /// When a decryptor last requested the key pair; nil if none has. A decryption counts as a request.
    package let lastRequest: Timestamp?

    package init(keyPair: KeyPair, certificate: StoredCertificate?, lastRequest: Timestamp?) {
        self.keyPair = keyPair
        self.certificate = certificate
        self.lastRequest = lastRequest
    }

    package init(_ view: KeyView) {
        self.init(
            keyPair: view.keyPair, certificate: view.certificateInUse, lastRequest: view.use?.lastRequest)
    }

    /// The beginning of the publicKeyHash, which is enough to tell the key pairs of one merchant apart.
    var shortHash: String { String(keyPair.publicKeyHash.base64.prefix(8)) }

    /// The name under which a browser stores the CSR.
    var signingRequestFile: String {
        "\(keyPair.merchantIdentifier)-\(keyPair.publicKeyHash.hex.prefix(8)).certSigningRequest"
    }
}

extension [PageKey] {
    /// The key pairs for payments, sorted by state, from `current` to `destroyed`. In the same state, the newest key
    /// pair comes first.
    var forPayments: [PageKey] {
        filter { $0.keyPair.purpose == .paymentProcessing }
            .sorted { left, right in
                let ranks = (left.keyPair.state.rank, right.keyPair.state.rank)
                if ranks.0 != ranks.1 { return ranks.0 < ranks.1 }
                return left.keyPair.createdAt > right.keyPair.createdAt
            }
    }

    /// The oldest key pair that waits for its certificate: its CSR is the most likely to have been sent to Apple.
    var oldestPending: PageKey? {
        filter { $0.keyPair.state == .pending }.min { $0.keyPair.createdAt < $1.keyPair.createdAt }
    }

    /// The current key pair whose certificate expires last.
    var current: PageKey? {
        filter { $0.keyPair.state == .current && $0.keyPair.purpose == .paymentProcessing }
            .max { left, right in
                guard let leftEnd = left.certificate?.notAfter else { return right.certificate != nil }
                guard let rightEnd = right.certificate?.notAfter else { return false }
                return leftEnd < rightEnd
            }
    }
}

extension KeyState {
    /// The position of the state in lists.
    fileprivate var rank: Int {
        switch self {
        case .current: 0
        case .standby: 1
        case .pending: 2
        case .retiring: 3
        case .revoked: 4
        case .destroyed: 5
        }
    }
}

/// A key pair in a template.
struct KeyContent {
    struct SigningRequest {
        let path: String
        let file: String
        let of: String
    }

    let id: String
    let hash: String
    let shortHash: String
    let state: String
    let stateName: String
    let begins: TimeContent?
    let ends: TimeContent?
    let days: String?
    let lastUse: TimeContent?
    let created: TimeContent
    let algorithm: String
    let purpose: String
    let serialNumber: String?
    /// The CSR; nil unless the key pair waits for its certificate.
    let csr: SigningRequest?

    init(_ key: PageKey, _ text: PageText) {
        let keyPair = key.keyPair
        id = String(keyPair.publicKeyHash.hex.prefix(16))
        hash = keyPair.publicKeyHash.base64
        shortHash = key.shortHash
        state = text.named(.keyState, keyPair.state.rawValue)
        stateName = keyPair.state.rawValue
        begins = key.certificate.map { text.day($0.notBefore) }
        ends = key.certificate.map { text.day($0.notAfter) }
        days = key.certificate.map { text.remaining(until: $0.notAfter) }
        lastUse = key.lastRequest.map { text.time($0) }
        created = text.time(keyPair.createdAt)
        algorithm = keyPair.algorithm.rawValue
        purpose = keyPair.purpose.rawValue
        serialNumber = key.certificate?.serialNumber
        csr =
            keyPair.state == .pending
            ? SigningRequest(
                path: PortalPaths.signingRequest(of: keyPair.publicKeyHash), file: key.signingRequestFile,
                of: text.filled(.keysCsrFor, ["key": key.shortHash]))
            : nil
    }
}
