import HTTPTypes
import MerchantCore
import Vocabulary

/// The cookie that identifies a browser from the time it opens a link until the person presses the button on the page.
///
/// The session's secret is derived from the cookie and from the link. If a person presses the button again within a
/// minute, both requests get the same session, although the link can be used only once. Without the link, the cookie
/// is useless.
enum BrowserCookie {
    static let name = "__Host-merchantkeyd-browser"
    private static let length = 32
    /// How long the browser keeps the cookie: long enough to read the page and to press the button twice.
    private static let life = Duration.seconds(600)

    /// The value of `Set-Cookie` for a browser that has no such cookie.
    static func newSetCookieValue() -> String {
        let value = Hex.encode((0..<length / 2).map { _ in UInt8.random(in: .min ... .max) })
        return "\(name)=\(value); Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=\(life.components.seconds)"
    }

    /// The value of the request's cookie; nil if the request has no such cookie or more than one, or if the value is
    /// malformed.
    static func value(in headers: HTTPFields) -> String? {
        guard let value = headers.cookie(named: name), value.utf8.count == length, Hex.decode(value) != nil else {
            return nil
        }
        return value
    }
}

extension HTTPFields {
    /// The value of a cookie; nil if the request has none of this name, or more than one.
    func cookie(named name: String) -> String? {
        let values = self[values: .cookie].flatMap { $0.split(separator: ";") }
            .map { $0.drop { $0 == " " } }
            .filter { $0.hasPrefix("\(name)=") }
            .map { $0.dropFirst(name.count + 1) }
        return values.count == 1 ? values.first.map(String.init) : nil
    }
}
