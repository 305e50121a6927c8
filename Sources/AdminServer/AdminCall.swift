import HTTPTypes
import MerchantCore
import MerchantOperations
import StrictJSON
import Vocabulary
import WireAPI

/// One request as a handler sees it: caller known, permit held, bounds kept.
struct AdminCall: Sendable {
    let caller: Caller
    let grants: [Grant]
    let requestId: String
    let headers: HTTPFields
    let query: [String: String]
    let body: [UInt8]

    /// For a action that a repeat does not do twice anyway.
    var request: Request { Request(caller: caller, requestId: requestId) }

    /// For a call that makes something: with the `Idempotency-Key`, if one was sent.
    ///
    /// - Parameter path: in its plainest spelling, so that spellings of one path share their keys.
    func creatingRequest(_ path: String) throws(MerchantError) -> Request {
        Request(
            caller: caller, requestId: requestId,
            idempotency: try Request.Idempotency(
                lines: headers[values: .idempotencyKey], caller: caller, operation: "POST \(path)", body: body))
    }

    /// The body, read strictly.
    ///
    /// - Parameter empty: what an empty body means; nil where one must be sent.
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

    /// The query's `limit`: 1 to 1000, 100 where it is absent.
    func limit() throws(MerchantError) -> Int {
        guard let text = query["limit"] else { return Page<KeyDocument>.defaultLimit }
        guard let limit = Int(text), (1...Page<KeyDocument>.largestLimit).contains(limit) else {
            throw MerchantError(
                .malformed, "'limit' is not acceptable, expected 1 to \(Page<KeyDocument>.largestLimit)")
        }
        return limit
    }

    /// The query's `dryRun`.
    func dryRun() throws(MerchantError) -> Bool { try flag("dryRun") }

    /// A parameter of the query that is true or false; false where it is absent.
    func flag(_ name: String) throws(MerchantError) -> Bool {
        switch query[name] {
        case nil, "false": false
        case "true": true
        default: throw MerchantError(.malformed, "'\(name)' is neither true nor false")
        }
    }
}

extension MerchantIdentifier {
    /// - Throws: `malformed`, naming the field.
    init(_ text: String, named field: String) throws(MerchantError) {
        guard let identifier = MerchantIdentifier(text) else {
            throw MerchantError(.malformed, "'\(field)' is not a merchant identifier, \(Self.expectation)")
        }
        self = identifier
    }
}

extension PublicKeyHash {
    /// - Throws: `malformed`, naming the field.
    init(_ text: String, named field: String) throws(MerchantError) {
        guard let hash = PublicKeyHash(anySpelling: text) else {
            throw MerchantError(
                .malformed,
                "'\(field)' is not a publicKeyHash, expected 44 characters of Base64, 43 of Base64url or 64 hexadecimal digits"
            )
        }
        self = hash
    }
}

extension PartnerInternalMerchantIdentifier {
    /// - Throws: `malformed`, naming the field.
    init(_ text: String, named field: String) throws(MerchantError) {
        guard let partner = PartnerInternalMerchantIdentifier(text) else {
            throw MerchantError(
                .malformed,
                "'\(field)' is '\(text.prefix(64))' of \(text.utf8.count) bytes, \(Self.expectation)")
        }
        self = partner
    }
}

extension DomainName {
    /// - Throws: `malformed`, naming the field.
    init(_ text: String, named field: String) throws(MerchantError) {
        guard let name = DomainName(anySpelling: text) else {
            throw MerchantError(.malformed, "'\(field)' has '\(text.prefix(300))', \(Self.expectation)")
        }
        self = name
    }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// - Throws: `malformed`, naming the field and the values it may have.
    init(_ text: String, named field: String) throws(MerchantError) {
        guard let value = Self(rawValue: text) else {
            let expected = Self.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw MerchantError(.malformed, "'\(field)' is '\(text.prefix(64))', expected one of \(expected)")
        }
        self = value
    }
}

extension HTTPField.Name {
    // Each is a token of RFC 9110 section 5.6.2, which is all that the initializer asks.
    // swift-format-ignore: NeverForceUnwrap
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    // swift-format-ignore: NeverForceUnwrap
    static let requestId = HTTPField.Name("X-Request-Id")!
}
