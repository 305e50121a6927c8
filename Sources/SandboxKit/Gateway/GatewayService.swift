import Crypto
import FoundationEssentials
import NIOHTTP1
import Synchronization
import Vocabulary

/// Plays Apple's Web Merchant Registration API. Knows nothing of sockets.
struct GatewayService: Sendable {
    struct Request: Sendable {
        let method: HTTPMethod
        /// As sent, percent-encoded.
        let uri: String
        let body: [UInt8]
        /// DER; nil where the client showed none.
        let clientCertificate: [UInt8]?
    }

    private static let detailsPrefix = "/paymentservices/merchant/"

    let judge: ClientCertificateVerifier
    let book: RegistrationBook
    let faults: FaultPlan
    let tally: CallTally
    /// Nil: as fast as anybody likes.
    let limit: RateLimit?
    /// Nil: domains are believed.
    let verifier: DomainVerifier?
    /// How long `slow` is.
    let slowness: Duration

    func reply(to request: Request) async -> GatewayReply {
        var reply = await plainReply(to: request)
        reply.headers.replaceOrAdd(name: "x-keystone-correlationid", value: UUID().uuidString)
        return reply
    }

    private func plainReply(to request: Request) async -> GatewayReply {
        if let objection = judge.objection(to: request.clientCertificate, at: .now) {
            return .error(401, GatewayReply.unauthorizedMessage, details: objection)
        }
        guard let operation = Self.operation(request) else {
            return .error(404, "Payment Services Exception Not Found", details: "no such method and path")
        }
        tally.count(operation)
        if let limit, !limit.admits(at: .now) { return Self.instead(.status429) }
        let fault = faults.draw(for: operation)
        if let fault, !fault.acts { return Self.instead(fault) }
        let reply = await act(operation, request)
        return fault.map { spoil(reply, $0) } ?? reply
    }

    private static func operation(_ request: Request) -> GatewayOperation? {
        switch (request.method, request.uri) {
        case (.POST, "/paymentservices/registerMerchant"): .registerMerchant
        case (.POST, "/paymentservices/unregisterMerchant"): .unregisterMerchant
        case (.GET, let uri) where uri.hasPrefix(detailsPrefix) && uri.count > detailsPrefix.count: .getDetails
        default: nil
        }
    }

    private func act(_ operation: GatewayOperation, _ request: Request) async -> GatewayReply {
        do {
            switch operation {
            case .registerMerchant: return try await register(RegistrationRequest(request.body))
            case .unregisterMerchant:
                let wanted = try RegistrationRequest(request.body)
                try wanted.requireReason()
                return try book.unregister(wanted.identifier, wanted.domainNames)
                    ? .done : .malformed("the merchant is not registered")
            case .getDetails:
                let identifier = request.uri.dropFirst(Self.detailsPrefix.count)
                return details(Self.percentDecoded(identifier) ?? "")
            }
        } catch {
            return .malformed("\(error)")
        }
    }

    private func register(_ wanted: RegistrationRequest) async throws -> GatewayReply {
        let merchant = try wanted.merchant()
        if let verifier {
            for domain in wanted.domainNames {
                // What Apple answers here is not known; 400 is what it says to everything that is wrong with a request.
                if let objection = await verifier.objection(to: domain) { return .malformed("\(domain): \(objection)") }
            }
        }
        return try book.register(merchant) ? .done : .malformed("more than 99 domains in total")
    }

    private func details(_ identifier: String) -> GatewayReply {
        guard let merchant = book.merchant(identifier) else { return .malformed("the merchant is not registered") }
        return .json(.ok, DetailsDocument(merchant))
    }

    /// `MerchantDetails`.
    private struct DetailsDocument: Encodable {
        let partnerInternalMerchantIdentifier: String
        let partnerMerchantName: String
        let domainNames: [String]
        let encryptTo: String
        let partnerMerchantValidationURI = "/.well-known/apple-developer-merchantid-domain-association"
        /// Undocumented, and seen in a production answer.
        let delegatedCommerce = ["enabled": false]

        init(_ merchant: RegisteredMerchant) {
            partnerInternalMerchantIdentifier = merchant.partnerInternalMerchantIdentifier
            partnerMerchantName = merchant.partnerMerchantName
            domainNames = merchant.domainNames
            encryptTo = Hex.encode(Array(SHA256.hash(data: Array(merchant.encryptTo.utf8)))).uppercased()
        }
    }

    /// - Returns: nil for what is not percent-encoded UTF-8.
    private static func percentDecoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let decoded = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)), decoded.count == 1
                else { return nil }
                bytes += decoded
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func instead(_ fault: GatewayFault.Kind) -> GatewayReply {
        switch fault {
        case .status401: return .error(401, GatewayReply.unauthorizedMessage)
        case .status417: return .error(417, "Payment Services Exception Expectation Failed")
        case .status429:
            var reply = GatewayReply.error(429, "Payment Services Exception Too Many Requests")
            reply.headers.add(name: "Retry-After", value: "1")
            return reply
        case .redirect:
            return GatewayReply(status: .found, headers: ["Location": "https://elsewhere.invalid/"])
        case .reset: return GatewayReply(status: .ok, delivery: .reset)
        default: return .error(500, "Payment Services Exception Internal Server Error")
        }
    }

    private func spoil(_ reply: GatewayReply, _ fault: GatewayFault.Kind) -> GatewayReply {
        var reply = reply
        switch fault {
        case .slow: reply.delay = slowness
        case .hang: reply.delivery = .hang
        case .status500AfterActing: return .error(500, "Payment Services Exception Internal Server Error")
        case .malformed: reply = GatewayReply(status: .ok, body: Array(#"{"domainNames": ["#.utf8))
        case .empty: reply = .done
        case .large: reply = GatewayReply(status: .ok, body: [UInt8](repeating: UInt8(ascii: " "), count: 2 << 20))
        case .resetAfterActing: reply.delivery = .reset
        case .answerLost: reply.delivery = .silence
        case .status401, .status417, .status429, .status500, .redirect, .reset: break
        }
        return reply
    }
}

/// How often each call came from a client that may make it.
package final class CallTally: Sendable {
    private let counts = Mutex<[GatewayOperation: Int]>([:])

    package func calls(_ operation: GatewayOperation) -> Int { counts.withLock { $0[operation] ?? 0 } }

    func count(_ operation: GatewayOperation) { counts.withLock { $0[operation, default: 0] += 1 } }
}
