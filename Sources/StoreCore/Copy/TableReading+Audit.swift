package import MerchantCore

extension TableReading {
    /// The last audit record; nil if there is none.
    ///
    /// - Parameter audit: the table `audit`.
    package func auditHead(in audit: CopiedTable) throws -> AuditHead? {
        guard case .integer(let sequence)?? = try lastKey(of: audit)?.first else { return nil }
        return try auditHash(of: Int(sequence), in: audit).map { AuditHead(sequence: Int(sequence), hash: $0) }
    }

    /// The hash of an audit record; nil if there is no such record.
    ///
    /// - Parameter audit: the table `audit`.
    package func auditHash(of sequence: Int, in audit: CopiedTable) throws -> [UInt8]? {
        guard let hash = audit.index(of: "hash"), let number = audit.index(of: "sequence"),
            let row = try rows(of: audit, after: [.integer(Int64(sequence) - 1)], limit: 1).first,
            row[number] == .integer(Int64(sequence)), case .bytes(let bytes)? = row[hash]
        else { return nil }
        return bytes
    }
}

extension StoredValue: SQLValue {
    package var stored: StoredValue { self }
}
