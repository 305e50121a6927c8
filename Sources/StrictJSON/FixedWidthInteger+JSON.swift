extension FixedWidthInteger {
    /// Converts a JSON number to an integer. `1`, `1.0` and `1e2` are all integers: JSON Schema (2020-12, Core, section
    /// 4.2.3) treats every number whose fractional part is zero as an integer.
    ///
    /// The conversion uses the digits, not a floating-point number, so it is exact.
    ///
    /// - Parameter number: a number as ``JSONParser`` accepts it.
    /// - Returns: nil if the number has a fractional part or does not fit this type.
    package init?(jsonNumber number: String) {
        if let integer = Self(number) {
            self = integer
            return
        }
        let parts = number.split(maxSplits: 1) { $0 == "e" || $0 == "E" }
        let mantissa = (parts.first ?? "").drop { $0 == "-" }.split(separator: ".", maxSplits: 1)
        let fraction = mantissa.dropFirst().first ?? ""
        let digits = "\(mantissa.first ?? "")\(fraction)".drop { $0 == "0" }
        guard let last = digits.lastIndex(where: { $0 != "0" }) else {
            self = 0
            return
        }
        let significant = digits[...last]
        // `Int` returns nil for an exponent that overflows. Such a number is too large for every integer type, or it
        // has a fractional part.
        guard let exponent = parts.count == 2 ? Int(parts[1]) : 0, exponent.magnitude < 1 << 32 else { return nil }
        let zeros = exponent - fraction.count + digits.count - significant.count
        // 128-bit integers have at most 39 digits. The limit avoids long texts for numbers such as 1e1000000000.
        guard zeros >= 0, significant.count + zeros <= 39 else { return nil }
        let text = "\(number.hasPrefix("-") ? "-" : "")\(significant)\(String(repeating: "0", count: zeros))"
        self.init(text)
    }
}
