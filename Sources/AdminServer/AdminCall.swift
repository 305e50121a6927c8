import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import ServerKit
import StrictJSON
import Vocabulary
import WireAPI

/// One request in the form that handlers get. The caller's permit for the route and the limits of the request were
/// already checked.
struct AdminCall: Sendable {
    let peer: Peer
    let requestId: String
    let headers: HTTPFields
    let query: QueryParameters
    let body: [UInt8]

    var caller: Caller { peer.caller }
    var grants: [Grant] { peer.grants }

    /// The request for the use case, without an idempotency key: for an action that is safe to repeat.
    var request: Request { Request(caller: caller, requestId: requestId) }

    /// The request for a use case that creates something. It includes the `Idempotency-Key`, if the client sent one.
    ///
    /// - Parameter path: the path in its canonical spelling, so that an idempotency key is valid for all spellings of
    ///   the path.
    func creatingRequest(_ path: String) throws(MerchantError) -> Request {
        Request(
            caller: caller, requestId: requestId,
            idempotency: try Request.Idempotency(
                fieldValues: headers[values: .idempotencyKey], caller: caller, operation: "POST \(path)", body: body))
    }

    /// Decodes the body and refuses unknown fields.
    ///
    /// - Parameter empty: the value that an empty body stands for; nil if a body is required.
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

    /// The query's `limit`, 1 to 1000. The default is 100.
    func limit() throws(MerchantError) -> Int {
        let largest = Page<KeyDocument>.largestLimit
        return try query.integer("limit", in: 1...largest, expectation: "1 to \(largest)")
            ?? Page<KeyDocument>.defaultLimit
    }

    /// The query's `cursor`, for a list whose cursors are numbers of items.
    func numericCursor() throws(MerchantError) -> Int? {
        guard let text = query["cursor"] else { return nil }
        guard let number = Int(text), number > 0, number < Int.max else {
            throw MerchantError(.malformed, "'cursor' is not one that an earlier page gave")
        }
        return number
    }

    /// The query's `dryRun`.
    func dryRun() throws(MerchantError) -> Bool { try query.flag("dryRun") }

    /// The merchant in the query of a list. The path does not name the merchant, so this function checks the permit for
    /// it.
    ///
    /// - Returns: nil if the query names no merchant and the list is of all merchants.
    /// - Throws: `forbidden` if the caller may not read that merchant, or if the query names no merchant and the caller
    ///   may read only some merchants.
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
    // The initializer returns nil only for a name that is not a token of RFC 9110 section 5.6.2.
    // swift-format-ignore: NeverForceUnwrap
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    // swift-format-ignore: NeverForceUnwrap
    static let requestId = HTTPField.Name("X-Request-Id")!
}
