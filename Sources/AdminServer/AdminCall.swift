import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import ServerKit
import StrictJSON
import Vocabulary
import WireAPI

/// A request as a handler receives it. The server has already checked the caller's permit for the route and the
/// request's size.
struct AdminCall: Sendable {
    let peer: Peer
    let requestId: String
    let headers: HTTPFields
    let query: QueryParameters
    let body: [UInt8]

    var caller: Caller { peer.caller }
    var grants: [Grant] { peer.grants }

    /// The request for a use case that is safe to repeat. Ignores an `Idempotency-Key`.
    var request: Request { Request(caller: caller, requestId: requestId) }

    /// The request for a use case that creates something. Contains the `Idempotency-Key`, if the client sent one.
    ///
    /// - Parameter path: the request's path in its canonical spelling, so that a repeat with another spelling of the
    ///   path counts as the same request.
    func requestWithIdempotencyKey(_ path: String) throws(MerchantError) -> Request {
        Request(
            caller: caller, requestId: requestId,
            idempotency: try Request.Idempotency(
                fieldValues: headers[values: .idempotencyKey], caller: caller, operation: "POST \(path)", body: body))
    }

    /// Decodes the body and refuses unknown fields.
    ///
    /// - Parameters:
    ///   - empty: the result for an empty body; nil if a body is required.
    ///   - maximumBodyBytes: the largest permitted size of the JSON text.
    func read<Body: RequestBody>(
        _ type: Body.Type = Body.self, orEmpty empty: Body? = nil, maximumBodyBytes: Int = AdminRoute.ordinaryBodyLimit
    ) throws(MerchantError) -> Body {
        if body.isEmpty, let empty { return empty }
        do throws(JSONFault) {
            return try Body(
                JSONFields(parsing: body, limits: JSONLimits(bytes: maximumBodyBytes, depth: 16, values: 4_096)))
        } catch {
            throw MerchantError(.malformed, error.description)
        }
    }

    /// The query's `limit`, 1 to 1000. The default is 100.
    func limit() throws(MerchantError) -> Int {
        let largest = Page<KeyDocument>.largestLimit
        return try query.integer("limit", in: 1...largest, expectation: "1 to \(largest)")
            ?? Page<KeyDocument>.defaultLimit
    }

    /// The query's `cursor`, for a list whose cursors are numbers. nil for the first page.
    func numericCursor() throws(MerchantError) -> Int? {
        guard let text = query["cursor"] else { return nil }
        guard let number = Int(text), number > 0, number < Int.max else {
            throw MerchantError(.malformed, "'cursor' is invalid, expected the nextCursor of an earlier page")
        }
        return number
    }

    /// The query's `dryRun`.
    func dryRun() throws(MerchantError) -> Bool { try query.flag("dryRun") }

    /// The query's `merchant`, for a list that can be limited to one merchant. Checks the caller's permit for this
    /// merchant, which the route could not check.
    ///
    /// - Returns: nil for all merchants, if the query names no merchant.
    /// - Throws: `forbidden` if the caller may not read the merchant, or if the query names no merchant and the caller
    ///   may read only some merchants.
    func merchantToRead() throws(MerchantError) -> MerchantIdentifier? {
        let merchant = try query.value("merchant", as: MerchantIdentifier.self)
        if let merchant {
            try peer.require(.read, for: merchant)
        } else if !grants.allowsEveryMerchant(.read) {
            peer.recordRefusal(.read)
            throw MerchantError(
                .forbidden, "the caller may read only some merchants; send the query parameter 'merchant'")
        }
        return merchant
    }
}

extension HTTPField.Name {
    // The initializer returns nil only for a name that is not a token of RFC 9110 section 5.6.2.
    // swift-format-ignore: NeverForceUnwrap
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    // swift-format-ignore: NeverForceUnwrap
    static let requestId = HTTPField.Name("X-Request-Id")!
}
