import MerchantCore
import Vocabulary

extension FleetOperations {
    /// The largest number of results of a search.
    package static let maximumHits = 50
    /// The accepted lengths of a search's text, in bytes of UTF-8.
    package static let searchTextLengths = 2...MerchantIdentifier.longest
    /// The lengths of the beginning of a publicKeyHash. A shorter one would find many key pairs by chance.
    private static let hashPrefixLengths = 4...64
    /// The number of names that one transaction reads.
    private static let namesPerRead = 20_000
    /// The largest number of names that one search reads.
    private static let maximumNamesRead = 2_000_000

    /// Searches merchants by the beginning of their identifier, of a domain or of a publicKeyHash, and by a part of
    /// their name. The identifier may lack its first part, such as `merchant.`. Finds at most ``maximumHits``.
    ///
    /// - Throws: `malformed` for a text of another length than ``searchTextLengths``, or with characters that
    ///   ``DisplayText`` refuses.
    package func search(_ text: String) async throws -> FleetSearchResult {
        let text = text.trimmingBlanks()
        guard Self.searchTextLengths.contains(text.utf8.count), DisplayText.firstRefused(in: text) == nil else {
            throw MerchantError(
                .malformed,
                "the text to search for has \(text.utf8.count.counted("byte")), expected \(Self.searchTextLengths.lowerBound) to \(Self.searchTextLengths.upperBound) of visible characters"
            )
        }
        // One more than the result may have shows whether there are more.
        let limit = Self.maximumHits + 1
        var hits = try await records.read { try Self.indexedHits(for: text, limit: limit, in: $0) }
        // A merchant that was found by its identifier is not listed again for its name.
        let known = Set(hits.filter { $0.match == .identifier }.compactMap(\.merchantIdentifier))
        var cursor: MerchantIdentifier?
        var namesRead = 0
        var isComplete = false
        while hits.count < limit, namesRead < Self.maximumNamesRead, !isComplete {
            try Task.checkCancellation()
            let after = cursor
            let page = try await records.read {
                try $0.merchants(nameContaining: text, after: after, examining: Self.namesPerRead)
            }
            hits += page.found.filter { !known.contains($0.identifier) }.map { FleetHit($0, .name) }
            namesRead += Self.namesPerRead
            cursor = page.next
            isComplete = page.next == nil
        }
        return FleetSearchResult(
            hits: Array(hits.prefix(Self.maximumHits)), hasMore: hits.count > Self.maximumHits || !isComplete)
    }

    /// The hits that an index finds: by identifier, publicKeyHash and domain, at most `limit` in all.
    private static func indexedHits(for text: String, limit: Int, in reading: any Reader) throws -> [FleetHit] {
        var hits: [FleetHit] = []
        for prefix in identifierPrefixes(text) {
            hits += try reading.merchants(identifierPrefix: prefix, limit: limit).map { FleetHit($0, .identifier) }
        }
        if hashPrefixLengths.contains(text.utf8.count) {
            hits += try reading.keyPairs(prefix: text, limit: limit).map { keyPair in
                FleetHit(
                    merchantIdentifier: keyPair.merchantIdentifier,
                    merchantName: try reading.merchant(keyPair.merchantIdentifier)?.name,
                    match: .key(keyPair.publicKeyHash, keyPair.state))
            }
        }
        // A complete domain name may be in Unicode, and is converted to the spelling that is stored.
        let domainPrefix = DomainName(anySpelling: text)?.rawValue ?? text.lowercased()
        hits += try reading.domains(prefix: domainPrefix, limit: limit).map { domain in
            FleetHit(
                merchantIdentifier: domain.merchantIdentifier,
                merchantName: try domain.merchantIdentifier.flatMap { try reading.merchant($0)?.name },
                match: .domain(domain.name, domain.partnerInternalMerchantIdentifier))
        }
        return Array(hits.prefix(limit))
    }

    /// The beginnings of identifiers that the text may stand for.
    private static func identifierPrefixes(_ text: String) -> [String] {
        let kinds = ["merchant.", "platformintegrator."]
        guard !kinds.contains(where: { text.hasPrefix($0) || $0.hasPrefix(text) }) else { return [text] }
        return kinds.map { $0 + text }
    }
}

extension FleetHit {
    fileprivate init(_ merchant: Merchant, _ match: Match) {
        self.init(merchantIdentifier: merchant.identifier, merchantName: merchant.name, match: match)
    }
}

extension String {
    /// The text without blanks and line ends at its beginning and its end.
    fileprivate func trimmingBlanks() -> String {
        let rest = drop(while: \.isWhitespace)
        guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(rest[...last])
    }
}
