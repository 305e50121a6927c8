import MerchantCore
import MerchantOperations
import PaymentToken
import StrictJSON
import Vocabulary

/// The body of `POST /v1/payment-tokens/decrypt`.
struct DecryptTokenRequest: Sendable {
    /// The values of the field `view`: forms of the payment data that the response contains in addition to the
    /// plaintext.
    enum View: String, CaseIterable, Sendable {
        case authorization
    }

    let token: ApplePayToken
    /// Which values the caller expects in the token, and how the daemon must verify the token.
    let terms: TokenTerms
    /// The permits that the caller needs for this request.
    let permits: [Permit]
    let view: View?

    /// Refuses unknown fields, except inside the token: Apple may add fields to tokens.
    ///
    /// - Throws: ``JSONFault``, or ``PaymentTokenError`` for the token itself.
    init(_ fields: JSONFields) throws {
        var fields = fields
        let paymentData = try fields.requiredFields("paymentData")
        let expected = try fields.requiredFields("expected")
        let verifies = try fields.bool("verify") ?? true
        let receivedAt = try Self.time(&fields, "receivedAt")
        let claims = try fields.bool("claim")
        view = try Self.view(&fields)
        try fields.refuseUnknown()
        guard claims != true || (verifies && receivedAt == nil) else {
            throw JSONFault(
                "'claim' must not be true if 'verify' is false or 'receivedAt' is present, "
                    + "because such a request never claims the token (records it as used)")
        }
        permits = [.decrypt] + (verifies ? [] : [.decryptUnverified]) + (receivedAt == nil ? [] : [.judgeAtOtherTime])
        terms = TokenTerms(
            expectations: try TokenExpectations(expected),
            verification: !verifies ? .declined : receivedAt.map { .at($0) } ?? .now(claims: claims ?? true))
        token = try ApplePayToken(paymentData)
    }

    private static func view(_ fields: inout JSONFields) throws(JSONFault) -> View? {
        guard let text = try fields.string("view") else { return nil }
        guard let view = View(rawValue: text) else {
            throw JSONFault(
                "'view' is unknown, expected \(View.allCases.map { "'\($0)'" }.joined(separator: ", "))")
        }
        return view
    }

    static func time(_ fields: inout JSONFields, _ name: String) throws(JSONFault) -> Timestamp? {
        guard let text = try fields.string(name) else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw JSONFault("'\(name)' is not a time, expected RFC 3339, such as 2026-11-21T04:53:15Z")
        }
        return time
    }
}

/// The body of `POST /v1/payment-tokens/verify`.
struct VerifyTokenRequest: Sendable {
    let token: ApplePayToken
    let receivedAt: Timestamp?

    init(_ fields: JSONFields) throws {
        var fields = fields
        let paymentData = try fields.requiredFields("paymentData")
        receivedAt = try DecryptTokenRequest.time(&fields, "receivedAt")
        try fields.refuseUnknown()
        token = try ApplePayToken(paymentData)
    }
}

extension TokenExpectations {
    /// How many digits an amount may have.
    private static let amountDigits = 1...18

    fileprivate init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        let merchant = try Self.merchant(&fields)
        let currencyCode = try fields.string("currencyCode")
        let transactionAmount = try Self.amount(&fields)
        let applicationData = try Self.applicationData(&fields)
        try fields.refuseUnknown()
        if let currencyCode, !Self.isDigits(currencyCode, 3...3) {
            throw JSONFault("'expected.currencyCode' is not a numeric ISO 4217 code, expected three digits")
        }
        self.init(
            merchant: merchant,
            transaction: ExpectedTransaction(
                currencyCode: currencyCode,
                // `isString` has no effect here: the comparison ignores it.
                transactionAmount: transactionAmount.map { TransactionAmount(text: $0, isString: true) },
                applicationData: applicationData))
    }

    private static func merchant(_ fields: inout JSONFields) throws(JSONFault) -> ExpectedMerchant {
        let text = try fields.requiredString("merchantIdentifier")
        if text == "any" { return .any }
        guard let identifier = MerchantIdentifier(text) else {
            throw JSONFault(
                "'expected.merchantIdentifier' is not a merchant identifier, \(MerchantIdentifier.expectation), "
                    + "or 'any'")
        }
        return .only(identifier)
    }

    private static func amount(_ fields: inout JSONFields) throws(JSONFault) -> String? {
        let digits: String
        switch try fields.value("transactionAmount") {
        case .none: return nil
        case .string(let text): digits = text
        // A number without a fractional part is an integer, also if it is written as 1099.0.
        case .number(let text): digits = UInt64(jsonNumber: text).map(String.init) ?? text
        case .some(let other):
            throw JSONFault("'expected.transactionAmount' is \(other.kind), expected a string or a number")
        }
        guard isDigits(digits, amountDigits) else {
            throw JSONFault("'expected.transactionAmount' is not an amount in minor units, expected 1 to 18 digits")
        }
        return digits
    }

    private static func applicationData(_ fields: inout JSONFields) throws(JSONFault) -> [UInt8]? {
        guard let text = try fields.string("applicationData") else { return nil }
        guard let bytes = Base64.decode(text) else {
            throw JSONFault(
                "'expected.applicationData' is not Base64, expected the original bytes as Base64 with padding")
        }
        return Array(bytes)
    }

    private static func isDigits(_ text: String, _ count: ClosedRange<Int>) -> Bool {
        count.contains(text.utf8.count) && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
