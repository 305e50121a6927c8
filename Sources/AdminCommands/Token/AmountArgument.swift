import ArgumentParser
import Vocabulary

/// An amount on the command line in the currency's major unit, such as `12.34` for 12 euros and 34 cents.
package struct AmountArgument: Hashable, Sendable {
    /// The most digits that an amount in the minor unit may have. The daemon has the same limit.
    private static let maximumDigits = 18

    private let text: String
    private let whole: Substring
    /// The digits after the decimal point; empty if there is no decimal point.
    private let fraction: Substring

    package static func parse(_ text: String) throws -> AmountArgument {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }) else {
            // The argument parser prints "The value '…' is invalid for '…': " before this message.
            throw ValidationError("it is not an amount, expected one such as 12.34, with a point and without a sign")
        }
        return AmountArgument(text: text, whole: parts[0], fraction: parts.count == 2 ? parts[1] : "")
    }

    /// The amount in the currency's minor unit, such as 1234 cents.
    ///
    /// - Throws: `ValidationError` if the amount has more digits after the point than the currency, or is too large.
    package func minorUnits(of currency: Currency) throws -> Int {
        let missing = currency.fractionDigits - fraction.count
        guard missing >= 0 else {
            throw ValidationError(
                "--amount is \(text.prefix(40)), but \(currency.letters) has \(currency.fractionDigits.counted("digit")) after the decimal point"
            )
        }
        let digits = "\(whole)\(fraction)" + String(repeating: "0", count: missing)
        guard digits.count <= Self.maximumDigits, let amount = Int(digits) else {
            throw ValidationError(
                "--amount is \(text.prefix(40)), expected at most \(Self.maximumDigits) digits in the minor unit")
        }
        return amount
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
