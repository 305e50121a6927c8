import HTTPTypes

/// The header fields `Sec-Fetch-…`, in which a browser reports the origin and the kind of its request: W3C, "Fetch
/// Metadata Request Headers". A script cannot set them.
enum FetchMetadata {
    /// Whether a person caused the request, by opening a page or sending a form. False for a request of a page's script
    /// or for a file that a page loads. A client that sends no such field is treated as a person.
    static func isSentByPerson(_ headers: HTTPFields) -> Bool {
        let modes = headers[values: .secFetchMode]
        return modes.isEmpty || modes == ["navigate"]
    }

    /// Whether a page of the same origin caused the request.
    static func isSameOrigin(_ headers: HTTPFields) -> Bool { headers[values: .secFetchSite] == ["same-origin"] }
}

extension HTTPField.Name {
    // The initializer returns nil only for a name that is not a token of RFC 9110 section 5.6.2.
    // swift-format-ignore: NeverForceUnwrap
    static let secFetchMode = HTTPField.Name("Sec-Fetch-Mode")!
    // swift-format-ignore: NeverForceUnwrap
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
}
