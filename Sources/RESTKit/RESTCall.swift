package import HTTPKit
package import HTTPTypes
package import MerchantCore
package import MerchantOperations
package import ServerKit
import StrictJSON
package import Vocabulary
package import WireAPI

/// A request as a handler receives it. The server has already checked the size of the request, and the caller's permit
/// for the route.
package struct RESTCall: Sendable {
    /// The caller that sent the request, and the caller's permits.
    package let peer: Peer
    package let requestId: String
    package let headers: HTTPFields
    package let query: QueryParameters
    package let body: [UInt8]
    /// How the server refuses a request for a merchant for which the caller has no permit.
    private let outOfScope: OutOfScopeResponse

    package init(
        peer: Peer, requestId: String, headers: HTTPFields, query: QueryParameters, body: [UInt8],
        outOfScope: OutOfScopeResponse
    ) {
        self.peer = peer
        self.requestId = requestId
        self.headers = headers
        self.query = query
        self.body = body
        self.outOfScope = outOfScope
    }

    package var caller: Caller { peer.caller }
    package var grants: [Grant] { peer.grants }

    /// The caller and the identifier of the request, without the `Idempotency-Key`: for use cases that are safe to
    /// repeat.
    package var request: Request { Request(caller: caller, requestId: requestId) }

    /// ``request`` with the `Idempotency-Key` if the client sent one, for use cases that create something.
    ///
    /// - Parameter path: the request's path in its canonical spelling, so that a repeat with another spelling of the
    ///   path is treated as the same request.
    package func requestWithIdempotencyKey(_ path: String) throws(MerchantError) -> Request {
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
    package func read<Body: RequestBody>(
        _ type: Body.Type = Body.self, orEmpty empty: Body? = nil, maximumBodyBytes: Int = BodyLimit.ordinary
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
    package func limit() throws(MerchantError) -> Int {
        let largest = Page<KeyDocument>.largestLimit
        return try query.integer("limit", in: 1...largest, expectation: "1 to \(largest)")
            ?? Page<KeyDocument>.defaultLimit
    }

    /// The query's `cursor`, for a list whose cursors are numbers. nil if the client requests the first page.
    package func numericCursor() throws(MerchantError) -> Int? {
        guard let text = query["cursor"] else { return nil }
        guard let number = Int(text), number > 0, number < Int.max else {
            throw MerchantError(.malformed, "'cursor' is invalid, expected the nextCursor of an earlier page")
        }
        return number
    }

    /// Whether the query has `dryRun=true`.
    package func dryRun() throws(MerchantError) -> Bool { try query.flag("dryRun") }

    /// Checks that the caller has a permit for a merchant that the query or the body names. For a route with the scope
    /// ``RouteScope/checkedByHandler``.
    ///
    /// - Throws: the error that ``RESTHandlers/outOfScope`` chooses: `forbidden` or `merchantNotFound`.
    package func require(_ permit: Permit, for merchant: MerchantIdentifier) throws(MerchantError) {
        try outOfScope.check(permit, of: peer, for: merchant, notFound: .merchantNotFound(merchant))
    }

    /// Checks that the caller has a permit for the merchant that owns a resource that the query or the body names.
    ///
    /// - Parameters:
    ///   - owner: nil if no merchant owns the resource. The caller then needs the permit for every merchant.
    ///   - notFound: the error for a resource that does not exist.
    package func require(
        _ permit: Permit, forOwner owner: MerchantIdentifier?, notFound: @autoclosure () -> MerchantError
    ) throws(MerchantError) {
        try outOfScope.check(permit, of: peer, for: owner, notFound: notFound())
    }

    /// The query's `merchant`, for a list that can be limited to one merchant. Checks the caller's permit for this
    /// merchant, because the server knows no merchant when it checks the permit for the route.
    ///
    /// - Parameter permit: the route's permit.
    /// - Returns: nil if the query names no merchant, so the list contains all merchants.
    /// - Throws: the error of ``require(_:for:)`` if the caller may not read the merchant; `forbidden` if the query
    ///   names no merchant and the caller may read only some merchants.
    package func merchantToRead(_ permit: Permit) throws(MerchantError) -> MerchantIdentifier? {
        let merchant = try query.value("merchant", as: MerchantIdentifier.self)
        if let merchant {
            try require(permit, for: merchant)
        } else if !grants.allowsEveryMerchant(permit) {
            peer.recordRefusal(permit)
            throw MerchantError(
                .forbidden, "the caller may read only some merchants; send the query parameter 'merchant'")
        }
        return merchant
    }
}

extension HTTPField.Name {
    // The initializer returns nil only for a name that is not a token of RFC 9110 section 5.6.2.
    // swift-format-ignore: NeverForceUnwrap
    package static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
