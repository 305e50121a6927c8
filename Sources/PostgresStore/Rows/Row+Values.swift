import MerchantCore
import Vocabulary

/// Reads columns as typed values. These methods throw an error if a column has no valid value. Methods with `IfAny` in
/// their name return nil for NULL.
extension Row {
    func text(_ column: String) throws -> String { try value(textIfAny(column), of: column) }

    func textIfAny(_ column: String) throws -> String? {
        try valueIfAny(column) { bytes, type in
            type == .text || type == .name ? String(validating: bytes, as: UTF8.self) : nil
        }
    }

    func integer(_ column: String) throws -> Int { Int(try int64(column)) }

    func int64(_ column: String) throws -> Int64 { try value(int64IfAny(column), of: column) }

    func int64IfAny(_ column: String) throws -> Int64? {
        try valueIfAny(column) { bytes, type in
            switch type {
            case .integer64: bytes.bigEndian(Int64.self)
            case .integer32: bytes.bigEndian(Int32.self).map { Int64($0) }
            case .integer16: bytes.bigEndian(Int16.self).map { Int64($0) }
            default: nil
            }
        }
    }

    /// Reads a number that must be in the range of a smaller type.
    func smallInteger<Integer: FixedWidthInteger>(_: Integer.Type, _ column: String) throws -> Integer {
        try value(Integer(exactly: try int64(column)), of: column)
    }

    func flag(_ column: String) throws -> Bool {
        try value(
            valueIfAny(column) { bytes, type in type == .boolean ? bytes.first.map { $0 != 0 } : nil }, of: column)
    }

    func bytes(_ column: String) throws -> [UInt8] { try value(bytesIfAny(column), of: column) }

    func bytesIfAny(_ column: String) throws -> [UInt8]? {
        try valueIfAny(column) { bytes, type in type == .bytes ? Array(bytes) : nil }
    }

    func timestamp(_ column: String) throws -> Timestamp { Timestamp(millisecondsSince1970: try int64(column)) }

    func timestampIfAny(_ column: String) throws -> Timestamp? {
        try int64IfAny(column).map(Timestamp.init(millisecondsSince1970:))
    }

    func publicKeyHash(_ column: String = "public_key_hash") throws -> PublicKeyHash {
        try value(PublicKeyHash(bytes: try bytes(column)), of: column)
    }

    func publicKeyHashIfAny(_ column: String = "public_key_hash") throws -> PublicKeyHash? {
        try bytesIfAny(column).map { try value(PublicKeyHash(bytes: $0), of: column) }
    }

    func merchantIdentifier(_ column: String = "merchant_identifier") throws -> MerchantIdentifier {
        try value(MerchantIdentifier(try text(column)), of: column)
    }

    func merchantIdentifierIfAny(_ column: String = "merchant_identifier") throws -> MerchantIdentifier? {
        try textIfAny(column).map { try value(MerchantIdentifier($0), of: column) }
    }

    func partner() throws -> PartnerInternalMerchantIdentifier {
        let column = "partner_internal_merchant_identifier"
        return try value(PartnerInternalMerchantIdentifier(try text(column)), of: column)
    }

    /// Converts a domain name from the database. The parameter is the domain name itself and not the name of a column,
    /// because the column `domain_names` contains several domain names.
    func domainName(_ text: String) throws -> DomainName { try value(DomainName(ascii: text), of: "domain_name") }

    /// Reads an enumeration case from a column that contains the case's raw value.
    func oneOf<Case: RawRepresentable<String>>(_: Case.Type, _ column: String) throws -> Case {
        try value(Case(rawValue: try text(column)), of: column)
    }

    /// Throws if the conversion of a column's value has returned nil.
    func value<Value>(_ value: Value?, of column: String) throws -> Value {
        guard let value else { throw Self.invalidValue(of: column) }
        return value
    }

    static func invalidValue(of column: String) -> MerchantError {
        MerchantError(
            .storeUnavailable, "the database contains an invalid value in column \(column): restore a backup")
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes as a big-endian integer; nil if their number differs from the integer's.
    fileprivate func bigEndian<Integer: FixedWidthInteger>(_: Integer.Type) -> Integer? {
        count == MemoryLayout<Integer>.size ? Integer(bigEndian: loadUnaligned(as: Integer.self)) : nil
    }
}
