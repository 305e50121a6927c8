import FoundationEssentials

/// The body of a paymentSession request. The initializer checks the fields, types and lengths that Apple's reference
/// gives.
///
/// Source: Apple, Apple Pay on the Web, "Requesting an Apple Pay Payment Session".
struct PaymentSessionRequest: Decodable {
    enum Initiative: String, Decodable {
        case web, messaging
        case inApp = "in_app"
    }

    /// The maximum length in bytes of UTF-8.
    private static let longestDisplayName = 64

    let merchantIdentifier: String
    let displayName: String
    let initiative: Initiative
    let initiativeContext: String
    let domainName: String?

    /// - Throws: ``SandboxError``, which says what is invalid.
    init(_ body: [UInt8]) throws(SandboxError) {
        do { self = try JSONDecoder().decode(Self.self, from: Data(body)) } catch {
            throw SandboxError(
                "the body is not a JSON object with the documented fields: "
                    + RegistrationRequest.description(of: error)
            )
        }
        guard (1...1024).contains(merchantIdentifier.utf8.count) else {
            throw SandboxError("merchantIdentifier must have 1 to 1024 characters")
        }
        guard (1...Self.longestDisplayName).contains(displayName.utf8.count) else {
            throw SandboxError("displayName must have 1 to \(Self.longestDisplayName) bytes of UTF-8")
        }
        try checkContext()
    }

    /// The domain for which the merchant must be registered; nil for a payment in an app.
    var domain: String? {
        switch initiative {
        case .web: initiativeContext
        case .messaging: domainName
        case .inApp: nil
        }
    }

    private func checkContext() throws(SandboxError) {
        switch initiative {
        case .web:
            guard RegistrationRequest.isDomain(initiativeContext) else {
                throw SandboxError(
                    "initiativeContext must be a domain name without a scheme, because initiative is web")
            }
        case .messaging:
            guard initiativeContext.hasPrefix("https://"), initiativeContext.utf8.count > 8 else {
                throw SandboxError("initiativeContext must be an https URL, because initiative is messaging")
            }
            guard let domainName, RegistrationRequest.isDomain(domainName) else {
                throw SandboxError("domainName must be a domain name, because initiative is messaging")
            }
        case .inApp:
            guard (1...64).contains(initiativeContext.utf8.count),
                initiativeContext.utf8.allSatisfy({ byte in
                    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                })
            else { throw SandboxError("initiativeContext must be a team ID, because initiative is in_app") }
        }
        guard initiative == .messaging || domainName == nil else {
            throw SandboxError("domainName is only for the initiative messaging")
        }
    }
}
