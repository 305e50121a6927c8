import Crypto
import FoundationEssentials
import Synchronization
import Vocabulary

/// A merchant session that the gateway issued, with the request for it.
struct IssuedSession: Encodable, Sendable {
    let merchantIdentifier: String
    let displayName: String
    let initiative: String
    let initiativeContext: String
    let domainName: String?
    /// The hash of the client's identifier, in lower-case hexadecimal digits.
    let clientMerchantHash: String
    /// The body of the response.
    let session: String

    /// Issues a session.
    ///
    /// The session has the fields that were seen in Apple's sessions, in Apple's order. Apple documents none of them. A
    /// session is valid for an hour, as Apple's sessions are, although Apple documents five minutes.
    init(
        for request: PaymentSessionRequest, to client: GatewayClient, by authority: SandboxAuthority,
        at now: Timestamp
    ) throws {
        let hash = Hex.encode(Array(SHA256.hash(data: Array(request.merchantIdentifier.utf8)))).uppercased()
        let identifier = "SSH\(Hex.encode(randomBytes(16)).uppercased())_\(hash)"
        let nonce = Hex.encode(randomBytes(4))
        let signature = try authority.signature(
            over: Array("\(identifier)\(nonce)\(request.domain ?? "")".utf8), algorithm: .ecV1, signingTime: now)
        var object = JSONObjectWriter()
        object.literal("epochTimestamp", String(now.millisecondsSince1970))
        object.literal("expiresAt", String(now.millisecondsSince1970 + 3_600_000))
        object.string("merchantSessionIdentifier", identifier)
        object.string("nonce", nonce)
        object.string("merchantIdentifier", hash)
        if let domain = request.domain { object.string("domainName", domain) }
        object.string("displayName", request.displayName)
        object.string("signature", Hex.encode(signature))
        object.string("operationalAnalyticsIdentifier", "\(request.displayName):\(hash)")
        object.literal("retries", "0")
        object.string("pspId", client.merchantHash.hex.uppercased())
        merchantIdentifier = request.merchantIdentifier
        displayName = request.displayName
        initiative = request.initiative.rawValue
        initiativeContext = request.initiativeContext
        domainName = request.domainName
        clientMerchantHash = client.merchantHash.hex
        session = object.text
    }
}

/// The newest sessions, for tests that compare them with what a client received.
final class SessionLog: Sendable {
    private static let capacity = 100

    private let state = Mutex<[IssuedSession]>([])

    /// The sessions, oldest first.
    var sessions: [IssuedSession] { state.withLock { $0 } }

    func append(_ session: IssuedSession) {
        state.withLock { sessions in
            sessions.append(session)
            if sessions.count > Self.capacity { sessions.removeFirst(sessions.count - Self.capacity) }
        }
    }
}
