import MerchantCore
import MerchantOperations
import Vocabulary

extension Bench {
    // swift-format-ignore: NeverForceUnwrap
    static let shop = MerchantIdentifier("merchant.com.example.shop")!
    // swift-format-ignore: NeverForceUnwrap
    static let otherShop = MerchantIdentifier("merchant.com.example.other")!

    func add(_ merchants: MerchantIdentifier...) async throws {
        for merchant in merchants {
            _ = try await operations.merchants.addMerchant(
                merchant, name: nil, targetActiveKeyPairs: nil, for: request)
        }
    }

    /// A request with an Idempotency-Key.
    func keyedRequest(_ key: String, body: String = "") -> Request {
        let idempotency = Request.Idempotency(
            key: IdempotencyKey(caller: Self.caller.name, operation: "POST /v1/test", value: key),
            requestDigest: Array(body.utf8))
        return Request(caller: Self.caller, requestId: "r-\(key)", idempotency: idempotency)
    }

    /// A request of a machine that has this access.
    func machineRequest(_ access: AccessName) -> Request {
        Request(caller: .remote(.access(access, address: "192.0.2.7")), requestId: "r-1")
    }

    /// The certificate that ``FakeCustodian`` reads.
    static func certificate(_ hash: PublicKeyHash, of merchant: MerchantIdentifier) -> [UInt8] {
        Array("CERT:\(hash.hex):\(merchant)".utf8)
    }

    /// The texts `before`, `after` and `reason` of all audit records.
    func auditText() async throws -> String {
        try await audited().map { entry in
            [entry.before, entry.after, entry.reason].compactMap(\.self).joined(separator: " ")
        }.joined(separator: "\n")
    }
}

func accessName(_ text: String) -> AccessName {
    guard let name = AccessName(text) else { preconditionFailure("not a name: \(text)") }
    return name
}
