import MerchantCore
import StoreCore
import Vocabulary

// The requests of decryptors run these queries, so their texts are built only once.
private let keyPairByHash = "SELECT \(KeyPairRow.columns) FROM key_pairs WHERE public_key_hash = $1"
private let certificatesByHash =
    "SELECT \(CertificateRow.columns) FROM certificates WHERE public_key_hash = $1 ORDER BY id"

extension StoreReading {
    func keyPair(_ hash: PublicKeyHash) throws -> KeyPair? {
        try firstRow(keyPairByHash, [hash.bytes], KeyPairRow.keyPair)
    }

    func keyPairs(of merchant: MerchantIdentifier) throws -> [KeyPair] {
        try allRows(
            "SELECT \(KeyPairRow.columns) FROM key_pairs WHERE merchant_identifier = $1 ORDER BY created_at, id",
            [merchant.rawValue], KeyPairRow.keyPair)
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
