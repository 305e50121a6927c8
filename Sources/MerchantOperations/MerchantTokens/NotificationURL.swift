import MerchantCore
import Vocabulary

/// Checks the URLs to which Apple is asked to send notifications.
enum NotificationURL {
    /// - Throws: `malformed` unless the URL begins with `https://` and has a host. The URL may have at most 256
    ///   characters, and no user, password, query or fragment. All characters must be ASCII characters that a URL may
    ///   contain. Apple appends a path to the URL.
    static func check(_ url: String) throws(MerchantError) {
        func refusal(_ problem: String) -> MerchantError {
            MerchantError(
                .malformed,
                "'notificationUrl' \(problem), expected an https URL without user, password, query and fragment, of at most \(MerchantTokenOperations.longestNotificationURL) ASCII characters"
            )
        }
        guard url.utf8.count <= MerchantTokenOperations.longestNotificationURL else {
            throw refusal("has \(url.utf8.count.counted("byte"))")
        }
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !forbidden.contains($0) }) else {
            throw refusal("contains a character that a URL must not contain")
        }
        let scheme = "https://"
        guard url.lowercased().hasPrefix(scheme) else { throw refusal("does not begin with https://") }
        let authority = url.dropFirst(scheme.count).prefix { $0 != "/" }
        guard !authority.contains("@") else { throw refusal("contains a user") }
        let host = authority.hasPrefix("[") ? authority : authority.prefix { $0 != ":" }
        guard !host.isEmpty else { throw refusal("has no host") }
        let port = authority.hasPrefix("[") ? Substring() : authority.dropFirst(host.count)
        guard port.isEmpty || port.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }), port != ":" else {
            throw refusal("has an invalid port")
        }
    }

    private static let forbidden = Array("\"#<>?\\^`{|}".utf8)
}
