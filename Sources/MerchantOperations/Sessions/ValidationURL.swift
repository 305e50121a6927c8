package import MerchantCore
import Vocabulary

/// The `validationURL` that Safari gives a page for the request of a merchant session.
///
/// The URL comes from a browser, so an attacker can choose it. It is therefore never opened. It only selects one of the
/// hosts in the setting `sessions.validation-hosts`, and the daemon builds the URL of its call itself. The text is
/// compared byte for byte and never normalized, so no spelling can mean one server here and another one in an HTTP
/// client.
package enum ValidationURL {
    /// The longest text that can match, with a host name of 253 characters and a port.
    private static let longest = 320
    private static let scheme = "https://"
    /// The paths in Apple's URLs. The second path is of an endpoint that Apple is withdrawing.
    private static let paths = ["/paymentservices/paymentSession", "/paymentservices/startSession"]

    /// Why a URL is refused.
    package enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case tooLong(bytes: Int)
        case otherScheme
        /// The host or the port is not in the settings, or a user or password precedes the host.
        case otherHost
        case otherPath

        /// What failed, in a form that follows `'validationURL'`.
        package var description: String {
            switch self {
            case .tooLong(let bytes): "has \(bytes) bytes, expected at most \(ValidationURL.longest)"
            case .otherScheme: "does not begin with https://"
            case .otherHost: "has another host or port than those in the setting sessions.validation-hosts"
            case .otherPath: "has another path than \(ValidationURL.paths.joined(separator: " or "))"
            }
        }
    }

    /// Selects the host that a URL names.
    ///
    /// - Parameter hosts: the setting `sessions.validation-hosts`.
    package static func host(_ text: String, among hosts: [SessionHost]) throws(Fault) -> SessionHost {
        guard text.utf8.count <= longest else { throw .tooLong(bytes: text.utf8.count) }
        let bytes = Array(text.utf8)
        guard bytes.starts(with: scheme.utf8) else { throw .otherScheme }
        let rest = bytes.dropFirst(scheme.utf8.count)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        guard let host = hosts.first(where: { authority.elementsEqual($0.authority.utf8) }) else { throw .otherHost }
        let path = rest.dropFirst(authority.count)
        guard paths.contains(where: { path.elementsEqual($0.utf8) }) else { throw .otherPath }
        return host
    }

    /// The host that a lenient URL parser would find in a refused URL, for the audit: at most 100 printable characters,
    /// without user and password.
    static func printableHost(_ text: String) -> String {
        let text = String(decoding: text.utf8.prefix(longest), as: UTF8.self)
        let rest = text.firstRange(of: "//").map { text[$0.upperBound...] } ?? text[...]
        let authority = rest.prefix { !"/\\?#".contains($0) }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return String(host.prefix(100)).printable(keepingLines: false)
    }
}
