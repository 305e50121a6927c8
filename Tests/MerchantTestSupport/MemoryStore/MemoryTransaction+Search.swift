package import MerchantCore
package import Vocabulary

extension MemoryTransaction {
    package func merchants(identifierPrefix text: String, limit: Int) -> [Merchant] {
        Array(merchants(after: nil, limit: .max).filter { $0.identifier.rawValue.hasPrefix(text) }.prefix(limit))
    }

    package func merchants(
        containing text: String, after cursor: MerchantIdentifier?, examining count: Int
    ) -> MerchantSearchPage {
        let remaining = state.merchants.values.sorted { $0.identifier < $1.identifier }
            .filter { merchant in cursor.map { $0 < merchant.identifier } ?? true }
        let page = remaining.prefix(max(1, count))
        let sought = Self.asciiLowercased(text)
        let found = page.filter { merchant in
            guard merchant.removedAt == nil else { return false }
            return [merchant.identifier.rawValue, merchant.name ?? ""].contains {
                Self.asciiLowercased($0).contains(sought)
            }
        }
        return MerchantSearchPage(
            found: Array(found), next: page.count == max(1, count) ? page.last?.identifier : nil)
    }

    /// Changes only ASCII letters, as SQLite does.
    private static func asciiLowercased(_ text: String) -> String {
        String(
            decoding: text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 },
            as: UTF8.self)
    }

    package func domains(
        containing text: String, after cursor: PartnerInternalMerchantIdentifier?, examining count: Int
    ) -> DomainSearchPage {
        let remaining = state.apple.registrations.values.filter { !$0.countedDomains.isEmpty }
            .sorted { $0.partnerInternalMerchantIdentifier < $1.partnerInternalMerchantIdentifier }
            .filter { registration in cursor.map { $0 < registration.partnerInternalMerchantIdentifier } ?? true }
        let page = remaining.prefix(max(1, count))
        let sought = Self.asciiLowercased(text)
        let found = page.flatMap { registration in
            Self.domains(of: registration).filter { Self.asciiLowercased($0.name).contains(sought) }
                .sorted { $0.name < $1.name }
        }
        return DomainSearchPage(
            found: found,
            next: page.count == max(1, count) ? page.last?.partnerInternalMerchantIdentifier : nil)
    }

    private static func domains(of registration: Registration) -> [FoundDomain] {
        registration.countedDomains.map { name in
            FoundDomain(
                name: name, partnerInternalMerchantIdentifier: registration.partnerInternalMerchantIdentifier,
                merchantIdentifier: registration.merchantIdentifier)
        }
    }

    package func domains(prefix text: String, limit: Int) -> [FoundDomain] {
        let all = state.apple.registrations.values.flatMap { Self.domains(of: $0) }
        let found = all.filter { $0.name.hasPrefix(text) }
            .sorted {
                ($0.name, $0.partnerInternalMerchantIdentifier) < ($1.name, $1.partnerInternalMerchantIdentifier)
            }
        return Array(found.prefix(limit))
    }
}
