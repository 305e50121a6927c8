import MerchantCore
import StoreCore
import Vocabulary

// The requests of decryptors run these queries, so their texts are built only once.
private let keyPairByHash = "SELECT \(KeyPairRow.columns) FROM key_pairs WHERE public_key_hash = ?"
private let certificatesByHash =
    "SELECT \(CertificateRow.columns) FROM certificates WHERE public_key_hash = ? ORDER BY id"

extension StoreReading {
    func keyPair(_ hash: PublicKeyHash) throws -> KeyPair? {
        try firstRow(keyPairByHash, [hash.bytes], KeyPairRow.keyPair)
    }

    func keyPairs(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash: KeyPair] {
        let found = try rows(
            "SELECT \(KeyPairRow.columns) FROM key_pairs WHERE public_key_hash", in: hashes.map(\.bytes),
            KeyPairRow.keyPair)
        return Dictionary(found.map { ($0.publicKeyHash, $0) }) { first, _ in first }
    }

    func keyPairs(of merchant: MerchantIdentifier) throws -> [KeyPair] {
        try allRows(
            "SELECT \(KeyPairRow.columns) FROM key_pairs WHERE merchant_identifier = ? ORDER BY created_at, id",
            [merchant.rawValue], KeyPairRow.keyPair)
    }

    func countPendingAndActiveKeyPairs(of merchant: MerchantIdentifier) throws -> Int {
        try firstRow(
            """
            SELECT count(*) AS key_pairs FROM key_pairs INDEXED BY key_pairs_of_merchant
            WHERE merchant_identifier = ? AND state IN ('pending', 'standby', 'current', 'retiring')
            """, [merchant.rawValue]
        ) { try $0.integer("key_pairs") } ?? 0
    }

    func keyPairs(prefix text: String, limit: Int) throws -> [KeyPair] {
        var found: [KeyPair] = []
        for range in PublicKeyHashPrefix.ranges(of: text) {
            let more = try allRows(
                """
                SELECT \(KeyPairRow.columns) FROM key_pairs
                WHERE public_key_hash BETWEEN ? AND ? ORDER BY public_key_hash LIMIT ?
                """, [range.lowest.bytes, range.highest.bytes, max(0, limit)], KeyPairRow.keyPair)
            // The ranges of the two encodings can overlap.
            found += more.filter { !found.contains($0) }
        }
        return Array(found.prefix(max(0, limit)))
    }

    func keyPairs(in state: KeyState, after cursor: PublicKeyHash?, limit: Int) throws -> [KeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns) FROM key_pairs INDEXED BY key_pairs_by_state
            WHERE state = ? AND id > coalesce((SELECT id FROM key_pairs WHERE public_key_hash = ?), 0)
            ORDER BY id LIMIT ?
            """, [state.rawValue, cursor?.bytes, max(0, limit)], KeyPairRow.keyPair)
    }

    func keyPairs(
        expiringBefore time: Timestamp, in state: KeyState?, after cursor: PublicKeyHash?, limit: Int
    ) throws -> [KeyPair] {
        // The name of an index, and a condition that begins with the condition of this partial index.
        let indexAndCondition =
            switch state {
            case nil: "key_pairs_ending WHERE state IN ('standby', 'current', 'retiring')"
            case .current: "key_pairs_current_ending WHERE state = 'current'"
            default:
                "key_pairs_not_current_ending WHERE state IN ('standby', 'retiring') AND state = '\(state?.rawValue ?? "")'"
            }
        // The results begin after this expiry and id.
        var begin: (expiresAt: Int64, id: Int) = (.min, 0)
        if let cursor,
            let last = try firstRow(
                "SELECT expires_at, id FROM key_pairs WHERE public_key_hash = ?", [cursor.bytes],
                { row in (expiresAt: try row.timestampIfAny("expires_at"), id: try row.integer("id")) }),
            let expiresAt = last.expiresAt
        {
            begin = (expiresAt.millisecondsSince1970, last.id)
        }
        return try allRows(
            """
            SELECT \(KeyPairRow.columns) FROM key_pairs INDEXED BY \(indexAndCondition)
            AND expires_at < ? AND (expires_at, id) > (?, ?) ORDER BY expires_at, id LIMIT ?
            """, [time, begin.expiresAt, begin.id, max(0, limit)], KeyPairRow.keyPair)
    }

    func certificates(of hash: PublicKeyHash) throws -> [StoredCertificate] {
        try allRows(certificatesByHash, [hash.bytes], CertificateRow.certificate)
    }

    func certificates(of hashes: [PublicKeyHash]) throws -> [PublicKeyHash: [StoredCertificate]] {
        let found = try rows(
            "SELECT public_key_hash, \(CertificateRow.columns) FROM certificates WHERE public_key_hash",
            in: hashes.map(\.bytes), orderedBy: "public_key_hash, id"
        ) { (hash: try $0.publicKeyHash(), certificate: try CertificateRow.certificate($0)) }
        return Dictionary(grouping: found, by: \.hash).mapValues { $0.map(\.certificate) }
    }

    func keyPairSummaries(of merchants: [MerchantIdentifier]) throws -> [MerchantIdentifier: KeyPairSummary] {
        let newest = try firstRow(
            """
            SELECT coalesce(max(newest_key_pair_id), 0) AS id
            FROM backups INDEXED BY backups_verified WHERE verified_at IS NOT NULL
            """, []
        ) { try $0.integer("id") }
        let found = try rows(
            "SELECT \(KeyPairSummaryRow.columns) FROM merchants WHERE identifier", in: merchants.map(\.rawValue)
        ) { try KeyPairSummaryRow.summary($0, newestInBackup: newest ?? 0) }
        return Dictionary(found) { first, _ in first }
    }

    func certificateSigningRequest(of hash: PublicKeyHash) throws -> [UInt8]? {
        try firstRow("SELECT certificate_signing_request FROM key_pairs WHERE public_key_hash = ?", [hash.bytes]) {
            try $0.bytes("certificate_signing_request")
        }
    }

    func activeIdentityKeyPairs(of merchant: MerchantIdentifier) throws -> [KeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns) FROM key_pairs INDEXED BY key_pairs_active_identities
            WHERE merchant_identifier = ? AND purpose = 'identity' AND state IN ('standby', 'current', 'retiring')
            ORDER BY id
            """, [merchant.rawValue], KeyPairRow.keyPair)
    }
}
