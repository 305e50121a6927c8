package import MerchantCore
package import Vocabulary

/// Reads columns as typed values.
extension StoredRow {
    package func integer(_ column: String) throws -> Int { Int(try int64(column)) }

    /// Reads a number that must be in the range of a smaller type.
    package func smallInteger<Integer: FixedWidthInteger>(_: Integer.Type, _ column: String) throws -> Integer {
        try value(Integer(exactly: try int64(column)), of: column)
    }

    package func timestamp(_ column: String) throws -> Timestamp {
        Timestamp(millisecondsSince1970: try int64(column))
    }

    package func timestampIfAny(_ column: String) throws -> Timestamp? {
        try int64IfAny(column).map(Timestamp.init(millisecondsSince1970:))
    }

    package func bits256(_ column: String) throws -> Bits256 { try value(bits256IfAny(column), of: column) }

    package func publicKeyHash(_ column: String = "public_key_hash") throws -> PublicKeyHash {
        PublicKeyHash(bits: try bits256(column))
    }

    package func publicKeyHashIfAny(_ column: String = "public_key_hash") throws -> PublicKeyHash? {
        try bits256IfAny(column).map(PublicKeyHash.init(bits:))
    }

    package func merchantIdentifier(_ column: String = "merchant_identifier") throws -> MerchantIdentifier {
        try value(MerchantIdentifier(try text(column)), of: column)
    }

    package func merchantIdentifierIfAny(_ column: String = "merchant_identifier") throws -> MerchantIdentifier? {
        try textIfAny(column).map { try value(MerchantIdentifier($0), of: column) }
    }

    package func partner() throws -> PartnerInternalMerchantIdentifier {
        let column = "partner_internal_merchant_identifier"
        return try value(PartnerInternalMerchantIdentifier(try text(column)), of: column)
    }

    package func invitationIdentifier(_ column: String) throws -> InvitationIdentifier {
        try value(InvitationIdentifier(text: try text(column)), of: column)
    }

    package func merchantTokenIdentifier(_ column: String) throws -> MerchantTokenIdentifier {
        try value(MerchantTokenIdentifier(text: try text(column)), of: column)
    }

    package func merchantTokenEventIdentifier() throws -> MerchantTokenEventIdentifier {
        try value(MerchantTokenEventIdentifier(text: try text("event_id")), of: "event_id")
    }

    /// Converts a domain name from the database. The parameter is the domain name itself and not the name of a column,
    /// because the column `domain_names` contains several domain names.
    func domainName(_ text: String) throws -> DomainName { try value(DomainName(ascii: text), of: "domain_name") }

    /// Reads an enumeration case from a column that contains the case's raw value.
    ///
    /// Inlined, like ``value(_:of:)``, so that the compiler specializes both methods for the type of the value.
    @inline(__always)
    package func oneOf<Case: RawRepresentable<String>>(_: Case.Type, _ column: String) throws -> Case {
        try value(Case(rawValue: try text(column)), of: column)
    }

    /// Returns a column's converted value.
    ///
    /// - Throws: `storeUnavailable` if `value` is nil, because the conversion failed.
    @inline(__always)
    package func value<Value>(_ value: Value?, of column: String) throws -> Value {
        guard let value else { throw MerchantError.invalidValue(of: column) }
        return value
    }
}

extension MerchantError {
    /// For a row that was altered or is damaged.
    package static func invalidValue(of column: String) -> MerchantError {
        MerchantError(
            .storeUnavailable, "the database contains an invalid value in column \(column): restore a backup")
    }
}
