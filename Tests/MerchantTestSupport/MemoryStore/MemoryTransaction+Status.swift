package import MerchantCore
package import Vocabulary

extension MemoryTransaction {
    func noteActive(_ keyPair: KeyPair) {
        guard keyPair.state.isActive, keyPair.purpose == .paymentProcessing else { return }
        state.hadActiveKeyPair.insert(keyPair.merchantIdentifier)
    }

    package func counts(at time: Timestamp) -> StoreCounts {
        var counts = StoreCounts()
        counts.merchants = merchants(after: nil, limit: .max).count
        counts.keyPairs = Dictionary(grouping: state.rows, by: \.keyPair.state).mapValues(\.count)
        counts.certificates = state.rows.map(\.certificates.count).reduce(0, +)
        counts.merchantsBelowTarget = merchantsBelowTarget(afterMerchant: nil, limit: .max).count
        counts.activeWithExpiredCertificate = ending(.active).count { $0.notAfter < time }
        counts.auditRecords = state.audit.count
        counts.auditHead = auditHead()
        countRegistrations(in: &counts)
        return counts
    }

    package func merchantsBelowTarget(afterMerchant cursor: MerchantIdentifier?, limit: Int) -> [MerchantBelowTarget] {
        let ends = Dictionary(
            grouping: ending(.current).filter { $0.keyPair.purpose == .paymentProcessing },
            by: \.keyPair.merchantIdentifier)
        return Array(
            merchants(after: cursor, limit: .max).compactMap { merchant in
                let active = keyPairs(of: merchant.identifier).count {
                    $0.state.isActive && $0.purpose == .paymentProcessing
                }
                guard active < merchant.targetActiveKeyPairs else { return nil }
                return MerchantBelowTarget(
                    merchantIdentifier: merchant.identifier, activeKeyPairs: active,
                    targetActiveKeyPairs: merchant.targetActiveKeyPairs,
                    currentCertificateExpiry: ends[merchant.identifier]?.map(\.notAfter).min(),
                    hadActiveKeyPair: state.hadActiveKeyPair.contains(merchant.identifier))
            }.prefix(limit))
    }

    package func merchantsBelowTarget(certificateExpiringBy time: Timestamp, limit: Int) -> [MerchantBelowTarget] {
        Array(belowTarget { $0 <= time }.prefix(limit))
    }

    package func countBelowTarget(certificateExpiringFrom begin: Timestamp, to end: Timestamp) -> Int {
        belowTarget { begin <= $0 && $0 < end }.count
    }

    /// Soonest first.
    private func belowTarget(whoseCurrentEnds fits: (Timestamp) -> Bool) -> [MerchantBelowTarget] {
        merchantsBelowTarget(afterMerchant: nil, limit: .max)
            .compactMap { merchant in merchant.currentCertificateExpiry.map { (merchant, $0) } }
            .filter { fits($0.1) }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    package func countWithoutActiveKeyPair() -> Int { merchantsWithoutActiveKeyPair(limit: .max).count }

    package func merchantsWithoutActiveKeyPair(limit: Int) -> [MerchantBelowTarget] {
        Array(
            merchantsBelowTarget(afterMerchant: nil, limit: .max).filter {
                $0.activeKeyPairs == 0 && $0.hadActiveKeyPair
            }
            .prefix(limit))
    }

    package func countIssuerNotVerified() -> Int { keyPairsWithIssuerNotVerified(limit: .max).count }

    package func keyPairsWithIssuerNotVerified(limit: Int) -> [KeyPair] {
        Array(
            state.rows.filter { row in
                row.keyPair.state.isActive && row.certificates.contains { !$0.issuerVerified }
            }.map(\.keyPair).prefix(limit))
    }

    package func countStandbyKeyPairsInUse() -> Int { standbyKeyPairsInUse(limit: .max).count }

    package func standbyKeyPairsInUse(limit: Int) -> [KeyPair] {
        let found = state.rows.map(\.keyPair).filter { keyPair in
            guard let use = state.uses[keyPair.publicKeyHash], use.standbyUseReportedAt != nil,
                openRoll(of: keyPair.merchantIdentifier, algorithm: keyPair.algorithm)?.to != keyPair.publicKeyHash
            else { return false }
            let current = state.rows.map(\.keyPair).first {
                $0.state == .current && $0.merchantIdentifier == keyPair.merchantIdentifier
                    && $0.purpose == keyPair.purpose && $0.algorithm == keyPair.algorithm
            }
            return StandbyKeyUse.lastDecryption(
                of: keyPair, use: use, current: current, currentUse: current.flatMap { state.uses[$0.publicKeyHash] })
                != nil
        }
        return Array(found.prefix(limit))
    }

    package func keyPairsExpiring(by time: Timestamp, limit: Int) -> [ExpiringKeyPair] {
        Array(ending(.active).filter { $0.notAfter <= time }.prefix(limit))
    }

    package func countKeyPairsExpiring(_ filter: ActiveKeyPairFilter, from begin: Timestamp, to end: Timestamp) -> Int {
        keyPairsExpiring(filter, from: begin, to: end, limit: .max).count
    }

    package func keyPairsExpiring(
        _ filter: ActiveKeyPairFilter, from begin: Timestamp, to end: Timestamp, limit: Int
    ) -> [ExpiringKeyPair] {
        Array(ending(filter).filter { begin <= $0.notAfter && $0.notAfter < end }.prefix(limit))
    }

    /// Soonest first.
    private func ending(_ filter: ActiveKeyPairFilter) -> [ExpiringKeyPair] {
        state.rows.filter { filter.contains($0.keyPair.state) }.compactMap { row in
            row.certificates.map(\.notAfter).max().map { ExpiringKeyPair(keyPair: row.keyPair, notAfter: $0) }
        }.sorted { $0.notAfter < $1.notAfter }
    }
}
