import Vocabulary

/// The format of a setting's text, and its conversion to a value.
struct SettingFormat<Value: Sendable>: Sendable {
    /// The end of an error message, such as "expected an absolute path".
    let expectation: String
    /// Returns nil if the text does not have this format.
    let parse: @Sendable (String) -> Value?
}

extension SettingFormat where Value == String {
    static var text: Self { Self(expectation: "expected text") { $0 } }

    static var absolutePath: Self {
        Self(expectation: "expected an absolute path") { $0.hasPrefix("/") ? $0 : nil }
    }
}

extension SettingFormat where Value == Bool {
    static var boolean: Self {
        Self(expectation: "expected true or false") { ["true": true, "false": false][$0] }
    }
}

extension SettingFormat where Value == Int {
    static func integer(in range: ClosedRange<Int>) -> Self {
        Self(expectation: "expected a number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension SettingFormat where Value == UInt32 {
    static var userOrGroupID: Self { Self(expectation: "expected a numeric user or group ID") { UInt32($0) } }

    static var fileMode: Self {
        Self(expectation: "expected an octal mode such as 0660") { text in
            UInt32(text.hasPrefix("0o") ? String(text.dropFirst(2)) : text, radix: 8)
                .flatMap { $0 <= 0o777 ? $0 : nil }
        }
    }
}

extension SettingFormat where Value == Duration {
    private static let secondsPerDay = 86_400

    static func duration(inDays days: ClosedRange<Int>) -> Self {
        duration(
            inSeconds: days.lowerBound * secondsPerDay...days.upperBound * secondsPerDay,
            from: "\(days.lowerBound)d", to: "\(days.upperBound)d")
    }

    /// - Parameters:
    ///   - lowest: the lower bound as the error message shows it, such as `1s`.
    ///   - highest: the upper bound as the error message shows it.
    static func duration(inSeconds range: ClosedRange<Int>, from lowest: String, to highest: String) -> Self {
        Self(expectation: "\(DurationText.expectation), from \(lowest) to \(highest)") { text in
            DurationText.seconds(text).flatMap { range.contains($0) ? .seconds($0) : nil }
        }
    }

    /// A timeout, with or without the letter s: `30`, `30s`.
    static var timeout: Self {
        Self(expectation: "expected 1s to 60s") { text in
            Int(text.hasSuffix("s") ? String(text.dropLast()) : text)
                .flatMap { (1...60).contains($0) ? .seconds($0) : nil }
        }
    }
}

extension SettingFormat where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    static var choice: Self {
        Self(expectation: "expected one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))") {
            Value(rawValue: $0)
        }
    }
}

extension SettingFormat where Value == MerchantIdentifier {
    static var merchantIdentifier: Self {
        Self(expectation: MerchantIdentifier.expectation) { MerchantIdentifier($0) }
    }
}
