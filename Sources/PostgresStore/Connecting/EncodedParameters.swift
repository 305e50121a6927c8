import CLibPQ
import MerchantCore
import StoreCore

/// The parameters of one statement in PostgreSQL's binary format.
struct EncodedParameters {
    private var bytes: [UInt8] = []
    /// Where each parameter begins in `bytes`; nil for NULL.
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []

    /// - Parameter types: the object identifiers (`pg_type.oid`) of the parameters' types.
    init(_ arguments: Arguments, as types: [UInt32]) throws {
        guard arguments.count == types.count else { throw SQLValueError.wrongType }
        for (argument, type) in zip(arguments, types) {
            let begin = bytes.count
            if let argument {
                guard let type = ColumnType(rawValue: type) else { throw SQLValueError.wrongType }
                try argument.stored.append(as: type, to: &bytes)
            }
            offsets.append(argument == nil ? nil : begin)
            lengths.append(Int32(bytes.count - begin))
        }
        // libpq treats a null pointer as NULL. This byte ensures that an empty value at the end has a pointer, too.
        bytes.append(0)
    }

    /// Sends a request to execute the statement. Its result has all values in the binary format.
    ///
    /// - Returns: 1 if the request was sent.
    func send(_ statement: String, on connection: OpaquePointer) -> CInt {
        let formats = [Int32](repeating: 1, count: lengths.count)
        return bytes.withUnsafeBytes { bytes in
            let values: [UnsafePointer<CChar>?] = offsets.map { offset in
                guard let offset, let start = bytes.baseAddress else { return nil }
                return (start + offset).assumingMemoryBound(to: CChar.self)
            }
            return PQsendQueryPrepared(connection, statement, Int32(lengths.count), values, lengths, formats, 1)
        }
    }
}
