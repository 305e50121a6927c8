import HTTPKit

extension QueryParameters {
    /// Reads the query of a page. Ignores parameters that the route does not declare, because mail programs and search
    /// engines add some to links. Browsers write a space in a form as `+`.
    init(ofPage rawQuery: Substring, known: Set<String>) throws(HTTPFault) {
        let declared = rawQuery.split(separator: "&").filter { pair in known.contains(String(pair.prefix { $0 != "=" }))
        }
        let text = declared.joined(separator: "&").split(separator: "+", omittingEmptySubsequences: false)
            .joined(separator: "%20")
        try self.init(text[...], known: known)
    }
}
