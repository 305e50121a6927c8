import Glibc
import Secrets

/// The keywords and values with which libpq opens a connection.
struct ConnectionParameters: ~Copyable {
    private let options: [String: String]
    /// Ends with a zero byte, as libpq expects.
    private let password: SecretBytes?

    /// - Parameter password: nil if the server needs none, or if libpq finds it in the file `passfile`.
    init(_ options: [String: String], password: consuming SecretBytes?) {
        self.options = options
        if let password = consume password {
            let length = password.count
            self.password = password.withUnsafeBytes { bytes in
                SecretBytes(count: length + 1) { $0.copyMemory(from: bytes) }
            }
        } else {
            self.password = nil
        }
    }

    /// Calls `body` with the keywords and the values, in two arrays that end with nil. The pointers are valid only
    /// during the call.
    borrowing func withKeywordsAndValues<Result>(
        _ body: ([UnsafePointer<CChar>?], [UnsafePointer<CChar>?]) -> Result
    ) -> Result {
        let sorted = options.sorted { $0.key < $1.key }
        let copies = (sorted.map(\.key) + ["password"]).map { strdup($0) }
        let values = sorted.map { strdup($0.value) }
        defer { for copy in copies + values { free(copy) } }
        func pointers(_ copies: some Sequence<UnsafeMutablePointer<CChar>?>) -> [UnsafePointer<CChar>?] {
            copies.map { UnsafePointer($0) }
        }
        switch password {
        case nil: return body(pointers(copies.dropLast()) + [nil], pointers(values) + [nil])
        case .some(let password):
            return password.withUnsafeBytes { bytes in
                let secret = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                return body(pointers(copies) + [nil], pointers(values) + [secret, nil])
            }
        }
    }
}
