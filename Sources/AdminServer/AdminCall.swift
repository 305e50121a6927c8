import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import ServerKit
import StrictJSON
import Vocabulary
import WireAPI

/// A request as a handler receives it. The server has already checked the size of the request, and the caller's permit
/// for the route.
struct AdminCall: Sendable {
    /// The process that sent the request, and the permits that the process has.
    let peer: Peer
    let requestId: String
    let headers: HTTPFields
    let query: QueryParameters
    let body: [UInt8]

    var caller: Caller { peer.caller }
    var grants: [Grant] { peer.grants }

    /// What a use case needs to know about the request: the caller and the request's identifier. Without the
    /// `Idempotency-Key`, because this property is for use cases that are safe to repeat.
    var request: Request { Request(caller: caller, requestId: requestId) }

    /// The same as ``request``, and the `Idempotency-Key` if the client sent one. For use cases that create something.
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

    /// The query's `cursor`, for a list whose cursors are numbers. nil if the client requests the first page.
    func numericCursor() throws(MerchantError) -> Int? {
        guard let text = query["cursor"] else { return nil }
        guard let number = Int(text), number > 0, number < Int.max else {
            throw MerchantError(.malformed, "'cursor' is invalid, expected the nextCursor of an earlier page")
        }
        return number
    }

    /// Whether the query has `dryRun=true`.
    func dryRun() throws(MerchantError) -> Bool { try query.flag("dryRun") }

    /// The query's `merchant`, for a list that can be limited to one merchant. Checks the caller's permit for this
    /// merchant, because the server knows no merchant when it checks the permit for the route.
    ///
    /// - Returns: nil if the query names no merchant, so the list contains all merchants.
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
