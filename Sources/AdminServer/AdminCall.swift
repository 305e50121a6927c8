import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import ServerKit
import StrictJSON
import Vocabulary
import WireAPI

/// One request as a handler sees it: the caller is known, the permit was checked, and every limit is kept.
struct AdminCall: Sendable {
    let peer: Peer
    let requestId: String
    let headers: HTTPFields
    let query: QueryParameters
    let body: [UInt8]

    var caller: Caller { peer.caller }
    var grants: [Grant] { peer.grants }

    /// For an action that has the same effect when it is repeated.
    var request: Request { Request(caller: caller, requestId: requestId) }

    /// For a call that creates something: includes the `Idempotency-Key`, if one was sent.
    ///
    /// - Parameter path: in its canonical spelling, so that all spellings of one path share their keys.
    func creatingRequest(_ path: String) throws(MerchantError) -> Request {
        Request(
            caller: caller, requestId: requestId,
            idempotency: try Request.Idempotency(
                fieldValues: headers[values: .idempotencyKey], caller: caller, operation: "POST \(path)", body: body))
    }

    /// Decodes the body and refuses unknown fields.
    ///
    /// - Parameter empty: the meaning of an empty body; nil where a body is required.
    func read<Body: RequestBody>(
        _ type: Body.Type = Body.self, orEmpty empty: Body? = nil, mostBytes: Int = AdminRoute.ordinaryBody
    ) throws(MerchantError) -> Body {
        if body.isEmpty, let empty { return empty }
        do throws(JSONFault) {
            return try Body(
                JSONFields(parsing: body, limits: JSONLimits(bytes: mostBytes, depth: 16, values: 4_096)))
        } catch {
            throw MerchantError(.malformed, error.description)
        }
    }

    /// The query's `limit`: 1 to 1000; 100 where it is absent.
    func limit() throws(MerchantError) -> Int {
        let largest = Page<KeyDocument>.largestLimit
        return try query.integer("limit", in: 1...largest, expectation: "1 to \(largest)")
            ?? Page<KeyDocument>.defaultLimit
    }

    /// The query's `cursor` where it is the number of an item.
    func numericCursor() throws(MerchantError) -> Int? {
        guard let text = query["cursor"] else { return nil }
        guard let number = Int(text), number > 0, number < Int.max else {
            throw MerchantError(.malformed, "'cursor' is not one that an earlier page gave")
        }
        return number
    }

    /// The query's `dryRun`.
    func dryRun() throws(MerchantError) -> Bool { try query.flag("dryRun") }

    /// The merchant that a list is about, whose permit the handler checks because the path does not name it.
    ///
    /// - Returns: nil for all merchants.
    /// - Throws: `forbidden` where the caller may not read that merchant, or names none and may read some only.
    func merchantToRead() throws(MerchantError) -> MerchantIdentifier? {
        let merchant = try query.value("merchant", as: MerchantIdentifier.self)
        if let merchant {
            try peer.require(.read, for: merchant)
        } else if !grants.allowsEveryMerchant(.read) {
            peer.recordRefusal(.read)
            throw MerchantError(
                .forbidden, "the caller's permit 'read' is for some merchants, expected the query parameter 'merchant'")
        }
        return merchant
    }
}

extension HTTPField.Name {
    // A token of RFC 9110 section 5.6.2, the only thing that the initializer checks.
    // swift-format-ignore: NeverForceUnwrap
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    // swift-format-ignore: NeverForceUnwrap
    static let requestId = HTTPField.Name("X-Request-Id")!
}
