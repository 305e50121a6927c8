import HTTPTypes
import MerchantCore
import Vocabulary

/// The cookie that recognizes a browser between the page of a link and the press of its button.
///
/// The secret of the session is derived from it and from the link. So if a person presses the button twice, both requests
/// get the same session, although the link works once. Without the link, the value is of no use.
enum BrowserCookie {
    static let name = "__Host-merchantkeyd-browser"
    private static let length = 32
    /// A page of a link that is open for longer gets no second session by a second press.
    private static let life = Duration.seconds(600)

    /// The value of `Set-Cookie` for a browser that has no such cookie.
    static func beginning() -> String {
        let value = Hex.encode((0..<length / 2).map { _ in UInt8.random(in: .min ... .max) })
        return "\(name)=\(value); Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=\(life.components.seconds)"
    }

    /// The value in the request's cookie; nil if the request has no such cookie, or more than one.
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
