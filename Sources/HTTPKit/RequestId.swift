/// The identifier of one request: the log, the audit record and the response have the same one.
package enum RequestId {
    /// Returns 16 random hexadecimal digits.
    package static func make() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
