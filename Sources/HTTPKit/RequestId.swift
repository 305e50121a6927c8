/// Generates identifiers of requests. Log lines, audit records and error responses about a request contain its
/// identifier. A trace's span has an identifier of the same form.
package enum RequestId {
    /// Returns 16 random hexadecimal digits.
    package static func make() -> String {
        var rest = UInt64.random(in: .min ... .max)
        return String(unsafeUninitializedCapacity: 16) { digits in
            for index in digits.indices {
                let digit = UInt8(truncatingIfNeeded: rest & 0xf)
                digits[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                rest >>= 4
            }
            return 16
        }
    }
}
