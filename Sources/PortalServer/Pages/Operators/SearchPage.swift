package import Vocabulary

/// The page on which operators search for merchants.
package struct SearchPage: HTMLPage {
    package struct Result: Hashable, Sendable {
        /// What the query matched.
        package enum Match: Hashable, Sendable {
            case identifier
            case name
            case domain(String)
            case key(PublicKeyHash)
        }

        package let merchant: MerchantIdentifier
        package let name: String?
        package let match: Match

        package init(merchant: MerchantIdentifier, name: String?, match: Match) {
            self.merchant = merchant
            self.name = name
            self.match = match
        }
    }

    private struct Row {
        let path: String
        let merchant: String
        let name: String?
        let matched: String
    }

    private struct Content {
        let path = PortalPaths.search
        let query: String
        let problem: String?
        /// How many merchants were found; nil if there was no search.
        let summary: String?
        let hint: String?
        let hasResults: Bool
        let results: [Row]
    }

    /// The shortest query in characters.
    package static let shortestQuery = 3

    private let query: String
    private let results: [Result]?
    private let hasMore: Bool

    package let area = PageArea.search
    package let template = PageTemplate.search

    /// - Parameters:
    ///   - results: nil if there was no search, because the query is empty or too short.
    ///   - hasMore: whether there are more results than these.
    package init(query: String, results: [Result]?, hasMore: Bool) {
        self.query = query
        self.results = results
        self.hasMore = hasMore
    }

    package var isProblem: Bool { isTooShort }

    private var isTooShort: Bool { results == nil && !query.isEmpty }

    package func title(_ text: PageText) -> String { text[.searchTitle] }

    package func content(_ text: PageText) -> Any {
        var summary: String?
        var hint: String?
        if let results {
            summary =
                results.isEmpty
                ? text.filled(.searchNone, ["query": query])
                : text.counted(.searchCount, results.count, ["query": query])
            hint = results.isEmpty ? text[.searchNoneHint] : hasMore ? text[.searchMany] : nil
        }
        let rows = (results ?? []).map { result in
            Row(
                path: PortalPaths.fleetMerchant(result.merchant), merchant: result.merchant.rawValue,
                name: result.name, matched: Self.matched(result.match, text))
        }
        return Content(
            query: query, problem: isTooShort ? text[.searchTooShort] : nil, summary: summary, hint: hint,
            hasResults: !rows.isEmpty, results: rows)
    }

    private static func matched(_ match: Result.Match, _ text: PageText) -> String {
        switch match {
        case .identifier: text[.searchByIdentifier]
        case .name: text[.searchByName]
        case .domain(let domain): text.filled(.searchByDomain, ["domain": domain])
        case .key(let hash): text.filled(.searchByKey, ["hash": hash.base64])
        }
    }
}
