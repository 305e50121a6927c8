import MerchantCore
import Vocabulary

extension FleetOperations {
    /// The largest number of results of a search.
    package static let maximumHits = 50
    /// The accepted lengths of a search's text, in bytes of UTF-8.
    package static let searchTextLengths = 2...MerchantIdentifier.longest
    /// The lengths of a text that is searched as the beginning of a publicKeyHash. A shorter text would match many key
    /// pairs by chance.
    private static let hashPrefixLengths = 4...64
    /// The number of merchants that one transaction reads.
    private static let merchantsPerRead = 20_000
    /// The number of registrations, each with up to 99 domains, that one transaction reads.
    private static let registrationsPerRead = 2_000
    /// The largest number of merchants, and of registrations, that one search reads.
    private static let maximumRead = 2_000_000

    /// Searches merchants by a part of their identifier, of their name or of a domain, and by the beginning of a
    /// publicKeyHash. Returns each merchant once, and at most ``maximumHits`` merchants. Merchants whose identifier,
    /// publicKeyHash or domain begins with the text come first.
    ///
    /// - Throws: `malformed` if the length of the text is not in ``searchTextLengths``, or if ``DisplayText`` refuses a
    ///   character of the text.
    package func search(_ text: String) async throws -> FleetSearchResult {
        let text = text.trimmingBlanks()
        guard Self.searchTextLengths.contains(text.utf8.count), DisplayText.firstRefused(in: text) == nil else {
            throw MerchantError(
                .malformed,
                "the text to search for has \(text.utf8.count.counted("byte")), expected \(Self.searchTextLengths.lowerBound) to \(Self.searchTextLengths.upperBound) bytes of visible characters"
            )
        }
        // One hit above the maximum shows that there are more hits.
        let limit = Self.maximumHits + 1
        let indexed = try await records.read { try Self.indexedHits(for: text, limit: limit, in: $0) }
        var hits = FleetHits(limit: limit)
        hits.add(indexed)
        let hasReadMerchants = try await addMerchants(containing: text, to: &hits)
        let hasReadAll = hasReadMerchants ? try await addDomains(containing: text, to: &hits) : false
        return FleetSearchResult(
            hits: Array(hits.items.prefix(Self.maximumHits)),
            hasMore: hits.items.count > Self.maximumHits || !hasReadAll)
    }

    /// Adds the merchants whose identifier or name contains the text, page by page.
    ///
    /// - Returns: whether all merchants were read.
    private func addMerchants(containing text: String, to hits: inout FleetHits) async throws -> Bool {
        var cursor: MerchantIdentifier?
        var count = 0
        while !hits.isFull, count < Self.maximumRead {
            try Task.checkCancellation()
            let after = cursor
            let page = try await records.read {
                try $0.merchants(containing: text, after: after, examining: Self.merchantsPerRead)
            }
            hits.add(page.found.map { FleetHit($0, $0.identifier.contains(text) ? .identifier : .name) })
            count += Self.merchantsPerRead
            cursor = page.next
            if cursor == nil { return true }
        }
        return false
    }

    /// Adds the merchants with a domain that contains the text, page by page.
    ///
    /// - Returns: whether all registrations were read.
    private func addDomains(containing text: String, to hits: inout FleetHits) async throws -> Bool {
        let sought = Self.domainText(text)
        var cursor: PartnerInternalMerchantIdentifier?
        var count = 0
        while !hits.isFull, count < Self.maximumRead {
            try Task.checkCancellation()
            let after = cursor
            let (found, next): ([FleetHit], PartnerInternalMerchantIdentifier?) = try await records.read { reading in
                let page = try reading.domains(
                    containing: sought, after: after, examining: Self.registrationsPerRead)
                return (try page.found.map { try FleetHit($0, in: reading) }, page.next)
            }
            hits.add(found)
            count += Self.registrationsPerRead
            cursor = next
            if cursor == nil { return true }
        }
        return false
    }

    /// The text in the spelling in which domains are stored. A complete domain name in Unicode is converted to ASCII;
    /// any other text is only converted to lower case.
    private static func domainText(_ text: String) -> String {
        DomainName(anySpelling: text)?.rawValue ?? text.lowercased()
    }

    /// The hits that an index finds: by the beginning of an identifier, a publicKeyHash or a domain, at most `limit` of
    /// each. A merchant may occur more than once.
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
        hits += try reading.domains(prefix: domainText(text), limit: limit).map { try FleetHit($0, in: reading) }
        return hits
    }

    /// The prefixes of identifiers to search for: the text itself, or `merchant.` and `platformintegrator.`, each
    /// followed by the text.
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

    fileprivate init(_ domain: FoundDomain, in reading: any MerchantReading) throws {
        self.init(
            merchantIdentifier: domain.merchantIdentifier,
            merchantName: try domain.merchantIdentifier.flatMap { try reading.merchant($0)?.name },
            match: .domain(domain.name, domain.partnerInternalMerchantIdentifier))
    }
}

/// The results of a search. Contains each merchant once, with the match that was found first.
private struct FleetHits {
    let limit: Int
    private(set) var items: [FleetHit] = []
    private var merchants: Set<MerchantIdentifier> = []
    /// The registrations that belong to no merchant of this daemon.
    private var registrations: Set<PartnerInternalMerchantIdentifier> = []

    init(limit: Int) { self.limit = limit }

    var isFull: Bool { items.count >= limit }

    mutating func add(_ found: [FleetHit]) {
        for hit in found {
            guard !isFull else { return }
            if isNew(hit) { items.append(hit) }
        }
    }

    private mutating func isNew(_ hit: FleetHit) -> Bool {
        if let merchant = hit.merchantIdentifier { return merchants.insert(merchant).inserted }
        guard case .domain(_, let registration) = hit.match else { return true }
        return registrations.insert(registration).inserted
    }
}

extension MerchantIdentifier {
    /// Whether the identifier contains the text. Ignores case.
    fileprivate func contains(_ text: String) -> Bool { rawValue.lowercased().contains(text.lowercased()) }
}

extension String {
    /// The text without white space at its beginning and its end.
    fileprivate func trimmingBlanks() -> String {
        let rest = drop(while: \.isWhitespace)
        guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(rest[...last])
    }
}
