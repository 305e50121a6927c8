import MerchantCore
import StoreCore
import Vocabulary

// The requests of decryptors run these queries, so their texts are built only once.
private let keyPairByHash = "SELECT \(KeyPairRow.columns) FROM key_pairs WHERE public_key_hash = $1"
private let certificatesByHash =
    "SELECT \(CertificateRow.columns) FROM certificates WHERE public_key_hash = $1 ORDER BY id"

extension StoreReading {
    func keyPair(_ hash: PublicKeyHash) throws -> KeyPair? {
        try connection.query(Self.query(hash)).first.map(KeyPairRow.keyPair)
    }

    static func query(_ hash: PublicKeyHash) -> Query { Query(keyPairByHash, [hash.bytes]) }

    func keyPairs(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash: KeyPair] {
        guard !hashes.isEmpty else { return [:] }
        let found = try allRows(
            "SELECT \(KeyPairRow.columns) FROM key_pairs WHERE public_key_hash = \(HashList.any("$1"))",
            [HashList.bytes(of: hashes)], KeyPairRow.keyPair)
        return Dictionary(found.map { ($0.publicKeyHash, $0) }) { first, _ in first }
    }

    func keyPairs(of merchant: MerchantIdentifier) throws -> [KeyPair] {
        try allRows(
            "SELECT \(KeyPairRow.columns) FROM key_pairs WHERE merchant_identifier = $1 ORDER BY created_at, id",
            [merchant.rawValue], KeyPairRow.keyPair)
    }

    func countPendingAndActiveKeyPairs(of merchant: MerchantIdentifier) throws -> Int {
        try connection.query(Self.countQuery(merchant)).first?.integer("key_pairs") ?? 0
    }

    static func countQuery(_ merchant: MerchantIdentifier) -> Query {
        Query(
            """
            SELECT count(*) AS key_pairs FROM key_pairs
            WHERE merchant_identifier = $1 AND state IN ('pending', 'standby', 'current', 'retiring')
            """, [merchant.rawValue])
    }

    func keyPairs(prefix text: String, limit: Int) throws -> [KeyPair] {
        var found: [KeyPair] = []
        for range in PublicKeyHashPrefix.ranges(of: text) {
            let more = try allRows(
                """
                SELECT \(KeyPairRow.columns) FROM key_pairs
                WHERE public_key_hash BETWEEN $1 AND $2 ORDER BY public_key_hash LIMIT $3
                """, [range.lowest.bytes, range.highest.bytes, max(0, limit)], KeyPairRow.keyPair)
            // The ranges of the two encodings can overlap.
            found += more.filter { !found.contains($0) }
        }
        return Array(found.prefix(max(0, limit)))
    }

    func keyPairs(in state: KeyState, after cursor: PublicKeyHash?, limit: Int) throws -> [KeyPair] {
        // These conditions select the key pairs with `state = $1`. With that condition itself, PostgreSQL could read
        // all key pairs in the order of the primary key, and skip those in other states.
        try allRows(
            """
            SELECT \(KeyPairRow.columns) FROM key_pairs
            WHERE (state, id) > ($1, coalesce((SELECT id FROM key_pairs WHERE public_key_hash = $2), 0)) AND state <= $1
            ORDER BY state, id LIMIT $3
            """, [state.rawValue, cursor?.bytes, max(0, limit)], KeyPairRow.keyPair)
    }

    func keyPairs(
        expiringBefore time: Timestamp, in state: KeyState?, after cursor: PublicKeyHash?, limit: Int
    ) throws -> [KeyPair] {
        // Each condition begins with the condition of a partial index, so that PostgreSQL uses that index.
        let condition =
            switch state {
            case nil: "state IN ('standby', 'current', 'retiring')"
            case .current: "state = 'current'"
            default: "state IN ('standby', 'retiring') AND state = '\(state?.rawValue ?? "")'"
            }
        // The results begin after this expiry and id.
        var begin: (expiresAt: Int64, id: Int) = (.min, 0)
        if let cursor,
            let last = try firstRow(
                "SELECT expires_at, id FROM key_pairs WHERE public_key_hash = $1", [cursor.bytes],
                { row in (expiresAt: try row.timestampIfAny("expires_at"), id: try row.integer("id")) }),
            let expiresAt = last.expiresAt
        {
            begin = (expiresAt.millisecondsSince1970, last.id)
        }
        return try allRows(
            """
            SELECT \(KeyPairRow.columns) FROM key_pairs WHERE \(condition)
                AND expires_at < $1 AND (expires_at, id) > ($2, $3) ORDER BY expires_at, id LIMIT $4
            """, [time, begin.expiresAt, begin.id, max(0, limit)], KeyPairRow.keyPair)
    }

    func certificates(of hash: PublicKeyHash) throws -> [StoredCertificate] {
        try allRows(certificatesByHash, [hash.bytes], CertificateRow.certificate)
    }

    func certificates(of hashes: [PublicKeyHash]) throws -> [PublicKeyHash: [StoredCertificate]] {
        guard !hashes.isEmpty else { return [:] }
        let found = try allRows(
            """
            SELECT public_key_hash, \(CertificateRow.columns) FROM certificates
            WHERE public_key_hash = \(HashList.any("$1")) ORDER BY public_key_hash, id
            """, [HashList.bytes(of: hashes)]
        ) { (hash: try $0.publicKeyHash(), certificate: try CertificateRow.certificate($0)) }
        return Dictionary(grouping: found, by: \.hash).mapValues { $0.map(\.certificate) }
    }

    func keyPairSummaries(of merchants: [MerchantIdentifier]) throws -> [MerchantIdentifier: KeyPairSummary] {
        guard !merchants.isEmpty else { return [:] }
        // An identifier contains no line feed, so a line feed can separate the identifiers.
        let found = try allRows(
            """
            SELECT \(KeyPairSummaryRow.columns), coalesce(
                (SELECT max(newest_key_pair_id) FROM backups WHERE verified_at IS NOT NULL), 0
            ) AS newest_in_backup
            FROM merchants WHERE identifier = ANY (string_to_array($1, E'\\n'))
            """, [merchants.map(\.rawValue).joined(separator: "\n")]
        ) { try KeyPairSummaryRow.summary($0, newestInBackup: try $0.integer("newest_in_backup")) }
        return Dictionary(found) { first, _ in first }
    }

    func certificateSigningRequest(of hash: PublicKeyHash) throws -> [UInt8]? {
        try firstRow("SELECT certificate_signing_request FROM key_pairs WHERE public_key_hash = $1", [hash.bytes]) {
            try $0.bytes("certificate_signing_request")
        }
    }

    func activeIdentityKeyPairs(of merchant: MerchantIdentifier) throws -> [KeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns) FROM key_pairs
            WHERE merchant_identifier = $1 AND purpose = 'identity' AND state IN ('standby', 'current', 'retiring')
            ORDER BY id
            """, [merchant.rawValue], KeyPairRow.keyPair)
    }
}
