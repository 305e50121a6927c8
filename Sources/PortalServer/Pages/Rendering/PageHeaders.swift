package import HTTPTypes

/// The header fields of every page.
package enum PageHeaders {
    /// The policy has no `unsafe-inline`: no page contains a style, a script or an event handler of its own.
    package static let contentSecurityPolicy = [
        "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    /// `Cache-Control` is `no-store`, because a page can contain a CSRF token or the link of a new invitation.
    package static let fields: [(name: String, value: String)] = [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Security-Policy", contentSecurityPolicy),
        ("Strict-Transport-Security", "max-age=31536000"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()"),
        ("Cache-Control", "no-store"),
    ]

    /// ``fields`` for a response.
    package static let httpFields: HTTPFields = {
        var result = HTTPFields()
        for field in fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            result[name] = field.value
        }
        return result
    }()
}
